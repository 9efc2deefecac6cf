// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/ring_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "testing/pages.h"

namespace perf2dat::tracedat {
namespace {

using perf2dat::testing::finish;
using Bytes = std::vector<std::byte>;

constexpr PageFormat kLittle8{ByteOrder::kLittle, 4096, 8};
constexpr PageFormat kLittle4{ByteOrder::kLittle, 4096, 4};
constexpr PageFormat kBig8{ByteOrder::kBig, 4096, 8};
constexpr PageFormat kBig4{ByteOrder::kBig, 4096, 4};

/// "0a ff", a byte each; line breaks only help the eye.
Bytes from_hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoul(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x} ", static_cast<unsigned>(byte));
  return text;
}

/// The same of bytes that were worked out by hand.
std::string hex(std::string_view text) { return hex(from_hex(text)); }

/// What is in a page up to its last byte that is not zero, and zeros up to a whole word.
std::string used(std::span<const std::byte> page) {
  std::size_t size = page.size();
  while (size > 0 && page[size - 1] == std::byte{0}) --size;
  return hex(page.first((size + 3) / 4 * 4));
}

/// `size` bytes, none of which is zero.
Bytes payload_of(std::size_t size) {
  Bytes payload(size);
  for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::byte>(1 + i % 255);
  return payload;
}

/// A page of two events, the second `delta` after the first, whose payloads are the byte ee.
std::string page_with_delta(PageFormat format, std::uint64_t delta) {
  const Bytes payload = from_hex("ee ee ee ee");
  PagePacker packer(format);
  EXPECT_TRUE(packer.append({7, payload}));
  EXPECT_TRUE(packer.append({7 + delta, payload}));
  return used(finish(packer));
}

/// The first two words of the record of an event that is alone on its page.
std::string record_begin(PageFormat format, std::size_t payload_size) {
  const Bytes payload = payload_of(payload_size);
  PagePacker packer(format);
  EXPECT_TRUE(packer.append({7, payload}));
  return hex(std::span<const std::byte>(finish(packer)).subspan(format.header_size(), 8));
}

TEST(RecordWord, HasTypeLenInItsLowBitsInLittleEndianPages) {
  EXPECT_EQ(encode_record_word(ByteOrder::kLittle, 3, 0x0123456), 0x02468ac3U);
  const RecordWord word = decode_record_word(ByteOrder::kLittle, 0x02468ac3U);
  EXPECT_EQ(word.type_len, 3U);
  EXPECT_EQ(word.time_delta, 0x0123456U);
}

TEST(RecordWord, HasTypeLenInItsHighBitsInBigEndianPages) {
  EXPECT_EQ(encode_record_word(ByteOrder::kBig, 3, 0x0123456), 0x18123456U);
  const RecordWord word = decode_record_word(ByteOrder::kBig, 0x18123456U);
  EXPECT_EQ(word.type_len, 3U);
  EXPECT_EQ(word.time_delta, 0x0123456U);
}

TEST(PagePacker, BeginsAPageWithItsFirstEventsTimeAndTheLengthOfItsRecords) {
  const Bytes payload = from_hex("de ad be ef");
  const auto packed = [&](PageFormat format) {
    PagePacker packer(format);
    EXPECT_TRUE(packer.append({0x1122334455667788, payload}));
    return used(finish(packer));
  };
  EXPECT_EQ(packed(kLittle8), hex("88 77 66 55 44 33 22 11  08 00 00 00 00 00 00 00"
                                  "01 00 00 00 de ad be ef"));
  EXPECT_EQ(packed(kLittle4), hex("88 77 66 55 44 33 22 11  08 00 00 00"
                                  "01 00 00 00 de ad be ef"));
  EXPECT_EQ(packed(kBig8), hex("11 22 33 44 55 66 77 88  00 00 00 00 00 00 00 08"
                               "08 00 00 00 de ad be ef"));
  EXPECT_EQ(packed(kBig4), hex("11 22 33 44 55 66 77 88  00 00 00 08"
                               "08 00 00 00 de ad be ef"));
}

TEST(PagePacker, MakesPagesOfTheFormatsSize) {
  for (const std::uint32_t size : {4096U, 65536U}) {
    PagePacker packer({ByteOrder::kLittle, size, 8});
    EXPECT_TRUE(packer.append({1, payload_of(4)}));
    EXPECT_EQ(finish(packer).size(), size);
  }
}

TEST(PagePacker, WritesTheTimeSinceTheEventBefore) {
  EXPECT_EQ(page_with_delta(kLittle8, 3), hex("07 00 00 00 00 00 00 00  10 00 00 00 00 00 00 00"
                                              "01 00 00 00 ee ee ee ee  61 00 00 00 ee ee ee ee"));
  EXPECT_EQ(page_with_delta(kBig4, 3), hex("00 00 00 00 00 00 00 07  00 00 00 10"
                                           "08 00 00 00 ee ee ee ee  08 00 00 03 ee ee ee ee"));
}

TEST(PagePacker, WritesADeltaOfZeroForAnEventOfTheSameTime) {
  EXPECT_EQ(page_with_delta(kLittle4, 0), hex("07 00 00 00 00 00 00 00  10 00 00 00"
                                              "01 00 00 00 ee ee ee ee  01 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, WritesADeltaFromTheEventBeforeNotFromThePagesTime) {
  const Bytes payload = from_hex("ee ee ee ee");
  PagePacker packer(kLittle4);
  for (const std::uint64_t time : {10, 11, 13}) EXPECT_TRUE(packer.append({time, payload}));
  EXPECT_EQ(used(std::span<const std::byte>(finish(packer)).subspan(12)),
            hex("01 00 00 00 ee ee ee ee  21 00 00 00 ee ee ee ee  41 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, WritesADeltaOf2To27Minus1IntoTheRecordsOwnWord) {
  constexpr std::uint64_t kDelta = (1U << 27U) - 1;
  EXPECT_EQ(page_with_delta(kLittle8, kDelta),
            hex("07 00 00 00 00 00 00 00  10 00 00 00 00 00 00 00"
                "01 00 00 00 ee ee ee ee  e1 ff ff ff ee ee ee ee"));
  EXPECT_EQ(page_with_delta(kBig8, kDelta),
            hex("00 00 00 00 00 00 00 07  00 00 00 00 00 00 00 10"
                "08 00 00 00 ee ee ee ee  0f ff ff ff ee ee ee ee"));
}

TEST(PagePacker, WritesATimeExtendBeforeAnEventThatIs2To27NsLater) {
  constexpr std::uint64_t kDelta = 1U << 27U;
  EXPECT_EQ(page_with_delta(kLittle8, kDelta),
            hex("07 00 00 00 00 00 00 00  18 00 00 00 00 00 00 00"
                "01 00 00 00 ee ee ee ee  1e 00 00 00 01 00 00 00  01 00 00 00 ee ee ee ee"));
  EXPECT_EQ(page_with_delta(kBig8, kDelta),
            hex("00 00 00 00 00 00 00 07  00 00 00 00 00 00 00 18"
                "08 00 00 00 ee ee ee ee  f0 00 00 00 00 00 00 01  08 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, SplitsALongDeltaInto27And32Bits) {
  // 0x0123456789abcdef is 0x2468acf1 << 27 | 0x1abcdef.
  EXPECT_EQ(page_with_delta(kLittle4, 0x0123456789abcdef),
            hex("07 00 00 00 00 00 00 00  18 00 00 00"
                "01 00 00 00 ee ee ee ee  fe bd 79 35 f1 ac 68 24  01 00 00 00 ee ee ee ee"));
  EXPECT_EQ(page_with_delta(kBig4, 0x0123456789abcdef),
            hex("00 00 00 00 00 00 00 07  00 00 00 18"
                "08 00 00 00 ee ee ee ee  f1 ab cd ef 24 68 ac f1  08 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, WritesADeltaOf2To59Minus1AsATimeExtend) {
  EXPECT_EQ(page_with_delta(kLittle4, (1ULL << 59U) - 1),
            hex("07 00 00 00 00 00 00 00  18 00 00 00"
                "01 00 00 00 ee ee ee ee  fe ff ff ff ff ff ff ff  01 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, WantsANewPageForAnEventThatIs2To59NsLater) {
  const Bytes payload = from_hex("ee ee ee ee");
  PagePacker packer(kLittle4);
  EXPECT_TRUE(packer.append({7, payload}));
  constexpr std::uint64_t kTime = 7 + (1ULL << 59U);
  EXPECT_FALSE(packer.append({kTime, payload}));
  EXPECT_EQ(used(finish(packer)), hex("07 00 00 00 00 00 00 00  08 00 00 00"
                                      "01 00 00 00 ee ee ee ee"));
  EXPECT_TRUE(packer.append({kTime, payload}));
  EXPECT_EQ(used(finish(packer)), hex("07 00 00 00 00 00 00 08  08 00 00 00"
                                      "01 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, CountsTheWordsOfAPayloadOfUpTo112BytesInTypeLen) {
  for (std::uint32_t words = 1; words <= 28; ++words) {
    SCOPED_TRACE(words);
    const Bytes payload = payload_of(std::size_t{words} * 4);
    PagePacker little(kLittle8);
    EXPECT_TRUE(little.append({7, payload}));
    auto taken = finish(little);
    std::span<const std::byte> page = taken;
    EXPECT_EQ(page[8], std::byte(4 + words * 4));
    EXPECT_EQ(hex(page.subspan(16, 4)), hex(fmt::format("{:02x} 00 00 00", words)));
    EXPECT_EQ(used(page.subspan(20)), hex(payload));

    PagePacker big(kBig8);
    EXPECT_TRUE(big.append({7, payload}));
    taken = finish(big);
    page = taken;
    EXPECT_EQ(page[15], std::byte(4 + words * 4));
    EXPECT_EQ(hex(page.subspan(16, 4)), hex(fmt::format("{:02x} 00 00 00", words << 3U)));
    EXPECT_EQ(used(page.subspan(20)), hex(payload));
  }
}

TEST(PagePacker, WritesALengthWordBeforeAPayloadOf116Bytes) {
  EXPECT_EQ(record_begin(kLittle8, 112), hex("1c 00 00 00 01 02 03 04"));
  EXPECT_EQ(record_begin(kLittle8, 116), hex("00 00 00 00 78 00 00 00"));
  EXPECT_EQ(record_begin(kBig4, 112), hex("e0 00 00 00 01 02 03 04"));
  EXPECT_EQ(record_begin(kBig4, 116), hex("00 00 00 00 00 00 00 78"));
}

TEST(PagePacker, PutsAPayloadOf116BytesAfterItsLengthWord) {
  const Bytes payload = payload_of(116);
  PagePacker packer(kLittle8);
  EXPECT_TRUE(packer.append({7, payload}));
  const auto taken = finish(packer);
  const std::span<const std::byte> page = taken;
  EXPECT_EQ(hex(page.first(16)), hex("07 00 00 00 00 00 00 00  7c 00 00 00 00 00 00 00"));
  EXPECT_EQ(used(page.subspan(24)), hex(payload));
}

TEST(PagePacker, WritesTheDeltaOfALongRecordIntoItsFirstWord) {
  const Bytes payload = payload_of(200);
  PagePacker little(kLittle4);
  EXPECT_TRUE(little.append({7, payload}));
  EXPECT_TRUE(little.append({12, payload}));
  EXPECT_EQ(hex(std::span<const std::byte>(finish(little)).subspan(12 + 208, 8)),
            hex("a0 00 00 00 cc 00 00 00"));
  PagePacker big(kBig4);
  EXPECT_TRUE(big.append({7, payload}));
  EXPECT_TRUE(big.append({12, payload}));
  EXPECT_EQ(hex(std::span<const std::byte>(finish(big)).subspan(12 + 208, 8)),
            hex("00 00 00 05 00 00 00 cc"));
}

TEST(PagePacker, FillsAPayloadUpWithZerosToAWholeWord) {
  const Bytes payload = from_hex("11 22 33 44 55");
  PagePacker packer(kLittle4);
  EXPECT_TRUE(packer.append({7, payload}));
  EXPECT_TRUE(packer.append({7, payload}));
  EXPECT_EQ(used(finish(packer)), hex("07 00 00 00 00 00 00 00  18 00 00 00"
                                      "02 00 00 00 11 22 33 44 55 00 00 00"
                                      "02 00 00 00 11 22 33 44 55 00 00 00"));
}

TEST(PagePacker, CountsTheZerosThatFillAPayloadUp) {
  EXPECT_EQ(record_begin(kLittle4, 1), hex("01 00 00 00 01 00 00 00"));
  EXPECT_EQ(record_begin(kLittle4, 109), hex("1c 00 00 00 01 02 03 04"));
  EXPECT_EQ(record_begin(kLittle4, 113), hex("00 00 00 00 78 00 00 00"));
  EXPECT_EQ(record_begin(kLittle4, 117), hex("00 00 00 00 7c 00 00 00"));
}

TEST(PagePacker, WritesAnEmptyPayloadAsALengthWordOnly) {
  PagePacker packer(kLittle4);
  EXPECT_TRUE(packer.append({7, {}}));
  EXPECT_EQ(used(finish(packer)), hex("07 00 00 00 00 00 00 00  08 00 00 00"
                                      "00 00 00 00 04 00 00 00"));
}

TEST(PagePacker, TakesAnEventThatFillsThePageToItsLastByte) {
  // 4096 - 16 - (8 + 4000) = 72 bytes are left for the second: a word and 68 bytes.
  const Bytes first = payload_of(4000);
  PagePacker packer(kLittle8);
  EXPECT_TRUE(packer.append({7, first}));
  EXPECT_FALSE(packer.append({8, payload_of(69)}));
  EXPECT_TRUE(packer.append({8, payload_of(68)}));
  const auto taken = finish(packer);
  const std::span<const std::byte> page = taken;
  EXPECT_EQ(hex(page.first(16)), hex("07 00 00 00 00 00 00 00  f0 0f 00 00 00 00 00 00"));
  EXPECT_EQ(page.back(), std::byte{68});
}

TEST(PagePacker, CountsATimeExtendWhenItLooksForRoom) {
  // Of 72 bytes a time extend takes 8 and the word 4.
  constexpr std::uint64_t kLater = 7 + (1ULL << 27U);
  const Bytes first = payload_of(4000);
  PagePacker packer(kLittle8);
  EXPECT_TRUE(packer.append({7, first}));
  EXPECT_FALSE(packer.append({kLater, payload_of(61)}));
  EXPECT_TRUE(packer.append({kLater, payload_of(60)}));
  EXPECT_EQ(finish(packer).back(), std::byte{60});
}

TEST(PagePacker, CountsALengthWordWhenItLooksForRoom) {
  // 4096 - 12 - (8 + 3948) = 128 bytes are left: two words and 120 bytes.
  PagePacker packer(kBig4);
  EXPECT_TRUE(packer.append({7, payload_of(3948)}));
  EXPECT_FALSE(packer.append({7, payload_of(121)}));
  EXPECT_TRUE(packer.append({7, payload_of(120)}));
  const auto taken = finish(packer);
  const std::span<const std::byte> page = taken;
  EXPECT_EQ(hex(page.first(12)), hex("00 00 00 00 00 00 00 07  00 00 0f f4"));
  EXPECT_EQ(page.back(), std::byte{120});
}

TEST(PagePacker, TakesTheLargestPayloadOntoAnEmptyPage) {
  EXPECT_EQ(kLittle8.largest_payload(), 4072U);
  EXPECT_EQ(kLittle4.largest_payload(), 4076U);
  EXPECT_EQ((PageFormat{ByteOrder::kBig, 65536, 8}).largest_payload(), 65512U);
  for (const PageFormat format : {kLittle8, kLittle4, kBig8, kBig4}) {
    PagePacker packer(format);
    EXPECT_FALSE(packer.append({7, payload_of(format.largest_payload() + 1)}));
    EXPECT_TRUE(packer.empty());
    EXPECT_TRUE(packer.append({7, payload_of(format.largest_payload())}));
    EXPECT_NE(finish(packer).back(), std::byte{0});
  }
}

TEST(PagePacker, LeavesThePageAsItWasWhenAnEventDoesNotFit) {
  const Bytes payload = from_hex("ee ee ee ee");
  PagePacker packer(kLittle4);
  EXPECT_TRUE(packer.append({7, payload}));
  EXPECT_FALSE(packer.append({1ULL << 40U, payload_of(4072)}));
  EXPECT_TRUE(packer.append({8, payload}));
  EXPECT_EQ(used(finish(packer)), hex("07 00 00 00 00 00 00 00  10 00 00 00"
                                      "01 00 00 00 ee ee ee ee  21 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, BeginsThePageAfterAFullOneWithADeltaOfZero) {
  const Bytes payload = from_hex("ee ee ee ee");
  PagePacker packer(kLittle4);
  EXPECT_TRUE(packer.append({7, payload_of(4076)}));
  EXPECT_FALSE(packer.append({9, payload}));
  finish(packer);
  EXPECT_TRUE(packer.empty());
  EXPECT_TRUE(packer.append({9, payload}));
  EXPECT_FALSE(packer.empty());
  EXPECT_EQ(used(finish(packer)), hex("09 00 00 00 00 00 00 00  08 00 00 00"
                                      "01 00 00 00 ee ee ee ee"));
}

TEST(PagePacker, WritesOnlyZerosAfterTheLastRecord) {
  PagePacker packer(kLittle8);
  for (int page = 0; page < 3; ++page) {
    // Full pages before it leave nothing in one that is nearly empty.
    EXPECT_TRUE(packer.append({7, payload_of(4072)}));
    finish(packer);
  }
  EXPECT_TRUE(packer.append({7, payload_of(4)}));
  const auto taken = finish(packer);
  const std::span<const std::byte> page = taken;
  EXPECT_EQ(page.size(), 4096U);
  EXPECT_TRUE(std::all_of(page.begin() + 24, page.end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

// Pages to be read are written by hand too.

struct OwnedEvent {
  std::uint64_t time;
  std::string payload;  // in hex
};

bool operator==(const OwnedEvent& a, const OwnedEvent& b) {
  return a.time == b.time && a.payload == b.payload;
}

void PrintTo(const OwnedEvent& event, std::ostream* out) {
  *out << event.time << ": " << event.payload;
}

/// A page and what its reader makes of it.
class ReadPage {
 public:
  ReadPage(PageFormat format, std::string_view text) : page_(from_hex(text)) {
    page_.resize(format.page_size);
    read(format);
  }
  ReadPage(PageFormat format, Bytes page) : page_(std::move(page)) { read(format); }

  const std::vector<OwnedEvent>& events() const { return events_; }
  const std::string& damage() const { return damage_; }
  std::size_t position() const { return position_; }
  std::uint64_t commit() const { return commit_; }

 private:
  void read(PageFormat format) {
    PageReader reader(format, page_);
    while (const auto event = reader.next()) events_.push_back({event->time, hex(event->payload)});
    EXPECT_FALSE(reader.next());
    if (reader.damage() != nullptr) damage_ = reader.damage();
    position_ = reader.position();
    commit_ = reader.commit();
  }

  Bytes page_;
  std::vector<OwnedEvent> events_;
  std::string damage_;
  std::size_t position_ = 0;
  std::uint64_t commit_ = 0;
};

using Events = std::vector<OwnedEvent>;

TEST(PageReader, ReadsShortAndLongRecordsOfLittleEndianPages) {
  const ReadPage page(kLittle8,
                      "10 00 00 00 00 00 00 00  14 00 00 00 00 00 00 00"
                      "01 00 00 00 aa bb cc dd"
                      "60 00 00 00 08 00 00 00 11 22 33 44");
  EXPECT_EQ(page.events(), (Events{{16, "aa bb cc dd "}, {19, "11 22 33 44 "}}));
  EXPECT_EQ(page.damage(), "");
  EXPECT_EQ(page.commit(), 20U);
}

TEST(PageReader, ReadsShortAndLongRecordsOfBigEndianPages) {
  const ReadPage page(kBig4,
                      "00 00 00 00 00 00 00 10  00 00 00 14"
                      "08 00 00 00 aa bb cc dd"
                      "00 00 00 03 00 00 00 08 11 22 33 44");
  EXPECT_EQ(page.events(), (Events{{16, "aa bb cc dd "}, {19, "11 22 33 44 "}}));
  EXPECT_EQ(page.damage(), "");
  EXPECT_EQ(page.commit(), 20U);
}

TEST(PageReader, AddsATimeExtendToTheTime) {
  const Events expected{{16, "aa 00 00 00 "}, {16 + 0x0123456789abcdef + 5, "bb 00 00 00 "}};
  const ReadPage little(
      kLittle4,
      "10 00 00 00 00 00 00 00  18 00 00 00"
      "01 00 00 00 aa 00 00 00  fe bd 79 35 f1 ac 68 24  a1 00 00 00 bb 00 00 00");
  EXPECT_EQ(little.events(), expected);
  const ReadPage big(kBig4,
                     "00 00 00 00 00 00 00 10  00 00 00 18"
                     "08 00 00 00 aa 00 00 00  f1 ab cd ef 24 68 ac f1  08 00 00 05 bb 00 00 00");
  EXPECT_EQ(big.events(), expected);
}

TEST(PageReader, SetsTheLow59BitsOfTheTimeToAnAbsoluteTimeStamp) {
  // 1 << 27 | 2, then an event 3 ns after that.
  constexpr std::uint64_t kHigh = 0x0800000000000000;
  const Events expected{{kHigh + 0x123456, "aa 00 00 00 "}, {kHigh + 0x08000005, "bb 00 00 00 "}};
  const ReadPage little(
      kLittle4,
      "56 34 12 00 00 00 00 08  18 00 00 00"
      "01 00 00 00 aa 00 00 00  5f 00 00 00 01 00 00 00  61 00 00 00 bb 00 00 00");
  EXPECT_EQ(little.events(), expected);
  const ReadPage big(kBig4,
                     "08 00 00 00 00 12 34 56  00 00 00 18"
                     "08 00 00 00 aa 00 00 00  f8 00 00 02 00 00 00 01  08 00 00 03 bb 00 00 00");
  EXPECT_EQ(big.events(), expected);
}

TEST(PageReader, FillsALongPayloadUpToAWholeWordAsLibtraceeventDoes) {
  for (const std::string_view length : {"09", "0a", "0b", "0c"}) {
    const ReadPage page(kLittle4, fmt::format("10 00 00 00 00 00 00 00  10 00 00 00"
                                              "00 00 00 00 {} 00 00 00 aa 00 00 00 bb 00 00 00",
                                              length));
    EXPECT_EQ(page.damage(), "");
    EXPECT_EQ(page.events(), (Events{{16, "aa 00 00 00 bb 00 00 00 "}}));
  }
  const ReadPage page(kLittle4,
                      "10 00 00 00 00 00 00 00  0e 00 00 00"
                      "00 00 00 00 09 00 00 00 aa 00 00 00 bb 00 00 00");
  EXPECT_EQ(page.damage(), "a record reaches beyond commit");
}

TEST(PageReader, StopsAtCommit) {
  const ReadPage page(kLittle4,
                      "10 00 00 00 00 00 00 00  08 00 00 00"
                      "01 00 00 00 aa 00 00 00  01 00 00 00 bb 00 00 00");
  EXPECT_EQ(page.events(), (Events{{16, "aa 00 00 00 "}}));
  EXPECT_EQ(page.damage(), "");
}

TEST(PageReader, FindsNoEventOnAPageWithoutRecords) {
  const ReadPage page(kBig8, "00 00 00 00 00 00 00 10");
  EXPECT_EQ(page.events(), Events{});
  EXPECT_EQ(page.damage(), "");
}

TEST(PageReader, ReadsAnEmptyPayload) {
  const ReadPage page(kLittle4, "10 00 00 00 00 00 00 00  08 00 00 00  00 00 00 00 04 00 00 00");
  EXPECT_EQ(page.events(), (Events{{16, ""}}));
  EXPECT_EQ(page.damage(), "");
}

TEST(PageReader, TakesTheFlagsOfMissedEventsForNoLength) {
  const ReadPage page(kLittle8,
                      "10 00 00 00 00 00 00 00  08 00 00 c0 00 00 00 00"
                      "01 00 00 00 aa 00 00 00");
  EXPECT_EQ(page.events(), (Events{{16, "aa 00 00 00 "}}));
  EXPECT_EQ(page.damage(), "");
  EXPECT_EQ(page.commit(), kCommitMissedEvents | kCommitMissedStored | 8U);
}

TEST(PagePacker, TellsHowManyEventsAreMissingIfAReadersIntHoldsIt) {
  for (const PageFormat format : {kLittle8, kLittle4, kBig8, kBig4}) {
    for (const std::uint64_t missed :
         {std::uint64_t{1}, kLargestMissed, kLargestMissed + 1, std::uint64_t{1} << 32U,
          kUnknownNumber - 1, kUnknownNumber}) {
      PagePacker packer(format);
      const Bytes payload = payload_of(4);
      EXPECT_TRUE(packer.append({7, {}, missed}));
      EXPECT_TRUE(packer.append({7, payload}));
      const Bytes page = finish(packer);
      PageReader reader(format, page);
      const auto mark = reader.next();
      ASSERT_TRUE(mark && mark->is_mark());
      EXPECT_EQ(mark->missed, missed <= kLargestMissed ? missed : kUnknownNumber);
      EXPECT_EQ(reader.commit() & kCommitMissedStored,
                missed <= kLargestMissed ? kCommitMissedStored : 0U);
    }
  }
}

TEST(PageReader, ReportsAPageThatIsShorterThanTheFormatSays) {
  for (const std::size_t size : {0, 7, 15, 16, 4095}) {
    const ReadPage page(kLittle8, Bytes(size));
    EXPECT_EQ(page.damage(), "the page is cut short");
    EXPECT_EQ(page.events(), Events{});
  }
}

TEST(PageReader, ReportsACommitBeyondThePage) {
  // Of 4096 bytes 4080 are for records: one of 4080 fits, and one byte more does not.
  EXPECT_EQ(ReadPage(kLittle8,
                     "10 00 00 00 00 00 00 00  f0 0f 00 00 00 00 00 00"
                     "00 00 00 00 ec 0f 00 00")
                .damage(),
            "");
  const ReadPage page(kLittle8,
                      "10 00 00 00 00 00 00 00  f1 0f 00 00 00 00 00 00"
                      "00 00 00 00 ec 0f 00 00");
  EXPECT_EQ(page.damage(), "commit reaches beyond the page");
  EXPECT_EQ(page.events(), Events{});
  EXPECT_EQ(ReadPage(kBig4, "00 00 00 00 00 00 00 10  00 00 0f f5").damage(),
            "commit reaches beyond the page");
  EXPECT_EQ(ReadPage(kBig4, "00 00 00 00 00 00 00 10  07 ff ff ff").damage(),
            "commit reaches beyond the page");
}

TEST(PageReader, ReportsAWordBeyondCommit) {
  for (const std::string_view commit : {"09", "0a", "0b"}) {
    const ReadPage page(kLittle4, fmt::format("10 00 00 00 00 00 00 00  {} 00 00 00"
                                              "01 00 00 00 aa 00 00 00  01 00 00 00 bb 00 00 00",
                                              commit));
    EXPECT_EQ(page.damage(), "a record's word reaches beyond commit");
    EXPECT_EQ(page.events(), (Events{{16, "aa 00 00 00 "}}));
    EXPECT_EQ(page.position(), 20U);
  }
}

TEST(PageReader, ReportsAShortRecordBeyondCommit) {
  const ReadPage page(kLittle4,
                      "10 00 00 00 00 00 00 00  10 00 00 00"
                      "01 00 00 00 aa 00 00 00  02 00 00 00 bb 00 00 00 cc 00 00 00");
  EXPECT_EQ(page.damage(), "a record reaches beyond commit");
  EXPECT_EQ(page.events(), (Events{{16, "aa 00 00 00 "}}));
  EXPECT_EQ(page.position(), 20U);
}

TEST(PageReader, ReportsALongRecordBeyondCommit) {
  for (const std::string_view length : {"09 00 00 00", "ff 0f 00 00", "ff ff ff ff"}) {
    const ReadPage page(kLittle4, fmt::format("10 00 00 00 00 00 00 00  0c 00 00 00"
                                              "00 00 00 00 {} aa 00 00 00 bb 00 00 00",
                                              length));
    EXPECT_EQ(page.damage(), "a record reaches beyond commit");
    EXPECT_EQ(page.events(), Events{});
    EXPECT_EQ(page.position(), 12U);
  }
}

TEST(PageReader, ReportsASecondWordBeyondCommit) {
  // A length word, the second words of a time extend and of an absolute time.
  for (const std::string_view word : {"00", "1e", "1f"}) {
    const ReadPage page(kLittle4, fmt::format("10 00 00 00 00 00 00 00  07 00 00 00"
                                              "{} 00 00 00 04 00 00 00",
                                              word));
    EXPECT_EQ(page.damage(), "a record reaches beyond commit");
    EXPECT_EQ(page.events(), Events{});
  }
}

TEST(PageReader, ReportsALengthThatLeavesItsOwnWordOut) {
  for (const std::string_view length : {"00", "03"}) {
    const ReadPage page(kLittle4, fmt::format("10 00 00 00 00 00 00 00  0c 00 00 00"
                                              "00 00 00 00 {} 00 00 00 aa 00 00 00",
                                              length));
    EXPECT_EQ(page.damage(), "a record's length is less than its own length word");
    EXPECT_EQ(page.events(), Events{});
    EXPECT_EQ(page.position(), 12U);
  }
}

TEST(PageReader, ReportsPaddingInsideCommit) {
  const ReadPage little(kLittle4,
                        "10 00 00 00 00 00 00 00  10 00 00 00"
                        "01 00 00 00 aa 00 00 00  1d 00 00 00 04 00 00 00");
  EXPECT_EQ(little.damage(), "there is padding inside commit");
  EXPECT_EQ(little.events(), (Events{{16, "aa 00 00 00 "}}));
  EXPECT_EQ(little.position(), 20U);
  const ReadPage big(kBig4,
                     "00 00 00 00 00 00 00 10  00 00 00 08"
                     "e8 00 00 00 00 00 00 04");
  EXPECT_EQ(big.damage(), "there is padding inside commit");
}

TEST(PageReader, ReadsBackWhatThePackerWroteInEveryFormat) {
  std::mt19937_64 random(1);
  for (const PageFormat format :
       {kLittle8, kLittle4, kBig8, kBig4, PageFormat{ByteOrder::kBig, 65536, 8}}) {
    PagePacker packer(format);
    Events written;
    std::uint64_t time = 1'000'000'000;
    for (;;) {
      // Deltas of up to 58 bits, of every number of bits; payloads of up to 199 bytes.
      time += random() >> (6 + random() % 58);
      Bytes payload = payload_of(random() % 200);
      if (!packer.append({time, payload})) break;
      payload.resize((payload.size() + 3) / 4 * 4);
      written.push_back({time, hex(payload)});
    }
    const auto taken = finish(packer);
    const std::span<const std::byte> page = taken;
    const ReadPage read(format, Bytes(page.begin(), page.end()));
    EXPECT_EQ(read.events(), written);
    EXPECT_EQ(read.damage(), "");
    EXPECT_GT(written.size(), 20U);
  }
}

TEST(PageReader, SurvivesAnyBytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    const PageFormat format{random() % 2 == 0 ? ByteOrder::kLittle : ByteOrder::kBig, 4096,
                            random() % 2 == 0 ? 4U : 8U};
    Bytes page(format.page_size);
    for (std::byte& byte : page) byte = static_cast<std::byte>(random());
    // A commit that is possible, so that records are read at all.
    const auto commit = static_cast<std::uint32_t>(random() % 4085);
    const std::size_t low_half =
        format.commit_size == 8 && format.order == ByteOrder::kBig ? 12 : 8;
    store(page.data() + low_half, commit, format.order);
    const ReadPage read(format, page);
    EXPECT_LE(read.events().size(), 1024U);
    EXPECT_LE(read.position(), page.size() + 3);
  }
}

}  // namespace
}  // namespace perf2dat::tracedat
