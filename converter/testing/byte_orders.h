// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that run once for each byte order.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/byte_order.h"

namespace perf2dat::testing {

using ByteOrderTest = ::testing::TestWithParam<ByteOrder>;

inline std::string order_name(const ::testing::TestParamInfo<ByteOrder>& order) {
  return order.param == ByteOrder::kLittle ? "LittleEndian" : "BigEndian";
}

inline auto both_orders() { return ::testing::Values(ByteOrder::kLittle, ByteOrder::kBig); }

}  // namespace perf2dat::testing
