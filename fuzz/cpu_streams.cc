// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a list of events that arrive in any order, and of losses. What is written is each
// CPU's events in the order of time, however little memory there is for them. What no trace.dat can
// hold is an error.
#include "tracedat/cpu_streams.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "output_folder.h"
#include "property.h"
#include "tracedat/reader.h"

namespace perf2dat::fuzz {
namespace {

using tracedat::CpuStreams;
using tracedat::RingEvent;

struct Arrival {
  std::uint64_t time = 0;
  std::uint64_t missed = 0;  // 0: an event
  std::vector<std::byte> payload;
};
using ByCpu = std::map<std::uint32_t, std::vector<Arrival>>;

tracedat::PageFormat draw_format(Draw& draw) {
  return {draw.flag() ? ByteOrder::kBig : ByteOrder::kLittle,
          draw.one_of<std::uint32_t>({4096, 4096, 8192, 65536}),
          draw.one_of<std::uint32_t>({8, 4})};
}

Arrival draw_arrival(Draw& draw, std::uint64_t last) {
  Arrival arrival;
  switch (draw.below(8)) {
    case 0:
      arrival.time = draw.number<std::uint64_t>();
      break;
    case 1:
      arrival.time = last + draw.one_of<std::uint64_t>({1U << 27U, 1ULL << 59U, 1ULL << 60U});
      break;
    case 2:
    case 3:
      arrival.time = last - std::min<std::uint64_t>(last, draw.byte());
      break;
    default:
      arrival.time = last + draw.below(4);
  }
  const std::size_t words = draw.byte();
  if (words == 255) {
    arrival.missed = std::uint64_t{1} + draw.number<std::uint32_t>();
    return arrival;
  }
  std::size_t size = words % 40 * 4;
  if (words == 254) {
    size = 4000 + std::size_t{draw.byte()} * 200;
  } else if (words > 250) {
    size = 4000 + draw.byte();
  } else if (words == 250) {
    // At the limits of the largest page, with 4 or 8 bytes of commit.
    size = draw.one_of<std::size_t>({65508, 65511, 65512, 65513, 65515, 65516, 65517, 70000});
  } else if (words == 249) {
    size = draw.byte();
  }
  arrival.payload.assign(size, static_cast<std::byte>(words));
  return arrival;
}

std::uint32_t draw_cpu(Draw& draw) {
  const auto kind = draw.byte();
  constexpr std::uint32_t kUsual[] = {0, 0, 1, 300};
  constexpr std::uint32_t kRare[] = {0xffff, 0x10000, ~0U};
  constexpr std::uint8_t kFirstRare = 250;
  return kind < kFirstRare ? kUsual[kind % std::size(kUsual)] : kRare[kind % std::size(kRare)];
}

/// Whether a trace.dat can hold it, by the rules of cpu_streams.h.
bool can_be_taken(std::uint32_t cpu, const Arrival& arrival, tracedat::PageFormat format) {
  format.page_size = tracedat::kLargestPage;
  return cpu <= tracedat::kHighestCpu && arrival.payload.size() <= format.largest_payload();
}

/// Takes each CPU's arrivals into the order of time, with losses only before events, added up.
ByCpu in_order(ByCpu& arrivals, std::uint64_t& unplaced) {
  ByCpu sorted;
  for (auto& [cpu, list] : arrivals) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
    std::uint64_t missed = 0;
    for (Arrival& arrival : list) {
      if (arrival.missed != 0) {
        missed += arrival.missed;
        continue;
      }
      arrival.missed = std::exchange(missed, 0);
      sorted[cpu].push_back(std::move(arrival));
    }
    unplaced += missed;
  }
  return sorted;
}

ByCpu read_back(const OutputFile& out, const tracedat::PageFormat& format,
                const std::vector<tracedat::CpuRange>& ranges) {
  ByCpu events;
  for (const auto& range : ranges) {
    std::uint64_t missed = 0;
    const auto read = tracedat::read_events(
        [&](std::uint64_t at, std::span<std::byte> into) { return out.read_at(at, into); }, format,
        range,
        [&](const RingEvent& event) {
          if (event.is_mark()) {
            missed = event.missed;
            return;
          }
          events[range.cpu].push_back(
              {event.time, std::exchange(missed, 0), {event.payload.begin(), event.payload.end()}});
        });
    expect(read.has_value(), read ? "" : read.error().message);
    expect(missed == 0, "no mark without an event after it");
  }
  return events;
}

/// A number that is too large to be told, or has no room behind a page's first event, is told as
/// unknown.
bool same_missed(const Arrival& expected, const Arrival& read, const tracedat::PageFormat& format) {
  if (read.missed == expected.missed) return true;
  const std::size_t used = format.header_size() + 8 + expected.payload.size() + format.commit_size;
  return expected.missed != 0 && read.missed == tracedat::kUnknownNumber &&
         (expected.missed > tracedat::kLargestMissed || used > format.page_size);
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat;        // NOLINT(google-build-using-namespace)
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static OutputFolder folder;
  Draw draw(bytes_of(data, size));
  const auto format = draw_format(draw);
  const tracedat::MemoryBudget budget{draw.one_of<std::size_t>({1, 10'000, 16U << 20U}),
                                      draw.one_of<std::size_t>({1, 200, 8U << 20U})};
  CpuStreams streams(format, folder.path("out.dat"), budget);
  ByCpu arrivals;
  std::uint64_t last = 1000;
  const std::uint64_t begin = draw.byte();  // of the pages in the file
  // Five bytes of the input draw up to 70,000 of data.
  constexpr std::size_t kMostData = 8U << 20U;
  for (std::size_t drawn = 0; !draw.empty() && drawn < kMostData;) {
    const auto cpu = draw_cpu(draw);
    Arrival arrival = draw_arrival(draw, last);
    drawn += arrival.payload.size() + 1;
    last = arrival.time;
    const auto taken = streams.append(cpu, {arrival.time, arrival.payload, arrival.missed});
    if (!can_be_taken(cpu, arrival, format)) {
      expect(!taken && taken.error().kind == Error::Kind::kOutput, "it cannot be taken");
      return 0;
    }
    expect(taken.has_value(), taken ? "" : taken.error().message);
    // A page has whole words.
    arrival.payload.resize((arrival.payload.size() + 3) / 4 * 4);
    arrivals[cpu].push_back(std::move(arrival));
  }

  auto out = OutputFile::create(folder.path("out.dat"), false);
  expect(out.has_value(), out ? "" : out.error().message);
  const auto ranges = streams.write(*out, begin);
  expect(ranges.has_value(), ranges ? "" : ranges.error().message);
  const auto read = read_back(*out, streams.format(), *ranges);
  std::uint64_t unplaced = 0;
  const auto expected = in_order(arrivals, unplaced);
  expect(streams.unplaced_missed() == unplaced, "losses without an event after them are counted");
  expect(read.size() == expected.size(), "a CPU with events has pages, and no other has");
  for (const auto& [cpu, list] : expected) {
    const auto& found = read.at(cpu);
    expect(found.size() == list.size(), "all events of the CPU are there");
    for (std::size_t i = 0; i < list.size(); ++i) {
      expect(found[i].time == list[i].time && found[i].payload == list[i].payload,
             "events are in order");
      expect(same_missed(list[i], found[i], streams.format()), "losses are where they were");
    }
  }
  return 0;
}
