// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kbuffer_judge.h"

// A header of C.
extern "C" {
#include <kbuffer.h>
}

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace perf2dat::props {
namespace {

using Kbuffer = std::unique_ptr<kbuffer, decltype(&kbuffer_free)>;

Kbuffer make_kbuffer(const tracedat::PageFormat& format) {
  Kbuffer buffer(
      kbuffer_alloc(format.commit_size == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                    format.order == ByteOrder::kBig ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE),
      &kbuffer_free);
  if (!buffer) throw std::runtime_error("kbuffer_alloc() failed");
  return buffer;
}

/// How many bytes of records the page has, by its own word.
std::uint32_t committed(const tracedat::PageFormat& format, std::span<const std::byte> page) {
  // 27 bits count, of a number as long as the kernel's long, behind a time of 8 bytes.
  const bool is_big = format.order == ByteOrder::kBig;
  const std::size_t low = is_big ? 8 + format.commit_size - 4 : 8;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = (word << 8U) | std::to_integer<std::uint32_t>(page[low + (is_big ? i : 3 - i)]);
  }
  return word & 0x7ffffffU;
}

JudgedRecord::Type type_of(int type_len) {
  switch (type_len) {
    case KBUFFER_TYPE_PADDING:
      return JudgedRecord::Type::kPadding;
    case KBUFFER_TYPE_TIME_EXTEND:
      return JudgedRecord::Type::kTimeExtend;
    case KBUFFER_TYPE_TIME_STAMP:
      return JudgedRecord::Type::kTimeStamp;
    default:
      return JudgedRecord::Type::kEvent;
  }
}

}  // namespace

std::optional<JudgedPage> judge_page(const tracedat::PageFormat& format,
                                     std::span<const std::byte> page) {
  // kbuffer is not told how long a page is: it believes commit and the length words.
  const std::size_t header = 8 + format.commit_size;
  if (page.size() < header || committed(format, page) > page.size() - header) return std::nullopt;
  // Before it knows that a record ends there, kbuffer reads two words of it, and it looks behind
  // the last one for the number of missed events.
  constexpr std::size_t kSlack = 16;
  std::vector<std::byte> copy(page.size() + kSlack);
  std::copy(page.begin(), page.end(), copy.begin());
  const std::byte* const end = copy.data() + page.size();

  const Kbuffer buffer = make_kbuffer(format);
  JudgedPage judged;
  // Step by step before all at once: kbuffer_load_subbuffer() goes over padding to the first event,
  // and never ends where padding has a negative length. From the header on, because
  // kbuffer_start_of_data() is behind a time extend that the page begins with.
  kbuffer_raw_info info{};
  info.next = copy.data() + header;
  while (kbuffer_raw_get(buffer.get(), copy.data(), &info) != nullptr) {
    if (info.length < 0 || static_cast<const std::byte*>(info.next) > end) return std::nullopt;
    judged.records.push_back({type_of(info.type), info.delta});
  }

  if (kbuffer_load_subbuffer(buffer.get(), copy.data()) != 0) return std::nullopt;
  judged.time = kbuffer_subbuf_timestamp(buffer.get(), copy.data());
  judged.missed = kbuffer_missed_events(buffer.get());
  judged.size = static_cast<std::size_t>(kbuffer_subbuffer_size(buffer.get()));

  unsigned long long time = 0;
  for (void* data = kbuffer_read_event(buffer.get(), &time); data != nullptr;
       data = kbuffer_next_event(buffer.get(), &time)) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    const int size = kbuffer_event_size(buffer.get());
    if (size < 0 || size > end - bytes) return std::nullopt;
    judged.events.push_back({time, {bytes, bytes + size}});
  }
  return judged;
}

}  // namespace perf2dat::props
