// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/byte_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "testing/expected.h"
#include "testing/files.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

Bytes part(const Bytes& bytes, std::size_t offset, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

/// What a read of so many bytes delivers.
Bytes read(ByteSource& source, std::size_t size) {
  Bytes bytes(size);
  bytes.resize(value_of(source.read(bytes)));
  return bytes;
}

/// A pipe into which another thread writes, in pieces of this size.
class Pipe {
 public:
  Pipe(Bytes bytes, std::size_t piece) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reader_ = FileDescriptor(ends[0]);
    writer_ = std::thread([bytes = std::move(bytes), piece, fd = ends[1]] {
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const std::size_t size = std::min(piece, bytes.size() - at);
        if (::write(fd, bytes.data() + at, size) != static_cast<ssize_t>(size)) break;
        std::this_thread::yield();
      }
      ::close(fd);
    });
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { writer_.join(); }

  FileDescriptor take_reader() { return std::move(reader_); }

 private:
  FileDescriptor reader_;
  std::thread writer_;
};

TEST(FileSource, ReadsItsPartOfTheFileAndNoMore) {
  const Bytes bytes = counted(1000);
  const InputFile file = input_file(bytes);
  FileSource source(file, 100, 300);
  EXPECT_EQ(read(source, 1), part(bytes, 100, 1));
  EXPECT_EQ(read(source, 0), Bytes());
  EXPECT_EQ(read(source, 199), part(bytes, 101, 199));
  EXPECT_EQ(read(source, 1000), part(bytes, 300, 100));
  EXPECT_EQ(read(source, 1), Bytes());
}

TEST(FileSource, ReadsAPartThatEndsWithTheFile) {
  const Bytes bytes = counted(1000);
  const InputFile file = input_file(bytes);
  FileSource source(file, 900, 100);
  EXPECT_EQ(read(source, 101), part(bytes, 900, 100));
  FileSource none(file, 1000, 0);
  EXPECT_EQ(read(none, 1), Bytes());
}

TEST(FileSource, PassesOverBytesUpToTheEndOfItsPart) {
  const Bytes bytes = counted(1000);
  const InputFile file = input_file(bytes);
  FileSource source(file, 100, 300);
  EXPECT_EQ(value_of(source.skip(0)), 0U);
  EXPECT_EQ(value_of(source.skip(50)), 50U);
  EXPECT_EQ(read(source, 10), part(bytes, 150, 10));
  EXPECT_EQ(value_of(source.skip(~0ULL)), 240U);
  EXPECT_EQ(value_of(source.skip(1)), 0U);
  EXPECT_EQ(read(source, 1), Bytes());
}

TEST(FileSource, PassesOverNoMoreThanTheFileHas) {
  const InputFile file = input_file(counted(1000));
  FileSource source(file, 900, 1000);
  EXPECT_EQ(value_of(source.skip(~0ULL)), 100U);
  FileSource behind(file, 2000, 1000);
  EXPECT_EQ(value_of(behind.skip(1)), 0U);
}

TEST(FileSource, NoticesThatTheFileBecameShorter) {
  const TemporaryDirectory directory;
  const auto path = directory.write("shrinking", counted(1000));
  const InputFile file = value_of(InputFile::open(path));
  std::filesystem::resize_file(path, 600);
  FileSource source(file, 500, 400);
  EXPECT_EQ(read(source, 100).size(), 100U);
  Bytes bytes(500);
  EXPECT_THAT(error_of(source.read(bytes)),
              AllOf(HasSubstr("became shorter"), HasSubstr("300 bytes expected at offset 0x258")));
}

TEST(PipeSource, FillsASpanFromManyShortWrites) {
  const Bytes bytes = counted(20000);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    Pipe pipe(bytes, piece);
    PipeSource source(pipe.take_reader());
    EXPECT_EQ(read(source, 0), Bytes());
    EXPECT_EQ(read(source, 3), part(bytes, 0, 3));
    EXPECT_EQ(read(source, 15000), part(bytes, 3, 15000));
    EXPECT_EQ(read(source, 5000), part(bytes, 15003, 4997));
    EXPECT_EQ(read(source, 1), Bytes());
  }
}

TEST(PipeSource, ReadsMoreThanAPipeHolds) {
  const Bytes bytes = counted(1U << 20U);
  Pipe pipe(bytes, bytes.size());
  PipeSource source(pipe.take_reader());
  EXPECT_TRUE(read(source, bytes.size() + 1) == bytes);
}

TEST(PipeSource, WaitsForAWriterThatTakesItsTime) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  PipeSource source{FileDescriptor(ends[0])};
  std::thread writer([fd = ends[1]] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_EQ(::write(fd, "ab", 2), 2);
    }
    ::close(fd);
  });
  EXPECT_EQ(read(source, 5).size(), 5U);
  EXPECT_EQ(read(source, 5).size(), 1U);
  writer.join();
}

TEST(PipeSource, PassesOverBytesUpToTheEnd) {
  const Bytes bytes = counted(200000);
  Pipe pipe(bytes, 1000);
  PipeSource source(pipe.take_reader());
  EXPECT_EQ(value_of(source.skip(0)), 0U);
  EXPECT_EQ(value_of(source.skip(10)), 10U);
  EXPECT_EQ(read(source, 10), part(bytes, 10, 10));
  EXPECT_EQ(value_of(source.skip(65537)), 65537U);
  EXPECT_EQ(read(source, 10), part(bytes, 65557, 10));
  EXPECT_EQ(value_of(source.skip(~0ULL)), 200000U - 65567);
  EXPECT_EQ(value_of(source.skip(1)), 0U);
  EXPECT_EQ(read(source, 1), Bytes());
}

TEST(PipeSource, MakesAPipeLarger) {
  // The first is the system's default. The last is left as it is, where the system gives so much to
  // this process; where it refuses, that is not seen here.
  for (const int wanted : {0, 4096, 1 << 20, 1 << 21}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const FileDescriptor writer(ends[1]);
    if (wanted != 0) ::fcntl(writer.get(), F_SETPIPE_SZ, wanted);
    const int before = ::fcntl(writer.get(), F_GETPIPE_SZ);
    const PipeSource source{FileDescriptor(ends[0])};
    EXPECT_EQ(::fcntl(writer.get(), F_GETPIPE_SZ), std::max(before, 1 << 20)) << wanted;
  }
}

TEST(PipeSource, OfAPipeThatNobodyWroteIntoIsEmpty) {
  Pipe pipe({}, 1);
  PipeSource source(pipe.take_reader());
  EXPECT_EQ(read(source, 10), Bytes());
}

TEST(PipeSource, SaysWhyItCannotRead) {
  const TemporaryDirectory directory;
  PipeSource source{FileDescriptor(::open(directory.path("").c_str(), O_RDONLY | O_CLOEXEC))};
  Bytes bytes(10);
  EXPECT_THAT(error_of(source.read(bytes)), HasSubstr("cannot read it: Is a directory"));
  EXPECT_THAT(error_of(source.skip(10)), HasSubstr("cannot read it: Is a directory"));
}

}  // namespace
}  // namespace perf2dat::perfdata
