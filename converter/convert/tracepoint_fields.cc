// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert/tracepoint_fields.h"

#include <utility>

#include "model/event_format.h"

namespace perf2dat {

Expected<TracepointFields> TracepointFields::find(const TracingData& tracing) {
  TracepointFields fields;
  fields.order_ = tracing.order;
  const auto field_of = [](const EventFormat& format, std::string_view name) {
    const EventField* const field = format.find(name);
    return field == nullptr ? Field{} : Field{field->offset, field->size};
  };
  constexpr std::size_t kPidSize = sizeof(std::uint32_t);
  for (const auto& system : tracing.systems) {
    for (const auto& text : system.formats) {
      const auto format = parse_event_format(text);
      if (!format) continue;
      // The kernel's names are short. A copy of a long one for each format could ask for much
      // memory.
      constexpr std::size_t kLongestName = 100;
      fields.names_.emplace(format->id, system.name.substr(0, kLongestName) + ':' +
                                            format->name.substr(0, kLongestName));
      if (fields.common_pid_.size == 0) fields.common_pid_ = field_of(*format, "common_pid");
      if (system.name != "sched" || format->name != "sched_switch") continue;
      const Field prev_pid = field_of(*format, "prev_pid");
      const Field next_pid = field_of(*format, "next_pid");
      if (prev_pid.size != kPidSize || next_pid.size != kPidSize) continue;
      fields.switch_id_ = format->id;
      fields.prev_pid_ = prev_pid;
      fields.next_pid_ = next_pid;
      fields.prev_comm_ = field_of(*format, "prev_comm");
      fields.next_comm_ = field_of(*format, "next_comm");
    }
  }
  if (fields.common_pid_.size == kPidSize) return fields;
  return input_error("its event formats do not describe common_pid as a number of 4 bytes");
}

std::string TracepointFields::name_of(std::uint64_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? std::string() : found->second;
}

void TracepointFields::take_switch_names(std::uint64_t time, std::span<const std::byte> raw,
                                         CommTable& comms) const {
  for (const auto& [pid, comm] :
       {std::pair{prev_pid_, prev_comm_}, std::pair{next_pid_, next_comm_}}) {
    if (!inside(raw, pid) || !inside(raw, comm)) continue;
    const std::string_view text(reinterpret_cast<const char*>(raw.data()) + comm.offset, comm.size);
    comms.see_switch(time, load<std::uint32_t>(raw.data() + pid.offset, order_), text);
  }
}

}  // namespace perf2dat
