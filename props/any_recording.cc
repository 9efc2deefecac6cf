// SPDX-License-Identifier: LGPL-2.1-or-later
#include "any_recording.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace perf2dat::props {
namespace {

using testing::AttrSpec;
using testing::Bytes;

constexpr std::uint64_t kOptionalFields[] = {perfdata::kSampleIp,       perfdata::kSampleAddr,
                                             perfdata::kSampleRead,     perfdata::kSamplePeriod,
                                             perfdata::kSampleStreamId, perfdata::kSampleCallchain};
static_assert(kOptionalFieldSets == 1U << std::size(kOptionalFields));

/// The numbers of READ, as read_format has them.
std::vector<std::uint64_t> read_numbers(const AttrSpec& attr, std::uint64_t id) {
  const auto has = [&](perfdata::ReadFormat bit) { return (attr.read_format & bit) != 0; };
  std::vector<std::uint64_t> times_of;
  if (has(perfdata::kReadTimeEnabled)) times_of.push_back(11);
  if (has(perfdata::kReadTimeRunning)) times_of.push_back(12);
  std::vector<std::uint64_t> value = {5};
  if (has(perfdata::kReadId)) value.push_back(id);
  if (has(perfdata::kReadLost)) value.push_back(0);
  std::vector<std::uint64_t> numbers;
  if (!has(perfdata::kReadGroup)) {
    numbers = {value.front()};
    numbers.insert(numbers.end(), times_of.begin(), times_of.end());
    numbers.insert(numbers.end(), value.begin() + 1, value.end());
    return numbers;
  }
  numbers = {2};
  numbers.insert(numbers.end(), times_of.begin(), times_of.end());
  for (int member = 0; member < 2; ++member) {
    numbers.insert(numbers.end(), value.begin(), value.end());
  }
  return numbers;
}

Bytes data_of(const AnyRecord& record, ByteOrder order) {
  Bytes data = testing::ping_payload(order, record.tid, record.value);
  for (std::size_t i = data.size(); i < record.size; ++i) {
    data.push_back(static_cast<std::byte>(i * 7 + record.value));
  }
  return data;
}

/// How many events a LOST record tells of.
std::uint64_t lost_by(const AnyRecord& record) { return 1 + record.value % 100; }

testing::SampleSpec sample_of(const AnyRecording& recording, const AnyRecord& record,
                              ByteOrder order) {
  const AttrSpec& attr = recording.attrs[record.attr];
  testing::SampleSpec sample = testing::sample({attr.ids[record.id], record.time, record.cpu},
                                               order, data_of(record, order));
  sample.ip = 0xffffffff81000000U + record.value % 4096;
  sample.addr = record.value;
  sample.stream_id = attr.ids.front();
  sample.read = read_numbers(attr, sample.id);
  sample.callchain.assign(record.value % 5, sample.ip);
  return sample;
}

}  // namespace

std::uint64_t id_fields(IdLayout layout) {
  switch (layout) {
    case IdLayout::kIdentifier:
      return perfdata::kSampleIdentifier;
    case IdLayout::kId:
      return perfdata::kSampleId;
    case IdLayout::kBoth:
      return perfdata::kSampleIdentifier | perfdata::kSampleId;
    default:
      return 0;
  }
}

std::uint64_t optional_fields(unsigned set) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < std::size(kOptionalFields); ++i) {
    if ((set >> i & 1U) != 0) bits |= kOptionalFields[i];
  }
  return bits;
}

std::ostream& operator<<(std::ostream& out, const AnyRecord& record) {
  switch (record.kind) {
    case AnyRecord::Kind::kSample:
      return out << "sample of event " << record.attr << ", its id " << record.id << ", CPU "
                 << record.cpu << ", " << record.time << " ns, " << record.size << " bytes of task "
                 << record.tid << ", value " << record.value;
    case AnyRecord::Kind::kComm:
      return out << "name '" << record.comm << "' of task " << record.tid << " at " << record.time
                 << " ns";
    case AnyRecord::Kind::kFork:
      return out << "fork of task " << record.tid << " at " << record.time << " ns";
    case AnyRecord::Kind::kLost:
      return out << lost_by(record) << " lost on CPU " << record.cpu << " at " << record.time
                 << " ns";
    default:
      return out << "end of round";
  }
}

