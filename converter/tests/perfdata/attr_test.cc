// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/attr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::AttrSpec;
using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::encode_attr;
using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::order_name;
using perf2dat::testing::PerfDataBuilder;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kFlagsAt = 40;

/// Every size that a kernel has had up to now, and larger ones that are to come.
constexpr std::array<std::uint32_t, 13> kSizes = {64,  72,  80,  96,  104, 112, 120,
                                                  128, 136, 144, 152, 200, 4096};

AttrSpec of_size(std::uint32_t size, std::optional<std::int32_t> clockid = std::nullopt) {
  AttrSpec spec;
  spec.size = size;
  spec.clockid = clockid;
  return spec;
}

class ParseAttr : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  Bytes encode(const AttrSpec& spec) const { return encode_attr(spec, order()); }
  Bytes without_flags() const {
    AttrSpec spec = of_size(128);
    spec.sample_id_all = false;
    return encode(spec);
  }
  Expected<Attr> parse(const Bytes& bytes) const {
    ByteReader reader(bytes, order(), 0x100);
    return parse_attr(reader);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ParseAttr, both_orders(), order_name);

TEST_P(ParseAttr, ReadsTheSameOfEverySize) {
  for (const std::uint32_t size : kSizes) {
    AttrSpec spec = of_size(size);
    spec.type = 2;
    spec.config = 0x0123456789abcdef;
    spec.sample_type = 0x1fedcba987654321;
    spec.read_format = 0x1d;
    Bytes bytes = encode(spec);
    bytes.resize(size + 8);
    ByteReader reader(bytes, order());
    const Attr attr = value_of(parse_attr(reader));
    EXPECT_EQ(attr.type, 2U);
    EXPECT_EQ(attr.config, 0x0123456789abcdefU);
    EXPECT_EQ(attr.sample_type, 0x1fedcba987654321U);
    EXPECT_EQ(attr.read_format, 0x1dU);
    EXPECT_TRUE(attr.sample_id_all);
    EXPECT_FALSE(attr.clockid);
    EXPECT_THAT(attr.ids, IsEmpty());
    EXPECT_EQ(attr.name, "");
    EXPECT_EQ(reader.offset(), size) << "goes on after the attr";
  }
}

TEST_P(ParseAttr, TakesASizeOf0For64) {
  AttrSpec spec = of_size(64);
  spec.config = 99;
  Bytes bytes = encode(spec);
  store(bytes.data() + 4, std::uint32_t{0}, order());
  bytes.resize(80);
  ByteReader reader(bytes, order());
  EXPECT_EQ(value_of(parse_attr(reader)).config, 99U);
  EXPECT_EQ(reader.offset(), 64U);
}

TEST_P(ParseAttr, RefusesASizeBelow64) {
  Bytes bytes = encode(of_size(128));
  for (std::uint32_t size = 1; size < 64; ++size) {
    store(bytes.data() + 4, size, order());
    EXPECT_THAT(error_of(parse(bytes)),
                AllOf(HasSubstr("offset 0x100"), HasSubstr(fmt::format("has {} bytes", size)),
                      HasSubstr("fewer than 64")));
  }
}

TEST_P(ParseAttr, RefusesBytesThatAreFewerThanItsOwnSize) {
  for (const bool with_clock : {false, true}) {
    Bytes bytes = encode(of_size(128, with_clock ? std::optional(1) : std::nullopt));
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_THAT(error_of(parse(bytes)), HasSubstr("an event's perf_event_attr ends too early"));
    }
  }
}

TEST_P(ParseAttr, RefusesAHugeSize) {
  Bytes bytes = encode(of_size(128));
  for (const std::uint32_t size : {129U, 0x7fffffffU, 0xffffffffU}) {
    store(bytes.data() + 4, size, order());
    EXPECT_THAT(error_of(parse(bytes)), HasSubstr("ends too early"));
  }
}

