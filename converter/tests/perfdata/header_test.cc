// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::AttrSpec;
using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::order_name;
using perf2dat::testing::PerfDataBuilder;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

// Where the header has its fields.
constexpr std::size_t kSizeAt = 8;
constexpr std::size_t kAttrSizeAt = 16;
constexpr std::size_t kAttrsAt = 24;
constexpr std::size_t kDataAt = 40;
constexpr std::size_t kEventTypesAt = 56;
constexpr std::size_t kBitmapAt = 72;

constexpr std::size_t kDataSize = 24;

Bytes recording(ByteOrder order) {
  AttrSpec attr;
  attr.ids = {7, 8};
  return PerfDataBuilder(order)
      .add_attr(attr)
      .add_bytes(Bytes(kDataSize))
      .set_text_feature(Feature::kHostname, "here")
      .build();
}

Bytes text_bytes(std::string_view text) { return ByteWriter(ByteOrder::kLittle).text(text).take(); }

Bytes first(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

Expected<Header> read(const Bytes& bytes) { return read_header(input_file(bytes)); }

std::set<unsigned> feature_bits(const Header& header) {
  std::set<unsigned> bits;
  for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
    if (header.features[bit]) bits.insert(bit);
  }
  return bits;
}

class ReadHeader : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  Bytes recording() const { return perfdata::recording(order()); }

  /// The recording with another number in its header.
  Bytes with(std::size_t at, std::uint64_t value) const {
    Bytes bytes = recording();
    store(bytes.data() + at, value, order());
    return bytes;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadHeader, both_orders(), order_name);

TEST_P(ReadHeader, FindsTheOrderTheSectionsAndTheFeatures) {
  const Header header = value_of(read(recording()));
  EXPECT_EQ(header.order, order());
  EXPECT_EQ(header.attr_size, 144U);
  EXPECT_EQ(header.attrs.offset, 104U + 2 * 8);
  EXPECT_EQ(header.attrs.size, 144U);
  EXPECT_EQ(header.data.offset, 104U + 2 * 8 + 144);
  EXPECT_EQ(header.data.size, kDataSize);
  EXPECT_EQ(feature_bits(header), (std::set<unsigned>{3, 12}));
}

TEST_P(ReadHeader, OfTheOldSizeOf72BytesHasNoFeatures) {
  const Header header = value_of(read(with(kSizeAt, 72)));
  EXPECT_EQ(header.data.size, kDataSize);
  EXPECT_EQ(feature_bits(header), std::set<unsigned>{});
}

TEST_P(ReadHeader, OfTheOldSizeNeedsNoMoreThan72BytesAndItsSections) {
  ByteWriter out(order());
  out.text(order() == ByteOrder::kLittle ? "PERFILE2" : "2ELIFREP");
  out.u64(72).u64(80).u64(72).u64(0).u64(72).u64(8).u64(0).u64(0).zeros(8);
  const Header header = value_of(read(out.data()));
  EXPECT_EQ(header.data.offset, 72U);
  EXPECT_EQ(header.data.size, 8U);
}

TEST_P(ReadHeader, FindsFeaturesInAllFourWordsOfTheBitmap) {
  Bytes bytes = recording();
  store(bytes.data() + kBitmapAt, std::uint64_t{1} << 31U | 2, order());
  store(bytes.data() + kBitmapAt + 8, std::uint64_t{1}, order());
  store(bytes.data() + kBitmapAt + 16, std::uint64_t{1} << 40U, order());
  store(bytes.data() + kBitmapAt + 24, std::uint64_t{1} << 63U, order());
  EXPECT_EQ(feature_bits(value_of(read(bytes))), (std::set<unsigned>{1, 31, 64, 168, 255}));
}

TEST_P(ReadHeader, PutsTheBitmapOfA32BitBigEndianMachineRight) {
  Bytes bytes = recording();
  // Each long of 32 bits holds 32 features; two of them are read as one number.
  const auto put = [&](std::size_t index, std::uint32_t low, std::uint32_t high) {
    store(bytes.data() + kBitmapAt + index * 8, (std::uint64_t{low} << 32U) | high, order());
  };
  put(0, 1U << 1U | 1U << 12U, 0);
  put(1, 1U << 2U, 1U << 3U);
  put(2, 0, 0);
  put(3, 0, 1U << 31U);
  EXPECT_EQ(feature_bits(value_of(read(bytes))), (std::set<unsigned>{1, 12, 66, 99, 255}));
}

TEST_P(ReadHeader, IgnoresTheTableOfEventTypesThatNobodyWrites) {
  for (const std::size_t at : {kEventTypesAt, kEventTypesAt + 8}) {
    EXPECT_EQ(value_of(read(with(at, ~0ULL))).data.size, kDataSize);
  }
}

TEST_P(ReadHeader, OfARecordingWithoutDataTellsThatItIsUnfinished) {
  EXPECT_FALSE(value_of(read(recording())).is_unfinished());
  const Header header = value_of(read(with(kDataAt + 8, 0)));
  EXPECT_TRUE(header.is_unfinished());
  EXPECT_EQ(header.data.offset, 104U + 2 * 8 + 144);
}

TEST_P(ReadHeader, RefusesAnUnfinishedRecordingWhoseDataWouldBeginBehindTheFile) {
  Bytes bytes = with(kDataAt + 8, 0);
  store(bytes.data() + kDataAt, std::uint64_t{bytes.size()}, order());
  EXPECT_TRUE(value_of(read(bytes)).is_unfinished());
  store(bytes.data() + kDataAt, std::uint64_t{bytes.size() + 1}, order());
  EXPECT_THAT(error_of(read(bytes)), HasSubstr("the data in 0 bytes"));
}

