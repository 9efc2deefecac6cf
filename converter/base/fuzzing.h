// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace perf2dat {

/// A size of a buffer or a limit; in a fuzzer another. Its inputs are small, and what goes on where
/// a buffer ends is to be seen in them.
template <typename Size>
constexpr Size size_or_when_fuzzing([[maybe_unused]] Size size, [[maybe_unused]] Size fuzzing) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return fuzzing;
#else
  return size;
#endif
}

}  // namespace perf2dat
