// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/record_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::order_name;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kBuffer = 512U << 10U;
/// The section begins somewhere in the file, and something follows it.
constexpr std::size_t kBefore = 0x28;
constexpr std::size_t kBehind = 100000;

constexpr std::uint32_t kMmap = 1;
constexpr std::uint32_t kAuxtrace = 71;

Bytes pattern(std::size_t size, std::uint64_t seed) {
  std::minstd_rand random(static_cast<std::uint32_t>(seed + 1));
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

struct Read {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint64_t offset = 0;
  Bytes body;

  friend bool operator==(const Read&, const Read&) = default;
};

class ReadRecords : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }

  /// Writes a record and what is expected of it.
  void add(std::uint32_t type, std::uint16_t misc, const Bytes& body) {
    expected_.push_back({type, misc, kBefore + data_.size(), body});
    data_.u32(type).u16(misc).u16(static_cast<std::uint16_t>(kRecordHeaderSize + body.size()));
    data_.bytes(body);
  }

  /// The same of AUXTRACE, with `payload` bytes behind it that look like records.
  void add_auxtrace(std::uint64_t told, std::size_t payload) {
    expected_.push_back({kAuxtrace, 0, kBefore + data_.size(), {}});
    data_.u32(kAuxtrace).u16(0).u16(48).u64(told).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
    for (std::size_t i = 0; i < payload; ++i) data_.u8(static_cast<std::uint8_t>(i));
  }

  InputFile file(std::size_t behind = kBehind) const {
    Bytes bytes(kBefore, std::byte{0xaa});
    bytes.insert(bytes.end(), data_.data().begin(), data_.data().end());
    bytes.resize(bytes.size() + behind);
    return input_file(bytes);
  }

  RecordStream stream_of(const InputFile& file) const {
    return {file, order(), {kBefore, data_.size()}};
  }

  static Expected<std::vector<Read>> read_all(RecordStream stream) {
    std::vector<Read> records;
    Record record{};
    for (;;) {
      const std::uint64_t at = stream.offset();
      P2D_ASSIGN(const bool more, stream.next(record));
      if (!more) return records;
      EXPECT_EQ(record.offset, at);
      records.push_back({static_cast<std::uint32_t>(record.type),
                         record.misc,
                         record.offset,
                         {record.body.begin(), record.body.end()}});
    }
  }

  Expected<std::vector<Read>> read() const {
    const InputFile input = file();
    return read_all(stream_of(input));
  }

  void expect_all_are_read() const { EXPECT_TRUE(value_of(read()) == expected_); }

  ByteWriter data_{GetParam()};
  std::vector<Read> expected_;
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadRecords, both_orders(), order_name);

TEST_P(ReadRecords, GivesNoneOfAnEmptySection) {
  const InputFile input = file();
  RecordStream stream(input, order(), {kBefore, 0});
  Record record{};
  EXPECT_FALSE(value_of(stream.next(record)));
  EXPECT_FALSE(value_of(stream.next(record)));
  EXPECT_EQ(stream.offset(), kBefore);
}

TEST_P(ReadRecords, GivesRecordsOfAnyTypeAndSizeInTheirOrder) {
  add(9, 0x4001, pattern(24, 1));
  add(68, 0, {});
  add(0xfffffff0, 0xffff, pattern(3, 2));
  add(1, 2, pattern(kLargestRecord - kRecordHeaderSize, 3));
  add(3, 0, pattern(1, 4));
  expect_all_are_read();
}

TEST_P(ReadRecords, ReadsASectionThatEndsWithTheFile) {
  add(9, 1, pattern(24, 1));
  const InputFile input = file(0);
  EXPECT_TRUE(value_of(read_all(stream_of(input))) == expected_);
}

TEST_P(ReadRecords, ReadsRecordsThatLieAcrossTheBuffersEdge) {
  // The last record begins 0 to 40 bytes before the edge: its header, too, can lie across it.
  for (std::size_t before_edge = 0; before_edge <= 40; ++before_edge) {
    data_ = ByteWriter(order());
    expected_.clear();
    const auto room = [&] { return kBuffer - before_edge - data_.size(); };
    while (room() > 0) {
      const std::size_t size = room() > 70000 ? 30000 : std::min<std::size_t>(room(), 35000);
      add(kMmap, 0, pattern(size - kRecordHeaderSize, data_.size()));
    }
    add(9, 1, pattern(100, before_edge));
    add(9, 2, pattern(200, before_edge));
    expect_all_are_read();
  }
}

