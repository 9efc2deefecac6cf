// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/byte_order.h"
#include "base/byte_writer.h"
#include "base/error.h"

namespace perf2dat {
namespace {

using namespace std::literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

constexpr std::string_view kNumbers =
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"sv;

TEST(ByteReader, ReadsNumbersOfLittleEndianBytes) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kLittle);
  EXPECT_EQ(reader.u8(), 0x01U);
  EXPECT_EQ(reader.u16(), 0x0302U);
  EXPECT_EQ(reader.u32(), 0x07060504U);
  EXPECT_EQ(reader.u64(), 0x0f0e0d0c0b0a0908U);
  EXPECT_EQ(reader.order(), ByteOrder::kLittle);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReader, ReadsNumbersOfBigEndianBytes) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig);
  EXPECT_EQ(reader.u8(), 0x01U);
  EXPECT_EQ(reader.u16(), 0x0203U);
  EXPECT_EQ(reader.u32(), 0x04050607U);
  EXPECT_EQ(reader.u64(), 0x08090a0b0c0d0e0fU);
  EXPECT_EQ(reader.order(), ByteOrder::kBig);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReader, CountsItsOffsetFromTheOrigin) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig, 0x1000);
  EXPECT_EQ(reader.offset(), 0x1000U);
  reader.u32();
  EXPECT_EQ(reader.offset(), 0x1004U);
  reader.skip(3);
  EXPECT_EQ(reader.offset(), 0x1007U);
  EXPECT_EQ(reader.remaining(), 8U);
}

TEST(ByteReader, GivesViewsOfTheBytesThemselves) {
  const auto bytes = bytes_of(kNumbers);
  ByteReader reader(bytes, ByteOrder::kBig);
  reader.skip(2);
  const auto view = reader.bytes(3);
  EXPECT_EQ(view.data(), bytes.data() + 2);
  EXPECT_EQ(view.size(), 3U);
}

TEST(ByteReader, ReadsNothingWhenAskedForNothing) {
  ByteReader reader({}, ByteOrder::kBig);
  EXPECT_TRUE(reader.bytes(0).empty());
  EXPECT_EQ(reader.text(0), "");
  reader.skip(0);
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, KeepsZerosInText) {
  ByteReader reader(bytes_of("a\0b\0c"sv), ByteOrder::kBig);
  EXPECT_EQ(reader.text(4), "a\0b\0"sv);
}

TEST(ByteReader, EndsACStringAtItsNulAndGoesOnAfterIt) {
  ByteReader reader(bytes_of("one\0\0two\0x"sv), ByteOrder::kBig, 100);
  EXPECT_EQ(reader.c_string(), "one");
  EXPECT_EQ(reader.offset(), 104U);
  EXPECT_EQ(reader.c_string(), "");
  EXPECT_EQ(reader.offset(), 105U);
  EXPECT_EQ(reader.c_string(), "two");
  EXPECT_EQ(reader.u8(), std::uint8_t{'x'});
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, FailsAtACStringWithoutANul) {
  ByteReader reader(bytes_of("one\0two"sv), ByteOrder::kBig, 100);
  reader.c_string();
  EXPECT_EQ(reader.c_string(), "");
  ASSERT_TRUE(reader.failure());
  EXPECT_EQ(reader.failure()->offset, 104U);
  EXPECT_EQ(reader.failure()->wanted, 4U);
}

TEST(ByteReader, FailsAtACStringWhereNothingIsLeft) {
  ByteReader reader({}, ByteOrder::kBig);
  EXPECT_EQ(reader.c_string(), "");
  ASSERT_TRUE(reader.failure());
  EXPECT_EQ(reader.failure()->wanted, 1U);
}

TEST(ByteReader, FailsAtTheFirstNumberThatDoesNotFit) {
  // Each kind of number with one byte too few.
  const auto failure = [](std::size_t size, auto read) {
    ByteReader reader(bytes_of(kNumbers).first(size), ByteOrder::kBig, 100);
    EXPECT_EQ(read(reader), 0U);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.failure()->offset, 100U);
    return reader.failure()->wanted;
  };
  EXPECT_EQ(failure(0, [](ByteReader& reader) { return reader.u8(); }), 1U);
  EXPECT_EQ(failure(1, [](ByteReader& reader) { return reader.u16(); }), 2U);
  EXPECT_EQ(failure(3, [](ByteReader& reader) { return reader.u32(); }), 4U);
  EXPECT_EQ(failure(7, [](ByteReader& reader) { return reader.u64(); }), 8U);
}

