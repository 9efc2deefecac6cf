// SPDX-License-Identifier: LGPL-2.1-or-later
// What all fuzz targets share: how an input is taken apart, and how a broken property is told.
//
// A target is a file with LLVMFuzzerTestOneInput(), the function that libFuzzer, AFL++ and our own
// replay (replay.cc) call for each input. It ends the process where a property does not hold.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace perf2dat::fuzz {

/// Ends the process, as a sanitizer would, when something does not hold.
inline void expect(bool holds, std::string_view what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold: %.*s\n", file, line, static_cast<int>(what.size()),
               what.data());
  std::abort();
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// Every place that a message names ("at offset 0x...") is in the input, or right behind it. The
/// input begins at `origin`.
inline bool offsets_are_inside(const std::string& message, std::uint64_t size,
                               std::uint64_t origin = 0) {
  constexpr std::string_view kOffset = "offset 0x";
  for (std::size_t at = message.find(kOffset); at != std::string::npos;
       at = message.find(kOffset, at + 1)) {
    const char* const begin = message.data() + at + kOffset.size();
    std::uint64_t offset = 0;
    const auto [end, error] = std::from_chars(begin, message.data() + message.size(), offset, 16);
    if (error != std::errc() || end == begin) return false;
    if (offset < origin || offset - origin > size) return false;
  }
  return true;
}

/// Takes values off the front of an input. Behind its end is nothing but zeros, so every input is a
/// whole one, and a mutation in front leaves the rest what it was.
class Draw {
 public:
  explicit Draw(std::span<const std::byte> input) : rest_(input) {}

  bool empty() const { return rest_.empty(); }

  /// A number, little-endian.
  template <typename Number>
  Number number() {
    Number value{};
    const auto from = take(sizeof value);
    for (std::size_t i = 0; i < from.size(); ++i) {
      value = static_cast<Number>(value | Number{static_cast<std::uint8_t>(from[i])} << (8 * i));
    }
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  bool flag() { return (byte() & 1U) != 0; }

  /// A number from 0 to `end`, without it. `end` is at most 256.
  std::size_t below(std::size_t end) { return byte() % end; }

  /// One of a few.
  template <typename T, std::size_t size>
  T one_of(const T (&values)[size]) {
    return values[below(size)];
  }

  /// Up to `size` bytes.
  std::span<const std::byte> take(std::size_t size) {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::string text(std::size_t size) {
    const auto taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  /// Text up to a zero byte, which is consumed; or all.
  std::string c_string() {
    const auto end = std::find(rest_.begin(), rest_.end(), std::byte{0});
    std::string found = text(static_cast<std::size_t>(end - rest_.begin()));
    take(1);
    return found;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace perf2dat::fuzz
