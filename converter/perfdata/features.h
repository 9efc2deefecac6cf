// SPDX-License-Identifier: LGPL-2.1-or-later
// The sections behind the data in which perf describes the machine and the events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "model/tracing_data.h"
#include "perfdata/attr.h"
#include "perfdata/header.h"

namespace perf2dat::perfdata {

/// What is missing in the recording stays empty or 0.
struct Features {
  std::optional<TracingData> tracing;
  std::string hostname;
  std::string os_release;
  std::string arch;
  std::uint32_t cpus_available = 0;
};

/// Reads the features that a conversion needs, and sets the attrs' names. Checks that all sections
/// are inside the file, also those it does not read: that is how a truncated file shows.
Expected<Features> read_features(const InputFile& file, const Header& header,
                                 std::vector<Attr>& attrs);

}  // namespace perf2dat::perfdata
