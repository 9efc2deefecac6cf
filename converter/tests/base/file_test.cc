// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"

namespace perf2dat {
namespace {

namespace fs = std::filesystem;
using perf2dat::testing::error_of;
using perf2dat::testing::FileSizeLimit;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

::testing::AssertionResult succeeds(const Expected<void>& result) {
  if (result) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << result.error().message;
}

std::string create_error(const std::string& path, bool overwrite = false) {
  return error_of(OutputFile::create(path, overwrite), Error::Kind::kOutput);
}

std::string publish_error(OutputFile& file) {
  return error_of(file.publish(), Error::Kind::kOutput);
}

/// A system call that is to fail; with `flags` only when its third argument has all of these.
struct FailingCall {
  unsigned number;
  int error;
  unsigned flags = 0;
};

constexpr FailingCall kNoUnnamedFiles{SYS_openat, EOPNOTSUPP, O_TMPFILE};
constexpr FailingCall kNoLinks{SYS_linkat, EPERM};
constexpr FailingCall kNoRenameThatKeeps{SYS_renameat2, EINVAL};

/// Runs `function` as if the calls had failed. False: this system cannot do so.
template <typename Function>
bool run_with(const std::vector<FailingCall>& calls, Function function) {
  std::vector<sock_filter> filter;
  const auto load = [&](std::size_t offset) {
    filter.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)});
  };
  for (const FailingCall& call : calls) {
    load(offsetof(seccomp_data, nr));
    filter.push_back(
        {BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<std::uint8_t>(call.flags ? 4 : 1), call.number});
    if (call.flags != 0) {
      // The half of the argument that holds an int's bits.
      load(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t) +
           (kHostOrder == ByteOrder::kBig ? 4 : 0));
      filter.push_back({BPF_ALU | BPF_AND | BPF_K, 0, 0, call.flags});
      filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call.flags});
    }
    filter.push_back(
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(call.error)});
  }
  filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  bool filtered = false;
  // A filter stays for the rest of its thread's life.
  std::thread([&] {
    filtered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (filtered) function();
  }).join();
  return filtered;
}

#define RUN_WITH_OR_SKIP(...)                                                      \
  do {                                                                             \
    if (!run_with(__VA_ARGS__)) GTEST_SKIP() << "system calls cannot be filtered"; \
  } while (false)

class FileTest : public ::testing::Test {
 protected:
  std::string path(std::string_view name) const { return directory_.path(name); }
  auto entries() const { return directory_.entries(); }
  std::string write(std::string_view name, std::string_view text) const {
    return directory_.write(name, bytes_of(text));
  }

  OutputFile create(std::string_view name, bool overwrite = false) const {
    return value_of(OutputFile::create(path(name), overwrite));
  }

  /// Makes an output of this text and gives it its name.
  void publish(std::string_view name, std::string_view text, bool overwrite = false) const {
    OutputFile file = create(name, overwrite);
    ASSERT_TRUE(succeeds(file.write_at(0, bytes_of(text))));
    ASSERT_TRUE(succeeds(file.publish()));
  }

