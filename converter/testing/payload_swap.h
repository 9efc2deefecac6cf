// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_order.h"
#include "model/event_format.h"

namespace perf2dat::testing {

/// Turns a tracepoint's data into what a machine of the other byte order would have recorded:
/// every number of every field is turned round, texts are not. `from` is the data's order now.
void swap_payload(std::vector<std::byte>& payload, const EventFormat& format, ByteOrder from,
                  std::uint32_t long_size);

}  // namespace perf2dat::testing
