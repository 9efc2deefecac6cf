// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/comm_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace perf2dat {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::uint32_t kDead = ~0U;  // perf's number of a task that had ended already

/// As many changes as wait until the older half of them is put in order.
constexpr std::uint32_t kMostWaiting = 1U << 17U;

TEST(CommTable, HasNoNamesAtFirst) {
  CommTable table;
  EXPECT_THAT(table.names(), IsEmpty());
}

TEST(CommTable, HasTheLastNameByTime) {
  CommTable table;
  table.add_comm(10, 7, "first");
  table.add_comm(20, 7, "second");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "second")));
}

TEST(CommTable, HasTheLastNameByTimeWhateverTheOrderOfArrival) {
  CommTable table;
  table.add_comm(20, 7, "second");
  table.add_comm(30, 7, "third");
  table.add_comm(10, 7, "first");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "third")));
}

TEST(CommTable, HasTheNameThatCameLastOfThoseOfTheSameTime) {
  // Names of tasks that ran already have no time of their own.
  CommTable table;
  table.add_comm(0, 7, "first");
  table.add_comm(0, 7, "second");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "second")));
}

TEST(CommTable, HasNoLongerNamesThanAKernel) {
  CommTable table;
  table.add_comm(10, 7, std::string(1000, 'c'));
  table.see_switch(10, 8, std::string(1000, 's'));
  EXPECT_THAT(table.names(),
              ElementsAre(Pair(7, std::string(15, 'c')), Pair(8, std::string(16, 's'))));
}

TEST(CommTable, KeepsTasksApart) {
  CommTable table;
  table.add_comm(10, 8, "eight");
  table.add_comm(10, 7, "seven");
  table.add_comm(10, 4194304, "high");
  EXPECT_THAT(table.names(),
              ElementsAre(Pair(7, "seven"), Pair(8, "eight"), Pair(4194304, "high")));
}

TEST(CommTable, GivesANewTaskItsParentsName) {
  CommTable table;
  table.add_comm(10, 7, "sh");
  table.add_fork(20, 8, 7);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh"), Pair(8, "sh")));
}

TEST(CommTable, GivesANewTaskTheNameItsParentHadAtThatTime) {
  CommTable table;
  table.add_comm(30, 7, "later");
  table.add_fork(20, 8, 7);
  table.add_comm(10, 7, "before");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "later"), Pair(8, "before")));
}

TEST(CommTable, LetsANewTaskNameItself) {
  CommTable table;
  table.add_comm(10, 7, "sh");
  table.add_comm(30, 8, "cat");
  table.add_fork(20, 8, 7);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh"), Pair(8, "cat")));
}

TEST(CommTable, ForgetsTheNameOfAnOlderTaskOfTheSameNumber) {
  CommTable table;
  table.add_comm(10, 8, "older");
  table.add_fork(20, 8, 7);
  EXPECT_THAT(table.names(), IsEmpty());
}

TEST(CommTable, InheritsAlongAChainOfForks) {
  CommTable table;
  table.add_comm(0, 1, "init");
  for (std::uint32_t tid = 2; tid <= 100; ++tid) table.add_fork(tid, tid, tid - 1);
  const auto names = table.names();
  EXPECT_THAT(names, SizeIs(100));
  EXPECT_EQ(names.at(100), "init");
}

TEST(CommTable, KeepsTheNameOfATaskThatIsItsOwnParent) {
  CommTable table;
  table.add_comm(10, 7, "sh");
  table.add_fork(20, 7, 7);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh")));
}

TEST(CommTable, KeepsTheLastNameOfMoreChangesThanWait) {
  CommTable table;
  constexpr std::uint32_t kTasks = 1000;
  for (std::uint32_t i = 0; i < 3 * kMostWaiting; ++i) {
    // Two changes of a task at a time, the later one first.
    const std::uint64_t time = 2ULL * i;
    table.add_comm(time + 1, i % kTasks, fmt::format("late {}", i));
    table.add_comm(time, i % kTasks, fmt::format("early {}", i));
  }
  const auto names = table.names();
  ASSERT_THAT(names, SizeIs(kTasks));
  for (const auto& [tid, comm] : names) {
    const std::uint32_t last = (3 * kMostWaiting - 1 - tid) / kTasks * kTasks + tid;
    EXPECT_EQ(comm, fmt::format("late {}", last));
  }
}

