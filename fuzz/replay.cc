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
#include <memory>
#include <string>
#include <vector>

#include "property.h"

// The sanitizers' own interface; not there in other builds.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

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

void tell() { std::fprintf(stderr, "with the input %s\n", running.c_str()); }

extern "C" void end(int /*signal*/) {
  tell();
  std::_Exit(1);
}

void tell_at_the_end() {
  // The sanitizers end the process themselves, and the address sanitizer takes signals, too.
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(tell);
  std::signal(SIGABRT, end);
  if (__sanitizer_set_death_callback != nullptr) return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, end);
}

}  // namespace

int main(int argc, char** argv) {
  tell_at_the_end();
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : files_of(argv[i])) {
      std::ifstream file(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
      if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        return 2;
      }
      running = path.string();
      // Exactly as large, so that the sanitizer sees what reads beyond it.
      const auto bytes = std::make_unique<std::uint8_t[]>(text.size());
      std::copy(text.begin(), text.end(), bytes.get());
      LLVMFuzzerTestOneInput(bytes.get(), text.size());
      ++count;
    }
  }
  std::printf("%zu inputs\n", count);
  // Nothing was tried: the folder is another than was meant.
  return count == 0 ? 2 : 0;
}
