// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a property by rapidcheck, inside a test of GoogleTest.
#pragma once

#include <rapidcheck.h>

#include <string_view>
#include <utility>
#include <vector>

namespace perf2dat::props {

/// How many cases are tried where RC_PARAMS names no max_success, and at least are needed to say
/// how often an edge is met.
inline constexpr int kCases = 1000;

/// Runs a property as often as RC_PARAMS says ("max_success=100000"), or kCases times. The property
/// draws its case from generators (`*gen`), says by RC_CLASSIFY which edges the case has, and
/// asserts by RC_ASSERT. Each of `edges` must be met in 1 % of the cases or more. A failure shows
/// the smallest case found and the one line that runs it again.
void holds(const rc::detail::Property& property, const std::vector<std::string_view>& edges);

template <typename Body>
void holds(Body body, const std::vector<std::string_view>& edges = {}) {
  holds(rc::detail::toProperty(std::move(body)), edges);
}

}  // namespace perf2dat::props
