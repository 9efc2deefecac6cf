// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/recording.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

namespace fs = std::filesystem;

using perf2dat::testing::AttrSpec;
using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::FileSizeLimit;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::order_name;
using perf2dat::testing::PerfDataBuilder;
using perf2dat::testing::ResourceLimit;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using perf2dat::testing::write_file;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Bytes = std::vector<std::byte>;

constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
constexpr std::uint32_t kMarker = 65000;  // below the types that end an open stream
constexpr std::size_t kDataSizeAt = 48;   // in the header of a file

/// Writes the bytes into a descriptor of a pipe from another thread.
class Writer {
 public:
  Writer(std::string path, Bytes bytes, std::size_t piece)
      : thread_([path = std::move(path), bytes = std::move(bytes), piece] {
          // Waits for the reader.
          const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
          write_all(fd.get(), bytes, piece);
        }) {}
  Writer(FileDescriptor fd, Bytes bytes, std::size_t piece)
      : thread_([fd = std::move(fd), bytes = std::move(bytes), piece] {
          write_all(fd.get(), bytes, piece);
        }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { thread_.join(); }

 private:
  static void write_all(int fd, const Bytes& bytes, std::size_t piece) {
    // A reader that gives up is no reason to end.
    std::signal(SIGPIPE, SIG_IGN);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t size = std::min(piece, bytes.size() - at);
      if (::write(fd, bytes.data() + at, size) != static_cast<ssize_t>(size)) return;
    }
  }

  std::thread thread_;
};

/// Puts a descriptor in the place of standard input.
class StandardInput {
 public:
  explicit StandardInput(const FileDescriptor& fd) : before_(::dup(STDIN_FILENO)) {
    ::dup2(fd.get(), STDIN_FILENO);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    if (before_.valid()) {
      ::dup2(before_.get(), STDIN_FILENO);
    } else {
      ::close(STDIN_FILENO);
    }
  }

 private:
  FileDescriptor before_;
};

Bytes first(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

Bytes joined(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

Bytes text_bytes(std::string_view text) { return ByteWriter(ByteOrder::kLittle).text(text).take(); }

class OpenRecording : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  ByteWriter writer() const { return ByteWriter(order()); }
  std::string path(std::string_view name) const { return directory_.path(name); }
  OpenOptions options(std::string tracing_dir = {}) const {
    return {std::move(tracing_dir), path("output")};
  }

  static TracingData tracing() {
    TracingData data;
    data.header_page = kHeaderPage;
    data.systems = {{"sched", {"name: sched_switch\n"}}};
    return data;
  }

  /// A recording that tells all about itself, without records.
  PerfDataBuilder described() const {
    TracingData data = tracing();
    data.order = order();
    AttrSpec attr;
    attr.config = 314;
    attr.ids = {5, 6};
    attr.name = "sched:sched_switch";
    PerfDataBuilder made(order());
    made.add_attr(attr)
        .set_tracing(data)
        .set_text_feature(Feature::kHostname, "box")
        .set_text_feature(Feature::kOsRelease, "6.1")
        .set_text_feature(Feature::kArch, "s390x")
        .set_cpus(3)
        .set_feature(Feature::kSampleTime, writer().u64(10).u64(20).take());
    return made;
  }

  /// Records that are told apart by the number in them, some of them long.
  void add_records(PerfDataBuilder& made, std::uint64_t from, std::uint64_t to) const {
    for (std::uint64_t i = from; i < to; ++i) {
      made.add_record(kMarker, 0, writer().u64(i).zeros(i % 10 == 9 ? 3000 : i % 5 * 8).take());
    }
  }
  PerfDataBuilder with_records(std::uint64_t from, std::uint64_t to) const {
    PerfDataBuilder made = described();
    add_records(made, from, to);
    return made;
  }

  Expected<Recording> open(const std::string& name, const std::string& tracing_dir = {}) const {
    return Recording::open(path(name), options(tracing_dir));
  }
  Recording open_bytes(const Bytes& bytes) const {
    directory_.write("recording", bytes);
    return value_of(open("recording"));
  }

  /// The numbers of all records.
  Expected<std::vector<std::uint64_t>> read(Recording& recording) const {
    std::vector<std::uint64_t> found;
    Record record{};
    std::uint64_t position = recording.position();
    for (;;) {
      P2D_ASSIGN(const bool more, recording.next(record));
      EXPECT_GE(recording.position(), position);
      position = recording.position();
      if (recording.size() != 0) {
        EXPECT_LE(position, recording.size());
      }
      if (!more) return found;
      EXPECT_EQ(static_cast<std::uint32_t>(record.type), kMarker);
      found.push_back(load<std::uint64_t>(record.body.data(), order()));
    }
  }
  static std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = from; i < to; ++i) all.push_back(i);
    return all;
  }

  void expect_described(const Recording& recording) const {
    const Description& found = recording.description();
    EXPECT_EQ(recording.order(), order());
    EXPECT_EQ(found.order, order());
    EXPECT_EQ(found.hostname, "box");
    EXPECT_EQ(found.os_release, "6.1");
    EXPECT_EQ(found.arch, "s390x");
    EXPECT_EQ(found.cpus_available, 3U);
    ASSERT_TRUE(found.sample_time);
    EXPECT_EQ(found.sample_time->first, 10U);
    EXPECT_EQ(found.sample_time->last, 20U);
    ASSERT_TRUE(found.tracing);
    EXPECT_EQ(found.tracing->header_page, kHeaderPage);
    EXPECT_EQ(found.tracing->order, order());
    ASSERT_EQ(found.attrs.size(), 1U);
    EXPECT_EQ(found.attrs[0].config, 314U);
    EXPECT_EQ(found.attrs[0].name, "sched:sched_switch");
    EXPECT_THAT(found.attrs[0].ids, ElementsAre(5U, 6U));
  }
  void expect_all(Recording& recording, std::uint64_t to) const {
    EXPECT_EQ(value_of(read(recording)), numbers(0, to));
    expect_described(recording);
    EXPECT_THAT(recording.warnings(), IsEmpty());
    if (recording.size() != 0) {
      EXPECT_EQ(recording.position(), recording.size());
    }
  }

  std::string make_tracing_dir() const {
    const auto put = [&](const std::string& name, std::string_view text) {
      const fs::path to = path("tracing/" + name);
      fs::create_directories(to.parent_path());
      write_file(to.string(), std::as_bytes(std::span(text)));
    };
    put("events/header_page", kHeaderPage);
    put("events/header_event", "x");
    put("events/irq/irq_entry/format", "name: irq_entry\n");
    return path("tracing");
  }

  /// A finished recording as it is when perf is killed: no features, no size of the data.
  Bytes unfinished(std::uint64_t records) const {
    PerfDataBuilder made(order());
    made.add_attr(AttrSpec()).leave_out_event_names();
    add_records(made, 0, records);
    Bytes bytes = made.build();
    store(bytes.data() + kDataSizeAt, std::uint64_t{0}, order());
    return bytes;
  }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Orders, OpenRecording, both_orders(), order_name);

