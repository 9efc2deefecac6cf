// SPDX-License-Identifier: LGPL-2.1-or-later
// The plain driver of a fuzz target, for any compiler: TARGET_replay FILE|FOLDER... gives each file
// to the target once. A broken property ends the process; the file's name is told before that.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "property.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string running;  // told when the process ends on it

extern "C" void tell(int /*signal*/) {
  std::fprintf(stderr, "with the input %s\n", running.c_str());
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, tell);
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : files_of(argv[i])) {
      std::ifstream file(path, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file),
                              std::istreambuf_iterator<char>()};
      if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        return 2;
      }
      running = path.string();
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("%zu inputs\n", count);
  // Nothing was tried: the folder is another than was meant.
  return count == 0 ? 2 : 0;
}
