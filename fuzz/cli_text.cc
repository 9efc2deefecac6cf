// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is text that a user or a kernel gives, after a byte that tells which: names of tasks,
// windows of time, formats of events and data of one, or a tree like tracefs. What is accepted says
// the same when it is written and read again, and the rest is an error.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "convert/tracepoint_fields.h"
#include "model/comm_table.h"
#include "model/event_format.h"
#include "model/time_windows.h"
#include "output_folder.h"
#include "perfdata/tracing_dir.h"
#include "property.h"
#include "tracedat/metadata.h"

namespace perf2dat::fuzz {
namespace {

/// saved_cmdlines as a trace.dat has it.
std::string cmdlines_of(CommTable& table) {
  std::vector<tracedat::Cmdline> cmdlines;
  for (const auto& [pid, comm] : table.names()) cmdlines.push_back({pid, comm});
  return tracedat::cmdlines_text(cmdlines);
}

void cmdlines(Draw& draw) {
  CommTable table;
  if (draw.flag()) {
    // What a recording says of tasks, before the kernel's list.
    for (std::size_t count = draw.below(32); count > 0; --count) {
      const std::uint64_t time = draw.byte();
      const auto pid = static_cast<std::uint32_t>(draw.below(8));
      switch (draw.below(4)) {
        case 0:
          table.add_comm(time, pid, draw.c_string());
          break;
        case 1:
          table.add_fork(time, pid, static_cast<std::uint32_t>(draw.below(8)));
          break;
        case 2:
          table.see_task(pid, static_cast<std::uint32_t>(draw.below(8)));
          break;
        default:
          table.see_switch(time, pid, draw.text(16));
      }
    }
  }
  table.add_saved_cmdlines(draw.text(draw.rest().size()));
  const std::string text = cmdlines_of(table);
  CommTable again;
  again.add_saved_cmdlines(text);
  expect(cmdlines_of(again) == text, "names that are written are read again");
}

/// Whether windows hold the same times as others.
void expect_same(const TimeWindows& a, const TimeWindows& b, Draw probes) {
  while (!probes.empty()) {
    const auto time = probes.number<std::uint64_t>();
    expect(a.contains(time) == b.contains(time), "the same windows");
  }
}

void any_time(Draw& draw) {
  std::optional<TimeSpan> span;
  if (draw.flag()) {
    const auto first = draw.number<std::uint64_t>();
    span = TimeSpan{first, first + std::min(draw.number<std::uint64_t>(), ~first)};
  }
  Draw probes(draw.take(32));
  const std::string text = draw.text(draw.rest().size());
  const auto windows = TimeWindows::parse(text, span);
  if (!windows) {
    expect(windows.error().kind == Error::Kind::kUsage, windows.error().message);
    return;
  }
  expect(windows->contains(0), "a sample without a time is in every window");
  const auto padded = TimeWindows::parse("  " + text + " ", span);
  expect(padded.has_value(), "space around the windows says nothing");
  expect_same(*windows, *padded, probes);
}

void windows_of_seconds(Draw& draw) {
  std::string text;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
  std::uint64_t last = 0;
  for (std::size_t count = 1 + draw.below(4); count > 0; --count) {
    const std::uint64_t start = last + 1 + draw.number<std::uint32_t>();
    const std::uint64_t stop = start + draw.number<std::uint32_t>();
    last = stop;
    text += fmt::format("{}.{:09},{}.{:09} ", start / 1'000'000'000, start % 1'000'000'000,
                        stop / 1'000'000'000, stop % 1'000'000'000);
    expected.emplace_back(start, stop);
  }
  const auto windows = TimeWindows::parse(text, std::nullopt);
  expect(windows.has_value(), text);
  for (const auto& [start, stop] : expected) {
    for (const std::uint64_t time : {start - 1, start, stop, stop + 1}) {
      bool inside = time == 0;
      for (const auto& each : expected) inside |= time >= each.first && time <= each.second;
      expect(windows->contains(time) == inside, text);
    }
  }
}

std::string text_of(const EventFormat& format) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", format.name, format.id);
  for (const auto& field : format.fields) {
    text += fmt::format("\tfield:{} {}{};\toffset:{};\tsize:{};\tsigned:0;\n", field.type,
                        field.name, field.is_array ? "[]" : "", field.offset, field.size);
  }
  return text + "\nprint fmt: \"\"\n";
}

/// Two formats of sched's events, each up to a zero byte, and the data of an event.
void tracepoint_fields(Draw draw) {
  TracingData tracing;
  tracing.systems = {{"sched", {draw.c_string(), draw.c_string()}}};
  // Exactly as large, so that the sanitizer sees what reads beyond it.
  const std::vector<std::byte> raw(draw.rest().begin(), draw.rest().end());
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    tracing.order = order;
    const auto fields = TracepointFields::find(tracing);
    if (!fields) {
      expect(fields.error().kind == Error::Kind::kInput, fields.error().message);
      continue;
    }
    CommTable table;
    if (fields->has_common_fields(raw)) table.see_task(fields->common_pid(raw), 1);
    for (const auto& text : tracing.systems.front().formats) {
      const auto format = parse_event_format(text);
      if (!format) continue;
      expect(!fields->name_of(format->id).empty(), "an event with a format has a name");
      if (fields->is_switch(format->id)) fields->take_switch_names(1, raw, table);
    }
    for (const auto& [pid, comm] : table.names()) {
      expect(comm.size() <= raw.size(), "a task's name is out of the data");
    }
  }
}