TEST_P(OpenRecording, ReadsAFileWhoseDescriptionIsThereFromTheBeginning) {
  Recording recording = open_bytes(with_records(0, 100).build());
  expect_described(recording);
  const unsigned generation = recording.generation();
  EXPECT_EQ(recording.position(), 0U);
  EXPECT_GT(recording.size(), 0U);
  expect_all(recording, 100);
  EXPECT_EQ(recording.generation(), generation);
}

TEST_P(OpenRecording, GoesOnToGiveNoneAfterTheLastRecord) {
  Recording recording = open_bytes(with_records(0, 2).build());
  expect_all(recording, 2);
  Record record{};
  EXPECT_FALSE(value_of(recording.next(record)));
}

TEST_P(OpenRecording, TellsTheSizeOfAFilesData) {
  PerfDataBuilder made = described();
  made.add_record(kMarker, 0, writer().u64(0).take())
      .add_record(kMarker, 0, writer().u64(1).take());
  Recording recording = open_bytes(made.build());
  EXPECT_EQ(recording.size(), 32U);
  Record record{};
  ASSERT_TRUE(value_of(recording.next(record)));
  EXPECT_EQ(recording.position(), 16U);
}

TEST_P(OpenRecording, ReadsAFileWithAHeaderOf72BytesWithoutFeatures) {
  PerfDataBuilder made = with_records(0, 10);
  Bytes bytes = made.build();
  store(bytes.data() + 8, std::uint64_t{72}, order());
  Recording recording = open_bytes(bytes);
  EXPECT_EQ(value_of(read(recording)), numbers(0, 10));
  EXPECT_EQ(recording.description().attrs.at(0).config, 314U);
  EXPECT_FALSE(recording.description().tracing);
  EXPECT_EQ(recording.description().hostname, "");
}

TEST_P(OpenRecording, ReadsAStreamInAFileWithEitherRecordOfTheFormats) {
  for (const std::size_t record_size : {std::size_t{12}, std::size_t{16}}) {
    const Bytes bytes = with_records(0, 100).build_stream(record_size);
    Recording recording = open_bytes(bytes);
    EXPECT_EQ(recording.size(), bytes.size());
    EXPECT_TRUE(recording.description().attrs.empty());
    expect_all(recording, 100);
  }
}

