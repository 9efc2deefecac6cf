// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/sort_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace perf2dat {
namespace {

/// What it is sorted by, and where it was.
using Item = std::pair<int, std::size_t>;

bool less(const Item& a, const Item& b) { return a.first < b.first; }

void expect_sorted(const std::vector<int>& keys) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < keys.size(); ++i) items.emplace_back(keys[i], i);
  auto expected = items;
  std::stable_sort(expected.begin(), expected.end(), less);
  sort_runs(items, less);
  EXPECT_EQ(items, expected);
}

TEST(SortRuns, SortsNothingAndOneItem) {
  expect_sorted({});
  expect_sorted({7});
}

TEST(SortRuns, SortsAllOrdersOfAFewItemsSomeOfThemEqual) {
  std::vector<int> keys = {0, 1, 1, 2, 3, 3, 4};
  do {
    expect_sorted(keys);
  } while (std::next_permutation(keys.begin(), keys.end()));
}

TEST(SortRuns, KeepsTheOrderOfEqualItems) { expect_sorted({5, 5, 4, 5, 4, 4, 5, 4, 5, 5, 4}); }

TEST(SortRuns, SortsAnyNumberOfRunsThatOverlapMoreOrLess) {
  std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  for (int runs = 1; runs <= 33; ++runs) {
    for (const int step : {0, 1, 20, 100, -50}) {
      std::vector<int> keys;
      for (int run = 0; run < runs; ++run) {
        const auto begin = keys.size();
        const auto size = 1 + random() % 40;
        for (std::size_t i = 0; i < size; ++i) {
          keys.push_back(run * step + static_cast<int>(random() % 100));
        }
        std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin), keys.end());
      }
      expect_sorted(keys);
    }
  }
}

TEST(SortRuns, SortsWhatIsBackwardsOrInNoOrder) {
  std::vector<int> keys(10000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(keys.size() - i);
  expect_sorted(keys);
  std::shuffle(keys.begin(), keys.end(), std::minstd_rand(2));
  expect_sorted(keys);
}

}  // namespace
}  // namespace perf2dat
