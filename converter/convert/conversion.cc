// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert/conversion.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "convert/digest.h"
#include "model/comm_table.h"
#include "model/event_format.h"
#include "perfdata/recording.h"
#include "perfdata/sample.h"
#include "tracedat/cpu_streams.h"
#include "tracedat/metadata.h"

namespace perf2dat {
namespace {

using perfdata::Attr;
using perfdata::Record;
using perfdata::Recording;
using perfdata::RecordType;
using perfdata::Sample;
using perfdata::SampleLayout;

/// The fields that begin every tracepoint's data, and those of sched_switch that hold names.
struct KnownFields {
  struct Field {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  Field common_pid;
  std::uint64_t switch_id = ~0ULL;
  Field prev_comm, prev_pid, next_comm, next_pid;
};

std::uint32_t load_pid(std::span<const std::byte> raw, KnownFields::Field field, ByteOrder order) {
  return load<std::uint32_t>(raw.data() + field.offset, order);
}

std::string_view load_comm(std::span<const std::byte> raw, KnownFields::Field field) {
  const std::string_view text(reinterpret_cast<const char*>(raw.data()) + field.offset, field.size);
  return text.substr(0, text.find('\0'));
}

bool inside(std::span<const std::byte> raw, KnownFields::Field field) {
  return field.size <= raw.size() && field.offset <= raw.size() - field.size;
}

/// What the conversion knows of an attr, and counts of its samples.
struct Event {
  explicit Event(SampleLayout sample_layout) : layout(sample_layout) {}

  std::string name;
  bool is_tracepoint = false;
  bool is_switch = false;
  SampleLayout layout;
  std::uint64_t samples = 0;
  std::map<LeftOut::Reason, std::uint64_t> left_out;
};

std::string clock_name(std::optional<std::int32_t> clockid) {
  // From perf's clock ids (clock_gettime(2)) to ftrace's names of clocks.
  switch (clockid.value_or(-1)) {
    case -1:
      return "perf";
    case 0:
      return "realtime";
    case 1:
      return "mono";
    case 4:
      return "mono_raw";
    case 7:
      return "boot";
    case 11:
      return "tai";
    default:
      return fmt::format("clockid {}", *clockid);
  }
}

class Conversion {
 public:
  Conversion(const Options& options, const Recording& recording, OutputFile& output,
             tracedat::PageFormat format)
      : options_(options),
        recording_(recording),
        order_(recording.header.order),
        output_(output),
        streams_(format, options.output) {}

  Expected<Summary> run();

 private:
  Expected<void> read_formats();
  Expected<void> make_events();
  Expected<void> read_records();
  Expected<void> take(const Record& record);
  Expected<void> take_sample(const Record& record);
  Expected<void> take_tracepoint(Event& event, const Sample& sample);
  Expected<void> report_progress(std::uint64_t offset);
  Expected<void> check_anything_converted() const;
  Expected<void> write_output();
  std::uint64_t time_of(const Record& record) const;
  Summary summary() const;