TEST_P(OpenRecording, CountsTheChangesOfTheDescriptionInAStream) {
  PerfDataBuilder made = with_records(0, 1);
  made.add_record(78, 0, writer().u64(2).u64(6).c_string("renamed").take());
  add_records(made, 1, 2);
  made.add_record(69, 0, writer().u64(1).u64(6).zeros(24).u64(77).u64(0).take());
  add_records(made, 2, 4);
  Recording recording = open_bytes(made.build_stream());
  EXPECT_EQ(recording.generation(), 1U);
  Record record{};
  ASSERT_TRUE(value_of(recording.next(record)));
  expect_described(recording);
  // The event, six features with that of the names, and the formats.
  const unsigned before = recording.generation();
  EXPECT_EQ(before, 1U + 1 + 6 + 1);
  ASSERT_TRUE(value_of(recording.next(record)));
  EXPECT_EQ(recording.generation(), before + 1);
  EXPECT_EQ(recording.description().attrs.at(0).name, "renamed");
  EXPECT_THAT(recording.description().guest_ids, IsEmpty());
  ASSERT_TRUE(value_of(recording.next(record)));
  EXPECT_EQ(recording.generation(), before + 2);
  EXPECT_THAT(recording.description().guest_ids, UnorderedElementsAre(6U));
  ASSERT_TRUE(value_of(recording.next(record)));
  EXPECT_EQ(recording.generation(), before + 2);
}

TEST_P(OpenRecording, TakesRecordsThatDescribeAlsoInAFile) {
  PerfDataBuilder made = described();
  made.add_record(69, 0, writer().u64(1).u64(6).zeros(24).u64(77).u64(0).take());
  Recording recording = open_bytes(made.build());
  Record record{};
  EXPECT_FALSE(value_of(recording.next(record)));
  EXPECT_THAT(recording.description().guest_ids, UnorderedElementsAre(6U));
  EXPECT_GT(recording.generation(), 1U);
}

TEST_P(OpenRecording, RefusesRecordsThatDescribeNothing) {
  for (const std::uint32_t type : {64U, 66U, 69U, 78U, 80U}) {
    Recording recording = open_bytes(described().add_record(type, 0, {}).build_stream());
    Record record{};
    EXPECT_THAT(error_of(recording.next(record)), HasSubstr("0x")) << type;
  }
}

TEST_P(OpenRecording, RefusesFormatsThatAreLongerThanTheStream) {
  for (const std::uint32_t size : {9U, 0x7fffffffU, 0xffffffffU}) {
    PerfDataBuilder made(order());
    made.add_record(66, 0, writer().u32(size).u32(0).take()).add_bytes(Bytes(8));
    Recording recording = open_bytes(made.build_stream());
    Record record{};
    EXPECT_THAT(error_of(recording.next(record)),
                HasSubstr(fmt::format("{} bytes expected at offset 0x", size)));
  }
}

TEST_P(OpenRecording, ReadsAStreamFromAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20U}) {
    const Bytes bytes = with_records(0, 100).build_stream();
    const Writer writing(path("fifo"), bytes, piece);
    Recording recording = value_of(open("fifo"));
    EXPECT_EQ(recording.size(), 0U);
    expect_all(recording, 100);
    EXPECT_EQ(recording.position(), bytes.size() - 16);
    EXPECT_FALSE(recording.is_same_file(path("fifo")));
  }
}