 private:
  TemporaryDirectory directory_;
};

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(FileDescriptor, ClosesWhatItOwnsWhenItEnds) {
  const int fd = ::dup(0);
  {
    const FileDescriptor owner(fd);
    EXPECT_TRUE(owner.valid());
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(FileDescriptor, OwnsNothingAtFirst) { EXPECT_FALSE(FileDescriptor().valid()); }

TEST(FileDescriptor, HandsOverWhatItOwns) {
  const int first = ::dup(0);
  const int second = ::dup(0);
  FileDescriptor owner(first);
  FileDescriptor next(std::move(owner));
  EXPECT_EQ(next.get(), first);
  EXPECT_TRUE(is_open(first));
  FileDescriptor last(second);
  last = std::move(next);
  EXPECT_EQ(last.get(), first);
  EXPECT_TRUE(is_open(first));
  EXPECT_FALSE(is_open(second));
  last.reset();
  EXPECT_FALSE(last.valid());
  EXPECT_FALSE(is_open(first));
}

using InputFileTest = FileTest;

TEST_F(InputFileTest, HasTheFilesSizeAndBytes) {
  const auto file = value_of(InputFile::open(write("in", "0123456789")));
  EXPECT_EQ(file.size(), 10U);
  EXPECT_EQ(text_of(value_of(file.read_exactly(0, 10, "it"))), "0123456789");
  EXPECT_EQ(text_of(value_of(file.read_exactly(3, 4, "it"))), "3456");
  EXPECT_EQ(text_of(value_of(file.read_exactly(10, 0, "it"))), "");
}

TEST_F(InputFileTest, ReadsFewerBytesAtTheEndOnly) {
  const auto file = value_of(InputFile::open(write("in", "0123456789")));
  std::array<std::byte, 8> into{};
  EXPECT_EQ(value_of(file.read_at(1, into)), 8U);
  EXPECT_EQ(into.front(), std::byte{'1'});
  EXPECT_EQ(value_of(file.read_at(7, into)), 3U);
  EXPECT_EQ(into.front(), std::byte{'7'});
  EXPECT_EQ(value_of(file.read_at(10, into)), 0U);
  EXPECT_EQ(value_of(file.read_at(1000, into)), 0U);
}

TEST_F(InputFileTest, TellsWhatIsBeyondTheEnd) {
  const auto file = value_of(InputFile::open(write("in", "0123456789")));
  EXPECT_EQ(error_of(file.read_exactly(4, 7, "the table")),
            "the table should have 7 bytes from 0x4 on, but the file ends at offset 0xa: it is "
            "truncated or damaged");
  error_of(file.read_exactly(11, 0, "the table"));
  error_of(file.read_exactly(~std::uint64_t{0}, 2, "the table"));
  // So much that nobody could allocate it, and so much that the end comes before the beginning.
  error_of(file.read_exactly(0, std::uint64_t{1} << 60U, "the table"));
  error_of(file.read_exactly(1, ~std::uint64_t{0}, "the table"));
}

TEST_F(InputFileTest, TellsThatTheFileBecameShorter) {
  const auto name = write("in", "0123456789");
  const auto file = value_of(InputFile::open(name));
  fs::resize_file(name, 6);
  EXPECT_EQ(error_of(file.read_exactly(4, 4, "the table")),
            "the table ends at offset 0x6: the file became shorter while it was read");
}

TEST_F(InputFileTest, TellsWhyItCannotRead) {
  const auto file = value_of(InputFile::open(write("in", "0123456789")));
  RUN_WITH_OR_SKIP({{SYS_pread64, EIO}}, [&] {
    EXPECT_EQ(error_of(file.read_exactly(4, 4, "the table")), "cannot read it: Input/output error");
  });
}

TEST_F(InputFileTest, TellsWhoWritesAFileThatIsMissing) {
  EXPECT_EQ(error_of(InputFile::open(path("in"))),
            "cannot open it: No such file or directory (perf record writes one)");
}

TEST_F(InputFileTest, TellsWhyItCannotOpenAFile) {
  EXPECT_EQ(error_of(InputFile::open(write("in", "") + "/file")),
            "cannot open it: Not a directory");
}

TEST_F(InputFileTest, RefusesADirectory) {
  EXPECT_THAT(error_of(InputFile::open(path(""))), HasSubstr("it is not a regular file"));
}

TEST_F(InputFileTest, RefusesADevice) {
  EXPECT_THAT(error_of(InputFile::open("/dev/null")), HasSubstr("it is not a regular file"));
}

TEST_F(InputFileTest, RefusesAFifoWithoutWaitingForItsWriter) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of(InputFile::open(path("fifo"))), HasSubstr("it is not a regular file"));
}

TEST_F(InputFileTest, KnowsItselfByEveryName) {
  const auto name = write("in", "same");
  write("twin", "same");
  fs::create_symlink("in", path("link"));
  fs::create_hard_link(name, path("hard"));
  const auto file = value_of(InputFile::open(name));
  EXPECT_TRUE(file.is_same_file(name));
  EXPECT_TRUE(file.is_same_file(path("link")));
  EXPECT_TRUE(file.is_same_file(path("hard")));
  EXPECT_FALSE(file.is_same_file(path("twin")));
  EXPECT_FALSE(file.is_same_file(path("missing")));
}

using ScratchFileTest = FileTest;

TEST_F(ScratchFileTest, GivesBackWhatWasAppended) {
  auto file = value_of(ScratchFile::create_beside(path("out")));
  EXPECT_EQ(value_of(file.append(bytes_of("01234"))), 0U);
  EXPECT_EQ(value_of(file.append({})), 5U);
  EXPECT_EQ(value_of(file.append(bytes_of("56789"))), 5U);
  std::vector<std::byte> into(6);
  EXPECT_TRUE(succeeds(file.read_at(3, into)));
  EXPECT_EQ(text_of(into), "345678");
}

