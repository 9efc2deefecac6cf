// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of AUX cursors (the kernel's own header) against a deque and integers that do not
// wrap.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <ostream>
#include <vector>

#include "aux_ring_cursors.h"
#include "holds.h"

namespace perf2dat::props {
namespace {

using Unbounded = __int128;

/// What is done to the ring next. Numbers are taken modulo what makes sense, or nearly so.
struct Command {
  enum class Kind { kProduce, kSkip, kFill, kCopy, kConsume, kDrain, kAnyRange, kAnyTail, kJump };
  Kind kind = Kind::kProduce;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

std::ostream& operator<<(std::ostream& out, const Command& command) {
  constexpr const char* kNames[] = {"produce", "skip",      "fill",     "copy", "consume",
                                    "drain",   "any range", "any tail", "jump"};
  return out << kNames[static_cast<int>(command.kind)] << ' ' << command.first << ' '
             << command.second;
}

rc::Gen<Command> any_command() {
  using Kind = Command::Kind;
  return rc::gen::apply(
      [](Kind kind, std::uint64_t first, std::uint64_t second) {
        return Command{kind, first, second};
      },
      rc::gen::weightedElement<Kind>({{6, Kind::kProduce},
                                      {1, Kind::kSkip},
                                      {1, Kind::kFill},
                                      {4, Kind::kCopy},
                                      {3, Kind::kConsume},
                                      {2, Kind::kDrain},
                                      {2, Kind::kAnyRange},
                                      {2, Kind::kAnyTail},
                                      {1, Kind::kJump}}),
      rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>());
}

/// A ring, used as the kernel uses it, beside what it should hold.
template <typename Ring>
class Model {
 public:
  using Cursor = typename Ring::Cursor;

  Model(Cursor page_size, Cursor nr_pages, Cursor watermark)
      : page_size_(page_size),
        size_(static_cast<Cursor>(page_size * nr_pages)),
        watermark_(watermark),
        memory_(size_) {}

  void run(const Command& command) {
    switch (command.kind) {
      case Command::Kind::kProduce:
        return produce(command.first % (std::uint64_t{size_} + 1), false);
      case Command::Kind::kSkip:
        return produce(command.first % (std::uint64_t{size_} + 1), true);
      case Command::Kind::kFill:
        produce(Ring::aux_ring_space(head(), tail(), size_), false);
        RC_CLASSIFY(true, "the ring is full");
        return;
      case Command::Kind::kCopy: {
        const std::uint64_t used = data_.size();
        const std::uint64_t skipped = command.first % (used + 1);
        return copy(skipped, command.second % (used - skipped + 1));
      }
      case Command::Kind::kConsume:
        return consume(command.first % (data_.size() + 1));
      case Command::Kind::kDrain:
        copy(0, data_.size());
        return consume(data_.size());
      case Command::Kind::kAnyRange:
        return any_range(cursor(command.first), cursor(command.second));
      case Command::Kind::kAnyTail:
        return any_tail(cursor(command.first));
      case Command::Kind::kJump:
        return jump(command.first);
    }
  }

 private:
  static Cursor cursor(Unbounded position) { return static_cast<Cursor>(position); }
  Cursor head() const { return cursor(head_); }
  Cursor tail() const { return cursor(tail_); }
  static constexpr Unbounded kPeriod = Unbounded{1} << (8 * sizeof(Cursor));

  void check() const {
    const auto used = static_cast<Unbounded>(data_.size());
    RC_ASSERT(static_cast<Unbounded>(Ring::aux_ring_used(head(), tail())) == used);
    RC_ASSERT(static_cast<Unbounded>(Ring::aux_ring_space(head(), tail(), size_)) ==
              size_ - 1 - used);
  }

  /// Where a cursor's byte is, by division of a number that does not wrap.
  std::byte& byte_at(Unbounded position) {
    return memory_[static_cast<std::size_t>(position % size_)];
  }

  void produce(std::uint64_t wanted, bool skip) {
    const Cursor space = Ring::aux_ring_space(head(), tail(), size_);
    const std::uint64_t len = wanted < space ? wanted : space;
    for (std::uint64_t i = 0; i < len; ++i) {
      // Hardware goes through its pages in turn, and knows nothing of cursors.
      std::byte& at = byte_at(head_ + static_cast<Unbounded>(i));
      if (!skip) at = static_cast<std::byte>(++written_ * 131);
      data_.push_back(at);
    }
    RC_CLASSIFY(head_ % kPeriod + static_cast<Unbounded>(len) >= kPeriod, "the head wraps");
    head_ += static_cast<Unbounded>(len);
    const Unbounded passed = (head_ - wakeup_) / watermark_ * watermark_;
    const Cursor found = Ring::aux_ring_wakeup(head(), cursor(wakeup_), watermark_);
    RC_ASSERT(found == cursor(wakeup_ + passed));
    wakeup_ += passed;
    check();
  }

