// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a folder of perf record --threads: after a byte of choices, its files, each with a
// size of two bytes before it. The header's file comes first, then data.0, data.1 and so on. They
// are read or refused, with event formats from elsewhere or without, and so they are converted.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "any_conversion.h"
#include "memory_watch.h"
#include "output_folder.h"
#include "property.h"
#include "read_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static OutputFolder folder;
  Draw draw(bytes_of(data, size));
  const auto choices = draw.byte();
  const std::string path = folder.path("recording");
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  std::size_t largest = 0;
  constexpr int kMostFiles = 12;  // so that data.10 comes after data.9
  // One choice leaves a number out.
  int number = (choices & 2U) != 0 ? 1 : 0;
  for (int i = 0; i < kMostFiles && (i == 0 || !draw.empty()); ++i) {
    const std::string content = draw.text(draw.number<std::uint16_t>());
    largest = std::max(largest, content.size());
    folder.write(i == 0 ? "recording/data" : fmt::format("recording/data.{}", number++), content);
  }

  const std::string formats = (choices & 1U) != 0 ? tracing_dir() : "";

  const MemoryWatch watch;  // counts from here on
  const ReadResult result = read_recording(path, largest, formats);
  expect(MemoryWatch::peak() <= memory_for(bytes_of(data, size)),
         "memory is bounded by the input's size");
  expect_told(result, largest);
  expect_conversion(path, bytes_of(data, size), largest);
  return 0;
}
