// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/run_reader.h"

#include <algorithm>

namespace perf2dat::tracedat {

Expected<bool> PageSource::advance() {
  for (;;) {
    if (reader_) {
      if (const auto event = reader_->next()) {
        current_ = *event;
        return true;
      }
      if (reader_->damage() != nullptr) {
        return output_error("the scratch file beside the output was changed by somebody: {}",
                            reader_->damage());
      }
    }
    while (extent_ < extents_.size() && position_ == extents_[extent_].size) {
      ++extent_;
      position_ = 0;
    }
    if (extent_ == extents_.size()) return false;
    P2D_TRY(file_.read_at(extents_[extent_].offset + position_, page_));
    position_ += page_.size();
    reader_.emplace(format_, page_);
  }
}

void RunSource::encode(const RingEvent& event, std::vector<std::byte>& run) {
  const std::size_t at = run.size();
  run.resize(at + kHeaderSize);
  store(run.data() + at, event.time, kHostOrder);
  store(run.data() + at + 8, static_cast<std::uint32_t>(event.payload.size()), kHostOrder);
  run.insert(run.end(), event.payload.begin(), event.payload.end());
}

Expected<void> RunSource::refill(std::size_t wanted) {
  const std::size_t have = buffer_.size() - position_;
  if (have >= wanted) return {};
  constexpr std::size_t kChunk = 32U << 10U;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  position_ = 0;
  const auto more =
      static_cast<std::size_t>(std::min<std::uint64_t>(left_, std::max(kChunk, wanted - have)));
  if (more < wanted - have) {
    return output_error("the scratch file beside the output was changed by somebody");
  }
  buffer_.resize(have + more);
  P2D_TRY(file_.read_at(offset_, std::span(buffer_).subspan(have)));
  offset_ += more;
  left_ -= more;
  return {};
}

Expected<bool> RunSource::advance() {
  if (position_ == buffer_.size() && left_ == 0) return false;
  P2D_TRY(refill(kHeaderSize));
  const auto time = load<std::uint64_t>(buffer_.data() + position_, kHostOrder);
  const auto size = load<std::uint32_t>(buffer_.data() + position_ + 8, kHostOrder);
  position_ += kHeaderSize;
  P2D_TRY(refill(size));
  current_ = {time, std::span(buffer_).subspan(position_, size)};
  position_ += size;
  return true;
}

}  // namespace perf2dat::tracedat