TEST_P(ParseAttr, FindsSampleIdAllInTheThirdByteOfTheFlags) {
  // The order of the bits in a byte is turned round, the order of the bytes is not.
  const std::byte bit{order() == ByteOrder::kLittle ? std::uint8_t{0x04} : std::uint8_t{0x20}};
  Bytes bytes = without_flags();
  EXPECT_FALSE(value_of(parse(bytes)).sample_id_all);
  bytes[kFlagsAt + 2] = bit;
  EXPECT_TRUE(value_of(parse(bytes)).sample_id_all);
  std::fill_n(bytes.begin() + kFlagsAt, 8, std::byte{0xff});
  EXPECT_TRUE(value_of(parse(bytes)).sample_id_all);
  bytes[kFlagsAt + 2] = ~bit;
  EXPECT_FALSE(value_of(parse(bytes)).sample_id_all);
}

TEST_P(ParseAttr, FindsUseClockidInTheFourthByteOfTheFlags) {
  const std::byte bit{order() == ByteOrder::kLittle ? std::uint8_t{0x02} : std::uint8_t{0x40}};
  Bytes bytes = without_flags();
  store(bytes.data() + 92, std::uint32_t{7}, order());
  EXPECT_EQ(value_of(parse(bytes)).clockid, std::nullopt);
  bytes[kFlagsAt + 3] = bit;
  EXPECT_EQ(value_of(parse(bytes)).clockid, 7);
  std::fill_n(bytes.begin() + kFlagsAt, 8, std::byte{0xff});
  bytes[kFlagsAt + 3] = ~bit;
  EXPECT_EQ(value_of(parse(bytes)).clockid, std::nullopt);
}

TEST_P(ParseAttr, ReadsAnyClockidAlso0AndNegativeOnes) {
  for (const std::int32_t clockid : {0, 1, 11, -1, -0x7fffffff}) {
    for (const std::uint32_t size : {96U, 128U, 4096U}) {
      EXPECT_EQ(value_of(parse(encode(of_size(size, clockid)))).clockid, clockid);
    }
  }
}

TEST_P(ParseAttr, HasNoClockidWhenItIsTooSmallForOne) {
  for (const std::uint32_t size : {64U, 72U, 80U}) {
    Bytes bytes = encode(of_size(size, 1));
    bytes.resize(96, std::byte{0x55});
    EXPECT_EQ(value_of(parse(bytes)).clockid, std::nullopt);
  }
}

class ReadAttrs : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }

  static Expected<std::vector<Attr>> read(const Bytes& bytes) {
    const InputFile file = input_file(bytes);
    return read_attrs(file, value_of(read_header(file)));
  }

  void put(Bytes& bytes, std::size_t at, std::uint64_t value) const {
    store(bytes.data() + at, value, order());
  }

  std::uint64_t get(const Bytes& bytes, std::size_t at) const {
    return load<std::uint64_t>(bytes.data() + at, order());
  }

  /// A recording of events that have these ids.
  Bytes recording(const std::vector<std::vector<std::uint64_t>>& ids, std::uint32_t size = 128) {
    PerfDataBuilder builder(order());
    builder.leave_out_event_names().add_bytes(Bytes(64));
    AttrSpec spec = of_size(size);
    spec.config = 100;
    for (const auto& each : ids) {
      spec.ids = each;
      builder.add_attr(spec);
      ++spec.config;
    }
    Bytes bytes = builder.build();
    attrs_ = get(bytes, 24);
    stride_ = get(bytes, 16);
    return bytes;
  }

  /// Where the section of an event's ids is told: its offset, and then its size.
  std::size_t section_of(std::size_t attr) const { return attrs_ + (attr + 1) * stride_ - 16; }

  std::uint64_t attrs_ = 0;
  std::uint64_t stride_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadAttrs, both_orders(), order_name);

TEST_P(ReadAttrs, ReadsEachEventWithItsIds) {
  for (const std::uint32_t size : kSizes) {
    const auto attrs = value_of(read(recording({{1, 2, 1ULL << 63U}, {}, {~0ULL}}, size)));
    ASSERT_THAT(attrs, SizeIs(3));
    EXPECT_EQ(attrs[0].config, 100U);
    EXPECT_THAT(attrs[0].ids, ElementsAre(1, 2, 1ULL << 63U));
    EXPECT_EQ(attrs[1].config, 101U);
    EXPECT_THAT(attrs[1].ids, IsEmpty());
    EXPECT_EQ(attrs[2].config, 102U);
    EXPECT_THAT(attrs[2].ids, ElementsAre(~0ULL));
  }
}

