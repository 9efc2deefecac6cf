// SPDX-License-Identifier: LGPL-2.1-or-later
// Recordings drawn at random.
#pragma once

#include <rapidcheck.h>

#include <ostream>
#include <string_view>
#include <vector>

#include "any_recording.h"

namespace perf2dat {

inline std::ostream& operator<<(std::ostream& out, ByteOrder order) {
  return out << (order == ByteOrder::kLittle ? "little-endian" : "big-endian");
}

namespace props {

/// Recordings with one to four events, of which the first is a tracepoint; samples with any of the
/// fields that may come before a tracepoint's data; and records of all kinds in any order.
rc::Gen<AnyRecording> any_recording();

/// The same with a sample on each of 4096 CPUs.
rc::Gen<AnyRecording> recording_of_many_cpus();

/// Says by RC_CLASSIFY which edges it has, those in kRecordingEdges among them.
void classify(const AnyRecording& recording);
extern const std::vector<std::string_view> kRecordingEdges;

}  // namespace props
}  // namespace perf2dat
