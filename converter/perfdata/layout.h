// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers of the perf.data format.
//
// Sources: include/uapi/linux/perf_event.h for what the kernel writes; perf's document
// tools/perf/Documentation/perf.data-file-format.txt for what perf adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perf2dat::perfdata {

inline constexpr std::string_view kMagicLittle{"PERFILE2", 8};
inline constexpr std::string_view kMagicBig{"2ELIFREP", 8};

/// The header's own size tells its kind.
inline constexpr std::uint64_t kPipeHeaderSize = 16;
inline constexpr std::uint64_t kOldFileHeaderSize = 72;  // has no bitmap of features
inline constexpr std::uint64_t kFileHeaderSize = 104;

/// Bits of the header's bitmap: each set one has a section after the data.
enum class Feature : unsigned {
  kTracingData = 1,
  kHostname = 3,
  kOsRelease = 4,
  kArch = 6,
  kCpuCount = 7,
  kEventDesc = 12,
  kSampleTime = 21,
};
inline constexpr unsigned kFeatureBits = 256;

/// perf_event_attr.type of a tracepoint.
inline constexpr std::uint32_t kTypeTracepoint = 2;

/// The smallest perf_event_attr, and the size that a size of 0 stands for.
inline constexpr std::uint32_t kSmallestAttrSize = 64;

/// Bits of perf_event_attr.sample_type, in the order of their bits. A sample has the fields in an
/// order of its own, see sample.h.
enum SampleType : std::uint64_t {
  kSampleIp = 1U << 0U,
  kSampleTid = 1U << 1U,
  kSampleTime = 1U << 2U,
  kSampleAddr = 1U << 3U,
  kSampleRead = 1U << 4U,
  kSampleCallchain = 1U << 5U,
  kSampleId = 1U << 6U,
  kSampleCpu = 1U << 7U,
  kSamplePeriod = 1U << 8U,
  kSampleStreamId = 1U << 9U,
  kSampleRaw = 1U << 10U,
  kSampleIdentifier = 1U << 16U,
};

/// Bits of perf_event_attr.read_format.
enum ReadFormat : std::uint64_t {
  kReadTimeEnabled = 1U << 0U,
  kReadTimeRunning = 1U << 1U,
  kReadId = 1U << 2U,
  kReadGroup = 1U << 3U,
  kReadLost = 1U << 4U,
};

/// Places of flags in perf_event_attr's bit field.
inline constexpr unsigned kFlagSampleIdAll = 18;
inline constexpr unsigned kFlagUseClockid = 25;

enum class RecordType : std::uint32_t {
  kLost = 2,
  kComm = 3,
  kFork = 7,
  kSample = 9,
  kLostSamples = 13,
  // perf's own
  kHeaderAttr = 64,
  kHeaderTracingData = 66,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtrace = 71,
  kEventUpdate = 78,
  kHeaderFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,
};

/// u32 type, u16 misc, u16 size with this header.
inline constexpr std::size_t kRecordHeaderSize = 8;
inline constexpr std::size_t kLargestRecord = 65535;

}  // namespace perf2dat::perfdata
