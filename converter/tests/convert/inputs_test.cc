// SPDX-License-Identifier: LGPL-2.1-or-later
// Every kind of recording, against the list of the events that it was made of.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/conversions.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/perf_data_builder.h"
#include "testing/recordings.h"

namespace perf2dat::testing {
namespace {

namespace fs = std::filesystem;

using perfdata::Feature;
using perfdata::RecordType;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr auto kC1 = RecordType::kCompressed;
constexpr auto kC2 = RecordType::kCompressed2;

/// A recording and the samples that it was made of.
struct Recipe {
  explicit Recipe(PerfDataBuilder begin) : builder(std::move(begin)) {}

  void add(const SampleSpec& sample, std::size_t attr = 0) {
    builder.add_sample(attr, sample);
    samples.push_back(sample);
  }
  void add_ping(At at, std::uint64_t value = 0) { add(ping(builder.order(), at, value)); }

  PerfDataBuilder builder;
  std::vector<SampleSpec> samples;
};

void expect_events(const Converted& converted, const std::vector<SampleSpec>& samples) {
  EXPECT_EQ(converted.summary.converted, samples.size());
  EXPECT_TRUE(converted.output.events == sorted(events_of(samples)));
  EXPECT_THAT(converted.summary.left_out, IsEmpty());
}

// What the samples are like, and in which order they come.

struct Shape {
  std::string_view name;
  Recipe (*make)(ByteOrder order);
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

Recipe in_order(ByteOrder order) {
  Recipe recipe(ping_recording(order));
  recipe.builder.set_cpus(4).add_comm(7, 7, "seven", trailer_at(50, 1));
  for (std::uint64_t i = 0; i < 500; ++i) {
    recipe.add_ping({1, 1000 + i * 77, static_cast<std::uint32_t>(i * i % 4)}, i);
    if (i % 50 == 49) recipe.builder.add_finished_round();
  }
  return recipe;
}

Recipe without_rounds(ByteOrder order) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  Recipe recipe(ping_recording(order));
  for (std::uint64_t i = 0; i < 500; ++i) {
    recipe.add_ping({1, 1000 + i * 10 + random() % 500, static_cast<std::uint32_t>(i % 2)}, i);
  }
  return recipe;
}

Recipe shuffled(ByteOrder order) {
  std::mt19937 random(2);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::vector<std::uint64_t> times;
  for (std::uint64_t i = 0; i < 500; ++i) times.push_back(1000 + i / 2 * (1UL << 26U));
  std::shuffle(times.begin(), times.end(), random);
  Recipe recipe(ping_recording(order));
  for (std::uint64_t i = 0; i < times.size(); ++i) {
    recipe.add_ping({1, times[i], static_cast<std::uint32_t>(random() % 3)}, i);
  }
  return recipe;
}

Recipe descending(ByteOrder order) {
  Recipe recipe(ping_recording(order));
  for (std::uint64_t i = 0; i < 500; ++i) {
    recipe.add_ping({1, 1'000'000'000'000 - i * kSecond, static_cast<std::uint32_t>(i % 2)}, i);
  }
  return recipe;
}

/// Each task has a ring buffer of its own: those of a CPU come one after the other.
Recipe two_rings_of_a_cpu(ByteOrder order) {
  Recipe recipe(ping_recording(order));
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (const std::uint32_t ring : {0U, 1U}) {
      for (std::uint64_t i = 0; i < 20; ++i) {
        recipe.add(
            ping(order, {1, 1000 + (round * 20 + i) * 10 + ring * 5, 3}, round * 100 + i, ring));
      }
    }
    recipe.builder.add_finished_round();
  }
  return recipe;
}

Recipe of_several_events(ByteOrder order) {
  PerfDataBuilder builder(order);
  builder.set_tracing(kernel(order));
  builder.add_attr(tracepoint(kSwitch, {1, 2}, "sched:sched_switch"));
  builder.add_attr(tracepoint(kPing, {3, 1UL << 33U}, "test:ping"));
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto cpu = static_cast<std::uint32_t>(i % 2);
    const auto pid = static_cast<std::uint32_t>(100 + i);
    recipe.add(sample({1 + i % 2, 1000 + i * 10, cpu}, order,
                      switch_payload(order, {pid, "prev"}, {pid + 1, "next"})));
    recipe.add(ping(order, {i % 2 == 0 ? 3 : 1UL << 33U, 1005 + i * 10, cpu}, i, pid + 1), 1);
  }
  return recipe;
}

Recipe with_callchains(ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleCallchain;
  builder.set_tracing(kernel(order)).add_attr(attr);
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 120; ++i) {
    SampleSpec spec = ping(order, {1, 1000 + i, 0}, i);
    spec.callchain.assign(i, 0xffffffff81000000 + i);
    recipe.add(spec);
  }
  return recipe;
}

Recipe with_read_of_one(ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleRead;
  attr.read_format = perfdata::kReadId | perfdata::kReadTimeEnabled | perfdata::kReadTimeRunning |
                     perfdata::kReadLost;
  builder.set_tracing(kernel(order)).add_attr(attr);
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 20; ++i) {
    SampleSpec spec = ping(order, {1, 1000 + i, 0}, i);
    spec.read = {i, 100, 90, 1, 0};
    recipe.add(spec);
  }
  return recipe;
}

Recipe with_read_of_groups(ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleRead | perfdata::kSampleCallchain | perfdata::kSampleAddr |
                      perfdata::kSampleId | perfdata::kSampleStreamId;
  attr.read_format = perfdata::kReadId | perfdata::kReadGroup | perfdata::kReadTimeRunning;
  builder.set_tracing(kernel(order)).add_attr(attr);
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 20; ++i) {
    SampleSpec spec = ping(order, {1, 1000 + i, 0}, i);
    spec.read = {i, 100};
    for (std::uint64_t member = 0; member < i; ++member) {
      spec.read.push_back(member);
      spec.read.push_back(1);
    }
    spec.callchain = {0xffffffff81000000};
    recipe.add(spec);
  }
  return recipe;
}

