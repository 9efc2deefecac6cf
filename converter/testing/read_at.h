// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracedat/reader.h"

namespace perf2dat::testing {

/// Has a trace.dat read from memory. The bytes must stay.
inline tracedat::ReadAt reader_of(std::span<const std::byte> bytes) {
  return [bytes](std::uint64_t offset, std::span<std::byte> into) -> Expected<std::size_t> {
    const auto rest = bytes.subspan(std::min<std::size_t>(offset, bytes.size()));
    const auto part = rest.first(std::min(rest.size(), into.size()));
    std::copy(part.begin(), part.end(), into.begin());
    return part.size();
  };
}

}  // namespace perf2dat::testing