TEST_P(OpenRecording, ReadsAFilesBytesFromAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  // The second has more than the buffer for what comes out of a pipe.
  for (const std::uint64_t count : {100UL, 8000UL}) {
    const Writer writing(path("fifo"), with_records(0, count).build(), 100'000);
    Recording recording = value_of(open("fifo"));
    expect_described(recording);
    EXPECT_GT(recording.size(), 0U);
    expect_all(recording, count);
  }
  EXPECT_THAT(directory_.entries(), ElementsAre(std::pair("fifo", "no regular file")));
}

TEST_P(OpenRecording, SaysThatThereIsNoRoomForAFilesBytesFromAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const Writer writing(path("fifo"), with_records(0, 2000).build(), 100'000);
  const FileSizeLimit limit(10'000);
  EXPECT_THAT(error_of(open("fifo"), Error::Kind::kOutput), HasSubstr("scratch file"));
}

TEST_P(OpenRecording, ReadsStandardInputOfEitherKind) {
  for (const Bytes& bytes : {with_records(0, 100).build(), with_records(0, 100).build_stream()}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const Writer writing(FileDescriptor(ends[1]), bytes, 777);
    FileDescriptor reader(ends[0]);
    const StandardInput input(reader);
    reader.reset();
    Recording recording = value_of(Recording::open("-", options()));
    expect_all(recording, 100);
  }
}

TEST_P(OpenRecording, ReadsAFileAsStandardInput) {
  for (const Bytes& bytes : {with_records(0, 100).build(), with_records(0, 100).build_stream()}) {
    const auto name = directory_.write("recording", bytes);
    const StandardInput input(value_of(open_for_reading(name)));
    Recording recording = value_of(Recording::open("-", options()));
    EXPECT_TRUE(recording.is_same_file(name));
    expect_all(recording, 100);
  }
}

TEST_P(OpenRecording, SaysThatStandardInputIsClosed) {
  const FileDescriptor before(::dup(STDIN_FILENO));
  ::close(STDIN_FILENO);
  EXPECT_THAT(error_of(Recording::open("-", options())), HasSubstr("no standard input"));
  ::dup2(before.get(), STDIN_FILENO);
}

TEST_P(OpenRecording, RefusesAFifoThatEndsInsideTheHeader) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  {
    const Writer writing(path("fifo"), {}, 1);
    EXPECT_THAT(error_of(open("fifo")), HasSubstr("it is empty"));
  }
  for (const std::size_t size : {std::size_t{5}, std::size_t{15}, std::size_t{100}}) {
    const Writer writing(path("fifo"), first(described().build(), size), 1000);
    EXPECT_THAT(error_of(open("fifo")), HasSubstr("inside the header")) << size;
  }
}

TEST_P(OpenRecording, SaysThatThereIsNoSuchFile) {
  EXPECT_THAT(error_of(open("nothing")), HasSubstr("cannot open it: No such file"));
}

TEST_P(OpenRecording, TellsWhetherAPathIsItsFile) {
  for (const Bytes& bytes : {with_records(0, 1).build(), with_records(0, 1).build_stream()}) {
    const Recording recording = open_bytes(bytes);
    EXPECT_TRUE(recording.is_same_file(path("recording")));
    fs::create_hard_link(path("recording"), path("link"));
    EXPECT_TRUE(recording.is_same_file(path("link")));
    fs::remove(path("link"));
    directory_.write("other", bytes);
    EXPECT_FALSE(recording.is_same_file(path("other")));
    EXPECT_FALSE(recording.is_same_file(path("nothing")));
  }
}

/// A folder as perf record --threads writes it.
class OpenFolder : public OpenRecording {
 protected:
  void SetUp() override { fs::create_directories(path("folder")); }

  /// A data file of one thread: records, and nothing before them.
  void write_part(const std::string& name, PerfDataBuilder records) const {
    const Bytes bytes = records.leave_out_event_names().build_stream();
    write_bytes(name, {bytes.begin() + kPipeHeaderSize, bytes.end()});
  }
  void write_part(const std::string& name, std::uint64_t from, std::uint64_t to) const {
    PerfDataBuilder made(order());
    add_records(made, from, to);
    write_part(name, made);
  }
  void write_bytes(const std::string& name, const Bytes& bytes) const {
    write_file(path("folder/" + name), bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, OpenFolder, both_orders(), order_name);

TEST_P(OpenFolder, ReadsTheDataOfAllThreadsByNumber) {
  write_bytes("data", with_records(0, 10).build());
  for (std::uint64_t i = 0; i < 12; ++i) {
    write_part(fmt::format("data.{}", i), 10 + i * 5, 15 + i * 5);
  }
  write_bytes("other", text_bytes("no data"));
  for (const std::string name : {"folder", "folder/"}) {
    Recording recording = value_of(open(name));
    expect_described(recording);
    expect_all(recording, 70);
    EXPECT_TRUE(recording.is_same_file(path("folder/data")));
    EXPECT_TRUE(recording.is_same_file(path("folder/data.11")));
    EXPECT_FALSE(recording.is_same_file(path("folder/other")));
  }
}

TEST_P(OpenFolder, TellsTheSizeOfAllDataAndThePlaceInIt) {
  PerfDataBuilder made = described();
  made.add_record(kMarker, 0, writer().u64(0).take());
  write_bytes("data", made.build());
  const Bytes one = writer().u32(kMarker).u16(0).u16(16).u64(1).take();
  write_bytes("data.0", one);
  write_bytes("data.1", joined(one, one));
  Recording recording = value_of(open("folder"));
  EXPECT_EQ(recording.size(), 64U);
  Record record{};
  for (const std::uint64_t position : {16U, 32U, 48U, 64U}) {
    ASSERT_TRUE(value_of(recording.next(record)));
    EXPECT_EQ(recording.position(), position);
  }
  EXPECT_FALSE(value_of(recording.next(record)));
  EXPECT_EQ(recording.position(), 64U);
}

TEST_P(OpenFolder, ReadsEmptyDataOfThreads) {
  write_bytes("data", with_records(0, 3).build());
  write_bytes("data.0", {});
  write_part("data.1", 3, 6);
  write_bytes("data.2", {});
  Recording recording = value_of(open("folder"));
  expect_all(recording, 6);
}

TEST_P(OpenFolder, WarnsOfAFileOfAThreadThatIsMissing) {
  write_bytes("data", with_records(0, 3).build());
  write_part("data.0", 3, 6);
  EXPECT_THAT(value_of(open("folder")).warnings(), IsEmpty());
  write_part("data.2", 6, 9);
  Recording recording = value_of(open("folder"));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 9));
  EXPECT_THAT(recording.warnings(), ElementsAre(HasSubstr("there is no data.1")));
}

TEST_P(OpenFolder, ReadsOneStreamOfZstdForEachThread) {
  write_bytes("data", with_records(0, 30).compress(RecordType::kCompressed, 1000).build());
  for (std::uint64_t i = 0; i < 2; ++i) {
    PerfDataBuilder made(order());
    add_records(made, 30 + i * 30, 60 + i * 30);
    write_part(fmt::format("data.{}", i), made.compress(RecordType::kCompressed2, 100));
  }
  Recording recording = value_of(open("folder"));
  expect_all(recording, 90);
}

// A few bytes could become any number of events to remember; and bytes that follow a record, or a
// compressed record in a compressed one, would be lost.
TEST_P(OpenRecording, RefusesRecordsOfPerfsOwnInACompressedOne) {
  constexpr std::uint32_t kFinishedRound = 68;
  for (std::uint32_t type = 63; type < 90; ++type) {
    for (const RecordType compressed : {RecordType::kCompressed, RecordType::kCompressed2}) {
      PerfDataBuilder made = described();
      add_records(made, 0, 2);
      made.add_record(type, 0, Bytes(64)).compress(compressed);
      Recording recording = open_bytes(made.build_stream());
      if (type < 64 || type == kFinishedRound || type > 83) {
        Record record{};
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(value_of(recording.next(record))) << type;
      } else {
        EXPECT_THAT(error_of(read(recording)),
                    HasSubstr(fmt::format("a record of type {} is in the compressed one", type)));
      }
    }
  }
}

TEST_P(OpenFolder, NeedsMemoryForOneThreadsDataOnly) {
  constexpr std::uint64_t kRecords = 60'000;
  constexpr std::uint64_t kThreads = 24;
  write_bytes("data", with_records(0, 1).build());
  ByteWriter records(order());
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    records.u32(kMarker).u16(0).u16(64).u64(i).zeros(48);
  }
  write_bytes("data.0", records.take());
  for (std::uint64_t i = 1; i < kThreads; ++i) {
    fs::create_symlink("data.0", path(fmt::format("folder/data.{}", i)));
  }
  const MemoryLimit limit(24U << 20U);
  Recording recording = value_of(open("folder"));
  Record record{};
  std::uint64_t read = 0;
  while (value_of(recording.next(record))) ++read;
  EXPECT_EQ(read, 1 + kThreads * kRecords);
}

TEST_P(OpenFolder, RefusesDataOfAThreadThatEndsInsideARecord) {
  write_bytes("data", with_records(0, 1).build());
  write_part("data.0", 1, 2);
  write_bytes("data.1", writer().u32(kMarker).u16(0).u16(16).u32(1).take());
  Recording recording = value_of(open("folder"));
  EXPECT_THAT(error_of(read(recording)),
              AllOf(StartsWith("data.1: "), HasSubstr("beyond the data's end 0xc")));
}

// Many machines allow a process 1024 open files, and have more processors than that.
TEST_P(OpenFolder, ReadsMoreFilesThanMayBeOpen) {
  constexpr std::uint64_t kThreads = 64;
  write_bytes("data", with_records(0, 1).build());
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    write_part(fmt::format("data.{}", i), 1 + i * 5, 6 + i * 5);
  }
  const FileDescriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const ResourceLimit limit(RLIMIT_NOFILE, static_cast<std::uint64_t>(next.get()) + 4);
  Recording recording = value_of(open("folder"));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 1 + kThreads * 5));
}

