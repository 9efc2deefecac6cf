// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert/tracepoint_fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/recordings.h"

namespace perf2dat {
namespace {

using testing::both_orders;
using testing::ByteOrderTest;
using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::order_name;
using ::testing::Pair;
using testing::value_of;

using TracepointFieldsTest = ByteOrderTest;
INSTANTIATE_TEST_SUITE_P(Orders, TracepointFieldsTest, both_orders(), order_name);

/// A sched_switch that has its previous task only, with fields of that place and size.
std::string switch_format(std::uint64_t id, std::uint32_t pid_offset, std::uint32_t pid_size) {
  return fmt::format(
      "name: sched_switch\nID: {}\nformat:\n"
      "\tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n"
      "\tfield:char prev_comm[4];\toffset:4;\tsize:4;\tsigned:0;\n"
      "\tfield:pid_t prev_pid;\toffset:{};\tsize:{};\tsigned:1;\n"
      "\tfield:pid_t next_pid;\toffset:{};\tsize:{};\tsigned:1;\n",
      id, pid_offset, pid_size, pid_offset, pid_size);
}

TracepointFields fields_of(ByteOrder order, std::vector<std::string> formats) {
  TracingData tracing;
  tracing.order = order;
  tracing.systems = {{"sched", std::move(formats)}};
  return value_of(TracepointFields::find(tracing));
}

/// What a sched_switch names. The data is exactly as large as it is: a sanitizer sees all else.
auto names_of(const TracepointFields& fields, std::string_view data) {
  const auto exact = std::make_unique<std::byte[]>(data.size());
  std::copy_n(reinterpret_cast<const std::byte*>(data.data()), data.size(), exact.get());
  CommTable comms;
  fields.take_switch_names(1, {exact.get(), data.size()}, comms);
  return comms.names();
}

TEST_P(TracepointFieldsTest, OfASwitchAreThoseOfTheFormatWithItsId) {
  // The second says nothing of use, so the first stays, with its id and its fields.
  for (const std::uint32_t size : {0U, 1U, 2U, 3U, 8U}) {
    const auto fields =
        fields_of(GetParam(), {switch_format(316, 8, 4), switch_format(317, 12, size)});
    EXPECT_TRUE(fields.is_switch(316));
    EXPECT_FALSE(fields.is_switch(317));
    EXPECT_THAT(names_of(fields, std::string_view("\0\0\0\0name\7\7\7\7", 12)),
                ElementsAre(Pair(0x07070707U, "name")));
  }
  // The last one of two that do.
  const auto fields = fields_of(GetParam(), {switch_format(316, 8, 4), switch_format(317, 12, 4)});
  EXPECT_FALSE(fields.is_switch(316));
  EXPECT_TRUE(fields.is_switch(317));
}

TEST_P(TracepointFieldsTest, AreReadOnlyWhereTheyAreInsideTheData) {
  for (const std::uint32_t offset : {8U, 9U, 0x7fffffffU, 0xfffffffaU, 0xfffffffcU, 0xffffffffU}) {
    const auto fields = fields_of(GetParam(), {switch_format(316, offset, 4)});
    for (std::size_t size = 0; size < 14; ++size) {
      const std::string data(size, 'x');
      if (size < 4ULL + offset) {
        EXPECT_THAT(names_of(fields, data), IsEmpty()) << offset << " " << size;
      } else {
        EXPECT_THAT(names_of(fields, data), ElementsAre(Pair(0x78787878U, "xxxx")));
      }
      EXPECT_EQ(fields.has_common_fields(std::as_bytes(std::span(data))), size >= 4);
    }
  }
}

}  // namespace
}  // namespace perf2dat