/// A sample's body as perf record -a asks for it, with whatever may come after the raw data.
Bytes body_of(const SampleSpec& spec, ByteOrder order, const Bytes& after = {}) {
  ByteWriter body(order);
  body.u64(spec.id).u64(spec.ip).u32(spec.pid).u32(spec.tid).u64(spec.time);
  body.u32(spec.cpu).u32(0).u64(spec.period);
  const auto payload = event_of(spec).payload;
  body.u32(static_cast<std::uint32_t>(payload.size())).bytes(payload).bytes(after);
  return body.take();
}

Recipe with_fields_after_the_raw_data(ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type |= 1U << 11U | 1U << 12U | 1U << 14U | 1U << 18U;
  builder.set_tracing(kernel(order)).add_attr(attr);
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 50; ++i) {
    recipe.samples.push_back(ping(order, {1, 1000 + i, 0}, i));
    recipe.builder.add_record(9, 1,
                              body_of(recipe.samples.back(), order, Bytes(i * 8, std::byte{0xff})));
  }
  return recipe;
}

Recipe of_a_pid_namespace(ByteOrder order) {
  Recipe recipe(ping_recording(order));
  recipe.builder.add_comm(5, 5, "five", trailer_at(10, 1));
  for (std::uint64_t i = 0; i < 20; ++i) {
    SampleSpec inside = ping(order, {1, 1000 + i, 0}, i, 1005);
    inside.pid = inside.tid = 5;
    recipe.add(inside);
  }
  return recipe;
}

Recipe of_a_small_machine(ByteOrder order) {
  TracingData tracing = kernel(order);
  tracing.header_page = header_page(4);
  tracing.long_size = 4;
  PerfDataBuilder builder(order);
  builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 1000; ++i) recipe.add_ping({1, i * i * i * 1000, 0}, i);
  return recipe;
}

Recipe of_raw_data_larger_than_a_page(ByteOrder order) {
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  PerfDataBuilder builder(order);
  builder.set_tracing(kernel(order)).add_attr(attr);
  Recipe recipe(std::move(builder));
  for (std::uint64_t i = 0; i < 20; ++i) {
    SampleSpec spec = ping(order, {1, 1000 + i * 7 % 20, 0}, i);
    spec.raw.resize(i * 1000 + 20, static_cast<std::byte>(i));
    recipe.add(spec);
  }
  return recipe;
}

// How a recording is stored.

struct Kind {
  std::string_view name;
  Bytes (*build)(PerfDataBuilder builder);
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kAll = {
      {"AFile", [](PerfDataBuilder b) { return b.build(); }},
      {"AStream", [](PerfDataBuilder b) { return b.build_stream(); }},
      {"AStreamOfAnOldPerf", [](PerfDataBuilder b) { return b.build_stream(12); }},
      {"ACompressedFile", [](PerfDataBuilder b) { return b.compress(kC1).build(); }},
      {"ACompressedFileOfTheNewerKind",
       [](PerfDataBuilder b) { return b.compress(kC2, 20001).build(); }},
      {"AFileCompressedInTinyPieces",
       [](PerfDataBuilder b) { return b.compress(kC1, 13).build(); }},
      {"ACompressedStream", [](PerfDataBuilder b) { return b.compress(kC1, 5001).build_stream(); }},
      {"ACompressedStreamOfTheNewerKind",
       [](PerfDataBuilder b) { return b.compress(kC2, 333).build_stream(12); }},
  };
  return kAll;
}

class Inputs : public ::testing::TestWithParam<std::tuple<Kind, Shape, ByteOrder>> {};

std::string input_name(const ::testing::TestParamInfo<std::tuple<Kind, Shape, ByteOrder>>& input) {
  const auto& [kind, shape, order] = input.param;
  return fmt::format("{}{}{}", kind.name, shape.name,
                     order == ByteOrder::kLittle ? "Little" : "Big");
}

INSTANTIATE_TEST_SUITE_P(
    Of, Inputs,
    ::testing::Combine(
        ::testing::ValuesIn(kinds()),
        ::testing::Values(Shape{"InOrder", in_order}, Shape{"WithoutRounds", without_rounds},
                          Shape{"Shuffled", shuffled}, Shape{"Descending", descending},
                          Shape{"WithTwoRingsOfACpu", two_rings_of_a_cpu},
                          Shape{"OfSeveralEvents", of_several_events},
                          Shape{"WithCallchains", with_callchains},
                          Shape{"WithReadOfOne", with_read_of_one},
                          Shape{"WithReadOfGroups", with_read_of_groups},
                          Shape{"WithFieldsAfterTheRawData", with_fields_after_the_raw_data},
                          Shape{"OfAPidNamespace", of_a_pid_namespace},
                          Shape{"OfASmallMachine", of_a_small_machine},
                          Shape{"OfLargeRawData", of_raw_data_larger_than_a_page}),
        both_orders()),
    input_name);

TEST_P(Inputs, GiveEveryEventWithItsCpuTimeAndData) {
  const ByteOrder order = std::get<2>(GetParam());
  const auto recipe = std::get<1>(GetParam()).make(order);
  const auto file = convert_bytes(recipe.builder.build());
  const auto converted = convert_bytes(std::get<0>(GetParam()).build(recipe.builder));
  expect_events(converted, recipe.samples);
  EXPECT_THAT(converted.summary.warnings, IsEmpty());
  EXPECT_EQ(converted.output.contents.format.order, order);
  // However it is stored, it tells the same of tasks and of the machine.
  EXPECT_EQ(converted.output.cmdlines, file.output.cmdlines);
  EXPECT_EQ(converted.output.cpu_count(), file.output.cpu_count());
  EXPECT_EQ(converted.output.contents.long_size, file.output.contents.long_size);
  EXPECT_EQ(converted.output.contents.format.commit_size, file.output.contents.format.commit_size);
  EXPECT_EQ(converted.summary.page_size, file.summary.page_size);
}