TEST_P(OpenFolder, TellsWhichFileIsNotReadable) {
  write_bytes("data", with_records(0, 1).build());
  write_part("data.0", 1, 2);
  write_part("data.1", 2, 3);
  Recording recording = value_of(open("folder"));
  fs::remove(path("folder/data.1"));
  EXPECT_THAT(error_of(read(recording)), StartsWith("data.1: cannot open it: No such file"));
}

TEST_P(OpenFolder, TellsWhichFileIsDamaged) {
  write_bytes("data", text_bytes("PERFILE?"));
  EXPECT_THAT(error_of(open("folder")), StartsWith("data: "));
  write_bytes("data", with_records(0, 1).build());
  write_bytes("data.0", writer().u32(kMarker).u16(0).u16(0).u64(0).take());
  Recording recording = value_of(open("folder"));
  EXPECT_THAT(error_of(read(recording)), StartsWith("data.0: "));
}

TEST_P(OpenFolder, WithoutDataIsAnError) {
  EXPECT_THAT(error_of(open("folder")), HasSubstr("cannot open it"));
  write_bytes("data", {});
  EXPECT_THAT(error_of(open("folder")), HasSubstr("it is empty"));
}

TEST_P(OpenFolder, RefusesDataOfAThreadThatIsNoFile) {
  write_bytes("data", with_records(0, 1).build());
  fs::create_directories(path("folder/data.0"));
  EXPECT_THAT(error_of(open("folder")), StartsWith("data.0: it is not a regular file"));
}

