// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/read_ahead.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kChunk = ReadAhead::kChunk;
constexpr std::size_t kMany = 7 * kChunk + 12345;  // so that there is a thread

Bytes random_bytes(std::size_t size) {
  std::mt19937_64 random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::vector<std::uint64_t> words((size + 7) / 8);
  std::generate(words.begin(), words.end(), std::ref(random));
  const auto bytes = std::as_bytes(std::span(words)).first(size);
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<ByteSource> source_of(const InputFile& file, std::uint64_t offset = 0) {
  return std::make_unique<FileSource>(file, offset, file.size() - offset);
}

Bytes read_all(ReadAhead& ahead) {
  Bytes bytes;
  for (;;) {
    const auto chunk = value_of(ahead.next());
    if (chunk.empty()) return bytes;
    EXPECT_LE(chunk.size(), kChunk);
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  }
}

TEST(ReadAhead, ReadsSourcesOfAnySizeToTheirEnd) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kChunk - 1, kChunk, kChunk + 1,
                                 2 * kChunk, 3 * kChunk + 1, 6 * kChunk, kMany}) {
    const Bytes bytes = random_bytes(size);
    const InputFile file = input_file(bytes);
    ReadAhead ahead(source_of(file));
    EXPECT_TRUE(read_all(ahead) == bytes) << size;
    EXPECT_TRUE(value_of(ahead.next()).empty()) << size;
  }
}

TEST(ReadAhead, LeavesAChunkAloneUntilTheCallAfterTheNextOne) {
  const Bytes bytes = random_bytes(kMany);
  const InputFile file = input_file(bytes);
  ReadAhead ahead(source_of(file));
  std::span<std::byte> before;
  Bytes copy_of_before;
  for (;;) {
    const auto chunk = value_of(ahead.next());
    if (chunk.empty()) break;
    EXPECT_EQ(value_of(ahead.skip(0)), 0U);  // waits for what is read ahead
    EXPECT_TRUE(std::equal(before.begin(), before.end(), copy_of_before.begin()));
    before = chunk;
    copy_of_before.assign(chunk.begin(), chunk.end());
  }
}

TEST(ReadAhead, HasRoomBeforeEachChunkThatIsNoOtherChunks) {
  const Bytes bytes = random_bytes(kMany);
  const InputFile file = input_file(bytes);
  ReadAhead ahead(source_of(file));
  Bytes read;
  std::span<std::byte> before;
  Bytes copy_of_before;
  for (;;) {
    const auto chunk = value_of(ahead.next());
    if (chunk.empty()) break;
    std::fill_n(chunk.data() - ReadAhead::kHeadroom, ReadAhead::kHeadroom, std::byte{0x55});
    EXPECT_TRUE(std::equal(before.begin(), before.end(), copy_of_before.begin()));
    before = chunk;
    copy_of_before.assign(chunk.begin(), chunk.end());
    read.insert(read.end(), chunk.begin(), chunk.end());
  }
  EXPECT_TRUE(read == bytes);
}

TEST(ReadAhead, PassesOverBytesAnywhere) {
  const Bytes bytes = random_bytes(kMany);
  const InputFile file = input_file(bytes);
  for (std::size_t chunks = 0; chunks <= 5; ++chunks) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk + 7}) {
      ReadAhead ahead(source_of(file));
      for (std::size_t i = 0; i < chunks; ++i) EXPECT_EQ(value_of(ahead.next()).size(), kChunk);
      EXPECT_EQ(value_of(ahead.skip(size)), std::min(size, kMany - chunks * kChunk));
      EXPECT_EQ(value_of(ahead.skip(0)), 0U);
      const auto rest = std::span(bytes).subspan(std::min(kMany, chunks * kChunk + size));
      const Bytes read = read_all(ahead);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), rest.begin(), rest.end()))
          << chunks << " chunks, then " << size << " bytes";
    }
  }
}

TEST(ReadAhead, PassesOverNoMoreThanThereIs) {
  const InputFile file = input_file(random_bytes(kMany));
  for (std::size_t chunks = 0; chunks <= 7; ++chunks) {
    ReadAhead ahead(source_of(file));
    for (std::size_t i = 0; i < chunks; ++i) EXPECT_EQ(value_of(ahead.next()).size(), kChunk);
    EXPECT_EQ(value_of(ahead.skip(~0ULL)), kMany - chunks * kChunk);
    EXPECT_TRUE(value_of(ahead.next()).empty());
  }
}

