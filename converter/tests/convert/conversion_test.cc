// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of a recording that can be converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "perf2dat/perf2dat.h"
#include "perfdata/recording.h"
#include "testing/byte_orders.h"
#include "testing/conversions.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"
#include "testing/recordings.h"
#include "testing/twin.h"

namespace perf2dat {

// gtest prints what differs.
static void PrintTo(const LeftOut& left_out, std::ostream* out) {
  *out << fmt::format("{{reason {}, {}, {}}}", static_cast<int>(left_out.reason), left_out.event,
                      left_out.count);
}

namespace testing {
namespace {

using perfdata::Feature;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Reason = LeftOut::Reason;

auto left_out(Reason reason, std::string_view event, std::uint64_t count) {
  return AllOf(Field(&LeftOut::reason, reason), Field(&LeftOut::event, std::string(event)),
               Field(&LeftOut::count, count));
}

class Conversions : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  PerfDataBuilder pings() const { return ping_recording(order()); }
  SampleSpec ping(At at, std::uint64_t value = 0, std::uint32_t pid = 7) const {
    return testing::ping(order(), at, value, pid);
  }
  static std::string cmdlines_of(const PerfDataBuilder& builder) {
    return convert_bytes(builder.build()).output.cmdlines;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, Conversions, both_orders(), order_name);

TEST_P(Conversions, KeepEveryEventOfSeveralWithItsTimeCpuAndData) {
  PerfDataBuilder builder(order());
  builder.set_tracing(kernel(order()));
  builder.add_attr(tracepoint(kSwitch, {1, 2}, "sched:sched_switch"));
  builder.add_attr(tracepoint(kWakeup, {3, 4}, "sched:sched_wakeup"));
  builder.add_attr(tracepoint(kPing, {5, 1UL << 50U}, "test:ping"));
  const std::vector<SampleSpec> samples = {
      sample({1, 100, 0}, order(), switch_payload(order(), {7, "seven"}, {8, "eight"})),
      sample({4, 90, 5}, order(), wakeup_payload(order(), 7, {8, "eight"})),
      sample({3, 100, 0}, order(), wakeup_payload(order(), 7, {8, "eight"})),
      sample({2, 110, 0}, order(), switch_payload(order(), {8, "eight"}, {0, "swapper/0"})),
      ping({1UL << 50U, ~0UL, 5}, 0x0123456789abcdef),
      ping({5, 111, 0}, 1),
  };
  const std::map<std::size_t, std::size_t> attr_by_size = {{64, 0}, {36, 1}, {16, 2}};
  for (const auto& each : samples) builder.add_sample(attr_by_size.at(each.raw.size()), each);
  const auto [summary, output] = convert_bytes(builder.build());
  EXPECT_TRUE(output.events == sorted(events_of(samples)));
  EXPECT_EQ(output.contents.format.order, order());
  EXPECT_EQ(summary.converted, 6U);
  EXPECT_EQ(summary.cpus, 2U);
  EXPECT_THAT(summary.left_out, IsEmpty());
  EXPECT_THAT(summary.warnings, IsEmpty());
}

TEST_P(Conversions, CopyRawDataUntouchedWhateverItsLength) {
  std::vector<SampleSpec> samples;
  PerfDataBuilder builder = pings();
  for (std::size_t size = 8; size < 300; ++size) {
    SampleSpec spec = ping({1, 1000 + size, 0});
    for (std::size_t i = spec.raw.size(); i < size; ++i) spec.raw.push_back(std::byte(size + i));
    spec.raw.resize(size);
    builder.add_sample(0, spec);
    samples.push_back(spec);
  }
  EXPECT_TRUE(convert_bytes(builder.build()).output.events == events_of(samples));
}

TEST_P(Conversions, CountSamplesOfOtherEventsByName) {
  AttrSpec nameless = cpu_clock({8});
  nameless.name.clear();
  nameless.type = 4;
  nameless.config = 0xc0;
  const auto bytes = pings()
                         .add_attr(cpu_clock({5, 6}))
                         .add_attr(nameless)
                         .add_attr(tracepoint(kWakeup, {9}, "sched:sched_wakeup"))
                         .add_sample(1, sample({5, 90, 0}, order(), {}))
                         .add_sample(0, ping({1, 100, 0}))
                         .add_sample(1, sample({6, 110, 0}, order(), {}))
                         .add_sample(2, sample({8, 120, 0}, order(), {}))
                         .build();
  const auto [summary, output] = convert_bytes(bytes);
  EXPECT_EQ(summary.converted, 1U);
  EXPECT_THAT(summary.left_out,
              ElementsAre(left_out(Reason::kNotTracepoint, "cpu-clock", 2),
                          left_out(Reason::kNotTracepoint, "event type 4 config 0xc0", 1)));
}

// perf record -e '{a,b}:S' samples the first event only, and counts the others meanwhile.
TEST_P(Conversions, WarnOfEventsThatAreCountedInSamplesOfTheirGroupsLeader) {
  const auto recorded = [&](bool in_groups, AttrSpec leader) {
    leader.sample_type |= perfdata::kSampleRead;
    leader.read_format = in_groups ? std::uint64_t{perfdata::kReadGroup} : 0;
    const bool is_ping = leader.config == kPing;
    SampleSpec spec = is_ping ? ping({5, 100, 0}) : sample({5, 100, 0}, order(), {});
    spec.read = in_groups ? std::vector<std::uint64_t>{1, 7} : std::vector<std::uint64_t>{7};
    return PerfDataBuilder(order())
        .set_tracing(testing::kernel(order()))
        .add_attr(leader)
        .add_attr(tracepoint(kWakeup, {9}, "sched:sched_wakeup"))
        .add_sample(0, spec)
        .build();
  };
  const AttrSpec ping_attr = tracepoint(kPing, {5}, "test:ping");
  EXPECT_THAT(convert_bytes(recorded(true, ping_attr)).summary.warnings,
              ElementsAre(HasSubstr("in groups (:S)")));
  EXPECT_THAT(convert_bytes(recorded(false, ping_attr)).summary.warnings, IsEmpty());
  EXPECT_THAT(Workshop(recorded(true, cpu_clock({5}))).error(), HasSubstr("without :S"));
  EXPECT_THAT(Workshop(recorded(false, cpu_clock({5}))).error(), HasSubstr("did not fire"));
}

TEST_P(Conversions, ThatLackNamesTakeThemFromTheFormats) {
  const auto bytes = pings()
                         .leave_out_event_names()
                         .add_sample(0, ping({1, 100, 0}))
                         .add_sample(0, sample({1, 101, 0}, order(), Bytes(4)))
                         .build();
  EXPECT_THAT(convert_bytes(bytes).summary.left_out,
              ElementsAre(left_out(Reason::kNoRawData, "test:ping", 1)));
}

TEST_P(Conversions, PutEventsInOrderThatComeUnorderedAcrossRounds) {
  std::mt19937 random(42);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::vector<SampleSpec> samples;
  PerfDataBuilder builder = pings();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    // Times repeat, and lie up to three rounds apart.
    const std::uint64_t time = 1000 + i / 100 * 100 + random() % 400;
    samples.push_back(ping({1, time, static_cast<std::uint32_t>(random() % 3)}, i));
    builder.add_sample(0, samples.back());
    if (i % 100 == 99) builder.add_finished_round();
  }
  EXPECT_TRUE(convert_bytes(builder.build()).output.events == sorted(events_of(samples)));
}

TEST_P(Conversions, PutBackwardEventsInOrder) {
  std::vector<SampleSpec> samples;
  PerfDataBuilder builder = pings();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    samples.push_back(ping({1, 5000 - i, 2}, i));
    builder.add_sample(0, samples.back());
  }
  EXPECT_TRUE(convert_bytes(builder.build()).output.events == sorted(events_of(samples)));
}

TEST_P(Conversions, NameTasksByCommRecords) {
  EXPECT_EQ(cmdlines_of(pings()
                            .add_comm(5, 5, "five")
                            .add_comm(5, 6, "a thread")
                            .add_comm(0, 0, "swapper")
                            .add_sample(0, ping({1, 100, 0}))),
            "5 five\n6 a thread\n");
}

TEST_P(Conversions, TakeTheLatestNameNotTheLastInTheFile) {
  EXPECT_EQ(cmdlines_of(pings()
                            .add_comm(5, 5, "late", trailer_at(300, 1))
                            .add_comm(5, 5, "early", trailer_at(200, 1))
                            .add_sample(0, ping({1, 100, 0}))),
            "5 late\n");
}

TEST_P(Conversions, TakeTheLastNameInTheFileWhereNamesHaveNoTime) {
  PerfDataBuilder builder(order());
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_id_all = false;
  builder.set_tracing(kernel(order())).add_attr(attr);
  builder.add_comm(5, 5, "first").add_sample(0, ping({1, 100, 0}));
  builder.add_comm(5, 5, "second").add_sample(0, ping({1, 50, 0})).add_comm(6, 6, "six");
  EXPECT_EQ(cmdlines_of(builder), "5 second\n6 six\n");
}

TEST_P(Conversions, TakeANameWithoutATimeForOneThatCameWhenItWasWritten) {
  PerfDataBuilder builder(order());
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_id_all = false;
  builder.set_tracing(kernel(order())).add_attr(attr);
  builder.add_comm(5, 5, "parent").add_sample(0, ping({1, 100, 0}));
  // A fork tells its time itself: it is after the first name and before the second.
  builder.add_fork(8, 5, 8, 5, 50).add_comm(8, 8, "own name");
  EXPECT_EQ(cmdlines_of(builder), "5 parent\n8 own name\n");
}

TEST_P(Conversions, ReadTheTimeOfANameFromTheEventOfItsTrailer) {
  // The events' trailers differ: what comes after the time is 8 bytes longer in the second's.
  AttrSpec longer = tracepoint(kWakeup, {2}, "sched:sched_wakeup");
  longer.sample_type |= perfdata::kSampleStreamId;
  PerfDataBuilder first = pings().add_attr(longer);
  const auto body = [&](std::string_view comm, std::uint64_t time) {
    ByteWriter out(order());
    out.u32(5).u32(5).c_string(comm).align(8);
    out.u32(5).u32(5).u64(time).u64(12345678).u64(0).u64(
        2);  // TID, TIME, STREAM_ID, CPU, IDENTIFIER
    return out.take();
  };
  first.add_record(3, 0, body("late", 300)).add_record(3, 0, body("early", 200));
  EXPECT_EQ(cmdlines_of(first.add_sample(0, ping({1, 100, 0}))), "5 late\n");
}

TEST_P(Conversions, NameForkedTasksAfterTheirParents) {
  EXPECT_EQ(cmdlines_of(pings()
                            .add_fork(8, 5, 8, 5, 250, trailer_at(250, 1))
                            .add_fork(9, 5, 9, 5, 350, trailer_at(350, 1))
                            .add_comm(5, 5, "old", trailer_at(200, 1))
                            .add_comm(5, 5, "new", trailer_at(300, 1))
                            .add_comm(9, 9, "own", trailer_at(360, 1))
                            .add_fork(8, 5, 8, 5, 400, trailer_at(400, 1), 4)  // an exit
                            .add_sample(0, ping({1, 100, 0}))),
            "5 new\n8 old\n9 own\n");
}

TEST_P(Conversions, NameTasksBySchedSwitchWhereNoRecordDoes) {
  PerfDataBuilder builder(order());
  builder.set_tracing(kernel(order())).add_attr(tracepoint(kSwitch, {1}, "sched:sched_switch"));
  builder.add_comm(5, 5, "by record", trailer_at(50, 1));
  const auto add = [&](std::uint64_t time, const Task& prev, const Task& next) {
    builder.add_sample(0, sample({1, time, 0}, order(), switch_payload(order(), prev, next)));
  };
  add(100, {5, "by switch"}, {6, "sixteen letters!"});
  add(300, {7, "late"}, {0, "swapper/0"});
  add(200, {7, "early"}, {8, "eight"});
  EXPECT_EQ(cmdlines_of(builder), "5 by record\n6 sixteen letters!\n7 late\n8 eight\n");
}

TEST_P(Conversions, NameTasksByTheKernelsListWhereNothingElseDoes) {
  TracingData tracing = kernel(order());
  tracing.cmdlines = "5 saved five\n6 saved six\nno line\n";
  PerfDataBuilder builder(order());
  builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
  builder.add_comm(5, 5, "five").add_sample(0, ping({1, 100, 0}));
  EXPECT_EQ(cmdlines_of(builder), "5 five\n6 saved six\n");
}

TEST_P(Conversions, OfAPidNamespaceGoByTheKernelsPids) {
  SampleSpec inside = ping({1, 100, 0}, 0, 1005);
  inside.tid = 5;
  SampleSpec other = ping({1, 110, 0}, 0, 1006);
  other.tid = 6;
  EXPECT_EQ(cmdlines_of(pings()
                            .add_comm(5, 5, "five")
                            .add_comm(1006, 1006, "somebody else")
                            .add_comm(6, 6, "six")
                            .add_comm(9, 9, "never ran")
                            .add_sample(0, inside)
                            .add_sample(0, other)),
            "1005 five\n1006 six\n");
}

TEST_P(Conversions, TakeATaskThatHasEndedForNoNamespace) {
  SampleSpec dead = ping({1, 100, 0}, 0, 1005);
  dead.pid = dead.tid = ~0U;
  EXPECT_EQ(
      cmdlines_of(pings().add_comm(1005, 1005, "ended").add_comm(9, 9, "nine").add_sample(0, dead)),
      "9 nine\n1005 ended\n");
}

TEST_P(Conversions, NameTheClock) {
  struct Clock {
    std::optional<std::int32_t> id;
    std::string_view name;
  };
  for (const auto& [id, name] : {Clock{std::nullopt, "perf"},
                                 {0, "realtime"},
                                 {1, "mono"},
                                 {4, "mono_raw"},
                                 {7, "boot"},
                                 {11, "tai"},
                                 {2, "clockid 2"},
                                 {-7, "clockid -7"}}) {
    PerfDataBuilder builder(order());
    AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
    attr.clockid = id;
    builder.set_tracing(kernel(order())).add_attr(attr).add_sample(0, ping({1, 100, 0}));
    EXPECT_EQ(convert_bytes(builder.build()).output.contents.clock, name);
  }
}

TEST_P(Conversions, NameTheClockOfTheFirstTracepoint) {
  PerfDataBuilder builder(order());
  AttrSpec clock = cpu_clock({5});
  clock.clockid = 1;
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.clockid = 11;
  builder.set_tracing(kernel(order())).add_attr(clock).add_attr(attr);
  builder.add_sample(1, ping({1, 100, 0}));
  EXPECT_EQ(convert_bytes(builder.build()).output.contents.clock, "tai");
}

TEST_P(Conversions, NameTheMachineWhereItsKernelIsKnown) {
  const auto uname = [&](std::string_view release) {
    PerfDataBuilder builder = pings();
    builder.set_text_feature(Feature::kHostname, "box");
    if (!release.empty()) builder.set_text_feature(Feature::kOsRelease, std::string(release));
    builder.set_text_feature(Feature::kArch, "s390x").add_sample(0, ping({1, 100, 0}));
    return convert_bytes(builder.build()).output.contents.text_option(tracedat::OptionId::kUname);
  };
  EXPECT_EQ(uname("6.1.0"), "Linux box 6.1.0 s390x");
  EXPECT_EQ(uname(""), std::nullopt);
}

TEST_P(Conversions, NameTheProgramAndItsVersion) {
  const auto bytes = pings().add_sample(0, ping({1, 100, 0})).build();
  EXPECT_EQ(convert_bytes(bytes).output.contents.text_option(tracedat::OptionId::kVersion),
            fmt::format("perf2dat {}", version()));
}

TEST_P(Conversions, CountTheMachinesCpusAlsoThoseWithoutEvents) {
  const auto cpus = [&](std::optional<std::uint32_t> available, std::uint32_t highest) {
    PerfDataBuilder builder = pings();
    if (available) builder.set_cpus(*available);
    builder.add_sample(0, ping({1, 100, highest})).add_sample(0, ping({1, 101, 0}));
    return convert_bytes(builder.build()).output.cpu_count();
  };
  EXPECT_EQ(cpus(std::nullopt, 5), 6U);
  EXPECT_EQ(cpus(2, 5), 6U);
  EXPECT_EQ(cpus(6, 5), 6U);
  EXPECT_EQ(cpus(64, 5), 64U);
  EXPECT_EQ(cpus(~0U, 5), 65536U);
  EXPECT_EQ(cpus(4, 65535), 65536U);
}

TEST_P(Conversions, CountLostEvents) {
  const auto bytes = pings()
                         .add_lost(1, 5)
                         .add_sample(0, ping({1, 100, 0}))
                         .add_lost_samples(1000)
                         .add_lost(1, 0xf0000000)
                         .build();
  const auto summary = convert_bytes(bytes).summary;
  EXPECT_EQ(summary.lost, 0xf0000000UL + 5);
  EXPECT_EQ(summary.lost_samples, 1000U);
  EXPECT_THAT(summary.left_out, IsEmpty());
}

TEST_P(Conversions, CountSamplesOfUnknownEvents) {
  const auto bytes = pings()
                         .add_attr(tracepoint(kWakeup, {2}, "sched:sched_wakeup"))
                         .add_sample(0, ping({1, 100, 0}))
                         .add_sample(0, ping({3, 110, 0}))
                         .add_sample(0, ping({1UL << 60U, 120, 0}))
                         .add_record(9, 1, Bytes(7))
                         .build();
  EXPECT_THAT(convert_bytes(bytes).summary.left_out,
              ElementsAre(left_out(Reason::kUnknownEvent, "", 3)));
}

TEST_P(Conversions, CountTracepointSamplesThatLackSomething) {
  AttrSpec no_time = tracepoint(kPing, {2}, "test:no_time");
  no_time.sample_type &= ~std::uint64_t{perfdata::kSampleTime};
  AttrSpec no_cpu = tracepoint(kPing, {3}, "test:no_cpu");
  no_cpu.sample_type &= ~std::uint64_t{perfdata::kSampleCpu};
  AttrSpec no_raw = tracepoint(kPing, {4}, "test:no_raw");
  no_raw.sample_type &= ~std::uint64_t{perfdata::kSampleRaw};
  const auto bytes = pings()
                         .add_attr(no_time)
                         .add_attr(no_cpu)
                         .add_attr(no_raw)
                         .add_sample(0, ping({1, 100, 65535}))
                         .add_sample(0, sample({1, 101, 0}, order(), Bytes(4)))
                         .add_sample(0, sample({1, 101, 0}, order(), {}))
                         .add_sample(0, ping({1, 102, 65536}))
                         .add_sample(0, ping({1, 102, ~0U}))
                         .add_sample(1, ping({2, 103, 0}))
                         .add_sample(2, ping({3, 104, 0}))
                         .add_sample(3, ping({4, 105, 0}))
                         .build();
  const auto [summary, output] = convert_bytes(bytes);
  EXPECT_THAT(output.events, ElementsAre(event_of(ping({1, 100, 65535}))));
  EXPECT_THAT(summary.left_out, ElementsAre(left_out(Reason::kNoRawData, "test:ping", 2),
                                            left_out(Reason::kBadCpu, "test:ping", 2),
                                            left_out(Reason::kNoTime, "test:no_time", 1),
                                            left_out(Reason::kNoCpu, "test:no_cpu", 1),
                                            left_out(Reason::kNoRawData, "test:no_raw", 1)));
}

TEST_P(Conversions, WarnOfEventsWithoutAFormat) {
  const auto bytes = pings()
                         .add_attr(tracepoint(500, {2}, "mine:own"))
                         .add_attr(tracepoint(501, {3}, "mine:silent"))
                         .add_sample(0, ping({1, 100, 0}))
                         .add_sample(1, ping({2, 110, 0}))
                         .build();
  const auto [summary, output] = convert_bytes(bytes);
  EXPECT_EQ(summary.converted, 2U);
  EXPECT_THAT(summary.warnings,
              ElementsAre(HasSubstr("no format of mine:own: its events show without fields")));
}

TEST_P(Conversions, ShowNoControlCharactersOfEventsNames) {
  const auto bytes = pings()
                         .add_attr(tracepoint(500, {2}, "a\nb:\x1b[0mc\x7f"))
                         .add_sample(1, ping({2, 110, 0}))
                         .add_sample(1, sample({2, 111, 0}, order(), Bytes(4)))
                         .build();
  const auto [summary, output] = convert_bytes(bytes);
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("no format of a?b:?[0mc?:")));
  EXPECT_THAT(summary.left_out, ElementsAre(left_out(Reason::kNoRawData, "a?b:?[0mc?", 1)));
}