class OpenUnfinished : public OpenRecording {};

INSTANTIATE_TEST_SUITE_P(Orders, OpenUnfinished, both_orders(), order_name);

TEST_P(OpenUnfinished, AsksForTheFormats) {
  directory_.write("recording", unfinished(10));
  EXPECT_THAT(error_of(open("recording")),
              AllOf(HasSubstr("has no data"), HasSubstr("killed"), HasSubstr("--tracing-dir")));
}

TEST_P(OpenUnfinished, ReadsUpToTheFilesEndWithGivenFormats) {
  const std::string tracing_dir = make_tracing_dir();
  directory_.write("recording", unfinished(10));
  Recording recording = value_of(open("recording", tracing_dir));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 10));
  ASSERT_TRUE(recording.description().tracing);
  EXPECT_EQ(recording.description().tracing->systems.at(0).name, "irq");
  EXPECT_EQ(recording.description().tracing->order, order());
  EXPECT_THAT(recording.warnings(), ElementsAre(HasSubstr("did not finish")));
  EXPECT_EQ(recording.position(), recording.size());
}

TEST_P(OpenUnfinished, LeavesARecordThatIsCutOffAtTheEnd) {
  const std::string tracing_dir = make_tracing_dir();
  const Bytes bytes = unfinished(10);
  directory_.write("recording", first(bytes, bytes.size() - 2000));
  Recording recording = value_of(open("recording", tracing_dir));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 9));
  EXPECT_THAT(recording.warnings(),
              ElementsAre(HasSubstr("did not finish"), HasSubstr("the last 1016 bytes")));
}

TEST_P(OpenUnfinished, MayHaveNoRecords) {
  const std::string tracing_dir = make_tracing_dir();
  directory_.write("recording", unfinished(0));
  Recording recording = value_of(open("recording", tracing_dir));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 0));
  EXPECT_EQ(recording.size(), 0U);
}

TEST_P(OpenUnfinished, SaysWhatIsWrongWithTheGivenFormats) {
  directory_.write("recording", unfinished(1));
  EXPECT_THAT(error_of(open("recording", path("nowhere"))), HasSubstr("nowhere"));
}

TEST_P(OpenRecording, PrefersItsOwnFormatsAndSaysSo) {
  const std::string tracing_dir = make_tracing_dir();
  directory_.write("recording", with_records(0, 3).build());
  Recording recording = value_of(open("recording", tracing_dir));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 3));
  expect_described(recording);
  EXPECT_THAT(recording.warnings(), ElementsAre(HasSubstr("--tracing-dir is not used")));
}

TEST_P(OpenRecording, TakesGivenFormatsForAStreamWithoutAnyAndKeepsThoseOfOneThatHasThem) {
  const std::string tracing_dir = make_tracing_dir();
  PerfDataBuilder made(order());
  made.add_attr(AttrSpec());
  directory_.write("without", made.build_stream());
  Recording without = value_of(open("without", tracing_dir));
  EXPECT_EQ(value_of(read(without)), numbers(0, 0));
  EXPECT_EQ(without.description().tracing->systems.at(0).name, "irq");
  directory_.write("with", described().build_stream());
  Recording with = value_of(open("with", tracing_dir));
  EXPECT_EQ(value_of(read(with)), numbers(0, 0));
  expect_described(with);
}

