// SPDX-License-Identifier: LGPL-2.1-or-later
// A page of ftrace's ring buffer: the one place that knows its encoding.
//
// Source: the kernel's include/linux/ring_buffer.h and the header_page and header_event files of
// tracefs; what trace-cmd's reader makes of it was tried.
//
//   0        8                    8 + commit size
//   +--------+--------------------+---------+---------+----- - - -+
//   | u64    | commit, of the     | record  | record  | zeros     |
//   | time   | kernel's long      |         |         |           |
//   +--------+--------------------+---------+---------+----- - - -+
//                                 |<---- commit ----->|
//
// A record begins with a 32-bit word of a 5-bit type_len and a 27-bit time_delta. type_len sits in
// the low bits of little-endian pages and in the high bits of big-endian ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_order.h"

namespace perf2dat::tracedat {

/// How the recorded kernel lays out a page.
struct PageFormat {
  ByteOrder order = ByteOrder::kLittle;
  std::uint32_t page_size = 4096;  ///< bytes; a power of two
  std::uint32_t commit_size = 8;   ///< bytes of the kernel's long: 8 or 4

  std::size_t header_size() const { return 8 + commit_size; }
  /// The largest payload of a record that has a page for itself: its word and its length word
  /// come before it.
  std::size_t largest_payload() const { return page_size - header_size() - 8; }
};

inline constexpr std::uint32_t kSmallestPage = 4096;
inline constexpr std::uint32_t kLargestPage = 65536;

/// type_len 1 to 28 counts the payload's 32-bit words; the others have a meaning of their own.
inline constexpr std::uint32_t kTypeLongPayload = 0;
inline constexpr std::uint32_t kLargestShortPayload = 28 * 4;
inline constexpr std::uint32_t kTypePadding = 29;
inline constexpr std::uint32_t kTypeTimeExtend = 30;
inline constexpr std::uint32_t kTypeTimeStamp = 31;

inline constexpr unsigned kTimeDeltaBits = 27;
/// A time extend record has 27 + 32 bits for its delta.
inline constexpr unsigned kTimeExtendBits = 59;

/// Bits of the commit word above its byte count. The number of missed events, a long of the kernel,
/// follows the last record when kCommitMissedStored is set.
inline constexpr std::uint64_t kCommitMissedEvents = 1ULL << 31U;
inline constexpr std::uint64_t kCommitMissedStored = 1ULL << 30U;
inline constexpr std::uint64_t kCommitMask = (1ULL << 27U) - 1;

constexpr std::uint32_t encode_record_word(ByteOrder order, std::uint32_t type_len,
                                           std::uint32_t time_delta) {
  return order == ByteOrder::kLittle ? type_len | (time_delta << 5U)
                                     : (type_len << kTimeDeltaBits) | time_delta;
}

struct RecordWord {
  std::uint32_t type_len;
  std::uint32_t time_delta;
};

constexpr RecordWord decode_record_word(ByteOrder order, std::uint32_t word) {
  constexpr std::uint32_t kDeltaMask = (1U << kTimeDeltaBits) - 1;
  return order == ByteOrder::kLittle ? RecordWord{word & 31U, word >> 5U}
                                     : RecordWord{word >> kTimeDeltaBits, word & kDeltaMask};
}

/// The largest number of missed events that is told: libtraceevent has an int for it, in which a
/// larger one would become a small one, or none at all.
inline constexpr std::uint64_t kLargestMissed = 0x7fffffff;

/// The number of missed events when a page only tells that there were some.
inline constexpr std::uint64_t kUnknownNumber = ~0ULL;

/// An event as a ring buffer holds it, or a mark that events are missing.
struct RingEvent {
  std::uint64_t time = 0;  ///< nanoseconds
  std::span<const std::byte> payload;
  /// Not 0: this is no event, but the mark that so many are missing here.
  std::uint64_t missed = 0;

  bool is_mark() const { return missed != 0; }
};

/// Fills one page after another with events.
class PagePacker {
 public:
  explicit PagePacker(PageFormat format) : format_(format) {}

  /// Appends an event. False: the page has no room for it; `finish()` the page and append again.
  /// An event whose payload is at most `format.largest_payload()` fits an empty page, and so does a
  /// mark, which goes with the page that begins after it. `event.time` is not before the time of
  /// the event appended last.
  bool append(const RingEvent& event);

  /// No event is on the page.
  bool empty() const { return used_ == 0; }

  /// Events that are missing since the last one, with none after them yet.
  std::uint64_t pending_missed() const { return empty() ? missed_ : 0; }

  /// Adds the page, `page_size` bytes, to `pages`. Not for an empty one; it is empty afterwards.
  void finish(std::vector<std::byte>& pages);

 private:
  void reserve(std::size_t size);
  void put(std::byte* at, std::uint32_t word) const { store(at, word, format_.order); }

  PageFormat format_;
  // Grows with its content: thousands of CPUs with an event each must not cost a page each.
  std::vector<std::byte> page_;
  std::size_t used_ = 0;  // bytes, behind which anything may be; 0: there is no event
  std::uint64_t last_time_ = 0;
  std::uint64_t missed_ = 0;  // before the page's first event
};

/// Reads the events of one page, and before them the mark of missed ones if it has one. Anything
/// may be in it.
class PageReader {
 public:
  PageReader(PageFormat format, std::span<const std::byte> page);

  /// The next event; nullopt at the end of the page, or where it is damaged (`damage()` tells).
  std::optional<RingEvent> next();

  /// Where in the page it broke a rule of the format, and which one; nullptr: nowhere.
  const char* damage() const { return damage_; }
  std::size_t position() const { return position_; }

  std::uint64_t commit() const { return commit_; }

 private:
  std::optional<RingEvent> fail(const char* rule);
  RingEvent missed_mark() const;

  PageFormat format_;
  std::span<const std::byte> page_;
  std::uint64_t time_ = 0;
  std::uint64_t commit_ = 0;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  bool marked_ = false;  // the mark is still to be given
  const char* damage_ = nullptr;
};

}  // namespace perf2dat::tracedat
