// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/tracing_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::encode_tracing_data;
using perf2dat::testing::error_of;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::order_name;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kOrigin = 0x1000;
constexpr std::size_t kMagicSize = 10;
constexpr std::size_t kVersionAt = kMagicSize;
constexpr std::size_t kOrderAt = kVersionAt + 4;
constexpr std::size_t kLongAt = kOrderAt + 1;
constexpr std::size_t kPageSizeAt = kLongAt + 1;
constexpr std::size_t kHeaderPageAt = kPageSizeAt + 4;

class ParseTracingData : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  static Expected<TracingData> parse(const Bytes& bytes) {
    return parse_tracing_data(bytes, kOrigin);
  }

  /// Everything that there can be.
  TracingData full() const {
    TracingData data;
    data.order = order();
    data.long_size = 4;
    data.page_size = 65536;
    data.header_page = "a page\n";
    data.header_event = "an event";
    data.ftrace_formats = {"ftrace's first", "", "ftrace's third"};
    data.systems = {
        {"sched", {"sched_switch's", "sched_wakeup's"}}, {"empty", {}}, {"irq", {"irq_entry's"}}};
    data.kallsyms = "0 T start\n";
    data.printk = "0 : \"text\"\n";
    data.cmdlines = "1 init\n";
    return data;
  }
  Bytes encode(const TracingData& data) const { return encode_tracing_data(data, order()); }

  /// The bytes up to the texts.
  ByteWriter begin() const {
    ByteWriter out(order());
    out.text(std::string_view("\x17\x08\x44tracing", kMagicSize)).c_string("0.6");
    out.u8(order() == ByteOrder::kBig ? 1 : 0).u8(8).u32(4096);
    return out;
  }
  ByteWriter begin_with_headers() const {
    ByteWriter out = begin();
    out.c_string("header_page").u64(0).c_string("header_event").u64(0);
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ParseTracingData, both_orders(), order_name);

TEST_P(ParseTracingData, ReadsEverythingOfVersion06) {
  const TracingData data = value_of(parse(encode(full())));
  EXPECT_EQ(data.order, order());
  EXPECT_EQ(data.long_size, 4);
  EXPECT_EQ(data.page_size, 65536U);
  EXPECT_EQ(data.header_page, "a page\n");
  EXPECT_EQ(data.header_event, "an event");
  EXPECT_THAT(data.ftrace_formats, ElementsAre("ftrace's first", "", "ftrace's third"));
  ASSERT_THAT(data.systems, SizeIs(3));
  EXPECT_EQ(data.systems[0].name, "sched");
  EXPECT_THAT(data.systems[0].formats, ElementsAre("sched_switch's", "sched_wakeup's"));
  EXPECT_EQ(data.systems[1].name, "empty");
  EXPECT_THAT(data.systems[1].formats, IsEmpty());
  EXPECT_EQ(data.systems[2].name, "irq");
  EXPECT_THAT(data.systems[2].formats, ElementsAre("irq_entry's"));
  EXPECT_EQ(data.kallsyms, "0 T start\n");
  EXPECT_EQ(data.printk, "0 : \"text\"\n");
  EXPECT_EQ(data.cmdlines, "1 init\n");
}

TEST_P(ParseTracingData, ReadsVersion05WhichHasNoCmdlines) {
  TracingData written = full();
  written.cmdlines.clear();
  const Bytes bytes = encode(written);
  ASSERT_EQ(static_cast<char>(bytes[kVersionAt + 2]), '5');
  const TracingData data = value_of(parse(bytes));
  EXPECT_EQ(data.printk, written.printk);
  EXPECT_EQ(data.cmdlines, "");
}

TEST_P(ParseTracingData, KeepsTextsAsTheyAre) {
  TracingData written = full();
  written.header_page = std::string("\0\xff\n\0", 4);
  EXPECT_EQ(value_of(parse(encode(written))).header_page, written.header_page);
}

TEST_P(ParseTracingData, IgnoresWhatFollows) {
  Bytes bytes = encode(full());
  bytes.resize(bytes.size() + 7, std::byte{0xff});
  EXPECT_EQ(value_of(parse(bytes)).cmdlines, "1 init\n");
}

TEST_P(ParseTracingData, FailsWhenItIsCutShortAtAnyByte) {
  for (const bool with_cmdlines : {true, false}) {
    TracingData data = full();
    if (!with_cmdlines) data.cmdlines.clear();
    Bytes bytes = encode(data);
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_THAT(error_of(parse(bytes)), AllOf(HasSubstr("the event formats"),
                                                HasSubstr("too early"), HasSubstr("offset 0x1")));
    }
  }
}