  void copy(std::uint64_t skipped, std::uint64_t len) {
    Cursor from = cursor(tail_ + static_cast<Unbounded>(skipped));
    RC_ASSERT(Ring::aux_ring_range_valid(head(), tail(), from, cursor(len)));
    std::vector<std::byte> copied;
    for (Cursor rest = cursor(len); rest != 0;) {
      const Cursor page = Ring::aux_ring_page(from, size_, page_size_);
      const Cursor segment = Ring::aux_ring_segment(from, rest, page_size_);
      RC_ASSERT(segment != 0 && segment <= rest);
      const std::size_t offset = from & (page_size_ - 1);
      RC_ASSERT(page < size_ / page_size_ && offset + segment <= page_size_);
      RC_CLASSIFY(segment < rest, "a copy goes beyond a page");
      for (std::size_t i = 0; i < segment; ++i) {
        copied.push_back(memory_[std::size_t{page} * page_size_ + offset + i]);
      }
      RC_CLASSIFY(cursor(from + segment) < from, "a copy wraps");
      from = cursor(from + segment);
      rest = cursor(rest - segment);
    }
    RC_ASSERT(copied ==
              std::vector<std::byte>(data_.begin() + static_cast<std::ptrdiff_t>(skipped),
                                     data_.begin() + static_cast<std::ptrdiff_t>(skipped + len)));
  }

  void consume(std::uint64_t len) {
    const Cursor to = cursor(tail_ + static_cast<Unbounded>(len));
    RC_ASSERT(Ring::aux_ring_tail_valid(head(), tail(), to));
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(len));
    tail_ += static_cast<Unbounded>(len);
    check();
  }

  /// A range of anybody's: right if it begins no further from the tail than there is data, and
  /// what is behind it is long enough.
  void any_range(Cursor from, Cursor len) {
    const Unbounded used = head_ - tail_;
    const Unbounded skipped =
        ((static_cast<Unbounded>(from) - tail_) % kPeriod + kPeriod) % kPeriod;
    const bool valid = skipped <= used && static_cast<Unbounded>(len) <= used - skipped;
    RC_ASSERT(Ring::aux_ring_range_valid(head(), tail(), from, len) == valid);
  }

  void any_tail(Cursor to) {
    const Unbounded moved = ((static_cast<Unbounded>(to) - tail_) % kPeriod + kPeriod) % kPeriod;
    RC_ASSERT(Ring::aux_ring_tail_valid(head(), tail(), to) == (moved <= head_ - tail_));
  }

  /// Much traffic at once: the empty ring's cursors are soon going to wrap.
  void jump(std::uint64_t before) {
    consume(data_.size());
    const Unbounded near =
        kPeriod - 1 - static_cast<Unbounded>(before % (2 * std::uint64_t{size_}));
    // Laps of the ring only, or bytes would be at other places.
    const Unbounded laps = (near - head_ % kPeriod) / size_ * size_;
    if (laps <= 0) return;
    head_ += laps;
    tail_ += laps;
    wakeup_ = head_;
    check();
  }

  Cursor page_size_;
  Cursor size_;
  Cursor watermark_;
  std::vector<std::byte> memory_;
  std::deque<std::byte> data_;  // what was produced and not consumed
  Unbounded head_ = 0;
  Unbounded tail_ = 0;
  Unbounded wakeup_ = 0;
  std::uint64_t written_ = 0;
};

template <typename Ring>
void agrees_with_deque() {
  using Cursor = typename Ring::Cursor;
  holds(
      [] {
        const auto page_size = *rc::gen::element<Cursor>(4, 16, 32);
        const auto nr_pages = *rc::gen::element<Cursor>(1, 2, 4);
        const auto size = static_cast<Cursor>(page_size * nr_pages);
        RC_ASSERT(Ring::aux_ring_size_valid(nr_pages, page_size));
        const auto watermark = *rc::gen::inRange<Cursor>(1, static_cast<Cursor>(size + 1));
        const auto commands = *rc::gen::container<std::vector<Command>>(any_command());
        Model<Ring> model(page_size, nr_pages, watermark);
        for (const Command& command : commands) model.run(command);
      },
      {"the ring is full", "the head wraps", "a copy goes beyond a page", "a copy wraps"});
}

TEST(AuxRing, CursorsOf8BitsAgreeWithADeque) { agrees_with_deque<Ring8>(); }

TEST(AuxRing, CursorsOf16BitsAgreeWithADeque) { agrees_with_deque<Ring16>(); }

TEST(AuxRing, CursorsOf32BitsAgreeWithADeque) { agrees_with_deque<Ring32>(); }

TEST(AuxRing, CursorsOf64BitsAgreeWithADeque) { agrees_with_deque<Ring64>(); }

TEST(AuxRing, TheKernelsCursorsAgreeWithADeque) { agrees_with_deque<KernelRing>(); }

}  // namespace
}  // namespace perf2dat::props
