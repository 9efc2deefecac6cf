// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/record_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::order_name;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kBuffer = ReadAhead::kChunk;
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
    add(kAuxtrace, 0, ByteWriter(order()).u64(told).zeros(32).take());
    for (std::size_t i = 0; i < payload; ++i) data_.u8(static_cast<std::uint8_t>(i));
  }

  InputFile file(std::size_t behind = kBehind) const {
    Bytes bytes(kBefore, std::byte{0xaa});
    bytes.insert(bytes.end(), data_.data().begin(), data_.data().end());
    bytes.resize(bytes.size() + behind);
    return input_file(bytes);
  }

  RecordStream stream_of(const InputFile& file, StreamEnd end = StreamEnd::kExact) const {
    return {std::make_unique<FileSource>(file, kBefore, data_.size()), order(), kBefore, end};
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
  RecordStream stream = stream_of(input);
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
  while (data_.size() < 7 * kBuffer) {
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
    EXPECT_THAT(error_of(read()), AllOf(HasSubstr("offset 0x40"), HasSubstr("inside its header"),
                                        HasSubstr(fmt::format("after {} bytes", rest))));
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
    EXPECT_THAT(error_of(read()), AllOf(HasSubstr(fmt::format("{} bytes", told)),
                                        HasSubstr("offset 0x28"), HasSubstr("ends after 16")));
  }
}

TEST_P(ReadRecords, RefusesAnAuxtraceThatDoesNotTellItsPayloadsSize) {
  for (std::size_t size = 0; size < 8; ++size) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(kAuxtrace, 0, Bytes(size));
    add(9, 1, pattern(32, 1));
    EXPECT_THAT(error_of(read()), AllOf(HasSubstr("the AUXTRACE record at offset 0x28"),
                                        HasSubstr("too few for a size")));
  }
}

TEST_P(ReadRecords, NoticesThatTheFileBecameShorter) {
  while (data_.size() < 2 * kBuffer) add(kMmap, 0, pattern(30000, data_.size()));
  const TemporaryDirectory directory;
  Bytes bytes(kBefore);
  bytes.insert(bytes.end(), data_.data().begin(), data_.data().end());
  for (const StreamEnd end : {StreamEnd::kExact, StreamEnd::kOpen}) {
    const auto path = directory.write("shrinking", bytes);
    const InputFile input = value_of(InputFile::open(path));
    RecordStream stream = stream_of(input, end);
    Record record{};
    EXPECT_TRUE(value_of(stream.next(record)));
    // Where a record ends, and inside one.
    for (const std::size_t size : {kBefore + 35 * std::size_t{30008}, kBuffer + 1000}) {
      std::filesystem::resize_file(path, size);
      EXPECT_THAT(error_of(read_all(stream_of(input, end))),
                  AllOf(HasSubstr("became shorter"), HasSubstr(fmt::format("offset {:#x}", size))));
    }
    EXPECT_THAT(error_of(read_all(std::move(stream))),
                AllOf(HasSubstr("became shorter"), HasSubstr("offset 0x1003e8")));
  }
}

/// What ends an open stream, and by how much.
class OpenEnd : public ReadRecords {
 protected:
  void SetUp() override { add(9, 1, pattern(16, 1)); }  // ends at offset 0x40