class InputsOfAnyOrder : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  SampleSpec ping_at(std::uint64_t time, std::uint32_t cpu = 0, std::uint64_t id = 1) const {
    return ping(order(), {id, time, cpu}, time);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, InputsOfAnyOrder, both_orders(), order_name);

TEST_P(InputsOfAnyOrder, MayComeThroughAFifo) {
  const auto recipe = in_order(order());
  for (const Kind& kind : kinds()) {
    Workshop workshop;
    workshop.options().input = workshop.directory().path("fifo");
    const FifoWriter writer(workshop.options().input, kind.build(recipe.builder));
    const auto converted = convert_in(workshop);
    expect_events(converted, recipe.samples);
    EXPECT_THAT(converted.summary.warnings, IsEmpty()) << kind.name;
    EXPECT_EQ(converted.output.cpu_count(), 4U);
    EXPECT_THAT(workshop.directory().entries(), SizeIs(3)) << "beside in.data, fifo and out.dat";
  }
}

TEST_P(InputsOfAnyOrder, MayComeFromStandardInput) {
  const auto recipe = in_order(order());
  for (const Kind& kind : kinds()) {
    const MemoryFile file(kind.build(recipe.builder));
    const FileDescriptor before(::dup(STDIN_FILENO));
    const FileDescriptor opened(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::dup2(opened.get(), STDIN_FILENO), STDIN_FILENO);
    Workshop workshop;
    workshop.options().input = "-";
    expect_events(convert_in(workshop), recipe.samples);
    ::dup2(before.get(), STDIN_FILENO);
  }
}

TEST_P(InputsOfAnyOrder, MayHaveEventsOfAnyKnownSize) {
  for (const std::uint32_t size : {64U, 72U, 80U, 96U, 104U, 112U, 120U, 128U, 136U, 144U, 200U}) {
    PerfDataBuilder builder(order());
    AttrSpec attr = tracepoint(kPing, {1, 2}, "test:ping");
    attr.size = size;
    attr.clockid = 7;
    AttrSpec wakeup = tracepoint(kWakeup, {3}, "sched:sched_wakeup");
    wakeup.size = size;
    builder.set_tracing(kernel(order())).add_attr(attr).add_attr(wakeup);
    Recipe recipe(std::move(builder));
    recipe.add(ping_at(100, 0, 1));
    recipe.add(ping_at(101, 1, 2));
    recipe.add(sample({3, 102, 0}, order(), wakeup_payload(order(), 7, {8, "eight"})), 1);
    for (const Kind& kind : kinds()) {
      const auto converted = convert_bytes(kind.build(recipe.builder));
      expect_events(converted, recipe.samples);
      EXPECT_EQ(converted.output.contents.clock, size >= 96 ? "boot" : "perf");
    }
  }
}

TEST_P(InputsOfAnyOrder, NameTheClockThatWasRecorded) {
  for (const auto& [id, name] :
       {std::pair{0, "realtime"}, {1, "mono"}, {4, "mono_raw"}, {7, "boot"}, {11, "tai"}}) {
    PerfDataBuilder builder(order());
    AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
    attr.clockid = id;
    builder.set_tracing(kernel(order())).add_attr(attr).add_sample(0, ping_at(100));
    for (const Kind& kind : kinds()) {
      EXPECT_EQ(convert_bytes(kind.build(builder)).output.contents.clock, name) << kind.name;
    }
  }
}

TEST_P(InputsOfAnyOrder, MayHaveAuxPayloadsBetweenTheRecords) {
  Recipe recipe(ping_recording(order()));
  for (std::uint64_t i = 0; i < 30; ++i) {
    recipe.add(ping_at(1000 + i));
    const std::uint64_t payload = i * i * i * 20;  // beyond any buffer at last
    recipe.builder.add_record(71, 0, ByteWriter(order()).u64(payload).zeros(32).take());
    recipe.builder.add_bytes(Bytes(payload, std::byte{0xff}));
  }
  expect_events(convert_bytes(recipe.builder.build()), recipe.samples);
  expect_events(convert_bytes(recipe.builder.build_stream()), recipe.samples);
  Workshop workshop;
  workshop.options().input = workshop.directory().path("fifo");
  const FifoWriter writer(workshop.options().input, recipe.builder.build_stream());
  expect_events(convert_in(workshop), recipe.samples);
}

TEST_P(InputsOfAnyOrder, MayDescribeAnEventAfterTheFirstSamples) {
  Recipe recipe(ping_recording(order()));
  recipe.add(ping_at(100));
  AttrSpec wakeup = tracepoint(kWakeup, {2});
  ByteWriter attr(order());
  attr.bytes(encode_attr(wakeup, order())).u64(2);
  recipe.builder.add_record(64, 0, attr.data());
  recipe.add(ping_at(110));
  recipe.samples.push_back(sample({2, 120, 0}, order(), wakeup_payload(order(), 7, {8, "eight"})));
  recipe.builder.add_record(9, 1, body_of(recipe.samples.back(), order()));
  const auto converted = convert_bytes(recipe.builder.build_stream());
  expect_events(converted, recipe.samples);
  EXPECT_THAT(converted.summary.warnings, IsEmpty());
}

