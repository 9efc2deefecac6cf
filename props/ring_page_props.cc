// SPDX-License-Identifier: LGPL-2.1-or-later
// Pages of the ring buffer: what is packed is what libtraceevent's kbuffer reads.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "holds.h"
#include "kbuffer_judge.h"
#include "tracedat/ring_page.h"

namespace perf2dat::tracedat {

static std::ostream& operator<<(std::ostream& out, const PageFormat& format) {
  return out << format.page_size << " bytes, commit of " << format.commit_size
             << (format.order == ByteOrder::kBig ? ", big-endian" : ", little-endian");
}

}  // namespace perf2dat::tracedat

namespace perf2dat::props {
namespace {

using tracedat::PageFormat;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kDeltaLimit = 1ULL << 27U;
constexpr std::uint64_t kExtendLimit = 1ULL << 59U;

/// What is put on pages next.
struct Step {
  enum class Kind {
    kEvent,  ///< an event of `number` bytes
    kFill,   ///< an event that leaves `number` bytes of the page free, or tries to
    kLarge,  ///< an event of so many bytes less than a page
    kMark,   ///< `number` events are missing
  };
  Kind kind = Kind::kEvent;
  std::uint64_t number = 0;
  std::uint64_t delta = 0;  ///< nanoseconds since the last event
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  constexpr const char* kNames[] = {"event of ", "fill up to ", "page less ", "missing "};
  return out << kNames[static_cast<int>(step.kind)] << step.number << " after " << step.delta;
}

rc::Gen<std::uint64_t> deltas() {
  return rc::gen::weightedOneOf<std::uint64_t>(
      {{6, rc::gen::inRange<std::uint64_t>(0, 100'000)},
       {2, rc::gen::element<std::uint64_t>(0, 1, kDeltaLimit - 1, kDeltaLimit, kDeltaLimit + 1)},
       {1, rc::gen::inRange<std::uint64_t>(0, 1ULL << 40U)},
       {1, rc::gen::element<std::uint64_t>(1ULL << 32U, kExtendLimit - 1, kExtendLimit,
                                           kExtendLimit + 1)}});
}

rc::Gen<Step> steps_of(Step::Kind kind, rc::Gen<std::uint64_t> numbers) {
  return rc::gen::apply(
      [kind](std::uint64_t number, std::uint64_t delta) {
        return Step{kind, number, delta};
      },
      std::move(numbers), deltas());
}

rc::Gen<Step> any_step() {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return rc::gen::weightedOneOf<Step>(
      {{8, steps_of(Step::Kind::kEvent, rc::gen::inRange<std::uint64_t>(1, 300))},
       {4, steps_of(Step::Kind::kEvent,
                    rc::gen::element<std::uint64_t>(0, 1, 3, 4, 111, 112, 113, 116, 8192))},
       {4, steps_of(Step::Kind::kFill, rc::gen::inRange<std::uint64_t>(0, 9))},
       {1, steps_of(Step::Kind::kLarge, rc::gen::inRange<std::uint64_t>(18, 30))},
       {1, steps_of(Step::Kind::kMark, rc::gen::element<std::uint64_t>(1, 7, 0x7fffffff, 0xffffffff,
                                                                       1ULL << 32U, kMost))}});
}

rc::Gen<PageFormat> any_format(ByteOrder order) {
  return rc::gen::apply(
      [order](std::uint32_t page_size, std::uint32_t commit_size) {
        return PageFormat{order, page_size, commit_size};
      },
      rc::gen::element<std::uint32_t>(4096, 8192, 16384, 32768, 65536),
      rc::gen::element<std::uint32_t>(4, 8));
}

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

Bytes payload_of(std::size_t size, std::size_t seed) {
  Bytes payload(size);
  for (std::size_t i = 0; i < size; ++i)
    payload[i] = static_cast<std::byte>(seed * 37 + i * 11 + 1);
  return payload;
}

/// A page as it should be.
struct Expected {
  std::vector<JudgedEvent> events;
  std::size_t size = 0;         ///< of its records
  std::uint64_t missed = 0;     ///< events that are missing before it
  bool number_is_told = false;  ///< how many
};

struct Packed {
  std::vector<Bytes> pages;
  std::vector<Expected> expected;
};

/// Packs steps, and works out what each page has to hold.
class Packing {
 public:
  explicit Packing(const PageFormat& format) : format_(format), packer_(format) {}

  void step(const Step& step) {
    if (step.kind == Step::Kind::kMark) {
      // A mark stands at the beginning of a page.
      RC_ASSERT(packer_.append({time_, {}, step.number}) == events_.empty());
      if (!events_.empty()) {
        turn();
        RC_ASSERT(packer_.append({time_, {}, step.number}));
      }
      missed_ = step.number > ~0ULL - missed_ ? ~0ULL : missed_ + step.number;
      return;
    }
    const std::uint64_t time = time_ + step.delta;
    RC_PRE(time >= time_);
    const Bytes payload = payload_of(size_of(step, time), packed_.pages.size() + events_.size());
    classify(step, payload.size());
    bool appended = append(time, payload);
    if (!appended && !events_.empty()) {
      turn();
      appended = append(time, payload);
    }
    RC_ASSERT(appended || payload.size() > format_.largest_payload());
    if (!appended) return;
    time_ = time;
    JudgedEvent event{time, payload};
    event.payload.resize(padded(payload.size()));
    used_ = end_of(payload.size(), step.delta);
    events_.push_back(event);
  }

  Packed finish() {
    if (!events_.empty()) turn();
    return packed_;
  }

 private:
  /// Appends an event if, and only if, the page has room for it.
  bool append(std::uint64_t time, const Bytes& payload) {
    const bool fits = has_room(payload.size(), time - time_);
    RC_ASSERT(packer_.append({time, payload}) == fits);
    return fits;
  }

  // The model of a page: what a record takes, and when the page is to be turned.

  std::size_t header() const { return 8 + format_.commit_size; }
  std::size_t from() const { return events_.empty() ? header() : used_; }
  /// A delta that has more than the record's own 27 bits needs a time extend of two words. The
  /// first record has the time of the page, whatever was before.
  std::size_t extend(std::uint64_t delta) const {
    return !events_.empty() && delta >= kDeltaLimit ? 8 : 0;
  }
  /// Where an event of that payload ends. Up to 28 words are counted in the record's word; 0 there
  /// says that the length has a word of its own.
  std::size_t end_of(std::size_t size, std::uint64_t delta) const {
    const bool is_short = size != 0 && size <= 112;
    return from() + extend(delta) + (is_short ? 4 : 8) + padded(size);
  }
  /// The number of missed events goes behind the records. The first event may take that room:
  /// without an event there is no page that could tell the number.
  std::size_t reserved() const {
    return missed_ != 0 && !events_.empty() ? format_.commit_size : 0;
  }
  /// Whether the open page is the one for the event. Not even a time extend has a delta of 2^59.
  bool has_room(std::size_t size, std::uint64_t delta) const {
    const bool is_told = events_.empty() || delta < kExtendLimit;
    return is_told && end_of(size, delta) + reserved() <= format_.page_size;
  }

  std::size_t size_of(const Step& step, std::uint64_t time) const {
    switch (step.kind) {
      case Step::Kind::kFill: {
        const std::size_t taken = from() + extend(time - time_) + 8 + step.number;
        return taken < format_.page_size ? format_.page_size - taken : 0;
      }
      case Step::Kind::kLarge:
        return format_.page_size - step.number;
      default:
        return step.number;
    }
  }

  void classify(const Step& step, std::size_t size) const {
    // The first event of a page has no delta.
    const bool has_delta = !events_.empty();
    RC_CLASSIFY(has_delta && step.delta == 0, "delta 0");
    RC_CLASSIFY(has_delta && step.delta == 1, "delta 1");
    RC_CLASSIFY(has_delta && step.delta == kDeltaLimit - 1, "delta 2^27-1");
    RC_CLASSIFY(has_delta && step.delta == kDeltaLimit, "delta 2^27");
    RC_CLASSIFY(has_delta && step.delta == kDeltaLimit + 1, "delta 2^27+1");
    RC_CLASSIFY(has_delta && step.delta == kExtendLimit - 1, "delta 2^59-1");
    RC_CLASSIFY(has_delta && step.delta == kExtendLimit, "delta 2^59");
    RC_CLASSIFY(size == 0, "payload 0");
    RC_CLASSIFY(size == 1, "payload 1");
    RC_CLASSIFY(size == 112, "payload 112");
    RC_CLASSIFY(size == 113, "payload 113");
    RC_CLASSIFY(size == 8192, "payload 8192");
    RC_CLASSIFY(size == format_.page_size - 24U, "payload page-24");
    RC_CLASSIFY(size == format_.page_size - 23U, "payload page-23");
    const std::size_t end = end_of(size, step.delta);
    const bool fits = has_room(size, step.delta);
    for (std::size_t free = 0; free <= 8; free += 4) {
      constexpr const char* kNames[] = {"page full", "page full less 4", "page full less 8"};
      RC_CLASSIFY(fits && end + free == format_.page_size, kNames[free / 4]);
    }
    RC_CLASSIFY(!events_.empty() && !fits, "page turn");
    RC_CLASSIFY(reserved() != 0 && end + reserved() == format_.page_size, "missed fits");
    RC_CLASSIFY(reserved() != 0 && end + reserved() == format_.page_size + 4U, "missed 4 short");
    RC_CLASSIFY(missed_ != 0 && events_.empty(), "events are missing");
  }

  void turn() {
    Bytes page;
    packer_.finish(page);
    RC_ASSERT(page.size() == format_.page_size);
    packed_.pages.push_back(page);
    // Readers have an int for the number.
    const bool told = missed_ <= 0x7fffffffU && used_ + format_.commit_size <= format_.page_size;
    packed_.expected.push_back({events_, used_ - header(), missed_, told});
    events_.clear();
    missed_ = 0;
    used_ = 0;
  }

  PageFormat format_;
  tracedat::PagePacker packer_;
  Packed packed_;
  std::vector<JudgedEvent> events_;  // of the page that is open
  std::size_t used_ = 0;             // of it, bytes
  std::uint64_t missed_ = 0;
  std::uint64_t time_ = 1'000'000;
};

Packed pack(const PageFormat& format, const std::vector<Step>& steps) {
  Packing packing(format);
  for (const Step& step : steps) packing.step(step);
  return packing.finish();
}

void check_page(const PageFormat& format, const Bytes& page, const Expected& expected) {
  const auto judged = judge_page(format, page);
  RC_ASSERT(judged.has_value());
  RC_ASSERT(judged->size == expected.size);
  RC_ASSERT(judged->time == expected.events.front().time);
  RC_ASSERT(judged->missed == (expected.number_is_told || expected.missed == 0
                                   ? static_cast<std::int64_t>(expected.missed)
                                   : -1));

  RC_ASSERT(judged->events.size() == expected.events.size());
  for (std::size_t i = 0; i < expected.events.size(); ++i) {
    RC_ASSERT(judged->events[i].time == expected.events[i].time);
    RC_ASSERT(judged->events[i].payload == expected.events[i].payload);
  }

  // A time extend is for the event after it and tells all of its delta. Nothing else but events is
  // on the page, and the page's own time is the first one's.
  using Type = JudgedRecord::Type;
  const auto& records = judged->records;
  RC_ASSERT(!records.empty());
  RC_ASSERT(records.front().type == Type::kEvent);
  RC_ASSERT(records.front().delta == 0U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].type == Type::kEvent) continue;
    RC_ASSERT(records[i].type == Type::kTimeExtend);
    RC_ASSERT(records[i].delta >= kDeltaLimit);
    RC_ASSERT(i + 1 < records.size());
    RC_ASSERT(records[i + 1].type == Type::kEvent);
    RC_ASSERT(records[i + 1].delta == 0U);
  }
}

/// Our own reader as the second witness.
void check_reader(const PageFormat& format, const Bytes& page, const Expected& expected) {
  tracedat::PageReader reader(format, page);
  std::size_t next = 0;
  bool marked = false;
  while (const auto event = reader.next()) {
    if (event->is_mark()) {
      marked = true;
      RC_ASSERT(next == 0U);
      RC_ASSERT(expected.missed != 0U);
      RC_ASSERT(event->missed ==
                (expected.number_is_told ? expected.missed : tracedat::kUnknownNumber));
      continue;
    }
    RC_ASSERT(next < expected.events.size());
    RC_ASSERT(event->time == expected.events[next].time);
    RC_ASSERT(std::ranges::equal(event->payload, expected.events[next].payload));
    ++next;
  }
  RC_ASSERT(reader.damage() == nullptr);
  RC_ASSERT(marked == (expected.missed != 0));
  RC_ASSERT(next == expected.events.size());
}

/// The documented mapping of a little-endian page's fields to big-endian ones.
Bytes turned_round(const PageFormat& format, Bytes page) {
  const auto word = [&](std::size_t at) {
    RC_ASSERT(at + 4 <= page.size());
    return load<std::uint32_t>(page.data() + at, ByteOrder::kLittle);
  };
  const auto turn = [&](std::size_t at, std::size_t size) {
    RC_ASSERT(at + size <= page.size());
    std::reverse(page.begin() + static_cast<std::ptrdiff_t>(at),
                 page.begin() + static_cast<std::ptrdiff_t>(at + size));
  };
  const std::uint32_t commit = word(8);
  std::size_t at = format.header_size();
  const std::size_t end = at + (commit & ((1U << 27U) - 1));
  RC_ASSERT(end <= page.size());
  turn(0, 8);
  turn(8, format.commit_size);
  while (at < end) {
    const std::uint32_t type = word(at) & 31U;
    const std::uint32_t delta = word(at) >> 5U;
    RC_ASSERT(type <= 28U || type == 30U);
    std::size_t next = at + 4 + std::size_t{type} * 4;
    if (type == 0) next = at + 4 + padded(word(at + 4));
    if (type == 30) next = at + 8;
    RC_ASSERT(next <= end);
    if (type == 0 || type == 30) turn(at + 4, 4);
    store(page.data() + at, (type << 27U) | delta, ByteOrder::kBig);
    at = next;
  }
  if ((commit & (1U << 30U)) != 0) turn(end, format.commit_size);
  return page;
}

const std::vector<std::string_view> kEdges = {
    "delta 0",           "delta 1",          "delta 2^27-1",    "delta 2^27",      "delta 2^27+1",
    "delta 2^59-1",      "delta 2^59",       "payload 0",       "payload 1",       "payload 112",
    "payload 113",       "payload 8192",     "payload page-24", "payload page-23", "page full",
    "page full less 4",  "page full less 8", "page turn",       "missed fits",     "missed 4 short",
    "events are missing"};

void pages_read_back(ByteOrder order) {
  holds(
      [order] {
        const auto format = *any_format(order);
        const auto packed = pack(format, *rc::gen::container<std::vector<Step>>(any_step()));
        RC_CLASSIFY(format.commit_size == 4, "commit of 4 bytes");
        RC_CLASSIFY(format.page_size == 65536, "page of 64 KiB");
        for (std::size_t i = 0; i < packed.pages.size(); ++i) {
          check_page(format, packed.pages[i], packed.expected[i]);
          check_reader(format, packed.pages[i], packed.expected[i]);
        }
      },
      kEdges);
}

TEST(RingPage, LittleEndianPagesReadBack) { pages_read_back(ByteOrder::kLittle); }

TEST(RingPage, BigEndianPagesReadBack) { pages_read_back(ByteOrder::kBig); }

TEST(RingPage, BigEndianPagesAreLittleEndianOnesTurnedRound) {
  holds(
      [] {
        auto format = *any_format(ByteOrder::kLittle);
        const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
        const auto little = pack(format, steps);
        format.order = ByteOrder::kBig;
        const auto big = pack(format, steps);
        RC_ASSERT(little.pages.size() == big.pages.size());
        for (std::size_t i = 0; i < little.pages.size(); ++i) {
          RC_ASSERT(turned_round(format, little.pages[i]) == big.pages[i]);
        }
      },
      kEdges);
}

}  // namespace
}  // namespace perf2dat::props
