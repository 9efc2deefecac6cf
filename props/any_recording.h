// SPDX-License-Identifier: LGPL-2.1-or-later
// A recording as a plan, from which both byte orders' files are made, and what a trace.dat must
// hold of it. Whoever draws the plan, by chance or from a fuzzer's bytes, has the rest here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "testing/perf_data_builder.h"
#include "testing/recordings.h"

namespace perf2dat::props {

/// How samples tell which event they are of.
enum class IdLayout { kIdentifier, kId, kBoth, kNone };
/// The bits of sample_type for it.
std::uint64_t id_fields(IdLayout layout);

/// The bits of sample_type without which a sample is no event of a trace.dat.
inline constexpr std::uint64_t kNeededFields =
    perfdata::kSampleTid | perfdata::kSampleTime | perfdata::kSampleCpu | perfdata::kSampleRaw;
/// Those that say nothing of a tracepoint's data, time or place come in so many sets.
inline constexpr unsigned kOptionalFieldSets = 64;
std::uint64_t optional_fields(unsigned set);

/// The smallest data: test:ping's fields; and the largest that a sample with all that can be in it
/// has room for. Bytes.
inline constexpr std::size_t kSmallestData = 16;
inline constexpr std::size_t kLargestData = 60'000;

/// A record, before it has a byte order.
struct AnyRecord {
  enum class Kind { kSample, kComm, kFork, kLost, kRound };
  Kind kind = Kind::kSample;
  std::size_t attr = 0;
  std::size_t id = 0;  ///< which of the attr's
  std::uint32_t cpu = 0;
  std::uint64_t time = 0;
  std::uint32_t tid = 0;
  std::size_t size = 0;  ///< of a sample's data, bytes, before perf adds some
  std::uint64_t value = 0;
  std::string comm;
};
std::ostream& operator<<(std::ostream& out, const AnyRecord& record);

inline bool is_tracepoint(const testing::AttrSpec& attr) {
  return attr.type == perfdata::kTypeTracepoint;
}

struct AnyRecording {
  std::uint32_t page_size = 4096;
  std::uint32_t commit_size = 8;
  std::vector<testing::AttrSpec> attrs;
  std::vector<AnyRecord> records;
};
std::ostream& operator<<(std::ostream& out, const AnyRecording& recording);

/// The recording as a machine of that byte order would have made it.
testing::PerfDataBuilder build(const AnyRecording& recording, ByteOrder order);

/// What its trace.dat must hold.
struct ExpectedFile {
  /// CPU by CPU in the order of time, those of equal time as they came.
  std::vector<testing::Event> events;
  std::vector<std::int64_t> missed;  ///< before each event, as many are told to be missing
  std::uint64_t lost = 0;            ///< in all
  std::uint64_t lost_unplaced = 0;   ///< of them, those that no event comes after
};
ExpectedFile expected_file(const AnyRecording& recording, ByteOrder order);

/// Whether a file tells the number of missed events before an event with `size` bytes of data; one
/// that fills its page leaves no room for it. Then only that some are missing is told, -1.
bool same_missed(std::int64_t told, std::int64_t missed, std::size_t size, std::size_t page_size,
                 std::size_t commit_size);

/// What the recorded kernel says of its events and pages.
TracingData kernel_of(const AnyRecording& recording, ByteOrder order);

}  // namespace perf2dat::props
