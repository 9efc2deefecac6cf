// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a CPU's events back from the scratch file, in the order in which they were put there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tracedat/ring_page.h"

namespace perf2dat::tracedat {

/// A piece of the scratch file.
struct Extent {
  std::uint64_t offset;
  std::uint64_t size;  ///< bytes
};

/// A sequence of events in ascending time. `current()` is valid until the next `advance()`.
class EventSource {
 public:
  virtual ~EventSource() = default;
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// Steps to the next event, also to the first; false: there is none.
  virtual Expected<bool> advance() = 0;
  const RingEvent& current() const { return current_; }

 protected:
  RingEvent current_{};
};

/// The events of finished pages.
class PageSource : public EventSource {
 public:
  /// Each extent holds whole pages.
  PageSource(const ScratchFile& file, PageFormat format, std::vector<Extent> extents)
      : file_(file), format_(format), extents_(std::move(extents)), page_(format.page_size) {}

  Expected<bool> advance() override;

 private:
  const ScratchFile& file_;
  PageFormat format_;
  std::vector<Extent> extents_;
  std::size_t extent_ = 0;
  std::uint64_t position_ = 0;  // in the extent
  std::vector<std::byte> page_;
  std::optional<PageReader> reader_;
};

/// The events of a sorted run, each as u64 time, u32 size, payload in the host's byte order.
class RunSource : public EventSource {
 public:
  RunSource(const ScratchFile& file, Extent run)
      : file_(file), offset_(run.offset), left_(run.size) {}

  Expected<bool> advance() override;

  /// Adds an event to the bytes of a run.
  static void encode(const RingEvent& event, std::vector<std::byte>& run);

 private:
  static constexpr std::size_t kHeaderSize = 12;
  Expected<void> refill(std::size_t wanted);

  const ScratchFile& file_;
  std::uint64_t offset_;  // of what is not in the buffer yet
  std::uint64_t left_;    // bytes of it
  std::vector<std::byte> buffer_;
  std::size_t position_ = 0;
};

}  // namespace perf2dat::tracedat
