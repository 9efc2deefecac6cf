// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recordings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace perf2dat::props {
namespace {

using testing::AttrSpec;
using testing::Bytes;

constexpr std::uint64_t kDeltaLimit = 1ULL << 27U;
constexpr std::uint64_t kExtendLimit = 1ULL << 59U;
/// The largest data that a sample with all that can be in it has room for.
constexpr std::size_t kLargestData = 60'000;
constexpr std::size_t kSmallestData = 16;  // the fields of test:ping

// Bits of sample_type that say nothing of a tracepoint's data, time or place.
constexpr std::uint64_t kOptional[] = {perfdata::kSampleIp,       perfdata::kSampleAddr,
                                       perfdata::kSampleRead,     perfdata::kSamplePeriod,
                                       perfdata::kSampleStreamId, perfdata::kSampleCallchain};
constexpr std::uint64_t kNeeded =
    perfdata::kSampleTid | perfdata::kSampleTime | perfdata::kSampleCpu | perfdata::kSampleRaw;

bool is_tracepoint(const AttrSpec& attr) { return attr.type == perfdata::kTypeTracepoint; }

rc::Gen<std::uint64_t> some_of_optional() {
  return rc::gen::map(rc::gen::inRange<unsigned>(0, 1U << std::size(kOptional)), [](unsigned some) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < std::size(kOptional); ++i) {
      if ((some >> i & 1U) != 0) bits |= kOptional[i];
    }
    return bits;
  });
}

/// How samples tell which event they are of.
enum class IdLayout { kIdentifier, kId, kBoth, kNone };

std::uint64_t id_bits(IdLayout layout) {
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

std::vector<AttrSpec> draw_attrs() {
  const auto layout = *rc::gen::element(IdLayout::kIdentifier, IdLayout::kIdentifier, IdLayout::kId,
                                        IdLayout::kBoth, IdLayout::kNone);
  const std::size_t count = layout == IdLayout::kNone ? 1 : *rc::gen::inRange<std::size_t>(1, 5);
  const bool sample_id_all = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
  std::uint64_t common = *some_of_optional();
  const std::uint64_t read_format = *rc::gen::inRange<std::uint64_t>(0, 32);
  std::vector<AttrSpec> attrs;
  std::uint64_t next_id = *rc::gen::element<std::uint64_t>(1, 70'000, 1ULL << 40U);
  for (std::size_t i = 0; i < count; ++i) {
    AttrSpec attr = testing::tracepoint(testing::kPing, {}, "test:ping");
    // Without an identifier in front all have to have the same layout.
    const bool own = layout == IdLayout::kIdentifier || layout == IdLayout::kBoth;
    attr.sample_type = kNeeded | id_bits(layout) | (own ? *some_of_optional() : common);
    attr.read_format = own ? *rc::gen::inRange<std::uint64_t>(0, 32) : read_format;
    attr.sample_id_all = sample_id_all;
    attr.size = *rc::gen::element<std::uint32_t>(128, 112, 96);
    if (i > 0) attr.size = attrs.front().size;
    if (i > 0 && *rc::gen::weightedElement<bool>({{1, true}, {2, false}})) {
      attr.type = 1;
      attr.config = 0;
      attr.name = "cpu-clock";
      if (own) attr.sample_type &= ~std::uint64_t{perfdata::kSampleRaw};
    }
    for (std::uint64_t ids = *rc::gen::inRange<std::uint64_t>(1, 4); ids > 0; --ids) {
      attr.ids.push_back(next_id);
      next_id += *rc::gen::element<std::uint64_t>(1, 2, 1000);
    }
    attrs.push_back(std::move(attr));
  }
  return attrs;
}

rc::Gen<std::uint64_t> times() {
  return rc::gen::weightedOneOf<std::uint64_t>(
      {{6, rc::gen::inRange<std::uint64_t>(1'000'000, 1'010'000)},
       {3, rc::gen::element<std::uint64_t>(1'000'000, 1'000'000 + kDeltaLimit - 1,
                                           1'000'000 + kDeltaLimit, 1'000'000 + kDeltaLimit + 1,
                                           1'000'000 + 2 * kDeltaLimit)},
       {1, rc::gen::element<std::uint64_t>(1, 1'000'000 + kExtendLimit,
                                           1'000'000 + kExtendLimit + kDeltaLimit,
                                           1'000'000 + 2 * kExtendLimit)}});
}

rc::Gen<std::size_t> sizes() {
  return rc::gen::weightedOneOf<std::size_t>(
      {{8, rc::gen::inRange<std::size_t>(kSmallestData, 200)},
       {3, rc::gen::element<std::size_t>(108, 116)},
       {1, rc::gen::element<std::size_t>(4068, 4076, 8192, kLargestData)},
       {1, rc::gen::inRange<std::size_t>(kSmallestData, 5000)}});
}

rc::Gen<std::vector<std::uint32_t>> cpu_sets() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::weightedOneOf<std::uint32_t>({{4, rc::gen::inRange<std::uint32_t>(0, 4)},
                                             {1, rc::gen::element<std::uint32_t>(63, 64, 4095)},
                                             {1, rc::gen::inRange<std::uint32_t>(0, 4096)}})));
}

