// SPDX-License-Identifier: LGPL-2.1-or-later
// What a test wants of an Expected: the value, or what the error says.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"

namespace perf2dat::testing {

/// The value; the test fails with the error's message when there is none.
template <typename T>
T value_of(Expected<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// The message of an error, of which every one is a single line of some kind.
template <typename T>
std::string error_of(const Expected<T>& result, Error::Kind kind = Error::Kind::kInput) {
  if (result) {
    ADD_FAILURE() << "there is no error";
    return {};
  }
  const std::string& message = result.error().message;
  EXPECT_EQ(result.error().kind, kind) << message;
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find_first_of("\r\n"), std::string::npos) << message;
  return message;
}

}  // namespace perf2dat::testing
