// SPDX-License-Identifier: LGPL-2.1-or-later
// Any bytes as a recording: the conversion may refuse them, but must not crash, hang, take much
// memory or write an output that differs from what it read. The check of the output is on, so a
// difference shows.
#include "any_conversion.h"
#include "input_in_memory.h"
#include "property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory input;
  const auto bytes = bytes_of(data, size);
  expect_conversion(input.path_of(bytes), bytes, size);
  return 0;
}
