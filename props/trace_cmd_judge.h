// SPDX-License-Identifier: LGPL-2.1-or-later
// What trace-cmd's own library reads from a trace.dat. None of our own code is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perf2dat::props {

struct FileEvent {
  std::uint32_t cpu = 0;
  std::uint64_t time = 0;
  std::vector<std::byte> payload;
  std::int64_t missed = 0;  ///< events that are missing before it; -1: not told how many

  friend bool operator==(const FileEvent&, const FileEvent&) = default;
};

struct JudgedFile {
  std::vector<FileEvent> events;   ///< CPU by CPU, each in the file's order
  std::vector<std::string> names;  ///< of the tasks that were asked for
};

/// nullopt: libtracecmd refuses the file. `pids`: the tasks whose names are wanted.
std::optional<JudgedFile> judge_file(const std::string& path, const std::vector<int>& pids = {});

}  // namespace perf2dat::props
