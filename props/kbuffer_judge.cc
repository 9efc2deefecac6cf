// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kbuffer_judge.h"

// A header of C.
extern "C" {
#include <kbuffer.h>
}

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

}  // namespace

std::optional<JudgedPage> judge_page(const tracedat::PageFormat& format,
                                     std::span<const std::byte> page) {
  std::vector<std::byte> copy(page.begin(), page.end());
  const Kbuffer buffer = make_kbuffer(format);
  if (kbuffer_load_subbuffer(buffer.get(), copy.data()) != 0) return std::nullopt;

  JudgedPage judged;
  judged.time = kbuffer_subbuf_timestamp(buffer.get(), copy.data());
  judged.missed = kbuffer_missed_events(buffer.get());
  judged.size = static_cast<std::size_t>(kbuffer_subbuffer_size(buffer.get()));

  unsigned long long time = 0;
  for (void* data = kbuffer_read_event(buffer.get(), &time); data != nullptr;
       data = kbuffer_next_event(buffer.get(), &time)) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    judged.events.push_back({time, {bytes, bytes + kbuffer_event_size(buffer.get())}});
  }

  kbuffer_raw_info info{};
  info.next = copy.data() + kbuffer_start_of_data(buffer.get());
  const Kbuffer raw = make_kbuffer(format);
  if (kbuffer_load_subbuffer(raw.get(), copy.data()) != 0) return std::nullopt;
  while (kbuffer_raw_get(raw.get(), copy.data(), &info) != nullptr) {
    judged.records.push_back({info.type, info.delta});
  }
  return judged;
}

}  // namespace perf2dat::props
