// SPDX-License-Identifier: LGPL-2.1-or-later
#include "testing/payload_swap.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace perf2dat::testing {
namespace {

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '[')) return true;
  }
  return false;
}

/// The bytes of an array's element, from the C type that the format names.
std::uint32_t element_size(std::string_view type, std::uint32_t long_size) {
  static constexpr std::array<std::pair<std::string_view, std::uint32_t>, 16> kSizes = {
      {{"u16", 2},
       {"s16", 2},
       {"__u16", 2},
       {"__be16", 2},
       {"short", 2},
       {"u32", 4},
       {"s32", 4},
       {"__u32", 4},
       {"__be32", 4},
       {"u64", 8},
       {"s64", 8},
       {"__u64", 8},
       {"int", 4},
       {"pid_t", 4},
       {"gfp_t", 4},
       {"dev_t", 4}}};
  if (has_word(type, "char")) return 1;
  if (has_word(type, "long")) {
    return type.find("long long") == std::string_view::npos ? long_size : 8;
  }
  for (const auto& [name, size] : kSizes) {
    if (has_word(type, name)) return size;
  }
  return has_word(type, "cpumask_t") ? long_size : 1;
}

void swap_range(std::vector<std::byte>& payload, std::size_t at, std::size_t size,
                std::size_t element) {
  if (element < 2 || at > payload.size() || size > payload.size() - at) return;
  for (std::size_t i = 0; i + element <= size; i += element) {
    const auto first = payload.begin() + static_cast<std::ptrdiff_t>(at + i);
    std::reverse(first, first + static_cast<std::ptrdiff_t>(element));
  }
}

}  // namespace

void swap_payload(std::vector<std::byte>& payload, const EventFormat& format, ByteOrder from,
                  std::uint32_t long_size) {
  for (const auto& field : format.fields) {
    const bool absolute = field.type.starts_with("__data_loc");
    const bool relative = field.type.starts_with("__rel_loc");
    if ((absolute || relative) && field.offset + 4 <= payload.size()) {
      // u32: the array's offset in the low half, its size in the high half.
      const auto place = load<std::uint32_t>(payload.data() + field.offset, from);
      const std::size_t at = (place & 0xffffU) + (relative ? field.offset + 4 : 0);
      swap_range(payload, at, place >> 16U, element_size(field.type, long_size));
      swap_range(payload, field.offset, 4, 4);
      continue;
    }
    const std::uint32_t element = field.is_array ? element_size(field.type, long_size) : field.size;
    // A struct that is no array shows as bytes.
    if (!field.is_array && field.size > 8) continue;
    swap_range(payload, field.offset, field.size, element);
  }
}

}  // namespace perf2dat::testing
