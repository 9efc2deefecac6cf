// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes perf.data files to order, in either byte order.
//
// It is written from the format's description alone and shares no code with the reader but the
// numbers in perfdata/layout.h, so that a mistake of the reader is not repeated here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "model/tracing_data.h"
#include "perfdata/layout.h"

namespace perf2dat::testing {

/// What an event was asked for. The defaults are what perf record -a asks of a tracepoint.
struct AttrSpec {
  std::uint32_t type = perfdata::kTypeTracepoint;
  std::uint64_t config = 0;
  std::uint64_t sample_type = perfdata::kSampleIdentifier | perfdata::kSampleIp |
                              perfdata::kSampleTid | perfdata::kSampleTime | perfdata::kSampleCpu |
                              perfdata::kSamplePeriod | perfdata::kSampleRaw;
  std::uint64_t read_format = perfdata::kReadId;
  bool sample_id_all = true;
  std::optional<std::int32_t> clockid;
  std::vector<std::uint64_t> ids;
  std::string name;
  std::uint32_t size = 128;  ///< bytes of perf_event_attr; perf 6.1 refuses larger ones
};

/// A sample's fields; the attr's sample_type decides which are written.
struct SampleSpec {
  std::uint64_t id = 0;
  std::uint64_t ip = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint64_t addr = 0;
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 1;
  std::vector<std::uint64_t> read;  ///< the numbers of READ, in their order
  std::vector<std::uint64_t> callchain;
  std::vector<std::byte> raw;  ///< padded with zeros to 4 bytes more than a multiple of 8
  std::uint16_t misc = 1;      ///< cpumode: the kernel
};

/// The trailer of records that are no samples.
struct TrailerSpec {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
};

class PerfDataBuilder {
 public:
  explicit PerfDataBuilder(ByteOrder order) : order_(order), data_(order) {}

  ByteOrder order() const { return order_; }

  PerfDataBuilder& add_attr(AttrSpec attr);
  PerfDataBuilder& set_tracing(const TracingData& tracing);
  PerfDataBuilder& set_text_feature(perfdata::Feature feature, std::string_view text);
  PerfDataBuilder& set_cpus(std::uint32_t available);
  /// A feature section as it is.
  PerfDataBuilder& set_feature(perfdata::Feature feature, std::vector<std::byte> content);
  /// Events without names in the features, as old perf versions wrote them.
  PerfDataBuilder& leave_out_event_names();

  PerfDataBuilder& add_sample(std::size_t attr, const SampleSpec& sample);
  PerfDataBuilder& add_comm(std::uint32_t pid, std::uint32_t tid, std::string_view comm,
                            const TrailerSpec& trailer = {});
  PerfDataBuilder& add_fork(std::uint32_t pid, std::uint32_t parent_pid, std::uint32_t tid,
                            std::uint32_t parent_tid, std::uint64_t time,
                            const TrailerSpec& trailer = {}, std::uint32_t type = 7);
  PerfDataBuilder& add_lost(std::uint64_t id, std::uint64_t lost, const TrailerSpec& trailer = {});
  PerfDataBuilder& add_lost_samples(std::uint64_t lost, const TrailerSpec& trailer = {});
  PerfDataBuilder& add_finished_round();
  /// A record as it is; the header is added, the trailer is not.
  PerfDataBuilder& add_record(std::uint32_t type, std::uint16_t misc,
                              const std::vector<std::byte>& body);
  /// Bytes between the records, as they are.
  PerfDataBuilder& add_bytes(const std::vector<std::byte>& bytes);

  /// The records added so far will not be compressed; perf leaves out those of its own.
  PerfDataBuilder& keep_plain();
  /// Puts all other records added so far into compressed ones, of kCompressed or kCompressed2, as
  /// one stream of zstd. Each takes up to `chunk` bytes of records, wherever that cuts them.
  PerfDataBuilder& compress(perfdata::RecordType type, std::size_t chunk = 10'000);

  /// The whole file.
  std::vector<std::byte> build() const;

  /// Bytes of the record before the event formats; old versions of perf wrote 12.
  static constexpr std::size_t kTracingRecordSize = 16;

  /// The same as a stream for a pipe, with the description in records.
  std::vector<std::byte> build_stream(std::size_t tracing_record_size = kTracingRecordSize) const;

 private:
  struct FeatureSection {
    perfdata::Feature feature;
    std::vector<std::byte> content;
  };

  void write_trailer(ByteWriter& body, const TrailerSpec& trailer) const;
  std::vector<std::byte> event_desc() const;
  std::vector<FeatureSection> sorted_features() const;

  ByteOrder order_;
  std::vector<AttrSpec> attrs_;
  std::vector<FeatureSection> features_;
  bool event_names_ = true;
  ByteWriter data_;
  std::size_t plain_size_ = 0;  // of data_, which is not compressed
};

/// perf_event_attr's bytes.
std::vector<std::byte> encode_attr(const AttrSpec& attr, ByteOrder order);

/// The event formats as perf stores them, version 0.6 with cmdlines, else 0.5.
std::vector<std::byte> encode_tracing_data(const TracingData& tracing, ByteOrder order);

}  // namespace perf2dat::testing
