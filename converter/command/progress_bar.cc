// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace perf2dat::command {

void ProgressBar::show(std::uint64_t done, std::uint64_t total) {
  if (!enabled_ || total == 0 || Clock::now() < next_) return;
  constexpr std::size_t kWidth = 50;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * kWidth);
  // fputs, not fmt::print: a terminal that went away is no reason to stop.
  std::fputs(
      fmt::format("\rperf2dat: [{:<{}}] {:3.0f} %", std::string(filled, '='), kWidth, part * 100)
          .c_str(),
      stderr);
  std::fflush(stderr);
  visible_ = true;
  next_ = Clock::now() + std::chrono::milliseconds(100);
}

void ProgressBar::clear() {
  constexpr auto kEraseLine = "\r\033[K";
  if (visible_) std::fputs(kEraseLine, stderr);
  visible_ = false;
}

}  // namespace perf2dat::command