/// The bytes of a file's records.
Bytes records_of(const PerfDataBuilder& builder) {
  const Bytes file = builder.build();
  const auto number = [&](std::size_t at) {
    return static_cast<std::ptrdiff_t>(load<std::uint64_t>(file.data() + at, builder.order()));
  };
  const auto begin = file.begin() + number(40);
  return {begin, begin + number(48)};
}

TEST_P(InputsOfAnyOrder, MayBeAFolderWithAFileOfEachThread) {
  for (const std::optional<RecordType> compressed : {std::optional<RecordType>(), {kC1}, {kC2}}) {
    Workshop workshop;
    const auto path = workshop.directory().path("folder");
    fs::create_directory(path);
    PerfDataBuilder main = ping_recording(order());
    main.add_comm(7, 7, "seven", trailer_at(10, 1)).add_finished_round();
    std::vector<SampleSpec> samples;
    for (std::uint32_t thread = 0; thread < 12; ++thread) {
      Recipe recipe(ping_recording(order()));
      for (std::uint64_t i = 0; i < 50; ++i) {
        // Two threads of a CPU, and equal times, which keep the order of the files' numbers.
        recipe.add(ping(order(), {1, 1000 + i * 10, thread / 2}, thread * 1000 + i));
      }
      samples.insert(samples.end(), recipe.samples.begin(), recipe.samples.end());
      if (compressed) recipe.builder.compress(*compressed, 500);
      write_file(path + "/data." + std::to_string(thread), records_of(recipe.builder));
    }
    write_file(path + "/data.12", {});
    if (compressed) main.compress(*compressed);
    write_file(path + "/data", main.build());
    write_file(path + "/other", Bytes(10));
    workshop.options().input = path;
    const auto converted = convert_in(workshop);
    expect_events(converted, samples);
    EXPECT_THAT(converted.summary.warnings, IsEmpty());
    EXPECT_EQ(converted.output.cmdlines, "7 seven\n");
  }
}