TEST_P(OpenRecording, WarnsOfWhatWasAppendedToAStream) {
  const Bytes bytes = with_records(0, 20).build_stream();
  const std::string_view text = "[ perf record: Captured and wrote 0.001 MB - ]\n";
  Recording recording = open_bytes(joined(bytes, text_bytes(text)));
  EXPECT_EQ(value_of(read(recording)), numbers(0, 20));
  expect_described(recording);
  EXPECT_THAT(recording.warnings(),
              ElementsAre(AllOf(HasSubstr(fmt::format("the last {} bytes", text.size())),
                                HasSubstr(fmt::format("offset {:#x}", bytes.size())),
                                HasSubstr("appended"))));
  EXPECT_EQ(recording.position(), recording.size());
}

TEST_P(OpenRecording, WarnsOfARecordThatIsCutOffAtAStreamsEnd) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const Bytes bytes = with_records(0, 20).build_stream();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{3000}, std::size_t{3015}}) {
    const Bytes part = first(bytes, bytes.size() - cut);
    const auto cut_off = ElementsAre(HasSubstr(fmt::format("the last {} bytes", 3016 - cut)));
    Recording file = open_bytes(part);
    EXPECT_EQ(value_of(read(file)), numbers(0, 19));
    EXPECT_THAT(file.warnings(), cut_off);
    const Writer writing(path("fifo"), part, 500);
    Recording fifo = value_of(open("fifo"));
    EXPECT_EQ(value_of(read(fifo)), numbers(0, 19));
    EXPECT_THAT(fifo.warnings(), cut_off);
  }
}

TEST_P(OpenRecording, RefusesGarbageInAFinishedFile) {
  PerfDataBuilder made = with_records(0, 3);
  made.add_bytes(Bytes(8));
  Recording recording = open_bytes(made.build());
  EXPECT_THAT(error_of(read(recording)), HasSubstr("fewer than its own header"));
}

TEST_P(OpenRecording, PassesOverTheDataOfAnAuxAreaInAFileAndInAStream) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{4096}, std::size_t{1'000'000}}) {
    PerfDataBuilder made = with_records(0, 5);
    made.add_record(71, 0, writer().u64(size).zeros(32).take());
    made.add_bytes(Bytes(size, std::byte{1}));
    add_records(made, 5, 10);
    for (const Bytes& bytes : {made.build(), made.build_stream()}) {
      Recording recording = open_bytes(bytes);
      std::vector<std::uint64_t> found;
      int aux_areas = 0;
      Record record{};
      while (value_of(recording.next(record))) {
        if (record.type == RecordType::kAuxtrace) {
          ++aux_areas;
        } else {
          found.push_back(load<std::uint64_t>(record.body.data(), order()));
        }
      }
      EXPECT_EQ(found, numbers(0, 10));
      EXPECT_EQ(aux_areas, 1);
      EXPECT_EQ(recording.position(), recording.size());
    }
  }
}

TEST_P(OpenRecording, RefusesAnAuxAreaOfAFileThatIsCutOffAndWarnsOfAStreams) {
  PerfDataBuilder made = described();
  made.add_record(71, 0, writer().u64(1000).zeros(32).take()).add_bytes(Bytes(999));
  Record record{};
  Recording file = open_bytes(made.build());
  EXPECT_THAT(error_of(file.next(record)),
              AllOf(HasSubstr("1000 bytes"), HasSubstr("ends after 999")));
  Recording stream = open_bytes(made.build_stream());
  EXPECT_FALSE(value_of(stream.next(record)));
  // The record of 48 bytes and what there is of its payload.
  EXPECT_THAT(stream.warnings(), ElementsAre(HasSubstr("the last 1047 bytes")));
}

/// Records in compressed ones, of both types.
class OpenCompressed : public OpenRecording {
 protected:
  static constexpr std::array<RecordType, 2> kTypes{RecordType::kCompressed,
                                                    RecordType::kCompressed2};
};

INSTANTIATE_TEST_SUITE_P(Orders, OpenCompressed, both_orders(), order_name);

