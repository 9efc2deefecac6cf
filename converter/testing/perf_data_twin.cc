// SPDX-License-Identifier: LGPL-2.1-or-later
// perf_data_twin IN OUT: writes the recording IN as a machine of the other byte order would have.
#include <cstdio>
#include <fstream>

#include "testing/twin.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: perf_data_twin IN OUT\n");
    return 2;
  }
  const auto recording = perf2dat::perfdata::Recording::open(argv[1]);
  if (!recording) {
    fmt::print(stderr, "perf_data_twin: {}: {}\n", argv[1], recording.error().message);
    return 1;
  }
  const auto twin = perf2dat::testing::make_twin(*recording);
  if (!twin) {
    fmt::print(stderr, "perf_data_twin: {}: {}\n", argv[1], twin.error().message);
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(twin->data()),
            static_cast<std::streamsize>(twin->size()));
  out.close();
  return out ? 0 : 1;
}
