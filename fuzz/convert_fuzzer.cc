// SPDX-License-Identifier: LGPL-2.1-or-later
// Any bytes as a recording: the conversion may refuse them, but must not crash, hang or write an
// output that differs from what it read. The check of the output is on, so a difference shows.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "perf2dat/perf2dat.h"

namespace {

std::string make_directory() {
  std::string name = "/dev/shm/convert_fuzzer.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string directory = make_directory();
  static const int input = memfd_create("recording", 0);
  if (ftruncate(input, 0) != 0 || pwrite(input, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  perf2dat::Options options;
  options.input = "/proc/self/fd/" + std::to_string(input);
  options.output = directory + "/trace.dat";
  options.check = true;
  const auto summary = perf2dat::convert(options);
  if (summary) {
    unlink(options.output.c_str());
  } else if (summary.error().kind != perf2dat::Error::Kind::kInput) {
    std::fprintf(stderr, "%s\n", summary.error().message.c_str());
    std::abort();
  }
  return 0;
}
