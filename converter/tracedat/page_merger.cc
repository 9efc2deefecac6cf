// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/page_merger.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/fuzzing.h"

namespace perf2dat::tracedat {
namespace {

constexpr std::size_t kWriteSize = 256U << 10U;

// All runs' buffers together, and the least that one gets.
constexpr auto kRunBuffers = size_or_when_fuzzing<std::size_t>(8U << 20U, 16U << 10U);
constexpr std::size_t kSmallestRunBuffer = 4U << 10U;
constexpr std::size_t kLargestRunBuffer = 64U << 10U;

/// Packs events into pages and writes these to the output from an offset on.
class PageSink {
 public:
  PageSink(OutputFile& out, PageFormat format, std::uint64_t offset)
      : out_(out), packer_(format), offset_(offset) {}

  Expected<void> append(const RingEvent& event) {
    if (packer_.append(event)) return {};
    if (!packer_.empty()) P2D_TRY(finish_page());
    if (packer_.append(event)) return {};
    return output_error(
        "the scratch file beside the output was changed by somebody: it has {} bytes "
        "of one event",
        event.payload.size());
  }

  Expected<void> append_page(std::span<const std::byte> page) {
    if (!packer_.empty()) P2D_TRY(finish_page());
    pages_.insert(pages_.end(), page.begin(), page.end());
    return flush_full();
  }

  std::uint64_t pending_missed() const { return packer_.pending_missed(); }

  /// Returns the offset after the last page.
  Expected<std::uint64_t> finish() {
    if (!packer_.empty()) P2D_TRY(finish_page());
    P2D_TRY(flush());
    return offset_;
  }

 private:
  Expected<void> finish_page() {
    packer_.finish(pages_);
    return flush_full();
  }

  Expected<void> flush_full() { return pages_.size() < kWriteSize ? Expected<void>{} : flush(); }

  Expected<void> flush() {
    P2D_TRY(out_.write_at(offset_, pages_));
    offset_ += pages_.size();
    pages_.clear();
    return {};
  }

  OutputFile& out_;
  PagePacker packer_;
  std::uint64_t offset_;
  std::vector<std::byte> pages_;
};

/// All runs as one sequence in ascending time; of equal times the older run's comes first.
class Runs {
 public:
  Runs(const ScratchFile& file, const std::vector<Extent>& extents) {
    if (extents.empty()) return;
    const std::size_t chunk =
        std::clamp(kRunBuffers / extents.size(), kSmallestRunBuffer, kLargestRunBuffer);
    for (const Extent& extent : extents) cursors_.emplace_back(file, extent, chunk);
  }

  Expected<void> start() {
    for (std::size_t run = 0; run < cursors_.size(); ++run) P2D_TRY(advance(run));
    return {};
  }

  bool empty() const { return heads_.empty(); }
  std::uint64_t time() const { return heads_.top().first; }

  /// Moves events to the sink, as long as they are before `time`.
  Expected<void> move_before(std::uint64_t time, PageSink& sink) {
    while (!empty() && this->time() < time) P2D_TRY(move_one(sink));
    return {};
  }

  Expected<void> move_one(PageSink& sink) {
    const std::size_t run = heads_.top().second;
    heads_.pop();
    P2D_TRY(sink.append(cursors_[run].event()));
    return advance(run);
  }

 private:
  using Head = std::pair<std::uint64_t, std::size_t>;  // time, run

  Expected<void> advance(std::size_t run) {
    P2D_ASSIGN(const bool more, cursors_[run].advance());
    if (more) heads_.emplace(cursors_[run].event().time, run);
    return {};
  }

  std::vector<RunCursor> cursors_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

/// Unpacks a page into the sink, with what falls between its events.
Expected<void> merge_page(PageFormat format, std::span<const std::byte> page, Runs& runs,
                          PageSink& sink) {
  PageReader reader(format, page);
  while (const auto event = reader.next()) {
    P2D_TRY(runs.move_before(event->time, sink));
    P2D_TRY(sink.append(*event));
  }
  if (reader.damage() == nullptr) return {};
  return output_error("the scratch file beside the output was changed by somebody: {}",
                      reader.damage());
}

}  // namespace

Expected<Merged> merge_pages(const ScratchFile& file, const SpilledStream& stream, PageFormat from,
                             PageFormat to, OutputFile& out, std::uint64_t offset) {
  const bool same_format = from.page_size == to.page_size;
  PageSink sink(out, to, offset);
  Runs runs(file, stream.runs);
  P2D_TRY(runs.start());
  PageCursor pages(file, from, stream.pages);
  for (;;) {
    P2D_ASSIGN(const bool more, pages.advance());
    if (!more) break;
    const std::uint64_t next_time = pages.next_time();
    const bool untouched = runs.empty() || (next_time != 0 && runs.time() >= next_time);
    if (untouched && same_format && sink.pending_missed() == 0) {
      P2D_TRY(sink.append_page(pages.page()));
      continue;
    }
    P2D_TRY(merge_page(from, pages.page(), runs, sink));
    P2D_TRY(runs.move_before(next_time, sink));
  }
  while (!runs.empty()) P2D_TRY(runs.move_one(sink));
  Merged merged;
  merged.unplaced_missed = sink.pending_missed();
  P2D_ASSIGN(merged.end, sink.finish());
  return merged;
}

}  // namespace perf2dat::tracedat
