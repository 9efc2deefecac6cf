// SPDX-License-Identifier: LGPL-2.1-or-later
// libkshark_view TRACE_DAT: what KernelShark's own library reads in a file, as lines of text.
//
//   cpus NUMBER
//   event CPU NANOSECONDS NAME
//   task PID NAME
#include <kernelshark/libkshark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Text = std::unique_ptr<char, Free>;

int fail(const char* what, const char* path) {
  std::fprintf(stderr, "libkshark_view: libkshark cannot %s %s\n", what, path);
  return EXIT_FAILURE;
}

void print_events(std::span<kshark_entry* const> entries) {
  for (kshark_entry* entry : entries) {
    // KernelShark adds entries of its own, with negative numbers, where events were lost.
    if (entry->event_id < 0) continue;
    const Text name{kshark_get_event_name(entry)};
    std::printf("event %d %lld %s\n", entry->cpu, static_cast<long long>(entry->ts),
                name ? name.get() : "?");
  }
}

void print_tasks(int stream, std::span<const int> pids) {
  for (const int pid : pids) {
    const Text name{kshark_comm_from_pid(stream, pid)};
    std::printf("task %d %s\n", pid, name ? name.get() : "?");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: libkshark_view TRACE_DAT\n", stderr);
    return 2;
  }
  kshark_context* context = nullptr;
  if (!kshark_instance(&context)) return fail("begin with", argv[1]);
  const int stream = kshark_open(context, argv[1]);
  if (stream < 0) return fail("open", argv[1]);

  // What is read is left to the end of the process.
  kshark_entry** entries = nullptr;
  const ssize_t count = kshark_load_entries(context, stream, &entries);
  if (count < 0) return fail("load the events of", argv[1]);
  int* pids = nullptr;
  const ssize_t tasks = kshark_get_task_pids(context, stream, &pids);
  if (tasks < 0) return fail("tell the tasks of", argv[1]);

  std::printf("cpus %d\n", kshark_get_data_stream(context, stream)->n_cpus);
  print_events({entries, static_cast<std::size_t>(count)});
  print_tasks(stream, {pids, static_cast<std::size_t>(tasks)});
  return EXIT_SUCCESS;
}
