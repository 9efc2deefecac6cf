// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perf2dat::command {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr std::chrono::milliseconds kAtOnce{0};

TEST(ProgressBar, StaysHiddenBeforeItsDelayIsOver) {
  CaptureStderr();
  ProgressBar bar(true, std::chrono::hours(1));
  bar.show(1, 2);
  bar.clear();
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(ProgressBar, ShowsThePartThatIsDone) {
  CaptureStderr();
  ProgressBar bar(true, kAtOnce);
  bar.show(1, 2);
  const std::string half = "[" + std::string(25, '=') + std::string(25, ' ') + "]  50 %";
  EXPECT_THAT(GetCapturedStderr(), HasSubstr(half));
}

TEST(ProgressBar, ErasesItsLineWhenItWasShown) {
  CaptureStderr();
  ProgressBar bar(true, kAtOnce);
  bar.show(2, 2);
  bar.clear();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("100 %\r\033[K"));
}

TEST(ProgressBar, ShowsNothingWhenItIsDisabledOrThereIsNothingToDo) {
  CaptureStderr();
  ProgressBar disabled(false, kAtOnce);
  disabled.show(1, 2);
  disabled.clear();
  ProgressBar(true, kAtOnce).show(0, 0);
  EXPECT_EQ(GetCapturedStderr(), "");
}

}  // namespace
}  // namespace perf2dat::command
