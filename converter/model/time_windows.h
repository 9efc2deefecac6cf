// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows of time in the syntax of perf's option --time.
//
// Source: the manual page perf-script(1), and perf itself where that is silent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perf2dat {

/// The times of a recording's first and last sample, in nanoseconds.
struct TimeSpan {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Selects samples as `perf script --time` does.
class TimeWindows {
 public:
  /// Everything.
  TimeWindows() = default;

  /// Reads one of
  ///   START,STOP              seconds with up to nine decimals; either may be empty: an open end
  ///   START,STOP START,STOP   several, in ascending order, separated by spaces
  ///   10%/2,10%/3             the second and third slice of 10 % of the recording's time
  ///   0%-10%,30%-40%          parts of the recording's time
  ///   10%                     the first 10 %
  /// Percents need the recording's time span; nullopt: it does not tell. Errors are of kind kUsage.
  static Expected<TimeWindows> parse(std::string_view text, std::optional<TimeSpan> recorded);

  bool contains(std::uint64_t time) const { return windows_.empty() || contains_in_windows(time); }

 private:
  /// From `start` to `stop`, both included; a `stop` of 0 is an open end.
  struct Window {
    std::uint64_t start = 0;
    std::uint64_t stop = 0;
  };

  bool contains_in_windows(std::uint64_t time) const;

  std::vector<Window> windows_;
};

}  // namespace perf2dat
