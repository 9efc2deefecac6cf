// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is drawn from as a plan of a recording, which is always a valid one. What comes of its
// conversion is what libtracecmd reads, what our reader reads, and what the plan says; and so it is
// for the other byte order's twin, for a stream, and with compression.
#include <string>
#include <utility>

#include "any_recording.h"
#include "input_in_memory.h"
#include "output_folder.h"
#include "perf2dat/perf2dat.h"
#include "property.h"
#include "testing/read_at.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"
#include "tracedat/reader.h"

namespace perf2dat::fuzz {
namespace {

using props::AnyRecord;
using props::AnyRecording;
using testing::Bytes;
using testing::Event;

constexpr std::uint64_t kDelta = 1ULL << 27U;
constexpr std::uint64_t kExtend = 1ULL << 59U;

std::vector<testing::AttrSpec> draw_attrs(Draw& draw) {
  using props::IdLayout;
  const auto layout =
      draw.one_of({IdLayout::kIdentifier, IdLayout::kId, IdLayout::kBoth, IdLayout::kNone});
  const bool own = layout == IdLayout::kIdentifier || layout == IdLayout::kBoth;
  const std::size_t count = layout == IdLayout::kNone ? 1 : 1 + draw.below(4);
  const bool sample_id_all = !draw.flag();
  const auto size = draw.one_of<std::uint32_t>({128, 112, 96});
  auto next_id = draw.one_of<std::uint64_t>({1, 70'000, 1ULL << 40U});
  std::vector<testing::AttrSpec> attrs;
  std::uint64_t fields = 0;
  std::uint64_t read_format = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || own) {
      fields = props::optional_fields(static_cast<unsigned>(draw.below(props::kOptionalFieldSets)));
      read_format = draw.below(32);
    }
    auto attr = testing::tracepoint(testing::kPing, {}, "test:ping");
    attr.sample_type = props::kNeededFields | props::id_fields(layout) | fields;
    attr.read_format = read_format;
    attr.sample_id_all = sample_id_all;
    attr.size = size;
    if (i > 0 && draw.flag()) {
      attr.type = 1;
      attr.config = 0;
      attr.name = "cpu-clock";
      if (own) attr.sample_type &= ~std::uint64_t{perfdata::kSampleRaw};
    }
    for (std::size_t ids = 1 + draw.below(3); ids > 0; --ids) {
      attr.ids.push_back(next_id);
      next_id += draw.one_of<std::uint64_t>({1, 2, 1000});
    }
    attrs.push_back(std::move(attr));
  }
  return attrs;
}

/// Near the last record's time, at the encoding's limits from it, or anywhere.
std::uint64_t draw_time(Draw& draw, std::uint64_t last) {
  switch (draw.below(8)) {
    case 0:
      return last;
    case 1:
      return last + draw.one_of<std::uint64_t>(
                        {kDelta - 1, kDelta, kDelta + 1, kExtend, kExtend + kDelta, 2 * kExtend});
    case 2:
      return last - draw.byte();
    case 3:
      return draw.number<std::uint64_t>();
    default:
      return last + draw.byte();
  }
}

std::size_t draw_size(Draw& draw) {
  const auto size = draw.one_of<std::size_t>(
      {16, 16, 16, 16, 32, 32, 40, 64, 100, 108, 116, 124, 4068, 4076, 8192, 0});
  if (size != 0) return size;
  return props::kSmallestData + draw.number<std::uint16_t>() % (props::kLargestData - 15);
}

AnyRecord draw_record(Draw& draw, const AnyRecording& recording, std::uint64_t last) {
  using Kind = AnyRecord::Kind;
  AnyRecord record;
  record.kind = draw.one_of({Kind::kSample, Kind::kSample, Kind::kSample, Kind::kSample,
                             Kind::kComm, Kind::kFork, Kind::kLost, Kind::kRound});
  if (record.kind == Kind::kRound) return record;
  record.attr = draw.below(recording.attrs.size());
  record.id = draw.below(recording.attrs[record.attr].ids.size());
  record.cpu = draw.one_of<std::uint32_t>({0, 1, 2, 3, 63, 64, 4095, draw.byte()});
  record.time = draw_time(draw, last);
  record.tid = 1 + static_cast<std::uint32_t>(draw.below(6));
  record.value = draw.byte();
  record.size = record.kind == Kind::kSample ? draw_size(draw) : props::kSmallestData;
  if (record.kind == Kind::kComm) record.comm = draw.c_string().substr(0, 15);
  return record;
}

AnyRecording draw_recording(Draw& draw, std::uint32_t page_size) {
  AnyRecording recording;
  recording.page_size = page_size;
  recording.commit_size = draw.one_of<std::uint32_t>({8, 4});
  recording.attrs = draw_attrs(draw);
  // A recording without any tracepoint's sample is refused.
  AnyRecord first;
  first.time = 1'000'000;
  first.tid = 1;
  first.size = props::kSmallestData;
  recording.records.push_back(std::move(first));
  // A byte of the input draws up to 60,000 of a sample's data. More than this would be slow, and
  // this is more than is decompressed at once.
  constexpr std::size_t kMostData = 300'000;
  for (std::size_t data = 0; !draw.empty() && data < kMostData;) {
    auto record = draw_record(draw, recording, recording.records.back().time);
    if (record.kind == AnyRecord::Kind::kRound) record.time = recording.records.back().time;
    data += 1 + record.size;
    recording.records.push_back(std::move(record));
  }
  return recording;
}

struct Outcome {
  Summary summary;
  Bytes file;
  std::vector<Event> events;
  std::vector<std::int64_t> missed;  ///< before each event
  std::vector<std::string> names;    ///< of all tasks that there may be
};

std::vector<Event> read_events(std::span<const std::byte> file) {
  const auto read_at = testing::reader_of(file);
  const auto contents = tracedat::read_contents(read_at, file.size());
  expect(contents.has_value(), contents ? "" : contents.error().message);
  std::vector<Event> events;
  for (const auto& range : contents->ranges) {
    const auto read = tracedat::read_events(
        read_at, contents->format, range, [&](const tracedat::RingEvent& event) {
          if (event.is_mark()) return;
          events.push_back({range.cpu, event.time, {event.payload.begin(), event.payload.end()}});
        });
    expect(read.has_value(), read ? "" : read.error().message);
  }
  return events;
}

Outcome convert_bytes(std::span<const std::byte> recording) {
  static InputInMemory input;
  static OutputFolder folder;
  Options options;
  options.input = input.path_of(recording);
  options.output = folder.path("out.dat");
  options.check = true;
  options.overwrite = true;
  const auto summary = convert(options);
  expect(summary.has_value(), summary ? "" : summary.error().message);
  Outcome outcome{*summary, folder.read("out.dat"), {}, {}, {}};
  const auto judged = props::judge_file(options.output, {1, 2, 3, 4, 5, 6});
  expect(judged.has_value(), "libtracecmd reads the output");
  outcome.names = judged->names;
  for (const auto& event : judged->events) {
    outcome.events.push_back({event.cpu, event.time, event.payload});
    outcome.missed.push_back(event.missed);
  }
  expect(outcome.events == read_events(outcome.file), "our reader and libtracecmd agree");
  expect(outcome.events.size() == summary->converted, "the summary counts the events");
  return outcome;
}

void expect_plan(const Outcome& outcome, const AnyRecording& recording) {
  const auto expected = props::expected_file(recording, ByteOrder::kLittle);
  expect(outcome.events == expected.events, "the output holds the plan's events in order");
  for (std::size_t i = 0; i < expected.missed.size(); ++i) {
    expect(
        props::same_missed(outcome.missed[i], expected.missed[i], expected.events[i].payload.size(),
                           outcome.summary.page_size, recording.commit_size),
        "events are missed where the plan loses some");
  }
  expect(outcome.summary.lost == expected.lost &&
             outcome.summary.lost_unplaced == expected.lost_unplaced,
         "the plan's losses are counted");
}

/// Ways in which the same recording may come.
void same_in_another_form(const testing::PerfDataBuilder& builder, Draw& form,
                          const Outcome& plain) {
  if (form.flag()) {
    expect(convert_bytes(builder.build_stream()).file == plain.file, "a stream gives the same");
  }
  if (form.flag()) {
    const auto kind = form.byte();
    const auto type =
        (kind & 1U) == 0 ? perfdata::RecordType::kCompressed : perfdata::RecordType::kCompressed2;
    // A large chunk becomes more than is decompressed at once. What is in it shrinks well, so it
    // fits a record.
    const std::size_t unit = (kind & 2U) == 0 ? 1 : 16;
    auto compressed = builder;
    compressed.compress(type, 1 + unit * form.number<std::uint16_t>());
    expect(convert_bytes(compressed.build()).file == plain.file, "zstd gives the same");
  }
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat;        // NOLINT(google-build-using-namespace)
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  Draw draw(bytes_of(data, size));
  Draw form(draw.take(6));
  const auto first = form.byte();
  const bool big_form = (first & 1U) != 0;
  constexpr std::uint32_t kPageSizes[] = {4096, 8192, 65536};
  const AnyRecording recording = draw_recording(draw, kPageSizes[(first >> 1U) % 3]);

  const auto little_builder = props::build(recording, ByteOrder::kLittle);
  const Outcome little = convert_bytes(little_builder.build());
  expect_plan(little, recording);

  const auto big_builder = props::build(recording, ByteOrder::kBig);
  Outcome big = convert_bytes(big_builder.build());
  same_in_another_form(big_form ? big_builder : little_builder, form, big_form ? big : little);
  testing::swap_events(big.events, props::kernel_of(recording, ByteOrder::kBig), ByteOrder::kBig);
  expect(little.events == big.events, "the twins agree");
  expect(little.summary.lost == big.summary.lost &&
             little.summary.lost_unplaced == big.summary.lost_unplaced,
         "the twins lose the same");
  expect(little.missed == big.missed, "the twins miss the same");
  expect(little.names == big.names, "the twins name tasks alike");
  return 0;
}
