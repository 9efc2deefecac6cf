// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything of a trace.dat but the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/tracing_data.h"
#include "tracedat/ring_page.h"

namespace perf2dat::tracedat {

/// KernelShark keeps CPU ids as 16-bit numbers.
inline constexpr std::uint32_t kHighestCpu = 0xffff;

struct Cmdline {
  std::uint32_t pid;
  std::string comm;
};

struct Metadata {
  TracingData tracing;  ///< its `cmdlines` are not written; those below are
  std::vector<Cmdline> cmdlines;
  /// At least the highest CPU id + 1. KernelShark draws this many CPUs.
  std::uint32_t cpu_count = 0;
  std::string clock = "perf";  ///< ftrace's name of the clock
  std::string uname;           ///< sysname, nodename, release, machine; empty: unknown
  std::string version;         ///< of the program that wrote the file
};

/// Where a CPU's pages are in the file.
struct CpuRange {
  std::uint32_t cpu;
  std::uint64_t offset;  ///< a multiple of the page size
  std::uint64_t size;    ///< bytes, whole pages
};

/// The bytes of the file up to the first CPU's first page: header, sections, options and the
/// header of the section of events, which goes on to `file_size`. Its length depends on the number
/// of ranges, not on their values.
std::vector<std::byte> encode_metadata(const Metadata& metadata, const PageFormat& format,
                                       const std::vector<CpuRange>& ranges,
                                       std::uint64_t file_size);

/// saved_cmdlines' text: a line for each name. Names that would end the reader's parse are mended:
/// one of nothing but space is left out, a line break or NUL in one becomes a '?'.
std::string cmdlines_text(const std::vector<Cmdline>& cmdlines);

}  // namespace perf2dat::tracedat
