// SPDX-License-Identifier: LGPL-2.1-or-later
// What a CPU's events are, in a few numbers that do not depend on their order.
#pragma once

#include <cstdint>
#include <map>

#include "base/error.h"
#include "tracedat/reader.h"
#include "tracedat/ring_page.h"

namespace perf2dat {

struct Digest {
  std::uint64_t events = 0;
  std::uint64_t first_time = ~0ULL;  ///< nanoseconds
  std::uint64_t last_time = 0;       ///< nanoseconds
  std::uint64_t hash_sum = 0;        ///< of every event's time and payload

  /// Marks of missing events do not count.
  void add(const tracedat::RingEvent& event);
};

/// By CPU.
using Digests = std::map<std::uint32_t, Digest>;

/// Reads a trace.dat and compares its events with those of the recording. An error is of kind
/// kCheck and names the first CPU that differs, and how.
Expected<void> check_output(const tracedat::ReadAt& read_at, std::uint64_t file_size,
                            const Digests& recorded);

}  // namespace perf2dat
