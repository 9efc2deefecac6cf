// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes samples and trailers field by field, as perf_event_open(2) lists them: slow, and with
// nothing of the converter's own decoders in it but the numbers of the format. These must agree
// with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_order.h"
#include "perfdata/attr.h"

namespace perf2dat::fuzz {

struct ReferenceSample {
  std::uint64_t id = 0;  ///< IDENTIFIER, or ID where that is not there
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  std::uint32_t tid = 0;
  std::span<const std::byte> raw;
};

/// nullopt: the sample ends before all of what a conversion needs of it.
std::optional<ReferenceSample> decode_sample(const perfdata::Attr& attr, ByteOrder order,
                                             std::span<const std::byte> body);

struct ReferenceTrailer {
  std::optional<std::uint64_t> time;
  std::optional<std::uint32_t> cpu;
};

/// The sample_id at the end of any other record.
ReferenceTrailer decode_trailer(const perfdata::Attr& attr, ByteOrder order,
                                std::span<const std::byte> body);

}  // namespace perf2dat::fuzz
