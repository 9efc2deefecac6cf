// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a folder of perf record --threads: after a byte of choices, its files, each with a
// size of two bytes before it. The header's file comes first, then data.0, data.1 and so on. They
// are read or refused, with event formats from elsewhere or without, and so they are converted.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "any_conversion.h"
#include "memory_watch.h"
#include "output_folder.h"
#include "property.h"
#include "read_recording.h"

namespace perf2dat::fuzz {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  expect(static_cast<bool>(file.flush()), "there is room for the folder");
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static OutputFolder folder;
  Draw draw(bytes_of(data, size));
  const auto choices = draw.byte();
  const std::filesystem::path path = folder.path("recording");
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  std::filesystem::create_directory(path);
  std::size_t largest = 0;
  constexpr int kMostFiles = 12;  // so that data.10 comes after data.9
  // One choice leaves a number out.
  int number = (choices & 2U) != 0 ? 1 : 0;
  for (int i = 0; i < kMostFiles && (i == 0 || !draw.empty()); ++i) {
    const auto content = draw.take(draw.number<std::uint16_t>());
    largest = std::max(largest, content.size());
    write(path / (i == 0 ? "data" : fmt::format("data.{}", number++)), content);
  }

  const std::string formats = (choices & 1U) != 0 ? tracing_dir() : "";

  const MemoryWatch watch;  // counts from here on
  const ReadResult result = read_recording(path.string(), largest, formats);
  expect(MemoryWatch::peak() <= memory_for(bytes_of(data, size)),
         "memory is bounded by the input's size");
  if (result.error) {
    expect(result.error->kind == perf2dat::Error::Kind::kInput, result.error->message);
    expect(offsets_are_inside(result.error->message, largest), result.error->message);
  }
  expect_conversion(path.string(), bytes_of(data, size), largest);
  return 0;
}
