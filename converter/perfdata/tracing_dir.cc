// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/tracing_dir.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "model/event_format.h"

namespace perf2dat::perfdata {
namespace {

namespace fs = std::filesystem;

/// The text of a file. Files of tracefs tell no size, so it is read to its end. Nothing else is
/// read: a pipe could make one wait, and a device has no end.
std::optional<std::string> read_text(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece{};
  do {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return std::nullopt;
  return text;
}

/// The folders in a folder, by name, so that the same tree gives the same output.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

Expected<TracingData> read_tracing_dir(const std::string& path, ByteOrder order) {
  const fs::path events = fs::path(path) / "events";
  const auto header_page = read_text(events / "header_page");
  const auto header_event = read_text(events / "header_event");
  if (!header_page || !header_event) {
    return input_error(
        "'{}' has no events/header_page and events/header_event: --tracing-dir wants a copy of the "
        "recorded machine's /sys/kernel/tracing",
        path);
  }
  TracingData data;
  data.order = order;
  data.header_page = *header_page;
  data.header_event = *header_event;
  P2D_ASSIGN(const std::uint32_t commit_size, commit_size_of(data.header_page));
  data.long_size = static_cast<std::uint8_t>(commit_size);
  P2D_ASSIGN(data.page_size, page_size_of(data.header_page));
  for (const auto& folder : folders_in(events)) {
    EventSystem system{folder.filename().string(), {}};
    for (const auto& event : folders_in(folder)) {
      if (auto format = read_text(event / "format")) system.formats.push_back(*std::move(format));
    }
    if (system.formats.empty()) continue;
    if (system.name == "ftrace") {
      data.ftrace_formats = std::move(system.formats);
    } else {
      data.systems.push_back(std::move(system));
    }
  }
  if (data.systems.empty()) return input_error("'{}' has no events/*/*/format", path);
  data.printk = read_text(fs::path(path) / "printk_formats").value_or("");
  data.cmdlines = read_text(fs::path(path) / "saved_cmdlines").value_or("");
  return data;
}

}  // namespace perf2dat::perfdata
