// SPDX-License-Identifier: LGPL-2.1-or-later
// Single pages of a ring buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "tracedat/ring_page.h"

namespace perf2dat::testing {

/// The packer's page alone.
inline std::vector<std::byte> finish(tracedat::PagePacker& packer) {
  std::vector<std::byte> page;
  packer.finish(page);
  return page;
}

}  // namespace perf2dat::testing
