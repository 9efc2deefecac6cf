// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recordings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace perf2dat::props {
namespace {

using testing::AttrSpec;

constexpr std::uint64_t kDeltaLimit = 1ULL << 27U;
constexpr std::uint64_t kExtendLimit = 1ULL << 59U;

rc::Gen<std::uint64_t> some_of_optional() {
  return rc::gen::map(rc::gen::inRange<unsigned>(0, kOptionalFieldSets), &optional_fields);
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
    attr.sample_type = kNeededFields | id_fields(layout) | (own ? *some_of_optional() : common);
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

}  // namespace

rc::Gen<AnyRecording> any_recording() {
  return rc::gen::exec([] {
    AnyRecording recording;
    recording.page_size = *rc::gen::weightedElement<std::uint32_t>(
        {{5, 4096}, {1, 8192}, {1, 16384}, {1, 32768}, {1, 65536}});
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

rc::Gen<AnyRecording> recording_of_many_cpus() {
  return rc::gen::map(any_recording(), [](AnyRecording recording) {
    constexpr std::uint32_t kCpus = 4096;
    recording.page_size = 4096;  // one for each CPU is enough
    AnyRecord sample = recording.records.back();
    sample.size = kSmallestData;
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
      sample.cpu = cpu;
      ++sample.time;
      recording.records.push_back(sample);
    }
    return recording;
  });
}

const std::vector<std::string_view> kRecordingEdges = {
    "delta 1",       "delta 2^27-1",   "delta 2^27",  "delta 2^27+1",      "delta of 2^59 or more",
    "equal times",   "late events",    "data of 108", "data of 116",       "data beyond a page",
    "CPU 4095",      "CPUs with gaps", "one CPU",     "id in front",       "id inside",
    "no id",         "group read",     "no trailers", "mixed events",      "losses",
    "names",         "forks",          "rounds",      "commit of 4 bytes", "pages of 64 KiB",
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
    RC_CLASSIFY(padded > recording.page_size - 8 - recording.commit_size - 8, "data beyond a page");
  }
  for (auto& [cpu, when] : by_cpu) {
    RC_CLASSIFY(!std::is_sorted(when.begin(), when.end()), "late events");
    std::sort(when.begin(), when.end());
    for (std::size_t i = 1; i < when.size(); ++i) {
      const std::uint64_t delta = when[i] - when[i - 1];
      RC_CLASSIFY(delta == 0, "equal times");
      RC_CLASSIFY(delta == 1, "delta 1");
      RC_CLASSIFY(delta == kDeltaLimit - 1, "delta 2^27-1");
      RC_CLASSIFY(delta == kDeltaLimit, "delta 2^27");
      RC_CLASSIFY(delta == kDeltaLimit + 1, "delta 2^27+1");
      RC_CLASSIFY(delta >= kExtendLimit, "delta of 2^59 or more");
    }
  }
  const std::uint64_t type = recording.attrs.front().sample_type;
  RC_CLASSIFY((type & perfdata::kSampleIdentifier) != 0, "id in front");
  RC_CLASSIFY((type & perfdata::kSampleIdentifier) == 0 && (type & perfdata::kSampleId) != 0,
              "id inside");
  RC_CLASSIFY((type & (perfdata::kSampleIdentifier | perfdata::kSampleId)) == 0, "no id");
  RC_CLASSIFY(by_cpu.contains(4095), "CPU 4095");
  RC_CLASSIFY(by_cpu.size() == 1, "one CPU");
  RC_CLASSIFY(by_cpu.size() >= 4096, "4096 CPUs");
  RC_CLASSIFY(!by_cpu.empty() && by_cpu.rbegin()->first >= by_cpu.size(), "CPUs with gaps");
  RC_CLASSIFY(group, "group read");
  RC_CLASSIFY(mixed, "mixed events");
  RC_CLASSIFY(!recording.attrs.front().sample_id_all, "no trailers");
  RC_CLASSIFY(layouts.size() > 1, "layouts differ");
  RC_CLASSIFY(recording.commit_size == 4, "commit of 4 bytes");
  RC_CLASSIFY(recording.page_size == 65536, "pages of 64 KiB");
  RC_CLASSIFY(has_kind(Kind::kLost), "losses");
  RC_CLASSIFY(has_kind(Kind::kComm), "names");
  RC_CLASSIFY(has_kind(Kind::kFork), "forks");
  RC_CLASSIFY(has_kind(Kind::kRound), "rounds");
}

}  // namespace perf2dat::props
