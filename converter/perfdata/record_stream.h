// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of a recording's data, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "perfdata/byte_source.h"
#include "perfdata/decompressor.h"
#include "perfdata/layout.h"
#include "perfdata/read_ahead.h"

namespace perf2dat::perfdata {

struct Record {
  RecordType type;
  std::uint16_t misc;
  std::uint64_t offset;             ///< of its header in the file, or of the record it came out of
  std::span<const std::byte> body;  ///< without the header; valid until the next record is read
};

/// What a stream's end may look like.
enum class StreamEnd {
  kExact,  ///< the last record ends where the data does; anything else is an error
  kOpen,   ///< the writer may have been stopped, and others may have appended to it: what cannot be
           ///< a record ends the stream, and `leftover()` tells
};

/// Reads a source with buffers of fixed size. Compressed records are passed on as the
/// records that are in them.
class RecordStream {
 public:
  /// `offset` is the source's place in the file; `end` tells what its end may look like.
  RecordStream(std::unique_ptr<ByteSource> source, ByteOrder order, std::uint64_t offset,
               StreamEnd end);

  /// Reads the next record into `record`; false: there is none. Then all memory is given back: a
  /// recording may have thousands of streams.
  Expected<bool> next(Record& record);

  /// The same for the usual case, that a whole record of what happened is in the buffer. False: ask
  /// `next()`.
  bool next_buffered(Record& record) {
    if (decompressor_) return false;
    const auto bytes = outer_.bytes;
    if (parse(outer_, record) == Parsed::kRecord && is_plain(record.type)) return true;
    outer_.bytes = bytes;
    return false;
  }

  /// Reads bytes that follow the record read last, which is one of perf's own, and are not counted
  /// in its size.
  Expected<std::vector<std::byte>> read_payload(std::uint64_t size);

  /// The place in the file up to which records were read.
  std::uint64_t offset() const { return outer_.offset(); }

  /// What is behind the last record of an open stream; nullopt: nothing.
  struct Leftover {
    std::uint64_t offset;
    std::uint64_t size;
  };
  const std::optional<Leftover>& leftover() const { return leftover_; }

 private:
  /// Bytes of which whole records are taken off the front.
  struct Buffer {
    std::span<std::byte> bytes;
    std::uint64_t end = 0;  // the place in the file behind the last of them

    std::uint64_t offset() const { return end - bytes.size(); }
    void drop(std::size_t size) { bytes = bytes.subspan(size); }
  };
  enum class Parsed { kRecord, kNeedsMore, kImpossible };

  // The kernel counts its types from 1 and perf its own from 64; both are far from here. What
  // follows a stream that somebody appended text to has four letters in the place of a type.
  static constexpr std::uint32_t kImpossibleType = 1U << 16U;

  // Not so plain: perf's own records, some of which describe, hold others or have bytes after them.
  static bool is_plain(RecordType type) { return type < RecordType::kHeaderAttr; }

  Parsed parse(Buffer& buffer, Record& record) const {
    if (buffer.bytes.size() < kRecordHeaderSize) return Parsed::kNeedsMore;
    const std::byte* const header = buffer.bytes.data();
    const auto type = load<std::uint32_t>(header, order_);
    const std::size_t size = load<std::uint16_t>(header + 6, order_);
    if (size < kRecordHeaderSize) return Parsed::kImpossible;
    if (end_ == StreamEnd::kOpen && type >= kImpossibleType) return Parsed::kImpossible;
    if (buffer.bytes.size() < size) return Parsed::kNeedsMore;
    record.type = static_cast<RecordType>(type);
    record.misc = load<std::uint16_t>(header + 4, order_);
    record.offset = buffer.offset();
    record.body = std::span<const std::byte>(header + kRecordHeaderSize, size - kRecordHeaderSize);
    buffer.drop(size);
    return Parsed::kRecord;
  }
  Expected<bool> find_next(Record& record);
  Expected<bool> next_outer(Record& record);
  Expected<bool> next_inner(Record& record);
  Expected<void> refill();
  Expected<bool> skip_payload(const Record& record);
  Expected<bool> end_of_stream();
  Failure damaged(const Buffer& buffer) const;

  std::unique_ptr<ReadAhead> source_;
  ByteOrder order_;
  StreamEnd end_;
  bool at_end_ = false;
  Buffer outer_;  // in one of source_'s chunks
  Buffer inner_;  // what came out of compressed records, in inner_storage_
  std::vector<std::byte> inner_storage_;
  bool in_compressed_ = false;  // and decompressor_ still reads of outer_'s bytes
  std::uint64_t compressed_offset_ = 0;
  std::optional<Decompressor> decompressor_;
  std::optional<Leftover> leftover_;
};

}  // namespace perf2dat::perfdata
