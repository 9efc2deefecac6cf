// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/messages.h"

#include <fmt/format.h>

namespace perf2dat::command {
namespace {

std::string describe(const LeftOut& left_out) {
  auto samples = fmt::format("Left out {} sample{} of {}", left_out.count,
                             left_out.count == 1 ? "" : "s", left_out.event);
  switch (left_out.reason) {
    case LeftOut::Reason::kNotTracepoint:
      return fmt::format("{}: not a tracepoint", samples);
    case LeftOut::Reason::kNoRawData:
      return fmt::format("{}: no raw data (perf record -R)", samples);
    case LeftOut::Reason::kNoCpu:
      return fmt::format("{}: no CPU (perf record --sample-cpu)", samples);
    case LeftOut::Reason::kNoTime:
      return fmt::format("{}: no time (perf record -T)", samples);
    case LeftOut::Reason::kBadCpu:
      return fmt::format("{}: a CPU id above 65535", samples);
    case LeftOut::Reason::kUnknownEvent:
      return fmt::format("Left out {} sample{} of events that the recording does not describe",
                         left_out.count, left_out.count == 1 ? "" : "s");
    case LeftOut::Reason::kGuest:
      return fmt::format("{}: from inside a virtual machine", samples);
  }
  return samples;
}

std::string describe_lost(std::uint64_t lost, std::uint64_t unplaced) {
  auto text = fmt::format("{} event{} lost while recording", lost, lost == 1 ? " was" : "s were");
  if (unplaced > 0) text += fmt::format(", {} of them at a place that is not known", unplaced);
  return text;
}

}  // namespace

std::vector<std::string> lines_of(const Options& options, const Summary& summary, bool verbose) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) {
    lines.push_back(fmt::format("[ perf2dat: {} ]", text));
  };
  add(fmt::format("Converted '{}' into trace.dat format '{}'", options.input, options.output));
  add(fmt::format("Converted {} events", summary.converted));
  for (const auto& left_out : summary.left_out) add(describe(left_out));
  if (summary.outside_time > 0) {
    add(fmt::format("Left out {} event{} outside the windows of time", summary.outside_time,
                    summary.outside_time == 1 ? "" : "s"));
  }
  if (summary.lost > 0) add(describe_lost(summary.lost, summary.lost_unplaced));
  if (summary.lost_samples > 0) {
    add(fmt::format("perf counted {} lost sample{}", summary.lost_samples,
                    summary.lost_samples == 1 ? "" : "s"));
  }
  for (const auto& warning : summary.warnings) add(fmt::format("Warning: {}", warning));
  if (summary.checked) {
    add(fmt::format("Checked {} events: count, time and data are the recording's",
                    summary.converted));
  }
  if (verbose) {
    add(fmt::format("{} CPU{} with events, pages of {} bytes", summary.cpus,
                    summary.cpus == 1 ? "" : "s", summary.page_size));
  }
  return lines;
}

}  // namespace perf2dat::command
