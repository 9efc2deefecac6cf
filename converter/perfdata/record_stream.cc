// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/record_stream.h"

#include <algorithm>
#include <cstring>

namespace perf2dat::perfdata {
namespace {

// Small enough for the processor's cache, large enough that a system call per buffer is nothing.
constexpr std::size_t kBufferSize = 256U << 10U;
static_assert(kBufferSize >= 2 * kLargestRecord);

}  // namespace

RecordStream::RecordStream(std::unique_ptr<ByteSource> source, ByteOrder order,
                           std::uint64_t offset, StreamEnd end)
    : source_(std::move(source)), order_(order), end_(end) {
  outer_.bytes.resize(kBufferSize);
  outer_.start = offset;
}

std::span<std::byte> RecordStream::Buffer::make_room() {
  std::memmove(bytes.data(), bytes.data() + position, buffered());
  start += position;
  filled -= position;
  position = 0;
  return std::span(bytes).subspan(filled);
}

Expected<void> RecordStream::refill() {
  const auto room = outer_.make_room();
  P2D_ASSIGN(const std::size_t done, source_->read(room));
  outer_.filled += done;
  at_end_ = done < room.size();
  return {};
}

Failure RecordStream::damaged(const Buffer& buffer) const {
  if (buffer.buffered() < kRecordHeaderSize) {
    return input_error("the record at offset {:#x} ends after {} bytes, inside its header",
                       buffer.offset(), buffer.buffered());
  }
  const std::byte* const header = buffer.bytes.data() + buffer.position;
  const std::size_t size = load<std::uint16_t>(header + 6, order_);
  if (size < kRecordHeaderSize) {
    return input_error("the record at offset {:#x} has {} bytes, fewer than its own header",
                       buffer.offset(), size);
  }
  return input_error("the record of {} bytes at offset {:#x} reaches beyond the data's end {:#x}",
                     size, buffer.offset(), buffer.offset() + buffer.buffered());
}

// All that is left cannot be a record.
Expected<bool> RecordStream::end_of_stream() {
  if (outer_.buffered() == 0) return false;
  if (end_ == StreamEnd::kExact) return damaged(outer_);
  const std::uint64_t offset = outer_.offset();
  std::uint64_t size = outer_.buffered();
  outer_.position = outer_.filled;
  P2D_ASSIGN(const std::uint64_t rest, source_->skip(~0ULL));
  leftover_ = Leftover{offset, size + rest};
  at_end_ = true;
  return false;
}

Expected<bool> RecordStream::next_outer(Record& record) {
  for (;;) {
    switch (parse(outer_, record)) {
      case Parsed::kRecord:
        return record.type == RecordType::kAuxtrace ? skip_payload(record) : true;
      case Parsed::kImpossible:
        return end_of_stream();
      case Parsed::kNeedsMore:
        if (at_end_) return end_of_stream();
        P2D_TRY(refill());
    }
  }
}

Expected<bool> RecordStream::next_inner(Record& record) {
  for (;;) {
    switch (parse(inner_, record)) {
      case Parsed::kRecord:
        record.offset = compressed_offset_;
        return true;
      case Parsed::kImpossible:
        return input_error("in the compressed record at offset {:#x} is no record",
                           compressed_offset_);
      case Parsed::kNeedsMore: {
        if (!in_compressed_) return false;
        const auto room = inner_.make_room();
        const auto done = decompressor_->read(room);
        if (!done) {
          return input_error("the compressed record at offset {:#x} is damaged: {}",
                             compressed_offset_, done.error().message);
        }
        inner_.filled += *done;
        // A record may go on in the next compressed one.
        in_compressed_ = *done == room.size();
      }
    }
  }
}

Expected<bool> RecordStream::next(Record& record) {
  for (;;) {
    if (decompressor_) {
      P2D_ASSIGN(const bool found, next_inner(record));
      if (found) return true;
    }
    P2D_ASSIGN(const bool found, next_outer(record));
    if (!found) {
      if (inner_.buffered() == 0) return false;
      if (end_ == StreamEnd::kExact) {
        return input_error("the last compressed record at offset {:#x} ends inside a record",
                           compressed_offset_);
      }
      if (!leftover_)
        leftover_ = Leftover{compressed_offset_, outer_.offset() - compressed_offset_};
      return false;
    }
    auto compressed = record.body;
    if (record.type == RecordType::kCompressed2) {
      // u64 size, data, zeros to a multiple of 8.
      ByteReader reader(record.body, order_, record.offset + kRecordHeaderSize);
      compressed = reader.bytes(reader.u64());
      if (!reader.ok()) return cut_short("a compressed record", reader);
    } else if (record.type != RecordType::kCompressed) {
      return true;
    }
    if (!decompressor_) {
      decompressor_.emplace();
      inner_.bytes.resize(kBufferSize);
    }
    decompressor_->feed(compressed);
    in_compressed_ = true;
    compressed_offset_ = record.offset;
  }
}

// False: an open stream ends in the payload.
Expected<bool> RecordStream::skip_payload(const Record& record) {
  if (record.body.size() < 8) {
    return input_error("the AUXTRACE record at offset {:#x} has {} bytes, too few for a size",
                       record.offset, kRecordHeaderSize + record.body.size());
  }
  const auto size = load<std::uint64_t>(record.body.data(), order_);
  const auto buffered = static_cast<std::size_t>(std::min<std::uint64_t>(size, outer_.buffered()));
  outer_.position += buffered;
  const std::uint64_t wanted = size - buffered;
  if (wanted == 0) return true;
  P2D_ASSIGN(const std::uint64_t done, source_->skip(wanted));
  outer_.start += done;
  if (done == wanted) return true;
  if (end_ == StreamEnd::kOpen) {
    leftover_ = Leftover{record.offset, outer_.offset() - record.offset};
    at_end_ = true;
    return false;
  }
  return input_error("the AUX area of {} bytes behind the record at offset {:#x} ends after {}",
                     size, record.offset, done + buffered);
}

Expected<std::vector<std::byte>> RecordStream::read_payload(std::uint64_t size) {
  const std::uint64_t offset = outer_.offset();
  std::vector<std::byte> payload;
  // Piece by piece: a size that the source cannot fill must not be allocated.
  while (payload.size() < size) {
    if (outer_.buffered() == 0) {
      if (at_end_) {
        return input_error("{} bytes expected at offset {:#x}, but there are {}", size, offset,
                           payload.size());
      }
      P2D_TRY(refill());
    }
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(size - payload.size(), outer_.buffered()));
    const auto from = outer_.bytes.begin() + static_cast<std::ptrdiff_t>(outer_.position);
    payload.insert(payload.end(), from, from + static_cast<std::ptrdiff_t>(part));
    outer_.position += part;
  }
  return payload;
}

}  // namespace perf2dat::perfdata