class FormatsFromATree : public InputsOfAnyOrder {
 protected:
  /// A recording without formats, and nothing behind its records.
  Recipe recipe() const {
    PerfDataBuilder builder(order());
    builder.leave_out_event_names().add_attr(tracepoint(kPing, {1, 2}));
    Recipe recipe(std::move(builder));
    for (std::uint64_t i = 0; i < 100; ++i) recipe.add(ping_at(1000 + i, i % 3, 1 + i % 2));
    return recipe;
  }
  Converted convert_with_tree(const Bytes& recording, const TracingData& tracing) const {
    Workshop workshop(recording);
    workshop.options().tracing_dir = workshop.directory().path("tracing");
    write_tracing_dir(workshop.options().tracing_dir, tracing);
    return convert_in(workshop);
  }
  Converted convert_with_tree(const Bytes& recording) const {
    return convert_with_tree(recording, kernel(order()));
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, FormatsFromATree, both_orders(), order_name);

TEST_P(FormatsFromATree, ServeEachKindThatLacksThem) {
  const auto made = recipe();
  for (const Kind& kind : kinds()) {
    const auto converted = convert_with_tree(kind.build(made.builder));
    expect_events(converted, made.samples);
    EXPECT_THAT(converted.summary.warnings, IsEmpty());
  }
}

TEST_P(FormatsFromATree, ServeAnOldHeaderOf72Bytes) {
  const auto made = recipe();
  const auto converted = convert_with_tree(with_number(made.builder.build(), 8, 72, order()));
  expect_events(converted, made.samples);
  EXPECT_THAT(converted.summary.warnings, IsEmpty());
}

TEST_P(FormatsFromATree, ServeARecordingThatWasNotFinished) {
  const auto made = recipe();
  const Bytes bytes = with_number(made.builder.build(), 48, 0, order());
  const auto whole = convert_with_tree(bytes);
  expect_events(whole, made.samples);
  EXPECT_THAT(whole.summary.warnings, ElementsAre(HasSubstr("did not finish the recording")));
}

TEST_P(FormatsFromATree, ServeWhatIsThereOfARecordingThatWasNotFinished) {
  auto made = recipe();
  Bytes bytes = with_number(made.builder.build(), 48, 0, order());
  const std::size_t size = bytes.size();
  made.samples.pop_back();
  for (const std::size_t cut : {1U, 7U, 50U}) {
    bytes.resize(size - cut);
    const auto converted = convert_with_tree(bytes);
    expect_events(converted, made.samples);
    EXPECT_THAT(converted.summary.warnings, ElementsAre(HasSubstr("did not finish the recording"),
                                                        HasSubstr("from offset 0x")));
  }
}

TEST_P(FormatsFromATree, TellThePagesOfTheMachine) {
  TracingData tracing = kernel(order());
  tracing.header_page = header_page(4);
  const auto converted = convert_with_tree(recipe().builder.build(), tracing);
  EXPECT_EQ(converted.output.contents.format.commit_size, 4U);
  EXPECT_EQ(converted.output.contents.long_size, 4U);
}

TEST_P(FormatsFromATree, AreNotUsedWhereTheRecordingHasItsOwn) {
  const auto made = in_order(order());
  const auto converted = convert_with_tree(made.builder.build());
  expect_events(converted, made.samples);
  EXPECT_THAT(converted.summary.warnings, ElementsAre(HasSubstr("--tracing-dir is not used")));
}

TEST_P(InputsOfAnyOrder, WarnOfTextAfterAStreamWithItsPlaceAndSize) {
  const auto recipe = in_order(order());
  for (const std::string_view text :
       {"x", "ends\n", "[ perf record: Woken up 1 times to write data ]\nand more\n"}) {
    for (const Kind& kind : kinds()) {
      if (kind.name.find("Stream") == std::string_view::npos) continue;
      Bytes bytes = kind.build(recipe.builder);
      const std::size_t size = bytes.size();
      const auto more = std::as_bytes(std::span(text));
      bytes.insert(bytes.end(), more.begin(), more.end());
      const auto converted = convert_bytes(bytes);
      expect_events(converted, recipe.samples);
      EXPECT_THAT(converted.summary.warnings,
                  ElementsAre(HasSubstr(
                      fmt::format("the last {} bytes, from offset {:#x} on,", text.size(), size))));
    }
  }
}

TEST_P(InputsOfAnyOrder, LeaveOutAndCountWhatGuestsRecorded) {
  PerfDataBuilder builder(order());
  builder.set_tracing(kernel(order()));
  builder.add_attr(tracepoint(kPing, {1, 2}, "test:ping"));
  builder.add_attr(tracepoint(kPing, {3, 1UL << 40U}, "test:ping"));
  ByteWriter index(order());
  index.u64(4);
  for (const std::uint64_t id : {1UL, 2UL, 3UL, 1UL << 40U}) index.u64(id).zeros(24);
  for (const std::uint64_t machine : {0UL, 0UL, 1234UL, 1234UL}) index.u64(machine).u64(0);
  builder.add_record(69, 0, index.data()).keep_plain();
  Recipe recipe(std::move(builder));
  recipe.add(ping_at(100, 0, 1));
  recipe.builder.add_sample(1, ping_at(101, 0, 3));
  recipe.add(ping_at(102, 1, 2));
  recipe.builder.add_sample(1, ping_at(103, 0, 1UL << 40U));
  recipe.builder.add_sample(1, ping_at(104, 9, 3));
  for (const Kind& kind : kinds()) {
    const auto [summary, output] = convert_bytes(kind.build(recipe.builder));
    EXPECT_TRUE(output.events == sorted(events_of(recipe.samples)));
    ASSERT_THAT(summary.left_out, SizeIs(1));
    EXPECT_EQ(summary.left_out[0].reason, LeftOut::Reason::kGuest);
    EXPECT_EQ(summary.left_out[0].event, "test:ping");
    EXPECT_EQ(summary.left_out[0].count, 3U);
  }
}

TEST_P(InputsOfAnyOrder, WithAnIndexOfIdsButNoGuestsAreWhole) {
  Recipe recipe(ping_recording(order()));
  recipe.builder.add_record(69, 0, ByteWriter(order()).u64(1).u64(1).zeros(24).take());
  recipe.add(ping_at(100));
  recipe.builder.add_record(69, 0, ByteWriter(order()).u64(1).u64(1).zeros(40).take());
  recipe.add(ping_at(101));
  expect_events(convert_bytes(recipe.builder.build()), recipe.samples);
}

// What was lost while recording.

class LostEvents : public InputsOfAnyOrder {
 protected:
  static TrailerSpec at(std::uint64_t time, std::uint32_t cpu = 0, std::uint64_t id = 1) {
    TrailerSpec trailer = trailer_at(time, id);
    trailer.cpu = cpu;
    return trailer;
  }
  Recipe pings() const { return Recipe(ping_recording(order())); }
  void lose(Recipe& recipe, std::uint64_t count, const TrailerSpec& trailer) const {
    recipe.builder.add_lost(1, count, trailer);
  }
  static Converted convert_whole(const Recipe& recipe) {
    auto converted = convert_bytes(recipe.builder.build());
    expect_events(converted, recipe.samples);
    // Where records are compressed they tell the same.
    auto builder = recipe.builder;
    const auto stream = convert_bytes(builder.compress(kC2, 99).build_stream());
    EXPECT_TRUE(stream.output.marks == converted.output.marks);
    EXPECT_EQ(stream.summary.lost, converted.summary.lost);
    EXPECT_EQ(stream.summary.lost_unplaced, converted.summary.lost_unplaced);
    return converted;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, LostEvents, both_orders(), order_name);

TEST_P(LostEvents, AtTheStartAreMarkedBeforeTheFirstEvent) {
  auto recipe = pings();
  lose(recipe, 5, at(500));
  recipe.add(ping_at(3 * kSecond));
  recipe.add(ping_at(4 * kSecond));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, 5, 3 * kSecond}));
  EXPECT_EQ(summary.lost, 5U);
  EXPECT_EQ(summary.lost_unplaced, 0U);
  EXPECT_EQ(summary.lost_samples, 0U);
}

TEST_P(LostEvents, InTheMiddleAreMarkedBeforeTheNextEventOfTheirCpu) {
  auto recipe = pings();
  for (std::uint64_t i = 0; i < 10; ++i) recipe.add(ping_at(1000 + i, i % 2));
  lose(recipe, 7, at(2000, 1));
  recipe.add(ping_at(3 * kSecond, 0));
  recipe.add(ping_at(3 * kSecond + 1, 1));
  recipe.add(ping_at(5 * kSecond, 1));
  lose(recipe, 1UL << 31U, at(6 * kSecond, 1));
  recipe.add(ping_at(600 * kSecond, 1));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks,
              ElementsAre(Mark{1, 7, 3 * kSecond + 1},
                          // More than an int holds: the file only tells that there are some.
                          Mark{1, tracedat::kUnknownNumber, 600 * kSecond}));
  EXPECT_EQ(summary.lost, (1UL << 31U) + 7);
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

TEST_P(LostEvents, ThatAreMoreThanANumberCanTellAreTheLargestNumber) {
  constexpr std::uint64_t kHalf = 1UL << 63U;
  auto recipe = pings();
  recipe.add(ping_at(1000));
  lose(recipe, kHalf, at(2000));
  lose(recipe, kHalf + 5, at(3000));
  const auto [behind, no_marks] = convert_whole(recipe);
  EXPECT_THAT(no_marks.marks, IsEmpty());
  EXPECT_EQ(behind.lost, ~0UL);
  EXPECT_EQ(behind.lost_unplaced, ~0UL);
  recipe.add(ping_at(4000));
  const auto [placed, marks] = convert_whole(recipe);
  EXPECT_THAT(marks.marks, ElementsAre(Mark{0, tracedat::kUnknownNumber, 4000}));
  EXPECT_EQ(placed.lost, ~0UL);
  EXPECT_EQ(placed.lost_unplaced, 0U);
}

