// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the texts in which a kernel describes its events and pages.
//
// Source: the kernel's Documentation/trace/events.rst and the `format` files in tracefs:
//
//   name: sched_switch
//   ID: 316
//   format:
//           field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//           ...
//   print fmt: "..."
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perf2dat {

struct EventField {
  std::string type;  ///< "unsigned short", "char", "__data_loc char[]"; an array without its size
  std::string name;  ///< "common_type"
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_array = false;
};

struct EventFormat {
  std::string name;
  std::uint32_t id = 0;
  std::vector<EventField> fields;

  /// nullptr: there is no such field.
  const EventField* find(std::string_view field) const;
};

/// nullopt: the text has no name or no id.
std::optional<EventFormat> parse_event_format(std::string_view text);

/// The bytes of `commit` in a ring-buffer page, from the text of header_page: 4 or 8.
Expected<std::uint32_t> commit_size_of(std::string_view header_page);

/// The bytes of such a page, from the place and size of its data.
Expected<std::uint32_t> page_size_of(std::string_view header_page);

}  // namespace perf2dat