TEST_P(ParseTracingData, FailsWithoutItsMagic) {
  for (std::size_t at = 0; at < kMagicSize; ++at) {
    Bytes bytes = encode(full());
    bytes[at] ^= std::byte{0x20};
    EXPECT_THAT(error_of(parse(bytes)), AllOf(HasSubstr("magic"), HasSubstr("offset 0x1000")));
  }
}

TEST_P(ParseTracingData, FailsWithAnyOtherVersion) {
  const Bytes good = encode(full());
  for (const std::string_view version : {"0.4", "0.7", "1.6", "7", "", "0.66", "a\nb", "\x1b[0m"}) {
    ByteWriter out(order());
    out.bytes(std::span(good).first(kVersionAt)).c_string(version);
    out.bytes(std::span(good).subspan(kOrderAt));
    EXPECT_THAT(error_of(parse(out.data())), AllOf(HasSubstr("version"), HasSubstr("offset 0x1000"),
                                                   HasSubstr("neither 0.5 nor 0.6")));
  }
}

TEST_P(ParseTracingData, TakesAnyOrderByteBut0ForBigEndian) {
  Bytes bytes = encode(full());
  bytes[kOrderAt] = order() == ByteOrder::kBig ? std::byte{2} : std::byte{0};
  EXPECT_EQ(value_of(parse(bytes)).order, order());
}

TEST_P(ParseTracingData, FailsWhenALongHasNeither4Nor8Bytes) {
  for (unsigned size = 0; size < 256; ++size) {
    Bytes bytes = encode(full());
    bytes[kLongAt] = static_cast<std::byte>(size);
    if (size == 4 || size == 8) {
      EXPECT_EQ(value_of(parse(bytes)).long_size, size);
    } else {
      EXPECT_THAT(error_of(parse(bytes)),
                  AllOf(HasSubstr(fmt::format("long has {} bytes", size)), HasSubstr("0x1000")));
    }
  }
}

TEST_P(ParseTracingData, FailsWhenAPageIsNoPowerOfTwo) {
  for (const std::uint32_t size : {0U, 3U, 4095U, 4097U, 0xffffffffU}) {
    Bytes bytes = encode(full());
    store(bytes.data() + kPageSizeAt, size, order());
    EXPECT_THAT(error_of(parse(bytes)),
                AllOf(HasSubstr(fmt::format("a page has {} bytes", size)), HasSubstr("0x1000")));
  }
  for (const std::uint32_t size : {1U, 4096U, 16384U, 65536U, 0x80000000U}) {
    Bytes bytes = encode(full());
    store(bytes.data() + kPageSizeAt, size, order());
    EXPECT_EQ(value_of(parse(bytes)).page_size, size);
  }
}

TEST_P(ParseTracingData, FailsWithoutTheHeaders) {
  ByteWriter no_page = begin();
  no_page.c_string("footer_page").u64(0);
  EXPECT_THAT(error_of(parse(no_page.data())),
              AllOf(HasSubstr("no header_page"),
                    HasSubstr(fmt::format("offset {:#x}", kOrigin + kHeaderPageAt))));
  ByteWriter no_event = begin();
  no_event.c_string("header_page").u64(3).text("abc");
  const auto event_at = kOrigin + no_event.size();
  no_event.c_string("header_page").u64(0);
  EXPECT_THAT(
      error_of(parse(no_event.data())),
      AllOf(HasSubstr("no header_event"), HasSubstr(fmt::format("offset {:#x}", event_at))));
}

TEST_P(ParseTracingData, AllocatesNothingForHugeCounts) {
  constexpr std::uint32_t kMany = 0xffffffff;
  const auto systems = [&] { return begin_with_headers().u32(0); };
  const std::vector<Bytes> hostile = {
      begin().c_string("header_page").u64(~0ULL).take(),
      begin().c_string("header_page").u64(1ULL << 62U).take(),
      begin().c_string("header_page").u64(0).c_string("header_event").u64(~0ULL - 7).take(),
      begin_with_headers().u32(kMany).take(),
      begin_with_headers().u32(kMany).u64(0).u64(0).u64(~0ULL).take(),
      systems().u32(kMany).take(),
      systems().u32(kMany).c_string("sched").u32(kMany).take(),
      systems().u32(1).c_string("sched").u32(1).u64(1ULL << 63U).take(),
      systems().u32(kMany).c_string("sched").u32(0).c_string("").u32(0).take(),
      systems().u32(0).u32(kMany).take(),
      systems().u32(0).u32(0).u32(kMany).take(),
      systems().u32(0).u32(0).u32(0).u64(1ULL << 40U).take(),
  };
  const MemoryLimit limit(8U << 20U);
  for (const Bytes& bytes : hostile) {
    EXPECT_THAT(error_of(parse(bytes)), HasSubstr("the event formats ends too early"));
  }
}

}  // namespace
}  // namespace perf2dat::perfdata
