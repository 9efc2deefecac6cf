// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace perf2dat {

/// Whether this is built into a fuzzer.
inline constexpr bool kFuzzing =
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    true;
#else
    false;
#endif

/// A size of a buffer or a limit; in a fuzzer another. Its inputs are small, and what goes on where
/// a buffer ends is to be seen in them.
template <typename Size>
constexpr Size size_or_when_fuzzing(Size size, Size fuzzing) {
  return kFuzzing ? fuzzing : size;
}

}  // namespace perf2dat
