// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected bytes are worked out by hand from trace-cmd.dat.v7(5), not with the writer's help.
#include "tracedat/metadata.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "testing/byte_orders.h"

namespace perf2dat::tracedat {
namespace {

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::order_name;

/// Lines of 16 bytes, so that a failed test shows where two byte strings part.
std::string dump(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) text += fmt::format("{}{:04x}:", i == 0 ? "" : "\n", i);
    text += fmt::format(" {:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

std::string dump(const std::vector<std::byte>& bytes) {
  return dump({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Bytes from words: `4:0x10` is a number of 4 bytes, `'text'` is text and `0` ends it.
std::string bytes_of(ByteOrder order, std::string_view words) {
  std::string bytes;
  std::size_t at = 0;
  while ((at = words.find_first_not_of(" \n", at)) != std::string_view::npos) {
    if (words[at] == '\'') {
      const std::size_t end = words.find('\'', at + 1);
      bytes += words.substr(at + 1, end - at - 1);
      at = end + 1;
      continue;
    }
    const std::size_t end = words.find_first_of(" \n", at);
    const std::string_view word = words.substr(at, end - at);
    at = end == std::string_view::npos ? words.size() : end;
    if (word == "0") {
      bytes += '\0';
      continue;
    }
    const auto width = static_cast<unsigned>(word[0] - '0');
    const std::uint64_t value = std::stoull(std::string(word.substr(2)), nullptr, 0);
    for (unsigned i = 0; i < width; ++i) {
      const unsigned shift = 8 * (order == ByteOrder::kLittle ? i : width - 1 - i);
      bytes += static_cast<char>(value >> shift & 0xffU);
    }
  }
  return bytes;
}

/// Everything that a file can have, each part with a size of its own.
Metadata full_metadata(ByteOrder order) {
  Metadata metadata;
  metadata.tracing.order = order;
  metadata.tracing.long_size = 8;
  metadata.tracing.header_page = "PAGE!";
  metadata.tracing.header_event = "EV";
  metadata.tracing.ftrace_formats = {"f1"};
  metadata.tracing.systems = {{"sched", {"abc", "de"}}, {"irq", {}}};
  metadata.tracing.kallsyms = "ka\n";
  metadata.tracing.printk = "pk\n";
  metadata.tracing.cmdlines = "9 not this\n";
  metadata.cmdlines = {{7, "sh"}};
  metadata.cpu_count = 4;
  metadata.uname = "Linux";
  metadata.version = "v1";
  return metadata;
}

PageFormat page_format(ByteOrder order) { return {order, 4096, 8}; }

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bytes of a file that has the words in it, of `metadata`.
std::string encoded(const Metadata& metadata, const PageFormat& format,
                    const std::vector<CpuRange>& ranges = {}, std::uint64_t file_size = 0) {
  return std::string(text_of(encode_metadata(metadata, format, ranges, file_size)));
}

using EncodedMetadata = ByteOrderTest;
INSTANTIATE_TEST_SUITE_P(Orders, EncodedMetadata, both_orders(), order_name);

TEST_P(EncodedMetadata, IsTheseBytesWhenEverythingIsThere) {
  const std::string expected =
      bytes_of(GetParam(), fmt::format(R"(
      1:0x17 1:0x08 1:0x44 'tracing' '7' 0
      1:{} 1:8 4:4096
      'none' 0 0
      8:0x177

      2:16 2:0 4:0 8:48
      'header_page' 0 8:5 'PAGE!'
      'header_event' 0 8:2 'EV'

      2:17 2:0 4:8 8:14
      4:1 8:2 'f1'

      2:18 2:0 4:22 8:43
      4:2
      'sched' 0 4:2 8:3 'abc' 8:2 'de'
      'irq' 0 4:0

      2:19 2:0 4:36 8:7
      4:3 'ka' 1:10

      2:20 2:0 4:45 8:7
      4:3 'pk' 1:10

      2:21 2:0 4:52 8:13
      8:5 '7 sh' 1:10

      2:15 2:0 4:91 8:99
      'headers' 0 'ftrace events' 0 'events format' 0 'kallsyms' 0 'printk' 0 'command lines' 0
      'buffer flyrecord' 0 'options' 0 'strings' 0

      2:0 2:0 4:83 8:210
      2:16 4:8 8:0x20
      2:17 4:8 8:0x60
      2:18 4:8 8:0x7e
      2:19 4:8 8:0xb9
      2:20 4:8 8:0xd0
      2:21 4:8 8:0xe7
      2:4 4:7 '[perf]' 0
      2:5 4:6 'Linux' 0
      2:9 4:3 'v1' 0
      2:8 4:4 4:4
      2:3 4:62 8:0x259 0 'perf' 0 4:4096 4:2
        4:1 8:0x2000 8:0x1000
        4:3 8:0x3000 8:0x2000
      2:0 4:8 8:0

      2:3 2:0 4:66 8:0x4d97)",
                                       GetParam() == ByteOrder::kBig ? 1 : 0));
  EXPECT_EQ(dump(encode_metadata(full_metadata(GetParam()), page_format(GetParam()),
                                 {{1, 0x2000, 0x1000}, {3, 0x3000, 0x2000}}, 0x5000)),
            dump(expected));
}

TEST_P(EncodedMetadata, IsTheseBytesWhenNothingIsThereThatMayBeMissing) {
  const std::string expected =
      bytes_of(GetParam(), fmt::format(R"(
      1:0x17 1:0x08 1:0x44 'tracing' '7' 0
      1:{} 1:8 4:4096
      'none' 0 0
      8:0x134

      2:16 2:0 4:0 8:41
      'header_page' 0 8:0
      'header_event' 0 8:0

      2:17 2:0 4:8 8:4
      4:0

      2:18 2:0 4:22 8:4
      4:0

      2:19 2:0 4:36 8:4
      4:0

      2:20 2:0 4:45 8:4
      4:0

      2:21 2:0 4:52 8:8
      8:0

      2:15 2:0 4:91 8:99
      'headers' 0 'ftrace events' 0 'events format' 0 'kallsyms' 0 'printk' 0 'command lines' 0
      'buffer flyrecord' 0 'options' 0 'strings' 0

      2:0 2:0 4:83 8:156
      2:16 4:8 8:0x20
      2:17 4:8 8:0x59
      2:18 4:8 8:0x6d
      2:19 4:8 8:0x81
      2:20 4:8 8:0x95
      2:21 4:8 8:0xa9
      2:4 4:7 '[perf]' 0
      2:9 4:1 0
      2:8 4:4 4:0
      2:3 4:22 8:0x1e0 0 'perf' 0 4:4096 4:0
      2:0 4:8 8:0

      2:3 2:0 4:66 8:0)",
                                       GetParam() == ByteOrder::kBig ? 1 : 0));
  EXPECT_EQ(dump(encode_metadata({}, page_format(GetParam()), {}, 0)), dump(expected));
}

TEST_P(EncodedMetadata, HasTheFormatsPageSizeInTheHeaderAndInBuffer) {
  const PageFormat format{GetParam(), 65536, 4};
  const std::string bytes = encoded({}, format);
  EXPECT_EQ(dump(bytes.substr(14, 4)), dump(bytes_of(GetParam(), "4:65536")));
  EXPECT_THAT(bytes, ::testing::HasSubstr(bytes_of(GetParam(), "0 'perf' 0 4:65536 4:0")));
}

TEST_P(EncodedMetadata, HasTheLongOfUserSpaceNotTheKernels) {
  Metadata metadata;
  metadata.tracing.long_size = 4;
  EXPECT_EQ(encoded(metadata, {GetParam(), 4096, 8})[13], 4);
  metadata.tracing.long_size = 8;
  EXPECT_EQ(encoded(metadata, {GetParam(), 4096, 4})[13], 8);
}

// trace-cmd's split and convert give up where these sections are missing.
TEST_P(EncodedMetadata, HasAnEmptyKallsymsAndPrintkAndTheirOptions) {
  Metadata metadata = full_metadata(GetParam());
  metadata.tracing.kallsyms.clear();
  metadata.tracing.printk.clear();
  const std::string bytes = encoded(metadata, page_format(GetParam()));
  EXPECT_THAT(bytes, ::testing::HasSubstr(bytes_of(GetParam(), "2:19 2:0 4:36 8:4 4:0")));
  EXPECT_THAT(bytes, ::testing::HasSubstr(bytes_of(GetParam(), "2:20 2:0 4:45 8:4 4:0")));
  EXPECT_THAT(bytes, ::testing::HasSubstr(bytes_of(GetParam(), "2:19 4:8 8:0xb9 2:20 4:8 8:0xcd")));
}

TEST_P(EncodedMetadata, LeavesAnUnknownUnameOut) {
  Metadata metadata = full_metadata(GetParam());
  metadata.uname.clear();
  EXPECT_THAT(encoded(metadata, page_format(GetParam())),
              ::testing::HasSubstr(bytes_of(GetParam(), "2:4 4:7 '[perf]' 0 2:9 4:3 'v1' 0")));
}

TEST_P(EncodedMetadata, NamesTheClocksThatShowSecondsInTraceclock) {
  for (const std::string clock : {"local", "global", "uptime", "perf", "mono", "mono_raw", "tai"}) {
    Metadata metadata;
    metadata.clock = clock;
    const std::string bytes = encoded(metadata, page_format(GetParam()));
    EXPECT_THAT(bytes, ::testing::HasSubstr(bytes_of(
                           GetParam(), fmt::format("2:4 4:{} '[{}]' 0", clock.size() + 3, clock))));
    EXPECT_THAT(bytes, ::testing::HasSubstr(
                           bytes_of(GetParam(), fmt::format("0 '{}' 0 4:4096 4:0", clock))));
  }
}

TEST_P(EncodedMetadata, HasNoTraceclockForClocksThatWouldShowRawNumbers) {
  for (const std::string clock : {"boot", "counter", "clockid 5", "", "mono_", "x86-tsc"}) {
    Metadata metadata;
    metadata.clock = clock;
    const std::string bytes = encoded(metadata, page_format(GetParam()));
    EXPECT_THAT(bytes, ::testing::Not(::testing::HasSubstr(fmt::format("[{}]", clock))));
    EXPECT_THAT(bytes, ::testing::HasSubstr(
                           bytes_of(GetParam(), fmt::format("0 '{}' 0 4:4096 4:0", clock))));
  }
}

TEST_P(EncodedMetadata, HasTheNumberOfCpusInCpucountAndThoseWithEventsInBuffer) {
  Metadata metadata;
  metadata.cpu_count = 65536;
  EXPECT_THAT(
      encoded(metadata, page_format(GetParam()), {{65535, 4096, 4096}}, 8192),
      ::testing::AllOf(::testing::HasSubstr(bytes_of(GetParam(), "2:8 4:4 4:65536")),
                       ::testing::HasSubstr(bytes_of(
                           GetParam(), "'perf' 0 4:4096 4:1 4:65535 8:4096 8:4096 2:0 4:8 8:0"))));
}

TEST_P(EncodedMetadata, HasASectionOfEventsThatReachesToTheEndOfTheFile) {
  for (const std::uint64_t file_size : {0x2000ULL, 0x1'2345'6000ULL}) {
    const std::string bytes =
        encoded(full_metadata(GetParam()), page_format(GetParam()), {}, file_size);
    EXPECT_EQ(dump(bytes.substr(bytes.size() - 8)),
              dump(bytes_of(GetParam(), fmt::format("8:{}", file_size - bytes.size()))));
  }
}

TEST_P(EncodedMetadata, HasAnEmptySectionOfEventsWhenTheFileEndsBeforeIt) {
  const std::string bytes = encoded(full_metadata(GetParam()), page_format(GetParam()), {}, 5);
  EXPECT_EQ(dump(bytes.substr(bytes.size() - 8)), dump(bytes_of(GetParam(), "8:0")));
}

TEST_P(EncodedMetadata, HasALengthThatDependsOnTheNumberOfCpusOnly) {
  const Metadata metadata = full_metadata(GetParam());
  const PageFormat format = page_format(GetParam());
  // Each CPU has 20 bytes.
  const std::size_t three = encoded(metadata, format).size() + 60;
  EXPECT_EQ(encoded(metadata, format, std::vector<CpuRange>(3)).size(), three);
  EXPECT_EQ(encoded(metadata, format,
                    {{1, ~0ULL, ~0ULL}, {2, 1ULL << 40U, 4096}, {65535, 4096, 8192}}, ~0ULL)
                .size(),
            three);
}

TEST_P(EncodedMetadata, KeepsTextsAsTheyAre) {
  Metadata metadata;
  // Line breaks, NULs and bytes beyond ASCII are the recording's business.
  const std::string odd("a\0\n\xff'", 5);
  metadata.tracing.header_page = odd;
  metadata.tracing.ftrace_formats = {odd, ""};
  metadata.tracing.kallsyms = odd;
  const std::string bytes = encoded(metadata, page_format(GetParam()));
  const auto after = [&](std::string_view words) { return bytes_of(GetParam(), words) + odd; };
  EXPECT_THAT(bytes, ::testing::HasSubstr(after("'header_page' 0 8:5")));
  EXPECT_THAT(bytes, ::testing::HasSubstr(after("4:2 8:5") + bytes_of(GetParam(), "8:0 2:18")));
  EXPECT_THAT(bytes, ::testing::HasSubstr(after("8:9 4:5")));
}

TEST(CmdlinesText, IsALineOfPidAndNameForEachTask) {
  EXPECT_EQ(cmdlines_text({{7, "sh"}, {4194304, "kworker/0:1-ev"}, {9, "a b"}}),
            "7 sh\n4194304 kworker/0:1-ev\n9 a b\n");
}

TEST(CmdlinesText, IsEmptyWithoutTasks) { EXPECT_EQ(cmdlines_text({}), ""); }

TEST(CmdlinesText, LeavesOutNamesOfNothingButSpace) {
  // The reader would drop this line and all lines that follow.
  EXPECT_EQ(cmdlines_text({{1, ""},
                           {2, " "},
                           {3, "\n"},
                           {4, "\t"},
                           {5, "\r"},
                           {6, "\v"},
                           {7, "\f"},
                           {8, " \t\r\n "},
                           {9, "sh"}}),
            "9 sh\n");
}

TEST(CmdlinesText, PutsAQuestionMarkForALineBreakInAName) {
  EXPECT_EQ(cmdlines_text({{1, "a\nb"}, {2, "\nc\n"}, {3, "sh"}}), "1 a?b\n2 ?c?\n3 sh\n");
}

TEST(CmdlinesText, PutsAQuestionMarkForANulInAName) {
  EXPECT_EQ(cmdlines_text({{1, std::string("a\0b", 3)}, {2, "sh"}}), "1 a?b\n2 sh\n");
}

TEST(CmdlinesText, KeepsSpaceInsideAName) {
  EXPECT_EQ(cmdlines_text({{1, " a\tb "}}), "1  a\tb \n");
}

}  // namespace
}  // namespace perf2dat::tracedat