  const Options& options_;
  const Recording& recording_;
  ByteOrder order_;
  OutputFile& output_;
  tracedat::CpuStreams streams_;
  std::unordered_map<std::uint64_t, std::string> format_names_;  // "sched:sched_switch" by id
  KnownFields known_;
  std::optional<perfdata::AttrFinder> finder_;
  std::vector<Event> events_;  // by attr
  CommTable comms_;
  Digests digests_;
  std::uint64_t newest_time_ = 0;
  std::uint64_t converted_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t unknown_samples_ = 0;
};

Expected<void> Conversion::read_formats() {
  const auto field_of = [](const EventFormat& format, std::string_view name) {
    const EventField* const field = format.find(name);
    return field == nullptr ? KnownFields::Field{} : KnownFields::Field{field->offset, field->size};
  };
  for (const auto& system : recording_.features.tracing->systems) {
    for (const auto& text : system.formats) {
      const auto format = parse_event_format(text);
      if (!format) continue;
      // The kernel's names are short. A copy of a long one for each format could ask for much
      // memory.
      format_names_.emplace(format->id, fmt::format("{:.100}:{:.100}", system.name, format->name));
      if (known_.common_pid.size == 0) known_.common_pid = field_of(*format, "common_pid");
      if (system.name != "sched" || format->name != "sched_switch") continue;
      known_.prev_comm = field_of(*format, "prev_comm");
      known_.prev_pid = field_of(*format, "prev_pid");
      known_.next_comm = field_of(*format, "next_comm");
      known_.next_pid = field_of(*format, "next_pid");
      if (known_.prev_pid.size == 4 && known_.next_pid.size == 4) known_.switch_id = format->id;
    }
  }
  if (known_.common_pid.size == sizeof(std::uint32_t)) return {};
  return input_error("its event formats do not describe common_pid as a number of 4 bytes");
}

Expected<void> Conversion::make_events() {
  P2D_ASSIGN(finder_, perfdata::AttrFinder::create(recording_.attrs, order_));
  for (const Attr& attr : recording_.attrs) {
    Event event(SampleLayout(attr, order_));
    event.is_tracepoint = attr.is_tracepoint();
    event.is_switch = event.is_tracepoint && attr.config == known_.switch_id;
    event.name = attr.name;
    if (event.name.empty() && event.is_tracepoint) {
      const auto found = format_names_.find(attr.config);
      if (found != format_names_.end()) event.name = found->second;
    }
    if (event.name.empty()) {
      event.name = fmt::format("event type {} config {:#x}", attr.type, attr.config);
    }
    // Messages with it are one line, whatever the file says.
    std::replace_if(
        event.name.begin(), event.name.end(),
        [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
    events_.push_back(std::move(event));
  }
  const bool any = std::any_of(events_.begin(), events_.end(),
                               [](const Event& event) { return event.is_tracepoint; });
  if (any) return {};
  return input_error(
      "none of its {} events is a tracepoint: record some, as with perf record -e 'sched:*' -a",
      events_.size());
}

std::uint64_t Conversion::time_of(const Record& record) const {
  const auto index = finder_->of_trailer(record.body);
  const auto time =
      index ? perfdata::trailer_time(record, recording_.attrs[*index], order_) : std::nullopt;
  // Without a time it came when it was written: after all before it in the file.
  return time.value_or(newest_time_);
}

Expected<void> Conversion::take_tracepoint(Event& event, const Sample& sample) {
  using Reason = LeftOut::Reason;
  const auto leave_out = [&](Reason reason) {
    ++event.left_out[reason];
    return Expected<void>{};
  };
  // perf writes raw data of 4 zero bytes when a tracepoint gave none.
  if (!inside(sample.raw, known_.common_pid)) return leave_out(Reason::kNoRawData);
  if (!event.layout.has_time()) return leave_out(Reason::kNoTime);
  if (!event.layout.has_cpu()) return leave_out(Reason::kNoCpu);
  if (sample.cpu > tracedat::kHighestCpu) return leave_out(Reason::kBadCpu);

  const tracedat::RingEvent ring_event{sample.time, sample.raw};
  P2D_TRY(streams_.append(sample.cpu, ring_event));
  if (options_.check) digests_[sample.cpu].add(ring_event);
  ++converted_;
  newest_time_ = std::max(newest_time_, sample.time);

  comms_.see_task(load_pid(sample.raw, known_.common_pid, order_), sample.tid);
  if (event.is_switch) {
    for (const auto& [pid, comm] : {std::pair{known_.prev_pid, known_.prev_comm},
                                    std::pair{known_.next_pid, known_.next_comm}}) {
      if (!inside(sample.raw, pid) || !inside(sample.raw, comm)) continue;
      comms_.see_switch(sample.time, load_pid(sample.raw, pid, order_),
                        load_comm(sample.raw, comm));
    }
  }
  return {};
}

Expected<void> Conversion::take_sample(const Record& record) {
  const auto index = finder_->of_sample(record.body);
  if (!index) {
    ++unknown_samples_;
    return {};
  }
  Event& event = events_[*index];
  ++event.samples;
  if (!event.is_tracepoint) return {};
  P2D_ASSIGN(const Sample sample, event.layout.decode(record.body, record.offset));
  return take_tracepoint(event, sample);
}

Expected<void> Conversion::take(const Record& record) {
  switch (record.type) {
    case RecordType::kSample:
      return take_sample(record);
    case RecordType::kComm: {
      P2D_ASSIGN(const auto comm, perfdata::decode_comm(record, order_));
      comms_.add_comm(time_of(record), comm.tid, comm.comm);
      return {};
    }
    case RecordType::kFork: {
      P2D_ASSIGN(const auto fork, perfdata::decode_fork(record, order_));
      comms_.add_fork(fork.time, fork.tid, fork.parent_tid);
      return {};
    }
    case RecordType::kLost:
    case RecordType::kLostSamples: {
      P2D_ASSIGN(const std::uint64_t lost, perfdata::decode_lost(record, order_));
      lost_ += lost;
      return {};
    }
    case RecordType::kCompressed:
    case RecordType::kCompressed2:
      return input_error(
          "the record at offset {:#x} is compressed (perf record -z), which is not supported yet: "
          "record without -z",
          record.offset);
    default:
      return {};
  }
}

Expected<void> Conversion::report_progress(std::uint64_t offset) {
  const auto& data = recording_.header.data;
  if (options_.progress && !options_.progress(offset - data.offset, data.size)) {
    return tl::unexpected(Error{Error::Kind::kCancelled, "cancelled"});
  }
  return {};
}

Expected<void> Conversion::read_records() {
  constexpr unsigned kRecordsPerReport = 1U << 14U;
  auto stream = recording_.records();
  Record record{};
  for (unsigned count = 0;; ++count) {
    if (count % kRecordsPerReport == 0) P2D_TRY(report_progress(stream.offset()));
    P2D_ASSIGN(const bool more, stream.next(record));
    if (!more) return report_progress(stream.offset());
    P2D_TRY(take(record));
  }
}

// An output without events helps nobody; say what was missing when the recording was made.
Expected<void> Conversion::check_anything_converted() const {
  if (converted_ > 0) return {};
  std::uint64_t samples = 0;
  std::map<LeftOut::Reason, std::uint64_t> reasons;
  for (const Event& event : events_) {
    if (!event.is_tracepoint) continue;
    samples += event.samples;
    for (const auto& [reason, count] : event.left_out) reasons[reason] += count;
  }
  if (samples == 0 && unknown_samples_ > 0) {
    return input_error("its {} samples are of events that it does not describe: it is damaged",
                       unknown_samples_);
  }
  if (samples == 0) {
    return input_error("it has no samples of its tracepoints: they did not fire while it recorded");
  }
  if (reasons.contains(LeftOut::Reason::kNoRawData)) {
    return input_error(
        "none of its {} tracepoint samples has raw data: record with perf record -R "
        "(--raw-samples)",
        samples);
  }
  if (reasons.contains(LeftOut::Reason::kNoTime)) {
    return input_error(
        "none of its {} tracepoint samples tells its time: record with perf record -T "
        "(--timestamp)",
        samples);
  }
  if (reasons.contains(LeftOut::Reason::kNoCpu)) {
    return input_error(
        "none of its {} tracepoint samples tells its CPU: record with perf record --sample-cpu "
        "or -a",
        samples);
  }
  return input_error(
      "all its {} tracepoint samples are of CPU ids above {}: no trace.dat can hold them", samples,
      tracedat::kHighestCpu);
}

std::string uname_of(const perfdata::Features& features) {
  if (features.os_release.empty()) return {};
  return fmt::format("Linux {} {} {}", features.hostname, features.os_release, features.arch);
}

Expected<void> Conversion::write_output() {
  tracedat::Metadata metadata;
  metadata.tracing = *recording_.features.tracing;
  comms_.add_saved_cmdlines(metadata.tracing.cmdlines);
  for (auto& [pid, comm] : comms_.names()) {
    // Readers have a name of their own for the idle task.
    if (pid != 0) metadata.cmdlines.push_back({pid, comm});
  }
  metadata.cpu_count =
      std::max(streams_.highest_cpu() + 1,
               std::min(recording_.features.cpus_available, tracedat::kHighestCpu + 1));
  const auto first = std::find_if(recording_.attrs.begin(), recording_.attrs.end(),
                                  [](const Attr& attr) { return attr.is_tracepoint(); });
  metadata.clock = clock_name(first->clockid);
  metadata.uname = uname_of(recording_.features);
  metadata.version = fmt::format("perf2dat {}", version());

  const std::vector<tracedat::CpuRange> placeholders(streams_.cpus());
  const auto size = tracedat::encode_metadata(metadata, streams_.format(), placeholders, 0).size();
  P2D_ASSIGN(const auto ranges, streams_.write(output_, size));
  const auto& last = ranges.back();
  const auto bytes =
      tracedat::encode_metadata(metadata, streams_.format(), ranges, last.offset + last.size);
  return output_.write_at(0, bytes);
}

Summary Conversion::summary() const {
  Summary summary;
  summary.converted = converted_;
  summary.cpus = streams_.cpus();
  summary.page_size = streams_.format().page_size;
  summary.checked = options_.check;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    if (!event.is_tracepoint && event.samples > 0) {
      summary.left_out.push_back({LeftOut::Reason::kNotTracepoint, event.name, event.samples});
    }
    for (const auto& [reason, count] : event.left_out) {
      summary.left_out.push_back({reason, event.name, count});
    }
    const auto id = recording_.attrs[i].config;
    if (event.is_tracepoint && event.samples > 0 && !format_names_.contains(id)) {
      summary.warnings.push_back(
          fmt::format("the recording has no format of {} (id {}): its events show without fields",
                      event.name, id));
    }
  }
  if (unknown_samples_ > 0) {
    summary.left_out.push_back({LeftOut::Reason::kUnknownEvent, {}, unknown_samples_});
  }
  if (lost_ > 0) summary.left_out.push_back({LeftOut::Reason::kLost, {}, lost_});
  return summary;
}

Expected<Summary> Conversion::run() {
  P2D_TRY(read_formats());
  P2D_TRY(make_events());
  P2D_TRY(read_records());
  P2D_TRY(check_anything_converted());
  P2D_TRY(write_output());
  if (options_.check) {
    P2D_ASSIGN(const std::uint64_t size, output_.size());
    P2D_TRY(check_output([&](std::uint64_t offset,
                             std::span<std::byte> into) { return output_.read_at(offset, into); },
                         size, digests_));
  }
  P2D_TRY(output_.publish());
  return summary();
}

Expected<tracedat::PageFormat> page_format(const Recording& recording) {
  if (!recording.features.tracing) {
    return input_error(
        "it has no event formats: none of its events is a tracepoint, or they were removed; "
        "record some, as with perf record -e 'sched:*' -a");
  }
  const TracingData& tracing = *recording.features.tracing;
  if (tracing.order != recording.header.order) {
    return input_error("its event formats have another byte order than its records");
  }
  tracedat::PageFormat format;
  format.order = tracing.order;
  format.page_size = std::clamp(tracing.page_size, tracedat::kSmallestPage, tracedat::kLargestPage);
  P2D_ASSIGN(format.commit_size, commit_size_of(tracing.header_page));
  return format;
}

Expected<Summary> convert_recording(const Options& options, const Recording& recording,
                                    OutputFile& output) {
  P2D_ASSIGN(const auto format, page_format(recording));
  return Conversion(options, recording, output, format).run();
}

/// Puts the name of the file that an error is about before its message.
Error named(Error error, const Options& options) {
  switch (error.kind) {
    case Error::Kind::kInput:
      error.message = fmt::format("{}: {}", options.input, error.message);
      break;
    case Error::Kind::kOutput:
    case Error::Kind::kCheck:
      error.message = fmt::format("{}: {}", options.output, error.message);
      break;
    case Error::Kind::kCancelled:
    case Error::Kind::kInternal:
      break;
  }
  return error;
}

Expected<Summary> open_and_convert(const Options& options) {
  P2D_ASSIGN(const Recording recording, Recording::open(options.input));
  if (recording.file.is_same_file(options.output)) {
    return output_error("it is the recording itself: name another output");
  }
  P2D_ASSIGN(auto output, OutputFile::create(options.output, options.overwrite));
  return convert_recording(options, recording, output);
}

}  // namespace

Expected<Summary> run_conversion(const Options& options) {
  return open_and_convert(options).map_error(
      [&](Error error) { return named(std::move(error), options); });
}

}  // namespace perf2dat
