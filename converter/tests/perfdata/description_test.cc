// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::AttrSpec;
using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::input_file;
using perf2dat::testing::MemoryLimit;
using perf2dat::testing::order_name;
using perf2dat::testing::PerfDataBuilder;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

Expected<Description> describe(const Bytes& bytes) {
  const InputFile file = input_file(bytes);
  const Header header = value_of(read_header(file));
  Description description;
  description.order = header.order;
  for (auto& attr : value_of(read_attrs(file, header))) add_attr(std::move(attr), description);
  P2D_TRY(read_features(file, header, description));
  return description;
}

std::vector<std::string> names_of(const Description& description) {
  std::vector<std::string> names;
  for (const auto& attr : description.attrs) names.push_back(attr.name);
  return names;
}

AttrSpec event(std::vector<std::uint64_t> ids, std::string name = {}) {
  AttrSpec attr;
  attr.ids = std::move(ids);
  attr.name = std::move(name);
  return attr;
}

class ReadFeatures : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  PerfDataBuilder builder() const {
    PerfDataBuilder made(order());
    made.add_bytes(Bytes(8));
    return made;
  }
  ByteWriter writer() const { return ByteWriter(order()); }

  /// An entry of EVENT_DESC's.
  static void write_event(ByteWriter& out, std::string_view name,
                          const std::vector<std::uint64_t>& ids) {
    out.zeros(128).u32(static_cast<std::uint32_t>(ids.size()));
    out.u32(static_cast<std::uint32_t>(name.size() + 1)).c_string(name);
    for (const std::uint64_t id : ids) out.u64(id);
  }

  /// Events of these ids, described by these bytes.
  Expected<Description> describe_events(const std::vector<std::vector<std::uint64_t>>& ids,
                                        const Bytes& description) const {
    PerfDataBuilder made = builder();
    made.leave_out_event_names().set_feature(Feature::kEventDesc, description);
    for (const auto& each : ids) made.add_attr(event(each));
    return describe(made.build());
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ReadFeatures, both_orders(), order_name);

TEST_P(ReadFeatures, FindsTheMachineAndTheFormats) {
  TracingData tracing;
  tracing.order = order();
  tracing.header_page = "page";
  const Description found = value_of(describe(builder()
                                                  .set_text_feature(Feature::kArch, "s390x")
                                                  .set_text_feature(Feature::kOsRelease, "7.2")
                                                  .set_tracing(tracing)
                                                  .set_cpus(3)
                                                  .set_text_feature(Feature::kHostname, "box")
                                                  .build()));
  EXPECT_EQ(found.hostname, "box");
  EXPECT_EQ(found.os_release, "7.2");
  EXPECT_EQ(found.arch, "s390x");
  EXPECT_EQ(found.cpus_available, 3U);
  ASSERT_TRUE(found.tracing);
  EXPECT_EQ(found.tracing->header_page, "page");
  EXPECT_EQ(found.tracing->order, order());
}

TEST_P(ReadFeatures, LeavesEmptyWhatIsNotThere) {
  const Description found =
      value_of(describe(builder().leave_out_event_names().add_attr(event({1}, "a:b")).build()));
  EXPECT_FALSE(found.tracing);
  EXPECT_EQ(found.hostname, "");
  EXPECT_EQ(found.os_release, "");
  EXPECT_EQ(found.arch, "");
  EXPECT_EQ(found.cpus_available, 0U);
  EXPECT_THAT(names_of(found), ElementsAre(""));
}

TEST_P(ReadFeatures, TakesTheCpusThatAreThereNotThoseOnline) {
  const Bytes cpus = writer().u32(64).u32(2).take();
  const Description found =
      value_of(describe(builder().set_feature(Feature::kCpuCount, cpus).build()));
  EXPECT_EQ(found.cpus_available, 64U);
}

TEST_P(ReadFeatures, ReadsStringsWithAndWithoutPadding) {
  const auto hostname_of = [&](std::uint32_t size, std::string_view text) {
    const Bytes bytes = writer().u32(size).text(text).take();
    return value_of(describe(builder().set_feature(Feature::kHostname, bytes).build())).hostname;
  };
  EXPECT_EQ(hostname_of(3, "box"), "box");
  EXPECT_EQ(hostname_of(4, std::string_view("box\0", 4)), "box");
  EXPECT_EQ(hostname_of(9, std::string_view("box\0\0\0\0\0\0", 9)), "box");
  EXPECT_EQ(hostname_of(2, "box"), "bo");
  EXPECT_EQ(hostname_of(0, "box"), "");
}

