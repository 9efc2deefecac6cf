// SPDX-License-Identifier: LGPL-2.1-or-later
// A recording: what its file says before the first record is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/attr.h"
#include "perfdata/features.h"
#include "perfdata/header.h"
#include "perfdata/record_stream.h"

namespace perf2dat::perfdata {

struct Recording {
  InputFile file;
  Header header;
  std::vector<Attr> attrs;
  Features features;

  static Expected<Recording> open(const std::string& path);

  RecordStream records() const { return {file, header.order, header.data}; }
};

}  // namespace perf2dat::perfdata
