// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/tracing_dir.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "base/file.h"
#include "model/event_format.h"

namespace perf2dat::perfdata {
namespace {

namespace fs = std::filesystem;

/// Far above what any kernel has in one of its files.
constexpr std::size_t kLargestText = 64U << 20U;

/// The text of a file below `root`, which has no links in it; nullopt: there is none to be read.
/// Files of tracefs tell no size, so it is read to its end. Nothing but files is read: a pipe could
/// make one wait, and a device has no end. A tree that somebody else packed must not name a file of
/// the reader's, which would be in the output then.
Expected<std::optional<std::string>> read_text(const fs::path& root, const fs::path& path) {
  const auto file = InputFile::open(path.string());
  if (!file) return std::nullopt;
  std::error_code error;
  const auto target = fs::canonical(path, error);
  if (error) return std::nullopt;
  if (std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first != root.end()) {
    return input_error("'{}' is a link to '{}', which is outside of '{}': copy what it leads to",
                       path.string(), target.string(), root.string());
  }
  std::string text;
  std::array<char, 4096> piece{};
  std::size_t size = 0;
  do {
    const auto read = file->read_at(text.size(), std::as_writable_bytes(std::span(piece)));
    if (!read) return std::nullopt;
    size = *read;
    text.append(piece.data(), size);
    if (text.size() > kLargestText) {
      return input_error("'{}' has more than {} bytes: it is no text of tracefs", path.string(),
                         kLargestText);
    }
  } while (size == piece.size());
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
  std::error_code ignored;
  const fs::path root = fs::canonical(path, ignored);  // empty: there is none, and no file in it
  const fs::path events = root / "events";
  P2D_ASSIGN(const auto header_page, read_text(root, events / "header_page"));
  P2D_ASSIGN(const auto header_event, read_text(root, events / "header_event"));
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
      P2D_ASSIGN(auto format, read_text(root, event / "format"));
      if (format) system.formats.push_back(*std::move(format));
    }
    if (system.formats.empty()) continue;
    if (system.name == "ftrace") {
      data.ftrace_formats = std::move(system.formats);
    } else {
      data.systems.push_back(std::move(system));
    }
  }
  if (data.systems.empty()) return input_error("'{}' has no events/*/*/format", path);
  P2D_ASSIGN(const auto printk, read_text(root, root / "printk_formats"));
  data.printk = printk.value_or("");
  P2D_ASSIGN(const auto cmdlines, read_text(root, root / "saved_cmdlines"));
  data.cmdlines = cmdlines.value_or("");
  return data;
}

}  // namespace perf2dat::perfdata