TEST_F(ScratchFileTest, ReportsAReadBeyondTheEnd) {
  auto file = value_of(ScratchFile::create_beside(path("out")));
  value_of(file.append(bytes_of("01234")));
  std::vector<std::byte> into(6);
  EXPECT_EQ(error_of(file.read_at(0, into), Error::Kind::kOutput),
            "the scratch file beside the output became shorter");
}

TEST_F(ScratchFileTest, HasNoName) {
  auto file = value_of(ScratchFile::create_beside(path("out")));
  value_of(file.append(bytes_of("01234")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(ScratchFileTest, HasNoNameWhereEveryFileMustBeCreatedWithOne) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] {
    auto file = value_of(ScratchFile::create_beside(path("out")));
    EXPECT_EQ(value_of(file.append(bytes_of("01234"))), 0U);
    EXPECT_THAT(entries(), IsEmpty());
    std::vector<std::byte> into(5);
    EXPECT_TRUE(succeeds(file.read_at(0, into)));
    EXPECT_EQ(text_of(into), "01234");
  });
}

TEST_F(ScratchFileTest, IsInTheDirectoryOfItsNeighbour) {
  struct stat file_status {};
  struct stat directory_status {};
  const auto file = value_of(ScratchFile::create_beside(path("out")));
  ASSERT_EQ(::fstat(file.descriptor(), &file_status), 0);
  ASSERT_EQ(::stat(path("").c_str(), &directory_status), 0);
  EXPECT_EQ(file_status.st_dev, directory_status.st_dev);
}

TEST_F(ScratchFileTest, TellsInWhichDirectoryItCannotBe) {
  EXPECT_EQ(error_of(ScratchFile::create_beside(path("missing/out")), Error::Kind::kOutput),
            "cannot create a scratch file in '" + path("missing") + "': No such file or directory");
  EXPECT_EQ(error_of(ScratchFile::create_beside(write("file", "") + "/out"), Error::Kind::kOutput),
            "cannot create a scratch file in '" + path("file") + "': Not a directory");
}

TEST_F(ScratchFileTest, TellsWhyItCannotGrow) {
  auto file = value_of(ScratchFile::create_beside(path("out")));
  const FileSizeLimit limit(3);
  EXPECT_EQ(error_of(file.append(bytes_of("01234")), Error::Kind::kOutput),
            "cannot write a scratch file beside the output: File too large");
}

using OutputFileTest = FileTest;

TEST_F(OutputFileTest, AppearsWhenItIsPublishedAndNotBefore) {
  OutputFile file = create("out");
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_TRUE(succeeds(file.publish()));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
}

TEST_F(OutputFileTest, LeavesNothingWhenItIsNotPublished) {
  EXPECT_TRUE(succeeds(create("out").write_at(0, bytes_of("new"))));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(OutputFileTest, HasZerosWhereNothingWasWritten) {
  OutputFile file = create("out");
  EXPECT_TRUE(succeeds(file.write_at(5, bytes_of("end"))));
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("a"))));
  EXPECT_EQ(value_of(file.size()), 8U);
  EXPECT_TRUE(succeeds(file.publish()));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", std::string("a\0\0\0\0end", 8))));
}

TEST_F(OutputFileTest, ReadsBackWhatWasWritten) {
  OutputFile file = create("out");
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("0123456789"))));
  std::vector<std::byte> into(4);
  EXPECT_EQ(value_of(file.read_at(3, into)), 4U);
  EXPECT_EQ(text_of(into), "3456");
  EXPECT_EQ(value_of(file.read_at(8, into)), 2U);
}

TEST_F(OutputFileTest, CopiesFromAScratchFile) {
  auto scratch = value_of(ScratchFile::create_beside(path("out")));
  value_of(scratch.append(bytes_of("0123456789")));
  OutputFile file = create("out");
  EXPECT_TRUE(succeeds(file.copy_from(scratch, 2, 5, 3)));
  EXPECT_TRUE(succeeds(file.copy_from(scratch, 0, 0, 100)));
  EXPECT_TRUE(succeeds(file.publish()));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", std::string("\0\0\00023456", 8))));
}