TEST(ReadAhead, SaysWhyTheSourceCannotBeReadWhereverThatIs) {
  const TemporaryDirectory directory;
  for (std::size_t chunks = 0; chunks <= 6; ++chunks) {
    const auto path = directory.write("shrinking", random_bytes(kMany));
    const InputFile file = value_of(InputFile::open(path));
    std::filesystem::resize_file(path, chunks * kChunk + 10);
    ReadAhead ahead(source_of(file));
    for (std::size_t i = 0; i < chunks; ++i) EXPECT_EQ(value_of(ahead.next()).size(), kChunk);
    EXPECT_THAT(error_of(ahead.next()), HasSubstr("became shorter"));
  }
}

TEST(ReadAhead, MayBeLeftAtAnyTime) {
  const InputFile file = input_file(random_bytes(kMany));
  for (std::size_t chunks = 0; chunks <= 8; ++chunks) {
    ReadAhead ahead(source_of(file));
    for (std::size_t i = 0; i < chunks; ++i) value_of(ahead.next());
  }
}

TEST(ReadAhead, DoesNotWaitForAPipeThatNobodyAskedItToRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor writer(ends[1]);
  const Bytes bytes = random_bytes(6 * kChunk);
  std::thread thread([&] {
    EXPECT_EQ(::write(writer.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  });
  {
    ReadAhead ahead(std::make_unique<PipeSource>(FileDescriptor(ends[0])));
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(value_of(ahead.next()).size(), kChunk);
    // The writer is there still and writes nothing: were it read ahead, this would not end.
  }
  thread.join();
}

/// A source that nobody may read again when it has ended, as a FIFO that has a writer again.
class EndsOnce : public ByteSource {
 public:
  explicit EndsOnce(std::size_t size) : left_(size) {}
  Expected<std::size_t> read(std::span<std::byte> into) override { return take(into.size()); }
  Expected<std::uint64_t> skip(std::uint64_t size) override { return take(size); }
  bool may_wait() const override { return false; }

 private:
  std::uint64_t take(std::uint64_t wanted) {
    EXPECT_FALSE(ended_);
    const std::uint64_t done = std::min(left_, wanted);
    ended_ = done < wanted;
    left_ -= done;
    return done;
  }

  std::uint64_t left_;
  bool ended_ = false;
};

TEST(ReadAhead, AsksNoMoreOfASourceThatHasEnded) {
  for (const std::size_t size : {std::size_t{10}, kChunk + 10, 4 * kChunk + 10}) {
    ReadAhead ahead(std::make_unique<EndsOnce>(size));
    EXPECT_EQ(read_all(ahead).size(), size);
    EXPECT_TRUE(value_of(ahead.next()).empty());
    EXPECT_EQ(value_of(ahead.skip(1)), 0U);
  }
}

/// A source for whose next chunk there is no memory, after so many.
class RunsOut : public ByteSource {
 public:
  explicit RunsOut(std::size_t chunks) : left_(chunks) {}
  Expected<std::size_t> read(std::span<std::byte> into) override {
    if (left_-- == 0) throw std::bad_alloc();
    return into.size();
  }
  Expected<std::uint64_t> skip(std::uint64_t size) override { return size; }
  bool may_wait() const override { return false; }

 private:
  std::size_t left_;
};

TEST(ReadAhead, IsOutOfMemoryWhereItIsUsed) {
  for (std::size_t chunks = 0; chunks < 6; ++chunks) {
    ReadAhead ahead(std::make_unique<RunsOut>(chunks));
    for (std::size_t i = 0; i < chunks; ++i) EXPECT_EQ(value_of(ahead.next()).size(), kChunk);
    EXPECT_THROW(static_cast<void>(ahead.next()), std::bad_alloc) << chunks;
  }
}

TEST(ReadAhead, ReadsWithoutAThreadWhenItCannotHaveOne) {
  const Bytes bytes = random_bytes(kMany);
  const InputFile file = input_file(bytes);
  Bytes read;
  read.reserve(kMany);
  const MemoryLimit limit(6U << 20U);  // less than a thread's stack
  ReadAhead ahead(source_of(file));
  for (;;) {
    const auto chunk = value_of(ahead.next());
    if (chunk.empty()) break;
    read.insert(read.end(), chunk.begin(), chunk.end());
  }
  EXPECT_TRUE(read == bytes);
}

}  // namespace
}  // namespace perf2dat::perfdata
