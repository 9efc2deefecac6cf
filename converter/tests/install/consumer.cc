// SPDX-License-Identifier: LGPL-2.1-or-later
// consumer IN OUT: the shortest program that uses the library.
#include <perf2dat/perf2dat.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  perf2dat::Options options;
  options.input = argv[1];
  options.output = argv[2];
  const auto summary = perf2dat::convert(options);
  if (!summary) {
    std::fprintf(stderr, "%s\n", summary.error().message.c_str());
    return 1;
  }
  std::printf("%llu events\n", static_cast<unsigned long long>(summary->converted));
  return 0;
}
