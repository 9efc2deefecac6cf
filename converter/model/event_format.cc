// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/event_format.h"

#include <charconv>

namespace perf2dat {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Takes what comes before `end` off the text, and the `end` with it.
std::string_view take_until(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  text = trim(text);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "unsigned long args[6]" or "__data_loc char[] name" or "char comm[16]" or "int pid".
EventField parse_declaration(std::string_view text) {
  EventField field;
  text = trim(text);
  if (!text.empty() && text.back() == ']') {
    field.is_array = true;
    text = trim(text.substr(0, text.find_last_of('[')));
  }
  const auto name_at = text.find_last_of(" \t*");
  if (name_at == std::string_view::npos) {
    field.name = text;
    return field;
  }
  field.name = text.substr(name_at + 1);
  field.type = trim(text.substr(0, name_at + 1));
  return field;
}

// "field:TYPE NAME; offset:N; size:N; signed:N;"
std::optional<EventField> parse_field(std::string_view line) {
  line = trim(line);
  if (!take_prefix(line, "field:") && !take_prefix(line, "field special:")) return std::nullopt;
  EventField field = parse_declaration(take_until(line, ';'));
  bool has_offset = false;
  bool has_size = false;
  while (!line.empty()) {
    auto part = trim(take_until(line, ';'));
    const auto key = take_until(part, ':');
    const auto value = parse_number(part);
    if (!value) continue;
    if (key == "offset") {
      field.offset = *value;
      has_offset = true;
    } else if (key == "size") {
      field.size = *value;
      has_size = true;
    }
  }
  if (!has_offset || !has_size) return std::nullopt;
  return field;
}

}  // namespace

const EventField* EventFormat::find(std::string_view field) const {
  for (const auto& each : fields) {
    if (each.name == field) return &each;
  }
  return nullptr;
}

std::optional<EventFormat> parse_event_format(std::string_view text) {
  EventFormat format;
  bool has_id = false;
  while (!text.empty()) {
    auto line = take_until(text, '\n');
    if (take_prefix(line, "name:")) {
      format.name = trim(line);
    } else if (take_prefix(line, "ID:")) {
      if (const auto id = parse_number(line)) {
        format.id = *id;
        has_id = true;
      }
    } else if (line.starts_with("print fmt:")) {
      break;
    } else if (auto field = parse_field(line)) {
      format.fields.push_back(*std::move(field));
    }
  }
  if (format.name.empty() || !has_id) return std::nullopt;
  return format;
}

Expected<std::uint32_t> commit_size_of(std::string_view header_page) {
  while (!header_page.empty()) {
    const auto field = parse_field(take_until(header_page, '\n'));
    if (!field || field->name != "commit") continue;
    if (field->size == 4 || field->size == 8) return field->size;
    return input_error("header_page says that commit has {} bytes, neither 4 nor 8", field->size);
  }
  return input_error("header_page does not describe commit");
}

Expected<std::uint32_t> page_size_of(std::string_view header_page) {
  while (!header_page.empty()) {
    const auto field = parse_field(take_until(header_page, '\n'));
    if (field && field->name == "data") return field->offset + field->size;
  }
  return input_error("header_page does not describe data");
}

}  // namespace perf2dat
