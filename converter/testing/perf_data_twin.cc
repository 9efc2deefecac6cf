// SPDX-License-Identifier: LGPL-2.1-or-later
// perf_data_twin [--same-order] [--stream | --compressed] IN OUT: writes the recording IN as a
// machine of the other byte order, or of the same one, would have: to a file, to a pipe, or
// compressed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "testing/twin.h"

int main(int argc, char** argv) {
  using perf2dat::testing::PerfDataBuilder;
  std::string in;
  std::string out_path;
  bool same_order = false;
  bool stream = false;
  bool compressed = false;
  CLI::App app;
  app.add_option("IN", in)->required();
  app.add_option("OUT", out_path)->required();
  app.add_flag("--same-order", same_order);
  app.add_flag("--stream", stream);
  app.add_flag("--compressed", compressed);
  CLI11_PARSE(app, argc, argv);

  auto recording = perf2dat::perfdata::Recording::open(in, {});
  if (!recording) {
    fmt::print(stderr, "perf_data_twin: {}: {}\n", in, recording.error().message);
    return 1;
  }
  const auto order = same_order ? recording->order() : perf2dat::other(recording->order());
  auto twin = perf2dat::testing::make_twin(*recording, order);
  if (!twin) {
    fmt::print(stderr, "perf_data_twin: {}: {}\n", in, twin.error().message);
    return 1;
  }
  if (compressed) twin->compress(perf2dat::perfdata::RecordType::kCompressed);
  const auto bytes =
      stream ? twin->build_stream(PerfDataBuilder::kTracingRecordSize) : twin->build();
  std::ofstream out(out_path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? 0 : 1;
}
