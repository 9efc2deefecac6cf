// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/cpu_streams.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"

namespace perf2dat::tracedat {
namespace {

// Finished pages of a CPU are spilled in pieces of this many bytes: large enough for the disk,
// small enough to be in the processor's cache still.
constexpr std::size_t kLargestSpill = 256U << 10U;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

CpuStreams::CpuStreams(PageFormat format, std::string output_path, MemoryBudget budget)
    : packed_format_(format),
      format_(format),
      output_path_(std::move(output_path)),
      budget_(budget) {}

std::uint32_t CpuStreams::highest_cpu() const {
  const auto highest = std::find_if(streams_.rbegin(), streams_.rend(),
                                    [](const auto& each) { return each.second.has_events; });
  return highest == streams_.rend() ? 0 : highest->first;
}

// Thousands of CPUs share the budget.
std::size_t CpuStreams::spill_size() const {
  return std::min(kLargestSpill, budget_.pages / std::max<std::size_t>(1, streams_.size()));
}

CpuStreams::Stream& CpuStreams::stream_of(std::uint32_t cpu) {
  if (cpu >= by_cpu_.size()) by_cpu_.resize(std::size_t{cpu} + 1);
  Stream*& stream = by_cpu_[cpu];
  if (stream == nullptr) stream = &streams_.try_emplace(cpu, packed_format_).first->second;
  return *stream;
}

Expected<void> CpuStreams::append_any(std::uint32_t cpu, const RingEvent& event) {
  if (cpu > kHighestCpu) return output_error("a trace.dat can't hold events of CPU {}", cpu);
  Stream& stream = stream_of(cpu);
  if (event.is_mark()) {
    stream.missed = saturating_add(stream.missed, event.missed);
  } else if (!std::exchange(stream.has_events, true)) {
    ++cpus_;
  }
  const bool after_waiting = event.time == stream.last_time && stream.last_waits;
  if (event.time < stream.last_time || after_waiting) return append_late(cpu, event);
  stream.last_time = event.time;
  // On a page a mark has no time but that of the next event, and a late event may fall between.
  stream.last_waits = event.is_mark() || event.payload.size() > packed_format_.largest_payload();
  if (stream.last_waits) return append_late(cpu, event);
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
  late_.push_back({cpu, static_cast<std::uint32_t>(event.payload.size()), event.time, event.missed,
                   late_bytes_.size()});
  late_bytes_.insert(late_bytes_.end(), event.payload.begin(), event.payload.end());
  const std::size_t used = late_bytes_.size() + late_.size() * sizeof(LateEvent);
  return used < budget_.late_events ? Expected<void>{} : spill_late_events();
}

Expected<void> CpuStreams::finish_page(Stream& stream) {
  stream.packer.finish(stream.pages);
  return stream.pages.size() < spill_size() ? Expected<void>{} : spill_pages(stream);
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
  auto& extents = stream.spilled.pages;
  if (!extents.empty() && extents.back().offset + extents.back().size == offset) {
    extents.back().size += stream.pages.size();
  } else {
    extents.push_back({offset, stream.pages.size()});
  }
  stream.pages.clear();
  // More CPUs have come since it grew.
  if (stream.pages.capacity() > 2 * spill_size()) std::vector<std::byte>().swap(stream.pages);
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
    RunCursor::encode(
        {event.time, std::span(late_bytes_).subspan(event.at, event.size), event.missed}, run);
    const bool last_of_cpu = i + 1 == late_.size() || late_[i + 1].cpu != event.cpu;
    if (!last_of_cpu) continue;
    P2D_ASSIGN(const std::uint64_t offset, file->append(run));
    stream_of(event.cpu).spilled.runs.push_back({offset, run.size()});
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
  by_cpu_.clear();
  // What is written is freed at once: the last page of each of many CPUs adds up.
  while (!streams_.empty()) {
    auto node = streams_.extract(streams_.begin());
    Stream& stream = node.mapped();
    if (!stream.has_events) {
      unplaced_missed_ = saturating_add(unplaced_missed_, stream.missed);
      continue;
    }
    P2D_ASSIGN(const std::uint64_t end, write_stream(stream, out, offset));
    ranges.push_back({node.key(), offset, end - offset});
    offset = end;
  }
  return ranges;
}

Expected<std::uint64_t> CpuStreams::write_stream(Stream& stream, OutputFile& out,
                                                 std::uint64_t offset) {
  if (!stream.packer.empty()) P2D_TRY(finish_page(stream));
  if (stream.spilled.runs.empty() && format_.page_size == packed_format_.page_size) {
    return copy(stream, out, offset);
  }
  P2D_TRY(spill_pages(stream));
  P2D_ASSIGN(ScratchFile* const file, scratch());
  P2D_ASSIGN(const auto merged,
             merge_pages(*file, stream.spilled, packed_format_, format_, out, offset));
  unplaced_missed_ = saturating_add(unplaced_missed_, merged.unplaced_missed);
  return merged.end;
}

Expected<std::uint64_t> CpuStreams::copy(Stream& stream, OutputFile& out, std::uint64_t offset) {
  for (const Extent& extent : stream.spilled.pages) {
    P2D_TRY(out.copy_from(*scratch_, extent.offset, extent.size, offset));
    offset += extent.size;
  }
  P2D_TRY(out.write_at(offset, stream.pages));
  return offset + stream.pages.size();
}

}  // namespace perf2dat::tracedat
