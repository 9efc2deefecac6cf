// SPDX-License-Identifier: LGPL-2.1-or-later
// The event formats as perf stores them.
//
// Source: perf's tools/perf/util/trace-event-info.c, which writes them:
//
//   17 08 44 "tracing"  "0.5\0" or "0.6\0"  u8 byte order  u8 size of long  u32 page size
//   "header_page\0" u64 size, text    "header_event\0" u64 size, text
//   u32 count of (u64 size, text)     formats of ftrace's own events
//   u32 count of (name\0, u32 count of (u64 size, text))     the systems' formats
//   u32 size, text   kallsyms         u32 size, text   printk formats
//   u64 size, text   cmdlines, only in 0.6
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "model/tracing_data.h"

namespace perf2dat::perfdata {

/// `origin` is the place of `bytes` in the file, for messages.
Expected<TracingData> parse_tracing_data(std::span<const std::byte> bytes, std::uint64_t origin);

}  // namespace perf2dat::perfdata