TEST_F(OutputFileTest, CopiesByHandWhatTheKernelDoesNotCopy) {
  // More than one buffer of a MiB, and no whole number of them.
  std::string text(2'500'000, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  auto scratch = value_of(ScratchFile::create_beside(path("out")));
  value_of(scratch.append(bytes_of(text)));
  OutputFile file = create("out");
  for (const int error : {EXDEV, ENOSYS, EOPNOTSUPP}) {
    RUN_WITH_OR_SKIP({{SYS_copy_file_range, error}}, [&] {
      EXPECT_TRUE(succeeds(file.copy_from(scratch, 1, text.size() - 1, 3)));
    });
    std::vector<std::byte> copy(text.size());
    EXPECT_EQ(value_of(file.read_at(3, copy)), text.size() - 1);
    copy.pop_back();
    EXPECT_TRUE(text_of(copy) == text.substr(1));
  }
}

TEST_F(OutputFileTest, ReportsACopyOfMoreThanThereIs) {
  auto scratch = value_of(ScratchFile::create_beside(path("out")));
  value_of(scratch.append(bytes_of("0123456789")));
  OutputFile file = create("out");
  EXPECT_EQ(error_of(file.copy_from(scratch, 5, 6, 0), Error::Kind::kOutput),
            "the scratch file beside the output became shorter");
}

TEST_F(OutputFileTest, TellsWhyItCannotGrow) {
  OutputFile file = create("out");
  auto scratch = value_of(ScratchFile::create_beside(path("out")));
  value_of(scratch.append(bytes_of("0123456789")));
  const FileSizeLimit limit(7);
  EXPECT_EQ(error_of(file.write_at(0, bytes_of("0123456789")), Error::Kind::kOutput),
            "cannot write it: File too large");
  EXPECT_EQ(error_of(file.copy_from(scratch, 0, 10, 0), Error::Kind::kOutput),
            "cannot write it: File too large");
}

TEST_F(OutputFileTest, TellsWhyItCannotReadBack) {
  OutputFile file = create("out");
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
  RUN_WITH_OR_SKIP({{SYS_pread64, EIO}}, [&] {
    std::vector<std::byte> into(3);
    EXPECT_EQ(error_of(file.read_at(0, into), Error::Kind::kOutput),
              "cannot read it back: Input/output error");
  });
}

TEST_F(OutputFileTest, DoesNotReplaceAFile) {
  write("out", "old");
  EXPECT_EQ(create_error(path("out")), "it exists: use --force to replace it");
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "old")));
}

TEST_F(OutputFileTest, ReplacesAFileWhenItMayAndNotBeforeItIsPublished) {
  write("out", "old");
  OutputFile file = create("out", true);
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "old")));
  EXPECT_TRUE(succeeds(file.publish()));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
}

TEST_F(OutputFileTest, KeepsTheOldFileWhenItIsNotPublished) {
  write("out", "old");
  EXPECT_TRUE(succeeds(create("out", true).write_at(0, bytes_of("new"))));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "old")));
}

TEST_F(OutputFileTest, LeavesTheOldFilesBytesToItsOtherNamesAndReaders) {
  write("out", "old");
  fs::create_hard_link(path("out"), path("other"));
  const auto reader = value_of(InputFile::open(path("out")));
  publish("out", "new", true);
  EXPECT_THAT(entries(), ElementsAre(Pair("other", "old"), Pair("out", "new")));
  EXPECT_EQ(text_of(value_of(reader.read_exactly(0, 3, "it"))), "old");
}

TEST_F(OutputFileTest, MayReplaceWhereNothingIs) {
  publish("out", "new", true);
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
}

TEST_F(OutputFileTest, DoesNotReplaceAFileThatAppearedMeanwhile) {
  OutputFile file = create("out");
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
  write("out", "theirs");
  EXPECT_EQ(publish_error(file), "it exists: use --force to replace it");
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "theirs")));
}

TEST_F(OutputFileTest, ReplacesAFileThatAppearedMeanwhileWhenItMay) {
  OutputFile file = create("out", true);
  EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
  write("out", "theirs");
  EXPECT_TRUE(succeeds(file.publish()));
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
}

TEST_F(OutputFileTest, LeavesNothingWhenADirectoryAppearedMeanwhile) {
  OutputFile file = create("out", true);
  fs::create_directory(path("out"));
  EXPECT_EQ(publish_error(file), "cannot write it: Is a directory");
  // Until the end it has a name of its own.
  { const OutputFile gone = std::move(file); }
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "no regular file")));
}