TEST_P(ReadHeader, RefusesAHeaderThatIsCutShortAtAnyByte) {
  for (std::size_t size = 1; size < kFileHeaderSize; ++size) {
    EXPECT_THAT(error_of(read(first(recording(), size))),
                AllOf(HasSubstr("inside the header"), HasSubstr(fmt::format("{:#x},", size))));
  }
}

TEST_P(ReadHeader, RefusesAnyOtherSizeOfItself) {
  for (const std::uint64_t size :
       {0ULL, 1ULL, 15ULL, 17ULL, 71ULL, 73ULL, 103ULL, 105ULL, 1ULL << 32U, 1ULL << 63U}) {
    EXPECT_THAT(error_of(read(with(kSizeAt, size))),
                AllOf(HasSubstr(fmt::format("has {} bytes", size)), HasSubstr("104")));
  }
}

TEST_P(ReadHeader, RefusesSectionsOutsideTheFile) {
  const std::uint64_t size = recording().size();
  struct Section {
    std::size_t at;
    std::string_view name;
  };
  for (const auto& [at, name] : {Section{kAttrsAt, "the table of events"}, {kDataAt, "the data"}}) {
    for (const std::uint64_t offset : {size, size + 1, 1UL << 63U, ~0UL}) {
      EXPECT_THAT(error_of(read(with(at, offset))),
                  AllOf(HasSubstr(fmt::format("at offset {:#x} it places {}", at, name)),
                        HasSubstr(fmt::format("from {:#x} on", offset)),
                        HasSubstr("truncated or damaged")));
    }
    for (const std::uint64_t bytes : {size, 1UL << 63U, ~0UL, ~0UL - 103}) {
      EXPECT_THAT(error_of(read(with(at + 8, bytes))),
                  AllOf(HasSubstr(name), HasSubstr(fmt::format("{} bytes", bytes))));
    }
  }
}

TEST_P(ReadHeader, AcceptsSectionsThatEndWithTheFile) {
  Bytes bytes = with(kDataAt + 8, recording().size() - (104 + 2 * 8 + 144));
  EXPECT_EQ(value_of(read(bytes)).data.offset, 104U + 2 * 8 + 144);
  bytes.pop_back();
  EXPECT_THAT(error_of(read(bytes)), HasSubstr("the data"));
}

TEST_P(ReadHeader, KeepsTheStrideOfTheTableOfEvents) {
  EXPECT_EQ(value_of(read(with(kAttrSizeAt, 4711))).attr_size, 4711U);
}

class ReadStart : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  Bytes start(std::uint64_t size) const {
    return ByteWriter(order())
        .text(order() == ByteOrder::kLittle ? "PERFILE2" : "2ELIFREP")
        .u64(size)
        .take();
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadStart, both_orders(), order_name);

TEST_P(ReadStart, TellsTheOrderAndTheHeadersSize) {
  for (const std::uint64_t size : {72UL, 104UL, 17UL, 1UL << 40U}) {
    const Start found = value_of(read_start(start(size)));
    EXPECT_EQ(found.order, order());
    EXPECT_EQ(found.size, size);
    EXPECT_FALSE(found.is_stream);
  }
}

TEST_P(ReadStart, TellsAStreamByAHeaderOf16Bytes) {
  const Start found = value_of(read_start(start(16)));
  EXPECT_EQ(found.order, order());
  EXPECT_EQ(found.size, 16U);
  EXPECT_TRUE(found.is_stream);
}

TEST_P(ReadStart, RefusesFewerThan16Bytes) {
  for (std::size_t size = 1; size < 16; ++size) {
    EXPECT_THAT(error_of(read_start(first(start(16), size))),
                AllOf(HasSubstr("inside the header"), HasSubstr(fmt::format("{:#x},", size))));
  }
}

TEST(ReadMagic, OfNothingSaysThatItIsEmpty) {
  EXPECT_THAT(error_of(read_start({})), HasSubstr("it is empty"));
}

TEST(ReadMagic, OfAnEmptyFileSaysThatItIsEmpty) {
  EXPECT_THAT(error_of(read({})), HasSubstr("it is empty"));
}

TEST(ReadMagic, RefusesAFileThatDoesNotBeginWithTheMagic) {
  for (const std::string_view text : {"x", "PERFILE", "PERFFILE", "PERFILE1", "2ELIFREX", "ELF",
                                      "\x17\x08\x44tracing0123456789"}) {
    const std::string message = error_of(read(text_bytes(text)));
    EXPECT_EQ(error_of(read_start(text_bytes(text))), message);
    if (text == "PERFILE") continue;  // may yet become one
    EXPECT_THAT(message, AllOf(HasSubstr("not a perf.data file"), HasSubstr("offset 0")));
  }
}

TEST(ReadMagic, RefusesAFileWhoseMagicHasOneOtherByte) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    for (std::size_t at = 0; at < kMagicLittle.size(); ++at) {
      Bytes bytes = recording(order);
      bytes[at] ^= std::byte{1};
      EXPECT_THAT(error_of(read(bytes)), HasSubstr("not a perf.data file"));
      EXPECT_THAT(error_of(read_start(first(bytes, 16))), HasSubstr("not a perf.data file"));
    }
  }
}

}  // namespace
}  // namespace perf2dat::perfdata