TEST_P(Conversions, UseTheRecordedMachinesPageSize) {
  const auto page_size = [&](std::uint32_t recorded) {
    TracingData tracing = kernel(order());
    tracing.page_size = recorded;
    PerfDataBuilder builder(order());
    builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
    builder.add_sample(0, ping({1, 100, 0}));
    return convert_bytes(builder.build()).summary.page_size;
  };
  EXPECT_EQ(page_size(4096), 4096U);
  EXPECT_EQ(page_size(16384), 16384U);
  EXPECT_EQ(page_size(65536), 65536U);
  // What no page of a trace.dat can be.
  EXPECT_EQ(page_size(1024), 4096U);
  EXPECT_EQ(page_size(1U << 20U), 65536U);
}

TEST_P(Conversions, UseTheRecordedKernelsSizeOfCommit) {
  for (const std::uint32_t size : {4U, 8U}) {
    TracingData tracing = kernel(order());
    tracing.header_page = header_page(size);
    // perf's own long, which may differ from the kernel's.
    tracing.long_size = static_cast<std::uint8_t>(12 - size);
    PerfDataBuilder builder(order());
    builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
    builder.add_sample(0, ping({1, 100, 0}, 77));
    const auto output = convert_bytes(builder.build()).output;
    EXPECT_EQ(output.contents.format.commit_size, size);
    EXPECT_EQ(output.contents.long_size, 12 - size);
    EXPECT_THAT(output.events, ElementsAre(event_of(ping({1, 100, 0}, 77))));
  }
}