TEST_P(ReadAttrs, ReadsATableWithoutEvents) {
  EXPECT_THAT(value_of(read(recording({}))), IsEmpty());
}

TEST_P(ReadAttrs, FindsTheIdsAtTheEndOfAnEntryThatIsLargerThanItsAttr) {
  Bytes bytes = recording({{5}, {6, 7}}, 144);
  for (const std::size_t attr : {0U, 1U}) {
    store(bytes.data() + attrs_ + attr * stride_ + 4, std::uint32_t{96}, order());
  }
  const auto attrs = value_of(read(bytes));
  EXPECT_THAT(attrs.at(0).ids, ElementsAre(5));
  EXPECT_THAT(attrs.at(1).ids, ElementsAre(6, 7));
}

TEST_P(ReadAttrs, RefusesAnAttrThatIsLargerThanItsEntry) {
  Bytes bytes = recording({{5}}, 128);
  for (const std::uint32_t size : {129U, 136U, 144U, 0x80000000U}) {
    store(bytes.data() + attrs_ + 4, size, order());
    EXPECT_THAT(error_of(read(bytes)),
                AllOf(HasSubstr("perf_event_attr ends too early"), HasSubstr("offset 0x")));
  }
}

TEST_P(ReadAttrs, RefusesAStrideThatDoesNotFitTheTable) {
  Bytes bytes = recording({{5}, {6}});
  for (const std::uint64_t stride : {0ULL, 1ULL, 79ULL, 143ULL, 145ULL, 1ULL << 63U, ~0ULL}) {
    put(bytes, 16, stride);
    EXPECT_THAT(error_of(read(bytes)),
                AllOf(HasSubstr("the table of events at offset"),
                      HasSubstr(fmt::format("288 bytes in entries of {}", stride))));
  }
}

TEST_P(ReadAttrs, RefusesIdsOutsideTheFile) {
  const Bytes good = recording({{5}, {6}});
  for (const std::uint64_t offset : {good.size() - 7, good.size() + 1, 1UL << 63U, ~0UL}) {
    Bytes bytes = good;
    put(bytes, section_of(1), offset);
    EXPECT_THAT(error_of(read(bytes)),
                AllOf(HasSubstr(fmt::format("at offset {:#x} it places the ids of an event",
                                            section_of(1))),
                      HasSubstr(fmt::format("from {:#x} on", offset))));
  }
}

TEST_P(ReadAttrs, RefusesIdsThatAreMoreThanTheFileHolds) {
  const Bytes good = recording({{5}, {6}});
  const MemoryLimit limit(8U << 20U);
  for (const std::uint64_t size : {good.size() / 8 * 8, 1UL << 40U, 1UL << 63U, ~0UL - 7}) {
    Bytes bytes = good;
    put(bytes, section_of(0) + 8, size);
    EXPECT_THAT(error_of(read(bytes)), HasSubstr("the ids of"));
  }
}

TEST_P(ReadAttrs, RefusesIdsThatAreNoWholeNumbers) {
  Bytes bytes = recording({{5}, {6}});
  for (const std::uint64_t size : {1U, 7U, 9U}) {
    put(bytes, section_of(0) + 8, size);
    EXPECT_THAT(error_of(read(bytes)), HasSubstr("no multiple of 8"));
  }
}

TEST_P(ReadAttrs, RefusesSharedIdsThatAreMoreThanTheFileHoldsTogether) {
  Bytes bytes = recording(std::vector<std::vector<std::uint64_t>>(100));
  for (std::size_t attr = 0; attr < 100; ++attr) {
    put(bytes, section_of(attr), 0);
    put(bytes, section_of(attr) + 8, bytes.size() / 8 * 8);
  }
  EXPECT_THAT(error_of(read(bytes)),
              HasSubstr(fmt::format("bytes of ids, but the file has {}", bytes.size())));
}

TEST_P(ReadAttrs, AcceptsFewSharedIds) {
  Bytes bytes = recording({{5}, {6}});
  put(bytes, section_of(1), get(bytes, section_of(0)));
  const auto attrs = value_of(read(bytes));
  EXPECT_THAT(attrs.at(0).ids, ElementsAre(5));
  EXPECT_THAT(attrs.at(1).ids, ElementsAre(5));
}

}  // namespace
}  // namespace perf2dat::perfdata
