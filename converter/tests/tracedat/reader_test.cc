// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/pages.h"
#include "testing/places.h"

namespace perf2dat::tracedat {
namespace {

using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::finish;
using perf2dat::testing::order_name;
using perf2dat::testing::places_step;
using perf2dat::testing::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kPageSize = 4096;

struct ReadEvent {
  std::uint32_t cpu;
  std::uint64_t time;
  std::string payload;
};

bool operator==(const ReadEvent& a, const ReadEvent& b) {
  return a.cpu == b.cpu && a.time == b.time && a.payload == b.payload;
}

void PrintTo(const ReadEvent& event, std::ostream* out) {
  *out << "CPU " << event.cpu << " " << event.time << " " << event.payload;
}

/// A whole file, and what its reader makes of it.
struct Whole {
  Contents contents;
  std::vector<ReadEvent> events;
};

Expected<Whole> read_whole(const ReadAt& read_at, std::uint64_t size) {
  Whole whole;
  P2D_ASSIGN(whole.contents, read_contents(read_at, size));
  for (const CpuRange& range : whole.contents.ranges) {
    P2D_TRY(read_events(read_at, whole.contents.format, range, [&](const RingEvent& event) {
      const auto& bytes = event.payload;
      whole.events.push_back(
          {range.cpu, event.time, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
    }));
  }
  return whole;
}

/// A file of two CPUs as the writer makes it, which a test may then damage.
class File {
 public:
  explicit File(ByteOrder order, std::uint32_t commit_size = 8) : order_(order) {
    const PageFormat format{order, kPageSize, commit_size};
    Metadata metadata;
    metadata.tracing.order = order;
    metadata.tracing.long_size = 4;
    metadata.tracing.header_page = fmt::format(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n",
        commit_size);
    metadata.tracing.ftrace_formats = {"name: one\n"};
    metadata.tracing.systems = {{"sched", {"name: two\n"}}};
    metadata.tracing.kallsyms = "ffff T f\n";
    metadata.tracing.printk = "0xff : \"x\"\n";
    metadata.cmdlines = {{7, "sh"}, {8, "cat"}};
    metadata.cpu_count = 5;
    metadata.clock = "mono";
    metadata.uname = "Linux host";
    metadata.version = "writer 1";

    std::vector<CpuRange> ranges{{1, 0, 2ULL * kPageSize}, {4, 0, kPageSize}};
    const std::size_t size = encode_metadata(metadata, format, ranges, 0).size();
    std::uint64_t end = (size + kPageSize - 1) / kPageSize * kPageSize;
    for (CpuRange& range : ranges) {
      range.offset = end;
      end += range.size;
    }
    bytes_ = encode_metadata(metadata, format, ranges, end);
    bytes_.resize(ranges[0].offset);
    first_page_ = bytes_.size();
    PagePacker packer(format);
    add_page(packer, {{100, "aaaa"}, {100, "bbbb"}, {1'000'000'000'000, "cccc"}});
    add_page(packer, {{1'000'000'000'000, "dddd"}, {1'000'000'000'001, std::string(200, 'e')}});
    add_page(packer, {{50, "ffff"}});
  }

  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::byte& at(std::size_t offset) { return bytes_.at(offset); }

  /// Overwrites a number in the file's order.
  template <typename T>
  void put(std::size_t offset, T value) {
    ASSERT_LE(offset + sizeof value, bytes_.size());
    store(bytes_.data() + offset, value, order_);
  }

  /// The offset of a section's header.
  std::size_t section(SectionId wanted) const {
    std::size_t offset = 32;
    while (load<std::uint16_t>(bytes_.data() + offset, order_) !=
           static_cast<std::uint16_t>(wanted)) {
      offset += 16 + load<std::uint64_t>(bytes_.data() + offset + 8, order_);
    }
    return offset;
  }

  /// The offset of an option: of its id, after which come 4 bytes of size and the data.
  std::size_t option(OptionId wanted) const {
    std::size_t offset = section(SectionId::kOptions) + 16;
    while (load<std::uint16_t>(bytes_.data() + offset, order_) !=
           static_cast<std::uint16_t>(wanted)) {
      offset += 6 + load<std::uint32_t>(bytes_.data() + offset + 2, order_);
    }
    return offset;
  }

  /// The offset of a CPU's entry in the BUFFER option, by its place: id, offset, size.
  std::size_t cpu_entry(std::size_t index) const {
    // The section's offset, "", "mono", the page's size and the number of CPUs come before it.
    return option(OptionId::kBuffer) + 6 + 8 + 1 + 5 + 4 + 4 + index * 20;
  }

  std::size_t page(std::size_t index) const { return first_page_ + index * kPageSize; }

  ReadAt read_at() const {
    return [this](std::uint64_t offset, std::span<std::byte> into) -> Expected<std::size_t> {
      if (offset >= bytes_.size()) return std::size_t{0};
      const std::size_t size = std::min<std::size_t>(into.size(), bytes_.size() - offset);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), size, into.begin());
      return size;
    };
  }

  Expected<Whole> read() const { return read_whole(read_at(), bytes_.size()); }

  /// What the reader says is wrong.
  std::string damage() const { return error_of(read(), Error::Kind::kCheck); }

 private:
  void add_page(PagePacker& packer,
                const std::vector<std::pair<std::uint64_t, std::string>>& events) {
    for (const auto& [time, payload] : events) {
      EXPECT_TRUE(packer.append({time, std::as_bytes(std::span(payload))}));
    }
    const auto page = finish(packer);
    bytes_.insert(bytes_.end(), page.begin(), page.end());
  }

  ByteOrder order_;
  std::vector<std::byte> bytes_;
  std::size_t first_page_ = 0;
};

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using Reader = ByteOrderTest;
INSTANTIATE_TEST_SUITE_P(Orders, Reader, both_orders(), order_name);

TEST_P(Reader, FindsWhatTheWriterWrote) {
  const File file(GetParam());
  const Contents contents = value_of(file.read()).contents;
  EXPECT_EQ(contents.format.order, GetParam());
  EXPECT_EQ(contents.format.page_size, 4096U);
  EXPECT_EQ(contents.format.commit_size, 8U);
  EXPECT_EQ(contents.long_size, 4U);
  EXPECT_EQ(contents.clock, "mono");
  EXPECT_EQ(contents.text_option(OptionId::kTraceClock), "[mono]");
  EXPECT_EQ(contents.text_option(OptionId::kUname), "Linux host");
  EXPECT_EQ(contents.text_option(OptionId::kVersion), "writer 1");
  EXPECT_EQ(load<std::uint32_t>(contents.options.at(OptionId::kCpuCount).data(), GetParam()), 5U);
  EXPECT_EQ(value_of(contents.cmdlines()), "7 sh\n8 cat\n");
  EXPECT_EQ(text(contents.sections.at(SectionId::kKallsyms)).substr(4), "ffff T f\n");
  EXPECT_EQ(text(contents.sections.at(SectionId::kPrintk)).substr(4), "0xff : \"x\"\n");
  EXPECT_EQ(contents.sections.count(SectionId::kFlyrecord), 0U);
  EXPECT_EQ(contents.descriptions.at(SectionId::kHeaderInfo), "headers");
  EXPECT_EQ(contents.descriptions.at(SectionId::kFlyrecord), "buffer flyrecord");
  EXPECT_EQ(contents.descriptions.size(), 9U);
  ASSERT_EQ(contents.ranges.size(), 2U);
  EXPECT_EQ(contents.ranges[0].cpu, 1U);
  EXPECT_EQ(contents.ranges[0].offset, file.page(0));
  EXPECT_EQ(contents.ranges[0].size, 8192U);
  EXPECT_EQ(contents.ranges[1].cpu, 4U);
  EXPECT_EQ(contents.ranges[1].offset, file.page(2));
  EXPECT_EQ(contents.ranges[1].size, 4096U);
}

TEST_P(Reader, FindsTheEventsThatTheWriterWrote) {
  for (const std::uint32_t commit_size : {4, 8}) {
    EXPECT_THAT(value_of(File(GetParam(), commit_size).read()).events,
                ElementsAre(ReadEvent{1, 100, "aaaa"}, ReadEvent{1, 100, "bbbb"},
                            ReadEvent{1, 1'000'000'000'000, "cccc"},
                            ReadEvent{1, 1'000'000'000'000, "dddd"},
                            ReadEvent{1, 1'000'000'000'001, std::string(200, 'e')},
                            ReadEvent{4, 50, "ffff"}));
  }
}

TEST_P(Reader, TakesTheSizeOfCommitFromTheHeaderPage) {
  EXPECT_EQ(value_of(File(GetParam(), 4).read()).contents.format.commit_size, 4U);
}

TEST_P(Reader, HasNoTextOfAnOptionThatIsMissing) {
  EXPECT_EQ(value_of(File(GetParam()).read()).contents.text_option(OptionId{6}), std::nullopt);
}

TEST_P(Reader, ReportsAFileThatIsCutOffAtAnyByte) {
  const File file(GetParam());
  for (std::size_t size = 0; size < file.size(); ++size) {
    // A copy of just this size, so that nothing can be read beyond it.
    const std::vector<std::byte> bytes(file.bytes().begin(),
                                       file.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    const auto result = read_whole(
        [&](std::uint64_t offset, std::span<std::byte> into) -> Expected<std::size_t> {
          EXPECT_LE(offset + into.size(), size);
          std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(),
                      into.begin());
          return into.size();
        },
        size);
    ASSERT_FALSE(result) << "cut off at " << size;
    ASSERT_EQ(result.error().kind, Error::Kind::kCheck) << result.error().message;
  }
}

TEST_P(Reader, ReportsAFileThatBecomesShorterAtAnyByteWhileItIsRead) {
  const File file(GetParam());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto result = read_whole(
        [&](std::uint64_t offset, std::span<std::byte> into) -> Expected<std::size_t> {
          if (offset >= size) return std::size_t{0};
          return file.read_at()(offset, into.first(std::min(into.size(), size - offset)));
        },
        file.size());
    ASSERT_FALSE(result) << "cut off at " << size;
    ASSERT_EQ(result.error().kind, Error::Kind::kCheck) << result.error().message;
  }
}

TEST_P(Reader, SurvivesAFileInWhichAnyByteIsChanged) {
  const File file(GetParam());
  File changed = file;
  for (std::size_t i = 0; i < file.size(); i += places_step()) {
    for (const unsigned flip : {0xffU, 0x01U, 0x80U}) {
      changed.at(i) ^= std::byte(flip);
      const auto result = changed.read();
      // Whatever it makes of it, three pages hold no more events than this.
      if (result) {
        ASSERT_LE(result->events.size(), 3 * 4096U / 4);
      } else {
        ASSERT_EQ(result.error().kind, Error::Kind::kCheck);
      }
      changed.at(i) ^= std::byte(flip);
    }
  }
}

TEST_P(Reader, HandsOnWhyTheFileCannotBeRead) {
  const auto result = read_whole(
      [](std::uint64_t, std::span<std::byte>) -> Expected<std::size_t> {
        return output_error("no such luck");
      },
      1000);
  EXPECT_EQ(error_of(result, Error::Kind::kOutput), "no such luck");
}

TEST_P(Reader, ReportsAnotherMagic) {
  File file(GetParam());
  file.at(3) = std::byte{'T'};
  EXPECT_EQ(file.damage(), "no trace.dat: the magic is missing");
}

TEST_P(Reader, ReportsAnotherVersion) {
  File file(GetParam());
  file.at(10) = std::byte{'6'};
  EXPECT_EQ(file.damage(), "trace.dat of a version that is not 7");
}

TEST_P(Reader, ReportsAByteOrderThatIsNeither0Nor1) {
  File file(GetParam());
  file.at(12) = std::byte{2};
  EXPECT_EQ(file.damage(), "the byte order is 2, neither 0 nor 1");
}

TEST_P(Reader, ReportsAPageSizeThatIsNoPowerOfTwoOrOutOfRange) {
  for (const std::uint32_t size : {0U, 2048U, 4097U, 12288U, 131072U, ~0U}) {
    File file(GetParam());
    file.put(14, size);
    EXPECT_EQ(file.damage(), fmt::format("the page size is {}", size));
  }
}

TEST_P(Reader, ReportsCompression) {
  File file(GetParam());
  for (std::size_t i = 0; i < 4; ++i) file.at(18 + i) = std::byte("zstd"[i]);
  EXPECT_EQ(file.damage(), "the file is compressed");
}

TEST_P(Reader, ReportsOptionsThatAreNotWhereTheHeaderSays) {
  File file(GetParam());
  const auto offset = file.section(SectionId::kOptions);
  file.put(24, std::uint64_t{offset + 16});
  EXPECT_EQ(file.damage(),
            fmt::format("the options are at {:#x}, not at {:#x}", offset, offset + 16));
}

TEST_P(Reader, ReportsASectionWithFlags) {
  File file(GetParam());
  const auto offset = file.section(SectionId::kPrintk);
  file.put(offset + 2, std::uint16_t{1});
  EXPECT_EQ(file.damage(), fmt::format("the section at {:#x} has flags 0x1", offset));
}

TEST_P(Reader, ReportsASectionThatReachesBeyondTheEnd) {
  File file(GetParam());
  const auto offset = file.section(SectionId::kFlyrecord);
  const std::uint64_t size = file.size() - offset - 16;
  for (const std::uint64_t wrong : {size + 1, ~std::uint64_t{0}}) {
    file.put(offset + 8, wrong);
    EXPECT_EQ(file.damage(), fmt::format("the section at {:#x} has {} bytes, but the file ends at "
                                         "{:#x}",
                                         offset, wrong, file.size()));
  }
}

TEST_P(Reader, ReportsAFileThatGoesOnAfterTheSectionOfEvents) {
  File file(GetParam());
  const auto offset = file.section(SectionId::kFlyrecord);
  file.put(offset + 8, file.size() - offset - 16 - 1);
  EXPECT_THAT(file.damage(), HasSubstr("a section's header"));
}

TEST_P(Reader, ReportsASectionWithoutADescription) {
  File file(GetParam());
  const auto offset = file.section(SectionId::kCmdlines);
  file.put(offset + 4, std::uint32_t{1000});
  EXPECT_EQ(file.damage(), fmt::format("section at {:#x} has no description", offset));
}

TEST_P(Reader, ReportsOptionsThatAreNotThere) {
  File file(GetParam());
  file.put(file.section(SectionId::kOptions), std::uint16_t{99});
  EXPECT_THAT(file.damage(), HasSubstr("the section of options"));
}

TEST_P(Reader, ReportsOptionsWithoutAnEnd) {
  File file(GetParam());
  file.put(file.option(OptionId::kDone), std::uint16_t{99});
  EXPECT_THAT(file.damage(), HasSubstr("the section of options"));
}

TEST_P(Reader, ReportsAnOptionThatReachesBeyondTheOptions) {
  File file(GetParam());
  file.put(file.option(OptionId::kDone) + 2, std::uint32_t{9});
  EXPECT_THAT(file.damage(), HasSubstr("the section of options"));
}

TEST_P(Reader, ReportsAnOptionThatIsThereTwice) {
  File file(GetParam());
  file.put(file.option(OptionId::kVersion), static_cast<std::uint16_t>(OptionId::kUname));
  EXPECT_EQ(file.damage(), "option 5 is there twice");
}

// libtracecmd would read on behind it.
TEST_P(Reader, ReportsATextWithoutAnEnd) {
  for (const OptionId id : {OptionId::kTraceClock, OptionId::kUname, OptionId::kVersion}) {
    File file(GetParam());
    const std::size_t option = file.option(id);
    const auto size = load<std::uint32_t>(&file.at(option + 2), GetParam());
    file.put(option + 6 + size - 1, std::uint8_t{'!'});
    EXPECT_EQ(file.damage(),
              fmt::format("the text of option {} has no end", static_cast<unsigned>(id)));
  }
}

// libtracecmd would read more options there.
TEST_P(Reader, ReportsOptionsThatGoOnElsewhere) {
  File file(GetParam());
  file.put(file.option(OptionId::kDone) + 6, std::uint64_t{0x40});
  EXPECT_EQ(file.damage(), "the options go on at 0x40");
}

TEST_P(Reader, ReportsAnOptionThatNamesNoSuchSection) {
  for (const OptionId id :
       {OptionId::kHeaderInfo, OptionId::kFtraceFormats, OptionId::kEventFormats,
        OptionId::kKallsyms, OptionId::kPrintk, OptionId::kCmdlines}) {
    File file(GetParam());
    const std::uint64_t strings = file.section(SectionId::kStrings);
    file.put(file.option(id) + 6, strings);
    EXPECT_EQ(file.damage(), fmt::format("option {} points to {:#x}, where no such section is",
                                         static_cast<unsigned>(id), strings));
  }
}

TEST_P(Reader, ReportsAnOptionThatNamesTheContentOfItsSection) {
  File file(GetParam());
  const std::uint64_t content = file.section(SectionId::kEventFormats) + 16;
  file.put(file.option(OptionId::kEventFormats) + 6, content);
  EXPECT_THAT(file.damage(), HasSubstr("where no such section is"));
}

TEST_P(Reader, AcceptsAFileWithoutTheOptionsThatMayBeMissing) {
  for (const OptionId id : {OptionId::kTraceClock, OptionId::kUname, OptionId::kVersion}) {
    File file(GetParam());
    file.put(file.option(id), std::uint16_t{99});
    EXPECT_EQ(value_of(file.read()).events.size(), 6U);
  }
}

// trace-cmd opens no file without the first, and some of its commands give up without the others.
TEST_P(Reader, ReportsAMissingOptionOfASection) {
  for (const OptionId id :
       {OptionId::kHeaderInfo, OptionId::kFtraceFormats, OptionId::kEventFormats,
        OptionId::kKallsyms, OptionId::kPrintk, OptionId::kCmdlines}) {
    File file(GetParam());
    file.put(file.option(id), std::uint16_t{99});
    EXPECT_EQ(file.damage(), fmt::format("there is no option {}", static_cast<unsigned>(id)));
  }
}

TEST_P(Reader, ReportsAMissingBuffer) {
  File file(GetParam());
  file.put(file.option(OptionId::kBuffer), std::uint16_t{99});
  EXPECT_EQ(file.damage(), "there is no BUFFER option");
}

// trace-cmd shows such events as those of another instance.
TEST_P(Reader, ReportsABufferWithAName) {
  File file(GetParam());
  // In front of the name's end is the offset, behind it "mono", of which it takes a part.
  file.put(file.option(OptionId::kBuffer) + 6 + 8, std::uint8_t{'n'});
  EXPECT_EQ(file.damage(), "the buffer of the events has a name");
}

TEST_P(Reader, ReportsAnotherPageSizeInBuffer) {
  File file(GetParam());
  file.put(file.cpu_entry(0) - 8, std::uint32_t{8192});
  EXPECT_EQ(file.damage(), "BUFFER's page size is 8192, the file's is 4096");
}

TEST_P(Reader, ReportsABufferWhoseSectionIsNotThere) {
  File file(GetParam());
  const std::uint64_t content = file.section(SectionId::kFlyrecord) + 16;
  file.put(file.option(OptionId::kBuffer) + 6, content);
  EXPECT_EQ(file.damage(),
            fmt::format("BUFFER points to {:#x}, where no section of events is", content));
}

TEST_P(Reader, ReportsABufferWithFewerCpusThanItSays) {
  for (const std::uint32_t cpus : {3U, ~0U}) {
    File file(GetParam());
    file.put(file.cpu_entry(0) - 4, cpus);
    EXPECT_THAT(file.damage(), HasSubstr("the BUFFER option"));
  }
}

TEST_P(Reader, ReportsPagesOutsideTheSectionOfEvents) {
  const File whole(GetParam());
  const std::uint64_t page = whole.page(0);
  const std::uint64_t end = whole.size();
  for (const auto& [offset, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {page - 4096, 4096},           // before it
           {end, 4096},                   // after it
           {end - 4096, 8192},            // across its end
           {end + 4096, 0},               // nothing, but after it
           {page, ~std::uint64_t{4095}},  // so much that the end comes before the beginning
           {~std::uint64_t{4095}, 8192}}) {
    File file(GetParam());
    file.put(file.cpu_entry(0) + 4, offset);
    file.put(file.cpu_entry(0) + 12, size);
    EXPECT_EQ(file.damage(), fmt::format("CPU 1's {} bytes at {:#x} are outside the section of "
                                         "events",
                                         size, offset));
  }
}

TEST_P(Reader, ReportsPagesThatBeginOnNoPageBoundary) {
  File file(GetParam());
  file.put(file.cpu_entry(0) + 4, std::uint64_t{file.page(0) + 8});
  EXPECT_THAT(file.damage(), HasSubstr("are not whole pages of 4096 bytes"));
}

TEST_P(Reader, ReportsPagesThatEndOnNoPageBoundary) {
  File file(GetParam());
  file.put(file.cpu_entry(0) + 12, std::uint64_t{4095});
  EXPECT_THAT(file.damage(), HasSubstr("are not whole pages of 4096 bytes"));
}

TEST_P(Reader, ReportsACpuThatIsThereTwice) {
  File file(GetParam());
  file.put(file.cpu_entry(1), std::uint32_t{1});
  EXPECT_EQ(file.damage(), "CPU 1 is there twice");
}

// libtracecmd has an int for the number.
TEST_P(Reader, ReportsMoreCpusThanAFileCanHave) {
  File file(GetParam());
  const std::size_t count = file.option(OptionId::kCpuCount) + 6;
  file.put(count, kHighestCpu + 1);
  EXPECT_EQ(value_of(file.read()).events.size(), 6U);
  for (const std::uint32_t cpus : {kHighestCpu + 2, 0x80000000, 0xffffffff}) {
    file.put(count, cpus);
    EXPECT_EQ(file.damage(), fmt::format("there are {} CPUs, but at most 65536 can be", cpus));
  }
}

TEST_P(Reader, ReportsACpuBeyondTheirNumber) {
  File file(GetParam());
  file.put(file.cpu_entry(1), std::uint32_t{5});
  EXPECT_EQ(file.damage(), "CPU 5 has pages, but there are 5 CPUs");
  file.put(file.option(OptionId::kCpuCount), std::uint16_t{99});
  EXPECT_EQ(file.damage(), "there is no CPUCOUNT option");
}

TEST_P(Reader, AcceptsACpuWithoutPages) {
  File file(GetParam());
  file.put(file.cpu_entry(0) + 12, std::uint64_t{0});
  EXPECT_THAT(value_of(file.read()).events, ElementsAre(ReadEvent{4, 50, "ffff"}));
  // It has none wherever they are not.
  file.put(file.cpu_entry(0) + 4, std::uint64_t{file.page(2)});
  EXPECT_THAT(value_of(file.read()).events, ElementsAre(ReadEvent{4, 50, "ffff"}));
}

TEST_P(Reader, ReportsAPageOfTwoCpus) {
  for (const std::size_t shared : {0, 1}) {
    File file(GetParam());
    file.put(file.cpu_entry(1) + 4, std::uint64_t{file.page(shared)});
    EXPECT_THAT(file.damage(), HasSubstr("'s, too"));
    EXPECT_THAT(file.damage(), HasSubstr(fmt::format("{:#x}", file.page(shared))));
  }
}

// libtracecmd takes the first, and an option may name any of them.
TEST_P(Reader, ReportsASectionThatIsThereTwice) {
  File file(GetParam());
  file.put(file.section(SectionId::kPrintk), static_cast<std::uint16_t>(SectionId::kKallsyms));
  EXPECT_EQ(file.damage(), "section 19 is there twice");
}

TEST_P(Reader, ReportsAHeaderPageThatDoesNotDescribeCommit) {
  File file(GetParam());
  const std::string content = text(file.bytes());
  file.at(content.find("commit")) = std::byte{'C'};
  EXPECT_EQ(file.damage(), "header_page does not describe commit");
}

TEST_P(Reader, ReportsHeaderInformationThatIsNotAHeaderPageAndAHeaderEvent) {
  const std::size_t section = File(GetParam()).section(SectionId::kHeaderInfo);
  const auto text_size = load<std::uint64_t>(
      File(GetParam()).bytes().data() + section + 16 + std::size("header_page"), GetParam());
  const std::size_t event = section + 16 + std::size("header_page") + 8 + text_size;
  for (const std::size_t letter : {section + 16, event}) {
    File file(GetParam());
    file.at(letter) = std::byte{'H'};
    EXPECT_EQ(file.damage(),
              "the section of header information is no header_page and header_event");
  }
  File file(GetParam());
  file.put(event + std::size("header_event"), std::uint64_t{1} << 43U);
  EXPECT_THAT(file.damage(), HasSubstr("the section of header information"));
}

TEST_P(Reader, ReportsAHeaderPageThatReachesBeyondItsSection) {
  File file(GetParam());
  file.put(file.section(SectionId::kHeaderInfo) + 16 + 12, std::uint64_t{100'000});
  EXPECT_THAT(file.damage(), HasSubstr("the section of header information"));
}

TEST_P(Reader, ReportsCommandLinesThatReachBeyondTheirSection) {
  File file(GetParam());
  file.put(file.section(SectionId::kCmdlines) + 16, std::uint64_t{100'000});
  EXPECT_THAT(error_of(value_of(file.read()).contents.cmdlines(), Error::Kind::kCheck),
              HasSubstr("the section of command lines"));
}

TEST_P(Reader, ReportsADamagedPageAndWhere) {
  File file(GetParam());
  // The second record of CPU 1's first page: a header of 16 bytes and a record of 8 before it.
  const std::size_t record = file.page(0) + 24;
  file.put(record, encode_record_word(GetParam(), kTypePadding, 0));
  EXPECT_EQ(file.damage(),
            fmt::format("CPU 1: there is padding inside commit at offset {:#x}", record));
}

TEST_P(Reader, ReportsADamagedPageThatIsNotTheFirst) {
  File file(GetParam());
  file.put(file.page(2) + 8, std::uint64_t{4081});
  EXPECT_THAT(file.damage(), HasSubstr("CPU 4: commit reaches beyond the page at offset "));
}

TEST_P(Reader, ReportsATimeThatRunsBackwardsBetweenPages) {
  File file(GetParam());
  file.put(file.page(1), std::uint64_t{999'999'999'999});
  EXPECT_EQ(file.damage(),
            fmt::format("CPU 1: time runs back from 1000000000000 to 999999999999 on the page at "
                        "{:#x}",
                        file.page(1)));
}

TEST_P(Reader, ReportsATimeThatRunsBackwardsOnAPage) {
  File file(GetParam());
  // The time extend before the third event becomes an absolute time: 99.
  file.put(file.page(0) + 32, encode_record_word(GetParam(), kTypeTimeStamp, 99));
  file.put(file.page(0) + 36, std::uint32_t{0});
  EXPECT_THAT(file.damage(), HasSubstr("CPU 1: time runs back from 100 to 99 on the page at "));
}

TEST_P(Reader, LetsEachCpuBeginAtATimeOfItsOwn) {
  // CPU 4's only event is before all of CPU 1's.
  EXPECT_EQ(value_of(File(GetParam()).read()).events.back().time, 50U);
}

}  // namespace
}  // namespace perf2dat::tracedat
