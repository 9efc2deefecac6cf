// SPDX-License-Identifier: LGPL-2.1-or-later
// The input comes through a pipe, in slices of any size. What is read does not depend on how it was
// sliced, and is the same as from a file.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>

#include "input_in_memory.h"
#include "property.h"
#include "read_recording.h"

namespace {

/// While there is one, read() returns when it likes: after a few bytes, or for a signal.
std::optional<std::minstd_rand> slices;

}  // namespace

// The linker puts this in the place of read() (-Wl,--wrap=read).
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" ssize_t __real_read(int fd, void* into, std::size_t size);
extern "C" ssize_t __wrap_read(int fd, void* into, std::size_t size);
extern "C" ssize_t __wrap_read(int fd, void* into, std::size_t size) {
  if (!slices || size == 0) return __real_read(fd, into, size);
  const auto drawn = (*slices)();
  if (drawn % 16 == 0) {
    errno = EINTR;
    return -1;
  }
  // Mostly pieces of records, sometimes much at once.
  const std::size_t slice = 1 + (drawn >> 8U) % (drawn % 4 == 1 ? 40'000 : 300);
  return __real_read(fd, into, std::min(size, slice));
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace perf2dat::fuzz {
namespace {

ReadResult read_through_pipe(std::span<const std::byte> input) {
  std::array<int, 2> ends{};
  // Who opens it by name waits for bytes; this end says so when they do not fit.
  expect(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0, "there is a pipe");
  const FileDescriptor reader(ends[0]);
  {
    const FileDescriptor writer(ends[1]);
    // All of it fits the pipe, so nobody has to read meanwhile.
    constexpr std::size_t kPipeSize = 65536;
    if (input.size() > kPipeSize) ::fcntl(writer.get(), F_SETPIPE_SZ, input.size());
    const auto done = ::write(writer.get(), input.data(), input.size());
    expect(done == static_cast<ssize_t>(input.size()), "the pipe takes the input");
  }
  return read_recording("/proc/self/fd/" + std::to_string(reader.get()), input.size());
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory file;
  const auto input = bytes_of(data, size);
  constexpr std::size_t kLargestPipe = 1U << 20U;
  if (size > kLargestPipe) return -1;

  const ReadResult from_file = read_recording(file.path_of(input), size);
  // The same input is always sliced in the same way. A loop of our own over its bytes would be
  // instrumented, and take a tenth of the time.
  slices.emplace(static_cast<std::minstd_rand::result_type>(::crc32_z(0, data, size)));
  const ReadResult sliced = read_through_pipe(input);
  slices.reset();
  expect(sliced == from_file, "a sliced pipe gives what the file gives");
  expect_told(sliced, size);
  return 0;
}
