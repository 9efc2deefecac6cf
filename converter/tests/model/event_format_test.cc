// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/event_format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "testing/expected.h"

namespace perf2dat {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::value_of;

// A kernel's own texts.

constexpr std::string_view kSchedSwitch =
    "name: sched_switch\n"
    "ID: 372\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
    "\n"
    "print fmt: \"prev_comm=%s prev_pid=%d\", REC->prev_comm, REC->prev_pid\n";

constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/// The only field of an event that is declared like this.
EventField field_of(std::string_view line) {
  const auto format = parse_event_format(fmt::format("name: e\nID: 1\nformat:\n{}\n", line));
  if (!format || format->fields.size() != 1) {
    ADD_FAILURE() << "no field: " << line;
    return {};
  }
  return format->fields.front();
}

std::size_t number_of_fields(std::string_view line) {
  const auto format = parse_event_format(fmt::format("name: e\nID: 1\nformat:\n{}\n", line));
  return format ? format->fields.size() : 99;
}

TEST(EventFormat, HasTheNameAndTheIdOfAnEvent) {
  const auto format = parse_event_format(kSchedSwitch);
  ASSERT_TRUE(format);
  EXPECT_EQ(format->name, "sched_switch");
  EXPECT_EQ(format->id, 372U);
}

TEST(EventFormat, HasAllFieldsInOrder) {
  const auto format = parse_event_format(kSchedSwitch);
  ASSERT_TRUE(format);
  std::string fields;
  for (const auto& field : format->fields) {
    fields += fmt::format("{} {}{} {} {}\n", field.type, field.name, field.is_array ? "[]" : "",
                          field.offset, field.size);
  }
  EXPECT_EQ(fields,
            "unsigned short common_type 0 2\n"
            "unsigned char common_flags 2 1\n"
            "unsigned char common_preempt_count 3 1\n"
            "int common_pid 4 4\n"
            "char prev_comm[] 8 16\n"
            "pid_t prev_pid 24 4\n"
            "int prev_prio 28 4\n"
            "long prev_state 32 8\n"
            "char next_comm[] 40 16\n"
            "pid_t next_pid 56 4\n"
            "int next_prio 60 4\n");
}

TEST(EventFormat, FindsAFieldByItsWholeName) {
  const auto format = parse_event_format(kSchedSwitch);
  ASSERT_TRUE(format);
  const EventField* const field = format->find("next_pid");
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(field->offset, 56U);
  EXPECT_EQ(field->size, 4U);
  EXPECT_EQ(format->find("pid"), nullptr);
  EXPECT_EQ(format->find("next_pid2"), nullptr);
  EXPECT_EQ(format->find(""), nullptr);
}

TEST(EventFormat, TakesAnArraysSizeForNoPartOfItsName) {
  const EventField field =
      field_of("\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;");
  EXPECT_EQ(field.type, "unsigned long");
  EXPECT_EQ(field.name, "args");
  EXPECT_TRUE(field.is_array);
  EXPECT_EQ(field.offset, 16U);
  EXPECT_EQ(field.size, 48U);
}

TEST(EventFormat, ReadsAnArrayWhoseSizeIsAnExpression) {
  const EventField field =
      field_of("\tfield:char comm[TASK_COMM_LEN + 1];\toffset:8;\tsize:17;\tsigned:0;");
  EXPECT_EQ(field.name, "comm");
  EXPECT_EQ(field.type, "char");
  EXPECT_TRUE(field.is_array);
}

TEST(EventFormat, TakesTheBracketsOfDynamicDataForAPartOfItsType) {
  for (const std::string kind : {"__data_loc", "__rel_loc"}) {
    const EventField field =
        field_of(fmt::format("\tfield:{} char[] name;\toffset:8;\tsize:4;\tsigned:0;", kind));
    EXPECT_EQ(field.type, kind + " char[]");
    EXPECT_EQ(field.name, "name");
    EXPECT_FALSE(field.is_array);
    EXPECT_EQ(field.size, 4U);
  }
}

TEST(EventFormat, TakesAStarForAPartOfTheType) {
  for (const std::string_view declaration : {"void * ptr", "void *ptr", "void* ptr"}) {
    const EventField field =
        field_of(fmt::format("\tfield:{};\toffset:8;\tsize:8;\tsigned:0;", declaration));
    EXPECT_EQ(field.name, "ptr");
    EXPECT_EQ(field.type.substr(0, 4), "void");
    EXPECT_EQ(field.type.back(), '*');
    EXPECT_FALSE(field.is_array);
  }
}

TEST(EventFormat, ReadsTypesOfSeveralWords) {
  const EventField field =
      field_of("\tfield:const unsigned long long int value;\toffset:8;\tsize:8;\tsigned:0;");
  EXPECT_EQ(field.type, "const unsigned long long int");
  EXPECT_EQ(field.name, "value");
}

TEST(EventFormat, ReadsSpecialFields) {
  const EventField field = field_of("\tfield special:char buf;\toffset:8;\tsize:4;\tsigned:0;");
  EXPECT_EQ(field.name, "buf");
  EXPECT_EQ(field.size, 4U);
}

TEST(EventFormat, ReadsAFieldThatHasNoTypeOrNoSign) {
  EXPECT_EQ(field_of("field:lonely;offset:8;size:4;").name, "lonely");
  EXPECT_EQ(field_of("field:lonely;offset:8;size:4;").type, "");
}

TEST(EventFormat, ReadsLinesThatEndWithACarriageReturn) {
  const auto format =
      parse_event_format("name: e\r\nID: 12\r\n\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\r\n");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->name, "e");
  EXPECT_EQ(format->id, 12U);
  ASSERT_EQ(format->fields.size(), 1U);
}