TEST_P(ReadFeatures, RefusesAStringThatIsLongerThanItsSection) {
  const MemoryLimit limit(8U << 20U);
  struct Text {
    Feature feature;
    std::string_view name;
  };
  for (const auto& [feature, name] : {Text{Feature::kHostname, "the host's name"},
                                      {Feature::kOsRelease, "the kernel's release"},
                                      {Feature::kArch, "the machine's name"}}) {
    for (const std::uint32_t size : {4U, 0x7fffffffU, 0xffffffffU}) {
      const Bytes bytes = writer().u32(size).text("box").take();
      EXPECT_THAT(error_of(describe(builder().set_feature(feature, bytes).build())),
                  AllOf(HasSubstr(name), HasSubstr(fmt::format("{} bytes expected", size))));
    }
    for (const std::size_t size : {0U, 1U, 3U}) {
      EXPECT_THAT(error_of(describe(builder().set_feature(feature, Bytes(size)).build())),
                  AllOf(HasSubstr(name), HasSubstr("4 bytes expected at offset 0x")));
    }
  }
}

TEST_P(ReadFeatures, RefusesANumberOfCpusThatIsCutShort) {
  EXPECT_THAT(error_of(describe(builder().set_feature(Feature::kCpuCount, Bytes(3)).build())),
              AllOf(HasSubstr("the number of CPUs"), HasSubstr("offset 0x")));
}

TEST_P(ReadFeatures, RefusesFormatsThatAreCutShort) {
  EXPECT_THAT(error_of(describe(builder().set_feature(Feature::kTracingData, Bytes(9)).build())),
              AllOf(HasSubstr("the event formats"), HasSubstr("offset 0x")));
}

TEST_P(ReadFeatures, GivesEventsTheirNamesByTheirIds) {
  ByteWriter description = writer();
  description.u32(3).u32(128);
  write_event(description, "third", {9, 30});
  write_event(description, "nobody's", {77});
  write_event(description, "first", {11, 10});
  const Description found = value_of(describe_events({{10, 11}, {20}, {30}}, description.data()));
  EXPECT_THAT(names_of(found), ElementsAre("first", "", "third"));
}

TEST_P(ReadFeatures, ReadsNamesOfAttrsOfAnySize) {
  for (const std::uint32_t size : {0U, 64U, 136U, 300U}) {
    const Bytes description =
        writer().u32(1).u32(size).zeros(size).u32(1).u32(4).text("name").u64(5).take();
    EXPECT_THAT(names_of(value_of(describe_events({{5}}, description))), ElementsAre("name"));
  }
}

TEST_P(ReadFeatures, GivesEventsWithoutIdsTheirNamesByTheirPlace) {
  ByteWriter description = writer();
  description.u32(2).u32(128);
  write_event(description, "one", {});
  write_event(description, "two", {});
  EXPECT_THAT(names_of(value_of(describe_events({{}, {}}, description.data()))),
              ElementsAre("one", "two"));
}

TEST_P(ReadFeatures, GivesNoNamesByPlaceWhenTheNumberOfEventsDiffers) {
  ByteWriter description = writer();
  description.u32(2).u32(128);
  write_event(description, "one", {});
  write_event(description, "two", {});
  EXPECT_THAT(names_of(value_of(describe_events({{}}, description.data()))), ElementsAre(""));
  EXPECT_THAT(names_of(value_of(describe_events({{}, {}, {}}, description.data()))),
              ElementsAre("", "", ""));
}

TEST_P(ReadFeatures, RefusesADescriptionOfEventsThatIsCutShortAtAnyByte) {
  ByteWriter description = writer();
  description.u32(2).u32(128);
  write_event(description, "one", {1, 2});
  write_event(description, "two", {3});
  for (std::size_t size = 0; size < description.size(); ++size) {
    const auto part = std::span(description.data()).first(size);
    EXPECT_THAT(error_of(describe_events({{1, 2}, {3}}, {part.begin(), part.end()})),
                AllOf(HasSubstr("the description of the events"), HasSubstr("offset 0x")));
  }
}

