// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/comm_table.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/sort_runs.h"

namespace perf2dat {
namespace {

// Changes wait until they can be put in order of time. When this many wait, the older half is put
// in order without those that may still come: memory is bounded, and a record would have to come
// more than this many late to be misplaced.
constexpr std::size_t kMostChanges = 1U << 17U;

/// The tid of a task that is dead already.
constexpr std::uint32_t kNoTid = ~0U;

}  // namespace

void CommTable::add_comm(std::uint64_t time, std::uint32_t tid, std::string_view comm) {
  TaskChange change{time, tid, 0, false, {}};
  comm.copy(change.comm.data(), kLongestComm);
  add_change(change);
}

void CommTable::add_fork(std::uint64_t time, std::uint32_t tid, std::uint32_t parent_tid) {
  add_change({time, tid, parent_tid, true, {}});
}

void CommTable::add_change(const TaskChange& change) {
  changes_.push_back(change);
  if (changes_.size() >= kMostChanges) apply_changes(kMostChanges / 2);
}

void CommTable::apply_changes(std::size_t count) {
  sort_runs(changes_, [](const TaskChange& a, const TaskChange& b) { return a.time < b.time; });
  const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto change = changes_.begin(); change != end; ++change) {
    if (!change->is_fork) {
      by_tid_[change->tid] = change->comm.data();
      continue;
    }
    const auto parent = by_tid_.find(change->parent_tid);
    if (parent == by_tid_.end()) {
      by_tid_.erase(change->tid);
    } else {
      by_tid_[change->tid] = std::string(parent->second);
    }
  }
  changes_.erase(changes_.begin(), end);
}

void CommTable::add_task(std::uint32_t pid, std::uint32_t tid) {
  if (tid == kNoTid) return;
  if (tid != pid) in_namespace_ = true;
  // 0 is the idle task's, a task's outside of the namespace, and before Linux 4.14 that of one that
  // is dead already: what is known of it may still be right.
  if (tid == 0 && pid != 0) return;
  tid_of_pid_[pid] = tid;
}

void CommTable::add_switch(std::uint64_t time, std::uint32_t pid, std::string_view comm) {
  RecentSwitch& recent = recent_switches_[pid % kRecent];
  if (comm.size() != sizeof recent.comm) return keep_switch_name(pid, time, comm);
  keep_switch_name(recent.pid, recent.time, {recent.comm.data(), recent.comm.size()});
  recent.pid = pid;
  recent.time = time;
  comm.copy(recent.comm.data(), recent.comm.size());
}

void CommTable::keep_switch_name(std::uint32_t pid, std::uint64_t time, std::string_view comm) {
  // No kernel has longer ones, but a recording may say so.
  comm = comm.substr(0, kLongestComm + 1);
  comm = comm.substr(0, comm.find('\0'));
  if (comm.empty()) return;
  SwitchName& kept = by_switch_[pid];
  if (kept.comm.empty() || time >= kept.time) kept = {time, std::string(comm)};
}

void CommTable::add_saved_cmdlines(std::string_view lines) {
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    std::uint32_t pid = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    const auto comm = line.substr(static_cast<std::size_t>(end - line.data()));
    if (error == std::errc() && comm.size() > 1 && comm.front() == ' ') {
      saved_.emplace(pid, comm.substr(1));
    }
  }
}

std::map<std::uint32_t, std::string> CommTable::names() {
  apply_changes(changes_.size());
  for (const auto& recent : recent_switches_) {
    keep_switch_name(recent.pid, recent.time, {recent.comm.data(), recent.comm.size()});
  }

  std::map<std::uint32_t, std::string> names;
  if (in_namespace_) {
    for (const auto& [pid, tid] : tid_of_pid_) {
      const auto found = by_tid_.find(tid);
      if (found != by_tid_.end()) names.emplace(pid, found->second);
    }
  } else {
    names.insert(by_tid_.begin(), by_tid_.end());
  }
  for (const auto& [pid, name] : by_switch_) names.emplace(pid, name.comm);
  names.insert(saved_.begin(), saved_.end());
  return names;
}

}  // namespace perf2dat
