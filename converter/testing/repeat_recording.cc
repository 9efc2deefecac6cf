// SPDX-License-Identifier: LGPL-2.1-or-later
// repeat_recording IN OUT BYTES: writes the records of IN again and again, with times that move on,
// until the data has at least BYTES bytes. For benchmarks, which want large inputs that are real.
// What perf tells of tasks that ran already comes once, as in any recording: its time is 0.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "perfdata/header.h"
#include "perfdata/recording.h"
#include "perfdata/sample.h"

namespace perf2dat {
namespace {

using perfdata::FileSection;
using perfdata::Record;
using perfdata::RecordType;

constexpr std::uint32_t kExit = 4;

/// Where a time is, and the record that it belongs to, from the beginning of a data section.
struct TimeAt {
  std::uint64_t record;
  std::uint64_t time;
};

/// All times of a data section.
Expected<std::vector<TimeAt>> find_times(perfdata::Recording& recording,
                                         std::uint64_t data_offset) {
  const ByteOrder order = recording.order();
  const auto& attrs = recording.description().attrs;
  P2D_ASSIGN(const auto finder, perfdata::AttrFinder::create(attrs, order));
  if (attrs.empty()) return input_error("it has no events");
  const auto first_if_unknown = [&](std::size_t index) { return index < attrs.size() ? index : 0; };
  std::vector<TimeAt> times;
  Record record{};
  for (;;) {
    P2D_ASSIGN(const bool more, recording.next(record));
    if (!more) return times;
    const std::uint64_t begin = record.offset - data_offset;
    const std::uint64_t body = begin + perfdata::kRecordHeaderSize;
    if (record.type == RecordType::kSample) {
      // IDENTIFIER, IP and TID come before TIME, each of 8 bytes.
      const auto& attr = attrs[first_if_unknown(finder.of_sample(record.body))];
      std::uint64_t offset = 0;
      for (const auto bit :
           {perfdata::kSampleIdentifier, perfdata::kSampleIp, perfdata::kSampleTid}) {
        if ((attr.sample_type & bit) != 0) offset += 8;
      }
      if ((attr.sample_type & perfdata::kSampleTime) != 0) times.push_back({begin, body + offset});
      continue;
    }
    if (record.type == RecordType::kFork || static_cast<std::uint32_t>(record.type) == kExit) {
      times.push_back({begin, body + 16});
    }
    const auto& attr = attrs[first_if_unknown(finder.of_trailer(record.body))];
    constexpr auto kKernelTypes = 64U;  // records of perf's own have no trailer
    if (static_cast<std::uint32_t>(record.type) < kKernelTypes &&
        perfdata::TrailerLayout(attr, order).read(record.body).time) {
      std::uint64_t from_end = 8;
      for (const auto bit : {perfdata::kSampleId, perfdata::kSampleStreamId, perfdata::kSampleCpu,
                             perfdata::kSampleIdentifier}) {
        if ((attr.sample_type & bit) != 0) from_end += 8;
      }
      times.push_back({begin, body + record.body.size() - from_end});
    }
  }
}

void write(std::ofstream& out, std::span<const std::byte> bytes) {
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

Expected<void> repeat(const char* in, const char* out_path, std::uint64_t wanted) {
  P2D_ASSIGN(auto recording, perfdata::Recording::open(in, {}));
  P2D_ASSIGN(const InputFile file, InputFile::open(in));
  P2D_ASSIGN(const auto header, perfdata::read_header(file));
  const ByteOrder order = header.order;
  const FileSection section = header.data;
  P2D_ASSIGN(const auto times, find_times(recording, section.offset));
  P2D_ASSIGN(auto head, file.read_exactly(0, section.offset, "the header"));
  P2D_ASSIGN(auto data, file.read_exactly(section.offset, section.size, "the data"));
  const std::uint64_t tail_at = section.offset + section.size;
  P2D_ASSIGN(auto tail, file.read_exactly(tail_at, file.size() - tail_at, "the features"));

  std::uint64_t first = ~0ULL;
  std::uint64_t last = 0;
  std::uint64_t repeated_from = data.size();
  for (const TimeAt& at : times) {
    const auto time = load<std::uint64_t>(data.data() + at.time, order);
    if (time == 0) continue;
    first = std::min(first, time);
    last = std::max(last, time);
    repeated_from = std::min(repeated_from, at.record);
  }
  const auto repeated = std::span(data).subspan(static_cast<std::size_t>(repeated_from));
  if (repeated.empty()) return input_error("no record has a time");
  const std::uint64_t missing = wanted - std::min<std::uint64_t>(wanted, data.size());
  const std::uint64_t copies = (missing + repeated.size() - 1) / repeated.size();
  const std::uint64_t grown = copies * repeated.size();

  constexpr std::size_t kDataSizeAt = 48;
  store(head.data() + kDataSizeAt, section.size + grown, order);
  const auto features = std::count(header.features.begin(), header.features.end(), true);
  for (std::size_t i = 0; i < static_cast<std::size_t>(features); ++i) {
    std::byte* const offset = tail.data() + i * 16;
    store(offset, load<std::uint64_t>(offset, order) + grown, order);
  }

  std::ofstream out(out_path, std::ios::binary);
  write(out, head);
  write(out, data);
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    for (const TimeAt& at : times) {
      const auto time = load<std::uint64_t>(data.data() + at.time, order);
      if (time != 0) store(data.data() + at.time, time + (last - first) + 1, order);
    }
    write(out, repeated);
  }
  write(out, tail);
  out.close();
  if (!out) return output_error("cannot write {}", out_path);
  return {};
}

}  // namespace
}  // namespace perf2dat

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: repeat_recording IN OUT BYTES\n");
    return 2;
  }
  const auto done = perf2dat::repeat(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
  if (!done) fmt::print(stderr, "repeat_recording: {}\n", done.error().message);
  return done ? 0 : 1;
}
