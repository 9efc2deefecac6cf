// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace perf2dat {

/// The sum of counts that an input tells, or the largest number where it is larger.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return b > ~a ? ~std::uint64_t{0} : a + b;
}

}  // namespace perf2dat
