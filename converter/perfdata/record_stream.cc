// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/record_stream.h"

#include <algorithm>

#include "base/fuzzing.h"

namespace perf2dat::perfdata {
namespace {

// Of what comes out of compressed records: small enough for the processor's cache.
constexpr auto kInnerSize = size_or_when_fuzzing<std::size_t>(256U << 10U, 64U << 10U);
static_assert(kInnerSize >= kLargestRecord);
static_assert(ReadAhead::kHeadroom >= kLargestRecord);

/// perf compresses what the kernel wrote, and none of its own records that we know but this one. A
/// few bytes could become any number of events to remember, or of frames inside frames.
bool may_be_compressed(RecordType type) {
  return type < RecordType::kHeaderAttr || type == RecordType::kFinishedRound ||
         type > RecordType::kCompressed2;
}

}  // namespace

RecordStream::RecordStream(std::unique_ptr<ByteSource> source, ByteOrder order,
                           std::uint64_t offset, StreamEnd end)
    : source_(std::make_unique<ReadAhead>(std::move(source))), order_(order), end_(end) {
  outer_.end = offset;
}

// What is left, which is less than a record, moves to the front of the next chunk.
Expected<void> RecordStream::refill() {
  const auto rest = outer_.bytes;
  P2D_ASSIGN(const auto chunk, source_->next());
  at_end_ = chunk.empty();
  if (at_end_) return {};
  std::byte* const begin = chunk.data() - rest.size();
  std::copy(rest.begin(), rest.end(), begin);
  outer_.bytes = {begin, rest.size() + chunk.size()};
  outer_.end += chunk.size();
  return {};
}

Failure RecordStream::damaged(const Buffer& buffer) const {
  if (buffer.bytes.size() < kRecordHeaderSize) {
    return input_error("the record at offset {:#x} ends after {} bytes, inside its header",
                       buffer.offset(), buffer.bytes.size());
  }
  const std::byte* const header = buffer.bytes.data();
  const std::size_t size = load<std::uint16_t>(header + 6, order_);
  if (size < kRecordHeaderSize) {
    return input_error("the record at offset {:#x} has {} bytes, fewer than its own header",
                       buffer.offset(), size);
  }
  return input_error("the record of {} bytes at offset {:#x} reaches beyond the data's end {:#x}",
                     size, buffer.offset(), buffer.end);
}

// All that is left cannot be a record.
Expected<bool> RecordStream::end_of_stream() {
  if (outer_.bytes.empty()) return false;
  if (end_ == StreamEnd::kExact) return damaged(outer_);
  const std::uint64_t offset = outer_.offset();
  const std::uint64_t size = outer_.bytes.size();
  outer_.bytes = {};
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
        if (!may_be_compressed(record.type)) {
          return input_error("a record of type {} is in the compressed one at offset {:#x}",
                             static_cast<std::uint32_t>(record.type), compressed_offset_);
        }
        return true;
      case Parsed::kImpossible:
        return input_error("in the compressed record at offset {:#x} is no record",
                           compressed_offset_);
      case Parsed::kNeedsMore: {
        if (!in_compressed_) return false;
        std::copy(inner_.bytes.begin(), inner_.bytes.end(), inner_storage_.begin());
        const auto room = std::span(inner_storage_).subspan(inner_.bytes.size());
        const auto done = decompressor_->read(room);
        if (!done) {
          return input_error("the compressed record at offset {:#x} is damaged: {}",
                             compressed_offset_, done.error().message);
        }
        inner_.bytes = std::span(inner_storage_).first(inner_.bytes.size() + *done);
        // A record may go on in the next compressed one.
        in_compressed_ = *done == room.size();
      }
    }
  }
}

Expected<bool> RecordStream::next(Record& record) {
  P2D_ASSIGN(const bool found, find_next(record));
  if (!found) {
    source_.reset();
    decompressor_.reset();
    std::vector<std::byte>().swap(inner_storage_);
    inner_.bytes = {};
  }
  return found;
}

Expected<bool> RecordStream::find_next(Record& record) {
  for (;;) {
    if (decompressor_) {
      P2D_ASSIGN(const bool found, next_inner(record));
      if (found) return true;
    }
    P2D_ASSIGN(const bool found, next_outer(record));
    if (!found) {
      if (inner_.bytes.empty()) return false;
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
      inner_storage_.resize(kInnerSize);
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
  const auto buffered =
      static_cast<std::size_t>(std::min<std::uint64_t>(size, outer_.bytes.size()));
  outer_.drop(buffered);
  const std::uint64_t wanted = size - buffered;
  if (wanted == 0) return true;
  P2D_ASSIGN(const std::uint64_t done, source_->skip(wanted));
  outer_.end += done;
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
    if (outer_.bytes.empty() && !at_end_) P2D_TRY(refill());
    if (outer_.bytes.empty()) {
      return input_error("{} bytes expected at offset {:#x}, but there are {}", size, offset,
                         payload.size());
    }
    const auto part = outer_.bytes.first(static_cast<std::size_t>(
        std::min<std::uint64_t>(size - payload.size(), outer_.bytes.size())));
    payload.insert(payload.end(), part.begin(), part.end());
    outer_.drop(part.size());
  }
  return payload;
}

}  // namespace perf2dat::perfdata
