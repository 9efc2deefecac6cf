// SPDX-License-Identifier: LGPL-2.1-or-later
// An AUX ring beside a deque and integers that do not wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace perf2dat::props {

using Unbounded = __int128;

/// What is done to the ring next. Numbers are taken modulo what makes sense, or nearly so.
struct AuxCommand {
  enum class Kind { kProduce, kSkip, kFill, kCopy, kConsume, kDrain, kAnyRange, kAnyTail, kJump };
  Kind kind = Kind::kProduce;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

inline std::ostream& operator<<(std::ostream& out, const AuxCommand& command) {
  constexpr const char* kNames[] = {"produce", "skip",      "fill",     "copy", "consume",
                                    "drain",   "any range", "any tail", "jump"};
  return out << kNames[static_cast<int>(command.kind)] << ' ' << command.first << ' '
             << command.second;
}

/// A ring, used as the kernel uses it, beside what it should hold. Throws std::logic_error where
/// they differ.
template <typename Ring>
class AuxRingModel {
 public:
  using Cursor = typename Ring::Cursor;

  AuxRingModel(Cursor page_size, Cursor nr_pages, Cursor watermark)
      : page_size_(page_size),
        size_(static_cast<Cursor>(page_size * nr_pages)),
        watermark_(watermark),
        memory_(size_) {}

  void run(const AuxCommand& command) {
    switch (command.kind) {
      case AuxCommand::Kind::kProduce:
        return produce(command.first % (std::uint64_t{size_} + 1), false);
      case AuxCommand::Kind::kSkip:
        return produce(command.first % (std::uint64_t{size_} + 1), true);
      case AuxCommand::Kind::kFill:
        produce(Ring::aux_ring_space(head(), tail(), size_), false);
        met_.full = true;
        return;
      case AuxCommand::Kind::kCopy: {
        const std::uint64_t used = data_.size();
        const std::uint64_t skipped = command.first % (used + 1);
        return copy(skipped, command.second % (used - skipped + 1));
      }
      case AuxCommand::Kind::kConsume:
        return consume(command.first % (data_.size() + 1));
      case AuxCommand::Kind::kDrain:
        copy(0, data_.size());
        return consume(data_.size());
      case AuxCommand::Kind::kAnyRange:
        return any_range(cursor(command.first), cursor(command.second));
      case AuxCommand::Kind::kAnyTail:
        return any_tail(cursor(command.first));
      case AuxCommand::Kind::kJump:
        return jump(command.first);
    }
  }

  /// What has happened so far.
  struct Met {
    bool full = false;
    bool head_wraps = false;
    bool copy_crosses_page = false;
    bool copy_wraps = false;
  };
  const Met& met() const { return met_; }

 private:
  static void require(bool holds, int line = __builtin_LINE()) {
    if (holds) return;
    throw std::logic_error("the ring differs from the deque: line " + std::to_string(line));
  }

  static Cursor cursor(Unbounded position) { return static_cast<Cursor>(position); }
  Cursor head() const { return cursor(head_); }
  Cursor tail() const { return cursor(tail_); }
  static constexpr Unbounded kPeriod = Unbounded{1} << (8 * sizeof(Cursor));

  void check() const {
    const auto used = static_cast<Unbounded>(data_.size());
    require(static_cast<Unbounded>(Ring::aux_ring_used(head(), tail())) == used);
    require(static_cast<Unbounded>(Ring::aux_ring_space(head(), tail(), size_)) ==
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
    met_.head_wraps |= head_ % kPeriod + static_cast<Unbounded>(len) >= kPeriod;
    head_ += static_cast<Unbounded>(len);
    const Unbounded passed = (head_ - wakeup_) / watermark_ * watermark_;
    const Cursor found = Ring::aux_ring_wakeup(head(), cursor(wakeup_), watermark_);
    require(found == cursor(wakeup_ + passed));
    wakeup_ += passed;
    check();
  }

  void copy(std::uint64_t skipped, std::uint64_t len) {
    Cursor from = cursor(tail_ + static_cast<Unbounded>(skipped));
    require(Ring::aux_ring_range_valid(head(), tail(), from, cursor(len)));
    std::vector<std::byte> copied;
    for (Cursor rest = cursor(len); rest != 0;) {
      const Cursor page = Ring::aux_ring_page(from, size_, page_size_);
      const Cursor segment = Ring::aux_ring_segment(from, rest, page_size_);
      require(segment != 0 && segment <= rest);
      const std::size_t offset = from & (page_size_ - 1);
      require(page < size_ / page_size_ && offset + segment <= page_size_);
      met_.copy_crosses_page |= segment < rest;
      for (std::size_t i = 0; i < segment; ++i) {
        copied.push_back(memory_[std::size_t{page} * page_size_ + offset + i]);
      }
      met_.copy_wraps |= cursor(from + segment) < from;
      from = cursor(from + segment);
      rest = cursor(rest - segment);
    }
    require(copied ==
            std::vector<std::byte>(data_.begin() + static_cast<std::ptrdiff_t>(skipped),
                                   data_.begin() + static_cast<std::ptrdiff_t>(skipped + len)));
  }

  void consume(std::uint64_t len) {
    const Cursor to = cursor(tail_ + static_cast<Unbounded>(len));
    require(Ring::aux_ring_tail_valid(head(), tail(), to));
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
    require(Ring::aux_ring_range_valid(head(), tail(), from, len) == valid);
  }

  void any_tail(Cursor to) {
    const Unbounded moved = ((static_cast<Unbounded>(to) - tail_) % kPeriod + kPeriod) % kPeriod;
    require(Ring::aux_ring_tail_valid(head(), tail(), to) == (moved <= head_ - tail_));
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
  Met met_;
};

}  // namespace perf2dat::props
