// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a whole perf.data. It is read or refused; memory stays within a bound that grows
// with the input's size only, and an error names a place in the input.
#include "input_in_memory.h"
#include "memory_watch.h"
#include "property.h"
#include "read_recording.h"

namespace perf2dat::fuzz {
namespace {

/// Bytes that reading may take: two chunks of the file, and tables of what the file describes.
std::size_t memory_for(std::size_t input) { return (4U << 20U) + 64 * input; }

/// A frame of zstd may ask for a window of so many bytes more, and perf's highest level does.
constexpr std::size_t kWindow = 130U << 20U;

bool may_have_zstd(std::span<const std::byte> input) {
  constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  return text.find(kMagic) != std::string_view::npos;
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory file;
  const auto input = bytes_of(data, size);
  const std::string& path = file.path_of(input);

  const MemoryWatch watch;  // counts from here on
  const ReadResult result = read_recording(path, size);
  expect(MemoryWatch::peak() <= memory_for(size) + (may_have_zstd(input) ? kWindow : 0),
         "memory is bounded by the input's size");
  if (result.error) {
    expect(result.error->kind == perf2dat::Error::Kind::kInput, result.error->message);
    expect(result.error->message.find_first_of("\r\n") == std::string::npos, "errors are one line");
    expect(offsets_are_inside(result.error->message, size), result.error->message);
  }
  for (const auto& warning : result.warnings) expect(offsets_are_inside(warning, size), warning);
  return 0;
}
