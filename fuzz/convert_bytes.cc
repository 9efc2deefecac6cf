// SPDX-License-Identifier: LGPL-2.1-or-later
// Any bytes as a recording: the conversion may refuse them, but must not crash, hang or write an
// output that differs from what it read. The check of the output is on, so a difference shows.
#include <filesystem>

#include "input_in_memory.h"
#include "output_folder.h"
#include "perf2dat/perf2dat.h"
#include "property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory input;
  static OutputFolder folder;
  perf2dat::Options options;
  options.input = input.path_of(bytes_of(data, size));
  options.output = folder.path("out.dat");
  options.check = true;
  const auto summary = perf2dat::convert(options);
  expect(std::filesystem::exists(options.output) == summary.has_value(),
         "there is an output where there is no error, and only there");
  if (summary) {
    std::filesystem::remove(options.output);
  } else {
    expect(summary.error().kind == perf2dat::Error::Kind::kInput, summary.error().message);
    expect(offsets_are_inside(summary.error().message, size), summary.error().message);
  }
  return 0;
}
