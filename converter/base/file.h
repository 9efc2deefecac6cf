// SPDX-License-Identifier: LGPL-2.1-or-later
// Files: one that is read, one that appears whole or not at all, and one without a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perf2dat {

/// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& from) noexcept : fd_(std::exchange(from.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& from) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

/// Opens a file, a FIFO or a device for reading. Errors are of kind kInput.
Expected<FileDescriptor> open_for_reading(const std::string& path);

bool is_regular_file(const FileDescriptor& fd);

/// A regular file that is read by offset. Errors are of kind kInput; they call the file "it", as
/// the caller knows its name.
class InputFile {
 public:
  static Expected<InputFile> open(const std::string& path);
  /// Takes a descriptor of a regular file.
  static Expected<InputFile> adopt(FileDescriptor fd);

  std::uint64_t size() const { return size_; }
  /// Whether `path` leads to this very file.
  bool is_same_file(const std::string& path) const;

  /// Fills `into` from `offset` on; returns how many bytes there were, fewer only at the end.
  Expected<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;

  /// Exactly `size` bytes at `offset`, for `what`. Allocates only what the file can fill.
  Expected<std::vector<std::byte>> read_exactly(std::uint64_t offset, std::uint64_t size,
                                                std::string_view what) const;

 private:
  InputFile(FileDescriptor fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}

  FileDescriptor fd_;
  std::uint64_t size_;
};

/// A file without a name in a directory, for data that is too large for memory. It is gone when it
/// is closed, also when the process is killed. Errors are of kind kOutput.
class ScratchFile {
 public:
  /// The file is made in the directory of `neighbour`, so that it has the output's free space.
  static Expected<ScratchFile> create_beside(const std::string& neighbour);

  /// Appends and returns the offset at which the bytes begin.
  Expected<std::uint64_t> append(std::span<const std::byte> bytes);
  Expected<void> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  int descriptor() const { return fd_.get(); }
  /// Gives the file away, to be read in other ways.
  FileDescriptor take_descriptor() { return std::move(fd_); }

 private:
  explicit ScratchFile(FileDescriptor fd) : fd_(std::move(fd)) {}

  FileDescriptor fd_;
  std::uint64_t size_ = 0;
};

/// A file that gets its name only when it is complete. Until `publish()` nothing at the path is
/// touched; without it nothing is left. Errors are of kind kOutput and call the file "it".
class OutputFile {
 public:
  /// Fails when something is at `path` already, unless `overwrite`; what is not a regular file is
  /// never replaced. A symbolic link stays, its target is replaced. The new file may be read by
  /// nobody who could not read the old one.
  static Expected<OutputFile> create(const std::string& path, bool overwrite);

  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Where it will be: the path, or what links there lead to.
  const std::string& path() const { return path_; }

  Expected<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Copies a range of another file to `offset`; the kernel may share the blocks.
  Expected<void> copy_from(const ScratchFile& from, std::uint64_t from_offset, std::uint64_t size,
                           std::uint64_t offset);
  /// Reads back what was written, for checks before publishing.
  Expected<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  Expected<std::uint64_t> size() const;

  /// Gives the file its name. The last call.
  Expected<void> publish();

 private:
  OutputFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  Expected<void> open_beside();
  Expected<void> give_temporary_name();

  std::string path_;
  bool overwrite_;
  FileDescriptor fd_;
  std::string temporary_;  // its name until it is published; empty: it has none
};

}  // namespace perf2dat
