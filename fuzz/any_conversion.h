// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts a recording that may be anything, and what must hold of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "output_folder.h"

namespace perf2dat::fuzz {

/// A folder like tracefs' with one event, test:ping, of a little-endian machine. Its path.
const std::string& tracing_dir();

/// Converts the recording at `path`. `input`: all of its bytes, which also choose the options, so
/// that an input needs no bytes of its own for them. `largest`: of its files, bytes.
void expect_conversion(const std::string& path, std::span<const std::byte> input,
                       std::uint64_t largest);

}  // namespace perf2dat::fuzz