TEST_P(ReadRecords, ReadsManyBuffers) {
  std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  while (data_.size() < 5 * kBuffer) {
    const std::size_t size = random() % 8 == 0 ? random() % 65528 : random() % 200;
    add(static_cast<std::uint32_t>(72 + random() % 5), static_cast<std::uint16_t>(random()),
        pattern(size, data_.size()));
  }
  expect_all_are_read();
}

TEST_P(ReadRecords, RefusesASizeBelowTheHeaders) {
  for (std::uint16_t size = 0; size < kRecordHeaderSize; ++size) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(9, 1, pattern(16, 1));
    data_.u32(9).u16(0).u16(size).zeros(16);
    const InputFile input = file();
    RecordStream stream = stream_of(input);
    Record record{};
    EXPECT_TRUE(value_of(stream.next(record)));
    EXPECT_THAT(error_of(stream.next(record)),
                AllOf(HasSubstr("offset 0x40"), HasSubstr(fmt::format("has {} bytes", size)),
                      HasSubstr("fewer than its own header")));
  }
}

TEST_P(ReadRecords, RefusesASectionThatEndsInsideAHeader) {
  for (std::size_t rest = 1; rest < kRecordHeaderSize; ++rest) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(9, 1, pattern(16, 1));
    data_.zeros(rest);
    EXPECT_THAT(error_of(read()),
                AllOf(HasSubstr("offset 0x40"), HasSubstr("beyond the data's end"),
                      HasSubstr(fmt::format("{:#x}", kBefore + data_.size()))));
  }
}

TEST_P(ReadRecords, RefusesASectionThatEndsInsideABodyThoughTheFileGoesOn) {
  for (const std::uint16_t size : {std::uint16_t{25}, std::uint16_t{65535}}) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(9, 1, pattern(16, 1));
    data_.u32(9).u16(0).u16(size).zeros(16);
    EXPECT_THAT(error_of(read()), AllOf(HasSubstr(fmt::format("record of {} bytes", size)),
                                        HasSubstr("offset 0x40"), HasSubstr("end 0x58")));
  }
}

TEST_P(ReadRecords, PassesOverAuxtraceTogetherWithItsPayload) {
  // Payloads that end before, at and after the buffer's edge, and some that are larger than it.
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{8}, std::size_t{4097}, kBuffer - 200, kBuffer - 152,
        kBuffer - 144, kBuffer - 100, kBuffer, 3 * kBuffer + 5}) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(9, 1, pattern(32, 1));
    add_auxtrace(size, size);
    add(9, 2, pattern(32, 2));
    add_auxtrace(size, size);
    add(9, 3, pattern(32, 3));
    expect_all_are_read();
  }
}

TEST_P(ReadRecords, PassesOverAuxtraceAtTheEnd) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{16}, 2 * kBuffer}) {
    data_ = ByteWriter(order());
    expected_.clear();
    add_auxtrace(size, size);
    expect_all_are_read();
  }
}

TEST_P(ReadRecords, RefusesAnAuxtracePayloadBeyondTheEnd) {
  for (const std::uint64_t told : {17UL, 4096UL, 10 * kBuffer, 1UL << 63U, ~0UL, ~0UL - 0x28}) {
    data_ = ByteWriter(order());
    expected_.clear();
    add_auxtrace(told, 16);
    EXPECT_THAT(error_of(read()),
                AllOf(HasSubstr(fmt::format("{} bytes", told)), HasSubstr("offset 0x"),
                      HasSubstr("beyond the data's end")));
  }
}

TEST_P(ReadRecords, RefusesAnAuxtraceThatDoesNotTellItsPayloadsSize) {
  for (std::size_t size = 0; size < 8; ++size) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(kAuxtrace, 0, Bytes(size));
    add(9, 1, pattern(32, 1));
    EXPECT_THAT(error_of(read()), AllOf(HasSubstr("AUXTRACE record at offset 0x28"),
                                        HasSubstr(fmt::format("{} bytes", 8 + size))));
  }
}

TEST_P(ReadRecords, NoticesThatTheFileBecameShorter) {
  while (data_.size() < 2 * kBuffer) add(kMmap, 0, pattern(30000, data_.size()));
  const TemporaryDirectory directory;
  Bytes bytes(kBefore);
  bytes.insert(bytes.end(), data_.data().begin(), data_.data().end());
  const auto path = directory.write("shrinking", bytes);
  const InputFile input = value_of(InputFile::open(path));
  RecordStream stream = stream_of(input);
  Record record{};
  EXPECT_TRUE(value_of(stream.next(record)));
  std::filesystem::resize_file(path, kBuffer + 1000);
  EXPECT_THAT(error_of(read_all(std::move(stream))),
              AllOf(HasSubstr("became shorter"), HasSubstr("offset 0x803e8")));
}

}  // namespace
}  // namespace perf2dat::perfdata
