// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/page_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testing/expected.h"
#include "testing/files.h"
#include "testing/pages.h"

namespace perf2dat::tracedat {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::finish;
using perf2dat::testing::TemporaryDirectory;
using perf2dat::testing::value_of;
using ::testing::HasSubstr;

constexpr PageFormat kFormat{ByteOrder::kLittle, 4096, 8};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class PageMergerTest : public ::testing::Test {
 protected:
  /// Adds a page with events of these times.
  void add_page(const std::vector<std::uint64_t>& times, std::uint64_t missed = 0) {
    PagePacker packer(kFormat);
    if (missed != 0) {
      EXPECT_TRUE(packer.append({times.front(), {}, missed}));
    }
    for (const std::uint64_t time : times) EXPECT_TRUE(packer.append({time, bytes_of("page")}));
    const auto page = finish(packer);
    pages_.emplace_back(page.begin(), page.end());
    stream_.pages.push_back({value_of(file_.append(page)), page.size()});
  }

  void add_run(const std::vector<RingEvent>& events) {
    std::vector<std::byte> run;
    for (const auto& event : events) RunCursor::encode(event, run);
    stream_.runs.push_back({value_of(file_.append(run)), run.size()});
  }

  Merged merge(PageFormat to = kFormat) {
    auto out = value_of(OutputFile::create(directory_.path("out.dat"), false));
    const Merged merged = value_of(merge_pages(file_, stream_, kFormat, to, out, 4096));
    EXPECT_EQ((merged.end - 4096) % to.page_size, 0U);
    written_.clear();
    for (std::uint64_t at = 4096; at < merged.end; at += to.page_size) {
      written_.emplace_back(to.page_size);
      EXPECT_EQ(value_of(out.read_at(at, written_.back())), to.page_size);
    }
    return merged;
  }

  /// "10 20* [3 missed] 30": the events of the output, those of runs with a star.
  std::string events(PageFormat format = kFormat) const {
    std::string text;
    for (const auto& page : written_) {
      PageReader reader(format, page);
      while (const auto event = reader.next()) {
        if (!text.empty()) text += ' ';
        if (event->is_mark()) {
          text += fmt::format("[{} missed]", event->missed);
        } else {
          text += fmt::format("{}{}", event->time, event->payload[0] == std::byte{'r'} ? "*" : "");
        }
      }
      EXPECT_EQ(reader.damage(), nullptr);
    }
    return text;
  }

  const std::vector<std::vector<std::byte>>& pages() const { return pages_; }
  const std::vector<std::vector<std::byte>>& written() const { return written_; }
  ScratchFile& file() { return file_; }
  SpilledStream& stream() { return stream_; }

 private:
  TemporaryDirectory directory_;
  ScratchFile file_ = value_of(ScratchFile::create_beside(directory_.path("scratch")));
  SpilledStream stream_;
  std::vector<std::vector<std::byte>> pages_;
  std::vector<std::vector<std::byte>> written_;
};

RingEvent late(std::uint64_t time) { return {time, bytes_of("run!")}; }

TEST_F(PageMergerTest, WritesPagesThatNoLateEventFallsIntoAsTheyAre) {
  add_page({10, 20});
  add_page({30, 40});
  add_page({50, 60});
  add_page({70});
  add_run({late(35)});
  merge();
  EXPECT_EQ(events(), "10 20 30 35* 40 50 60 70");
  EXPECT_EQ(written()[0], pages()[0]);
  EXPECT_EQ(written()[2], pages()[2]);
  EXPECT_EQ(written()[3], pages()[3]);
}

TEST_F(PageMergerTest, PutsLateEventsBeforeBetweenAndAfterAllPages) {
  add_page({10, 20});
  add_page({30, 40});
  add_run({late(5), late(25), late(45)});
  add_run({late(6), late(26), late(46)});
  merge();
  EXPECT_EQ(events(), "5* 6* 10 20 25* 26* 30 40 45* 46*");
}

TEST_F(PageMergerTest, PutsALateEventAfterAllPackedOnesOfItsTime) {
  add_page({10, 20});
  add_page({20, 20, 30});
  add_run({late(20)});
  merge();
  EXPECT_EQ(events(), "10 20 20 20 20* 30");
}

TEST_F(PageMergerTest, MergesRunsAlone) {
  add_run({late(2), late(4)});
  add_run({late(1), late(4)});
  merge();
  EXPECT_EQ(events(), "1* 2* 4* 4*");
}

TEST_F(PageMergerTest, RepacksAllPagesWhenTheFormatsDiffer) {
  add_page({10});
  add_page({20});
  PageFormat large = kFormat;
  large.page_size = 16384;
  merge(large);
  EXPECT_EQ(written().size(), 1U);
  EXPECT_EQ(events(large), "10 20");
}

TEST_F(PageMergerTest, KeepsMarksOfPagesThatAreCopiedAndOfThoseThatAreRepacked) {
  add_page({10});
  add_page({20}, 3);
  add_page({30, 50}, 4);
  add_run({late(40)});
  merge();
  EXPECT_EQ(events(), "10 [3 missed] 20 [4 missed] 30 40* 50");
}

TEST_F(PageMergerTest, PutsALateMarkBeforeTheNextEventAlsoIfThatBeginsAPage) {
  add_page({10});
  add_page({20});
  add_page({30});
  add_run({{15, {}, 7}});
  EXPECT_EQ(merge().unplaced_missed, 0U);
  EXPECT_EQ(events(), "10 [7 missed] 20 30");
}

TEST_F(PageMergerTest, TellsOfAMarkThatNoEventFollows) {
  add_page({10});
  add_run({{15, {}, 7}});
  EXPECT_EQ(merge().unplaced_missed, 7U);
  EXPECT_EQ(events(), "10");
}

TEST_F(PageMergerTest, ReportsAPageThatIsNotWhatWasWritten) {
  stream().pages.push_back({value_of(file().append(bytes_of(std::string(4096, '\xff')))), 4096});
  add_run({late(1)});
  TemporaryDirectory directory;
  auto out = value_of(OutputFile::create(directory.path("out.dat"), false));
  EXPECT_THAT(
      error_of(merge_pages(file(), stream(), kFormat, kFormat, out, 0), Error::Kind::kOutput),
      HasSubstr("changed by somebody: commit reaches beyond the page"));
}

}  // namespace
}  // namespace perf2dat::tracedat
