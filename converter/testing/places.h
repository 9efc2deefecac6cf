// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef PERF2DAT_TESTING_PLACES_H
#define PERF2DAT_TESTING_PLACES_H

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace perf2dat::testing {

/// How far apart the bytes are that tests of every byte try: 1, or what TEST_PLACES_STEP says.
/// Emulated machines take a hundred times as long, and what they can show is in few of the bytes;
/// an odd step comes to each byte of numbers of any size.
inline std::size_t places_step() {
  static const std::size_t kStep = [] {
    const char* const text = std::getenv("TEST_PLACES_STEP");
    return text == nullptr ? 1 : std::max<std::size_t>(1, std::stoul(text));
  }();
  return kStep;
}

}  // namespace perf2dat::testing

#endif  // PERF2DAT_TESTING_PLACES_H
