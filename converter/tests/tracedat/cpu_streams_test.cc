// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/cpu_streams.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/pages.h"
#include "tracedat/reader.h"

namespace perf2dat::tracedat {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::FileSizeLimit;
using perf2dat::testing::finish;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr PageFormat kFormat{ByteOrder::kLittle, 4096, 8};

/// So little that every page and every late event is spilled at once.
constexpr MemoryBudget kNoMemory{1, 1};

struct Event {
  std::uint64_t time;
  std::string payload;
};

bool operator==(const Event& a, const Event& b) {
  return a.time == b.time && a.payload == b.payload;
}

void PrintTo(const Event& event, std::ostream* out) {
  *out << event.time << " "
       << (event.payload.size() < 40 ? event.payload
                                     : fmt::format("({} bytes)", event.payload.size()));
}

/// A payload of 4 bytes: which event it is.
std::string number(std::uint32_t value) { return fmt::format("{:04x}", value & 0xffffU); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// What `write()` has made.
struct Written {
  std::vector<CpuRange> ranges;
  std::map<std::uint32_t, std::vector<Event>> events;
  std::vector<std::byte> bytes;
};

class CpuStreamsTest : public ::testing::Test {
 protected:
  CpuStreams streams(PageFormat format = kFormat, MemoryBudget budget = {}) const {
    return {format, directory_.path("out.dat"), budget};
  }

  static void append(CpuStreams& streams, std::uint32_t cpu, std::uint64_t time,
                     std::string_view payload) {
    const auto result = streams.append(cpu, {time, bytes_of(payload)});
    if (!result) ADD_FAILURE() << result.error().message;
  }

  static void append(CpuStreams& streams, std::uint32_t cpu, const std::vector<Event>& events) {
    for (const auto& [time, payload] : events) append(streams, cpu, time, payload);
  }

  Written write(CpuStreams& streams, std::uint64_t offset = 0) const {
    auto out = value_of(OutputFile::create(directory_.path("out.dat"), false));
    Written written;
    written.ranges = value_of(streams.write(out, offset));
    written.bytes.resize(value_of(out.size()));
    EXPECT_EQ(value_of(out.read_at(0, written.bytes)), written.bytes.size());
    for (const CpuRange& range : written.ranges) {
      auto& events = written.events[range.cpu];
      const auto read = read_events(
          [&](std::uint64_t at, std::span<std::byte> into) { return out.read_at(at, into); },
          streams.format(), range,
          [&](const RingEvent& event) {
            const auto* const text = reinterpret_cast<const char*>(event.payload.data());
            events.push_back({event.time, {text, event.payload.size()}});
          });
      if (!read) ADD_FAILURE() << read.error().message;
    }
    return written;
  }

  const TemporaryDirectory& directory() const { return directory_; }

 private:
  TemporaryDirectory directory_;
};

TEST_F(CpuStreamsTest, WritesNothingWhenThereIsNoEvent) {
  CpuStreams none = streams();
  EXPECT_EQ(none.cpus(), 0U);
  EXPECT_EQ(none.highest_cpu(), 0U);
  const Written written = write(none, 100);
  EXPECT_THAT(written.ranges, IsEmpty());
  EXPECT_THAT(written.bytes, IsEmpty());
}

TEST_F(CpuStreamsTest, WritesEventsThatAreInOrderAsThePackerPacksThem) {
  for (const PageFormat format :
       {kFormat, PageFormat{ByteOrder::kBig, 4096, 4}, PageFormat{ByteOrder::kBig, 65536, 8}}) {
    CpuStreams ordered = streams(format);
    PagePacker packer(format);
    std::vector<std::byte> expected;
    const auto take = [&] {
      const auto page = finish(packer);
      expected.insert(expected.end(), page.begin(), page.end());
    };
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::string payload(i % 150, 'x');
      append(ordered, 3, 10ULL * i, payload);
      const RingEvent event{10ULL * i, bytes_of(payload)};
      if (packer.append(event)) continue;
      take();
      ASSERT_TRUE(packer.append(event));
    }
    take();
    // 5000 events of up to 150 bytes are more than what is spilled in one piece.
    ASSERT_GT(expected.size(), 256U << 10U);
    EXPECT_EQ(write(ordered).bytes, expected);
  }
}

TEST_F(CpuStreamsTest, WritesOnePageForOneEvent) {
  CpuStreams one = streams();
  append(one, 2, 7, "abcd");
  const Written written = write(one);
  ASSERT_THAT(written.ranges, SizeIs(1));
  EXPECT_EQ(written.ranges[0].cpu, 2U);
  EXPECT_EQ(written.ranges[0].offset, 0U);
  EXPECT_EQ(written.ranges[0].size, 4096U);
  EXPECT_THAT(written.events.at(2), ElementsAre(Event{7, "abcd"}));
}

TEST_F(CpuStreamsTest, PutsLateEventsWhereTheyBelong) {
  for (const MemoryBudget budget : {MemoryBudget{}, kNoMemory}) {
    CpuStreams late = streams(kFormat, budget);
    append(late, 0,
           {{10, "1st "},
            {20, "2nd "},
            {30, "3rd "},
            {15, "4th "},
            {40, "5th "},
            {35, "6th "},
            {5, "7th "}});
    EXPECT_THAT(
        write(late).events.at(0),
        ElementsAre(Event{5, "7th "}, Event{10, "1st "}, Event{15, "4th "}, Event{20, "2nd "},
                    Event{30, "3rd "}, Event{35, "6th "}, Event{40, "5th "}));
  }
}

TEST_F(CpuStreamsTest, PutsAnEventThatIsNearly2To64NsLateWhereItBelongs) {
  CpuStreams late = streams();
  append(late, 0, {{~0ULL - 5, "last"}, {5, "1st "}, {6, "2nd "}, {~0ULL, "end "}});
  EXPECT_THAT(write(late).events.at(0),
              ElementsAre(Event{5, "1st "}, Event{6, "2nd "}, Event{~0ULL - 5, "last"},
                          Event{~0ULL, "end "}));
}

TEST_F(CpuStreamsTest, WritesACpuThatBeginsWithTheMarkOfMissedEvents) {
  CpuStreams marked = streams();
  ASSERT_TRUE(marked.append(3, {5, {}, 7}).has_value());
  EXPECT_EQ(marked.cpus(), 0U);
  append(marked, 3, 10, "abcd");
  EXPECT_EQ(marked.cpus(), 1U);
  EXPECT_EQ(marked.highest_cpu(), 3U);
  const Written written = write(marked);
  ASSERT_EQ(written.events.size(), 1U);
  EXPECT_EQ(written.events.at(3).back(), (Event{10, "abcd"}));
  EXPECT_EQ(marked.unplaced_missed(), 0U);
}

TEST_F(CpuStreamsTest, PutsAMarkBeforeTheFirstEventThatIsNotBeforeIt) {
  struct Arrivals {
    std::string_view what;
    std::vector<Event> events;    // a mark has no payload
    std::vector<Event> expected;  // a mark has the time of the event that it is before
  };
  const std::string large(5000, 'x');
  const std::vector<Arrivals> cases = {
      {"the next", {{10, "1st "}, {20, ""}, {30, "2nd "}}, {{10, "1st "}, {30, ""}, {30, "2nd "}}},
      {"a late event after it",
       {{10, "1st "}, {20, ""}, {40, "3rd "}, {30, "2nd "}},
       {{10, "1st "}, {30, ""}, {30, "2nd "}, {40, "3rd "}}},
      {"a late event before it",
       {{10, "1st "}, {20, ""}, {40, "3rd "}, {15, "2nd "}},
       {{10, "1st "}, {15, "2nd "}, {40, ""}, {40, "3rd "}}},
      {"a late mark",
       {{10, "1st "}, {40, "2nd "}, {20, ""}},
       {{10, "1st "}, {40, ""}, {40, "2nd "}}},
      {"an event of its time, after it",
       {{20, "1st "}, {20, ""}, {20, "2nd "}, {30, "3rd "}},
       {{20, "1st "}, {20, ""}, {20, "2nd "}, {30, "3rd "}}},
      {"a large event",
       {{10, "1st "}, {20, ""}, {30, large}, {25, "2nd "}},
       {{10, "1st "}, {25, ""}, {25, "2nd "}, {30, large}}},
      {"the first of its CPU",
       {{20, ""}, {40, "2nd "}, {30, "1st "}},
       {{30, ""}, {30, "1st "}, {40, "2nd "}}},
  };
  for (const auto& [what, events, expected] : cases) {
    SCOPED_TRACE(what);
    for (const MemoryBudget budget : {MemoryBudget{}, kNoMemory}) {
      CpuStreams marked = streams(kFormat, budget);
      for (const auto& [time, payload] : events) {
        const std::uint64_t missed = payload.empty() ? 7 : 0;
        ASSERT_TRUE(marked.append(0, {time, bytes_of(payload), missed}).has_value());
      }
      EXPECT_EQ(write(marked).events.at(0), expected);
      EXPECT_EQ(marked.unplaced_missed(), 0U);
    }
  }
}

TEST_F(CpuStreamsTest, SortsEachCpuAlone) {
  CpuStreams both = streams();
  append(both, 1, 20, "1 20");
  append(both, 0, 10, "0 10");
  append(both, 1, 15, "1 15");
  append(both, 0, 12, "0 12");
  append(both, 0, 11, "0 11");
  const Written written = write(both);
  EXPECT_THAT(written.events.at(0),
              ElementsAre(Event{10, "0 10"}, Event{11, "0 11"}, Event{12, "0 12"}));
  EXPECT_THAT(written.events.at(1), ElementsAre(Event{15, "1 15"}, Event{20, "1 20"}));
}

TEST_F(CpuStreamsTest, KeepsTheOrderOfArrivalOfEventsOfTheSameTime) {
  CpuStreams equal = streams();
  append(equal, 0, {{10, "1st "}, {10, "2nd "}, {20, "3rd "}, {10, "4th "}, {10, "5th "}});
  EXPECT_THAT(write(equal).events.at(0),
              ElementsAre(Event{10, "1st "}, Event{10, "2nd "}, Event{10, "4th "},
                          Event{10, "5th "}, Event{20, "3rd "}));
}

TEST_F(CpuStreamsTest, KeepsTheOrderOfArrivalOfEventsOfTheSameTimeAcrossPagesAndRuns) {
  for (const std::size_t late_budget : {1U, 100U, 1000U, 8U << 20U}) {
    CpuStreams equal = streams(kFormat, {1, late_budget});
    std::vector<Event> expected;
    // Pages of events of the same time, the next time in between, and as many late ones.
    for (std::uint32_t i = 0; i < 1000; ++i) expected.push_back({10, number(i)});
    append(equal, 0, expected);
    append(equal, 0, 20, "next");
    for (std::uint32_t i = 1000; i < 2000; ++i) {
      expected.push_back({10, number(i)});
      append(equal, 0, 10, number(i));
    }
    expected.push_back({20, "next"});
    EXPECT_EQ(write(equal).events.at(0), expected);
  }
}

TEST_F(CpuStreamsTest, KeepsTheOrderOfArrivalAfterAnEventThatIsLargerThanAPage) {
  CpuStreams mixed = streams();
  const std::string large(5000, 'x');
  append(mixed, 0,
         {{10, "1st "},
          {10, large},
          {10, "3rd "},
          {10, large},
          {11, "5th "},
          {10, "6th "},
          {11, "7th "}});
  EXPECT_THAT(write(mixed).events.at(0),
              ElementsAre(Event{10, "1st "}, Event{10, large}, Event{10, "3rd "}, Event{10, large},
                          Event{10, "6th "}, Event{11, "5th "}, Event{11, "7th "}));
}

TEST_F(CpuStreamsTest, SortsShuffledEventsWithLittleMemory) {
  // Four CPUs; many events have the same time, and those keep their order of arrival.
  std::mt19937 random(3);
  std::vector<std::pair<std::uint32_t, Event>> arrivals;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    arrivals.emplace_back(random() % 4, Event{random() % 30'000, fmt::format("{:08x}", i)});
  }
  CpuStreams shuffled = streams(kFormat, {16U << 10U, 32U << 10U});
  std::map<std::uint32_t, std::vector<Event>> expected;
  for (const auto& [cpu, event] : arrivals) {
    append(shuffled, cpu, event.time, event.payload);
    expected[cpu].push_back(event);
  }
  for (auto& [cpu, events] : expected) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
  }
  const Written written = write(shuffled);
  EXPECT_TRUE(written.events == expected);
}

TEST_F(CpuStreamsTest, SortsReversedEvents) {
  CpuStreams reversed = streams(kFormat, {4096, 10'000});
  std::vector<Event> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    append(reversed, 0, 20'000 - i, number(i));
    expected.push_back({20'000 - i, number(i)});
  }
  std::reverse(expected.begin(), expected.end());
  EXPECT_TRUE(write(reversed).events.at(0) == expected);
}

TEST_F(CpuStreamsTest, GivesLateEventsOfAnySizeBack) {
  // With and without a last word that is full; larger than what is read back in one piece.
  CpuStreams late = streams({ByteOrder::kLittle, 65536, 8}, kNoMemory);
  append(late, 0, 1000, "last");
  std::vector<Event> expected;
  for (std::size_t size = 0; size < 300; ++size) {
    expected.push_back({size, std::string(size, 'x')});
  }
  for (const std::size_t size : {32'756U, 32'757U, 40'000U, 65'512U}) {
    expected.push_back({400, std::string(size, 'y')});
  }
  append(late, 0, expected);
  expected.push_back({1000, "last"});
  for (Event& event : expected) event.payload.resize((event.payload.size() + 3) / 4 * 4);
  EXPECT_TRUE(write(late).events.at(0) == expected);
}

TEST_F(CpuStreamsTest, BeginsAPageAfterAGapThatIsTooLongForATimeExtend) {
  constexpr std::uint64_t kLater = 5 + (1ULL << 59U);
  CpuStreams ordered = streams();
  append(ordered, 0, {{5, "soon"}, {kLater, "late"}});
  CpuStreams merged = streams();
  append(merged, 0, {{kLater, "late"}, {5, "soon"}});
  for (CpuStreams* const each : {&ordered, &merged}) {
    const Written written = write(*each);
    EXPECT_EQ(written.ranges.at(0).size, 8192U);
    EXPECT_THAT(written.events.at(0), ElementsAre(Event{5, "soon"}, Event{kLater, "late"}));
  }
}

TEST_F(CpuStreamsTest, KeepsThousandsOfCpusApart) {
  constexpr std::uint32_t kCpus = 3000;
  CpuStreams many = streams();
  for (std::uint32_t cpu = kCpus; cpu-- > 0;) append(many, cpu, cpu, number(cpu));
  EXPECT_EQ(many.cpus(), kCpus);
  EXPECT_EQ(many.highest_cpu(), kCpus - 1);
  const Written written = write(many);
  ASSERT_THAT(written.ranges, SizeIs(kCpus));
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
    EXPECT_EQ(written.ranges[cpu].cpu, cpu);
    EXPECT_EQ(written.ranges[cpu].offset, cpu * 4096ULL);
    EXPECT_EQ(written.ranges[cpu].size, 4096U);
    EXPECT_THAT(written.events.at(cpu), ElementsAre(Event{cpu, number(cpu)}));
  }
}

TEST_F(CpuStreamsTest, KeepsNoPageOfACpuThatIsWritten) {
  constexpr std::uint32_t kCpus = 16384;  // 64 MiB of pages
  CpuStreams copied = streams();
  CpuStreams merged = streams();
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
    append(copied, cpu, 2, "2nd ");
    append(merged, cpu, 2, "2nd ");
    append(merged, cpu, 1, "1st ");
  }
  auto out = value_of(OutputFile::create(directory().path("out.dat"), false));
  for (CpuStreams* const each : {&copied, &merged}) {
    const MemoryLimit limit(24U << 20U);
    EXPECT_THAT(value_of(each->write(out, 0)), SizeIs(kCpus));
  }
}

TEST_F(CpuStreamsTest, WritesTheCpusInAscendingOrderWithoutThoseThatHaveNoEvent) {
  CpuStreams gaps = streams();
  for (const std::uint32_t cpu : {65535U, 0U, 300U}) append(gaps, cpu, 1, number(cpu));
  EXPECT_EQ(gaps.cpus(), 3U);
  EXPECT_EQ(gaps.highest_cpu(), 65535U);
  std::vector<std::uint32_t> cpus;
  for (const CpuRange& range : write(gaps).ranges) cpus.push_back(range.cpu);
  EXPECT_THAT(cpus, ElementsAre(0U, 300U, 65535U));
}

TEST_F(CpuStreamsTest, RefusesACpuThatNoFileCanHold) {
  CpuStreams refusing = streams();
  for (const std::uint32_t cpu : {65536U, ~0U}) {
    EXPECT_EQ(error_of(refusing.append(cpu, {1, {}}), Error::Kind::kOutput),
              fmt::format("a trace.dat can't hold events of CPU {}", cpu));
  }
  EXPECT_EQ(refusing.cpus(), 0U);
}

TEST_F(CpuStreamsTest, MakesThePagesOfAllCpusLargerForOneLargeEvent) {
  CpuStreams large = streams();
  std::vector<Event> small;
  for (std::uint32_t i = 0; i < 1000; ++i) small.push_back({10ULL * i, number(i)});
  append(large, 0, small);
  append(large, 2, {{5, "two "}, {4, "one "}});
  EXPECT_EQ(large.format().page_size, 4096U);
  append(large, 1, 77, std::string(4073, 'x'));
  EXPECT_EQ(large.format().page_size, 8192U);
  append(large, 1, 78, "more");

  const Written written = write(large, 4096);
  std::uint64_t end = 8192;
  for (const CpuRange& range : written.ranges) {
    EXPECT_EQ(range.offset, end);
    EXPECT_EQ(range.size % 8192, 0U);
    end += range.size;
  }
  EXPECT_EQ(written.bytes.size(), end);
  EXPECT_TRUE(written.events.at(0) == small);
  EXPECT_THAT(
      written.events.at(1),
      ElementsAre(Event{77, std::string(4073, 'x') + std::string(3, '\0')}, Event{78, "more"}));
  EXPECT_THAT(written.events.at(2), ElementsAre(Event{4, "one "}, Event{5, "two "}));
}

TEST_F(CpuStreamsTest, KeepsThePageSizeForAPayloadThatJustFits) {
  CpuStreams fits = streams();
  append(fits, 0, 1, std::string(4072, 'x'));
  EXPECT_EQ(fits.format().page_size, 4096U);
  CpuStreams four = streams({ByteOrder::kBig, 4096, 4});
  append(four, 0, 1, std::string(4076, 'x'));
  EXPECT_EQ(four.format().page_size, 4096U);
}

TEST_F(CpuStreamsTest, DoublesThePageSizeUntilThePayloadFits) {
  for (const auto& [payload, page_size] : std::vector<std::pair<std::size_t, std::uint32_t>>{
           {4073, 8192}, {8168, 8192}, {8169, 16384}, {32744, 32768}, {65512, 65536}}) {
    CpuStreams large = streams();
    append(large, 0, 1, std::string(payload, 'x'));
    EXPECT_EQ(large.format().page_size, page_size) << payload;
    std::string padded(payload, 'x');
    padded.resize((payload + 3) / 4 * 4);
    EXPECT_THAT(write(large).events.at(0), ElementsAre(Event{1, padded}));
  }
}

TEST_F(CpuStreamsTest, RefusesAPayloadThatNoPageHolds) {
  CpuStreams refusing = streams();
  const std::string payload(65513, 'x');
  EXPECT_EQ(error_of(refusing.append(0, {1, bytes_of(payload)}), Error::Kind::kOutput),
            "an event of 65513 bytes is larger than the largest page of a trace.dat");
}

TEST_F(CpuStreamsTest, BeginsAtTheFirstPageBoundaryAtOrAfterTheOffset) {
  for (const auto& [offset, first] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 0}, {1, 4096}, {4095, 4096}, {4096, 4096}, {4097, 8192}}) {
    CpuStreams one = streams();
    append(one, 0, 1, "abcd");
    const Written written = write(one, offset);
    EXPECT_EQ(written.ranges.at(0).offset, first);
    EXPECT_EQ(written.bytes.size(), first + 4096);
  }
}

TEST_F(CpuStreamsTest, WritesTheCpusOneAfterAnother) {
  for (const MemoryBudget budget : {MemoryBudget{}, kNoMemory}) {
    CpuStreams several = streams(kFormat, budget);
    for (std::uint32_t i = 0; i < 3000; ++i) {
      append(several, i % 3, i, number(i));
      // CPU 2 is merged, the others are copied.
      if (i % 3 == 2 && i > 10) append(several, 2, i - 5, number(i));
    }
    const Written written = write(several, 5000);
    std::uint64_t end = 8192;
    for (const CpuRange& range : written.ranges) {
      EXPECT_EQ(range.offset, end);
      EXPECT_GE(range.size, 8192U);
      EXPECT_EQ(range.size % 4096, 0U);
      end += range.size;
    }
    EXPECT_EQ(written.bytes.size(), end);
    EXPECT_THAT(written.events.at(0), SizeIs(1000));
    EXPECT_THAT(written.events.at(1), SizeIs(1000));
    EXPECT_THAT(written.events.at(2), SizeIs(1997));
  }
}

TEST_F(CpuStreamsTest, WritesTheSameBytesWhateverTheMemory) {
  std::vector<std::vector<std::byte>> files;
  for (const MemoryBudget budget :
       {MemoryBudget{}, kNoMemory, MemoryBudget{10'000, 1U << 20U}, MemoryBudget{1U << 20U, 500}}) {
    std::mt19937 random(4);
    CpuStreams same = streams({ByteOrder::kBig, 4096, 4}, budget);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      const std::uint32_t cpu = random() % 5;
      // CPUs 0 and 1 are in order; the others get an event now and then that is late.
      const std::uint64_t late = cpu > 1 && i > 1000 && random() % 10 == 0 ? random() % 1000 : 0;
      append(same, cpu, 100 * (i - late), std::string(random() % 40, 'x') + number(i));
    }
    files.push_back(write(same).bytes);
  }
  EXPECT_TRUE(files[1] == files[0]);
  EXPECT_TRUE(files[2] == files[0]);
  EXPECT_TRUE(files[3] == files[0]);
}

TEST_F(CpuStreamsTest, LeavesNothingBesideTheOutput) {
  {
    CpuStreams spilled = streams(kFormat, kNoMemory);
    for (std::uint32_t i = 0; i < 1000; ++i) append(spilled, 0, 1000 - i, number(i));
    EXPECT_THAT(directory().entries(), IsEmpty());
    write(spilled);
  }
  EXPECT_THAT(directory().entries(), IsEmpty());
}

TEST_F(CpuStreamsTest, MakesNoScratchFileForEventsThatAreInOrderAndFitIntoMemory) {
  // Nothing could be spilled into a directory that is not there.
  CpuStreams small({ByteOrder::kLittle, 4096, 8}, directory().path("missing/out.dat"));
  for (std::uint32_t i = 0; i < 1000; ++i) append(small, 0, i, number(i));
  EXPECT_THAT(write(small).events.at(0), SizeIs(1000));
}

TEST_F(CpuStreamsTest, ReportsThatItCannotSpillPages) {
  CpuStreams failing(kFormat, directory().path("missing/out.dat"), kNoMemory);
  const std::string payload(4072, 'x');
  append(failing, 0, 1, payload);
  EXPECT_THAT(error_of(failing.append(0, {2, bytes_of(payload)}), Error::Kind::kOutput),
              HasSubstr("cannot create a scratch file in '"));
}

TEST_F(CpuStreamsTest, ReportsThatItCannotSpillLateEvents) {
  CpuStreams failing(kFormat, directory().path("missing/out.dat"), kNoMemory);
  append(failing, 0, 2, "abcd");
  EXPECT_THAT(error_of(failing.append(0, {1, {}}), Error::Kind::kOutput),
              HasSubstr("cannot create a scratch file in '"));
}

TEST_F(CpuStreamsTest, ReportsAtTheEndThatItCannotSpillLateEvents) {
  CpuStreams failing(kFormat, directory().path("missing/out.dat"));
  append(failing, 0, {{2, "abcd"}, {1, "abcd"}});
  auto out = value_of(OutputFile::create(directory().path("out.dat"), false));
  EXPECT_THAT(error_of(failing.write(out, 0), Error::Kind::kOutput),
              HasSubstr("cannot create a scratch file in '"));
}

TEST_F(CpuStreamsTest, ReportsThatTheOutputCannotBeWritten) {
  const std::vector<Event> ordered{{1, std::string(4000, 'x')}, {2, std::string(4000, 'x')}};
  const std::vector<Event> reversed(ordered.rbegin(), ordered.rend());
  for (const auto& [events, budget] :
       {std::pair(ordered, MemoryBudget{}), std::pair(ordered, kNoMemory),
        std::pair(reversed, kNoMemory)}) {
    CpuStreams failing = streams(kFormat, budget);
    append(failing, 0, events);
    auto out = value_of(OutputFile::create(directory().path("out.dat"), false));
    // Enough for the scratch file, too little for what begins at 10,000.
    const FileSizeLimit limit(9'000);
    EXPECT_THAT(error_of(failing.write(out, 10'000), Error::Kind::kOutput),
                HasSubstr("cannot write it: "));
  }
}

}  // namespace
}  // namespace perf2dat::tracedat