TEST_P(ReadFeatures, AllocatesNothingForHugeCountsInTheDescriptionOfEvents) {
  constexpr std::uint32_t kMany = 0xffffffff;
  const std::vector<Bytes> hostile = {
      writer().u32(kMany).u32(0).take(),
      writer().u32(kMany).u32(kMany).take(),
      writer().u32(1).u32(0).u32(kMany).u32(0).take(),
      writer().u32(kMany).u32(0).u32(kMany).u32(kMany).take(),
      writer().u32(kMany).u32(0).zeros(800).take(),
  };
  const MemoryLimit limit(8U << 20U);
  for (const Bytes& bytes : hostile) {
    EXPECT_THAT(error_of(describe_events({{1}}, bytes)),
                HasSubstr("the description of the events"));
  }
}

TEST_P(ReadFeatures, NamesNoMoreThanOneEventByOneName) {
  // Copies of a long name for each of many events would be more than any memory.
  std::vector<std::uint64_t> ids(5000);
  std::vector<std::vector<std::uint64_t>> ids_of_events;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = i + 1;
    ids_of_events.push_back({ids[i]});
  }
  const std::string name(500000, 'n');
  ByteWriter description = writer();
  description.u32(1).u32(128);
  write_event(description, name, ids);
  const MemoryLimit limit(64U << 20U);
  const Description found = value_of(describe_events(ids_of_events, description.data()));
  EXPECT_EQ(names_of(found).front().size(), name.size());
  EXPECT_EQ(names_of(found).back(), "");
}

TEST_P(ReadFeatures, RefusesATableThatReachesBeyondTheFile) {
  Bytes bytes = builder().leave_out_event_names().build();
  store(bytes.data() + 72, std::uint64_t{2}, order());  // the bitmap of features
  EXPECT_THAT(error_of(describe(bytes)),
              AllOf(HasSubstr("the table of features should have 16 bytes from 0x70 on"),
                    HasSubstr("the file ends at offset 0x70")));
}

TEST_P(ReadFeatures, RefusesSectionsOutsideTheFileAlsoThoseItDoesNotRead) {
  for (const unsigned bit : {1U, 2U, 3U, 12U, 31U, 64U, 255U}) {
    Bytes good = builder().leave_out_event_names().build();
    store(good.data() + 72 + std::size_t{bit} / 64 * 8, std::uint64_t{1} << bit % 64, order());
    // As another word's bit would be taken for a 32-bit machine's, one of the first is always set.
    store(good.data() + 72, load<std::uint64_t>(good.data() + 72, order()) | 1, order());
    const std::size_t table = good.size();
    good.resize(table + 32);
    for (const auto& [offset, size] : {std::pair{good.size(), 1UL},
                                       {good.size() + 1, 0UL},
                                       {0UL, good.size() + 1},
                                       {1UL, ~0UL},
                                       {~0UL, 1UL},
                                       {1UL << 63U, 1UL << 63U}}) {
      Bytes bytes = good;
      store(bytes.data() + table + 16, std::uint64_t{offset}, order());
      store(bytes.data() + table + 24, std::uint64_t{size}, order());
      EXPECT_THAT(error_of(describe(bytes)),
                  AllOf(HasSubstr(fmt::format(
                            "at offset {:#x} it places feature {} in {} bytes from {:#x} on",
                            table + 16, bit, size, offset)),
                        HasSubstr("truncated or damaged")));
    }
  }
}

TEST_P(ReadFeatures, AcceptsEmptySectionsThatItDoesNotReadAlsoAtTheFilesEnd) {
  const auto unread = static_cast<Feature>(2);
  const Bytes bytes = builder().leave_out_event_names().set_feature(unread, {}).build();
  EXPECT_TRUE(describe(bytes));
}

TEST_P(ReadFeatures, TakesTheTablesEntriesInTheOrderOfTheirBits) {
  // Features that are not read lie before, between and after those that are.
  const auto text = [&](std::string_view name) { return writer().u32(4).text(name).take(); };
  const Description found =
      value_of(describe(builder()
                            .set_feature(static_cast<Feature>(63), text("aaaa"))
                            .set_feature(Feature::kArch, text("arch"))
                            .set_feature(static_cast<Feature>(5), text("bbbb"))
                            .set_feature(Feature::kHostname, text("host"))
                            .set_feature(static_cast<Feature>(2), text("cccc"))
                            .build()));
  EXPECT_EQ(found.hostname, "host");
  EXPECT_EQ(found.arch, "arch");
  EXPECT_EQ(found.os_release, "");
}