TEST(CommTable, PutsAChangeInOrderThatComesLateWhenManyWait) {
  CommTable table;
  for (std::uint32_t i = 0; i < kMostWaiting - 1; ++i) table.add_comm(i, 1, "filler");
  // One makes the table full; the other comes after that, and is earlier.
  table.add_comm(kMostWaiting + 10, 7, "later");
  table.add_comm(kMostWaiting + 5, 7, "earlier");
  table.add_fork(kMostWaiting + 6, 8, 7);
  EXPECT_THAT(table.names(), ElementsAre(Pair(1, "filler"), Pair(7, "later"), Pair(8, "earlier")));
}

TEST(CommTable, KeepsTheOrderOfArrivalOfManyChangesOfTheSameTime) {
  CommTable table;
  for (std::uint32_t i = 0; i < 2 * kMostWaiting + 5; ++i) {
    table.add_comm(0, i % 2, fmt::format("{}", i));
  }
  EXPECT_THAT(table.names(), ElementsAre(Pair(0, fmt::format("{}", 2 * kMostWaiting + 4)),
                                         Pair(1, fmt::format("{}", 2 * kMostWaiting + 3))));
}

TEST(CommTable, NamesTasksByTheirKernelsPidInANamespace) {
  // Samples tell that the namespace's tasks 1 and 2 are the kernel's 1001 and 1002.
  CommTable table;
  table.add_comm(10, 1, "init");
  table.add_fork(20, 2, 1);
  table.add_comm(30, 2, "sh");
  table.add_comm(30, 3, "unseen");
  table.see_task(1001, 1);
  table.see_task(1002, 2);
  EXPECT_THAT(table.names(), ElementsAre(Pair(1001, "init"), Pair(1002, "sh")));
}

TEST(CommTable, NamesTasksThatHaveTheSameNumberInBothPlacesInANamespaceToo) {
  CommTable table;
  table.add_comm(10, 1, "init");
  table.add_comm(10, 5, "five");
  table.see_task(5, 5);
  table.see_task(1001, 1);
  EXPECT_THAT(table.names(), ElementsAre(Pair(5, "five"), Pair(1001, "init")));
}

TEST(CommTable, NamesAlsoTasksWithoutSamplesOutsideOfNamespaces) {
  CommTable table;
  table.add_comm(10, 7, "seven");
  table.add_comm(10, 8, "eight");
  table.see_task(7, 7);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "seven"), Pair(8, "eight")));
}

TEST(CommTable, TakesADeadTaskForNoSignOfANamespace) {
  CommTable table;
  table.add_comm(10, 7, "seven");
  table.add_comm(10, 8, "eight");
  table.see_task(7, kDead);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "seven"), Pair(8, "eight")));
}

TEST(CommTable, KeepsTheNumberOfATaskInANamespaceWhenItDies) {
  CommTable table;
  table.add_comm(10, 1, "init");
  table.see_task(1001, 1);
  table.see_task(1001, kDead);
  EXPECT_THAT(table.names(), ElementsAre(Pair(1001, "init")));
}

// Old kernels tell 0 of a task that is dead, all tell it of one outside of the namespace.
TEST(CommTable, KeepsTheNumberOfATaskOfWhichTheIdleTasksIsTold) {
  CommTable table;
  table.add_comm(10, 0, "idle");
  table.add_comm(10, 100, "worker");
  table.add_comm(10, 200, "another");
  table.see_task(100, 100);
  table.see_task(100, 0);
  table.see_task(200, 0);  // may be any task outside
  EXPECT_THAT(table.names(), ElementsAre(Pair(100, "worker")));
  table.see_task(0, 0);
  EXPECT_THAT(table.names(), ElementsAre(Pair(0, "idle"), Pair(100, "worker")));
}

TEST(CommTable, TakesTheNumberInANamespaceThatWasSeenLast) {
  CommTable table;
  table.add_comm(10, 1, "one");
  table.add_comm(10, 2, "two");
  table.see_task(1001, 1);
  table.see_task(1001, 2);
  table.see_task(1001, 1);
  table.see_task(1001, 2);
  EXPECT_THAT(table.names(), ElementsAre(Pair(1001, "two")));
}

TEST(CommTable, TellsThousandsOfTasksOfANamespaceApart) {
  // 4000 tasks, so that several share a place in the table of those seen last.
  CommTable table;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t tid = 1; tid <= 4000; ++tid) {
      if (round == 0) table.add_comm(10, tid, fmt::format("task {}", tid));
      table.see_task(tid + 10'000, tid);
    }
  }
  const auto names = table.names();
  EXPECT_THAT(names, SizeIs(4000));
  for (const auto& [pid, comm] : names) EXPECT_EQ(comm, fmt::format("task {}", pid - 10'000));
}

TEST(CommTable, TakesTheNameOfASwitchForATaskThatNoRecordNames) {
  CommTable table;
  table.see_switch(10, 7, "sh");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh")));
}

TEST(CommTable, PrefersARecordsNameToASwitchsWhateverTheTime) {
  CommTable table;
  table.see_switch(20, 7, "switch");
  table.add_comm(10, 7, "record");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "record")));
}

