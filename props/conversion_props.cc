// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole conversions: what is drawn is what libtracecmd reads from the trace.dat.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "holds.h"
#include "recordings.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"

namespace perf2dat::props {
namespace {

using testing::Bytes;
using testing::Event;

ByteOrder draw_order() { return *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig); }

/// What came of a conversion.
struct Outcome {
  Summary summary;
  Bytes file;
  std::vector<Event> events;
};

std::vector<Event> events_of(const JudgedFile& judged) {
  std::vector<Event> events;
  for (const FileEvent& event : judged.events) {
    events.push_back({event.cpu, event.time, event.payload});
  }
  return events;
}

/// Converts, and has libtracecmd and our own reader agree on what is in the output.
Outcome convert(const Bytes& recording, const std::string& time = {}) {
  testing::Workshop workshop(recording);
  workshop.options().time = time;
  const auto summary = workshop.convert();
  if (!summary) RC_FAIL(summary.error().message);
  Outcome outcome{*summary, testing::read_file(workshop.options().output), {}};
  RC_ASSERT(summary->checked);
  const auto judged = judge_file(workshop.options().output);
  RC_ASSERT(judged.has_value());
  outcome.events = events_of(*judged);
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

TEST(Conversion, HoldsTheInputInOrder) {
  holds(
      [] {
        const AnyRecording recording = draw();
        const ByteOrder order = draw_order();
        const Outcome outcome = convert(build(recording, order));
        RC_ASSERT(outcome.events == expected_events(recording, order));

        std::uint64_t lost = 0;
        for (const AnyRecord& record : recording.records) {
          if (record.kind == AnyRecord::Kind::kLost) lost += 1 + record.value % 100;
        }
        RC_ASSERT(outcome.summary.lost == lost);
      },
      kRecordingEdges);
}

TEST(Conversion, TwinsAgree) {
  holds([] {
    const AnyRecording recording = draw();
    const Outcome little = convert(build(recording, ByteOrder::kLittle));
    Outcome big = convert(build(recording, ByteOrder::kBig));
    testing::swap_events(big.events, kernel_of(recording, ByteOrder::kBig), ByteOrder::kBig);
    RC_ASSERT(little.events == big.events);
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

TEST(Conversion, OtherEventsSamplesChangeNothing) {
  holds([] {
    AnyRecording recording = draw();
    const ByteOrder order = draw_order();
    RC_PRE(recording.attrs.front().sample_type & perfdata::kSampleIdentifier);
    testing::AttrSpec clock = testing::cpu_clock({999'999});
    clock.size = recording.attrs.front().size;
    clock.sample_id_all = recording.attrs.front().sample_id_all;
    recording.attrs.push_back(clock);
    const Outcome without = convert(build(recording, order));
    AnyRecord sample;
    sample.attr = recording.attrs.size() - 1;
    sample.time = 1'000'000;
    sample.size = 16;
    const auto places = *rc::gen::container<std::vector<std::size_t>>(
        rc::gen::inRange<std::size_t>(0, recording.records.size() + 1));
    for (const std::size_t place : places) {
      recording.records.insert(recording.records.begin() + static_cast<std::ptrdiff_t>(place),
                               sample);
    }
    const Outcome with = convert(build(recording, order));
    RC_ASSERT(with.file == without.file);
  });
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
  });
}

/// Gives each sample a time of its own, so that its place in the file says nothing.
AnyRecording with_distinct_times(AnyRecording recording) {
  std::uint64_t next = 0;
  return with_times(std::move(recording),
                    [&](std::uint64_t time) { return time / 1'000'000 * 1'000'000 + ++next; });
}

TEST(Conversion, OrderInsideARoundChangesNothing) {
  holds([] {
    AnyRecording recording = with_distinct_times(draw());
    const ByteOrder order = draw_order();
    const Outcome before = convert(build(recording, order));
    const auto is_round = [](const AnyRecord& record) {
      return record.kind == AnyRecord::Kind::kRound;
    };
    for (auto from = recording.records.begin(); from != recording.records.end();) {
      const auto to = std::find_if(from, recording.records.end(), is_round);
      const std::vector<AnyRecord> round(from, to);
      const auto shuffled = *rc::gen::exec([round] {
        std::vector<AnyRecord> rest = round;
        std::vector<AnyRecord> drawn;
        while (!rest.empty()) {
          const auto at = *rc::gen::inRange<std::size_t>(0, rest.size());
          drawn.push_back(rest[at]);
          rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
        }
        return drawn;
      });
      std::copy(shuffled.begin(), shuffled.end(), from);
      from = to == recording.records.end() ? to : to + 1;
    }
    RC_ASSERT(convert(build(recording, order)).events == before.events);
  });
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
          if (expected_events(part, order).empty()) return;
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