rc::Gen<std::string> comms() {
  return rc::gen::element<std::string>("a", "swapper", "kworker/0:1-ev", "fifteen-letters", "",
                                       "two words");
}

AnyRecord draw_record(const std::vector<AttrSpec>& attrs, const std::vector<std::uint32_t>& cpus) {
  using Kind = AnyRecord::Kind;
  AnyRecord record;
  record.kind = *rc::gen::weightedElement<Kind>({{12, Kind::kSample},
                                                 {1, Kind::kComm},
                                                 {1, Kind::kFork},
                                                 {1, Kind::kLost},
                                                 {1, Kind::kRound}});
  record.attr = *rc::gen::inRange<std::size_t>(0, attrs.size());
  record.id = *rc::gen::inRange<std::size_t>(0, attrs[record.attr].ids.size());
  record.cpu = *rc::gen::elementOf(cpus);
  record.time = *times();
  record.tid = *rc::gen::inRange<std::uint32_t>(1, 6);
  record.size = *sizes();
  record.value = *rc::gen::arbitrary<std::uint64_t>();
  record.comm = *comms();
  return record;
}

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

std::ostream& operator<<(std::ostream& out, const AnyRecord& record) {
  switch (record.kind) {
    case AnyRecord::Kind::kSample:
      return out << "sample of event " << record.attr << ", CPU " << record.cpu << ", "
                 << record.time << " ns, " << record.size << " bytes of task " << record.tid;
    case AnyRecord::Kind::kComm:
      return out << "name '" << record.comm << "' of task " << record.tid;
    case AnyRecord::Kind::kFork:
      return out << "fork of task " << record.tid;
    case AnyRecord::Kind::kLost:
      return out << "lost on CPU " << record.cpu << " at " << record.time << " ns";
    default:
      return out << "end of round";
  }
}

std::ostream& operator<<(std::ostream& out, const AnyRecording& recording) {
  out << "commit of " << recording.commit_size << '\n';
  for (const AttrSpec& attr : recording.attrs) {
    out << "  event of type " << attr.type << std::hex << ", sample_type " << attr.sample_type
        << ", read_format " << attr.read_format << std::dec << ", ids";
    for (const std::uint64_t id : attr.ids) out << ' ' << id;
    out << (attr.sample_id_all ? "" : ", no trailers") << '\n';
  }
  for (const AnyRecord& record : recording.records) out << "  " << record << '\n';
  return out;
}

rc::Gen<AnyRecording> any_recording() {
  return rc::gen::exec([] {
    AnyRecording recording;
    recording.commit_size = *rc::gen::element<std::uint32_t>(8, 4);
    recording.attrs = draw_attrs();
    const auto cpus = *cpu_sets();
    // By value: it is shrunk when this is long over.
    recording.records = *rc::gen::container<std::vector<AnyRecord>>(
        rc::gen::exec([attrs = recording.attrs, cpus] { return draw_record(attrs, cpus); }));
    // A recording without any tracepoint is refused, which unit tests look at.
    AnyRecord sample = draw_record(recording.attrs, cpus);
    sample.kind = AnyRecord::Kind::kSample;
    sample.attr = 0;
    sample.id = 0;
    recording.records.push_back(sample);
    return recording;
  });
}

TracingData kernel_of(const AnyRecording& recording, ByteOrder order) {
  TracingData tracing = testing::kernel(order);
  tracing.header_page = testing::header_page(recording.commit_size);
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
        builder.add_lost(trailer.id, 1 + record.value % 100, trailer);
        break;
      case AnyRecord::Kind::kRound:
        builder.add_finished_round();
        break;
    }
  }
  return builder;
}

