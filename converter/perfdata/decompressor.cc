// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/decompressor.h"

#include <zstd.h>

#include <new>

namespace perf2dat::perfdata {

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
}

void Decompressor::feed(std::span<const std::byte> compressed) { input_ = compressed; }

Expected<std::size_t> Decompressor::read(std::span<std::byte> into) {
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  ZSTD_inBuffer in{input_.data(), input_.size(), 0};
  // zstd may hold back output after it took all input, so it is asked until it gives no more.
  while (out.pos < out.size) {
    const std::size_t before = out.pos;
    const std::size_t used = in.pos;
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result) != 0) {
      return input_error("zstd: {}", ZSTD_getErrorName(result));
    }
    if (out.pos == before && in.pos == used) break;
  }
  input_ = input_.subspan(in.pos);
  return out.pos;
}

}  // namespace perf2dat::perfdata
