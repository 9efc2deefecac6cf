// SPDX-License-Identifier: LGPL-2.1-or-later
#include "testing/twin.h"

#include <map>
#include <utility>

#include "model/event_format.h"
#include "testing/payload_swap.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::testing {
namespace {

using perfdata::Record;

// What comes after RAW in a sample is no part of a twin.
constexpr std::uint64_t kKeptFields =
    perfdata::kSampleRaw | (perfdata::kSampleRaw - 1) | perfdata::kSampleIdentifier;

constexpr std::uint32_t kExit = 4;
constexpr std::uint32_t kFinishedRound = 68;

class TwinMaker {
 public:
  TwinMaker(perfdata::Recording& recording, ByteOrder order)
      : recording_(recording), order_(recording.order()), builder_(order) {}

  Expected<PerfDataBuilder> make() {
    Record record{};
    for (;;) {
      P2D_ASSIGN(const bool more, recording_.next(record));
      // A stream describes its events before their first record.
      if (attr_count_ == 0) copy_description();
      if (!more) return std::move(builder_);
      P2D_TRY(copy(record));
    }
  }

 private:
  void copy_description() {
    for (const auto& attr : recording_.description().attrs) {
      AttrSpec spec;
      spec.type = attr.type;
      spec.config = attr.config;
      spec.sample_type = attr.sample_type & kKeptFields;
      spec.read_format = attr.read_format;
      spec.sample_id_all = attr.sample_id_all;
      spec.clockid = attr.clockid;
      spec.ids = attr.ids;
      spec.name = attr.name;
      for (const std::uint64_t id : attr.ids) attr_of_id_[id] = attr_count_;
      ++attr_count_;
      builder_.add_attr(std::move(spec));
    }
    const auto& features = recording_.description();
    if (features.tracing) {
      builder_.set_tracing(*features.tracing);
      for (const auto& system : features.tracing->systems) {
        for (const auto& text : system.formats) {
          if (const auto format = parse_event_format(text)) formats_[format->id] = *format;
        }
      }
    }
    builder_.set_text_feature(perfdata::Feature::kHostname, features.hostname);
    builder_.set_text_feature(perfdata::Feature::kOsRelease, features.os_release);
    builder_.set_text_feature(perfdata::Feature::kArch, features.arch);
    if (features.cpus_available > 0) builder_.set_cpus(features.cpus_available);
  }

  Expected<void> copy(const Record& record) {
    switch (static_cast<std::uint32_t>(record.type)) {
      case 2:
        return copy_lost(record);
      case 3:
        return copy_comm(record);
      case kExit:
      case 7:
        return copy_fork(record);
      case 9:
        return copy_sample(record);
      case kFinishedRound:
        builder_.add_finished_round();
        return {};
      default:
        return {};
    }
  }

  ByteReader reader_of(const Record& record) const {
    return {record.body, order_, record.offset + perfdata::kRecordHeaderSize};
  }

  TrailerSpec read_trailer(ByteReader reader) const {
    TrailerSpec trailer;
    const auto& attr = recording_.description().attrs.front();
    if (!attr.sample_id_all) return trailer;
    const std::uint64_t type = attr.sample_type;
    if ((type & perfdata::kSampleTid) != 0) {
      trailer.pid = reader.u32();
      trailer.tid = reader.u32();
    }
    if ((type & perfdata::kSampleTime) != 0) trailer.time = reader.u64();
    if ((type & perfdata::kSampleId) != 0) trailer.id = reader.u64();
    if ((type & perfdata::kSampleStreamId) != 0) trailer.stream_id = reader.u64();
    if ((type & perfdata::kSampleCpu) != 0) {
      trailer.cpu = reader.u32();
      reader.skip(4);
    }
    if ((type & perfdata::kSampleIdentifier) != 0) trailer.id = reader.u64();
    return trailer;
  }

  Expected<void> copy_lost(const Record& record) {
    auto reader = reader_of(record);
    const std::uint64_t id = reader.u64();
    const std::uint64_t lost = reader.u64();
    builder_.add_lost(id, lost, read_trailer(reader));
    return {};
  }

