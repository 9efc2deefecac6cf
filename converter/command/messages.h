// SPDX-License-Identifier: LGPL-2.1-or-later
// What the command says of a conversion.
#pragma once

#include <string>
#include <vector>

#include "perf2dat/perf2dat.h"

namespace perf2dat::command {

/// Lines in the manner of perf's own: what was converted, then one for each thing left out.
std::vector<std::string> lines_of(const Options& options, const Summary& summary, bool verbose);

}  // namespace perf2dat::command
