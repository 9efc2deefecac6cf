// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads back what was put into the scratch file: finished pages, and runs of late events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// Goes through finished pages, and knows of each when the next one begins.
class PageCursor {
 public:
  /// Each extent holds whole pages.
  PageCursor(const ScratchFile& file, PageFormat format, std::vector<Extent> extents);

  /// Steps to the next page, also to the first; false: there is none.
  Expected<bool> advance();

  /// The page, until the next `advance()`.
  std::span<const std::byte> page() const {
    return std::span(buffer_).subspan(position_, format_.page_size);
  }
  /// The time at which the next page begins; 0: there is none.
  std::uint64_t next_time() const;

 private:
  Expected<void> fill();

  const ScratchFile& file_;
  PageFormat format_;
  std::vector<Extent> extents_;  // what is not in the buffer yet
  std::size_t extent_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  bool started_ = false;
};

/// Goes through a sorted run of events and marks.
class RunCursor {
 public:
  /// Reads `chunk` bytes at a time.
  RunCursor(const ScratchFile& file, Extent run, std::size_t chunk)
      : file_(file), rest_(run), chunk_(chunk) {}

  /// Steps to the next event, also to the first; false: there is none.
  Expected<bool> advance();

  /// The event, until the next `advance()`.
  const RingEvent& event() const { return event_; }

  /// Adds an event to the bytes of a run.
  static void encode(const RingEvent& event, std::vector<std::byte>& run);

 private:
  Expected<void> fill(std::size_t wanted);

  const ScratchFile& file_;
  Extent rest_;  // what is not in the buffer yet
  std::size_t chunk_;
  std::vector<std::byte> buffer_;
  std::size_t position_ = 0;
  RingEvent event_;
};

}  // namespace perf2dat::tracedat
