// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/tracing_dir.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"

namespace perf2dat::perfdata {
namespace {

namespace fs = std::filesystem;

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::order_name;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using perf2dat::testing::write_file;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string header_page(std::uint32_t commit_size, std::uint32_t page_size) {
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      commit_size, 8 + commit_size, page_size - 8 - commit_size);
}

class ReadTracingDir : public ByteOrderTest {
 protected:
  void write(std::string_view name, std::string_view text) const {
    const fs::path path = directory_.path(name);
    fs::create_directories(path.parent_path());
    write_file(path.string(), std::as_bytes(std::span(text)));
  }
  void write_headers(std::uint32_t commit_size = 8, std::uint32_t page_size = 4096) const {
    write("events/header_page", header_page(commit_size, page_size));
    write("events/header_event", "# compressed entry header\n");
  }
  Expected<TracingData> read() const { return read_tracing_dir(directory_.path(""), GetParam()); }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadTracingDir, both_orders(), order_name);

TEST_P(ReadTracingDir, FindsAllFormatsSortedByName) {
  write_headers();
  write("events/sched/sched_waking/format", "name: sched_waking\n");
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  write("events/irq/softirq_entry/format", "name: softirq_entry\n");
  write("events/timer/hrtimer/format", "name: hrtimer\n");
  write("printk_formats", "0xffff : \"text\"\n");
  write("saved_cmdlines", "1 init\n");
  const TracingData found = value_of(read());
  EXPECT_EQ(found.order, GetParam());
  EXPECT_EQ(found.header_page, header_page(8, 4096));
  EXPECT_EQ(found.header_event, "# compressed entry header\n");
  EXPECT_THAT(found.ftrace_formats, ElementsAre());
  ASSERT_EQ(found.systems.size(), 3U);
  EXPECT_EQ(found.systems[0].name, "irq");
  EXPECT_THAT(found.systems[0].formats, ElementsAre("name: softirq_entry\n"));
  EXPECT_EQ(found.systems[1].name, "sched");
  EXPECT_THAT(found.systems[1].formats,
              ElementsAre("name: sched_switch\n", "name: sched_waking\n"));
  EXPECT_EQ(found.systems[2].name, "timer");
  EXPECT_EQ(found.printk, "0xffff : \"text\"\n");
  EXPECT_EQ(found.cmdlines, "1 init\n");
  EXPECT_EQ(found.kallsyms, "");
}

TEST_P(ReadTracingDir, KeepsTheFormatsOfFtracesOwnEventsApart) {
  write_headers();
  write("events/ftrace/print/format", "name: print\n");
  write("events/ftrace/function/format", "name: function\n");
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  const TracingData found = value_of(read());
  EXPECT_THAT(found.ftrace_formats, ElementsAre("name: function\n", "name: print\n"));
  ASSERT_EQ(found.systems.size(), 1U);
  EXPECT_EQ(found.systems[0].name, "sched");
}

TEST_P(ReadTracingDir, NeedsNeitherPrintkFormatsNorCmdlines) {
  write_headers();
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  const TracingData found = value_of(read());
  EXPECT_EQ(found.printk, "");
  EXPECT_EQ(found.cmdlines, "");
}

TEST_P(ReadTracingDir, TakesThePageSizeAndTheLongSizeFromTheHeaderPage) {
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  for (const std::uint32_t commit_size : {4U, 8U}) {
    for (const std::uint32_t page_size : {4096U, 65536U}) {
      write_headers(commit_size, page_size);
      const TracingData found = value_of(read());
      EXPECT_EQ(found.long_size, commit_size);
      EXPECT_EQ(found.page_size, page_size);
    }
  }
}

TEST_P(ReadTracingDir, PassesOverWhatIsNoEvent) {
  write_headers();
  write("events/enable", "0\n");
  write("events/sched/enable", "0\n");
  write("events/sched/filter", "none\n");
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  write("events/sched/sched_switch/id", "314\n");
  write("events/sched/broken/id", "315\n");
  write("events/empty/filter", "none\n");
  fs::create_directories(directory_.path("events/sched/odd/format"));
  fs::create_directories(directory_.path("printk_formats"));
  const TracingData found = value_of(read());
  ASSERT_EQ(found.systems.size(), 1U);
  EXPECT_THAT(found.systems[0].formats, ElementsAre("name: sched_switch\n"));
  EXPECT_EQ(found.printk, "");
}

// A pipe would be waited for, and a device has no end.
TEST_P(ReadTracingDir, ReadsNothingButFiles) {
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  for (const std::string name : {"header_page", "header_event"}) {
    write_headers();
    fs::remove(directory_.path("events/" + name));
    ASSERT_EQ(::mkfifo(directory_.path("events/" + name).c_str(), 0600), 0);
    EXPECT_THAT(error_of(read()), HasSubstr("has no events/header_page and events/header_event"));
    fs::remove(directory_.path("events/" + name));
  }
  write_headers();
  fs::create_symlink("/dev/zero", directory_.path("printk_formats"));
  EXPECT_EQ(value_of(read()).printk, "");
}

// Somebody else may have packed the tree: what is outside of it, such as a file that never ends or
// one that is a secret, must not be read into the output.
TEST_P(ReadTracingDir, RefusesLinksThatLeadOutOfTheFolder) {
  const TemporaryDirectory outside;
  const std::string secret = outside.write("secret", std::as_bytes(std::span("key")));
  const std::vector<std::string> names = {"events/header_page", "events/header_event",
                                          "events/sched/sched_switch/format", "printk_formats",
                                          "saved_cmdlines"};
  for (const auto& name : names) {
    write_headers();
    write("events/sched/sched_switch/format", "name: sched_switch\n");
    fs::remove(directory_.path(name));
    fs::create_symlink(secret, directory_.path(name));
    EXPECT_THAT(error_of(read()),
                AllOf(HasSubstr(name + "' is a link to '" + secret + "'"),
                      HasSubstr("outside of '" +
                                directory_.path("").substr(0, directory_.path("").size() - 1))));
    fs::remove(directory_.path(name));
  }
  write_headers();
  fs::create_directories(outside.path("sched_waking"));
  write_file(outside.path("sched_waking/format"), std::as_bytes(std::span("key")));
  fs::create_symlink(outside.path("sched_waking"), directory_.path("events/sched/sched_waking"));
  EXPECT_THAT(error_of(read()), HasSubstr("sched_waking/format' is a link to"));
}

TEST_P(ReadTracingDir, FollowsLinksInsideTheFolderHoweverItIsNamed) {
  write_headers();
  write("formats/switch", "name: sched_switch\n");
  fs::create_directories(directory_.path("events/sched/sched_switch"));
  fs::create_symlink("../../../formats/switch",
                     directory_.path("events/sched/sched_switch/format"));
  const TemporaryDirectory elsewhere;
  fs::create_directory_symlink(directory_.path(""), elsewhere.path("link"));
  for (const auto& name :
       {directory_.path("events/.."), elsewhere.path("link"), elsewhere.path("link/")}) {
    EXPECT_THAT(value_of(read_tracing_dir(name, GetParam())).systems.at(0).formats,
                ElementsAre("name: sched_switch\n"));
  }
}

TEST_P(ReadTracingDir, RefusesTextsThatAreLargerThanAnyKernels) {
  write_headers();
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  write("printk_formats", "");
  constexpr std::uintmax_t kLargest = 64U << 20U;
  fs::resize_file(directory_.path("printk_formats"), kLargest);
  EXPECT_EQ(value_of(read()).printk.size(), kLargest);
  fs::resize_file(directory_.path("printk_formats"), kLargest << 16U);  // all holes
  EXPECT_THAT(error_of(read()), AllOf(HasSubstr("printk_formats' has more than 67108864 bytes")));
}

TEST_P(ReadTracingDir, ReadsTextsOfAnyLength) {
  write_headers();
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 100000U}) {
    const std::string text(size, 'f');
    write("events/sched/sched_switch/format", text);
    EXPECT_THAT(value_of(read()).systems.at(0).formats, ElementsAre(text));
  }
}

