// SPDX-License-Identifier: LGPL-2.1-or-later
// A bounds-checked cursor over bytes of a known order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/byte_order.h"

namespace perf2dat {

/// Reads integers and strings from bytes that may be anything. The first read that does not fit
/// sticks: it and all later ones return zeros or empty views, and `ok()` turns false, so a parser
/// can read a group of fields and check once. A loop over a count read from the input must check
/// `ok()` in its condition.
class ByteReader {
 public:
  /// `origin` is the place of bytes[0] in the file; `offset()` counts from there.
  ByteReader(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t origin = 0)
      : bytes_(bytes), order_(order), origin_(origin) {}

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }

  std::span<const std::byte> bytes(std::uint64_t count) {
    if (!fits(count)) return {};
    auto view = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += view.size();
    return view;
  }

  /// `count` bytes as text; zeros in them are kept.
  std::string_view text(std::uint64_t count) {
    auto view = bytes(count);
    return {reinterpret_cast<const char*>(view.data()), view.size()};
  }

  /// Text up to a NUL, which is consumed and left out. Fails when there is no NUL.
  std::string_view c_string() {
    if (!ok()) return {};
    const auto rest = bytes_.subspan(position_);
    const void* nul = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (nul == nullptr) {
      failure_ = Failure{offset(), rest.size() + 1};
      return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(nul) - rest.data());
    auto view = text(length);
    position_ += 1;
    return view;
  }

  void skip(std::uint64_t count) { bytes(count); }

  bool ok() const { return !failure_.has_value(); }
  std::size_t remaining() const { return ok() ? bytes_.size() - position_ : 0; }
  std::uint64_t offset() const { return origin_ + position_; }
  ByteOrder order() const { return order_; }

  /// Where the first read that did not fit began, and how many bytes it asked for.
  struct Failure {
    std::uint64_t offset;
    std::uint64_t wanted;
  };
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  bool fits(std::uint64_t count) {
    if (!ok()) return false;
    if (count > bytes_.size() - position_) {
      failure_ = Failure{offset(), count};
      return false;
    }
    return true;
  }

  template <typename T>
  T number() {
    if (!fits(sizeof(T))) return 0;
    const T value = load<T>(bytes_.data() + position_, order_);
    position_ += sizeof(T);
    return value;
  }

  std::span<const std::byte> bytes_;
  ByteOrder order_;
  std::uint64_t origin_;
  std::size_t position_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace perf2dat
