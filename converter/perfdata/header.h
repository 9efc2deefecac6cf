// SPDX-License-Identifier: LGPL-2.1-or-later
// The header of a perf.data file or stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/layout.h"

namespace perf2dat::perfdata {

/// A piece of the file.
struct FileSection {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t told_at = 0;  ///< where in the file it is told
};

/// Reads a section's u64 offset and u64 size.
FileSection read_section(ByteReader& reader);

/// Fails when a section is not inside the file.
Expected<void> check_inside(const InputFile& file, std::string_view what, FileSection section);

/// What the first bytes tell of a recording.
struct Start {
  ByteOrder order = ByteOrder::kLittle;
  bool is_stream = false;  ///< written for a pipe: records follow, and nothing else
  std::uint64_t size = 0;  ///< bytes of the header
};

/// Reads the first kPipeHeaderSize bytes, or fewer when there are no more.
Expected<Start> read_start(std::span<const std::byte> bytes);

struct Header {
  ByteOrder order = ByteOrder::kLittle;
  std::uint64_t attr_size = 0;  ///< the stride of the table of attrs
  FileSection attrs;
  FileSection data;
  std::array<bool, kFeatureBits> features{};  ///< by bit

  /// perf was stopped before it wrote the data's size: data goes on to the file's end, and there
  /// are no features.
  bool is_unfinished() const { return data.size == 0; }
};

/// Reads the header of a file and checks that its sections are inside the file.
Expected<Header> read_header(const InputFile& file);

}  // namespace perf2dat::perfdata