TEST(ByteReader, ReadsNothingMoreAfterAReadThatDidNotFit) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig);
  reader.skip(10);
  EXPECT_EQ(reader.u64(), 0U);
  // Five bytes are left, and still none of these is read.
  EXPECT_EQ(reader.u8(), 0U);
  EXPECT_EQ(reader.u16(), 0U);
  EXPECT_EQ(reader.u32(), 0U);
  EXPECT_TRUE(reader.bytes(1).empty());
  EXPECT_EQ(reader.text(1), "");
  EXPECT_EQ(reader.c_string(), "");
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.offset(), 10U);
}

TEST(ByteReader, RemembersTheFirstFailureOnly) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig, 100);
  reader.skip(10);
  reader.bytes(6);
  reader.bytes(7);
  reader.c_string();
  ASSERT_TRUE(reader.failure());
  EXPECT_EQ(reader.failure()->offset, 110U);
  EXPECT_EQ(reader.failure()->wanted, 6U);
}

TEST(ByteReader, FailsAtCountsThatNoMemoryHolds) {
  for (const std::uint64_t count :
       {std::uint64_t{16}, std::uint64_t{1} << 32U, std::uint64_t{1} << 63U,
        std::numeric_limits<std::uint64_t>::max()}) {
    ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig);
    reader.u8();
    EXPECT_TRUE(reader.bytes(count).empty());
    ASSERT_TRUE(reader.failure());
    EXPECT_EQ(reader.failure()->wanted, count);
  }
}

TEST(ByteReader, TellsInAnErrorWhereWhatIsMissing) {
  ByteReader reader(bytes_of(kNumbers), ByteOrder::kBig, 0x1000);
  reader.skip(8);
  reader.u64();
  const Error error = cut_short("the table", reader).value();
  EXPECT_EQ(error.kind, Error::Kind::kInput);
  EXPECT_EQ(error.message, "the table ends too early: 8 bytes expected at offset 0x1008");
}

TEST(ByteOrder, HasTwoValuesThatAreEachOthersOther) {
  EXPECT_EQ(other(ByteOrder::kLittle), ByteOrder::kBig);
  EXPECT_EQ(other(ByteOrder::kBig), ByteOrder::kLittle);
}

TEST(ByteOrder, LoadsAndStoresNumbersAtAnyAlignment) {
  std::array<std::byte, 16> bytes{};
  for (std::size_t at = 0; at < 8; ++at) {
    store(bytes.data() + at, std::uint64_t{0x0102030405060708}, ByteOrder::kBig);
    EXPECT_EQ(bytes.at(at), std::byte{1});
    EXPECT_EQ(bytes.at(at + 7), std::byte{8});
    EXPECT_EQ(load<std::uint64_t>(bytes.data() + at, ByteOrder::kBig), 0x0102030405060708U);
    EXPECT_EQ(load<std::uint64_t>(bytes.data() + at, ByteOrder::kLittle), 0x0807060504030201U);
    EXPECT_EQ(load<std::uint32_t>(bytes.data() + at, ByteOrder::kLittle), 0x04030201U);
    EXPECT_EQ(load<std::uint16_t>(bytes.data() + at, ByteOrder::kLittle), 0x0201U);
    EXPECT_EQ(load<std::uint8_t>(bytes.data() + at, ByteOrder::kLittle), 1U);
  }
}

std::string_view text_of(const ByteWriter& writer) {
  return {reinterpret_cast<const char*>(writer.data().data()), writer.size()};
}

TEST(ByteWriter, WritesNumbersInItsByteOrder) {
  const auto written = [](ByteOrder order) {
    return ByteWriter(order).u8(1).u16(0x0203).u32(0x04050607).u64(0x08090a0b0c0d0e0f);
  };
  EXPECT_EQ(text_of(written(ByteOrder::kBig)), kNumbers);
  EXPECT_EQ(text_of(written(ByteOrder::kLittle)),
            "\x01\x03\x02\x07\x06\x05\x04\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08"sv);
}

TEST(ByteWriter, EndsACStringWithANulAndTextWithNothing) {
  EXPECT_EQ(text_of(ByteWriter(ByteOrder::kBig).c_string("ab").text("c").c_string("")),
            "ab\0c\0"sv);
}

TEST(ByteWriter, FillsUpToTheNextMultipleOfAnAlignment) {
  ByteWriter writer(ByteOrder::kBig);
  EXPECT_EQ(writer.align(4).size(), 0U);
  EXPECT_EQ(text_of(writer.text("a").align(4)), "a\0\0\0"sv);
  EXPECT_EQ(text_of(writer.align(4)), "a\0\0\0"sv);
  EXPECT_EQ(text_of(writer.zeros(2)), "a\0\0\0\0\0"sv);
}

TEST(ByteWriter, OverwritesANumberInItsByteOrder) {
  ByteWriter writer(ByteOrder::kLittle);
  writer.text("abcdef");
  writer.patch(1, std::uint32_t{0x01020304});
  EXPECT_EQ(text_of(writer),
            "a\x04\x03\x02\x01"
            "f"sv);
}

}  // namespace
}  // namespace perf2dat
