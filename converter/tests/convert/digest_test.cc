// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/conversions.h"
#include "testing/expected.h"
#include "testing/perf_data_builder.h"
#include "testing/places.h"
#include "testing/recordings.h"

namespace perf2dat {
namespace {

using testing::both_orders;
using testing::ByteOrderTest;
using testing::Bytes;
using testing::error_of;
using testing::Event;
using ::testing::HasSubstr;
using testing::order_name;

tracedat::RingEvent ring_event(const Event& event) { return {event.time, event.payload, 0}; }

Digest digest_of(const std::vector<Event>& events) {
  Digest digest;
  for (const Event& event : events) digest.add(ring_event(event));
  return digest;
}

std::uint64_t hash_of(const std::vector<Event>& events) { return digest_of(events).hash_sum; }

Bytes bytes(std::initializer_list<unsigned> values) {
  Bytes made;
  for (const unsigned value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

TEST(DigestOfEvents, CountsThemAndKnowsTheFirstAndTheLastTime) {
  const Digest digest = digest_of({{0, 20, {}}, {0, 10, {}}, {0, 15, {}}});
  EXPECT_EQ(digest.events, 3U);
  EXPECT_EQ(digest.first_time, 10U);
  EXPECT_EQ(digest.last_time, 20U);
}

TEST(DigestOfEvents, DoesNotDependOnTheirOrder) {
  const Event a{0, 10, bytes({1, 2, 3, 4})};
  const Event b{0, 10, bytes({5, 6, 7, 8})};
  const Event c{0, 11, bytes({9})};
  EXPECT_EQ(hash_of({a, b, c}), hash_of({c, b, a}));
}

TEST(DigestOfEvents, DependsOnEveryBitOfTimeAndData) {
  const Event event{0, 0x123456789, bytes({1, 2, 3, 4, 5, 6, 7, 8})};
  const std::uint64_t hash = hash_of({event});
  for (unsigned bit = 0; bit < 64; ++bit) {
    Event other = event;
    other.time ^= 1ULL << bit;
    EXPECT_NE(hash_of({other}), hash) << bit;
    other = event;
    other.payload[bit / 8] ^= std::byte{static_cast<std::uint8_t>(1U << bit % 8)};
    EXPECT_NE(hash_of({other}), hash) << bit;
  }
}

TEST(DigestOfEvents, NoticesDataThatChangedPlaces) {
  const Bytes a = bytes({1, 1, 1, 1});
  const Bytes b = bytes({2, 2, 2, 2});
  EXPECT_NE(hash_of({{0, 1, a}, {0, 2, b}}), hash_of({{0, 1, b}, {0, 2, a}}));
  EXPECT_NE(hash_of({{0, 1, a}, {0, 2, a}}), hash_of({{0, 1, b}, {0, 2, b}}));
}

TEST(DigestOfEvents, NoticesPairsOfEqualEvents) {
  // A sum that only toggled would not see an event twice.
  const Event a{0, 1, bytes({1, 1, 1, 1})};
  const Event b{0, 1, bytes({2, 2, 2, 2})};
  EXPECT_NE(hash_of({a, a}), hash_of({b, b}));
  EXPECT_NE(hash_of({a, a}), 0U);
}

TEST(DigestOfEvents, TakesDataForPaddedToWordsAsARingBufferPadsIt) {
  EXPECT_EQ(hash_of({{0, 1, bytes({1, 2, 3, 4, 5})}}),
            hash_of({{0, 1, bytes({1, 2, 3, 4, 5, 0, 0, 0})}}));
  EXPECT_NE(hash_of({{0, 1, bytes({1, 2, 3, 4})}}),
            hash_of({{0, 1, bytes({1, 2, 3, 4, 0, 0, 0, 0})}}));
}

TEST(DigestOfEvents, DoesNotCountMarksOfMissingOnes) {
  Digest digest = digest_of({{0, 20, {}}});
  digest.add({10, {}, 5});
  EXPECT_EQ(digest.events, 1U);
  EXPECT_EQ(digest.first_time, 20U);
  EXPECT_EQ(digest.hash_sum, hash_of({{0, 20, {}}}));
}

class CheckOutput : public ByteOrderTest {
 protected:
  CheckOutput() {
    auto builder = testing::ping_recording(GetParam());
    for (std::uint64_t i = 0; i < 300; ++i) {
      builder.add_sample(0, testing::ping(GetParam(),
                                          {1, 1000 + i * 7 + (i % 50 == 0 ? 1UL << 30U : 0),
                                           static_cast<std::uint32_t>(i % 3)},
                                          i));
    }
    const testing::Workshop workshop(builder.build());
    EXPECT_TRUE(workshop.convert());
    file_ = testing::read_file(workshop.directory().path("out.dat"));
    for (const Event& event : testing::read_trace_dat(file_).events) {
      recorded_[event.cpu].add(ring_event(event));
    }
  }

  Expected<void> check() const {
    return check_output(testing::reader_of(file_), file_.size(), recorded_);
  }
  std::string error() const { return error_of(check(), Error::Kind::kCheck); }

  Bytes file_;
  Digests recorded_;
};

INSTANTIATE_TEST_SUITE_P(Orders, CheckOutput, both_orders(), order_name);

TEST_P(CheckOutput, PassesWhereAllIsAsRecorded) {
  EXPECT_EQ(recorded_.size(), 3U);
  EXPECT_TRUE(check());
}

TEST_P(CheckOutput, TellsOfAnotherNumberOfEvents) {
  ++recorded_[1].events;
  EXPECT_EQ(error(), "CPU 1 has 100 events in the output, 101 in the recording");
}

TEST_P(CheckOutput, TellsOfAnotherFirstTime) {
  --recorded_[2].first_time;
  EXPECT_THAT(error(), HasSubstr("CPU 2 goes from 1014 to"));
}

TEST_P(CheckOutput, TellsOfAnotherLastTime) {
  ++recorded_[2].last_time;
  EXPECT_THAT(error(), HasSubstr("CPU 2 goes from 1014 to"));
}

TEST_P(CheckOutput, TellsOfOtherData) {
  ++recorded_[0].hash_sum;
  EXPECT_EQ(error(), "CPU 0 has other times or data in the output than in the recording");
}

TEST_P(CheckOutput, TellsOfACpuThatIsMissing) {
  recorded_[7].add({1000, {}, 0});
  EXPECT_EQ(error(), "CPU 7 has 0 events in the output, 1 in the recording");
}

TEST_P(CheckOutput, TellsOfACpuThatWasNotRecorded) {
  recorded_.erase(2);
  EXPECT_EQ(error(), "the output has events of 3 CPUs, the recording of 2");
}

TEST_P(CheckOutput, TellsOfEventsThatChangedTheirCpu) {
  std::swap(recorded_[0], recorded_[1]);
  EXPECT_THAT(error(), HasSubstr("CPU 0"));
}

TEST_P(CheckOutput, TellsOfAFileThatIsNoTraceDat) {
  file_[0] ^= std::byte{1};
  EXPECT_THAT(error(), HasSubstr("no trace.dat"));
}

TEST_P(CheckOutput, TellsOfAFileThatIsCutShort) {
  while (file_.size() > 1000) {
    file_.resize(file_.size() - 1000);
    EXPECT_NE(error(), "");
  }
}

TEST_P(CheckOutput, NoticesAChangedBitInAnyByteOfTheEvents) {
  const auto contents =
      testing::value_of(tracedat::read_contents(testing::reader_of(file_), file_.size()));
  for (const auto& range : contents.ranges) {
    for (std::uint64_t page = range.offset; page < range.offset + range.size; page += 4096) {
      const auto commit = load<std::uint64_t>(file_.data() + page + 8, GetParam());
      for (std::uint64_t at = page; at < page + 16 + commit; at += testing::places_step()) {
        // Some bits of commit tell of lost events and do not change those that are there.
        if (at >= page + 8 && at < page + 16) continue;
        const std::byte bit{static_cast<std::uint8_t>(1U << at % 8)};
        file_[at] ^= bit;
        EXPECT_FALSE(check()) << at;
        file_[at] ^= bit;
      }
    }
  }
}

TEST_P(CheckOutput, HandsOnWhatTheReaderCanNotRead) {
  const tracedat::ReadAt fails = [](std::uint64_t, std::span<std::byte>) -> Expected<std::size_t> {
    return output_error("cannot read it back: reason");
  };
  EXPECT_EQ(error_of(check_output(fails, file_.size(), recorded_), Error::Kind::kOutput),
            "cannot read it back: reason");
}

}  // namespace
}  // namespace perf2dat