TEST_P(OpenCompressed, ReadsChunksOfAnySizeWhereverTheyCutTheRecords) {
  for (const RecordType type : kTypes) {
    for (const std::size_t chunk : {1U, 7U, 8U, 100U, 4096U, 60'000U}) {
      PerfDataBuilder made = with_records(0, 40);
      made.compress(type, chunk);
      for (const Bytes& bytes : {made.build(), made.build_stream()}) {
        Recording recording = open_bytes(bytes);
        expect_all(recording, 40);
      }
    }
  }
}

TEST_P(OpenCompressed, ReadsMoreThanABufferOutOfOneRecord) {
  // Zeros compress well: each chunk is a small record that holds some MiB.
  for (const RecordType type : kTypes) {
    PerfDataBuilder made = described();
    for (std::uint64_t i = 0; i < 200; ++i) {
      made.add_record(kMarker, 0, writer().u64(i).zeros(60'000 + i).take());
    }
    made.compress(type, 5'000'000);
    Recording recording = open_bytes(made.build());
    EXPECT_LT(recording.size(), 100'000U);
    expect_all(recording, 200);
  }
}

TEST_P(OpenCompressed, ReadsRecordsBesideCompressedOnes) {
  for (const RecordType type : kTypes) {
    PerfDataBuilder made = with_records(0, 20);
    made.compress(type, 1'000'000);
    add_records(made, 20, 25);
    Recording recording = open_bytes(made.build());
    expect_all(recording, 25);
  }
}

TEST_P(OpenCompressed, GivesTheCompressedRecordsOffset) {
  PerfDataBuilder made = described();
  made.add_record(kMarker, 0, writer().u64(0).take());
  made.compress(RecordType::kCompressed);
  Recording recording = open_bytes(made.build());
  Record record{};
  ASSERT_TRUE(value_of(recording.next(record)));
  // Behind the header, two ids, and one event with the place of its ids.
  EXPECT_EQ(record.offset, 104U + 16 + 128 + 16);
}

TEST_P(OpenCompressed, ReadsFromAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const RecordType type : kTypes) {
    const Writer writing(path("fifo"), with_records(0, 100).compress(type, 333).build_stream(), 50);
    Recording recording = value_of(open("fifo"));
    expect_all(recording, 100);
  }
}

TEST_P(OpenCompressed, RefusesAFileThatEndsInsideARecordAndWarnsOfAStream) {
  for (const RecordType type : kTypes) {
    for (const std::size_t chunk : {10U, 10'000U}) {
      PerfDataBuilder made = with_records(0, 3);
      made.add_bytes(writer().u32(kMarker).u16(0).u16(100).zeros(50).take());
      made.compress(type, chunk);
      Recording file = open_bytes(made.build());
      EXPECT_THAT(error_of(read(file)), HasSubstr("ends inside a record"));
      Recording stream = open_bytes(made.build_stream());
      EXPECT_EQ(value_of(read(stream)), numbers(0, 3));
      // Where in the compressed bytes the records end is not to be told.
      EXPECT_THAT(stream.warnings(), ElementsAre(HasSubstr("are no records")));
    }
  }
}

TEST_P(OpenCompressed, RefusesWhatIsNotZstd) {
  for (const RecordType type : kTypes) {
    ByteWriter body = writer();
    if (type == RecordType::kCompressed2) body.u64(20);
    body.text("this is not zstd....").align(8);
    PerfDataBuilder made = described();
    made.add_record(static_cast<std::uint32_t>(type), 0, body.data());
    for (const Bytes& bytes : {made.build(), made.build_stream()}) {
      Recording recording = open_bytes(bytes);
      EXPECT_THAT(error_of(read(recording)), AllOf(HasSubstr("the compressed record at offset 0x"),
                                                   HasSubstr("is damaged"), HasSubstr("zstd")));
    }
  }
}

TEST_P(OpenCompressed, RefusesWhatHoldsNoRecords) {
  for (const RecordType type : kTypes) {
    PerfDataBuilder made = with_records(0, 3);
    made.add_bytes(Bytes(100));
    made.compress(type);
    for (const Bytes& bytes : {made.build(), made.build_stream()}) {
      Recording recording = open_bytes(bytes);
      EXPECT_THAT(
          error_of(read(recording)),
          AllOf(HasSubstr("in the compressed record at offset 0x"), HasSubstr("no record")));
    }
  }
}

TEST_P(OpenCompressed, ReadsRecordsWithNothingInThem) {
  PerfDataBuilder made = described();
  made.add_record(81, 0, {}).add_record(83, 0, writer().u64(0).take());
  add_records(made, 0, 2);
  Recording recording = open_bytes(made.build());
  expect_all(recording, 2);
}

TEST_P(OpenCompressed, RefusesASizeThatTheRecordHasNoRoomFor) {
  for (const std::uint64_t size : {9UL, 1UL << 32U, ~0UL}) {
    PerfDataBuilder made = described();
    made.add_record(83, 0, writer().u64(size).zeros(8).take());
    Recording recording = open_bytes(made.build());
    EXPECT_THAT(
        error_of(read(recording)),
        AllOf(HasSubstr("a compressed record"), HasSubstr(fmt::format("{} bytes expected", size))));
  }
  PerfDataBuilder made = described();
  made.add_record(83, 0, Bytes(7));
  Recording recording = open_bytes(made.build());
  EXPECT_THAT(error_of(read(recording)), HasSubstr("8 bytes expected"));
}

}  // namespace
}  // namespace perf2dat::perfdata
