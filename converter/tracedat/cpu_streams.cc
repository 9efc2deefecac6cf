// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/cpu_streams.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

namespace perf2dat::tracedat {
namespace {

// Finished pages of a CPU are spilled in pieces of this many bytes: large enough for the disk,
// small enough to be in the processor's cache still.
constexpr std::size_t kSpillSize = 256U << 10U;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Packs events into pages and writes these to the output from an offset on.
class PageSink {
 public:
  PageSink(OutputFile& out, PageFormat format, std::uint64_t offset)
      : out_(out), packer_(format), offset_(offset) {}

  Expected<void> append(const RingEvent& event) {
    if (packer_.append(event)) return {};
    P2D_TRY(finish_page());
    packer_.append(event);
    return {};
  }

  /// Returns the offset after the last page.
  Expected<std::uint64_t> finish() {
    if (!packer_.empty()) P2D_TRY(finish_page());
    P2D_TRY(flush());
    return offset_;
  }

 private:
  Expected<void> finish_page() {
    const auto page = packer_.take();
    pages_.insert(pages_.end(), page.begin(), page.end());
    return pages_.size() < kSpillSize ? Expected<void>{} : flush();
  }

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

}  // namespace

CpuStreams::CpuStreams(PageFormat format, std::string output_path, MemoryBudget budget)
    : packed_format_(format),
      format_(format),
      output_path_(std::move(output_path)),
      budget_(budget) {}

std::uint32_t CpuStreams::highest_cpu() const {
  return streams_.empty() ? 0 : streams_.rbegin()->first;
}

CpuStreams::Stream& CpuStreams::stream_of(std::uint32_t cpu) {
  if (cpu >= by_cpu_.size()) by_cpu_.resize(std::size_t{cpu} + 1);
  Stream*& stream = by_cpu_[cpu];
  if (stream == nullptr) stream = &streams_.try_emplace(cpu, packed_format_).first->second;
  return *stream;
}

Expected<void> CpuStreams::append(std::uint32_t cpu, const RingEvent& event) {
  if (cpu > kHighestCpu) return output_error("a trace.dat can't hold events of CPU {}", cpu);
  Stream& stream = stream_of(cpu);
  const bool after_large = event.time == stream.last_time && stream.last_is_large;
  if (event.time < stream.last_time || after_large) return append_late(cpu, event);
  stream.last_time = event.time;
  stream.last_is_large = event.payload.size() > packed_format_.largest_payload();
  if (stream.last_is_large) return append_late(cpu, event);
  if (!stream.packer.append(event)) {
    P2D_TRY(finish_page(stream));
    stream.packer.append(event);
  }
  return {};
}

Expected<void> CpuStreams::append_late(std::uint32_t cpu, const RingEvent& event) {
  while (event.payload.size() > format_.largest_payload()) {
    if (format_.page_size >= kLargestPage) {
      return output_error("an event of {} bytes is larger than the largest page of a trace.dat",
                          event.payload.size());
    }
    format_.page_size *= 2;
  }
  late_.push_back(
      {cpu, static_cast<std::uint32_t>(event.payload.size()), event.time, late_bytes_.size()});
  late_bytes_.insert(late_bytes_.end(), event.payload.begin(), event.payload.end());
  const std::size_t used = late_bytes_.size() + late_.size() * sizeof(LateEvent);
  return used < budget_.late_events ? Expected<void>{} : spill_late_events();
}

Expected<void> CpuStreams::finish_page(Stream& stream) {
  const auto page = stream.packer.take();
  stream.pages.insert(stream.pages.end(), page.begin(), page.end());
  buffered_pages_ += page.size();
  if (stream.pages.size() >= kSpillSize) return spill_pages(stream);
  if (buffered_pages_ >= budget_.pages) {
    for (auto& [cpu, each] : streams_) P2D_TRY(spill_pages(each));
  }
  return {};
}

Expected<ScratchFile*> CpuStreams::scratch() {
  if (!scratch_) {
    P2D_ASSIGN(auto file, ScratchFile::create_beside(output_path_));
    scratch_.emplace(std::move(file));
  }
  return &*scratch_;
}

Expected<void> CpuStreams::spill_pages(Stream& stream) {
  if (stream.pages.empty()) return {};
  P2D_ASSIGN(ScratchFile* const file, scratch());
  P2D_ASSIGN(const std::uint64_t offset, file->append(stream.pages));
  auto& spilled = stream.spilled;
  if (!spilled.empty() && spilled.back().offset + spilled.back().size == offset) {
    spilled.back().size += stream.pages.size();
  } else {
    spilled.push_back({offset, stream.pages.size()});
  }
  buffered_pages_ -= stream.pages.size();
  stream.pages.clear();
  return {};
}

Expected<void> CpuStreams::spill_late_events() {
  if (late_.empty()) return {};
  std::stable_sort(late_.begin(), late_.end(), [](const LateEvent& a, const LateEvent& b) {
    return std::tie(a.cpu, a.time) < std::tie(b.cpu, b.time);
  });
  P2D_ASSIGN(ScratchFile* const file, scratch());
  std::vector<std::byte> run;
  for (std::size_t i = 0; i < late_.size(); ++i) {
    const LateEvent& event = late_[i];
    RunSource::encode({event.time, std::span(late_bytes_).subspan(event.at, event.size)}, run);
    const bool last_of_cpu = i + 1 == late_.size() || late_[i + 1].cpu != event.cpu;
    if (!last_of_cpu) continue;
    P2D_ASSIGN(const std::uint64_t offset, file->append(run));
    stream_of(event.cpu).runs.push_back({offset, run.size()});
    run.clear();
  }
  late_.clear();
  late_bytes_.clear();
  return {};
}

Expected<std::vector<CpuRange>> CpuStreams::write(OutputFile& out, std::uint64_t offset) {
  P2D_TRY(spill_late_events());
  std::vector<CpuRange> ranges;
  offset = align_up(offset, format_.page_size);
  for (auto& [cpu, stream] : streams_) {
    if (!stream.packer.empty()) P2D_TRY(finish_page(stream));
    const bool as_packed = stream.runs.empty() && format_.page_size == packed_format_.page_size;
    P2D_ASSIGN(const std::uint64_t end,
               as_packed ? copy(stream, out, offset) : merge(stream, out, offset));
    ranges.push_back({cpu, offset, end - offset});
    offset = end;
  }
  return ranges;
}

Expected<std::uint64_t> CpuStreams::copy(Stream& stream, OutputFile& out, std::uint64_t offset) {
  for (const Extent& extent : stream.spilled) {
    P2D_TRY(out.copy_from(*scratch_, extent.offset, extent.size, offset));
    offset += extent.size;
  }
  P2D_TRY(out.write_at(offset, stream.pages));
  offset += stream.pages.size();
  buffered_pages_ -= stream.pages.size();
  stream.pages = {};
  return offset;
}

Expected<std::uint64_t> CpuStreams::merge(Stream& stream, OutputFile& out, std::uint64_t offset) {
  P2D_TRY(spill_pages(stream));
  P2D_ASSIGN(ScratchFile* const file, scratch());

  // In the order of arrival: the pages first, then the runs from old to new.
  std::vector<std::unique_ptr<EventSource>> sources;
  sources.push_back(std::make_unique<PageSource>(*file, packed_format_, stream.spilled));
  for (const Extent& run : stream.runs) {
    sources.push_back(std::make_unique<RunSource>(*file, run));
  }

  using Head = std::pair<std::uint64_t, std::size_t>;  // time, source
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto step = [&](std::size_t source) -> Expected<void> {
    P2D_ASSIGN(const bool more, sources[source]->advance());
    if (more) heads.emplace(sources[source]->current().time, source);
    return {};
  };
  for (std::size_t source = 0; source < sources.size(); ++source) P2D_TRY(step(source));

  PageSink sink(out, format_, offset);
  while (!heads.empty()) {
    const std::size_t source = heads.top().second;
    heads.pop();
    P2D_TRY(sink.append(sources[source]->current()));
    P2D_TRY(step(source));
  }
  return sink.finish();
}

}  // namespace perf2dat::tracedat
