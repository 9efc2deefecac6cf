// SPDX-License-Identifier: LGPL-2.1-or-later
// What a kernel says of its trace events, as both file formats carry it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_order.h"

namespace perf2dat {

struct EventSystem {
  std::string name;                  ///< "sched"
  std::vector<std::string> formats;  ///< the text of each event's `format` file in tracefs
};

struct TracingData {
  ByteOrder order = ByteOrder::kLittle;
  std::uint8_t long_size = 8;      ///< bytes of user space's long
  std::uint32_t page_size = 4096;  ///< bytes of the recorded machine's page
  std::string header_page;         ///< the text of tracefs' events/header_page
  std::string header_event;        ///< the text of tracefs' events/header_event
  std::vector<std::string> ftrace_formats;
  std::vector<EventSystem> systems;
  std::string kallsyms;  ///< lines as in /proc/kallsyms; empty: not recorded
  std::string printk;    ///< lines as in tracefs' printk_formats; empty: not recorded
  std::string cmdlines;  ///< lines as in tracefs' saved_cmdlines; empty: not recorded
};

}  // namespace perf2dat
