// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of tests.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "testing/expected.h"

namespace perf2dat::testing {

inline std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::byte> bytes;
  constexpr std::size_t kPiece = 1U << 16U;
  while (file) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    file.read(reinterpret_cast<char*>(bytes.data() + before), kPiece);
    bytes.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) throw std::runtime_error("cannot read " + path);
  return bytes;
}

inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

/// A directory that is gone with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto name = (std::filesystem::temp_directory_path() / "perf2dat-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::span<const std::byte> bytes) const {
    write_file(path(name), bytes);
    return path(name);
  }

  /// All that is in it: each entry's name with what it is and, of a regular file, what it holds.
  std::map<std::string, std::string> entries() const {
    std::map<std::string, std::string> entries;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::string& what = entries[entry.path().filename().string()];
      if (entry.is_symlink()) {
        what = "-> " + std::filesystem::read_symlink(entry.path()).string();
      } else if (entry.is_regular_file()) {
        const auto bytes = read_file(entry.path().string());
        what.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      } else {
        what = "no regular file";
      }
    }
    return entries;
  }

 private:
  std::filesystem::path path_;
};

/// A file in memory, which has a path as long as the object lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes = {}) { write(bytes); }

  /// Replaces what is in it.
  void write(std::span<const std::byte> bytes) const { write_file(path(), bytes); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  FileDescriptor fd_{::memfd_create("test", MFD_CLOEXEC)};
};

/// A file of these bytes that is open for reading.
inline InputFile input_file(std::span<const std::byte> bytes) {
  return value_of(InputFile::open(MemoryFile(bytes).path()));
}

}  // namespace perf2dat::testing
