// SPDX-License-Identifier: LGPL-2.1-or-later
// What a recording says of the machine and the events, besides the records of what happened.
//
// A file has it in the table of attrs and in the sections of features behind the data; a stream has
// it in records of its own, among the others. Both forms hold the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "model/time_windows.h"
#include "model/tracing_data.h"
#include "perfdata/attr.h"
#include "perfdata/header.h"
#include "perfdata/record_stream.h"

namespace perf2dat::perfdata {

/// What is missing in the recording stays empty or 0.
struct Description {
  ByteOrder order = ByteOrder::kLittle;
  std::vector<Attr> attrs;
  std::map<std::uint64_t, std::size_t> attr_of_id;  ///< index of the last that has it, as in perf
  std::optional<TracingData> tracing;
  std::string hostname;
  std::string os_release;
  std::string arch;
  std::uint32_t cpus_available = 0;
  std::optional<TimeSpan> sample_time;
  /// Ids whose samples come from inside a virtual machine.
  std::set<std::uint64_t> guest_ids;
  /// How often something here became another; records may say again what is known.
  unsigned changes = 0;
};

/// Adds an attr, and its ids to the table.
void add_attr(Attr attr, Description& description);

/// Takes a feature's content; those that a conversion does not need are passed over.
Expected<void> parse_feature(Feature feature, ByteReader reader, Description& description);

/// Reads the sections of features of a file. Checks that all are inside the file, also those it
/// does not read: that is how a truncated file shows.
Expected<void> read_features(const InputFile& file, const Header& header, Description& description);

/// Takes a record that describes: HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE or ID_INDEX.
/// False: it is none of these.
Expected<bool> parse_description(const Record& record, Description& description);

}  // namespace perf2dat::perfdata
