// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the events of all CPUs, in any order of arrival, and writes them in time order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tracedat/metadata.h"
#include "tracedat/page_merger.h"
#include "tracedat/ring_page.h"
#include "tracedat/spilled.h"

namespace perf2dat::tracedat {

/// Memory that `CpuStreams` may fill before it spills to a scratch file.
struct MemoryBudget {
  std::size_t pages = 16U << 20U;       ///< bytes of finished pages
  std::size_t late_events = 8U << 20U;  ///< bytes of events that came too late for their page
};

/// Sorts events per CPU with bounded memory, whatever their order.
///
/// An event that is not before its CPU's last one is packed into a page at once; these pages are
/// final. Any other is late, and so is one that is too large for such a page, or the mark of
/// missing ones: it waits with the others, and when they are too many, they are sorted and spilled
/// as a run. At the end a CPU without late events is copied, and one with late events is merged
/// from its pages and runs.
///
///   arrival     10 20 30 15 40 35          one CPU
///   pages       10 20 30 40                what is in order
///   a run       15 35                      what came late, sorted
///   written     10 15 20 30 35 40
///
/// Events of equal time keep their order of arrival: a late event came after all events of its
/// time that were packed, and an earlier run's events came before a later one's.
class CpuStreams {
 public:
  /// Scratch files are made in the directory of `output_path`.
  CpuStreams(PageFormat format, std::string output_path, MemoryBudget budget = {});

  /// Takes an event, or the mark of missing ones, of a CPU up to kHighestCpu. A payload that no
  /// page of kLargestPage bytes holds is an error.
  Expected<void> append(std::uint32_t cpu, const RingEvent& event) {
    return append_in_order(cpu, event) ? Expected<void>{} : append_any(cpu, event);
  }

  /// Takes the usual event, which comes in order and finds room on its CPU's page, in little time.
  /// False: it is not that, `append()` it.
  bool append_in_order(std::uint32_t cpu, const RingEvent& event) {
    if (cpu >= by_cpu_.size() || by_cpu_[cpu] == nullptr || event.is_mark()) return false;
    Stream& stream = *by_cpu_[cpu];
    // An open page tells that there was an event.
    if (event.time < stream.last_time || stream.last_waits || stream.packer.empty()) {
      return false;
    }
    if (!stream.packer.append(event)) return false;
    stream.last_time = event.time;
    return true;
  }

  /// How many CPUs have events.
  std::uint32_t cpus() const { return cpus_; }
  std::uint32_t highest_cpu() const;

  /// The page format of the output: the recorded machine's, or one of larger pages when an event
  /// needs that.
  const PageFormat& format() const { return format_; }

  /// Writes all CPUs' pages to `out`, each CPU's in one piece, from the first page boundary at or
  /// after `offset`. The last call.
  Expected<std::vector<CpuRange>> write(OutputFile& out, std::uint64_t offset);

  /// Missing events whose mark had no event after it to go with. Known after `write()`.
  std::uint64_t unplaced_missed() const { return unplaced_missed_; }

 private:
  struct Stream {
    explicit Stream(PageFormat format) : packer(format) {}
    PagePacker packer;
    bool has_events = false;
    std::uint64_t missed = 0;  // all marks together
    std::uint64_t last_time = 0;
    bool last_waits = false;       // what has last_time waits with the late ones
    std::vector<std::byte> pages;  // finished, not yet spilled
    SpilledStream spilled;         // in the scratch file
  };
  struct LateEvent {
    std::uint32_t cpu;
    std::uint32_t size;
    std::uint64_t time;
    std::uint64_t missed;
    std::size_t at;  // in late_bytes_
  };

  Expected<void> append_any(std::uint32_t cpu, const RingEvent& event);
  Stream& stream_of(std::uint32_t cpu);
  Expected<void> append_late(std::uint32_t cpu, const RingEvent& event);
  Expected<void> finish_page(Stream& stream);
  Expected<void> spill_pages(Stream& stream);
  Expected<void> spill_late_events();
  Expected<ScratchFile*> scratch();
  std::size_t spill_size() const;
  Expected<std::uint64_t> write_stream(Stream& stream, OutputFile& out, std::uint64_t offset);
  Expected<std::uint64_t> copy(Stream& stream, OutputFile& out, std::uint64_t offset);

  PageFormat packed_format_;  // of the pages that are packed on arrival
  PageFormat format_;
  std::string output_path_;
  MemoryBudget budget_;
  std::map<std::uint32_t, Stream> streams_;
  std::vector<Stream*> by_cpu_;
  std::uint32_t cpus_ = 0;
  std::uint64_t unplaced_missed_ = 0;
  std::vector<LateEvent> late_;
  std::vector<std::byte> late_bytes_;
  std::optional<ScratchFile> scratch_;
};

}  // namespace perf2dat::tracedat
