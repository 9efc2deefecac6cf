// SPDX-License-Identifier: LGPL-2.1-or-later
// A sort for what is nearly in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace perf2dat {

/// Sorts items that come as ascending runs, like records of several CPUs one CPU after the other.
/// Equal items keep their order. What it takes grows with how much the runs overlap: items in order
/// are only read, and those of any order take about as long as with std::stable_sort().
template <typename Item, typename Less>
void sort_runs(std::vector<Item>& items, Less less) {
  if (items.empty()) return;
  const auto at = [&](std::size_t index) {
    return items.begin() + static_cast<std::ptrdiff_t>(index);
  };
  std::vector<std::size_t> ends;  // of the runs
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (less(items[i], items[i - 1])) ends.push_back(i);
  }
  ends.push_back(items.size());
  // Each time through, two neighbours become one.
  while (ends.size() > 1) {
    std::size_t kept = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t end = ends[std::min(i + 1, ends.size() - 1)];
      if (end != ends[i]) {
        const auto middle = at(ends[i]);
        // What is before the other run's first item, or after its last one, stays where it is.
        const auto first = std::upper_bound(at(begin), middle, *middle, less);
        const auto last = std::lower_bound(middle, at(end), *(middle - 1), less);
        std::inplace_merge(first, middle, last, less);
      }
      ends[kept++] = end;
      begin = end;
    }
    ends.resize(kept);
  }
}

}  // namespace perf2dat