std::ostream& operator<<(std::ostream& out, const AnyRecording& recording) {
  out << "pages of " << recording.page_size << ", commit of " << recording.commit_size << '\n';
  for (const AttrSpec& attr : recording.attrs) {
    out << "  event of type " << attr.type << ", " << attr.size << " bytes, sample_type "
        << std::hex << attr.sample_type << ", read_format " << attr.read_format << std::dec
        << ", ids";
    for (const std::uint64_t id : attr.ids) out << ' ' << id;
    out << (attr.sample_id_all ? "" : ", no trailers") << '\n';
  }
  for (const AnyRecord& record : recording.records) out << "  " << record << '\n';
  return out;
}

bool same_missed(std::int64_t told, std::int64_t missed, std::size_t size, std::size_t page_size,
                 std::size_t commit_size) {
  if (told == missed) return true;
  const std::size_t used = 8 + commit_size + 8 + size + commit_size;
  return told == -1 && missed != 0 && used > page_size;
}

TracingData kernel_of(const AnyRecording& recording, ByteOrder order) {
  TracingData tracing = testing::kernel(order);
  tracing.page_size = recording.page_size;
  tracing.header_page = testing::header_page(recording.commit_size, recording.page_size);
  tracing.long_size = static_cast<std::uint8_t>(recording.commit_size);
  return tracing;
}

testing::PerfDataBuilder build(const AnyRecording& recording, ByteOrder order) {
  testing::PerfDataBuilder builder(order);
  builder.set_tracing(kernel_of(recording, order));
  for (const AttrSpec& attr : recording.attrs) builder.add_attr(attr);
  for (const AnyRecord& record : recording.records) {
    testing::TrailerSpec trailer;
    trailer.id = recording.attrs.front().ids.front();
    trailer.pid = trailer.tid = record.tid;
    trailer.time = record.time;
    trailer.cpu = record.cpu;
    trailer.stream_id = trailer.id;
    switch (record.kind) {
      case AnyRecord::Kind::kSample:
        builder.add_sample(record.attr, sample_of(recording, record, order));
        break;
      case AnyRecord::Kind::kComm:
        builder.add_comm(record.tid, record.tid, record.comm, trailer);
        break;
      case AnyRecord::Kind::kFork:
        builder.add_fork(record.tid, 1, record.tid, 1, record.time, trailer);
        break;
      case AnyRecord::Kind::kLost:
        builder.add_lost(trailer.id, lost_by(record), trailer);
        break;
      case AnyRecord::Kind::kRound:
        builder.add_finished_round();
        break;
    }
  }
  return builder;
}

ExpectedFile expected_file(const AnyRecording& recording, ByteOrder order) {
  ExpectedFile file;
  std::vector<const AnyRecord*> placed;
  for (const AnyRecord& record : recording.records) {
    if (record.kind == AnyRecord::Kind::kLost) {
      file.lost += lost_by(record);
      // Nothing but the trailer tells where that was.
      if (!recording.attrs.front().sample_id_all) {
        file.lost_unplaced += lost_by(record);
        continue;
      }
    } else if (record.kind != AnyRecord::Kind::kSample ||
               !is_tracepoint(recording.attrs[record.attr])) {
      continue;
    }
    placed.push_back(&record);
  }
  std::stable_sort(placed.begin(), placed.end(), [](const AnyRecord* a, const AnyRecord* b) {
    return std::tie(a->cpu, a->time) < std::tie(b->cpu, b->time);
  });
  std::uint64_t missed = 0;
  const AnyRecord* last = nullptr;
  for (const AnyRecord* record : placed) {
    if (last != nullptr && last->cpu != record->cpu) {
      file.lost_unplaced += std::exchange(missed, 0);
    }
    last = record;
    if (record->kind == AnyRecord::Kind::kLost) {
      missed += lost_by(*record);
      continue;
    }
    file.events.push_back(testing::event_of(sample_of(recording, *record, order)));
    file.missed.push_back(static_cast<std::int64_t>(std::exchange(missed, 0)));
  }
  file.lost_unplaced += missed;
  return file;
}

}  // namespace perf2dat::props