void event_format(Draw& draw) {
  tracepoint_fields(draw);
  const std::string text = draw.text(draw.rest().size());
  if (const auto commit = commit_size_of(text)) {
    expect(*commit == 4 || *commit == 8, "commit has 4 or 8 bytes");
  }
  static_cast<void>(page_size_of(text));
  const auto format = parse_event_format(text);
  if (!format) return;
  const auto again = parse_event_format(text_of(*format));
  expect(again.has_value(), "a format that is written is one");
  expect(text_of(*again) == text_of(*format), "a format that is written is read again");
}

struct Tree {
  std::map<std::string, std::string> texts;  // by path
  std::string fifo;  // the path of a file that is a pipe, which nobody writes to; empty: none is
  std::string link;  // the path of a text that is a link to a file; empty: none is
  bool leads_out = false;  // of the tree, does the link
};

Tree draw_tree(Draw& draw) {
  constexpr const char* kPaths[] = {"events/header_page",     "events/header_event",
                                    "events/sched/a/format",  "events/sched/b/format",
                                    "events/ftrace/a/format", "events/irq/c/format",
                                    "events/irq/c/id",        "events/enable",
                                    "printk_formats",         "saved_cmdlines"};
  constexpr std::size_t kFiles = std::size(kPaths);
  Tree tree;
  const auto files = draw.number<std::uint16_t>();
  for (std::size_t i = 0; i < kFiles; ++i) {
    // Most trees have most files.
    if ((files >> i & 1U) == 0) tree.texts[kPaths[i]] = draw.c_string();
  }
  if ((files >> kFiles & 1U) != 0) {
    tree.fifo = kPaths[(files >> (kFiles + 1)) % kFiles];
    tree.texts.erase(tree.fifo);
  }
  const auto link = draw.byte();
  const std::string linked = kPaths[(link >> 2U) % kFiles];
  if ((link & 1U) != 0 && tree.texts.contains(linked)) {
    tree.link = linked;
    tree.leads_out = (link & 2U) != 0;
  }
  return tree;
}

/// Whether a conversion has a use for it.
bool is_read(std::string_view path) {
  return !path.empty() && !path.ends_with("/id") && !path.ends_with("/enable");
}

/// Returns the other end of the pipe: who opens it then waits for more of it, for ever.
FileDescriptor write_tree(const OutputFolder& folder, const Tree& tree) {
  const std::filesystem::path path = folder.path("tracing");
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  for (const auto& [name, text] : tree.texts) folder.write("tracing/" + name, text);
  if (!tree.link.empty()) {
    const std::string target = folder.path(tree.leads_out ? "outside" : "tracing/inside");
    std::filesystem::rename(path / tree.link, target);
    std::filesystem::create_symlink(target, path / tree.link);
  }
  if (tree.fifo.empty()) return {};
  std::filesystem::create_directories((path / tree.fifo).parent_path());
  const std::string fifo = path / tree.fifo;
  expect(::mkfifo(fifo.c_str(), 0600) == 0, "a pipe can be made");
  return FileDescriptor(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
}

void tracing_dir(Draw& draw) {
  static OutputFolder folder;
  const std::string path = folder.path("tracing");
  const auto order = draw.flag() ? ByteOrder::kBig : ByteOrder::kLittle;
  const Tree drawn = draw_tree(draw);
  const FileDescriptor end_of_pipe = write_tree(folder, drawn);
  // Only a regular file is read: a pipe is as if it were not there.
  const auto& tree = drawn.texts;
  const auto read = perfdata::read_tracing_dir(path, order);
  if (drawn.leads_out && is_read(drawn.link)) {
    expect(!read, "nothing outside of the tree is read");
    return;
  }
  const auto text = [&](const std::string& name) {
    const auto found = tree.find(name);
    return found == tree.end() ? std::string() : found->second;
  };
  const auto has = [&](const std::string& name) { return tree.contains(name); };
  const bool has_events =
      has("events/sched/a/format") || has("events/sched/b/format") || has("events/irq/c/format");
  const auto page_size = page_size_of(text("events/header_page"));
  const bool whole = has("events/header_page") && has("events/header_event") && has_events &&
                     commit_size_of(text("events/header_page")).has_value() && page_size;
  expect(read.has_value() == whole, "a whole tree is read, any other refused");
  if (!read) return;
  expect(read->order == order && read->page_size == *page_size, "the page is as described");
  expect(read->header_page == text("events/header_page") &&
             read->header_event == text("events/header_event") &&
             read->printk == text("printk_formats") && read->cmdlines == text("saved_cmdlines"),
         "texts are read whole");
  std::map<std::string, std::string> formats;
  const auto take = [&](const std::string& system, const std::vector<std::string>& texts) {
    for (const auto& each : texts) formats[fmt::format("{} {}", system, formats.size())] = each;
  };
  std::size_t expected = 0;
  for (const auto& [name, each] : tree) {
    expected += static_cast<std::size_t>(name.ends_with("/format"));
  }
  take("ftrace", read->ftrace_formats);
  for (const auto& system : read->systems) take(system.name, system.formats);
  expect(formats.size() == expected, "every format is read");
  for (const auto& format : formats) {
    const std::string system = format.first.substr(0, format.first.find(' '));
    const bool there = std::any_of(tree.begin(), tree.end(), [&](const auto& file) {
      return file.second == format.second && file.first.starts_with("events/" + system + "/");
    });
    expect(there, "a format is the text of its system's file");
  }
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  Draw draw(bytes_of(data, size));
  switch (draw.below(5)) {
    case 0:
      cmdlines(draw);
      break;
    case 1:
      any_time(draw);
      break;
    case 2:
      windows_of_seconds(draw);
      break;
    case 3:
      event_format(draw);
      break;
    default:
      tracing_dir(draw);
  }
  return 0;
}
