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
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/saturating.h"
#include "convert/digest.h"
#include "convert/tracepoint_fields.h"
#include "model/comm_table.h"
#include "model/event_format.h"
#include "model/time_windows.h"
#include "perfdata/recording.h"
#include "perfdata/sample.h"
#include "tracedat/cpu_streams.h"
#include "tracedat/metadata.h"

namespace perf2dat {
namespace {

using perfdata::Attr;
using perfdata::Description;
using perfdata::Record;
using perfdata::Recording;
using perfdata::RecordType;
using perfdata::Sample;
using perfdata::SampleLayout;

/// What the conversion knows of an attr, and counts of its samples.
struct Event {
  std::string name;
  bool is_tracepoint = false;
  bool is_switch = false;
  bool has_format = false;
  bool leads_group = false;  // whose other events are counts in its samples
  SampleLayout layout;
  perfdata::TrailerLayout trailer;
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

std::string uname_of(const Description& description) {
  if (description.os_release.empty()) return {};
  return fmt::format("Linux {} {} {}", description.hostname, description.os_release,
                     description.arch);
}

std::string event_name(const Attr& attr, const std::optional<TracepointFields>& fields) {
  std::string name = attr.name;
  if (name.empty() && attr.is_tracepoint() && fields) name = fields->name_of(attr.config);
  if (name.empty()) name = fmt::format("event type {} config {:#x}", attr.type, attr.config);
  // Messages with it are one line, whatever the file says.
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
  return name;
}

Expected<tracedat::PageFormat> page_format(const TracingData& tracing) {
  tracedat::PageFormat format;
  format.order = tracing.order;
  format.page_size =
      std::bit_ceil(std::clamp(tracing.page_size, tracedat::kSmallestPage, tracedat::kLargestPage));
  P2D_ASSIGN(format.commit_size, commit_size_of(tracing.header_page));
  return format;
}

class Conversion {
 public:
  Conversion(const Options& options, Recording& recording, OutputFile& output)
      : options_(options), recording_(recording), order_(recording.order()), output_(output) {}

  Expected<Summary> run();

 private:
  Expected<void> describe();
  Expected<void> begin();
  Expected<void> read_records();
  template <typename T>
  Expected<T> in_part(Expected<T> decoded) const {
    if (!decoded) return tl::unexpected(recording_.in_part(std::move(decoded).error()));
    return decoded;
  }
  Expected<void> take(const Record& record);
  bool take_sample(const Record& record);
  Expected<void> finish_sample(const Record& record);
  std::optional<LeftOut::Reason> why_left_out(const Event& event, const Sample& sample) const;
  Expected<void> take_lost(const Record& record);
  Expected<void> report_progress();
  bool counts_groups() const;
  Expected<void> check_anything_converted() const;
  Error with_warnings(Error error) const;
  Expected<void> write_output();
  tracedat::Metadata metadata();
  std::uint64_t time_of(const Record& record) const;
  perfdata::Trailer trailer_of(const Record& record) const;
  Summary summary() const;

  const Options& options_;
  Recording& recording_;
  ByteOrder order_;
  OutputFile& output_;

  unsigned descriptions_ = 0;
  unsigned generation_ = 0;  // of the description that the next four are made from
  std::optional<TracepointFields> fields_;
  std::optional<perfdata::AttrFinder> finder_;
  std::vector<Event> events_;  // by attr
  std::optional<TimeWindows> windows_;

