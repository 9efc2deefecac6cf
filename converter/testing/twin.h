// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "perfdata/recording.h"

namespace perf2dat::testing {

/// The same recording as a machine of the other byte order would have made it. Records of samples,
/// names, forks, exits, lost events and rounds are kept; others say nothing of tracepoints.
Expected<std::vector<std::byte>> make_twin(const perfdata::Recording& recording);

}  // namespace perf2dat::testing
