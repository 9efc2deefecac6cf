// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole conversions: what is drawn is what libtracecmd reads from the trace.dat.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "holds.h"
#include "recordings.h"
#include "shuffled.h"
#include "testing/conversions.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"

namespace perf2dat::props {
namespace {

using testing::Bytes;
using testing::Event;

ByteOrder draw_order() { return *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig); }

constexpr int kTasks = 5;  // that recordings have, from 1 on

/// What came of a conversion, as libtracecmd reads it.
struct Outcome {
  Summary summary;
  Bytes file;
  std::vector<Event> events;
  std::vector<std::int64_t> missed;  ///< before each event
  std::vector<std::string> names;    ///< of the tasks
};

/// Converts, and has libtracecmd and our own reader agree on what is in the output.
Outcome convert(const Bytes& recording, const std::string& time = {}) {
  testing::Workshop workshop(recording);
  workshop.options().time = time;
  const auto summary = workshop.convert();
  if (!summary) RC_FAIL(summary.error().message);
  Outcome outcome{*summary, testing::read_file(workshop.options().output), {}, {}, {}};
  RC_ASSERT(summary->checked);
  std::vector<int> tasks(kTasks);
  std::iota(tasks.begin(), tasks.end(), 1);
  auto judged = judge_file(workshop.options().output, tasks);
  RC_ASSERT(judged.has_value());
  for (FileEvent& event : judged->events) {
    outcome.events.push_back({event.cpu, event.time, std::move(event.payload)});
    outcome.missed.push_back(event.missed);
  }
  outcome.names = std::move(judged->names);
  RC_ASSERT(outcome.events == workshop.output().events);
  RC_ASSERT(outcome.events.size() == summary->converted);
  return outcome;
}

Outcome convert(const testing::PerfDataBuilder& builder) { return convert(builder.build()); }

/// The same recording with its samples' and other records' times changed.
template <typename Change>
AnyRecording with_times(AnyRecording recording, Change change) {
  for (AnyRecord& record : recording.records) record.time = change(record.time);
  return recording;
}

AnyRecording draw() {
  AnyRecording recording = *any_recording();
  classify(recording);
  return recording;
}

void holds_input_in_order(const AnyRecording& recording) {
  const ByteOrder order = draw_order();
  const Outcome outcome = convert(build(recording, order));
  const ExpectedFile expected = expected_file(recording, order);
  RC_ASSERT(outcome.events == expected.events);
  for (std::size_t i = 0; i < expected.missed.size(); ++i) {
    RC_ASSERT(same_missed(outcome.missed[i], expected.missed[i], expected.events[i].payload.size(),
                          outcome.summary.page_size, recording.commit_size));
  }
  RC_ASSERT(outcome.summary.lost == expected.lost);
  RC_ASSERT(outcome.summary.lost_unplaced == expected.lost_unplaced);
}

TEST(Conversion, HoldsTheInputInOrder) {
  holds([] { holds_input_in_order(draw()); }, kRecordingEdges);
}

TEST(Conversion, HoldsTheInputOfManyCpusInOrder) {
  holds(
      [] {
        // Thousands of CPUs take a hundred times as long.
        const bool many = *rc::gen::weightedElement<bool>({{1, true}, {34, false}});
        const AnyRecording recording = many ? *recording_of_many_cpus() : *any_recording();
        classify(recording);
        holds_input_in_order(recording);
      },
      {"4096 CPUs"});
}

TEST(Conversion, TwinsAgree) {
  holds([] {
    const AnyRecording recording = draw();
    const Outcome little = convert(build(recording, ByteOrder::kLittle));
    Outcome big = convert(build(recording, ByteOrder::kBig));
    testing::swap_events(big.events, kernel_of(recording, ByteOrder::kBig), ByteOrder::kBig);
    RC_ASSERT(little.events == big.events);
    RC_ASSERT(little.missed == big.missed);
    RC_ASSERT(little.names == big.names);
    RC_ASSERT(little.summary.lost_unplaced == big.summary.lost_unplaced);
  });
}

TEST(Conversion, FileAndStreamAgree) {
  holds([] {
    const testing::PerfDataBuilder builder = build(draw(), draw_order());
    RC_ASSERT(convert(builder.build()).file == convert(builder.build_stream()).file);
  });
}

TEST(Conversion, PlainAndCompressedAgree) {
  holds([] {
    testing::PerfDataBuilder builder = build(draw(), draw_order());
    const Outcome plain = convert(builder);
    const auto type =
        *rc::gen::element(perfdata::RecordType::kCompressed, perfdata::RecordType::kCompressed2);
    builder.compress(type, *rc::gen::inRange<std::size_t>(1, 60'000));
    RC_ASSERT(convert(builder).file == plain.file);
  });
}

std::string seconds(std::uint64_t time) {
  return fmt::format("{}.{:09}", time / 1'000'000'000, time % 1'000'000'000);
}

TEST(Conversion, TimeWindowsPartition) {
  holds(
      [] {
        const AnyRecording recording = draw();
        const Bytes bytes = build(recording, draw_order()).build();
        const Outcome whole = convert(bytes);

        // Cuts at and around events' times.
        std::set<std::uint64_t> times;
        for (const Event& event : whole.events) {
          times.insert({event.time, event.time + 1, event.time - 1});
        }
        const std::vector<std::uint64_t> places(times.begin(), times.end());
        auto cuts = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::elementOf(places));
        cuts.resize(std::min<std::size_t>(cuts.size(), 3));
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        std::erase(cuts, 0U);  // an end at 0 is an open end

        std::vector<Event> joined;
        for (std::size_t i = 0; i <= cuts.size(); ++i) {
          const std::uint64_t first = i == 0 ? 0 : cuts[i - 1] + 1;
          const std::uint64_t last = i == cuts.size() ? ~0ULL : cuts[i];
          const bool any = std::any_of(
              whole.events.begin(), whole.events.end(),
              [&](const Event& event) { return event.time >= first && event.time <= last; });
          RC_CLASSIFY(!any, "an empty window");
          // There is no trace.dat without events.
          if (!any) continue;
          const Outcome part = convert(bytes, (i == 0 ? "" : seconds(first)) + "," +
                                                  (i == cuts.size() ? "" : seconds(last)));
          RC_ASSERT(part.summary.outside_time + part.summary.converted == whole.events.size());
          joined.insert(joined.end(), part.events.begin(), part.events.end());
        }
        RC_CLASSIFY(cuts.size() > 1, "three windows or more");
        RC_ASSERT(testing::sorted(joined) == whole.events);
      },
      {"three windows or more", "an empty window"});
}

rc::Gen<AnyRecord> other_sample(std::size_t attr) {
  return rc::gen::exec([attr] {
    AnyRecord sample;
    sample.attr = attr;
    sample.cpu = *rc::gen::element<std::uint32_t>(0, 1, 4095);
    sample.time = *rc::gen::element<std::uint64_t>(1, 1'000'000, 1'010'000, 1ULL << 60U);
    sample.tid = *rc::gen::inRange<std::uint32_t>(1, kTasks + 1);
    sample.size = kSmallestData;
    sample.value = *rc::gen::arbitrary<std::uint64_t>();
    return sample;
  });
}

TEST(Conversion, OtherEventsSamplesChangeNothing) {
  holds(
      [] {
        AnyRecording recording = draw();
        const ByteOrder order = draw_order();
        const testing::AttrSpec& front = recording.attrs.front();
        const std::uint64_t ids = perfdata::kSampleIdentifier | perfdata::kSampleId;
        // Samples of a second event would not tell which one they are of.
        RC_PRE((front.sample_type & ids) != 0U);
        testing::AttrSpec clock = testing::cpu_clock({999'999});
        clock.size = front.size;
        clock.sample_id_all = front.sample_id_all;
        if ((front.sample_type & perfdata::kSampleIdentifier) == 0) {
          clock.sample_type = front.sample_type;
          clock.read_format = front.read_format;
        }
        recording.attrs.push_back(clock);
        const Outcome without = convert(build(recording, order));
        const std::size_t attr = recording.attrs.size() - 1;
        const auto added = *rc::gen::container<std::vector<AnyRecord>>(other_sample(attr));
        RC_CLASSIFY(!added.empty(), "samples were added");
        for (const AnyRecord& sample : added) {
          RC_CLASSIFY(std::none_of(without.events.begin(), without.events.end(),
                                   [&](const Event& event) { return event.cpu == sample.cpu; }),
                      "on a CPU of its own");
          const auto place =
              static_cast<std::ptrdiff_t>(sample.value % (recording.records.size() + 1));
          recording.records.insert(recording.records.begin() + place, sample);
        }
        const Outcome with = convert(build(recording, order));
        RC_ASSERT(with.file == without.file);
      },
      {"samples were added", "on a CPU of its own"});
}

TEST(Conversion, ShiftedTimesShiftTheOutput) {
  holds([] {
    const AnyRecording recording = draw();
    const ByteOrder order = draw_order();
    const auto shift =
        *rc::gen::element<std::uint64_t>(1, 999, 1ULL << 27U, 1ULL << 32U, 1ULL << 59U);
    Outcome before = convert(build(recording, order));
    const Outcome after = convert(
        build(with_times(recording, [&](std::uint64_t time) { return time + shift; }), order));
    for (Event& event : before.events) event.time += shift;
    RC_ASSERT(after.events == before.events);
    RC_ASSERT(after.missed == before.missed);
    RC_ASSERT(after.names == before.names);
  });
}

/// Gives each sample a time of its own, so that its place in the file says nothing.
AnyRecording with_distinct_times(AnyRecording recording) {
  std::uint64_t next = 0;
  return with_times(std::move(recording),
                    [&](std::uint64_t time) { return time / 1'000'000 * 1'000'000 + ++next; });
}

TEST(Conversion, OrderInsideARoundChangesNothing) {
  holds(
      [] {
        AnyRecording recording = with_distinct_times(draw());
        const ByteOrder order = draw_order();
        const Outcome before = convert(build(recording, order));
        const auto is_round = [](const AnyRecord& record) {
          return record.kind == AnyRecord::Kind::kRound;
        };
        for (auto from = recording.records.begin(); from != recording.records.end();) {
          const auto to = std::find_if(from, recording.records.end(), is_round);
          const std::vector<AnyRecord> round(from, to);
          const auto drawn = *shuffled(round);
          std::copy(drawn.begin(), drawn.end(), from);
          from = to == recording.records.end() ? to : to + 1;
        }
        const Outcome after = convert(build(recording, order));
        RC_ASSERT(after.events == before.events);
        // Without a trailer, what is no sample has its place in the file for a time.
        if (!recording.attrs.front().sample_id_all) return;
        RC_ASSERT(after.missed == before.missed);
        RC_ASSERT(after.names == before.names);
      },
      {});
}

TEST(Conversion, RoundsConvertedApartJoinToTheWhole) {
  holds(
      [] {
        const AnyRecording recording = draw();
        const ByteOrder order = draw_order();
        const Outcome whole = convert(build(recording, order));
        std::vector<Event> joined;
        AnyRecording part = recording;
        part.records.clear();
        std::size_t parts = 0;
        const auto convert_part = [&] {
          if (expected_file(part, order).events.empty()) return;
          const Outcome outcome = convert(build(part, order));
          joined.insert(joined.end(), outcome.events.begin(), outcome.events.end());
          ++parts;
        };
        for (const AnyRecord& record : recording.records) {
          part.records.push_back(record);
          if (record.kind != AnyRecord::Kind::kRound) continue;
          convert_part();
          part.records.clear();
        }
        convert_part();
        RC_CLASSIFY(parts > 1, "several parts");
        RC_ASSERT(testing::sorted(joined) == whole.events);
      },
      {"several parts"});
}

}  // namespace
}  // namespace perf2dat::props
