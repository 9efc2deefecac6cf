// SPDX-License-Identifier: LGPL-2.1-or-later
// The one stream of zstd that goes through all compressed records of a file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/fuzzing.h"

struct ZSTD_DCtx_s;

namespace perf2dat::perfdata {

class Decompressor {
 public:
  /// The largest window that a frame may ask for, 128 MiB, as a power of two. perf's levels need
  /// 8 MiB at most.
  static constexpr int kLargestWindowLog = size_or_when_fuzzing(27, 23);

  Decompressor();

  /// What comes next in the stream. The bytes must stay until `read()` has returned fewer bytes
  /// than asked for.
  void feed(std::span<const std::byte> compressed);

  /// Fills the span from what was fed; returns the number of bytes, fewer when all is used up.
  Expected<std::size_t> read(std::span<std::byte> into);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::span<const std::byte> input_;
};

}  // namespace perf2dat::perfdata