TEST_P(LostEvents, AtTheEndAreCountedWithoutAPlace) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  lose(recipe, 3, at(1500));
  recipe.add(ping_at(3 * kSecond));
  lose(recipe, 7, at(5 * kSecond));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, 3, 3 * kSecond}));
  EXPECT_EQ(summary.lost, 10U);
  EXPECT_EQ(summary.lost_unplaced, 7U);
}

/// What trace-cmd prints of a trace.dat: of each event its CPU and time, and each line that tells
/// of missing ones as it is.
std::vector<std::string> trace_cmd_lines(const std::string& path) {
  const std::string command = "trace-cmd report -t -i '" + path + "' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::vector<std::string> lines;
  std::array<char, 1000> buffer{};
  const std::regex event(R"(.*\[(\d+)\].*\s(\d+\.\d{9}): ping:.*)");
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    std::string line(buffer.data());
    line.erase(line.find_last_not_of(" \n") + 1);
    std::smatch parts;
    if (std::regex_match(line, parts, event)) {
      lines.push_back(parts[1].str() + " " + parts[2].str());
    } else if (line.find("DROPPED") != std::string::npos) {
      lines.push_back(line);
    }
  }
  return lines;
}

// As trace-cmd itself shows it, with gaps of more than a second, which need a time extend.
TEST_P(LostEvents, ShowInTraceCmdWhereTheyWereLost) {
  auto recipe = pings();
  lose(recipe, 5, at(500));
  recipe.add(ping_at(3 * kSecond));
  recipe.add(ping_at(5 * kSecond + 1));
  lose(recipe, 7, at(5 * kSecond + 2));
  recipe.add(ping_at(9 * kSecond));
  recipe.add(ping_at(11 * kSecond));
  lose(recipe, 9, at(12 * kSecond));
  const TemporaryDirectory directory;
  Options options;
  options.input = directory.write("in.data", recipe.builder.build());
  options.output = directory.path("out.dat");
  EXPECT_EQ(value_of(convert(options)).lost_unplaced, 9U);
  EXPECT_THAT(trace_cmd_lines(options.output),
              ElementsAre("CPU:0 [5 EVENTS DROPPED]", "000 3.000000000", "000 5.000000001",
                          "CPU:0 [7 EVENTS DROPPED]", "000 9.000000000", "000 11.000000000"));
}

TEST_P(LostEvents, OfACpuWithoutEventsAreCountedWithoutAPlace) {
  auto recipe = pings();
  lose(recipe, 4, at(1000, 6));
  recipe.add(ping_at(2000, 2));
  lose(recipe, 5, at(3000, 9));
  lose(recipe, 6, at(3000, 65536));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, IsEmpty());
  EXPECT_EQ(summary.cpus, 1U);
  EXPECT_EQ(output.cpu_count(), 3U);
  EXPECT_EQ(summary.lost, 15U);
  EXPECT_EQ(summary.lost_unplaced, 15U);
}

TEST_P(LostEvents, OfSeveralRecordsBetweenTwoEventsAreOneMark) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  lose(recipe, 3, at(1500));
  lose(recipe, 0, at(1550));
  lose(recipe, 4, at(1600));
  recipe.add(ping_at(2000));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, 7, 2000}));
  EXPECT_EQ(summary.lost, 7U);
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

TEST_P(LostEvents, ThatComeLateAreMarkedWhereTheyWereLost) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  recipe.add(ping_at(3 * kSecond));
  recipe.add(ping_at(9 * kSecond));
  lose(recipe, 5, at(2000));
  lose(recipe, 6, at(8 * kSecond));
  recipe.add(ping_at(4 * kSecond));
  recipe.add(ping_at(2 * kSecond));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, 5, 2 * kSecond}, Mark{0, 6, 9 * kSecond}));
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

// The kernel gives the record the time of the event that comes next.
TEST_P(LostEvents, WithTheTimeOfTheNextEventAreMarkedBeforeIt) {
  for (const bool with_late_ones : {false, true}) {
    auto recipe = pings();
    recipe.add(ping_at(1000));
    lose(recipe, 5, at(2000));
    recipe.add(ping_at(2000));
    recipe.add(ping_at(5000));
    std::vector<Mark> expected = {{0, 5, 2000}};
    if (with_late_ones) {
      recipe.add(ping_at(1500));
      lose(recipe, 6, at(3000));
      recipe.add(ping_at(3000));
      lose(recipe, 7, at(2000));
      recipe.add(ping(order(), {1, 2000, 0}, 77));
      expected = {{0, 5, 2000}, {0, 7, 2000}, {0, 6, 3000}};
    }
    const auto [summary, output] = convert_whole(recipe);
    EXPECT_TRUE(output.marks == expected) << ::testing::PrintToString(output.marks);
    EXPECT_EQ(summary.lost_unplaced, 0U);
  }
}

TEST_P(LostEvents, ThatComeAfterAllEventsAreMarkedOnTheFullPages) {
  auto recipe = pings();
  for (std::uint64_t i = 0; i < 1000; ++i) recipe.add(ping_at(1000 + i * 10));
  std::vector<Mark> expected;
  for (std::uint64_t i = 50; i < 1000; i += 100) {
    lose(recipe, i, at(1001 + i * 10));
    expected.push_back({0, i, 1010 + i * 10});
  }
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_TRUE(output.marks == expected) << ::testing::PrintToString(output.marks);
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

TEST_P(LostEvents, AtTheEndOfACpuWithLateEventsAreCountedWithoutAPlace) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  recipe.add(ping_at(3000));
  lose(recipe, 5, at(4000));
  recipe.add(ping_at(2000));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, IsEmpty());
  EXPECT_EQ(summary.lost, 5U);
  EXPECT_EQ(summary.lost_unplaced, 5U);
}

