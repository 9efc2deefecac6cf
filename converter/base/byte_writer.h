// SPDX-License-Identifier: LGPL-2.1-or-later
// Appends integers and text to a byte string, in one byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_order.h"

namespace perf2dat {

class ByteWriter {
 public:
  explicit ByteWriter(ByteOrder order) : order_(order) {}

  ByteWriter& u8(std::uint8_t value) { return number(value); }
  ByteWriter& u16(std::uint16_t value) { return number(value); }
  ByteWriter& u32(std::uint32_t value) { return number(value); }
  ByteWriter& u64(std::uint64_t value) { return number(value); }

  ByteWriter& bytes(std::span<const std::byte> data) {
    data_.insert(data_.end(), data.begin(), data.end());
    return *this;
  }

  ByteWriter& text(std::string_view text) { return bytes(std::as_bytes(std::span(text))); }

  /// The text and a NUL after it.
  ByteWriter& c_string(std::string_view text) { return this->text(text).u8(0); }

  ByteWriter& zeros(std::size_t count) {
    data_.resize(data_.size() + count);
    return *this;
  }

  /// Zeros up to the next multiple of `alignment`, counted from the first byte written.
  ByteWriter& align(std::size_t alignment) {
    return zeros((alignment - data_.size() % alignment) % alignment);
  }

  /// Overwrites a number written before, at `offset` from the first byte written.
  template <typename T>
  void patch(std::size_t offset, T value) {
    store(data_.data() + offset, value, order_);
  }

  std::size_t size() const { return data_.size(); }
  ByteOrder order() const { return order_; }
  const std::vector<std::byte>& data() const { return data_; }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  template <typename T>
  ByteWriter& number(T value) {
    const std::size_t at = data_.size();
    data_.resize(at + sizeof value);
    store(data_.data() + at, value, order_);
    return *this;
  }

  ByteOrder order_;
  std::vector<std::byte> data_;
};

}  // namespace perf2dat
