// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/read_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace perf2dat::perfdata {
namespace {

// So many chunks are read before it pays to begin a thread.
constexpr std::size_t kChunksWithoutThread = 2;

}  // namespace

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  if (is_reading_) done_.acquire();
  stop_ = true;
  wanted_.release();
  thread_.join();
}

Expected<std::span<std::byte>> ReadAhead::read() {
  auto& buffer = buffers_[turn_];
  if (!buffer) buffer = std::make_unique_for_overwrite<std::byte[]>(kHeadroom + kChunk);
  const auto chunk = std::span(buffer.get() + kHeadroom, kChunk);
  P2D_ASSIGN(const std::size_t size, source_->read(chunk));
  return chunk.first(size);
}

void ReadAhead::run() {
  for (;;) {
    wanted_.acquire();
    if (stop_) return;
    result_ = read();
    done_.release();
  }
}

void ReadAhead::start() {
  if (!thread_.joinable()) {
    if (source_->may_wait() || chunks_ < kChunksWithoutThread) return;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // a limit on threads: it works without, too
    }
  }
  is_reading_ = true;
  wanted_.release();
}

Expected<void> ReadAhead::collect() {
  if (!std::exchange(is_reading_, false)) return {};
  done_.acquire();
  P2D_ASSIGN(ready_, *std::exchange(result_, std::nullopt));
  return {};
}

Expected<std::span<std::byte>> ReadAhead::next() {
  P2D_TRY(collect());
  if (ready_.empty()) {
    P2D_ASSIGN(ready_, read());
  }
  const auto chunk = std::exchange(ready_, {});
  turn_ = (turn_ + 1) % buffers_.size();
  ++chunks_;
  if (chunk.size() == kChunk) start();
  return chunk;
}

Expected<std::uint64_t> ReadAhead::skip(std::uint64_t size) {
  P2D_TRY(collect());
  const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(size, ready_.size()));
  ready_ = ready_.subspan(skipped);
  if (skipped == size) return size;
  P2D_ASSIGN(const std::uint64_t more, source_->skip(size - skipped));
  return skipped + more;
}

}  // namespace perf2dat::perfdata
