// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/time_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testing/expected.h"

namespace perf2dat {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;
/// Times from 1000 s on, 1 s in all.
constexpr TimeSpan kRecorded{1000 * kSecond, 1001 * kSecond};

TimeWindows windows(std::string_view text, std::optional<TimeSpan> recorded = kRecorded) {
  return value_of(TimeWindows::parse(text, recorded));
}

std::string error(std::string_view text, std::optional<TimeSpan> recorded = kRecorded) {
  return error_of(TimeWindows::parse(text, recorded), Error::Kind::kUsage);
}

/// From `first` to `last`, both included, and nothing beside.
void expect_window(const TimeWindows& found, std::uint64_t first, std::uint64_t last) {
  EXPECT_TRUE(found.contains(first));
  EXPECT_TRUE(found.contains(last));
  EXPECT_TRUE(found.contains(first + (last - first) / 2));
  EXPECT_FALSE(found.contains(first - 1));
  EXPECT_FALSE(found.contains(last + 1));
}

TEST(TimeWindowsTest, WithoutTextContainEverything) {
  const TimeWindows all;
  for (const std::uint64_t time : {0UL, 1UL, ~0UL}) EXPECT_TRUE(all.contains(time));
}

TEST(TimeWindowsTest, OfSecondsIncludeBothEnds) {
  expect_window(windows("12,13"), 12 * kSecond, 13 * kSecond);
  expect_window(windows("12,13", std::nullopt), 12 * kSecond, 13 * kSecond);
  expect_window(windows("12,12"), 12 * kSecond, 12 * kSecond);
}

TEST(TimeWindowsTest, OfSecondsHaveUpToNineDecimals) {
  expect_window(windows("1.5,2.25"), 1'500'000'000, 2'250'000'000);
  expect_window(windows("1.000000001,1.999999999"), 1'000'000'001, 1'999'999'999);
  expect_window(windows("0.000000002,0.01"), 2, 10'000'000);
  expect_window(windows("1.,2."), kSecond, 2 * kSecond);
  expect_window(windows("18446744072.5,18446744072.999999999"), 18'446'744'072'500'000'000U,
                18'446'744'072'999'999'999U);
}

TEST(TimeWindowsTest, WithoutAStartBeginWithTheRecording) {
  const TimeWindows found = windows(",2");
  EXPECT_TRUE(found.contains(1));
  EXPECT_TRUE(found.contains(2 * kSecond));
  EXPECT_FALSE(found.contains(2 * kSecond + 1));
}

TEST(TimeWindowsTest, WithoutAStopGoOnToTheRecordingsEnd) {
  const TimeWindows found = windows("2,");
  EXPECT_FALSE(found.contains(2 * kSecond - 1));
  EXPECT_TRUE(found.contains(2 * kSecond));
  EXPECT_TRUE(found.contains(~0ULL));
}

TEST(TimeWindowsTest, WithoutBothEndsContainEverything) {
  const TimeWindows found = windows(",");
  for (const std::uint64_t time : {0UL, 1UL, ~0UL}) EXPECT_TRUE(found.contains(time));
}

TEST(TimeWindowsTest, AlwaysContainSamplesWithoutATime) {
  EXPECT_TRUE(windows("2,3").contains(0));
  EXPECT_TRUE(windows("10%/2").contains(0));
}

TEST(TimeWindowsTest, MayBeSeveralSeparatedBySpaces) {
  for (const std::string_view text : {"1,2 3,4 5,", " 1,2\t3,4   5, "}) {
    const TimeWindows found = windows(text);
    for (const std::uint64_t inside :
         {1 * kSecond, 2 * kSecond, 3 * kSecond, 4 * kSecond, 5 * kSecond, 100 * kSecond}) {
      EXPECT_TRUE(found.contains(inside)) << inside;
    }
    for (const std::uint64_t outside :
         {1 * kSecond - 1, 2 * kSecond + 1, 3 * kSecond - 1, 4 * kSecond + 1, 5 * kSecond - 1}) {
      EXPECT_FALSE(found.contains(outside)) << outside;
    }
  }
}

TEST(TimeWindowsTest, ThatOverlapOrDoNotAscendAreAnError) {
  for (const std::string_view text :
       {"1,3 2,4", "1,2 2,3", "3,4 1,2", "1,2 1,2", "1,5 2,3", "1,2 ,3", "1,2 4,5 3,4"}) {
    EXPECT_THAT(error(text), AllOf(HasSubstr(text), HasSubstr("overlap or do not ascend")));
  }
}

TEST(TimeWindowsTest, ThatStopBeforeTheyStartAreAnError) {
  EXPECT_THAT(error("2,1"), HasSubstr("no windows like"));
  EXPECT_THAT(error("1.000000001,1"), HasSubstr("no windows like"));
}

TEST(TimeWindowsTest, OfNothingAreAnError) {
  for (const std::string_view text : {"", " ", "\t  "}) {
    EXPECT_THAT(error(text), HasSubstr("no windows"));
  }
}

TEST(TimeWindowsTest, OfGarbageAreAnError) {
  for (const std::string_view text :
       {"1",    "x",    "1,x",   "x,1",     "1-2",   "1,2,3",   "1,2;3,4",
        "-1,2", "+1,2", "1,-2",  "1e3,2e3", "0x1,2", "1.2.3,4", "1. 5,2",
        "1 ,2", "1, 2", "1.x,2", "1.-5,2",  "1,2x",  "nan,inf"}) {
    EXPECT_THAT(error(text), AllOf(HasSubstr("--time"), HasSubstr(text))) << text;
  }
}

TEST(TimeWindowsTest, OfSecondsWithMoreThanNineDecimalsAreAnError) {
  EXPECT_THAT(error("1.0000000001,2"), HasSubstr("no windows like"));
  EXPECT_THAT(error("1,2.0000000000"), HasSubstr("no windows like"));
}

TEST(TimeWindowsTest, OfSecondsThatNoNumberHoldsAreAnError) {
  EXPECT_THAT(error("1,18446744073"), HasSubstr("no windows like"));
  EXPECT_THAT(error("1,99999999999999999999999"), HasSubstr("no windows like"));
}

TEST(TimeWindowsTest, OfPercentsAreSlicesOfTheRecordedTime) {
  expect_window(windows("10%/1"), kRecorded.first, kRecorded.first + kSecond / 10 - 1);
  expect_window(windows("10%/2"), kRecorded.first + kSecond / 10,
                kRecorded.first + 2 * (kSecond / 10) - 1);
  expect_window(windows("10%/10"), kRecorded.first + 9 * (kSecond / 10), kRecorded.last);
  expect_window(windows("100%/1"), kRecorded.first, kRecorded.last);
  expect_window(windows(" 12.5% / 8 "), kRecorded.last - kSecond / 8, kRecorded.last);
}

TEST(TimeWindowsTest, MayBeSeveralSlices) {
  const TimeWindows found = windows("10%/2,10%/3, 10%/10");
  const std::uint64_t slice = kSecond / 10;
  EXPECT_FALSE(found.contains(kRecorded.first + slice - 1));
  EXPECT_TRUE(found.contains(kRecorded.first + slice));
  EXPECT_TRUE(found.contains(kRecorded.first + 2 * slice));
  EXPECT_TRUE(found.contains(kRecorded.first + 3 * slice - 1));
  EXPECT_FALSE(found.contains(kRecorded.first + 3 * slice));
  EXPECT_TRUE(found.contains(kRecorded.last));
}

TEST(TimeWindowsTest, OfSlicesContainEachTimeExactlyOnce) {
  // Spans that no number of slices divides, and one that no double holds.
  for (const TimeSpan span :
       {TimeSpan{1000, 2009}, TimeSpan{1, 100'000'000'007}, TimeSpan{5, 5 + (1UL << 60U) + 1}}) {
    for (const auto& [percent, count] :
         {std::pair{"10%", 10}, {"50%", 2}, {"12.5%", 8}, {"5%", 20}, {"1%", 100}}) {
      std::vector<TimeWindows> slices;
      for (int i = 1; i <= count; ++i) {
        slices.push_back(windows(fmt::format("{}/{}", percent, i), span));
      }
      const auto containing = [&](std::uint64_t time) {
        int found = 0;
        for (const TimeWindows& slice : slices) found += slice.contains(time) ? 1 : 0;
        return found;
      };
      for (int i = 0; i <= count; ++i) {
        const auto edge = span.first + static_cast<std::uint64_t>(
                                           static_cast<long double>(span.last - span.first) * i /
                                           static_cast<long double>(count));
        for (std::uint64_t time = edge - 3; time <= edge + 3; ++time) {
          EXPECT_EQ(containing(time), time >= span.first && time <= span.last ? 1 : 0)
              << percent << " " << time;
        }
      }
    }
  }
}

TEST(TimeWindowsTest, OfPercentsAreParts) {
  expect_window(windows("0%-10%"), kRecorded.first, kRecorded.first + kSecond / 10 - 1);
  expect_window(windows("90%-100%"), kRecorded.last - kSecond / 10, kRecorded.last);
  expect_window(windows("0%-100%"), kRecorded.first, kRecorded.last);
  expect_window(windows("0.5% - 1.5%"), kRecorded.first + kSecond / 200,
                kRecorded.first + 3 * (kSecond / 200) - 1);
  const TimeWindows two = windows("0%-10%,30%-40%");
  EXPECT_TRUE(two.contains(kRecorded.first));
  EXPECT_FALSE(two.contains(kRecorded.first + kSecond / 10));
  EXPECT_FALSE(two.contains(kRecorded.first + 3 * (kSecond / 10) - 1));
  EXPECT_TRUE(two.contains(kRecorded.first + 3 * (kSecond / 10)));
  EXPECT_FALSE(two.contains(kRecorded.first + 4 * (kSecond / 10)));
}

TEST(TimeWindowsTest, OfOnePercentageAreTheFirstOfThem) {
  expect_window(windows("10%"), kRecorded.first, kRecorded.first + kSecond / 10 - 1);
  expect_window(windows("100%"), kRecorded.first, kRecorded.last);
}

TEST(TimeWindowsTest, ThatAreBlankSayNothing) {
  for (const std::string_view text : {"10%,", "10%, ", ",10%", " ,\t,10% , ,", "  10%,  "}) {
    expect_window(windows(text), kRecorded.first, kRecorded.first + kSecond / 10 - 1);
  }
  for (const std::string_view text : {"0%-10%,,", ",10%/1", " , 10%/1, "}) {
    expect_window(windows(text), kRecorded.first, kRecorded.first + kSecond / 10 - 1);
  }
  for (const std::string_view text : {"%,", ",%", " , % ,"}) {
    EXPECT_THAT(error(text), HasSubstr("no windows like"));
  }
  for (const std::string_view text : {"10%,,20%", ",10%,10%/2"}) {
    EXPECT_THAT(error(text), HasSubstr("do not mix"));
  }
}

TEST(TimeWindowsTest, OfPercentsOfASingleMomentContainIt) {
  for (const std::string_view text : {"10%", "10%/1", "0%-100%"}) {
    EXPECT_TRUE(windows(text, TimeSpan{7, 7}).contains(7));
    EXPECT_FALSE(windows(text, TimeSpan{7, 7}).contains(8));
  }
}

TEST(TimeWindowsTest, OfPercentsWithoutARecordedTimeAreAnError) {
  for (const std::string_view text : {"10%", "10%/2", "0%-10%"}) {
    EXPECT_THAT(error(text, std::nullopt),
                AllOf(HasSubstr("first and last sample's time"), HasSubstr("give seconds")));
  }
}

TEST(TimeWindowsTest, OfPercentsOutsideTheRecordingAreAnError) {
  for (const std::string_view text :
       {"10%/0", "10%/-1", "10%/11", "101%", "0%", "0%/1", "0%-101%", "101%-102%", "-1%", "-5%-10%",
        "nan%", "inf%", "0%-nan%", "10%/99999999999", "1e300%/1"}) {
    EXPECT_THAT(error(text), HasSubstr("no windows like")) << text;
  }
}

TEST(TimeWindowsTest, OfPercentsAndGarbageAreAnError) {
  for (const std::string_view text : {"%", "x%", "10%x", "10%/", "10%/x", "10%/1.5", "/1%", "10/2%",
                                      "%-%", "10-20%", "10%-", "10%-20", "10%/2/3", "10% 20%"}) {
    EXPECT_THAT(error(text), HasSubstr("no windows like")) << text;
  }
}

TEST(TimeWindowsTest, OfDifferentKindsDoNotMix) {
  for (const std::string_view text : {"10%,20%", "10%,10%/2", "10%/1,30%-40%", "0%-10%,10%/2",
                                      "0%-10%,20%", "1,10%", "10%,2", "1,2 10%/1"}) {
    EXPECT_THAT(error(text), AllOf(HasSubstr(text), HasSubstr("do not mix"))) << text;
  }
}

}  // namespace
}  // namespace perf2dat