TEST_P(LostEvents, AreMarkedOnFullPagesAlso) {
  auto recipe = pings();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    recipe.add(ping_at(1000 + i * 10));
    if (i % 100 == 50) lose(recipe, i, at(1001 + i * 10));
  }
  const auto [summary, output] = convert_whole(recipe);
  std::vector<Mark> expected;
  for (std::uint64_t i = 50; i < 1000; i += 100) expected.push_back({0, i, 1010 + i * 10});
  EXPECT_TRUE(output.marks == expected);
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

TEST_P(LostEvents, BeforeAnEventThatFillsItsPageAreMarkedWithoutTheirNumber) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  lose(recipe, 5, at(1500));
  SampleSpec large = ping_at(2000);
  large.raw.resize(4068);
  recipe.add(large);
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, tracedat::kUnknownNumber, 2000}));
  EXPECT_EQ(summary.lost, 5U);
}

TEST_P(LostEvents, BeforeAnEventLargerThanAPageAreMarkedBeforeIt) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  lose(recipe, 5, at(1500));
  SampleSpec large = ping_at(2000);
  large.raw.resize(5004);
  recipe.add(large);
  lose(recipe, 6, at(2000));
  recipe.add(ping_at(2000));
  recipe.add(ping_at(3 * kSecond));
  lose(recipe, 7, at(4 * kSecond));
  lose(recipe, 8, at(5 * kSecond));
  large.time = 6 * kSecond;
  recipe.add(large);
  recipe.add(ping_at(7 * kSecond));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks,
              ElementsAre(Mark{0, 5, 2000}, Mark{0, 6, 2000}, Mark{0, 15, 6 * kSecond}));
  EXPECT_EQ(summary.lost_unplaced, 0U);
}

TEST_P(LostEvents, OfASmallMachineAreMarkedToo) {
  TracingData tracing = kernel(order());
  tracing.header_page = header_page(4);
  tracing.long_size = 4;
  PerfDataBuilder builder(order());
  builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
  Recipe recipe(std::move(builder));
  recipe.add(ping_at(1000));
  lose(recipe, 77, at(1500));
  recipe.add(ping_at(9 * kSecond));
  EXPECT_THAT(convert_whole(recipe).output.marks, ElementsAre(Mark{0, 77, 9 * kSecond}));
}

TEST_P(LostEvents, ThatOnlyACounterTellsOfAreCountedApart) {
  auto recipe = pings();
  recipe.add(ping_at(1000));
  recipe.builder.add_lost_samples(9, at(1500));
  recipe.add(ping_at(2000));
  recipe.builder.add_lost_samples(1, at(2500));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, IsEmpty());
  EXPECT_EQ(summary.lost, 0U);
  EXPECT_EQ(summary.lost_unplaced, 0U);
  EXPECT_EQ(summary.lost_samples, 10U);
}

TEST_P(LostEvents, WithoutATrailerAreCountedWithoutAPlace) {
  PerfDataBuilder builder(order());
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_id_all = false;
  builder.set_tracing(kernel(order())).add_attr(attr);
  Recipe recipe(std::move(builder));
  recipe.add(ping_at(1000));
  lose(recipe, 5, at(1500));
  recipe.add(ping_at(2000));
  const auto [summary, output] = convert_whole(recipe);
  EXPECT_THAT(output.marks, IsEmpty());
  EXPECT_EQ(summary.lost, 5U);
  EXPECT_EQ(summary.lost_unplaced, 5U);
}

TEST_P(LostEvents, WhoseTrailerLacksTheCpuOrTheTimeAreCountedWithoutAPlace) {
  for (const std::uint64_t lacking : {perfdata::kSampleCpu, perfdata::kSampleTime}) {
    PerfDataBuilder builder(order());
    AttrSpec first = tracepoint(kWakeup, {2}, "sched:sched_wakeup");
    first.sample_type &= ~lacking;
    builder.set_tracing(kernel(order())).add_attr(first);
    builder.add_attr(tracepoint(kPing, {1}, "test:ping"));
    Recipe recipe(std::move(builder));
    recipe.add(ping_at(1000), 1);
    lose(recipe, 5, at(1500, 0, 2));
    recipe.add(ping_at(2000), 1);
    const auto [summary, output] = convert_whole(recipe);
    EXPECT_THAT(output.marks, IsEmpty());
    EXPECT_EQ(summary.lost, 5U);
    EXPECT_EQ(summary.lost_unplaced, 5U);
  }
}

// Windows of time.

class Windows : public LostEvents {
 protected:
  /// Events of 1 s to 11 s, and those a nanosecond before and after the full seconds from 2 s on.
  std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> times;
    for (std::uint64_t second = 1; second <= 11; ++second) {
      if (second > 1) times.push_back(second * kSecond - 1);
      times.push_back(second * kSecond);
      if (second < 11) times.push_back(second * kSecond + 1);
    }
    return times;
  }
  Recipe recipe(bool with_span = true) const {
    Recipe recipe(ping_recording(order()));
    if (with_span) {
      recipe.builder.set_feature(Feature::kSampleTime,
                                 ByteWriter(order()).u64(kSecond).u64(11 * kSecond).take());
    }
    for (const std::uint64_t time : times()) recipe.add(ping_at(time, time % 2));
    return recipe;
  }
  static Workshop& with_time(Workshop& workshop, std::string_view time) {
    workshop.options().time = time;
    return workshop;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, Windows, both_orders(), order_name);

