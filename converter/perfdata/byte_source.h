// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes that are read once, from front to back: a part of a file, or a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace perf2dat::perfdata {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Fills the span; returns the number of bytes, fewer only at the end.
  virtual Expected<std::size_t> read(std::span<std::byte> into) = 0;

  /// Passes over bytes; returns how many there were, fewer only at the end.
  virtual Expected<std::uint64_t> skip(std::uint64_t size) = 0;

  /// It may take any time until somebody writes what is to be read.
  virtual bool may_wait() const = 0;
};

/// A part of a file.
class FileSource : public ByteSource {
 public:
  FileSource(const InputFile& file, std::uint64_t offset, std::uint64_t size)
      : file_(file), offset_(offset), left_(size) {}

  Expected<std::size_t> read(std::span<std::byte> into) override;
  Expected<std::uint64_t> skip(std::uint64_t size) override;
  bool may_wait() const override { return false; }

 private:
  const InputFile& file_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

/// Whatever a descriptor delivers: a pipe, a FIFO, a socket.
class PipeSource : public ByteSource {
 public:
  explicit PipeSource(FileDescriptor fd);

  Expected<std::size_t> read(std::span<std::byte> into) override;
  Expected<std::uint64_t> skip(std::uint64_t size) override;
  bool may_wait() const override { return true; }

 private:
  FileDescriptor fd_;
};

}  // namespace perf2dat::perfdata
