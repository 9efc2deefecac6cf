// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/fuzzing.h"

namespace perf2dat::perfdata {

Expected<std::size_t> FileSource::read(std::span<std::byte> into) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_));
  P2D_ASSIGN(const std::size_t done, file_.read_at(offset_, into.first(wanted)));
  if (done < wanted) {
    return input_error("it became shorter while it was read: {} bytes expected at offset {:#x}",
                       wanted - done, offset_ + done);
  }
  offset_ += done;
  left_ -= done;
  return done;
}

Expected<std::uint64_t> FileSource::skip(std::uint64_t size) {
  const std::uint64_t in_file = file_.size() - std::min(file_.size(), offset_);
  size = std::min({size, left_, in_file});
  offset_ += size;
  left_ -= size;
  return size;
}

PipeSource::PipeSource(FileDescriptor fd) : fd_(std::move(fd)) {
  // A pipe of 64 KiB has writer and reader wait for each other all the time. What is no pipe, or
  // may not grow, is read as it is.
  constexpr int kPipeSize = 1 << 20;
  if (::fcntl(fd_.get(), F_GETPIPE_SZ) < kPipeSize) ::fcntl(fd_.get(), F_SETPIPE_SZ, kPipeSize);
}

Expected<std::size_t> PipeSource::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::read(fd_.get(), into.data() + done, into.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return input_error("cannot read it: {}",
                         std::error_code(errno, std::generic_category()).message());
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Expected<std::uint64_t> PipeSource::skip(std::uint64_t size) {
  std::array<std::byte, size_or_when_fuzzing(65536, 1024)> buffer{};
  std::uint64_t done = 0;
  while (done < size) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(size - done, buffer.size()));
    P2D_ASSIGN(const std::size_t count, read(std::span(buffer).first(wanted)));
    done += count;
    if (count < wanted) break;
  }
  return done;
}

}  // namespace perf2dat::perfdata
