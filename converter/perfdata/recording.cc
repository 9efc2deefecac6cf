// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/recording.h"

namespace perf2dat::perfdata {

Expected<Recording> Recording::open(const std::string& path) {
  P2D_ASSIGN(auto file, InputFile::open(path));
  P2D_ASSIGN(const auto header, read_header(file));
  P2D_ASSIGN(auto attrs, read_attrs(file, header));
  P2D_ASSIGN(auto features, read_features(file, header, attrs));
  return Recording{std::move(file), header, std::move(attrs), std::move(features)};
}

}  // namespace perf2dat::perfdata
