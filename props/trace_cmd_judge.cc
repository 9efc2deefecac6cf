// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace_cmd_judge.h"

#include <sched.h>

// libtracefs' header, which trace-cmd.h includes, is none for C++; nothing here needs it.
#define _TRACE_FS_H  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
#include <trace-cmd.h>

#include <memory>

// The leak sanitizer, where the program has it, asks for this. What libtracecmd loses is not ours.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions();
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions() { return "leak:libtracecmd"; }

namespace perf2dat::props {

std::optional<JudgedFile> judge_file(const std::string& path, const std::vector<int>& pids) {
  tracecmd_set_loglevel(TEP_LOG_NONE);
  const std::unique_ptr<tracecmd_input, decltype(&tracecmd_close)> file(
      tracecmd_open(path.c_str(), TRACECMD_FL_LOAD_NO_PLUGINS), &tracecmd_close);
  if (!file) return std::nullopt;

  JudgedFile judged;
  tep_handle* const tep = tracecmd_get_tep(file.get());
  for (int cpu = 0; cpu < tep_get_cpus(tep); ++cpu) {
    for (tep_record* record = tracecmd_read_cpu_first(file.get(), cpu); record != nullptr;
         record = tracecmd_read_data(file.get(), cpu)) {
      const auto* const data = static_cast<const std::byte*>(record->data);
      judged.events.push_back({static_cast<std::uint32_t>(record->cpu),
                               record->ts,
                               {data, data + record->size},
                               record->missed_events});
      tracecmd_free_record(record);
    }
  }
  for (const int pid : pids) judged.names.emplace_back(tep_data_comm_from_pid(tep, pid));
  return judged;
}

}  // namespace perf2dat::props
