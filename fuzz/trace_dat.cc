// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a trace.dat. What our reader accepts libtracecmd opens, and both read the same
// events.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input_in_memory.h"
#include "memory_watch.h"
#include "property.h"
#include "testing/read_at.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"
#include "tracedat/reader.h"

namespace perf2dat::fuzz {
namespace {

using props::FileEvent;
using tracedat::RingEvent;

/// An event that our reader read, and what libtracecmd may say of the missed ones before it.
struct OurEvent {
  FileEvent event;
  bool may_be_any = false;   ///< it has an int for the number, and does not look for room for it
  bool may_be_none = false;  ///< it has forgotten them when it has passed over a time extend
};

/// False: our reader refuses a CPU's events.
bool can_read_events(const tracedat::ReadAt& read_at, const tracedat::Contents& contents) {
  return std::all_of(
      contents.ranges.begin(), contents.ranges.end(), [&](const tracedat::CpuRange& range) {
        std::uint64_t last = 0;
        return tracedat::read_events(read_at, contents.format, range,
                                     [&](const RingEvent& event) {
                                       expect(event.time >= last, "times of a CPU ascend");
                                       last = event.time;
                                     })
            .has_value();
      });
}

/// CPU by CPU, as libtracecmd reads them, in whatever order the file lists these.
std::vector<OurEvent> read_events(const tracedat::ReadAt& read_at,
                                  const tracedat::Contents& contents) {
  auto ranges = contents.ranges;
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
  std::vector<OurEvent> events;
  for (const auto& range : ranges) {
    std::optional<RingEvent> mark;
    const auto take = [&](const RingEvent& event) {
      if (event.is_mark()) {
        mark = event;
        return;
      }
      OurEvent ours{{range.cpu, event.time, {event.payload.begin(), event.payload.end()}, 0}};
      if (mark) {
        ours.event.missed = static_cast<std::int64_t>(mark->missed);
        ours.may_be_any = mark->missed > tracedat::kLargestMissed;
        ours.may_be_none = mark->time != event.time;
        mark.reset();
      }
      events.push_back(std::move(ours));
    };
    const auto read = tracedat::read_events(read_at, contents.format, range, take);
    expect(read.has_value(), "what was read once is read again");
  }
  return events;
}

/// The file without the texts that libtracecmd parses. What is in them makes no difference to the
/// events, and version 3.1.6 reads beyond some that do not end as they should.
std::vector<std::byte> without_texts(std::span<const std::byte> file,
                                     const tracedat::Contents& contents) {
  using tracedat::OptionId;
  std::vector<std::byte> bytes(file.begin(), file.end());
  for (const auto& [option, section] :
       {std::pair{OptionId::kFtraceFormats, tracedat::SectionId::kFtraceFormats},
        {OptionId::kEventFormats, tracedat::SectionId::kEventFormats},
        {OptionId::kKallsyms, tracedat::SectionId::kKallsyms},
        {OptionId::kPrintk, tracedat::SectionId::kPrintk},
        {OptionId::kCmdlines, tracedat::SectionId::kCmdlines}}) {
    // Our reader has looked that it is there, and the section. None of anything, of no bytes, it is
    // now.
    const auto at = ByteReader(contents.options.at(option), contents.format.order).u64();
    const auto content = std::span(bytes).subspan(at + tracedat::kSectionHeaderSize,
                                                  contents.sections.at(section).size());
    std::fill(content.begin(), content.end(), std::byte{0});
  }
  return bytes;
}

/// Others change what libtracecmd makes of times, and our reader passes them over.
bool has_only_our_options(const tracedat::Contents& contents) {
  using tracedat::OptionId;
  constexpr OptionId kOurs[] = {
      OptionId::kDone,         OptionId::kBuffer,   OptionId::kTraceClock, OptionId::kUname,
      OptionId::kCpuCount,     OptionId::kVersion,  OptionId::kHeaderInfo, OptionId::kFtraceFormats,
      OptionId::kEventFormats, OptionId::kKallsyms, OptionId::kPrintk,     OptionId::kCmdlines};
  return std::all_of(contents.options.begin(), contents.options.end(), [&](const auto& option) {
    return std::find(std::begin(kOurs), std::end(kOurs), option.first) != std::end(kOurs);
  });
}

/// What is said of a page is what kernels say. libtracecmd parses that text, and version 3.1.6 does
/// not survive its own refusal.
bool has_usual_header_page(const tracedat::Contents& contents) {
  ByteReader info(contents.sections.at(tracedat::SectionId::kHeaderInfo), contents.format.order);
  info.c_string();
  const auto text = info.text(info.u64());
  const std::uint32_t commit_size = contents.format.commit_size;
  const auto page_size = page_size_of(text);
  return page_size && text == testing::header_page(commit_size, *page_size);
}

/// There is none, or one in brackets, as kernels tell it. Version 3.1.6 does not survive any other.
bool has_usual_clock(const tracedat::Contents& contents) {
  const auto clock = contents.text_option(tracedat::OptionId::kTraceClock);
  return !clock ||
         (clock->size() > 2 && clock->front() == '[' && clock->find(']') == clock->size() - 1);
}

std::string describe(const FileEvent& event) {
  return fmt::format("CPU {}, {} ns, {} bytes, {} missed before it", event.cpu, event.time,
                     event.payload.size(), event.missed);
}

void expect_same(const std::vector<OurEvent>& ours, const std::vector<FileEvent>& theirs) {
  expect(ours.size() == theirs.size(),
         fmt::format("our reader reads {} events, libtracecmd {}", ours.size(), theirs.size()));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    FileEvent event = ours[i].event;
    if (ours[i].may_be_any || (ours[i].may_be_none && theirs[i].missed == 0)) {
      event.missed = theirs[i].missed;
    }
    expect(event == theirs[i], fmt::format("event {}: our reader: {}; libtracecmd: {}", i,
                                           describe(event), describe(theirs[i])));
  }
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat;        // NOLINT(google-build-using-namespace)
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  static InputInMemory file;
  const auto input = bytes_of(data, size);
  const auto read_at = testing::reader_of(input);

  const MemoryWatch watch;  // counts from here on
  const auto contents = tracedat::read_contents(read_at, size);
  // Only looked at: it is the reader's memory that is watched, not that of a list of events.
  const bool readable = contents && can_read_events(read_at, *contents);
  expect(MemoryWatch::peak() <= (1U << 20U) + 64 * size, "memory is bounded by the input's size");
  if (!contents) {
    expect(contents.error().kind == Error::Kind::kCheck, contents.error().message);
    expect(offsets_are_inside(contents.error().message, size), contents.error().message);
  }
  if (!readable) return 0;
  static_cast<void>(contents->cmdlines());
  if (!has_only_our_options(*contents) || !has_usual_header_page(*contents) ||
      !has_usual_clock(*contents)) {
    return 0;
  }
  const auto judged = props::judge_file(file.path_of(without_texts(input, *contents)));
  expect(judged.has_value(), "libtracecmd opens what our reader accepts");
  expect_same(read_events(read_at, *contents), judged->events);
  return 0;
}