  Expected<void> copy_comm(const Record& record) {
    auto reader = reader_of(record);
    const std::uint32_t pid = reader.u32();
    const std::uint32_t tid = reader.u32();
    const auto comm = reader.c_string();
    reader.skip((8 - (comm.size() + 1) % 8) % 8);
    builder_.add_comm(pid, tid, comm, read_trailer(reader));
    return {};
  }

  Expected<void> copy_fork(const Record& record) {
    auto reader = reader_of(record);
    const std::uint32_t pid = reader.u32();
    const std::uint32_t parent_pid = reader.u32();
    const std::uint32_t tid = reader.u32();
    const std::uint32_t parent_tid = reader.u32();
    const std::uint64_t time = reader.u64();
    builder_.add_fork(pid, parent_pid, tid, parent_tid, time, read_trailer(reader),
                      static_cast<std::uint32_t>(record.type));
    return {};
  }

  std::size_t attr_of(const Record& record) const {
    if (attr_count_ < 2) return 0;
    const auto& type = recording_.description().attrs.front().sample_type;
    auto reader = reader_of(record);
    if ((type & perfdata::kSampleIdentifier) == 0) {
      for (const auto bit : {perfdata::kSampleIp, perfdata::kSampleTid, perfdata::kSampleTime,
                             perfdata::kSampleAddr}) {
        if ((type & bit) != 0) reader.skip(8);
      }
    }
    const auto found = attr_of_id_.find(reader.u64());
    return found == attr_of_id_.end() ? 0 : found->second;
  }

  Expected<void> copy_sample(const Record& record) {
    const std::size_t index = attr_of(record);
    const auto& attr = recording_.description().attrs[index];
    const auto has = [&](perfdata::SampleType bit) { return (attr.sample_type & bit) != 0; };
    auto reader = reader_of(record);
    SampleSpec sample;
    sample.misc = record.misc;
    if (has(perfdata::kSampleIdentifier)) sample.id = reader.u64();
    if (has(perfdata::kSampleIp)) sample.ip = reader.u64();
    if (has(perfdata::kSampleTid)) {
      sample.pid = reader.u32();
      sample.tid = reader.u32();
    }
    if (has(perfdata::kSampleTime)) sample.time = reader.u64();
    if (has(perfdata::kSampleAddr)) sample.addr = reader.u64();
    if (has(perfdata::kSampleId)) sample.id = reader.u64();
    if (has(perfdata::kSampleStreamId)) sample.stream_id = reader.u64();
    if (has(perfdata::kSampleCpu)) {
      sample.cpu = reader.u32();
      reader.skip(4);
    }
    if (has(perfdata::kSamplePeriod)) sample.period = reader.u64();
    if (has(perfdata::kSampleRead)) {
      return input_error("no twin of samples with READ at {:#x}", record.offset);
    }
    if (has(perfdata::kSampleCallchain)) {
      const std::uint64_t count = reader.u64();
      for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
        sample.callchain.push_back(reader.u64());
      }
    }
    if (has(perfdata::kSampleRaw)) {
      const auto raw = reader.bytes(reader.u32());
      sample.raw.assign(raw.begin(), raw.end());
      const auto format = formats_.find(static_cast<std::uint32_t>(attr.config));
      if (attr.is_tracepoint() && format != formats_.end()) {
        if (builder_.order() != order_)
          swap_payload(sample.raw, format->second, order_,
                       recording_.description().tracing->long_size);
      }
    }
    if (!reader.ok()) return cut_short("a sample", reader);
    builder_.add_sample(index, sample);
    return {};
  }

  perfdata::Recording& recording_;
  ByteOrder order_;
  PerfDataBuilder builder_;
  std::size_t attr_count_ = 0;
  std::map<std::uint64_t, std::size_t> attr_of_id_;
  std::map<std::uint32_t, EventFormat> formats_;
};

}  // namespace

Expected<PerfDataBuilder> make_twin(perfdata::Recording& recording, ByteOrder order) {
  return TwinMaker(recording, order).make();
}

}  // namespace perf2dat::testing
