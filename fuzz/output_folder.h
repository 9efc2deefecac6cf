// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "property.h"

namespace perf2dat::fuzz {

/// A folder in memory, or in $TMPDIR where that is set, for what a target writes. It goes when the
/// process ends by itself, and stays when it is killed or something does not hold: whoever runs
/// many sets $TMPDIR and removes that.
class OutputFolder {
 public:
  OutputFolder() {
    const char* const parent = std::getenv("TMPDIR");
    std::string name = parent == nullptr || *parent == '\0' ? "/dev/shm" : parent;
    name += "/tracebridge-fuzz.XXXXXX";
    expect(::mkdtemp(name.data()) != nullptr, name + " can be made");
    path_ = name;
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file, and the folders it is in where they are missing.
  void write(std::string_view name, std::string_view text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream file(path_ / name, std::ios::binary);
    file << text;
    expect(static_cast<bool>(file.flush()), "there is room for the folder");
  }

  std::vector<std::byte> read(std::string_view name) const {
    std::vector<std::byte> bytes(std::filesystem::file_size(path_ / name));
    std::ifstream file(path_ / name, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    expect(file.good(), "the output can be read");
    return bytes;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace perf2dat::fuzz
