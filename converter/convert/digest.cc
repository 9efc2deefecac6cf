// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert/digest.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace perf2dat {
namespace {

// Every bit of the value has a say in every bit of the result, so that sums do not cancel out.
// The multipliers are those of the finalizer of MurmurHash3, a published constant pair.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33U;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33U);
}

std::uint64_t hash(const tracedat::RingEvent& event) {
  const auto* const bytes = reinterpret_cast<const Bytef*>(event.payload.data());
  const auto size = static_cast<uInt>(event.payload.size());
  uLong crc = crc32_z(0, bytes, size);
  // A ring buffer pads payloads to words.
  static constexpr std::array<Bytef, 4> kZeros{};
  crc = crc32_z(crc, kZeros.data(), (4 - size % 4) % 4);
  return mix(event.time) ^ mix(crc + 1);
}

}  // namespace

void Digest::add(const tracedat::RingEvent& event) {
  if (event.is_mark()) return;
  ++events;
  first_time = std::min(first_time, event.time);
  last_time = std::max(last_time, event.time);
  hash_sum += mix(hash(event));
}

Expected<void> check_output(const tracedat::ReadAt& read_at, std::uint64_t file_size,
                            const Digests& recorded) {
  P2D_ASSIGN(const auto contents, tracedat::read_contents(read_at, file_size));
  Digests written;
  for (const auto& range : contents.ranges) {
    Digest& digest = written[range.cpu];
    P2D_TRY(tracedat::read_events(read_at, contents.format, range,
                                  [&](const tracedat::RingEvent& event) { digest.add(event); }));
  }
  for (const auto& [cpu, expected] : recorded) {
    const Digest found = written[cpu];
    if (found.events != expected.events) {
      return check_error("CPU {} has {} events in the output, {} in the recording", cpu,
                         found.events, expected.events);
    }
    if (found.first_time != expected.first_time || found.last_time != expected.last_time) {
      return check_error(
          "CPU {} goes from {} to {} ns in the output, from {} to {} ns in the "
          "recording",
          cpu, found.first_time, found.last_time, expected.first_time, expected.last_time);
    }
    if (found.hash_sum != expected.hash_sum) {
      return check_error("CPU {} has other times or data in the output than in the recording", cpu);
    }
  }
  if (written.size() != recorded.size()) {
    return check_error("the output has events of {} CPUs, the recording of {}", written.size(),
                       recorded.size());
  }
  return {};
}

}  // namespace perf2dat