TEST_P(ReadFeatures, FindsTheTimesOfTheFirstAndLastSample) {
  const Bytes times = writer().u64(1UL << 40U).u64((1UL << 40U) + 1).take();
  const Description found =
      value_of(describe(builder().set_feature(Feature::kSampleTime, times).build()));
  ASSERT_TRUE(found.sample_time);
  EXPECT_EQ(found.sample_time->first, 1UL << 40U);
  EXPECT_EQ(found.sample_time->last, (1UL << 40U) + 1);
}

TEST_P(ReadFeatures, TakesZerosAndTimesTheWrongWayRoundForUnknown) {
  for (const auto& [first, last] : {std::pair{0UL, 0UL}, {5UL, 0UL}, {6UL, 5UL}}) {
    const Bytes times = writer().u64(first).u64(last).take();
    EXPECT_FALSE(
        value_of(describe(builder().set_feature(Feature::kSampleTime, times).build())).sample_time);
  }
}

TEST_P(ReadFeatures, RefusesTimesThatAreCutShort) {
  for (std::size_t size = 0; size < 16; ++size) {
    const Bytes times(size, std::byte{1});
    EXPECT_THAT(error_of(describe(builder().set_feature(Feature::kSampleTime, times).build())),
                HasSubstr("the times of the first and last sample"));
  }
}

class ParseDescription : public ByteOrderTest {
 protected:
  ParseDescription() { description_.order = GetParam(); }
  ByteOrder order() const { return GetParam(); }
  ByteWriter writer() const { return ByteWriter(order()); }

  Expected<bool> take(RecordType type, const Bytes& body) {
    return parse_description({type, 0, 0x4700, body}, description_);
  }
  void take_event(std::vector<std::uint64_t> ids) {
    ByteWriter body = writer();
    body.bytes(testing::encode_attr(AttrSpec(), order()));
    for (const std::uint64_t id : ids) body.u64(id);
    EXPECT_TRUE(value_of(take(RecordType::kHeaderAttr, body.data())));
  }
  Bytes index(std::uint64_t count, const std::vector<std::uint64_t>& ids,
              const std::vector<std::uint64_t>& machines) const {
    ByteWriter body = writer();
    body.u64(count);
    for (const std::uint64_t id : ids) body.u64(id).u64(1).u64(2).u64(3);
    for (const std::uint64_t machine : machines) body.u64(machine).u64(9);
    return body.take();
  }

  Description description_;
};

INSTANTIATE_TEST_SUITE_P(Orders, ParseDescription, both_orders(), order_name);

TEST_P(ParseDescription, LeavesAllOtherRecordsAlone) {
  for (const std::uint32_t type : {1U, 9U, 65U, 66U, 68U, 71U, 79U, 81U, 84U, 0xffffffffU}) {
    EXPECT_FALSE(value_of(take(static_cast<RecordType>(type), {})));
  }
}

TEST_P(ParseDescription, AddsAnEventWithAllIdsUpToTheRecordsEnd) {
  AttrSpec spec;
  spec.config = 314;
  spec.size = 136;
  const Bytes bytes = testing::encode_attr(spec, order());
  const Bytes body = writer().bytes(bytes).u64(7).u64(1UL << 40U).zeros(7).take();
  EXPECT_TRUE(value_of(take(RecordType::kHeaderAttr, body)));
  take_event({});
  ASSERT_EQ(description_.attrs.size(), 2U);
  EXPECT_EQ(description_.attrs[0].config, 314U);
  EXPECT_THAT(description_.attrs[0].ids, ElementsAre(7U, 1UL << 40U));
  EXPECT_THAT(description_.attrs[1].ids, ElementsAre());
}

