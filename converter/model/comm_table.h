// SPDX-License-Identifier: LGPL-2.1-or-later
// The names of tasks. trace.dat has one name per pid: the last one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perf2dat {

/// Collects names from all that a recording says of tasks, in any order of time.
///
/// A recording that was made inside a PID namespace numbers tasks twice: its COMM and FORK records
/// and its samples have the namespace's tids, the tracepoints' data the kernel's own pids. What
/// trace-cmd shows is the kernel's, so names go by that. Each sample tells both numbers of the task
/// that ran.
class CommTable {
 public:
  /// A task has named itself, or was found running with that name when the recording began.
  void add_comm(std::uint64_t time, std::uint32_t tid, std::string_view comm);

  /// A new task has its parent's name, until it gets one of its own.
  void add_fork(std::uint64_t time, std::uint32_t tid, std::uint32_t parent_tid);

  /// A sample came from the task `pid`, which the recording calls `tid`.
  void see_task(std::uint32_t pid, std::uint32_t tid) {
    SeenTask& recent = recent_tasks_[pid % kRecent];
    if (recent.seen && recent.pid == pid && recent.tid == tid) return;
    recent = {pid, tid, true};
    add_task(pid, tid);
  }

  /// sched_switch gave the name of the task `pid`, up to a NUL. It counts where no record names the
  /// task.
  void see_switch(std::uint64_t time, std::uint32_t pid, std::string_view comm) {
    if (pid == 0) return;  // each CPU's idle task, "swapper/0", "swapper/1" and so on
    RecentSwitch& recent = recent_switches_[pid % kRecent];
    // Behind the NUL is whatever was there before: mostly the same, too, but it does not count.
    const auto same = [&](auto compare) {
      return compare(recent.comm.data(), comm.data(), sizeof recent.comm) == 0;
    };
    if (comm.size() == sizeof recent.comm && recent.pid == pid &&
        (same(std::memcmp) || same(std::strncmp))) {
      recent.time = std::max(recent.time, time);
      return;
    }
    add_switch(time, pid, comm);
  }

  /// The kernel's own list of names, as lines "pid comm". It counts where nothing else names the
  /// task.
  void add_saved_cmdlines(std::string_view lines);

  /// The last name of every task that has one, by pid. The last call.
  std::map<std::uint32_t, std::string> names();

 private:
  // The kernel's names have up to 15 bytes. Many changes wait, so they are plain and small.
  static constexpr std::size_t kLongestComm = 15;
  struct TaskChange {
    std::uint64_t time;
    std::uint32_t tid;
    std::uint32_t parent_tid;  // of a fork
    bool is_fork;
    std::array<char, kLongestComm + 1> comm;  // of a name, with a NUL
  };
  struct SeenTask {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    bool seen = false;
  };
  struct SwitchName {
    std::uint64_t time = 0;
    std::string comm;
  };
  struct RecentSwitch {
    std::uint32_t pid = 0;
    std::uint64_t time = 0;
    std::array<char, kLongestComm + 1> comm{};  // as it was recorded; empty: no entry
  };

  // Events of the same few tasks come again and again; these small tables spare a search for each.
  static constexpr std::size_t kRecent = 1024;

  void add_change(const TaskChange& change);
  void apply_changes(std::size_t count);
  void add_task(std::uint32_t pid, std::uint32_t tid);
  void add_switch(std::uint64_t time, std::uint32_t pid, std::string_view comm);
  void keep_switch_name(std::uint32_t pid, std::uint64_t time, std::string_view comm);

  std::vector<TaskChange> changes_;
  // Ordered: the tids are the input's, which could choose them for one bucket of a hash table.
  std::map<std::uint32_t, std::string> by_tid_;
  std::map<std::uint32_t, std::uint32_t> tid_of_pid_;
  std::map<std::uint32_t, SwitchName> by_switch_;
  std::map<std::uint32_t, std::string> saved_;
  bool in_namespace_ = false;
  std::array<SeenTask, kRecent> recent_tasks_{};
  std::array<RecentSwitch, kRecent> recent_switches_{};
};

}  // namespace perf2dat
