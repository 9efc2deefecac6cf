// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/spilled.h"

#include <algorithm>
#include <cstring>

namespace perf2dat::tracedat {
namespace {

constexpr std::size_t kPagesBuffer = 256U << 10U;

}  // namespace

PageCursor::PageCursor(const ScratchFile& file, PageFormat format, std::vector<Extent> extents)
    : file_(file), format_(format), extents_(std::move(extents)) {
  static_assert(kPagesBuffer >= 2 * std::size_t{kLargestPage});
  buffer_.resize(kPagesBuffer);
}

Expected<void> PageCursor::fill() {
  std::memmove(buffer_.data(), buffer_.data() + position_, filled_ - position_);
  filled_ -= position_;
  position_ = 0;
  while (filled_ < buffer_.size() && extent_ < extents_.size()) {
    Extent& extent = extents_[extent_];
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(extent.size, buffer_.size() - filled_));
    P2D_TRY(file_.read_at(extent.offset, std::span(buffer_).subspan(filled_, size)));
    filled_ += size;
    extent.offset += size;
    extent.size -= size;
    if (extent.size == 0) ++extent_;
  }
  return {};
}

Expected<bool> PageCursor::advance() {
  if (started_) position_ += format_.page_size;
  started_ = true;
  // The next page's time is wanted, too.
  if (filled_ - position_ < 2 * std::size_t{format_.page_size}) P2D_TRY(fill());
  return filled_ - position_ >= format_.page_size;
}

std::uint64_t PageCursor::next_time() const {
  const std::size_t next = position_ + format_.page_size;
  return next < filled_ ? load<std::uint64_t>(buffer_.data() + next, format_.order) : 0;
}

// u64 time, u64 missed, u32 size, payload; all in the host's byte order.
constexpr std::size_t kRunHeaderSize = 20;

void RunCursor::encode(const RingEvent& event, std::vector<std::byte>& run) {
  const std::size_t at = run.size();
  run.resize(at + kRunHeaderSize);
  store(run.data() + at, event.time, kHostOrder);
  store(run.data() + at + 8, event.missed, kHostOrder);
  store(run.data() + at + 16, static_cast<std::uint32_t>(event.payload.size()), kHostOrder);
  run.insert(run.end(), event.payload.begin(), event.payload.end());
}

Expected<void> RunCursor::fill(std::size_t wanted) {
  const std::size_t have = buffer_.size() - position_;
  if (have >= wanted) return {};
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  position_ = 0;
  const auto more = static_cast<std::size_t>(
      std::min<std::uint64_t>(rest_.size, std::max(chunk_, wanted - have)));
  if (have + more < wanted) {
    return output_error("the scratch file beside the output was changed by somebody");
  }
  buffer_.resize(have + more);
  P2D_TRY(file_.read_at(rest_.offset, std::span(buffer_).subspan(have)));
  rest_.offset += more;
  rest_.size -= more;
  return {};
}

Expected<bool> RunCursor::advance() {
  if (position_ == buffer_.size() && rest_.size == 0) return false;
  P2D_TRY(fill(kRunHeaderSize));
  const std::byte* const header = buffer_.data() + position_;
  event_.time = load<std::uint64_t>(header, kHostOrder);
  event_.missed = load<std::uint64_t>(header + 8, kHostOrder);
  const std::size_t size = load<std::uint32_t>(header + 16, kHostOrder);
  position_ += kRunHeaderSize;
  P2D_TRY(fill(size));
  event_.payload = std::span(buffer_).subspan(position_, size);
  position_ += size;
  return true;
}

}  // namespace perf2dat::tracedat
