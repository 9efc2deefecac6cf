// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory_watch.h"

#include <atomic>

// The sanitizers' own interface (sanitizer/allocator_interface.h); not there in other builds.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void*, std::size_t),
    void (*free_hook)(const volatile void*));
__attribute__((weak)) std::size_t __sanitizer_get_allocated_size(const volatile void* p);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace perf2dat::fuzz {
namespace {

std::atomic<std::int64_t> allocated;  // since the watch began; less than 0: more was freed
std::atomic<std::int64_t> most;

void on_malloc(const volatile void* /*pointer*/, std::size_t size) {
  const auto now = allocated += static_cast<std::int64_t>(size);
  if (now > most) most = now;
}

void on_free(const volatile void* pointer) {
  allocated -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(pointer));
}

}  // namespace

MemoryWatch::MemoryWatch() {
  static bool installed = __sanitizer_install_malloc_and_free_hooks != nullptr &&
                          __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
  static_cast<void>(installed);
  allocated = 0;
  most = 0;
}

std::size_t MemoryWatch::peak() { return static_cast<std::size_t>(most.load()); }

}  // namespace perf2dat::fuzz
