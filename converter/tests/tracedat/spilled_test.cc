// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/spilled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr PageFormat kFormat{ByteOrder::kLittle, 4096, 8};
constexpr std::size_t kChunk = 64;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class SpilledTest : public ::testing::Test {
 protected:
  ScratchFile& file() { return file_; }

  /// Appends a page with an event at a time; returns its offset.
  std::uint64_t append_page(std::uint64_t time) {
    PagePacker packer(kFormat);
    EXPECT_TRUE(packer.append({time, bytes_of("abcd")}));
    return value_of(file_.append(finish(packer)));
  }

 private:
  TemporaryDirectory directory_;
  ScratchFile file_ = value_of(ScratchFile::create_beside(directory_.path("out.dat")));
};

using PageCursorTest = SpilledTest;
using RunCursorTest = SpilledTest;

TEST_F(PageCursorTest, GoesThroughThePagesOfSeveralPlacesAndKnowsWhenTheNextBegins) {
  std::vector<Extent> extents;
  std::uint64_t time = 1;
  // More pages than the cursor's buffer holds.
  for (const std::uint64_t pages : {1U, 100U, 30U}) {
    value_of(file().append(bytes_of(std::string(100, 'z'))));
    Extent extent{0, pages * 4096};
    for (std::uint64_t i = 0; i < pages; ++i) {
      const std::uint64_t offset = append_page(time++);
      if (i == 0) extent.offset = offset;
    }
    extents.push_back(extent);
  }
  PageCursor cursor(file(), kFormat, extents);
  for (std::uint64_t expected = 1; expected < time; ++expected) {
    ASSERT_TRUE(value_of(cursor.advance()));
    PageReader reader(kFormat, cursor.page());
    EXPECT_EQ(reader.next()->time, expected);
    EXPECT_EQ(cursor.next_time(), expected + 1 == time ? 0 : expected + 1);
  }
  EXPECT_FALSE(value_of(cursor.advance()));
}

TEST_F(PageCursorTest, HasNothingWithoutPages) {
  PageCursor none(file(), kFormat, {});
  EXPECT_FALSE(value_of(none.advance()));
  PageCursor empty(file(), kFormat, {{0, 0}});
  EXPECT_FALSE(value_of(empty.advance()));
}

TEST_F(SpilledTest, ReportsAScratchFileThatBecameShorter) {
  PageCursor pages(file(), kFormat, {{0, 4096}});
  EXPECT_EQ(error_of(pages.advance(), Error::Kind::kOutput),
            "the scratch file beside the output became shorter");
  RunCursor run(file(), {0, 100}, kChunk);
  EXPECT_EQ(error_of(run.advance(), Error::Kind::kOutput),
            "the scratch file beside the output became shorter");
}

TEST_F(RunCursorTest, GoesThroughEventsAndMarksInOrder) {
  std::vector<std::byte> run;
  const std::string large(40'000, 'x');
  RunCursor::encode({1, bytes_of("abcd")}, run);
  RunCursor::encode({2, {}, 7}, run);
  RunCursor::encode({3, bytes_of(large)}, run);
  RunCursor::encode({3, bytes_of("y")}, run);
  const std::string before(100, 'z');
  value_of(file().append(bytes_of(before)));
  const std::uint64_t offset = value_of(file().append(run));
  value_of(file().append(bytes_of(before)));
  RunCursor cursor(file(), {offset, run.size()}, kChunk);
  std::vector<std::pair<std::uint64_t, std::string>> events;
  std::vector<std::uint64_t> missed;
  while (value_of(cursor.advance())) {
    events.emplace_back(cursor.event().time, text_of(cursor.event().payload));
    missed.push_back(cursor.event().missed);
  }
  EXPECT_THAT(events, ElementsAre(Pair(1, "abcd"), Pair(2, ""), Pair(3, large), Pair(3, "y")));
  EXPECT_THAT(missed, ElementsAre(0, 7, 0, 0));
  EXPECT_FALSE(value_of(cursor.advance()));
}

TEST_F(RunCursorTest, ReportsARunThatIsNotWhatWasWritten) {
  std::vector<std::byte> run;
  RunCursor::encode({1, bytes_of("abcd")}, run);
  run[16] = std::byte{5};
  run[19] = std::byte{5};
  value_of(file().append(run));
  value_of(file().append(run));
  // A header that is not whole, and one that promises more than the run has.
  RunCursor cut(file(), {0, 11}, kChunk);
  EXPECT_EQ(error_of(cut.advance(), Error::Kind::kOutput),
            "the scratch file beside the output was changed by somebody");
  RunCursor damaged(file(), {0, run.size()}, kChunk);
  EXPECT_EQ(error_of(damaged.advance(), Error::Kind::kOutput),
            "the scratch file beside the output was changed by somebody");
}

}  // namespace
}  // namespace perf2dat::tracedat