TEST_F(OutputFileTest, TellsThatItsDirectoryIsGone) {
  fs::create_directory(path("sub"));
  for (const bool overwrite : {false, true}) {
    fs::create_directory(path("sub"));
    OutputFile file = create("sub/out", overwrite);
    fs::remove(path("sub"));
    EXPECT_EQ(publish_error(file), "cannot write it: No such file or directory");
  }
}

TEST_F(OutputFileTest, ReplacesWhatASymbolicLinkLeadsTo) {
  fs::create_directory(path("sub"));
  write("sub/target", "old");
  fs::create_symlink("sub/target", path("relative"));
  fs::create_symlink(path("relative"), path("absolute"));
  EXPECT_EQ(create_error(path("absolute")), "it exists: use --force to replace it");
  publish("absolute", "new", true);
  EXPECT_THAT(entries(),
              ElementsAre(Pair("absolute", "-> " + path("relative")),
                          Pair("relative", "-> sub/target"), Pair("sub", "no regular file")));
  EXPECT_EQ(text_of(perf2dat::testing::read_file(path("sub/target"))), "new");
}

TEST_F(OutputFileTest, MakesWhatASymbolicLinkLeadsToWhenItIsMissing) {
  for (const bool overwrite : {false, true}) {
    fs::create_symlink("target", path("link"));
    publish("link", "new", overwrite);
    EXPECT_THAT(entries(), ElementsAre(Pair("link", "-> target"), Pair("target", "new")));
    fs::remove(path("link"));
    fs::remove(path("target"));
  }
}

TEST_F(OutputFileTest, RefusesSymbolicLinksThatLeadNowhere) {
  fs::create_symlink("two", path("one"));
  fs::create_symlink("one", path("two"));
  fs::create_symlink("missing/target", path("three"));
  for (const bool overwrite : {false, true}) {
    EXPECT_EQ(create_error(path("one"), overwrite),
              "cannot write it: Too many levels of symbolic links");
    EXPECT_EQ(create_error(path("three"), overwrite), "cannot write it: No such file or directory");
  }
}

TEST_F(OutputFileTest, NeverReplacesWhatIsNoRegularFile) {
  fs::create_directory(path("directory"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("directory", path("link"));
  fs::create_symlink("/dev/null", path("null"));
  const auto before = entries();
  for (const bool overwrite : {false, true}) {
    for (const auto& name : {path("directory"), path("fifo"), path("link"), path("null"),
                             std::string("/dev/null"), std::string("/")}) {
      EXPECT_EQ(create_error(name, overwrite),
                "it exists and is not a regular file: name another output");
    }
  }
  EXPECT_EQ(entries(), before);
}

TEST_F(OutputFileTest, NeverReplacesAPipe) {
  // What /dev/stdout leads to is one, when the command's output is read by another.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  EXPECT_EQ(create_error(fmt::format("/proc/self/fd/{}", writing.get()), true),
            "it exists and is not a regular file: name another output");
}

TEST_F(OutputFileTest, TellsThatTheDirectoryIsMissing) {
  EXPECT_EQ(create_error(path("missing/out")), "cannot write it: No such file or directory");
  EXPECT_EQ(create_error(path("missing/out"), true), "cannot write it: No such file or directory");
}

TEST_F(OutputFileTest, TellsThatAPartOfThePathIsNoDirectory) {
  EXPECT_EQ(create_error(write("file", "") + "/out"), "cannot write it: Not a directory");
  EXPECT_EQ(create_error(path("file/out"), true), "cannot write it: Not a directory");
}

TEST_F(OutputFileTest, TellsAtOnceThatTheNameIsTooLong) {
  EXPECT_EQ(create_error(path(std::string(300, 'x'))), "cannot write it: File name too long");
  EXPECT_EQ(create_error(path(std::string(300, 'x')), true), "cannot write it: File name too long");
}

TEST_F(OutputFileTest, TellsAtOnceThatThereIsNoName) {
  EXPECT_EQ(create_error(""), "cannot write it: No such file or directory");
}

TEST_F(OutputFileTest, TellsThatTheDirectoryTakesNoFiles) {
  // Not even root may create files there.
  EXPECT_THAT(create_error("/proc/perf2dat-out"), HasSubstr("cannot write it: "));
  EXPECT_THAT(create_error("/proc/perf2dat-out", true), HasSubstr("cannot write it: "));
}

TEST_F(OutputFileTest, TellsThatItMayNotWriteIntoTheDirectory) {
  for (const FailingCall& call :
       {FailingCall{SYS_openat, EACCES, O_TMPFILE}, FailingCall{SYS_openat, EROFS, O_TMPFILE}}) {
    RUN_WITH_OR_SKIP({call}, [&] {
      EXPECT_EQ(create_error(path("out")), call.error == EROFS
                                               ? "cannot write it: Read-only file system"
                                               : "cannot write it: Permission denied");
    });
  }
}

TEST_F(OutputFileTest, TakesTheLongestNameThereIs) {
  const std::string name(255, 'x');
  publish(name, "old");
  publish(name, "new", true);
  EXPECT_THAT(entries(), ElementsAre(Pair(name, "new")));
}

TEST_F(OutputFileTest, IsInTheCurrentDirectoryWhenThePathHasNone) {
  const auto before = fs::current_path();
  fs::current_path(path(""));
  for (const bool overwrite : {false, true}) {
    OutputFile file = value_of(OutputFile::create("out", overwrite));
    EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
    EXPECT_TRUE(succeeds(file.publish()));
  }
  EXPECT_TRUE(ScratchFile::create_beside("out"));
  fs::current_path(before);
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
}

TEST_F(OutputFileTest, MayBeReadByWhomTheUmaskLets) {
  const mode_t before = ::umask(0027);
  publish("out", "new");
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] { publish("named", "new"); });
  ::umask(before);
  for (const auto& name : {path("out"), path("named")}) {
    struct stat status {};
    ASSERT_EQ(::stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0640U);
  }
}

