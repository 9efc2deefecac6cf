// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/file.h"
#include "property.h"

namespace perf2dat::fuzz {

/// A file in memory that holds one input after another.
class InputInMemory {
 public:
  InputInMemory() : path_("/proc/self/fd/" + std::to_string(fd_.get())) {}

  /// The path of a file of these bytes, until the next call.
  const std::string& path_of(std::span<const std::byte> bytes) const {
    // Cut only afterwards: the pages of the last input serve again.
    const auto size = static_cast<ssize_t>(bytes.size());
    const bool written = ::pwrite(fd_.get(), bytes.data(), bytes.size(), 0) == size &&
                         ::ftruncate(fd_.get(), size) == 0;
    expect(written, "the file in memory takes the input");
    return path_;
  }

 private:
  FileDescriptor fd_{::memfd_create("input", MFD_CLOEXEC)};
  std::string path_;
};

}  // namespace perf2dat::fuzz