TEST_P(Windows, HaveExactlyTheEventsFromTheirStartToTheirEnd) {
  const auto made = recipe();
  struct Case {
    std::string_view time;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> windows;
  };
  const auto s = kSecond;
  for (const auto& [time, windows] : std::vector<Case>{
           {"2,3", {{2 * s, 3 * s}}},
           {"2.0,2", {{2 * s, 2 * s}}},
           {"1.999999999,2.000000000", {{2 * s - 1, 2 * s}}},
           {"2.000000001,3.5", {{2 * s + 1, 3 * s + s / 2}}},
           {"10.1,", {{10 * s + s / 10, 11 * s}}},
           {",2.5", {{0, 2 * s + s / 2}}},
           {"1,2 4,5 11,", {{s, 2 * s}, {4 * s, 5 * s}, {11 * s, 11 * s}}},
           {"0,100", {{0, 100 * s}}},
           // perf's slices end a nanosecond before the next, and the last at the end.
           {"0%-10%", {{s, 2 * s - 1}}},
           {"10%", {{s, 2 * s - 1}}},
           {"10%/2", {{2 * s, 3 * s - 1}}},
           {"90%-100%", {{10 * s, 11 * s}}},
           {"10%/10", {{10 * s, 11 * s}}},
           {"10%/1,10%/3", {{s, 2 * s - 1}, {3 * s, 4 * s - 1}}},
           {"0%-10%,30%-40%", {{s, 2 * s - 1}, {4 * s, 5 * s - 1}}},
       }) {
    std::vector<SampleSpec> inside;
    for (const auto& each : made.samples) {
      for (const auto& window : windows) {
        if (each.time >= window.first && each.time <= window.second) inside.push_back(each);
      }
    }
    ASSERT_FALSE(inside.empty());
    for (const Kind& kind : kinds()) {
      Workshop workshop(kind.build(made.builder));
      const auto converted = convert_in(with_time(workshop, time));
      EXPECT_EQ(converted.summary.converted, inside.size()) << kind.name << " " << time;
      expect_events(converted, inside);
      EXPECT_EQ(converted.summary.outside_time, made.samples.size() - inside.size());
    }
  }
}

TEST_P(Windows, ThatHaveNoEventsAreAnError) {
  Workshop workshop(recipe().builder.build());
  EXPECT_THAT(with_time(workshop, "100,200").error(),
              AllOf(HasSubstr("none of its 31 tracepoint samples is in the windows of --time"),
                    HasSubstr("100,200")));
  EXPECT_THAT(with_time(workshop, "2.1,2.2").error(), HasSubstr("none of its 31"));
}

TEST_P(Windows, OfNoMeaningAreAnErrorOfUsage) {
  const Bytes bytes = recipe().builder.build();
  for (const std::string_view time :
       {"x", "2", "3,2", "1,x", "1.0000000001,2", "-1,2", "1,2 0,1", "1,3 2,4", " ", "150%",
        "10%/11", "10%/0", "0%/1", "10%-", "99999999999999999999,", "1,2,3"}) {
    Workshop workshop(bytes);
    EXPECT_THAT(with_time(workshop, time).error(Error::Kind::kUsage),
                AllOf(HasSubstr("--time"), HasSubstr(std::string(time))));
  }
}

TEST_P(Windows, OfPercentsNeedTheTimesOfTheFirstAndLastSample) {
  for (const Kind& kind : kinds()) {
    Workshop workshop(kind.build(recipe(false).builder));
    EXPECT_THAT(with_time(workshop, "10%").error(Error::Kind::kUsage),
                HasSubstr("does not tell its first and last sample's time"));
  }
}

TEST_P(Windows, HaveNoMarkOfWhatWasLostOutside) {
  Recipe recipe(ping_recording(order()));
  recipe.add(ping_at(1 * kSecond));
  lose(recipe, 3, at(1 * kSecond + 1));
  recipe.add(ping_at(3 * kSecond));
  lose(recipe, 4, at(4 * kSecond));
  recipe.add(ping_at(5 * kSecond));
  lose(recipe, 6, at(6 * kSecond));
  recipe.add(ping_at(7 * kSecond));
  lose(recipe, 8, at(8 * kSecond));
  Workshop workshop(recipe.builder.build());
  const auto [summary, output] = convert_in(with_time(workshop, "2,6"));
  EXPECT_THAT(output.events,
              ElementsAre(event_of(ping_at(3 * kSecond)), event_of(ping_at(5 * kSecond))));
  EXPECT_THAT(output.marks, ElementsAre(Mark{0, 4, 5 * kSecond}));
  EXPECT_EQ(summary.lost, 10U);
  EXPECT_EQ(summary.lost_unplaced, 6U);
  EXPECT_EQ(summary.outside_time, 2U);
}

TEST_P(Windows, KeepTheNamesOfTasksThatAreToldOutside) {
  PerfDataBuilder builder(order());
  builder.set_tracing(kernel(order())).add_attr(tracepoint(kSwitch, {1}, "sched:sched_switch"));
  builder.add_comm(5, 5, "five", trailer_at(50, 1));
  for (std::uint32_t second = 1; second <= 3; ++second) {
    builder.add_sample(0, sample({1, second * kSecond, 0}, order(),
                                 switch_payload(order(), {second, "one"}, {second + 1, "two"})));
  }
  Workshop workshop(builder.build());
  const auto [summary, output] = convert_in(with_time(workshop, "2,2"));
  EXPECT_EQ(summary.converted, 1U);
  EXPECT_THAT(output.cmdlines, AllOf(HasSubstr("5 five\n"), HasSubstr("1 one\n")));
}

}  // namespace
}  // namespace perf2dat::testing