  std::optional<tracedat::CpuStreams> streams_;
  CommTable comms_;
  Digests digests_;
  std::uint64_t newest_time_ = 0;
  std::uint64_t converted_ = 0;
  std::uint64_t outside_time_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t lost_unmarked_ = 0;  // of them, those without a time or a CPU
  std::uint64_t lost_samples_ = 0;
  std::uint64_t unknown_samples_ = 0;
};

// A stream may go on to describe events after its first samples: what is made from the description
// is made again, and counts are kept.
Expected<void> Conversion::describe() {
  // Each time all formats are read, so a small stream that went on and on would take for ever.
  constexpr unsigned kMostDescriptions = 1000;
  if (++descriptions_ > kMostDescriptions) {
    return input_error("it describes its events anew more than {} times", kMostDescriptions);
  }
  const Description& description = recording_.description();
  if (description.tracing) {
    if (description.tracing->order != order_) {
      return input_error("its event formats have another byte order than its records");
    }
    if (streams_) {
      P2D_ASSIGN(const auto format, page_format(*description.tracing));
      if (format.commit_size != streams_->format().commit_size) {
        return input_error("its event formats change among its samples");
      }
    }
    P2D_ASSIGN(auto fields, TracepointFields::find(*description.tracing));
    fields_.emplace(std::move(fields));
  }
  P2D_ASSIGN(finder_, perfdata::AttrFinder::create(description.attrs, order_));
  for (std::size_t i = 0; i < description.attrs.size(); ++i) {
    const Attr& attr = description.attrs[i];
    if (i == events_.size())
      events_.push_back({{}, false, false, false, false, {attr, order_}, {attr, order_}, 0, {}});
    Event& event = events_[i];
    event.name = event_name(attr, fields_);
    event.is_tracepoint = attr.is_tracepoint();
    event.is_switch = event.is_tracepoint && fields_ && fields_->is_switch(attr.config);
    event.has_format = fields_ && !fields_->name_of(attr.config).empty();
    event.leads_group = (attr.sample_type & perfdata::kSampleRead) != 0 &&
                        (attr.read_format & perfdata::kReadGroup) != 0;
  }
  generation_ = recording_.generation();
  return {};
}

/// What the first sample needs.
Expected<void> Conversion::begin() {
  const Description& description = recording_.description();
  const bool any = std::any_of(events_.begin(), events_.end(),
                               [](const Event& event) { return event.is_tracepoint; });
  if (!any) {
    return input_error(
        "none of its {} events is a tracepoint: record some, as with perf record -e 'sched:*' -a",
        events_.size());
  }
  if (!description.tracing) {
    return input_error(
        "it has no event formats: give them with --tracing-dir (a copy of the recorded machine's "
        "/sys/kernel/tracing)");
  }
  P2D_ASSIGN(const auto format, page_format(*description.tracing));
  streams_.emplace(format, output_.path());
  windows_.emplace();
  if (!options_.time.empty()) {
    P2D_ASSIGN(windows_, TimeWindows::parse(options_.time, description.sample_time));
  }
  return {};
}

perfdata::Trailer Conversion::trailer_of(const Record& record) const {
  const auto index = finder_->of_trailer(record.body);
  return index < events_.size() ? events_[index].trailer.read(record.body) : perfdata::Trailer{};
}

std::uint64_t Conversion::time_of(const Record& record) const {
  // Without a time it came when it was written: after all before it in the file.
  return trailer_of(record).time.value_or(newest_time_);
}

/// What makes a sample of a tracepoint no event; nullopt: nothing.
std::optional<LeftOut::Reason> Conversion::why_left_out(const Event& event,
                                                        const Sample& sample) const {
  using Reason = LeftOut::Reason;
  // perf writes raw data of 4 zero bytes when a tracepoint gave none.
  if (!fields_->has_common_fields(sample.raw)) return Reason::kNoRawData;
  if (!event.layout.has_time()) return Reason::kNoTime;
  if (!event.layout.has_cpu()) return Reason::kNoCpu;
  if (sample.cpu > tracedat::kHighestCpu) return Reason::kBadCpu;
  return std::nullopt;
}

/// Takes a sample up to where something may fail, without a word on what did: most of a
/// conversion's time is spent here. False: `finish_sample()` must follow.
bool Conversion::take_sample(const Record& record) {
  const std::size_t index = finder_->of_sample(record.body);
  if (index >= events_.size()) {
    ++unknown_samples_;
    return true;
  }
  Event& event = events_[index];
  ++event.samples;
  if (!event.is_tracepoint) return true;
  const auto& guests = recording_.description().guest_ids;
  if (!guests.empty() && guests.contains(finder_->id_of_sample(record.body))) {
    ++event.left_out[LeftOut::Reason::kGuest];
    return true;
  }
  Sample sample;
  if (!event.layout.decode(record.body, sample)) return false;
  if (const auto reason = why_left_out(event, sample)) {
    ++event.left_out[*reason];
    return true;
  }

  newest_time_ = std::max(newest_time_, sample.time);
  comms_.see_task(fields_->common_pid(sample.raw), sample.tid);
  if (event.is_switch) fields_->take_switch_names(sample.time, sample.raw, comms_);
  if (!windows_->contains(sample.time)) {
    ++outside_time_;
    return true;
  }
  ++converted_;
  const tracedat::RingEvent ring_event{sample.time, sample.raw, 0};
  if (options_.check) digests_[sample.cpu].add(ring_event);
  return streams_->append_in_order(sample.cpu, ring_event);
}

/// A sample is damaged, or its event does not go where the one before it went.
Expected<void> Conversion::finish_sample(const Record& record) {
  const Event& event = events_[finder_->of_sample(record.body)];
  Sample sample;
  if (!event.layout.decode(record.body, sample)) {
    return tl::unexpected(
        recording_.in_part(event.layout.damage(record.body, record.offset).value()));
  }
  return streams_->append(sample.cpu, {sample.time, sample.raw, 0});
}

// LOST comes where events are missing, LOST_SAMPLES when the counter is read at last.
Expected<void> Conversion::take_lost(const Record& record) {
  P2D_ASSIGN(const std::uint64_t lost, in_part(perfdata::decode_lost(record, order_)));
  if (record.type == RecordType::kLostSamples) {
    lost_samples_ = saturating_add(lost_samples_, lost);
    return {};
  }
  const auto trailer = trailer_of(record);
  if (trailer.time && !windows_->contains(*trailer.time)) return {};
  lost_ = saturating_add(lost_, lost);
  if (lost == 0) return {};
  if (!trailer.time || !trailer.cpu || *trailer.cpu > tracedat::kHighestCpu) {
    lost_unmarked_ = saturating_add(lost_unmarked_, lost);
    return {};
  }
  return streams_->append(*trailer.cpu, {*trailer.time, {}, lost});
}

Expected<void> Conversion::take(const Record& record) {
  if (generation_ != recording_.generation()) P2D_TRY(describe());
  switch (record.type) {
    case RecordType::kSample:
      if (!streams_) P2D_TRY(begin());
      return take_sample(record) ? Expected<void>{} : finish_sample(record);
    case RecordType::kLost:
    case RecordType::kLostSamples:
      if (!streams_) P2D_TRY(begin());
      return take_lost(record);
    case RecordType::kComm: {
      P2D_ASSIGN(const auto comm, in_part(perfdata::decode_comm(record, order_)));
      comms_.add_comm(time_of(record), comm.tid, comm.comm);
      return {};
    }
    case RecordType::kFork: {
      P2D_ASSIGN(const auto fork, in_part(perfdata::decode_fork(record, order_)));
      comms_.add_fork(fork.time, fork.tid, fork.parent_tid);
      return {};
    }
    default:
      return {};
  }
}

Expected<void> Conversion::report_progress() {
  if (options_.progress && !options_.progress(recording_.position(), recording_.size())) {
    return tl::unexpected(Error{Error::Kind::kCancelled, "cancelled"});
  }
  return {};
}

Expected<void> Conversion::read_records() {
  constexpr unsigned kRecordsPerReport = 1U << 14U;
  Record record{};
  for (unsigned count = 0;; ++count) {
    if (count % kRecordsPerReport == 0) P2D_TRY(report_progress());
    if (!recording_.next_buffered(record)) {
      P2D_ASSIGN(const bool more, recording_.next(record));
      if (!more) break;
    }
    const bool is_usual =
        record.type == RecordType::kSample && streams_ && generation_ == recording_.generation();
    if (!is_usual) {
      P2D_TRY(take(record));
    } else if (!take_sample(record)) {
      P2D_TRY(finish_sample(record));
    }
  }
  // Without a record that needed these, they tell what is missing.
  if (generation_ != recording_.generation()) P2D_TRY(describe());
  if (!streams_) P2D_TRY(begin());
  return report_progress();
}

/// Whether events were counted in samples of others only, as perf record -e '{a,b}:S' does.
bool Conversion::counts_groups() const {
  return events_.size() > 1 && std::any_of(events_.begin(), events_.end(), [](const Event& event) {
           return event.leads_group && event.samples > 0;
         });
}

// An output without events helps nobody; say what was missing when the recording was made.
Expected<void> Conversion::check_anything_converted() const {
  if (converted_ > 0) return {};
  using Reason = LeftOut::Reason;
  std::uint64_t samples = 0;
  std::map<Reason, std::uint64_t> reasons;
  for (const Event& event : events_) {
    if (!event.is_tracepoint) continue;
    samples += event.samples;
    for (const auto& [reason, count] : event.left_out) reasons[reason] += count;
  }
  if (samples == 0 && unknown_samples_ > 0) {
    return input_error("its {} samples are of events that it does not describe: it is damaged",
                       unknown_samples_);
  }
  if (samples == 0 && counts_groups()) {
    return input_error(
        "it has no samples of its tracepoints: they were counted in samples of their groups' "
        "leaders, without data of their own; record them without :S");
  }
  if (samples == 0) {
    return input_error("it has no samples of its tracepoints: they did not fire while it recorded");
  }
  if (outside_time_ > 0) {
    return input_error("none of its {} tracepoint samples is in the windows of --time '{}'",
                       samples, options_.time);
  }
  const auto none = [&](std::string_view what) {
    return input_error("none of its {} tracepoint samples {}", samples, what);
  };
  if (reasons.contains(Reason::kNoRawData)) {
    return none("has raw data: record with perf record -R (--raw-samples)");
  }
  if (reasons.contains(Reason::kNoTime)) {
    return none("tells its time: record with perf record -T (--timestamp)");
  }
  if (reasons.contains(Reason::kNoCpu)) {
    return none("tells its CPU: record with perf record --sample-cpu or -a");
  }
  if (reasons.contains(Reason::kGuest)) {
    return none("is of the host: all come from inside a virtual machine");
  }
  return input_error(
      "all its {} tracepoint samples are of CPU ids above {}: no trace.dat can hold them", samples,
      tracedat::kHighestCpu);
}

tracedat::Metadata Conversion::metadata() {
  const Description& description = recording_.description();
  tracedat::Metadata metadata;
  metadata.tracing = *description.tracing;
  comms_.add_saved_cmdlines(metadata.tracing.cmdlines);
  for (auto& [pid, comm] : comms_.names()) {
    // Readers have a name of their own for the idle task.
    if (pid != 0) metadata.cmdlines.push_back({pid, comm});
  }
  metadata.cpu_count = std::max(streams_->highest_cpu() + 1,
                                std::min(description.cpus_available, tracedat::kHighestCpu + 1));
  const auto first = std::find_if(description.attrs.begin(), description.attrs.end(),
                                  [](const Attr& attr) { return attr.is_tracepoint(); });
  metadata.clock = clock_name(first->clockid);
  metadata.uname = uname_of(description);
  metadata.version = fmt::format("perf2dat {}", version());
  return metadata;
}

Expected<void> Conversion::write_output() {
  const auto written = metadata();
  const std::vector<tracedat::CpuRange> placeholders(streams_->cpus());
  const auto size = tracedat::encode_metadata(written, streams_->format(), placeholders, 0).size();
  P2D_ASSIGN(const auto ranges, streams_->write(output_, size));
  const auto& last = ranges.back();
  const auto bytes =
      tracedat::encode_metadata(written, streams_->format(), ranges, last.offset + last.size);
  return output_.write_at(0, bytes);
}

Summary Conversion::summary() const {
  Summary summary;
  summary.converted = converted_;
  summary.cpus = streams_->cpus();
  summary.page_size = streams_->format().page_size;
  summary.checked = options_.check;
  summary.outside_time = outside_time_;
  summary.lost = lost_;
  summary.lost_unplaced = saturating_add(lost_unmarked_, streams_->unplaced_missed());
  summary.lost_samples = lost_samples_;
  summary.warnings = recording_.warnings();
  for (const Event& event : events_) {
    if (!event.is_tracepoint && event.samples > 0) {
      summary.left_out.push_back({LeftOut::Reason::kNotTracepoint, event.name, event.samples});
    }
    for (const auto& [reason, count] : event.left_out) {
      summary.left_out.push_back({reason, event.name, count});
    }
    if (event.is_tracepoint && event.samples > 0 && !event.has_format) {
      summary.warnings.push_back(fmt::format(
          "the recording has no format of {}: its events show without fields", event.name));
    }
  }
  if (counts_groups()) {
    summary.warnings.emplace_back(
        "events were recorded in groups (:S): those that are counted in samples of their group's "
        "leader have no data of their own, and are left out");
  }
  if (unknown_samples_ > 0) {
    summary.left_out.push_back({LeftOut::Reason::kUnknownEvent, {}, unknown_samples_});
  }
  return summary;
}

/// An error of a recording that was cut off says so: that is the likely reason.
Error Conversion::with_warnings(Error error) const {
  if (error.kind != Error::Kind::kInput) return error;
  for (const auto& warning : recording_.warnings()) error.message += "; " + warning;
  return error;
}

Expected<Summary> Conversion::run() {
  const auto explain = [&](Error error) { return with_warnings(std::move(error)); };
  P2D_TRY(read_records().map_error(explain));
  P2D_TRY(check_anything_converted().map_error(explain));
  P2D_TRY(write_output());
  if (options_.check) {
    P2D_ASSIGN(const std::uint64_t size, output_.size());
    P2D_TRY(check_output([&](std::uint64_t offset,
                             std::span<std::byte> into) { return output_.read_at(offset, into); },
                         size, digests_));
  }
  P2D_TRY(report_progress());  // the last chance to cancel
  P2D_TRY(output_.publish());
  return summary();
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
    case Error::Kind::kUsage:
    case Error::Kind::kCancelled:
    case Error::Kind::kInternal:
      break;
  }
  return error;
}

Expected<Summary> open_and_convert(const Options& options) {
  if (options.output == "-") {
    return Failure(Error{Error::Kind::kUsage, "the output is a file, which no pipe can be"});
  }
  // The output first: nobody wants to hear after a long stream that it exists already.
  P2D_ASSIGN(auto output, OutputFile::create(options.output, options.overwrite));
  P2D_ASSIGN(auto recording, Recording::open(options.input, {options.tracing_dir, output.path()}));
  if (recording.is_same_file(options.output)) {
    return output_error("it is the recording itself: name another output");
  }
  return Conversion(options, recording, output).run();
}

}  // namespace

Expected<Summary> run_conversion(const Options& options) {
  return open_and_convert(options).map_error(
      [&](Error error) { return named(std::move(error), options); });
}

}  // namespace perf2dat
