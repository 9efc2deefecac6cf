// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a source in chunks, the next one while the last one is worked on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/fuzzing.h"
#include "perfdata/byte_source.h"

namespace perf2dat::perfdata {

/// Half of the time that a conversion takes is the kernel's copying, so it does not wait for that
/// when it has a second processor. Small sources, and those that may keep a reader waiting, are
/// read without a thread.
class ReadAhead {
 public:
  // Waking the thread is dear, so a chunk is large; smaller ones took more time than they saved.
  static constexpr auto kChunk = size_or_when_fuzzing<std::size_t>(1U << 20U, 4U << 10U);
  /// Bytes before a chunk that its user may write to, for what was left of the chunk before it.
  static constexpr std::size_t kHeadroom = 64U << 10U;

  explicit ReadAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// The next bytes, at most kChunk of them; none: the source has ended. They may be used until the
  /// call after the next one.
  Expected<std::span<std::byte>> next();

  /// Passes over bytes behind the last chunk; returns how many there were, fewer only at the end.
  Expected<std::uint64_t> skip(std::uint64_t size);

 private:
  Expected<std::span<std::byte>> read();
  void start();
  Expected<void> collect();
  void run();

  std::unique_ptr<ByteSource> source_;
  // One is used, one was used before it, one is filled.
  std::array<std::unique_ptr<std::byte[]>, 3> buffers_;
  std::size_t turn_ = 0;
  std::size_t chunks_ = 0;
  std::span<std::byte> ready_;  // read, but not asked for yet

  bool ended_ = false;  // the source has; a FIFO could go on with what somebody else writes

  std::thread thread_;
  bool is_reading_ = false;
  bool stop_ = false;
  std::binary_semaphore wanted_{0};
  std::binary_semaphore done_{0};
  std::optional<Expected<std::span<std::byte>>> result_;
  std::exception_ptr exception_;  // instead of a result: there is no memory
};

}  // namespace perf2dat::perfdata