TEST(EventFormat, LeavesAFieldOutWhosePlaceIsNotTold) {
  EXPECT_EQ(number_of_fields("\tfield:int a;\tsize:4;\tsigned:1;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:4;\tsigned:1;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:;\tsize:4;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:-4;\tsize:4;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:4;\tsize:4x;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:99999999999;\tsize:4;"), 0U);
  EXPECT_EQ(number_of_fields("\tfield:int a;\toffset:4294967295;\tsize:4;"), 1U);
  EXPECT_EQ(number_of_fields("\tfield:"), 0U);
  EXPECT_EQ(number_of_fields("\tfields:int a;\toffset:4;\tsize:4;"), 0U);
}

TEST(EventFormat, ReadsNoFieldFromThePrintFormat) {
  const auto format = parse_event_format(
      "name: e\nID: 1\nformat:\n"
      "\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n"
      "print fmt: \"x\n"
      "\tfield:int b;\toffset:8;\tsize:4;\tsigned:1;\n"
      "ID: 2\n\"\n");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->id, 1U);
  EXPECT_EQ(format->fields.size(), 1U);
}

TEST(EventFormat, NeedsAName) {
  EXPECT_FALSE(parse_event_format("ID: 1\nformat:\n"));
  EXPECT_FALSE(parse_event_format("name:\nID: 1\nformat:\n"));
  EXPECT_FALSE(parse_event_format("name: \t\nID: 1\nformat:\n"));
}

TEST(EventFormat, NeedsAnId) {
  EXPECT_FALSE(parse_event_format("name: e\nformat:\n"));
  EXPECT_FALSE(parse_event_format("name: e\nID: x\n"));
  EXPECT_FALSE(parse_event_format("name: e\nID: -1\n"));
  EXPECT_FALSE(parse_event_format("name: e\nID: 4294967296\n"));
  EXPECT_EQ(parse_event_format("name: e\nID: 4294967295\n")->id, 4294967295U);
}

TEST(EventFormat, MayHaveNoFields) {
  const auto format = parse_event_format("name: e\nID: 0");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->id, 0U);
  EXPECT_TRUE(format->fields.empty());
  EXPECT_EQ(format->find("a"), nullptr);
}

TEST(EventFormat, MakesNothingOfOtherText) {
  EXPECT_FALSE(parse_event_format(""));
  EXPECT_FALSE(parse_event_format("\n\n\n"));
  EXPECT_FALSE(parse_event_format(std::string(1000, '\0')));
  EXPECT_FALSE(parse_event_format("field:field:field:;;;;]]]["));
}

TEST(EventFormat, SurvivesTextThatIsMeantToBreakIt) {
  for (const std::string_view declaration :
       {"]", "[", "[]", "a]", "a[", "int ]", "int a[[]]", "*", "int *", "int *[]", "   ", "\t", "",
        "[[[[[[", "int a[3][4]"}) {
    EXPECT_EQ(number_of_fields(fmt::format("field:{};offset:0;size:4;", declaration)), 1U);
  }
  EXPECT_EQ(number_of_fields(std::string(100'000, ';')), 0U);
  EXPECT_EQ(number_of_fields("field:int a" + std::string(100'000, ';') + "offset:1;size:2"), 1U);
  EXPECT_EQ(field_of("field:int " + std::string(100'000, 'a') + ";offset:1;size:2").name.size(),
            100'000U);
}

TEST(EventFormat, SurvivesAnyTextThatIsNearlyRight) {
  std::mt19937 random(5);
  const std::string_view pieces = ":;[]* \t\n0f";
  for (int round = 0; round < 5000; ++round) {
    std::string text(kSchedSwitch);
    for (int change = 0; change < 5; ++change) {
      text[random() % text.size()] = pieces[random() % pieces.size()];
    }
    if (random() % 2 == 0) text.resize(random() % text.size());
    const auto format = parse_event_format(text);
    EXPECT_LE(format ? format->fields.size() : 0, 11U);
    const auto commit = commit_size_of(text);
    EXPECT_FALSE(commit);
  }
}

TEST(CommitSize, IsThatOfTheFieldCommit) {
  EXPECT_EQ(value_of(commit_size_of(kHeaderPage)), 8U);
  EXPECT_EQ(value_of(commit_size_of("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                    "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
                                    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                    "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n")),
            4U);
}

TEST(CommitSize, IsEither4Or8) {
  for (const int size : {0, 2, 6, 16}) {
    EXPECT_EQ(error_of(commit_size_of(
                  fmt::format("\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n", size))),
              fmt::format("header_page says that commit has {} bytes, neither 4 nor 8", size));
  }
}

TEST(CommitSize, IsUnknownWithoutADescription) {
  for (const std::string_view text :
       {"", "\n", "commit", "\tfield: local_t commit;\toffset:8;\tsigned:1;\n",
        "\tfield: local_t commits;\toffset:8;\tsize:8;\tsigned:1;\n"}) {
    EXPECT_EQ(error_of(commit_size_of(text)), "header_page does not describe commit");
  }
}

}  // namespace
}  // namespace perf2dat
