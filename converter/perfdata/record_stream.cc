// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/record_stream.h"

#include <algorithm>
#include <cstring>

namespace perf2dat::perfdata {
namespace {

// Small enough for the processor's cache, large enough that a system call per buffer is nothing.
constexpr std::size_t kBufferSize = 512U << 10U;
static_assert(kBufferSize >= 2 * kLargestRecord);

}  // namespace

RecordStream::RecordStream(const InputFile& file, ByteOrder order, FileSection section)
    : file_(file),
      order_(order),
      end_(section.offset + section.size),
      buffer_(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferSize, section.size))),
      buffer_offset_(section.offset) {}

Expected<void> RecordStream::refill() {
  std::memmove(buffer_.data(), buffer_.data() + position_, buffered());
  buffer_offset_ += position_;
  filled_ -= position_;
  position_ = 0;
  const std::uint64_t from = buffer_offset_ + filled_;
  const auto wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size() - filled_, end_ - from));
  P2D_ASSIGN(const std::size_t done,
             file_.read_at(from, std::span(buffer_).subspan(filled_, wanted)));
  if (done < wanted) {
    return input_error("it became shorter while it was read: {} bytes expected at offset {:#x}",
                       wanted - done, from + done);
  }
  filled_ += done;
  return {};
}

Failure RecordStream::beyond_end(std::uint64_t size) const {
  return input_error("the record of {} bytes at offset {:#x} reaches beyond the data's end {:#x}",
                     size, offset(), end_);
}

Expected<bool> RecordStream::next(Record& record) {
  if (buffered() < kRecordHeaderSize) {
    if (offset() == end_) return false;
    P2D_TRY(refill());
    if (buffered() < kRecordHeaderSize) return beyond_end(kRecordHeaderSize);
  }
  const std::byte* const header = buffer_.data() + position_;
  record.type = static_cast<RecordType>(load<std::uint32_t>(header, order_));
  record.misc = load<std::uint16_t>(header + 4, order_);
  const std::size_t size = load<std::uint16_t>(header + 6, order_);
  record.offset = offset();
  if (size < kRecordHeaderSize) {
    return input_error("the record at offset {:#x} has {} bytes, fewer than its own header",
                       record.offset, size);
  }
  if (buffered() < size) {
    P2D_TRY(refill());
    if (buffered() < size) return beyond_end(size);
  }
  record.body = std::span(buffer_).subspan(position_ + kRecordHeaderSize, size - kRecordHeaderSize);
  position_ += size;
  if (record.type == RecordType::kAuxtrace) {
    // Its payload follows the record and is not counted in the record's size.
    if (record.body.size() < 8) {
      return input_error("the AUXTRACE record at offset {:#x} has {} bytes, too few for a size",
                         record.offset, size);
    }
    P2D_TRY(skip(load<std::uint64_t>(record.body.data(), order_)));
    record.body = {};
  }
  return true;
}

Expected<void> RecordStream::skip(std::uint64_t size) {
  if (size > end_ - offset()) return beyond_end(size);
  if (size <= buffered()) {
    position_ += static_cast<std::size_t>(size);
    return {};
  }
  buffer_offset_ = offset() + size;
  position_ = 0;
  filled_ = 0;
  return {};
}

}  // namespace perf2dat::perfdata