  /// The stream has the expected records, then these bytes.
  void expect_leftover(std::uint64_t size) const {
    const InputFile input = file();
    RecordStream stream = stream_of(input, StreamEnd::kOpen);
    Record record{};
    for (const Read& each : expected_) {
      ASSERT_TRUE(value_of(stream.next(record)));
      EXPECT_EQ(record.offset, each.offset);
      EXPECT_FALSE(stream.leftover());
    }
    for (int again = 0; again < 2; ++again) {
      EXPECT_FALSE(value_of(stream.next(record)));
      if (size == 0) {
        EXPECT_FALSE(stream.leftover());
      } else {
        ASSERT_TRUE(stream.leftover());
        EXPECT_EQ(stream.leftover()->offset, kBefore + data_.size() - size);
        EXPECT_EQ(stream.leftover()->size, size);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, OpenEnd, both_orders(), order_name);

TEST_P(OpenEnd, HasNoLeftoverAfterAWholeRecord) { expect_leftover(0); }

TEST_P(OpenEnd, LeavesARecordThatIsCutOffAnywhere) {
  const ByteWriter good = std::move(data_);
  for (std::uint16_t size = 1; size < 100; ++size) {
    data_ = good;
    const Bytes cut = ByteWriter(order()).u32(9).u16(0).u16(100).zeros(92).take();
    data_.bytes(std::span(cut).first(size));
    expect_leftover(size);
  }
}

TEST_P(OpenEnd, LeavesARecordWithASizeBelowItsHeadersAndAllThatFollows) {
  const ByteWriter good = std::move(data_);
  for (std::uint16_t size = 0; size < kRecordHeaderSize; ++size) {
    data_ = good;
    data_.u32(9).u16(0).u16(size).zeros(3 * kBuffer);
    expect_leftover(kRecordHeaderSize + 3 * kBuffer);
  }
}

TEST_P(OpenEnd, LeavesTypesOf65536AndMore) {
  const ByteWriter good = std::move(data_);
  for (const std::uint32_t type : {1U << 16U, 1U << 24U, 0xffffffffU}) {
    data_ = good;
    data_.u32(type).u16(0).u16(16).zeros(8).u32(9).u16(0).u16(8);
    expect_leftover(24);
  }
  data_ = good;
  add(65535, 0, pattern(8, 2));
  expect_leftover(0);
}

TEST_P(OpenEnd, LeavesTextOfAnyLength) {
  const ByteWriter good = std::move(data_);
  const std::string line = "[ perf record: Woken up 1 times to write data ]\n";
  for (const std::size_t lines : {std::size_t{1}, std::size_t{3}, 2 * kBuffer / line.size()}) {
    data_ = good;
    for (std::size_t i = 0; i < lines; ++i) data_.text(line);
    expect_leftover(lines * line.size());
  }
}

TEST_P(OpenEnd, EndsBeforeAnAuxtraceWhosePayloadIsCutOff) {
  const std::size_t before = data_.size();
  add_auxtrace(100, 16);
  expected_.pop_back();
  expect_leftover(data_.size() - before);
}

TEST_P(ReadRecords, ReadsAPayloadOfAnySizeBehindARecord) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kBuffer - 25, kBuffer, 3 * kBuffer + 7}) {
    data_ = ByteWriter(order());
    expected_.clear();
    add(66, 0, pattern(8, 1));
    const Bytes payload = pattern(size, 2);
    data_.bytes(payload);
    add(9, 0, pattern(16, 3));
    const InputFile input = file();
    RecordStream stream = stream_of(input);
    Record record{};
    ASSERT_TRUE(value_of(stream.next(record)));
    EXPECT_EQ(stream.offset(), kBefore + 16);
    EXPECT_TRUE(value_of(stream.read_payload(size)) == payload);
    EXPECT_EQ(stream.offset(), kBefore + 16 + size);
    EXPECT_TRUE(value_of(read_all(std::move(stream))) == std::vector{expected_.back()});
  }
}

TEST_P(ReadRecords, RefusesAPayloadBeyondTheEndWithoutAllocatingIt) {
  add(66, 0, pattern(8, 1));
  data_.zeros(5);
  const InputFile input = file();
  for (const std::uint64_t size : {6UL, 1UL << 32U, ~0UL}) {
    RecordStream stream = stream_of(input);
    Record record{};
    ASSERT_TRUE(value_of(stream.next(record)));
    const MemoryLimit limit(8U << 20U);
    EXPECT_THAT(error_of(stream.read_payload(size)),
                HasSubstr(fmt::format("{} bytes expected at offset 0x38, but there are 5", size)));
  }
}

}  // namespace
}  // namespace perf2dat::perfdata
