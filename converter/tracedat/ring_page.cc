// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/ring_page.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/saturating.h"

namespace perf2dat::tracedat {
namespace {

constexpr std::size_t padded_to_word(std::size_t size) { return (size + 3) / 4 * 4; }

}  // namespace

/// Makes room for `size` bytes in all.
void PagePacker::reserve(std::size_t size) {
  if (size <= page_.size()) return;
  constexpr std::size_t kSmallest = 256;
  std::size_t grown = std::max(kSmallest, page_.size());
  while (grown < size) grown *= 2;
  page_.resize(std::min<std::size_t>(grown, format_.page_size));
}

bool PagePacker::append(const RingEvent& event) {
  if (event.is_mark()) {
    // A page can be marked at its beginning only.
    if (!empty()) return false;
    missed_ = saturating_add(missed_, event.missed);
    return true;
  }
  const std::size_t payload = padded_to_word(event.payload.size());
  // An empty payload has no short form: type_len 0 means that the next word is the length.
  const bool is_short = payload != 0 && payload <= kLargestShortPayload;
  const std::size_t record = (is_short ? 4 : 8) + payload;

  const bool is_first = empty();
  const std::uint64_t delta = is_first ? 0 : event.time - last_time_;
  const bool extend = delta >> kTimeDeltaBits != 0;
  // A page's own time has 64 bits, so a longer gap than a time extend can tell begins a page.
  if (delta >> kTimeExtendBits != 0) return false;
  // A marked page keeps room for the number, unless its only event needs all of it.
  const std::size_t reserved = missed_ != 0 && !is_first ? format_.commit_size : 0;
  const std::size_t from = is_first ? format_.header_size() : used_;
  const std::size_t end = from + (extend ? 8 : 0) + record;
  if (end + reserved > format_.page_size) return false;

  reserve(end);
  if (is_first) store(page_.data(), event.time, format_.order);
  std::byte* at = page_.data() + from;
  if (extend) {
    constexpr std::uint64_t kLowBits = (1ULL << kTimeDeltaBits) - 1;
    put(at, encode_record_word(format_.order, kTypeTimeExtend,
                               static_cast<std::uint32_t>(delta & kLowBits)));
    put(at + 4, static_cast<std::uint32_t>(delta >> kTimeDeltaBits));
    at += 8;
  }
  put(at, encode_record_word(format_.order,
                             is_short ? static_cast<std::uint32_t>(payload / 4) : kTypeLongPayload,
                             extend ? 0 : static_cast<std::uint32_t>(delta)));
  at += 4;
  if (!is_short) {
    // The length word counts itself.
    put(at, static_cast<std::uint32_t>(payload + 4));
    at += 4;
  }
  if (!event.payload.empty()) std::memcpy(at, event.payload.data(), event.payload.size());
  std::memset(at + event.payload.size(), 0, payload - event.payload.size());
  used_ = end;
  last_time_ = event.time;
  return true;
}

void PagePacker::finish(std::vector<std::byte>& pages) {
  const std::size_t begin = pages.size();
  pages.insert(pages.end(), page_.begin(), page_.begin() + static_cast<std::ptrdiff_t>(used_));
  pages.resize(begin + format_.page_size);

  const auto put_long = [&](std::size_t at, std::uint64_t value) {
    std::byte* const to = pages.data() + begin + at;
    if (format_.commit_size == 8) {
      store(to, value, format_.order);
    } else {
      store(to, static_cast<std::uint32_t>(value), format_.order);
    }
  };
  std::uint64_t commit = used_ - format_.header_size();
  if (missed_ != 0) {
    commit |= kCommitMissedEvents;
    if (missed_ <= kLargestMissed && used_ + format_.commit_size <= format_.page_size) {
      commit |= kCommitMissedStored;
      put_long(used_, missed_);
    }
    missed_ = 0;
  }
  put_long(8, commit);
  used_ = 0;
}

PageReader::PageReader(PageFormat format, std::span<const std::byte> page)
    : format_(format), page_(page) {
  if (page.size() != format.page_size) {
    damage_ = "the page is cut short";
    return;
  }
  time_ = load<std::uint64_t>(page.data(), format.order);
  commit_ = format.commit_size == 8 ? load<std::uint64_t>(page.data() + 8, format.order)
                                    : load<std::uint32_t>(page.data() + 8, format.order);
  position_ = format.header_size();
  const std::uint64_t size = commit_ & kCommitMask;
  if (size > page.size() - position_) {
    damage_ = "commit reaches beyond the page";
    return;
  }
  end_ = position_ + static_cast<std::size_t>(size);
  marked_ = (commit_ & kCommitMissedEvents) != 0;
}

RingEvent PageReader::missed_mark() const {
  RingEvent mark{time_, {}, kUnknownNumber};
  const bool stored = (commit_ & kCommitMissedStored) != 0;
  if (stored && page_.size() - end_ >= format_.commit_size) {
    const std::byte* const at = page_.data() + end_;
    mark.missed = format_.commit_size == 8 ? load<std::uint64_t>(at, format_.order)
                                           : load<std::uint32_t>(at, format_.order);
  }
  return mark;
}

std::optional<RingEvent> PageReader::fail(const char* rule) {
  damage_ = rule;
  return std::nullopt;
}

std::optional<RingEvent> PageReader::next() {
  if (std::exchange(marked_, false)) {
    const RingEvent mark = missed_mark();
    if (mark.is_mark()) return mark;
  }
  while (damage_ == nullptr && position_ < end_) {
    const auto word_at = [&](std::size_t at) {
      return load<std::uint32_t>(page_.data() + at, format_.order);
    };
    if (end_ - position_ < 4) return fail("a record's word reaches beyond commit");
    const auto [type_len, time_delta] = decode_record_word(format_.order, word_at(position_));
    const bool has_second_word =
        type_len == kTypeLongPayload || type_len == kTypeTimeExtend || type_len == kTypeTimeStamp;
    if (has_second_word && end_ - position_ < 8) return fail("a record reaches beyond commit");

    if (type_len == kTypePadding) return fail("there is padding inside commit");
    if (type_len == kTypeTimeExtend || type_len == kTypeTimeStamp) {
      const std::uint64_t time =
          time_delta | (std::uint64_t{word_at(position_ + 4)} << kTimeDeltaBits);
      if (type_len == kTypeTimeExtend) {
        time_ += time;
      } else {
        constexpr std::uint64_t kHighBits = ~((1ULL << kTimeExtendBits) - 1);
        time_ = (time_ & kHighBits) | time;
      }
      position_ += 8;
      continue;
    }

    std::size_t header = 4;
    std::size_t size = std::size_t{type_len} * 4;
    if (type_len == kTypeLongPayload) {
      const std::uint32_t length = word_at(position_ + 4);
      if (length < 4) return fail("a record's length is less than its own length word");
      header = 8;
      // Up to a whole word, as libtraceevent counts it, whatever the kernel has written.
      size = padded_to_word(length - 4);
    }
    if (size > end_ - position_ - header) return fail("a record reaches beyond commit");
    time_ += time_delta;
    const RingEvent event{time_, page_.subspan(position_ + header, size), 0};
    position_ += header + size;
    return event;
  }
  return std::nullopt;
}

}  // namespace perf2dat::tracedat
