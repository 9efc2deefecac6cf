// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perf2dat::command {
namespace {

using ::testing::ElementsAre;

Options files() {
  Options options;
  options.input = "in.data";
  options.output = "out.dat";
  return options;
}

TEST(Messages, TellFilesAndCountInPerfsWords) {
  Summary summary;
  summary.converted = 2684;
  EXPECT_THAT(lines_of(files(), summary, false),
              ElementsAre("[ perf2dat: Converted 'in.data' into trace.dat format 'out.dat' ]",
                          "[ perf2dat: Converted 2684 events ]"));
}

TEST(Messages, HaveALineForEachThingLeftOut) {
  Summary summary;
  summary.converted = 1;
  using Reason = LeftOut::Reason;
  summary.left_out = {{Reason::kNotTracepoint, "cpu-clock", 7},
                      {Reason::kNoRawData, "a:b", 1},
                      {Reason::kNoCpu, "a:b", 2},
                      {Reason::kNoTime, "a:b", 3},
                      {Reason::kBadCpu, "a:b", 4},
                      {Reason::kUnknownEvent, "", 5},
                      {Reason::kGuest, "a:b", 6}};
  summary.outside_time = 7;
  summary.lost = 8;
  summary.lost_samples = 9;
  const auto lines = lines_of(files(), summary, false);
  EXPECT_THAT(
      std::vector<std::string>(lines.begin() + 2, lines.end()),
      ElementsAre("[ perf2dat: Left out 7 samples of cpu-clock: not a tracepoint ]",
                  "[ perf2dat: Left out 1 sample of a:b: no raw data (perf record -R) ]",
                  "[ perf2dat: Left out 2 samples of a:b: no CPU (perf record --sample-cpu) ]",
                  "[ perf2dat: Left out 3 samples of a:b: no time (perf record -T) ]",
                  "[ perf2dat: Left out 4 samples of a:b: a CPU id above 65535 ]",
                  "[ perf2dat: Left out 5 samples of events that the recording does not "
                  "describe ]",
                  "[ perf2dat: Left out 6 samples of a:b: from inside a virtual machine ]",
                  "[ perf2dat: Left out 7 events outside the windows of time ]",
                  "[ perf2dat: 8 events were lost while recording ]",
                  "[ perf2dat: perf counted 9 lost samples ]"));
}

TEST(Messages, TellHowManyLostEventsNoMarkTellsOf) {
  Summary summary;
  summary.lost = 1;
  summary.lost_unplaced = 1;
  EXPECT_EQ(
      lines_of(files(), summary, false).back(),
      "[ perf2dat: 1 event was lost while recording, 1 of them at a place that is not known ]");
}

TEST(Messages, TellWarningsTheCheckAndMoreWhenVerbose) {
  Summary summary;
  summary.converted = 3;
  summary.cpus = 1;
  summary.page_size = 4096;
  summary.checked = true;
  summary.warnings = {"something"};
  const auto lines = lines_of(files(), summary, true);
  EXPECT_THAT(
      std::vector<std::string>(lines.begin() + 2, lines.end()),
      ElementsAre("[ perf2dat: Warning: something ]",
                  "[ perf2dat: Checked 3 events: count, time and data are the recording's ]",
                  "[ perf2dat: 1 CPU with events, pages of 4096 bytes ]"));
}

}  // namespace
}  // namespace perf2dat::command
