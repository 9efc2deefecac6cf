// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "perfdata/recording.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::testing {

/// The same recording as a machine of the other byte order would have made it, to be built as a
/// file or a stream. Records of samples, names, forks, exits, lost events and rounds are kept;
/// others say nothing of tracepoints. `order` is the twin's.
Expected<PerfDataBuilder> make_twin(perfdata::Recording& recording, ByteOrder order);

}  // namespace perf2dat::testing
