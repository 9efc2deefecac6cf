// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace perf2dat::command {

/// A bar on standard error for work that takes over a second.
class ProgressBar {
 public:
  /// Disabled, it never shows. It stays hidden for `delay`: short work needs none.
  explicit ProgressBar(bool enabled, std::chrono::milliseconds delay = std::chrono::seconds(1))
      : enabled_(enabled), next_(Clock::now() + delay) {}

  /// Shows how much is done; cheap enough to be called often.
  void show(std::uint64_t done, std::uint64_t total);

  /// Takes the bar off the screen.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool visible_ = false;
  Clock::time_point next_;
};

}  // namespace perf2dat::command
