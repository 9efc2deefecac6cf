// SPDX-License-Identifier: LGPL-2.1-or-later
// One conversion: reads a recording and writes a trace.dat.
#pragma once

#include "perf2dat/perf2dat.h"

namespace perf2dat {

/// `convert()` without its guard against exceptions.
Expected<Summary> run_conversion(const Options& options);

}  // namespace perf2dat
