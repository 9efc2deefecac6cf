// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte order as a value. Loads and stores of other orders live here and nowhere else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace perf2dat {

enum class ByteOrder : std::uint8_t { kLittle, kBig };

inline constexpr ByteOrder kHostOrder =
    std::endian::native == std::endian::big ? ByteOrder::kBig : ByteOrder::kLittle;

constexpr ByteOrder other(ByteOrder order) {
  return order == ByteOrder::kLittle ? ByteOrder::kBig : ByteOrder::kLittle;
}

constexpr std::uint8_t swap_bytes(std::uint8_t value) { return value; }
constexpr std::uint16_t swap_bytes(std::uint16_t value) { return __builtin_bswap16(value); }
constexpr std::uint32_t swap_bytes(std::uint32_t value) { return __builtin_bswap32(value); }
constexpr std::uint64_t swap_bytes(std::uint64_t value) { return __builtin_bswap64(value); }

/// Reads an unsigned integer of T's width, at any alignment. The caller has checked the bounds.
template <typename T>
T load(const std::byte* from, ByteOrder order) {
  static_assert(std::is_unsigned_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return order == kHostOrder ? value : swap_bytes(value);
}

/// Writes an unsigned integer of T's width, at any alignment. The caller has checked the bounds.
template <typename T>
void store(std::byte* to, T value, ByteOrder order) {
  static_assert(std::is_unsigned_v<T>);
  if (order != kHostOrder) value = swap_bytes(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace perf2dat