TEST_P(Conversions, EnlargeThePagesForLargeRawData) {
  struct Large {
    std::size_t payload;
    std::uint32_t page_size;
  };
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type = perfdata::kSampleTime | perfdata::kSampleCpu | perfdata::kSampleRaw;
  for (const auto& [payload, page_size] :
       {Large{4068, 4096}, {4076, 8192}, {8164, 8192}, {8172, 16384}, {65500, 65536}}) {
    SampleSpec large = ping({1, 150, 0});
    large.raw.resize(payload, std::byte{0xee});
    const std::vector<SampleSpec> samples = {ping({1, 100, 0}, 1), large, ping({1, 200, 0}, 2),
                                             ping({1, 120, 3}, 3)};
    PerfDataBuilder builder(order());
    builder.set_tracing(kernel(order())).add_attr(attr);
    for (const auto& each : samples) builder.add_sample(0, each);
    const auto [summary, output] = convert_bytes(builder.build());
    EXPECT_EQ(summary.page_size, page_size) << payload;
    EXPECT_TRUE(output.events == events_of(samples)) << payload;
  }
}

TEST_P(Conversions, KeepTheFormatsAndTextsOfTheKernel) {
  const auto contents = convert_bytes(full_recording(order())).output.contents;
  const auto text_of = [&](tracedat::SectionId id) {
    const auto& bytes = contents.sections.at(id);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const TracingData tracing = kernel(order());
  for (const auto& system : tracing.systems) {
    EXPECT_THAT(text_of(tracedat::SectionId::kEventFormats), HasSubstr(system.name));
    for (const auto& format : system.formats) {
      EXPECT_THAT(text_of(tracedat::SectionId::kEventFormats), HasSubstr(format));
    }
  }
  EXPECT_THAT(text_of(tracedat::SectionId::kHeaderInfo),
              AllOf(HasSubstr(tracing.header_page), HasSubstr(tracing.header_event)));
  EXPECT_THAT(text_of(tracedat::SectionId::kKallsyms), HasSubstr("ffffffff81000000 T _text\n"));
  EXPECT_THAT(text_of(tracedat::SectionId::kPrintk), HasSubstr("\"a text\"\n"));
}

TEST_P(Conversions, OfEverythingAtOnceLoseNothing) {
  const auto [summary, output] = convert_bytes(full_recording(order()));
  EXPECT_EQ(summary.converted, 4U);
  EXPECT_EQ(output.cpu_count(), 4U);
  EXPECT_EQ(output.cmdlines, "10 ten\n11 eleven\n12 twelve\n13 ten\n900 saved\n");
  EXPECT_THAT(summary.left_out, ElementsAre(left_out(Reason::kNoRawData, "sched:sched_switch", 1),
                                            left_out(Reason::kNotTracepoint, "cpu-clock", 1),
                                            left_out(Reason::kUnknownEvent, "", 1)));
  EXPECT_EQ(summary.lost, 5U);
  EXPECT_EQ(summary.lost_unplaced, 5U);
  EXPECT_EQ(summary.lost_samples, 2U);
}

TEST_P(Conversions, OfManyTinyCpusNeedLittleMemory) {
  constexpr std::uint32_t kCpus = 16384;  // 64 MiB of pages
  PerfDataBuilder builder = pings();
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) builder.add_sample(0, ping({1, 100, cpu}, cpu));
  const Workshop workshop(builder.build());
  const MemoryLimit limit(48U << 20U);
  EXPECT_EQ(value_of(workshop.convert()).cpus, kCpus);
}

