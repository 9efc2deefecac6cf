// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "base/error.h"
#include "model/tracing_data.h"

namespace perf2dat::perfdata {

/// Reads event formats from a folder like the recorded machine's /sys/kernel/tracing, for
/// recordings that lack them: events/header_page, events/header_event, events/SYSTEM/EVENT/format,
/// printk_formats and saved_cmdlines. The last two may be missing. `order` is the recording's byte
/// order, which no file there tells.
Expected<TracingData> read_tracing_dir(const std::string& path, ByteOrder order);

}  // namespace perf2dat::perfdata
