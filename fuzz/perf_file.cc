// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a whole perf.data. It is read or refused; memory stays within a bound that grows
// with the input's size only, and a place that an error names is in the input.
#include "input_in_memory.h"
#include "memory_watch.h"
#include "property.h"
#include "read_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory file;
  const auto input = bytes_of(data, size);
  const std::string& path = file.path_of(input);

  const MemoryWatch watch;  // counts from here on
  const ReadResult result = read_recording(path, size);
  expect(MemoryWatch::peak() <= memory_for(input), "memory is bounded by the input's size");
  expect_told(result, size);
  return 0;
}
