// SPDX-License-Identifier: LGPL-2.1-or-later
// Recordings drawn at random, and what a trace.dat must hold of each.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "testing/perf_data_builder.h"
#include "testing/recordings.h"

namespace perf2dat::props {

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

struct AnyRecording {
  std::uint32_t commit_size = 8;
  std::vector<testing::AttrSpec> attrs;
  std::vector<AnyRecord> records;
};
std::ostream& operator<<(std::ostream& out, const AnyRecording& recording);

/// Recordings with one to four events, of which the first is a tracepoint; any layout of samples
/// that perf could ask for; and records of all kinds in any order.
rc::Gen<AnyRecording> any_recording();

/// The recording as a machine of that byte order would have made it.
testing::PerfDataBuilder build(const AnyRecording& recording, ByteOrder order);

/// The events that its trace.dat must hold: CPU by CPU in the order of time, those of equal time
/// as they came.
std::vector<testing::Event> expected_events(const AnyRecording& recording, ByteOrder order);

/// Says by RC_CLASSIFY which edges it has, those in kRecordingEdges among them.
void classify(const AnyRecording& recording);
extern const std::vector<std::string_view> kRecordingEdges;

/// An event's bytes, the same for both orders but for the fields of its format.
TracingData kernel_of(const AnyRecording& recording, ByteOrder order);

}  // namespace perf2dat::props
