// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a recording as a conversion does, record by record, and keeps what it read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace perf2dat::fuzz {

struct ReadResult {
  std::uint64_t records = 0;
  std::uint64_t samples = 0;  ///< that were decoded
  std::uint64_t digest = 0;   ///< of all records and of what was decoded
  std::vector<std::string> warnings;
  std::optional<Error> error;

  friend bool operator==(const ReadResult& a, const ReadResult& b);
};

/// Reads until the end, an error, or kMostRecords. `size`: of the input, or of the largest file of
/// a folder. `tracing_dir`: with event formats; empty: none.
ReadResult read_recording(const std::string& path, std::uint64_t size,
                          const std::string& tracing_dir = {});

/// An error is of the input and one line; it and the warnings name places in the input only, or of
/// a folder, places that are in its largest file.
void expect_told(const ReadResult& result, std::uint64_t size);

/// Bytes that reading an input may take: a few chunks of it, tables of what it describes, and where
/// it has a frame of zstd, the largest window that a frame may ask for.
std::size_t memory_for(std::span<const std::byte> input);

/// A few bytes of zstd can become millions of records; a fuzzer has better things to do.
inline constexpr std::uint64_t kMostRecords = 10'000;

}  // namespace perf2dat::fuzz