TEST(CommTable, TakesTheLastSwitchsNameByTimeWhateverTheOrderOfArrival) {
  CommTable table;
  table.see_switch(20, 7, "second");
  table.see_switch(30, 7, "third");
  table.see_switch(10, 7, "first");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "third")));
}

TEST(CommTable, TakesTheTimeOfAnEqualNameThatCameLate) {
  CommTable table;
  table.see_switch(30, 7, "third");
  table.see_switch(10, 7, "third");
  table.see_switch(20, 7, "second");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "third")));
  CommTable other;
  other.see_switch(10, 7, "third");
  other.see_switch(30, 7, "third");
  other.see_switch(20, 7, "second");
  EXPECT_THAT(other.names(), ElementsAre(Pair(7, "third")));
}

TEST(CommTable, TakesTheSwitchThatCameLastOfThoseOfTheSameTime) {
  CommTable table;
  table.see_switch(10, 7, "first");
  table.see_switch(10, 7, "second");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "second")));
}

TEST(CommTable, TakesNoEmptyNameFromASwitch) {
  CommTable table;
  table.see_switch(10, 7, "sh");
  table.see_switch(20, 7, "");
  table.see_switch(20, 8, "");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh")));
}

TEST(CommTable, ComparesNamesOfSwitchesUpToTheirNul) {
  CommTable table;
  const std::string clean("sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  const std::string garbage("sh\0leftoverxyz\0\0", 16);
  const std::string other("shell\0\0\0\0\0\0\0\0\0\0\0", 16);
  table.see_switch(10, 7, clean);
  table.see_switch(30, 7, garbage);
  table.see_switch(20, 7, other);
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "sh")));
}

TEST(CommTable, TakesNoNamesOfIdleTasks) {
  CommTable table;
  table.see_switch(10, 0, "swapper/0");
  table.see_switch(20, 0, "swapper/1");
  EXPECT_THAT(table.names(), ::testing::IsEmpty());
}

TEST(CommTable, TellsSwitchesOfThousandsOfTasksApart) {
  CommTable table;
  // Tasks that are 1024 apart share a place in the table of the last names.
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t pid = 1; pid <= 4000; ++pid) {
      table.see_switch(round, pid, fmt::format("{} {}", pid, round));
    }
  }
  const auto names = table.names();
  EXPECT_THAT(names, SizeIs(4000));
  for (const auto& [pid, comm] : names) EXPECT_EQ(comm, fmt::format("{} 2", pid));
}

TEST(CommTable, TakesSwitchesForTheKernelsPidsInANamespace) {
  CommTable table;
  table.add_comm(10, 1, "init");
  table.add_comm(10, 7, "inside");
  table.see_task(1001, 1);
  table.see_switch(10, 1001, "switch");
  table.see_switch(10, 7, "outside");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "outside"), Pair(1001, "init")));
}

TEST(CommTable, TakesASavedNameWhereNothingElseNamesTheTask) {
  CommTable table;
  table.add_comm(10, 7, "record");
  table.see_switch(10, 8, "switch");
  table.add_saved_cmdlines("7 saved\n8 saved\n9 saved\n");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "record"), Pair(8, "switch"), Pair(9, "saved")));
}

TEST(CommTable, TakesASavedNameWithAllItsSpaces) {
  CommTable table;
  table.add_saved_cmdlines("7 a b\n8  c \n9 5");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "a b"), Pair(8, " c "), Pair(9, "5")));
}

TEST(CommTable, TakesTheFirstOfTwoSavedNames) {
  CommTable table;
  table.add_saved_cmdlines("7 first\n7 second\n");
  EXPECT_THAT(table.names(), ElementsAre(Pair(7, "first")));
}

TEST(CommTable, LeavesOutSavedLinesThatHaveNoPidOrNoName) {
  CommTable table;
  table.add_saved_cmdlines(
      "\n\n1\n2 \n3sh\nsh\n -4 sh\n-5 sh\n 6 sh\n99999999999 sh\n7\tsh\n8 good\n");
  EXPECT_THAT(table.names(), ElementsAre(Pair(8, "good")));
}

TEST(CommTable, TakesNothingFromAnEmptyTextOfSavedNames) {
  CommTable table;
  table.add_saved_cmdlines("");
  table.add_saved_cmdlines("\n");
  EXPECT_THAT(table.names(), IsEmpty());
}

}  // namespace
}  // namespace perf2dat
