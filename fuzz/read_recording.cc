// SPDX-License-Identifier: LGPL-2.1-or-later
#include "read_recording.h"

#include <functional>
#include <string_view>

#include "output_folder.h"
#include "perfdata/decompressor.h"
#include "perfdata/recording.h"
#include "perfdata/sample.h"
#include "property.h"
#include "reference_decoder.h"

namespace perf2dat::fuzz {
namespace {

using perfdata::Record;
using perfdata::RecordType;

class Reader {
 public:
  Reader(const std::string& path, std::uint64_t size, const std::string& tracing_dir)
      : path_(path), size_(size), tracing_dir_(tracing_dir) {}

  ReadResult read() {
    const auto done = read_all();
    if (!done) result_.error = done.error();
    return std::move(result_);
  }

 private:
  void add(std::uint64_t number) {
    // FNV-1a, a word at a time.
    result_.digest = (result_.digest ^ number) * 0x100000001b3U;
  }
  void add(std::span<const std::byte> bytes) {
    add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void add(std::string_view text) { add(std::uint64_t{std::hash<std::string_view>()(text)}); }
  void add(const std::vector<std::string>& texts) {
    add(std::uint64_t{texts.size()});
    for (const auto& text : texts) add(std::string_view(text));
  }

  Expected<void> read_all() {
    static OutputFolder folder;
    P2D_ASSIGN(auto recording, perfdata::Recording::open(path_, {.tracing_dir = tracing_dir_,
                                                                 .output = folder.path("spool")}));
    auto read = read_records(recording);
    expect_place(recording);
    result_.warnings = recording.warnings();
    return read;
  }

  static void expect_place(const perfdata::Recording& recording) {
    expect(recording.size() == 0 || recording.position() <= recording.size(),
           "no more is read than there is");
  }

  Expected<void> read_records(perfdata::Recording& recording) {
    const auto& description = recording.description();
    Record record{};
    unsigned generation = 0;
    while (result_.records < kMostRecords) {
      if (!recording.next_buffered(record)) {
        P2D_ASSIGN(const bool more, recording.next(record));
        if (!more) break;
      }
      ++result_.records;
      expect(record.offset < size_, "a record is inside the input");
      expect_place(recording);
      if (generation != recording.generation()) {
        P2D_TRY(describe(recording));
        generation = recording.generation();
      }
      add(static_cast<std::uint64_t>(record.type) << 16U | record.misc);
      add(record.offset);
      add(record.body);
      // Exactly as large, so that the sanitizer sees what reads beyond it.
      const std::vector<std::byte> body(record.body.begin(), record.body.end());
      record.body = body;
      P2D_TRY(decode(record, description));
    }
    if (generation != recording.generation()) P2D_TRY(describe(recording));
    return {};
  }

  Expected<void> describe(const perfdata::Recording& recording) {
    const auto& description = recording.description();
    order_ = recording.order();
    P2D_ASSIGN(finder_, perfdata::AttrFinder::create(description.attrs, order_));
    layouts_.clear();
    trailers_.clear();
    for (const auto& attr : description.attrs) {
      layouts_.emplace_back(attr, order_);
      trailers_.emplace_back(attr, order_);
      add(std::string_view(attr.name));
      add(attr.config);
      add(std::uint64_t{attr.clockid.has_value()});
      add(static_cast<std::uint64_t>(attr.clockid.value_or(0)));
      add(std::as_bytes(std::span(attr.ids)));
    }
    add(std::uint64_t{description.cpus_available});
    for (const auto* text : {&description.hostname, &description.os_release, &description.arch}) {
      add(std::string_view(*text));
    }
    add(std::uint64_t{description.guest_ids.size()});
    for (const std::uint64_t id : description.guest_ids) add(id);
    if (description.sample_time) {
      add(description.sample_time->first);
      add(description.sample_time->last);
    }
    if (description.tracing) add(*description.tracing);
    return {};
  }

  void add(const TracingData& tracing) {
    for (const auto* text : {&tracing.header_page, &tracing.header_event, &tracing.kallsyms,
                             &tracing.printk, &tracing.cmdlines}) {
      add(std::string_view(*text));
    }
    add(tracing.ftrace_formats);
    for (const auto& system : tracing.systems) {
      add(std::string_view(system.name));
      add(system.formats);
    }
  }

  Expected<void> decode(const Record& record, const perfdata::Description& description) {
    switch (record.type) {
      case RecordType::kSample:
        return decode_sample(record, description);
      case RecordType::kComm: {
        P2D_ASSIGN(const auto comm, perfdata::decode_comm(record, order_));
        add(std::as_bytes(std::span(comm.comm)));
        return decode_trailer(record, description);
      }
      case RecordType::kFork: {
        P2D_ASSIGN(const auto fork, perfdata::decode_fork(record, order_));
        add(fork.time);
        return decode_trailer(record, description);
      }
      case RecordType::kLost:
      case RecordType::kLostSamples: {
        P2D_ASSIGN(const auto lost, perfdata::decode_lost(record, order_));
        add(lost);
        return decode_trailer(record, description);
      }
      default:
        return {};
    }
  }

  Expected<void> decode_sample(const Record& record, const perfdata::Description& description) {
    const auto index = finder_->of_sample(record.body);
    if (index >= layouts_.size()) return {};
    const std::uint64_t id = finder_->id_of_sample(record.body);
    // A record of no event's is the first one's.
    if (layouts_.size() > 1 && id != 0) {
      const auto found = description.attr_of_id.find(id);
      expect(found != description.attr_of_id.end() && found->second == index,
             "the id tells the event");
    }
    perfdata::Sample sample;
    const auto reference =
        fuzz::decode_sample(description.attrs[index], description.order, record.body);
    const bool decoded = layouts_[index].decode(record.body, sample);
    expect(decoded == reference.has_value(), "a sample is whole, or is not");
    if (!decoded) return layouts_[index].damage(record.body, record.offset);
    expect(id == reference->id, "the sample's id is that of the reference");
    expect(sample.time == reference->time, "its time is");
    expect(sample.cpu == reference->cpu, "its CPU is");
    expect(sample.tid == reference->tid, "its task is");
    expect(sample.raw.data() == reference->raw.data() && sample.raw.size() == reference->raw.size(),
           "its raw data is");
    ++result_.samples;
    add(id);
    add(sample.time);
    add(std::uint64_t{sample.cpu} << 32U | sample.tid);
    add(sample.raw);
    return {};
  }

  Expected<void> decode_trailer(const Record& record, const perfdata::Description& description) {
    const auto index = finder_->of_trailer(record.body);
    if (index >= trailers_.size()) return {};
    const auto trailer = trailers_[index].read(record.body);
    const auto reference =
        fuzz::decode_trailer(description.attrs[index], description.order, record.body);
    expect(trailer.time == reference.time, "the trailer's time is that of the reference");
    expect(trailer.cpu == reference.cpu, "the trailer's CPU is");
    add(trailer.time.value_or(1));
    add(std::uint64_t{trailer.cpu.value_or(1)});
    return {};
  }

  const std::string& path_;
  std::uint64_t size_;
  const std::string& tracing_dir_;
  ByteOrder order_ = ByteOrder::kLittle;
  std::optional<perfdata::AttrFinder> finder_;
  std::vector<perfdata::SampleLayout> layouts_;
  std::vector<perfdata::TrailerLayout> trailers_;
  ReadResult result_;
};

}  // namespace

void expect_told(const ReadResult& result, std::uint64_t size) {
  if (result.error) {
    const auto& [kind, message] = *result.error;
    expect(kind == Error::Kind::kInput, message);
    expect(message.find_first_of("\r\n") == std::string::npos, "errors are one line");
    expect(offsets_are_inside(message, size), message);
  }
  for (const auto& warning : result.warnings) expect(offsets_are_inside(warning, size), warning);
}

bool operator==(const ReadResult& a, const ReadResult& b) {
  const auto message = [](const ReadResult& result) {
    return result.error ? result.error->message : std::string();
  };
  return a.records == b.records && a.samples == b.samples && a.digest == b.digest &&
         a.warnings == b.warnings && a.error.has_value() == b.error.has_value() &&
         message(a) == message(b);
}

std::size_t memory_for(std::span<const std::byte> input) {
  constexpr std::size_t kWindow =
      (std::size_t{1} << perfdata::Decompressor::kLargestWindowLog) + (2U << 20U);
  constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const bool has_zstd = text.find(kMagic) != std::string_view::npos;
  return (4U << 20U) + 64 * input.size() + (has_zstd ? kWindow : 0);
}

ReadResult read_recording(const std::string& path, std::uint64_t size,
                          const std::string& tracing_dir) {
  return Reader(path, size, tracing_dir).read();
}

}  // namespace perf2dat::fuzz
