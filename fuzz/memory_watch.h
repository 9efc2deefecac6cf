// SPDX-License-Identifier: LGPL-2.1-or-later
// How much memory is allocated at most, as the address sanitizer counts it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perf2dat::fuzz {

/// Counts from its construction on. Of one at a time; without the sanitizer it counts nothing.
class MemoryWatch {
 public:
  MemoryWatch();

  /// The most bytes that were allocated at the same time, without those from before.
  static std::size_t peak();
};

}  // namespace perf2dat::fuzz
