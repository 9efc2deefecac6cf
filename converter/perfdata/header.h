// SPDX-License-Identifier: LGPL-2.1-or-later
// The header of a perf.data file.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/layout.h"

namespace perf2dat::perfdata {

/// A piece of the file.
struct FileSection {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Header {
  ByteOrder order = ByteOrder::kLittle;
  std::uint64_t attr_size = 0;  ///< the stride of the table of attrs
  FileSection attrs;
  FileSection data;
  std::array<bool, kFeatureBits> features{};  ///< by bit
};

/// Reads the header and checks that its sections are inside the file. Pipe recordings and
/// unfinished ones are errors that say so.
Expected<Header> read_header(const InputFile& file);

}  // namespace perf2dat::perfdata
