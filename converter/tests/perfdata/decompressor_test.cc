// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/decompressor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "testing/expected.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::error_of;
using perf2dat::testing::value_of;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

Bytes words(std::size_t size) {
  std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 8);
  return bytes;
}

/// One stream of zstd, flushed after each piece, and without an end as perf writes it.
std::vector<Bytes> compress(const Bytes& plain, std::size_t piece) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  std::vector<Bytes> pieces;
  for (std::size_t at = 0; at < plain.size(); at += piece) {
    const std::size_t size = std::min(piece, plain.size() - at);
    Bytes compressed(ZSTD_compressBound(size) + 64);
    ZSTD_inBuffer in{plain.data() + at, size, 0};
    ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
    if (ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_flush) != 0) {
      throw std::runtime_error("zstd did not take a piece whole");
    }
    compressed.resize(out.pos);
    pieces.push_back(compressed);
  }
  return pieces;
}

/// All that is in what was fed, read by spans of this size.
Bytes drain(Decompressor& decompressor, std::size_t span) {
  Bytes all;
  for (;;) {
    Bytes bytes(span);
    const std::size_t done = value_of(decompressor.read(bytes));
    all.insert(all.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(done));
    if (done < span) return all;
  }
}

TEST(Decompress, ReadsOneStreamThroughSeveralFeeds) {
  const Bytes plain = words(5000);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{4096}}) {
    Decompressor decompressor;
    Bytes all;
    for (const Bytes& compressed : compress(plain, piece)) {
      decompressor.feed(compressed);
      const Bytes more = drain(decompressor, 10000);
      // A flush ends each piece: nothing is held back.
      EXPECT_EQ(more.size(), std::min(piece, plain.size() - all.size()));
      all.insert(all.end(), more.begin(), more.end());
    }
    EXPECT_TRUE(all == plain);
  }
}

TEST(Decompress, GivesMoreThanTheSpanHoldsByAndBy) {
  const Bytes plain = words(1U << 20U);
  for (const std::size_t span : {std::size_t{1000}, std::size_t{4097}, std::size_t{1} << 20U}) {
    Decompressor decompressor;
    const auto pieces = compress(plain, plain.size());
    decompressor.feed(pieces.front());
    EXPECT_TRUE(drain(decompressor, span) == plain);
  }
}

TEST(Decompress, TakesTheStreamCutAnywhere) {
  const Bytes plain = words(500);
  const auto pieces = compress(plain, plain.size());
  Decompressor decompressor;
  Bytes all;
  for (const std::byte& byte : pieces.front()) {
    decompressor.feed({&byte, 1});
    const Bytes more = drain(decompressor, 64);
    all.insert(all.end(), more.begin(), more.end());
  }
  EXPECT_TRUE(all == plain);
}

TEST(Decompress, GivesNothingOfAnEmptyFeedAndGoesOn) {
  const Bytes plain = words(200);
  const auto pieces = compress(plain, 100);
  Decompressor decompressor;
  EXPECT_EQ(drain(decompressor, 10), Bytes());
  decompressor.feed({});
  EXPECT_EQ(drain(decompressor, 10), Bytes());
  decompressor.feed(pieces[0]);
  Bytes all = drain(decompressor, 1000);
  decompressor.feed({});
  EXPECT_EQ(drain(decompressor, 10), Bytes());
  decompressor.feed(pieces[1]);
  const Bytes more = drain(decompressor, 1000);
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_TRUE(all == plain);
}

TEST(Decompress, IntoAnEmptySpanKeepsAllForTheNext) {
  const Bytes plain = words(200);
  const auto pieces = compress(plain, plain.size());
  Decompressor decompressor;
  decompressor.feed(pieces.front());
  EXPECT_EQ(value_of(decompressor.read({})), 0U);
  EXPECT_TRUE(drain(decompressor, 1000) == plain);
}

TEST(Decompress, ReadsFramesThatFollowEachOther) {
  const Bytes plain = words(300);
  Bytes frames;
  for (int i = 0; i < 3; ++i) {
    Bytes frame(ZSTD_compressBound(plain.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), 1));
    frames.insert(frames.end(), frame.begin(), frame.end());
  }
  Decompressor decompressor;
  decompressor.feed(frames);
  EXPECT_EQ(drain(decompressor, 10000).size(), 3 * plain.size());
}

TEST(Decompress, OfWhatIsNotZstdIsAnError) {
  const Bytes text(100, std::byte{'x'});
  Decompressor decompressor;
  decompressor.feed(text);
  Bytes bytes(100);
  EXPECT_THAT(error_of(decompressor.read(bytes)), HasSubstr("zstd: "));
}

TEST(Decompress, OfAStreamWhoseSecondPieceIsDamagedIsAnError) {
  const Bytes plain = words(2000);
  auto pieces = compress(plain, 1000);
  Decompressor decompressor;
  decompressor.feed(pieces[0]);
  EXPECT_EQ(drain(decompressor, 5000).size(), 1000U);
  std::fill_n(pieces[1].begin(), 16, std::byte{0xff});
  decompressor.feed(pieces[1]);
  Bytes bytes(5000);
  EXPECT_THAT(error_of(decompressor.read(bytes)), HasSubstr("zstd: "));
}

}  // namespace
}  // namespace perf2dat::perfdata
