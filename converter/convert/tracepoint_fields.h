// SPDX-License-Identifier: LGPL-2.1-or-later
// The few fields of tracepoints' data that a conversion looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/comm_table.h"
#include "model/tracing_data.h"

namespace perf2dat {

class TracepointFields {
 public:
  /// Finds the fields in the event formats. Fails when these do not describe common_pid.
  static Expected<TracepointFields> find(const TracingData& tracing);

  /// "sched:sched_switch" by the event's id; empty: the formats do not have it.
  std::string name_of(std::uint64_t id) const;

  /// The data is long enough for the fields that all tracepoints have.
  bool has_common_fields(std::span<const std::byte> raw) const { return inside(raw, common_pid_); }
  /// The pid of the task that ran, as the kernel numbers it.
  std::uint32_t common_pid(std::span<const std::byte> raw) const {
    return load<std::uint32_t>(raw.data() + common_pid_.offset, order_);
  }

  bool is_switch(std::uint64_t id) const { return id == switch_id_; }
  /// Tells the table the names that a sched_switch gives.
  void take_switch_names(std::uint64_t time, std::span<const std::byte> raw,
                         CommTable& comms) const;

 private:
  struct Field {
    std::size_t offset = 0;
    std::size_t size = 0;
  };

  static bool inside(std::span<const std::byte> raw, Field field) {
    return field.size <= raw.size() && field.offset <= raw.size() - field.size;
  }

  ByteOrder order_ = ByteOrder::kLittle;
  std::map<std::uint64_t, std::string> names_;
  Field common_pid_;
  std::uint64_t switch_id_ = ~0ULL;
  Field prev_comm_, prev_pid_, next_comm_, next_pid_;
};

}  // namespace perf2dat
