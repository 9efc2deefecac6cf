// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of this process that hold as long as the object lives.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>

namespace perf2dat::testing {

class ResourceLimit {
 public:
  ResourceLimit(int resource, std::uint64_t limit) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    const rlimit now{limit, before_.rlim_max};
    ::setrlimit(resource_, &now);
  }
  ResourceLimit(const ResourceLimit&) = delete;
  ResourceLimit& operator=(const ResourceLimit&) = delete;
  ~ResourceLimit() { ::setrlimit(resource_, &before_); }

 private:
  int resource_;
  rlimit before_{};
};

/// No file can grow beyond `size`: to whoever writes, it is as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t size)
      : signal_(std::signal(SIGXFSZ, SIG_IGN)), limit_(RLIMIT_FSIZE, size) {}
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { std::signal(SIGXFSZ, signal_); }

 private:
  void (*signal_)(int);
  ResourceLimit limit_;
};

#if defined(__SANITIZE_ADDRESS__)
#define PERF2DAT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PERF2DAT_ADDRESS_SANITIZER
#endif
#endif

/// `new` throws when it would take `bytes` more than the process has. The address sanitizer needs
/// memory of its own, and has a limit of its own: it ends the process that asks for too much.
class MemoryLimit {
#ifdef PERF2DAT_ADDRESS_SANITIZER

 public:
  explicit MemoryLimit(std::uint64_t) {}
#else

 public:
  explicit MemoryLimit(std::uint64_t bytes) : limit_(RLIMIT_AS, used() + bytes) {}

 private:
  static std::uint64_t used() {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }

  ResourceLimit limit_;
#endif
};

}  // namespace perf2dat::testing
