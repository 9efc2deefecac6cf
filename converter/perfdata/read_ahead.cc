// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/read_ahead.h"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

namespace perf2dat::perfdata {
namespace {

// So many chunks are read before it pays to begin a thread.
constexpr std::size_t kChunksWithoutThread = 2;

/// A thread that is made meanwhile never runs a signal's handler: these are for the threads of
/// whoever uses the library.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  if (is_reading_) done_.acquire();
  stop_ = true;
  wanted_.release();
  thread_.join();
}

Expected<std::span<std::byte>> ReadAhead::read() {
  if (ended_) return std::span<std::byte>{};
  auto& buffer = buffers_[turn_];
  if (!buffer) buffer = std::make_unique_for_overwrite<std::byte[]>(kHeadroom + kChunk);
  const auto chunk = std::span(buffer.get() + kHeadroom, kChunk);
  P2D_ASSIGN(const std::size_t size, source_->read(chunk));
  ended_ = size < kChunk;
  return chunk.first(size);
}

void ReadAhead::run() {
  for (;;) {
    wanted_.acquire();
    if (stop_) return;
    try {
      result_ = read();
    } catch (...) {
      exception_ = std::current_exception();
    }
    done_.release();
  }
}

void ReadAhead::start() {
  if (source_->may_wait() || chunks_ < kChunksWithoutThread) return;
  if constexpr (kFuzzing) {
    // An input that finds something is to do so each time: as if the thread was always ahead. To
    // make one took a fifth of an input's time.
    is_reading_ = true;
    result_ = read();
    done_.release();
    return;
  }
  if (!thread_.joinable()) {
    const SignalsBlocked blocked;
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
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
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
  if (skipped == size || ended_) return skipped;
  P2D_ASSIGN(const std::uint64_t more, source_->skip(size - skipped));
  return skipped + more;
}

}  // namespace perf2dat::perfdata
