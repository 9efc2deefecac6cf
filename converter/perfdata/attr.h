// SPDX-License-Identifier: LGPL-2.1-or-later
// perf_event_attr: what was recorded of an event, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/header.h"

namespace perf2dat::perfdata {

struct Attr {
  std::uint32_t type = 0;
  std::uint64_t config = 0;  ///< of a tracepoint: the event's id in the event formats
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  bool sample_id_all = false;
  std::optional<std::int32_t> clockid;  ///< nullopt: perf's own clock
  std::vector<std::uint64_t> ids;       ///< of its counters, one for each CPU or thread
  std::string name;                     ///< "sched:sched_switch"; empty: not recorded

  bool is_tracepoint() const { return type == kTypeTracepoint; }
};

/// Reads one perf_event_attr of whatever size; ids and name stay empty.
/// Fails when the reader's bytes are fewer than the attr's own size.
Expected<Attr> parse_attr(ByteReader& reader);

/// Reads the table of attrs with their ids.
Expected<std::vector<Attr>> read_attrs(const InputFile& file, const Header& header);

}  // namespace perf2dat::perfdata
