// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a page of a ring buffer, after a byte that tells what kind. Where our reader finds
// no damage, libtraceevent's kbuffer reads the same events.
#include "tracedat/ring_page.h"

#include <iterator>
#include <optional>
#include <vector>

#include "kbuffer_judge.h"
#include "property.h"

namespace perf2dat::fuzz {
namespace {

tracedat::PageFormat draw_format(Draw& draw) {
  const auto kind = draw.byte();
  tracedat::PageFormat format;
  format.order = (kind & 1U) == 0 ? ByteOrder::kLittle : ByteOrder::kBig;
  format.commit_size = (kind & 2U) == 0 ? 8 : 4;
  constexpr std::uint32_t kSizes[] = {4096, 8192, 16384, 32768, 65536};
  format.page_size = kSizes[(kind >> 2U) % std::size(kSizes)];
  return format;
}

/// What kbuffer must say of the number of missed events; nullopt: it says nothing of use.
std::optional<std::int64_t> missed_by_kbuffer(const tracedat::PageFormat& format,
                                              std::span<const std::byte> page,
                                              std::uint64_t missed) {
  if (missed == 0) return 0;
  // It has forgotten the mark when it has passed over a time extend to the first event.
  const std::size_t header = format.header_size();
  const auto commit = load<std::uint32_t>(
      page.data() + (format.order == ByteOrder::kBig && format.commit_size == 8 ? 12 : 8),
      format.order);
  const std::size_t end = header + (commit & tracedat::kCommitMask);
  if (end > header) {
    const auto word = load<std::uint32_t>(page.data() + header, format.order);
    const auto type = tracedat::decode_record_word(format.order, word).type_len;
    if (type == tracedat::kTypeTimeExtend || type == tracedat::kTypeTimeStamp) return std::nullopt;
  }
  if ((commit & tracedat::kCommitMissedStored) == 0) return -1;
  // It does not look whether the number is on the page, and has an int for it.
  if (end + format.commit_size > page.size() || missed > tracedat::kLargestMissed) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(missed);
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat;        // NOLINT(google-build-using-namespace)
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  Draw draw(bytes_of(data, size));
  const auto format = draw_format(draw);
  // Exactly as large as a page, so that the sanitizer sees what reads beyond it.
  const auto content = draw.take(format.page_size);
  std::vector<std::byte> page(content.begin(), content.end());
  page.resize(format.page_size);
  page.shrink_to_fit();

  tracedat::PageReader reader(format, page);
  std::vector<props::JudgedEvent> events;
  std::uint64_t missed = 0;
  while (const auto event = reader.next()) {
    expect(events.size() < format.page_size / 4, "a record has four bytes or more");
    if (event->is_mark()) {
      expect(events.empty() && missed == 0, "one mark, before all events");
      missed = event->missed;
      continue;
    }
    events.push_back({event->time, {event->payload.begin(), event->payload.end()}});
  }
  expect(reader.position() <= page.size(), "the reader stays on the page");
  if (reader.damage() != nullptr) return 0;

  const auto judged = props::judge_page(format, page);
  expect(judged.has_value(), "kbuffer takes the page, too");
  expect(judged->events.size() == events.size(), "as many events as kbuffer reads");
  for (std::size_t i = 0; i < events.size(); ++i) {
    expect(judged->events[i].time == events[i].time, "kbuffer reads the same time");
    expect(judged->events[i].payload == events[i].payload, "kbuffer reads the same data");
  }
  if (const auto told = missed_by_kbuffer(format, page, missed)) {
    expect(judged->missed == *told, "kbuffer tells as many missed events");
  }
  return 0;
}