TEST_P(ReadTracingDir, FollowsLinksToFolders) {
  write_headers();
  write("elsewhere/sched_switch/format", "name: sched_switch\n");
  fs::create_symlink(directory_.path("elsewhere"), directory_.path("events/sched"));
  EXPECT_EQ(value_of(read()).systems.at(0).name, "sched");
}

TEST_P(ReadTracingDir, WithoutTheHeadersIsAnError) {
  const auto refused = AllOf(HasSubstr("has no events/header_page and events/header_event"),
                             HasSubstr("--tracing-dir"), HasSubstr(directory_.path("")));
  EXPECT_THAT(error_of(read()), refused);
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  write("events/header_page", header_page(8, 4096));
  EXPECT_THAT(error_of(read()), refused);
  fs::create_directories(directory_.path("events/header_event"));
  EXPECT_THAT(error_of(read()), refused);
  fs::remove(directory_.path("events/header_page"));
  EXPECT_THAT(error_of(read()), refused);
}

TEST_P(ReadTracingDir, WithoutAFormatIsAnError) {
  write_headers();
  EXPECT_THAT(error_of(read()), HasSubstr("has no events/*/*/format"));
  write("events/sched/enable", "0\n");
  write("events/ftrace/print/format", "name: print\n");
  EXPECT_THAT(error_of(read()), HasSubstr("has no events/*/*/format"));
}

TEST_P(ReadTracingDir, WithAHeaderPageThatDescribesNoPageIsAnError) {
  write_headers();
  write("events/sched/sched_switch/format", "name: sched_switch\n");
  write("events/header_page", "");
  EXPECT_THAT(error_of(read()), HasSubstr("does not describe commit"));
  write("events/header_page", header_page(2, 4096));
  EXPECT_THAT(error_of(read()), HasSubstr("commit has 2 bytes"));
  write("events/header_page", "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
  EXPECT_THAT(error_of(read()), HasSubstr("does not describe data"));
}

TEST(ReadTracingDirOf, NoFolderIsAnError) {
  EXPECT_THAT(error_of(read_tracing_dir("/nowhere/at/all", ByteOrder::kLittle)),
              HasSubstr("'/nowhere/at/all'"));
}

}  // namespace
}  // namespace perf2dat::perfdata