TEST_P(ParseDescription, RefusesAnEventThatIsCutShort) {
  const Bytes bytes = testing::encode_attr(AttrSpec(), order());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    error_of(take(RecordType::kHeaderAttr,
                  {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
}

TEST_P(ParseDescription, TakesAFeatureAndPassesOverUnknownOnes) {
  EXPECT_TRUE(value_of(
      take(RecordType::kHeaderFeature, writer().u64(3).u32(8).c_string("host").zeros(3).take())));
  EXPECT_EQ(description_.hostname, "host");
  for (const std::uint64_t feature : {2UL, 255UL, 256UL, (1UL << 32U) + 3, ~0UL}) {
    EXPECT_TRUE(value_of(take(RecordType::kHeaderFeature, writer().u64(feature).take())));
  }
  EXPECT_EQ(description_.hostname, "host");
}

TEST_P(ParseDescription, RefusesAFeatureThatIsCutShort) {
  for (std::size_t size = 0; size < 8; ++size) {
    EXPECT_THAT(error_of(take(RecordType::kHeaderFeature, Bytes(size))),
                AllOf(HasSubstr("the record of a feature"), HasSubstr("0x4708")));
  }
  EXPECT_THAT(error_of(take(RecordType::kHeaderFeature, writer().u64(3).u32(9).zeros(8).take())),
              AllOf(HasSubstr("the host's name"), HasSubstr("9 bytes expected at offset 0x4714")));
}

TEST_P(ParseDescription, RenamesTheEventThatHasTheId) {
  take_event({1, 2});
  take_event({3});
  EXPECT_TRUE(value_of(take(RecordType::kEventUpdate,
                            writer().u64(2).u64(2).c_string("sched:sched_waking").take())));
  EXPECT_TRUE(value_of(take(RecordType::kEventUpdate, writer().u64(2).u64(3).text("full").take())));
  EXPECT_TRUE(value_of(take(RecordType::kEventUpdate, writer().u64(2).u64(9).text("x").take())));
  EXPECT_THAT(names_of(description_), ElementsAre("sched:sched_waking", "full"));
}

TEST_P(ParseDescription, PassesOverUpdatesThatAreNoNames) {
  take_event({1});
  for (const std::uint64_t kind : {0UL, 1UL, 3UL, (1UL << 32U) + 2}) {
    EXPECT_TRUE(
        value_of(take(RecordType::kEventUpdate, writer().u64(kind).u64(1).text("unit").take())));
  }
  EXPECT_THAT(names_of(description_), ElementsAre(""));
}

TEST_P(ParseDescription, RefusesAnUpdateThatIsCutShort) {
  for (std::size_t size = 0; size < 16; ++size) {
    EXPECT_THAT(error_of(take(RecordType::kEventUpdate, Bytes(size))),
                HasSubstr("the record of an event's update"));
  }
}

TEST_P(ParseDescription, FindsTheIdsOfGuestsByTheirMachine) {
  EXPECT_TRUE(value_of(take(RecordType::kIdIndex, index(3, {5, 6, 1UL << 40U}, {0, 77, 1}))));
  EXPECT_TRUE(value_of(take(RecordType::kIdIndex, index(1, {8}, {1UL << 32U}))));
  EXPECT_THAT(description_.guest_ids, ::testing::UnorderedElementsAre(6U, 1UL << 40U, 8U));
}

TEST_P(ParseDescription, FindsNoGuestsInAnIndexWithoutMachines) {
  EXPECT_TRUE(value_of(take(RecordType::kIdIndex, index(2, {5, 6}, {}))));
  EXPECT_TRUE(value_of(take(RecordType::kIdIndex, index(2, {5, 6}, {7}))));
  EXPECT_TRUE(value_of(take(RecordType::kIdIndex, index(0, {}, {}))));
  EXPECT_THAT(description_.guest_ids, ::testing::IsEmpty());
}

TEST_P(ParseDescription, RefusesAnIndexWithMoreEntriesThanItHasRoomFor) {
  const MemoryLimit limit(8U << 20U);
  for (const std::uint64_t count :
       {3UL, 4UL, 1UL << 27U, 1UL << 59U, (1UL << 59U) + 2, 1UL << 63U, ~0UL}) {
    EXPECT_THAT(error_of(take(RecordType::kIdIndex, index(count, {5, 6}, {}))),
                AllOf(HasSubstr(fmt::format("has {} entries, but room for 2", count)),
                      HasSubstr("0x4700")));
  }
  for (std::size_t size = 0; size < 8; ++size) {
    EXPECT_THAT(error_of(take(RecordType::kIdIndex, Bytes(size))), HasSubstr("the index of ids"));
  }
}

}  // namespace
}  // namespace perf2dat::perfdata
