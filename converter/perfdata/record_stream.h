// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of a recording's data, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/header.h"
#include "perfdata/layout.h"

namespace perf2dat::perfdata {

struct Record {
  RecordType type;
  std::uint16_t misc;
  std::uint64_t offset;             ///< of its header in the file
  std::span<const std::byte> body;  ///< without the header; valid until the next record is read
};

/// Reads through a section with a buffer of fixed size.
class RecordStream {
 public:
  RecordStream(const InputFile& file, ByteOrder order, FileSection section);

  /// Reads the next record into `record`; false: there is none. A record that does not fit its
  /// section, or that is smaller than its own header, is an error.
  Expected<bool> next(Record& record);

  /// The place of the next record.
  std::uint64_t offset() const { return buffer_offset_ + position_; }

 private:
  std::size_t buffered() const { return filled_ - position_; }
  Expected<void> refill();
  Expected<void> skip(std::uint64_t size);
  Failure beyond_end(std::uint64_t size) const;

  const InputFile& file_;
  ByteOrder order_;
  std::uint64_t end_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_offset_;  // of buffer_[0] in the file
  std::size_t position_ = 0;     // in the buffer
  std::size_t filled_ = 0;       // bytes in the buffer
};

}  // namespace perf2dat::perfdata
