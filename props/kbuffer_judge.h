// SPDX-License-Identifier: LGPL-2.1-or-later
// What libtraceevent's reader of ring-buffer pages, which trace-cmd and KernelShark use, makes of
// a page. Only the names of the layout, PageFormat and ByteOrder, are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tracedat/ring_page.h"

namespace perf2dat::props {

struct JudgedEvent {
  std::uint64_t time = 0;
  std::vector<std::byte> payload;  ///< padded to whole words, as the page has it
};

/// A record as it is in the page, be it an event or not.
struct JudgedRecord {
  enum class Type { kEvent, kPadding, kTimeExtend, kTimeStamp };
  Type type = Type::kEvent;
  std::uint64_t delta = 0;  ///< nanoseconds
};

struct JudgedPage {
  std::uint64_t time = 0;   ///< of the page
  std::size_t size = 0;     ///< bytes of records
  std::int64_t missed = 0;  ///< events that are missing before the page; -1: not told how many
  std::vector<JudgedEvent> events;
  std::vector<JudgedRecord> records;
};

/// Anything may be in the page. nullopt: kbuffer refuses it, or would leave it, or would not come
/// to its end.
std::optional<JudgedPage> judge_page(const tracedat::PageFormat& format,
                                     std::span<const std::byte> page);

}  // namespace perf2dat::props