/// A file that is replaced, with few who may read it.
class ReplacedFile : public OutputFileTest {
 protected:
  struct stat status() const {
    struct stat status {};
    EXPECT_EQ(::stat(path("out").c_str(), &status), 0);
    return status;
  }
  mode_t mode() const { return status().st_mode & 07777U; }
  void write_old(mode_t mode) const {
    fs::remove(path("out"));
    write("out", "old");
    EXPECT_EQ(::chmod(path("out").c_str(), mode), 0);
  }
  /// To one that this process is not in; false: that takes privileges.
  bool give_to_a_group() const {
    return ::chown(path("out").c_str(), static_cast<uid_t>(-1), kGroup) == 0;
  }

  static constexpr gid_t kGroup = 12345;
};

TEST_F(ReplacedFile, MayBeReadByWhomTheOldOneLet) {
  const mode_t before = ::umask(0);
  for (const mode_t mode : {0600U, 0640U, 0604U, 0666U, 0755U, 06755U}) {
    write_old(mode);
    publish("out", "new", true);
    EXPECT_EQ(this->mode(), mode & 0777U);
    write_old(mode);
    RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] { publish("out", "new", true); });
    EXPECT_EQ(this->mode(), mode & 0777U);
  }
  ::umask(before);
}

TEST_F(ReplacedFile, IsKeptFromOthersWhileItIsWritten) {
  const mode_t before = ::umask(0);
  write_old(0600);
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] {
    const OutputFile file = create("out", true);
    for (const auto& [name, text] : entries()) {
      EXPECT_EQ(fs::status(path(name)).permissions(), static_cast<fs::perms>(0600)) << name;
    }
  });
  ::umask(before);
}

TEST_F(ReplacedFile, KeepsItsGroup) {
  write_old(0640);
  if (!give_to_a_group()) GTEST_SKIP() << "only a privileged user may give a file away";
  publish("out", "new", true);
  EXPECT_EQ(status().st_gid, kGroup);
  EXPECT_EQ(mode(), 0640U);
}

TEST_F(ReplacedFile, IsItsOwnersAloneWhereItsGroupCannotBeKept) {
  write_old(0644);
  if (!give_to_a_group()) GTEST_SKIP() << "only a privileged user may give a file away";
  RUN_WITH_OR_SKIP({{SYS_fchown, EPERM}}, [&] { publish("out", "new", true); });
  EXPECT_NE(status().st_gid, kGroup);
  EXPECT_EQ(mode(), 0600U);
}