std::vector<testing::Event> expected_events(const AnyRecording& recording, ByteOrder order) {
  std::vector<testing::SampleSpec> samples;
  for (const AnyRecord& record : recording.records) {
    if (record.kind == AnyRecord::Kind::kSample && is_tracepoint(recording.attrs[record.attr])) {
      samples.push_back(sample_of(recording, record, order));
    }
  }
  return testing::sorted(testing::events_of(samples));
}

const std::vector<std::string_view> kRecordingEdges = {"delta 2^27-1",
                                                       "delta 2^27",
                                                       "delta 2^27+1",
                                                       "delta 2^59",
                                                       "equal times",
                                                       "late events",
                                                       "data of 108",
                                                       "data of 116",
                                                       "data beyond a page",
                                                       "CPU 4095",
                                                       "CPUs with gaps",
                                                       "one CPU",
                                                       "id in front",
                                                       "id inside",
                                                       "no id",
                                                       "group read",
                                                       "no trailers",
                                                       "mixed events",
                                                       "losses",
                                                       "names",
                                                       "forks",
                                                       "rounds",
                                                       "commit of 4 bytes",
                                                       "layouts differ"};

void classify(const AnyRecording& recording) {
  using Kind = AnyRecord::Kind;
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_cpu;
  std::set<std::uint64_t> layouts;
  const auto has_kind = [&](Kind kind) {
    return std::any_of(recording.records.begin(), recording.records.end(),
                       [&](const AnyRecord& record) { return record.kind == kind; });
  };
  bool mixed = false;
  bool group = false;
  for (const AttrSpec& attr : recording.attrs) layouts.insert(attr.sample_type);
  for (const AnyRecord& record : recording.records) {
    if (record.kind != Kind::kSample) continue;
    const AttrSpec& attr = recording.attrs[record.attr];
    group |= (attr.sample_type & perfdata::kSampleRead) != 0 &&
             (attr.read_format & perfdata::kReadGroup) != 0;
    if (!is_tracepoint(attr)) {
      mixed = true;
      continue;
    }
    by_cpu[record.cpu].push_back(record.time);
    const std::size_t padded = (record.size + 4 + 7) / 8 * 8 - 4;
    RC_CLASSIFY(padded == 108, "data of 108");
    RC_CLASSIFY(padded == 116, "data of 116");
    RC_CLASSIFY(padded > 4072, "data beyond a page");
  }
  for (auto& [cpu, when] : by_cpu) {
    RC_CLASSIFY(!std::is_sorted(when.begin(), when.end()), "late events");
    std::sort(when.begin(), when.end());
    for (std::size_t i = 1; i < when.size(); ++i) {
      const std::uint64_t delta = when[i] - when[i - 1];
      RC_CLASSIFY(delta == 0, "equal times");
      RC_CLASSIFY(delta == kDeltaLimit - 1, "delta 2^27-1");
      RC_CLASSIFY(delta == kDeltaLimit, "delta 2^27");
      RC_CLASSIFY(delta == kDeltaLimit + 1, "delta 2^27+1");
      RC_CLASSIFY(delta >= kExtendLimit, "delta 2^59");
    }
  }
  const std::uint64_t type = recording.attrs.front().sample_type;
  RC_CLASSIFY((type & perfdata::kSampleIdentifier) != 0, "id in front");
  RC_CLASSIFY((type & perfdata::kSampleIdentifier) == 0 && (type & perfdata::kSampleId) != 0,
              "id inside");
  RC_CLASSIFY((type & (perfdata::kSampleIdentifier | perfdata::kSampleId)) == 0, "no id");
  RC_CLASSIFY(by_cpu.contains(4095), "CPU 4095");
  RC_CLASSIFY(by_cpu.size() == 1, "one CPU");
  RC_CLASSIFY(!by_cpu.empty() && by_cpu.rbegin()->first >= by_cpu.size(), "CPUs with gaps");
  RC_CLASSIFY(group, "group read");
  RC_CLASSIFY(mixed, "mixed events");
  RC_CLASSIFY(!recording.attrs.front().sample_id_all, "no trailers");
  RC_CLASSIFY(layouts.size() > 1, "layouts differ");
  RC_CLASSIFY(recording.commit_size == 4, "commit of 4 bytes");
  RC_CLASSIFY(has_kind(Kind::kLost), "losses");
  RC_CLASSIFY(has_kind(Kind::kComm), "names");
  RC_CLASSIFY(has_kind(Kind::kFork), "forks");
  RC_CLASSIFY(has_kind(Kind::kRound), "rounds");
}

}  // namespace perf2dat::props