TEST_P(Conversions, MayRunInSeveralThreads) {
  std::vector<std::thread> threads;
  const Bytes recording = full_recording(order());
  const auto expected = convert_bytes(recording).output.events;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(convert_bytes(recording).output.events == expected); });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(Conversions, ThrowNothing) {
  Workshop workshop(full_recording(order()));
  auto& progress = workshop.options().progress;
  progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("a reason"); };
  EXPECT_EQ(workshop.error(Error::Kind::kInternal), "a reason");
  progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::bad_alloc(); };
  EXPECT_EQ(workshop.error(Error::Kind::kInternal), "out of memory");
  progress = [](std::uint64_t, std::uint64_t) -> bool { throw 42; };
  EXPECT_THAT(workshop.error(Error::Kind::kInternal), HasSubstr("unknown exception"));
}

TEST(Version, IsThreeNumbers) {
  EXPECT_THAT(version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

// Recordings of both byte orders that tell of the same events.

struct TwinCase {
  std::string_view name;
  Bytes (*build)(ByteOrder order);
};

Bytes of_switches(ByteOrder order) {
  PerfDataBuilder builder(order);
  builder.set_tracing(kernel(order)).add_attr(tracepoint(kSwitch, {1}, "sched:sched_switch"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto pid = static_cast<std::uint32_t>(100 + i);
    builder.add_sample(0, sample({1, 5000 + i * 1000003 % 997, static_cast<std::uint32_t>(i % 2)},
                                 order, switch_payload(order, {pid, "prev"}, {pid + 1, "next"})));
  }
  return builder.build();
}

Bytes of_everything_in_a_sample(ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleAddr | perfdata::kSampleId | perfdata::kSampleStreamId |
                      perfdata::kSampleRead | perfdata::kSampleCallchain;
  attr.read_format = perfdata::kReadGroup | perfdata::kReadId | perfdata::kReadTimeEnabled;
  builder.set_tracing(kernel(order)).add_attr(attr).add_attr(cpu_clock({2}));
  SampleSpec spec = ping(order, {1, 100, 1}, 0x0102030405060708);
  spec.read = {2, 50, 10, 1, 20, 2};
  spec.callchain = {0xffffffff81000000, 0xffffffff81000010};
  return builder.add_sample(0, spec).build();
}

Bytes of_a_small_kernel(ByteOrder order) {
  TracingData tracing = kernel(order);
  tracing.header_page = header_page(4);
  tracing.long_size = 4;
  PerfDataBuilder builder(order);
  builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
  for (std::uint64_t i = 0; i < 2000; ++i) {
    builder.add_sample(0, ping(order, {1, i * i * i * 1000, 0}, i));
  }
  return builder.build();
}

Bytes of_large_raw_data(ByteOrder order) {
  PerfDataBuilder builder = ping_recording(order);
  for (std::uint64_t i = 0; i < 20; ++i) {
    SampleSpec spec = ping(order, {1, 1000 - i, 0}, i);
    spec.raw.resize(i * 1000 + 20, static_cast<std::byte>(i));
    builder.add_sample(0, spec);
  }
  return builder.build();
}

Bytes of_a_namespace(ByteOrder order) {
  SampleSpec inside = ping(order, {1, 100, 0}, 0, 1005);
  inside.tid = 5;
  return ping_recording(order).add_comm(5, 5, "five").add_sample(0, inside).build();
}

class Twins : public ::testing::TestWithParam<TwinCase> {};

INSTANTIATE_TEST_SUITE_P(Recordings, Twins,
                         ::testing::Values(TwinCase{"OfSwitches", of_switches},
                                           TwinCase{"OfEverythingInASample",
                                                    of_everything_in_a_sample},
                                           TwinCase{"OfASmallKernel", of_a_small_kernel},
                                           TwinCase{"OfLargeRawData", of_large_raw_data},
                                           TwinCase{"OfANamespace", of_a_namespace},
                                           TwinCase{"OfAllAtOnce", full_recording}),
                         [](const auto& twin) { return std::string(twin.param.name); });

void expect_same(const Converted& one, const Converted& other) {
  EXPECT_EQ(one.summary.converted, other.summary.converted);
  EXPECT_EQ(one.summary.cpus, other.summary.cpus);
  EXPECT_EQ(one.summary.page_size, other.summary.page_size);
  EXPECT_EQ(one.summary.warnings, other.summary.warnings);
  EXPECT_EQ(one.summary.lost, other.summary.lost);
  EXPECT_EQ(one.summary.lost_unplaced, other.summary.lost_unplaced);
  ASSERT_THAT(other.summary.left_out, SizeIs(one.summary.left_out.size()));
  for (std::size_t i = 0; i < one.summary.left_out.size(); ++i) {
    const LeftOut& left = one.summary.left_out[i];
    EXPECT_THAT(other.summary.left_out[i], left_out(left.reason, left.event, left.count));
  }
  EXPECT_TRUE(one.output.events == other.output.events);
  EXPECT_EQ(one.output.cmdlines, other.output.cmdlines);
  EXPECT_EQ(one.output.contents.clock, other.output.contents.clock);
  EXPECT_EQ(one.output.contents.format.commit_size, other.output.contents.format.commit_size);
  EXPECT_EQ(one.output.cpu_count(), other.output.cpu_count());
  EXPECT_EQ(one.output.contents.text_option(tracedat::OptionId::kUname),
            other.output.contents.text_option(tracedat::OptionId::kUname));
}

TEST_P(Twins, BecomeTheSame) {
  const auto little = convert_bytes(GetParam().build(ByteOrder::kLittle));
  auto big = convert_bytes(GetParam().build(ByteOrder::kBig));
  EXPECT_EQ(little.output.contents.format.order, ByteOrder::kLittle);
  EXPECT_EQ(big.output.contents.format.order, ByteOrder::kBig);
  EXPECT_FALSE(big.output.events.empty());
  swap_events(big.output.events, kernel(ByteOrder::kBig), ByteOrder::kBig);
  expect_same(little, big);
}

// Recordings of real machines. What the machine's own perf printed tells how many samples they
// hold.

std::string gunzip(const std::string& path) {
  const std::unique_ptr<gzFile_s, decltype(&::gzclose)> file(::gzopen(path.c_str(), "rb"),
                                                             ::gzclose);
  if (file == nullptr) throw std::runtime_error("cannot read " + path);
  std::string text;
  std::array<char, 65536> buffer;
  int size = 0;
  while ((size = ::gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  if (size < 0) throw std::runtime_error("damaged: " + path);
  return text;
}

struct Golden {
  std::string_view name;
  std::vector<std::string_view> systems;  // of the tracepoints in it

  std::string path() const { return fmt::format("{}/{}.data", GOLDEN_DIR, name); }
  std::string text() const {
    return gunzip(fmt::format("{}/{}.perf-script.txt.gz", GOLDEN_DIR, name));
  }
};

// The samples in perf's text whose event's name begins so.
std::uint64_t samples_of(std::string_view text, std::string_view event) {
  const auto words = fmt::format(" {}:", event);
  std::uint64_t count = 0;
  for (auto at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

class GoldenRecordings : public ::testing::TestWithParam<Golden> {};

std::string golden_name(const ::testing::TestParamInfo<Golden>& info) {
  std::string name(info.param.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Of, GoldenRecordings,
    ::testing::Values(Golden{"x86_64/sched", {"sched"}}, Golden{"arm64/sched", {"sched"}},
                      Golden{"ppc64le/sched", {"sched"}}, Golden{"s390x/sched", {"sched"}},
                      Golden{"x86_64/mixed", {"sched"}}, Golden{"arm64/mixed", {"sched"}},
                      Golden{"ppc64le/mixed", {"sched"}}, Golden{"s390x/mixed", {"sched"}},
                      Golden{"x86_64/all-sched", {"sched"}},
                      Golden{"x86_64/irq-timer", {"irq", "timer"}},
                      Golden{"x86_64/raw-syscalls", {"raw_syscalls"}}),
    golden_name);

TEST_P(GoldenRecordings, AreConvertedWhole) {
  const auto [summary, output] = convert_bytes(read_file(GetParam().path()));
  const auto text = GetParam().text();
  std::uint64_t tracepoints = 0;
  for (const auto system : GetParam().systems) tracepoints += samples_of(text, system);
  EXPECT_GT(tracepoints, 0U);
  EXPECT_EQ(summary.converted, tracepoints);
  EXPECT_EQ(summary.cpus, 2U);
  EXPECT_THAT(summary.warnings, IsEmpty());
  const auto cpu_clock = samples_of(text, "cpu-clock");
  EXPECT_EQ(cpu_clock != 0, GetParam().name.ends_with("/mixed"));
  if (cpu_clock == 0) {
    EXPECT_THAT(summary.left_out, IsEmpty());
  } else {
    EXPECT_THAT(summary.left_out,
                ElementsAre(left_out(Reason::kNotTracepoint, "cpu-clock", cpu_clock)));
  }
}

TEST_P(GoldenRecordings, AndTheirTwinsOfTheOtherByteOrderBecomeTheSame) {
  auto recording = value_of(perfdata::Recording::open(GetParam().path(), {}));
  const auto original = convert_bytes(read_file(GetParam().path()));
  auto builder = value_of(make_twin(recording, other(recording.order())));
  auto twin = convert_bytes(builder.build());
  EXPECT_EQ(twin.output.contents.format.order, other(original.output.contents.format.order));
  EXPECT_FALSE(twin.output.events == original.output.events);
  swap_events(twin.output.events, *recording.description().tracing,
              twin.output.contents.format.order);
  expect_same(original, twin);
}

TEST_P(GoldenRecordings, AndTheirTwinsAsStreamsAndCompressedBecomeTheSame) {
  const auto original = convert_bytes(read_file(GetParam().path()));
  auto recording = value_of(perfdata::Recording::open(GetParam().path(), {}));
  auto builder = value_of(make_twin(recording, recording.order()));
  expect_same(original, convert_bytes(builder.build_stream()));
  builder.compress(perfdata::RecordType::kCompressed2);
  expect_same(original, convert_bytes(builder.build()));
  expect_same(original, convert_bytes(builder.build_stream()));
}

}  // namespace
}  // namespace testing
}  // namespace perf2dat