// There the bits of the group are the most that anyone on the list may do.
TEST_F(ReplacedFile, IsItsOwnersAloneWhereAListTellsWhoMayReadIt) {
  write_old(0600);
  ByteWriter list(ByteOrder::kLittle);
  list.u32(2);  // the version; then tags, permissions and ids
  list.u16(1).u16(6).u32(~0U).u16(2).u16(6).u32(1234).u16(4).u16(0).u32(~0U);
  list.u16(0x10).u16(6).u32(~0U).u16(0x20).u16(0).u32(~0U);
  const auto& bytes = list.data();
  if (::setxattr(path("out").c_str(), "system.posix_acl_access", bytes.data(), bytes.size(), 0) !=
      0) {
    GTEST_SKIP() << "the file system has no access lists";
  }
  EXPECT_EQ(mode(), 0660U);
  publish("out", "new", true);
  EXPECT_EQ(mode(), 0600U);
}

TEST_F(ReplacedFile, StaysWhereTheNewOneCannotBeKeptFromOthers) {
  write_old(0600);
  RUN_WITH_OR_SKIP({{SYS_fchmod, EPERM}}, [&] {
    OutputFile file = create("out", true);
    EXPECT_EQ(publish_error(file), "cannot write it: Operation not permitted");
  });
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "old")));
}

TEST_F(OutputFileTest, AppearsWholeWhereEveryFileMustBeCreatedWithAName) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] {
    OutputFile file = create("out");
    EXPECT_TRUE(succeeds(file.write_at(0, bytes_of("new"))));
    EXPECT_THAT(entries(), ElementsAre(Pair(HasSubstr(".perf2dat."), "new")));
    EXPECT_TRUE(succeeds(file.publish()));
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
    publish("out", "newer", true);
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "newer")));
  });
}

TEST_F(OutputFileTest, LeavesNothingWhereEveryFileMustBeCreatedWithAName) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] {
    EXPECT_TRUE(succeeds(create("out").write_at(0, bytes_of("new"))));
    EXPECT_THAT(entries(), IsEmpty());
    EXPECT_EQ(create_error(path("missing/out")), "cannot write it: No such file or directory");
  });
}

TEST_F(OutputFileTest, ReplacesNothingWhereEveryFileMustBeCreatedWithAName) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles}, [&] {
    {
      OutputFile file = create("out");
      write("out", "theirs");
      EXPECT_EQ(publish_error(file), "it exists: use --force to replace it");
    }
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "theirs")));
  });
}

TEST_F(OutputFileTest, AppearsOnAFileSystemWithoutLinks) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles, kNoLinks}, [&] {
    publish("out", "new");
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "new")));
    publish("out", "newer", true);
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "newer")));
    OutputFile file = create("two");
    write("two", "theirs");
    EXPECT_EQ(publish_error(file), "it exists: use --force to replace it");
  });
  EXPECT_THAT(entries(), ElementsAre(Pair("out", "newer"), Pair("two", "theirs")));
}

TEST_F(OutputFileTest, AppearsOnAFileSystemWhoseRenameAlwaysReplaces) {
  RUN_WITH_OR_SKIP({kNoUnnamedFiles, kNoRenameThatKeeps}, [&] {
    publish("out", "new");
    {
      OutputFile file = create("two");
      write("two", "theirs");
      EXPECT_EQ(publish_error(file), "it exists: use --force to replace it");
    }
    EXPECT_THAT(entries(), ElementsAre(Pair("out", "new"), Pair("two", "theirs")));
  });
}

TEST_F(OutputFileTest, LeavesNothingWhenItCannotGetItsName) {
  write("old", "old");
  for (const auto& calls :
       {std::vector{kNoLinks}, std::vector{kNoUnnamedFiles, kNoLinks, kNoRenameThatKeeps}}) {
    RUN_WITH_OR_SKIP(calls, [&] {
      OutputFile file = create("out");
      EXPECT_EQ(publish_error(file), "cannot write it: Operation not permitted");
    });
    EXPECT_THAT(entries(), ElementsAre(Pair("old", "old")));
  }
  RUN_WITH_OR_SKIP({kNoLinks}, [&] {
    OutputFile file = create("old", true);
    EXPECT_EQ(publish_error(file), "cannot write it: Operation not permitted");
  });
  EXPECT_THAT(entries(), ElementsAre(Pair("old", "old")));
}

}  // namespace
}  // namespace perf2dat
