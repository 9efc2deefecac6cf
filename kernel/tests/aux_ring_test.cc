// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "aux_ring_cursors.h"

namespace {

/// Holds what any cursor counts and a multiple of it, so that nothing wraps.
using Unbounded = __int128;

template <typename Ring>
using Cursor = typename Ring::Cursor;

/// What a cursor of this position is.
template <typename Ring, typename Wide>
constexpr Cursor<Ring> cursor_of(Wide position) {
  return static_cast<Cursor<Ring>>(position);
}

// What is right, by integers that do not wrap.

template <typename Wide>
Wide space_of(Wide head, Wide tail, Wide size) {
  return head - tail < size ? size - 1 - (head - tail) : 0;
}

template <typename Wide>
Wide last_position(Wide head, Wide wakeup, Wide watermark) {
  return wakeup + (head - wakeup) / watermark * watermark;
}

/// What perf_aux_output_begin() granted before it used the header: <linux/circ_buf.h>'s
/// CIRC_SPACE().
template <typename Integer>
Integer granted_before(Integer head, Integer tail, Integer size) {
  if (static_cast<Integer>(head - tail) >= size) return 0;
  return static_cast<Integer>((tail - (head + 1)) & (size - 1));
}

template <typename... Values>
std::string in_words(const char* what, Values... values) {
  std::ostringstream text;
  text << what;
  ((text << ' ' << static_cast<std::int64_t>(values)), ...);
  return text.str();
}

// Every state of cursors of 8 bits.
//
// Each of these returns the first state in which the header is wrong, or an empty string. Cursors
// stand for positions from 256 on: those before have wrapped once.

constexpr std::int64_t kCount = 256;  // of values that a cursor has

/// Calls check(tail, head) for every tail, and every head that is up to 255 bytes ahead of it,
/// until it returns something.
template <typename Check>
std::string each_window(Check check) {
  for (std::int64_t tail = kCount; tail < 2 * kCount; ++tail) {
    for (std::int64_t head = tail; head < tail + kCount; ++head) {
      if (std::string found = check(tail, head); !found.empty()) return found;
    }
  }
  return {};
}

template <typename Ring>
std::string wrong_used() {
  return each_window([](std::int64_t tail, std::int64_t head) -> std::string {
    const auto used = Ring::aux_ring_used(cursor_of<Ring>(head), cursor_of<Ring>(tail));
    return used == head - tail ? "" : in_words("tail, head, used:", tail, head, used);
  });
}

template <typename Ring>
std::string wrong_space() {
  return each_window([](std::int64_t tail, std::int64_t head) -> std::string {
    for (std::int64_t size = 1; size <= kCount / 2; size *= 2) {
      const auto space =
          Ring::aux_ring_space(cursor_of<Ring>(head), cursor_of<Ring>(tail), cursor_of<Ring>(size));
      if (space != space_of(head, tail, size)) {
        return in_words("tail, head, size, space:", tail, head, size, space);
      }
    }
    return {};
  });
}

template <typename Ring>
std::string space_that_differs_from_before() {
  return each_window([](std::int64_t tail, std::int64_t head) -> std::string {
    for (std::int64_t size = 1; size <= kCount / 2; size *= 2) {
      const auto h = cursor_of<Ring>(head);
      const auto t = cursor_of<Ring>(tail);
      const auto s = cursor_of<Ring>(size);
      if (Ring::aux_ring_space(h, t, s) != granted_before(h, t, s)) {
        return in_words("tail, head, size:", tail, head, size);
      }
    }
    return {};
  });
}

/// Of each cursor, the bytes from there to the head if it is one of [tail, head], else -1.
std::array<std::int64_t, kCount> bytes_ahead(std::int64_t tail, std::int64_t head) {
  std::array<std::int64_t, kCount> ahead{};
  ahead.fill(-1);
  for (std::int64_t position = tail; position <= head; ++position) {
    ahead.at(position % kCount) = head - position;
  }
  return ahead;
}

template <typename Ring>
std::string wrong_range() {
  return each_window([](std::int64_t tail, std::int64_t head) -> std::string {
    const auto ahead = bytes_ahead(tail, head);
    const auto is_wrong = [&](std::int64_t from, std::int64_t length) {
      const bool valid = Ring::aux_ring_range_valid(cursor_of<Ring>(head), cursor_of<Ring>(tail),
                                                    cursor_of<Ring>(from), cursor_of<Ring>(length));
      return valid != (length <= ahead[from]);
    };
    for (std::int64_t from = 0; from < kCount; ++from) {
      int wrong = 0;  // without a branch: this is done 2^32 times
      for (std::int64_t length = 0; length < kCount; ++length) {
        wrong += is_wrong(from, length) ? 1 : 0;
      }
      for (std::int64_t length = 0; wrong != 0 && length < kCount; ++length) {
        if (is_wrong(from, length)) {
          return in_words("tail, head, from, length:", tail, head, from, length);
        }
      }
    }
    return {};
  });
}

template <typename Ring>
std::string wrong_tail() {
  return each_window([](std::int64_t tail, std::int64_t head) -> std::string {
    const auto ahead = bytes_ahead(tail, head);
    for (std::int64_t to = 0; to < kCount; ++to) {
      const bool valid = Ring::aux_ring_tail_valid(cursor_of<Ring>(head), cursor_of<Ring>(tail),
                                                   cursor_of<Ring>(to));
      if (valid != (ahead[to] >= 0)) return in_words("tail, head, to:", tail, head, to);
    }
    return {};
  });
}

template <typename Ring>
std::string wrong_wakeup() {
  return each_window([](std::int64_t wakeup, std::int64_t head) -> std::string {
    for (std::int64_t watermark = 1; watermark < kCount; ++watermark) {
      const auto passed = Ring::aux_ring_wakeup(cursor_of<Ring>(head), cursor_of<Ring>(wakeup),
                                                cursor_of<Ring>(watermark));
      std::int64_t expected = wakeup;
      while (expected + watermark <= head) expected += watermark;
      if (passed != cursor_of<Ring>(expected)) {
        return in_words("wakeup, head, watermark, passed:", wakeup, head, watermark, passed);
      }
    }
    return {};
  });
}

/// Calls check(size, page size) for every ring that cursors can count, until it returns something.
template <typename Check>
std::string each_ring(Check check) {
  for (std::int64_t size = 1; size <= kCount / 2; size *= 2) {
    for (std::int64_t page_size = 1; page_size <= size; page_size *= 2) {
      if (std::string found = check(size, page_size); !found.empty()) return found;
    }
  }
  return {};
}

template <typename Ring>
std::string wrong_page() {
  return each_ring([](std::int64_t size, std::int64_t page_size) -> std::string {
    for (std::int64_t at = kCount; at < 2 * kCount; ++at) {
      const auto page = Ring::aux_ring_page(cursor_of<Ring>(at), cursor_of<Ring>(size),
                                            cursor_of<Ring>(page_size));
      if (page != at % size / page_size) {
        return in_words("cursor, size, page size, page:", at, size, page_size, page);
      }
    }
    return {};
  });
}

template <typename Ring>
std::string wrong_segment() {
  for (std::int64_t page_size = 1; page_size <= kCount / 2; page_size *= 2) {
    for (std::int64_t from = kCount; from < 2 * kCount; ++from) {
      for (std::int64_t length = 0; length < kCount; ++length) {
        const auto segment = Ring::aux_ring_segment(cursor_of<Ring>(from), cursor_of<Ring>(length),
                                                    cursor_of<Ring>(page_size));
        std::int64_t expected = 0;
        while (expected < length && (from + expected) / page_size == from / page_size) ++expected;
        if (segment != expected) {
          return in_words("from, length, page size, segment:", from, length, page_size, segment);
        }
      }
    }
  }
  return {};
}

/// Goes over the segments of a range as perf_event_aux_copy() does, and sees whether they are its
/// bytes, in their order.
template <typename Ring>
std::string wrong_segments(std::int64_t from, std::int64_t length, std::int64_t size,
                           std::int64_t page_size) {
  auto cursor = cursor_of<Ring>(from);
  auto rest = cursor_of<Ring>(length);
  std::int64_t at = from;
  while (rest != 0) {
    const std::int64_t page =
        Ring::aux_ring_page(cursor, cursor_of<Ring>(size), cursor_of<Ring>(page_size));
    const auto segment = Ring::aux_ring_segment(cursor, rest, cursor_of<Ring>(page_size));
    const bool is_next = page * page_size + cursor % page_size == at % size;
    if (!is_next || segment == 0 || segment > rest || at % page_size + segment > page_size) {
      return in_words("from, length, size, page size, at:", from, length, size, page_size, at);
    }
    cursor = cursor_of<Ring>(cursor + segment);
    rest = cursor_of<Ring>(rest - segment);
    at += segment;
  }
  return at == from + length ? "" : in_words("from, length, at:", from, length, at);
}

template <typename Ring>
std::string wrong_size() {
  for (std::int64_t page_size = 1; page_size <= kCount / 2; page_size *= 2) {
    for (std::int64_t pages = 0; pages < kCount; ++pages) {
      const bool valid =
          Ring::aux_ring_size_valid(cursor_of<Ring>(pages), cursor_of<Ring>(page_size));
      const bool expected =
          std::popcount(static_cast<std::uint64_t>(pages)) == 1 && pages * page_size <= kCount / 2;
      if (valid != expected) return in_words("pages, page size:", pages, page_size);
    }
  }
  return {};
}

TEST(EveryStateOf8Bits, UsedIsTheDistanceOfTailAndHead) { EXPECT_EQ(wrong_used<Ring8>(), ""); }

TEST(EveryStateOf8Bits, SpaceLeavesOneByteFreeAndIsNoneForAnInvalidTail) {
  EXPECT_EQ(wrong_space<Ring8>(), "");
}

TEST(EveryStateOf8Bits, SpaceIsWhatBeginGrantedBefore) {
  EXPECT_EQ(space_that_differs_from_before<Ring8>(), "");
}

TEST(EveryStateOf8Bits, ARangeIsValidThatLiesBetweenTailAndHead) {
  EXPECT_EQ(wrong_range<Ring8>(), "");
}

TEST(EveryStateOf8Bits, TheTailMovesForwardAndUpToTheHead) { EXPECT_EQ(wrong_tail<Ring8>(), ""); }

TEST(EveryStateOf8Bits, ThePageIsThatOfTheOffsetInTheRing) { EXPECT_EQ(wrong_page<Ring8>(), ""); }

TEST(EveryStateOf8Bits, ASegmentEndsWithItsPage) { EXPECT_EQ(wrong_segment<Ring8>(), ""); }

TEST(EveryStateOf8Bits, SegmentsAreTheBytesOfARangeInOrder) {
  EXPECT_EQ(each_ring([](std::int64_t size, std::int64_t page_size) -> std::string {
              for (std::int64_t from = kCount; from < 2 * kCount; ++from) {
                for (std::int64_t length = 0; length <= size; ++length) {
                  std::string found = wrong_segments<Ring8>(from, length, size, page_size);
                  if (!found.empty()) return found;
                }
              }
              return {};
            }),
            "");
}

TEST(EveryStateOf8Bits, AWakeupIsTheLastMultipleOfTheWatermarkPassed) {
  EXPECT_EQ(wrong_wakeup<Ring8>(), "");
}

TEST(EveryStateOf8Bits, ARingHasAPowerOfTwoOfPagesAndHalfOfWhatACursorCountsAtMost) {
  EXPECT_EQ(wrong_size<Ring8>(), "");
}

// Cursors that are signed by mistake are wrong in all that compares; if they were not noticed here,
// the tests above would not look at what matters.
TEST(SignedCursors, AreNoticed) {
  EXPECT_NE(wrong_used<SignedRing8>(), "");
  EXPECT_NE(wrong_space<SignedRing8>(), "");
  EXPECT_NE(wrong_range<SignedRing8>(), "");
  EXPECT_NE(wrong_tail<SignedRing8>(), "");
  EXPECT_NE(wrong_segment<SignedRing8>(), "");
  EXPECT_NE(wrong_wakeup<SignedRing8>(), "");
  EXPECT_NE(wrong_size<SignedRing8>(), "");
}

TEST(KernelsCursors, AreUnsignedLong) {
  EXPECT_TRUE((std::is_same_v<Cursor<KernelRing>, unsigned long>));
}

// Cursors of all widths.

template <typename Ring>
constexpr Unbounded kValues = Unbounded{1} << (8 * sizeof(Cursor<Ring>));

/// One state, in integers that do not wrap. `from` is any position.
struct State {
  Unbounded tail;
  Unbounded head;
  Unbounded from;
  Unbounded length;
  Unbounded size;
  Unbounded page_size;
  Unbounded watermark;
};

/// Compares all functions with what is right in this state.
template <typename Ring>
bool is_right(const State& state) {
  const auto tail = cursor_of<Ring>(state.tail);
  const auto head = cursor_of<Ring>(state.head);
  const auto from = cursor_of<Ring>(state.from);
  const auto length = cursor_of<Ring>(state.length);
  const auto size = cursor_of<Ring>(state.size);
  const auto page_size = cursor_of<Ring>(state.page_size);
  const auto watermark = cursor_of<Ring>(state.watermark);
  // The first position from the tail on that has the cursor `from`.
  const Unbounded values = kValues<Ring>;
  const Unbounded first = state.tail + ((state.from - state.tail) % values + values) % values;
  const Unbounded segment = std::min(state.length, state.page_size - state.from % state.page_size);
  return Ring::aux_ring_used(head, tail) == state.head - state.tail &&
         Ring::aux_ring_space(head, tail, size) == space_of(state.head, state.tail, state.size) &&
         Ring::aux_ring_range_valid(head, tail, from, length) ==
             (first + state.length <= state.head) &&
         Ring::aux_ring_tail_valid(head, tail, from) == (first <= state.head) &&
         Ring::aux_ring_page(from, size, page_size) == state.from % state.size / state.page_size &&
         Ring::aux_ring_segment(from, length, page_size) == segment &&
         Ring::aux_ring_wakeup(head, tail, watermark) ==
             cursor_of<Ring>(last_position(state.head, state.tail, state.watermark));
}

template <typename Ring>
std::string in_words(const State& state) {
  std::ostringstream text;
  for (const Unbounded value : {state.tail, state.head, state.from, state.length, state.size,
                                state.page_size, state.watermark}) {
    text << ' ' << static_cast<std::uint64_t>(cursor_of<Ring>(value));
  }
  return "tail, head, from, length, size, page size, watermark:" + text.str();
}

template <typename Ring>
class EachWidth : public testing::Test {};

using Rings = testing::Types<Ring8, Ring16, Ring32, Ring64, KernelRing>;

TYPED_TEST_SUITE(EachWidth, Rings);

TYPED_TEST(EachWidth, CursorsAreUnsigned) {
  EXPECT_TRUE(std::unsigned_integral<Cursor<TypeParam>>);
}

TYPED_TEST(EachWidth, ARingIsHalfOfWhatACursorCountsAtMost) {
  using Integer = Cursor<TypeParam>;
  const Unbounded half = kValues<TypeParam> / 2;
  EXPECT_TRUE(TypeParam::kMaxSize == half);
  for (Unbounded page_size = 1; page_size <= half; page_size *= 2) {
    const auto page = cursor_of<TypeParam>(page_size);
    const auto most = cursor_of<TypeParam>(half / page_size);
    EXPECT_TRUE(TypeParam::aux_ring_size_valid(most, page));
    EXPECT_FALSE(TypeParam::aux_ring_size_valid(0, page));
    EXPECT_FALSE(TypeParam::aux_ring_size_valid(static_cast<Integer>(most * 2), page));
    EXPECT_EQ(TypeParam::aux_ring_size_valid(static_cast<Integer>(most - 1), page),
              most == 2 || most == 3);
    EXPECT_FALSE(TypeParam::aux_ring_size_valid(std::numeric_limits<Integer>::max(), page));
  }
}

/// 0, 1, and what is up to 2 bytes from the values where something changes.
template <typename Ring>
std::vector<Unbounded> edges(Unbounded size, Unbounded page_size) {
  std::vector<Unbounded> found;
  for (const Unbounded edge :
       {Unbounded{0}, page_size, size / 2, size, kValues<Ring> / 2, kValues<Ring>}) {
    for (Unbounded near = edge - 2; near <= edge + 2; ++near) {
      if (near >= 0 && near < kValues<Ring>) found.push_back(near);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

TYPED_TEST(EachWidth, EdgesAreThoseOfIntegersThatDoNotWrap) {
  const Unbounded half = kValues<TypeParam> / 2;
  for (const Unbounded size : {Unbounded{16}, Unbounded{64}, half / 2, half}) {
    for (const Unbounded page_size : {Unbounded{1}, Unbounded{8}, size}) {
      const auto values = edges<TypeParam>(size, page_size);
      for (const Unbounded tail : values) {
        for (const Unbounded used : values) {
          for (const Unbounded from : values) {
            for (const Unbounded length : values) {
              const Unbounded base = kValues<TypeParam> + tail;
              const State state{base, base + used, kValues<TypeParam> + from,     length,
                                size, page_size,   std::max(length, Unbounded{1})};
              ASSERT_TRUE(is_right<TypeParam>(state)) << in_words<TypeParam>(state);
            }
          }
        }
      }
    }
  }
}

/// Random numbers of all magnitudes below a limit.
class Numbers {
 public:
  explicit Numbers(unsigned seed) : random_(seed) {}

  Unbounded below(Unbounded limit) {
    const auto magnitude = random_() % 64;
    return Unbounded{random_() >> magnitude} % limit;
  }

  Unbounded power_of_two(Unbounded most) {
    int bits = 0;
    while (Unbounded{2} << bits <= most) ++bits;
    return Unbounded{1} << (random_() % (bits + 1));
  }

 private:
  std::mt19937_64 random_;
};

TYPED_TEST(EachWidth, RandomStatesAreThoseOfIntegersThatDoNotWrap) {
  const Unbounded values = kValues<TypeParam>;
  Numbers numbers(1);
  for (int i = 0; i < 1'000'000; ++i) {
    State state{};
    state.size = numbers.power_of_two(values / 2);
    state.page_size = numbers.power_of_two(state.size);
    state.tail = values + numbers.below(values);
    // Half of them where there is a wrap between tail and head.
    if (i % 2 == 0) state.tail = 2 * values - 1 - numbers.below(state.size);
    const Unbounded used = numbers.below(i % 3 == 0 ? values : state.size);
    const Unbounded up_to_the_head = std::min(used + 2, values);  // and a byte beyond
    state.head = state.tail + used;
    state.from = state.tail + numbers.below(i % 5 == 0 ? values : up_to_the_head);
    state.length = numbers.below(i % 7 == 0 ? values : up_to_the_head);
    state.watermark = 1 + numbers.below(state.size);
    ASSERT_TRUE(is_right<TypeParam>(state)) << in_words<TypeParam>(state);
  }
}

// A ring in use.

/// A writer and a reader of a ring as the kernel's, and beside it the same as a queue of bytes.
template <typename Ring>
class RingInUse {
 public:
  using Integer = Cursor<Ring>;

  RingInUse(Integer start, Integer size, Integer page_size, Integer watermark)
      : size_(size),
        page_size_(page_size),
        watermark_(watermark),
        pages_(size / page_size, std::vector<std::uint8_t>(page_size)),
        unread_(size),
        head_(start),
        tail_(start),
        wakeup_(start),
        produced_(start),
        woken_at_(start) {}

  Integer space() const { return Ring::aux_ring_space(head_, tail_, size_); }
  std::size_t unread() const { return queue_.size(); }
  Unbounded produced() const { return produced_; }

  /// Writes bytes each of which tells its position.
  void produce(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<std::uint8_t>(produced_ * 167 + produced_ / 256 * 13);
      const auto cursor = static_cast<Integer>(head_ + i);
      ASSERT_FALSE(unread_at(cursor)) << "it writes over what has not been read";
      unread_at(cursor) = true;
      byte_at(cursor) = byte;
      queue_.emplace_back(byte);
      ++produced_;
    }
    publish(count);
  }

  /// Leaves bytes out.
  void skip(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_FALSE(unread_at(static_cast<Integer>(head_ + i)));
      unread_at(static_cast<Integer>(head_ + i)) = true;
      queue_.emplace_back(std::nullopt);
      ++produced_;
    }
    publish(count);
  }

  /// Reads bytes, `offset` from the tail on, as perf_event_aux_copy() does.
  void copy(std::size_t offset, std::size_t count) const {
    auto from = static_cast<Integer>(tail_ + offset);
    auto length = static_cast<Integer>(count);
    const bool is_there = offset + count <= queue_.size();
    ASSERT_EQ(Ring::aux_ring_range_valid(head_, tail_, from, length), is_there);
    if (!is_there) return;
    std::vector<std::uint8_t> bytes;
    while (length != 0) {
      const auto& page = pages_.at(Ring::aux_ring_page(from, size_, page_size_));
      const Integer segment = Ring::aux_ring_segment(from, length, page_size_);
      const std::size_t begin = from % page_size_;
      ASSERT_TRUE(segment != 0 && segment <= length && begin + segment <= page.size());
      bytes.insert(bytes.end(), page.begin() + begin, page.begin() + begin + segment);
      from = static_cast<Integer>(from + segment);
      length = static_cast<Integer>(length - segment);
    }
    ASSERT_EQ(bytes.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(bytes[i], queue_[offset + i].value_or(bytes[i]));
    }
  }

  /// Releases bytes, if there are as many.
  void consume(std::size_t count) {
    const auto to = static_cast<Integer>(tail_ + count);
    const bool is_there = count <= queue_.size();
    ASSERT_EQ(Ring::aux_ring_tail_valid(head_, tail_, to), is_there);
    if (!is_there) return;
    for (std::size_t i = 0; i < count; ++i) {
      unread_at(static_cast<Integer>(tail_ + i)) = false;
      queue_.pop_front();
    }
    tail_ = to;
  }

  void expect_what_the_queue_has() const {
    ASSERT_EQ(Ring::aux_ring_used(head_, tail_), queue_.size());
    ASSERT_EQ(space(), size_ - 1 - queue_.size());
    ASSERT_EQ(head_, cursor_of<Ring>(produced_));
    ASSERT_EQ(wakeup_, cursor_of<Ring>(woken_at_));
  }

 private:
  std::uint8_t& byte_at(Integer cursor) {
    return pages_.at(Ring::aux_ring_page(cursor, size_, page_size_)).at(cursor % page_size_);
  }
  auto unread_at(Integer cursor) { return unread_.at(cursor % size_); }

  /// As rb_need_aux_wakeup() sees to it.
  void publish(std::size_t count) {
    head_ = static_cast<Integer>(head_ + count);
    bool woken = false;
    if (Ring::aux_ring_used(head_, wakeup_) >= watermark_) {
      wakeup_ = Ring::aux_ring_wakeup(head_, wakeup_, watermark_);
      woken = true;
    }
    const Unbounded before = woken_at_;
    while (woken_at_ + watermark_ <= produced_) woken_at_ += watermark_;
    ASSERT_EQ(woken, woken_at_ != before);
  }

  Integer size_;
  Integer page_size_;
  Integer watermark_;
  std::vector<std::vector<std::uint8_t>> pages_;
  std::vector<bool> unread_;  // of each byte of the ring
  Integer head_;
  Integer tail_;
  Integer wakeup_;

  std::deque<std::optional<std::uint8_t>> queue_;  // no value: skipped
  Unbounded produced_;                             // the head as it would be without wraps
  Unbounded woken_at_;                             // the same of the wakeup position
};

/// Uses a ring until so many bytes have gone through it.
template <typename Ring>
void use_ring(RingInUse<Ring> ring, Unbounded until, std::mt19937& random) {
  while (ring.produced() < until) {
    const std::size_t space = ring.space();
    const std::size_t unread = ring.unread();
    switch (random() % 5) {
      case 0:
        ring.produce(random() % (space + 1));
        break;
      case 1:
        ring.produce(space);  // full
        break;
      case 2:
        ring.skip(random() % (space + 1));
        break;
      case 3:
        ring.copy(random() % (unread + 2), random() % (unread + 2));
        break;
      default:
        ring.copy(0, unread);
        ring.consume(random() % (unread + 2));
    }
    ring.expect_what_the_queue_has();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ARingOf8BitCursors, GivesEveryByteOnceAndInOrderOverManyWraps) {
  std::mt19937 random(2);
  for (unsigned size = 1; size <= 128; size *= 2) {
    for (unsigned page_size = 1; page_size <= size; page_size *= 2) {
      for (const unsigned watermark : {1U, size / 3 + 1, size / 2 + 1, size}) {
        SCOPED_TRACE(in_words("size, page size, watermark:", size, page_size, watermark));
        if (size == 1) continue;  // one byte stays free, so there is no room at all
        const auto start = static_cast<std::uint8_t>(random());
        use_ring(RingInUse<Ring8>(start, static_cast<std::uint8_t>(size),
                                  static_cast<std::uint8_t>(page_size),
                                  static_cast<std::uint8_t>(watermark)),
                 Unbounded{100} * kCount, random);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
      }
    }
  }
}

TYPED_TEST(EachWidth, ARingGivesEveryByteOnceAndInOrderOverTheWrap) {
  using Integer = Cursor<TypeParam>;
  std::mt19937 random(3);
  // ULONG_MAX, LONG_MAX and their like of other widths lie within the ring's first bytes.
  for (const Integer start : {static_cast<Integer>(std::numeric_limits<Integer>::max() - 20),
                              static_cast<Integer>(std::numeric_limits<Integer>::max() / 2 - 20)}) {
    for (const Integer watermark : {Integer{1}, Integer{24}, Integer{32}, Integer{64}}) {
      use_ring(RingInUse<TypeParam>(start, 64, 16, watermark), Unbounded{start} + 20'000, random);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  }
}

}  // namespace
