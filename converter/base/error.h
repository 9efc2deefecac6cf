// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors as values: how the library's own code makes them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "perf2dat/perf2dat.h"

namespace perf2dat {

using Failure = tl::unexpected<Error>;

template <typename... Args>
Failure input_error(fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{Error::Kind::kInput, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
Failure output_error(fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{Error::Kind::kOutput, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
Failure check_error(fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{Error::Kind::kCheck, fmt::format(format, std::forward<Args>(args)...)});
}

/// "WHAT at offset 0x..: N more bytes expected": the reader has failed while reading WHAT.
inline Failure cut_short(std::string_view what, const ByteReader& reader) {
  const auto failure = reader.failure().value_or(ByteReader::Failure{reader.offset(), 0});
  return input_error("{} ends too early: {} bytes expected at offset {:#x}", what, failure.wanted,
                     failure.offset);
}

}  // namespace perf2dat

// Hands an error on to the caller, else goes on. For calls whose value is not wanted.
#define P2D_TRY(expression)                                                \
  do {                                                                     \
    auto p2d_result = (expression);                                        \
    if (!p2d_result) return tl::unexpected(std::move(p2d_result).error()); \
  } while (false)

#define P2D_JOIN2(a, b) a##b
#define P2D_JOIN(a, b) P2D_JOIN2(a, b)

// P2D_ASSIGN(auto x, f()): x gets the value, or the caller gets the error.
#define P2D_ASSIGN(target, expression) \
  P2D_ASSIGN_AS(P2D_JOIN(p2d_result_, __LINE__), target, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be in parentheses.
#define P2D_ASSIGN_AS(result, target, expression)                \
  auto result = (expression);                                    \
  if (!result) return tl::unexpected(std::move(result).error()); \
  target = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)
