// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tracedat/ring_page.h"
#include "tracedat/spilled.h"

namespace perf2dat::tracedat {

/// Where a CPU's pages and runs are in the scratch file.
struct SpilledStream {
  std::vector<Extent> pages;  ///< finished pages, in ascending time
  std::vector<Extent> runs;   ///< sorted runs, from the one that arrived first to the last
};

/// Where a merge has come to.
struct Merged {
  std::uint64_t end = 0;              ///< offset after the last page written
  std::uint64_t unplaced_missed = 0;  ///< events that are missing after the last event
};

/// Merges a CPU's pages and runs, and writes pages of `to` at `offset`. Pages into which no event
/// of a run falls are written as they are, if the two formats are the same.
Expected<Merged> merge_pages(const ScratchFile& file, const SpilledStream& stream, PageFormat from,
                             PageFormat to, OutputFile& out, std::uint64_t offset);

}  // namespace perf2dat::tracedat
