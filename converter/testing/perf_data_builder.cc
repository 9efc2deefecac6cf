// SPDX-License-Identifier: LGPL-2.1-or-later
#include "testing/perf_data_builder.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace perf2dat::testing {
namespace {

using perfdata::Feature;

// perf pads strings of features to 64 bytes.
void write_feature_string(ByteWriter& out, std::string_view text) {
  const std::size_t padded = (text.size() + 1 + 63) / 64 * 64;
  out.u32(static_cast<std::uint32_t>(padded)).text(text).zeros(padded - text.size());
}

void write_formats(ByteWriter& out, const std::vector<std::string>& formats) {
  out.u32(static_cast<std::uint32_t>(formats.size()));
  for (const auto& format : formats) out.u64(format.size()).text(format);
}

// A bit field's first member is the lowest bit in little-endian code, the highest in big-endian.
std::uint64_t bit_field(unsigned place, ByteOrder order) {
  return 1ULL << (order == ByteOrder::kLittle ? place : 63 - place);
}

}  // namespace

std::vector<std::byte> encode_attr(const AttrSpec& attr, ByteOrder order) {
  ByteWriter out(order);
  std::uint64_t flags = 0;
  if (attr.sample_id_all) flags |= bit_field(18, order);
  if (attr.clockid) flags |= bit_field(25, order);
  out.u32(attr.type).u32(attr.size).u64(attr.config).u64(1);
  out.u64(attr.sample_type).u64(attr.read_format).u64(flags);
  out.zeros(92 - out.size()).u32(static_cast<std::uint32_t>(attr.clockid.value_or(0)));
  auto bytes = out.take();
  bytes.resize(attr.size);
  return bytes;
}

std::vector<std::byte> encode_tracing_data(const TracingData& tracing, ByteOrder order) {
  ByteWriter out(order);
  out.text(std::string_view("\x17\x08\x44tracing", 10));
  out.c_string(tracing.cmdlines.empty() ? "0.5" : "0.6");
  out.u8(order == ByteOrder::kBig ? 1 : 0).u8(tracing.long_size).u32(tracing.page_size);
  out.c_string("header_page").u64(tracing.header_page.size()).text(tracing.header_page);
  out.c_string("header_event").u64(tracing.header_event.size()).text(tracing.header_event);
  write_formats(out, tracing.ftrace_formats);
  out.u32(static_cast<std::uint32_t>(tracing.systems.size()));
  for (const auto& system : tracing.systems) {
    out.c_string(system.name);
    write_formats(out, system.formats);
  }
  out.u32(static_cast<std::uint32_t>(tracing.kallsyms.size())).text(tracing.kallsyms);
  out.u32(static_cast<std::uint32_t>(tracing.printk.size())).text(tracing.printk);
  if (!tracing.cmdlines.empty()) out.u64(tracing.cmdlines.size()).text(tracing.cmdlines);
  return out.take();
}

PerfDataBuilder& PerfDataBuilder::add_attr(AttrSpec attr) {
  attrs_.push_back(std::move(attr));
  return *this;
}

PerfDataBuilder& PerfDataBuilder::set_feature(Feature feature, std::vector<std::byte> content) {
  features_.push_back({feature, std::move(content)});
  return *this;
}

PerfDataBuilder& PerfDataBuilder::set_tracing(const TracingData& tracing) {
  return set_feature(Feature::kTracingData, encode_tracing_data(tracing, order_));
}

PerfDataBuilder& PerfDataBuilder::set_text_feature(Feature feature, std::string_view text) {
  ByteWriter out(order_);
  write_feature_string(out, text);
  return set_feature(feature, out.take());
}

PerfDataBuilder& PerfDataBuilder::set_cpus(std::uint32_t available) {
  return set_feature(Feature::kCpuCount, ByteWriter(order_).u32(available).u32(available).take());
}

PerfDataBuilder& PerfDataBuilder::leave_out_event_names() {
  event_names_ = false;
  return *this;
}

PerfDataBuilder& PerfDataBuilder::add_record(std::uint32_t type, std::uint16_t misc,
                                             const std::vector<std::byte>& body) {
  data_.u32(type).u16(misc);
  data_.u16(static_cast<std::uint16_t>(perfdata::kRecordHeaderSize + body.size()));
  data_.bytes(body);
  return *this;
}

PerfDataBuilder& PerfDataBuilder::add_bytes(const std::vector<std::byte>& bytes) {
  data_.bytes(bytes);
  return *this;
}

PerfDataBuilder& PerfDataBuilder::add_sample(std::size_t attr, const SampleSpec& sample) {
  const std::uint64_t type = attrs_.at(attr).sample_type;
  const auto has = [&](perfdata::SampleType bit) { return (type & bit) != 0; };
  ByteWriter body(order_);
  if (has(perfdata::kSampleIdentifier)) body.u64(sample.id);
  if (has(perfdata::kSampleIp)) body.u64(sample.ip);
  if (has(perfdata::kSampleTid)) body.u32(sample.pid).u32(sample.tid);
  if (has(perfdata::kSampleTime)) body.u64(sample.time);
  if (has(perfdata::kSampleAddr)) body.u64(sample.addr);
  if (has(perfdata::kSampleId)) body.u64(sample.id);
  if (has(perfdata::kSampleStreamId)) body.u64(sample.stream_id);
  if (has(perfdata::kSampleCpu)) body.u32(sample.cpu).u32(0);
  if (has(perfdata::kSamplePeriod)) body.u64(sample.period);
  if (has(perfdata::kSampleRead)) {
    for (const std::uint64_t number : sample.read) body.u64(number);
  }
  if (has(perfdata::kSampleCallchain)) {
    body.u64(sample.callchain.size());
    for (const std::uint64_t address : sample.callchain) body.u64(address);
  }
  if (has(perfdata::kSampleRaw)) {
    const std::size_t padded = (sample.raw.size() + 4 + 7) / 8 * 8 - 4;
    body.u32(static_cast<std::uint32_t>(padded)).bytes(sample.raw);
    body.zeros(padded - sample.raw.size());
  }
  return add_record(9, sample.misc, body.data());
}

void PerfDataBuilder::write_trailer(ByteWriter& body, const TrailerSpec& trailer) const {
  if (attrs_.empty() || !attrs_.front().sample_id_all) return;
  const std::uint64_t type = attrs_.front().sample_type;
  if ((type & perfdata::kSampleTid) != 0) body.u32(trailer.pid).u32(trailer.tid);
  if ((type & perfdata::kSampleTime) != 0) body.u64(trailer.time);
  if ((type & perfdata::kSampleId) != 0) body.u64(trailer.id);
  if ((type & perfdata::kSampleStreamId) != 0) body.u64(trailer.stream_id);
  if ((type & perfdata::kSampleCpu) != 0) body.u32(trailer.cpu).u32(0);
  if ((type & perfdata::kSampleIdentifier) != 0) body.u64(trailer.id);
}

PerfDataBuilder& PerfDataBuilder::add_comm(std::uint32_t pid, std::uint32_t tid,
                                           std::string_view comm, const TrailerSpec& trailer) {
  ByteWriter body(order_);
  body.u32(pid).u32(tid).c_string(comm).align(8);
  write_trailer(body, trailer);
  return add_record(3, 0, body.data());
}

PerfDataBuilder& PerfDataBuilder::add_fork(std::uint32_t pid, std::uint32_t parent_pid,
                                           std::uint32_t tid, std::uint32_t parent_tid,
                                           std::uint64_t time, const TrailerSpec& trailer,
                                           std::uint32_t type) {
  ByteWriter body(order_);
  body.u32(pid).u32(parent_pid).u32(tid).u32(parent_tid).u64(time);
  write_trailer(body, trailer);
  return add_record(type, 0, body.data());
}

PerfDataBuilder& PerfDataBuilder::add_lost(std::uint64_t id, std::uint64_t lost,
                                           const TrailerSpec& trailer) {
  ByteWriter body(order_);
  body.u64(id).u64(lost);
  write_trailer(body, trailer);
  return add_record(2, 0, body.data());
}

PerfDataBuilder& PerfDataBuilder::add_lost_samples(std::uint64_t lost, const TrailerSpec& trailer) {
  ByteWriter body(order_);
  body.u64(lost);
  write_trailer(body, trailer);
  return add_record(13, 0, body.data());
}

PerfDataBuilder& PerfDataBuilder::add_finished_round() { return add_record(68, 0, {}); }

// u32 count, u32 size of attr, then for each: attr, u32 count of ids, string name, ids.
std::vector<std::byte> PerfDataBuilder::event_desc() const {
  ByteWriter out(order_);
  const std::uint32_t size = attrs_.empty() ? AttrSpec().size : attrs_.front().size;
  out.u32(static_cast<std::uint32_t>(attrs_.size())).u32(size);
  for (const auto& attr : attrs_) {
    auto bytes = encode_attr(attr, order_);
    bytes.resize(size);
    out.bytes(bytes).u32(static_cast<std::uint32_t>(attr.ids.size()));
    write_feature_string(out, attr.name);
    for (const std::uint64_t id : attr.ids) out.u64(id);
  }
  return out.take();
}

std::vector<PerfDataBuilder::FeatureSection> PerfDataBuilder::sorted_features() const {
  auto features = features_;
  if (event_names_) features.push_back({Feature::kEventDesc, event_desc()});
  std::sort(features.begin(), features.end(),
            [](const auto& a, const auto& b) { return a.feature < b.feature; });
  return features;
}

std::vector<std::byte> PerfDataBuilder::build() const {
  const auto features = sorted_features();
  const std::uint64_t stride = (attrs_.empty() ? AttrSpec() : attrs_.front()).size + 16;

  // Header, ids, table of attrs, data, table of features, features.
  std::vector<std::uint64_t> ids_at;
  std::uint64_t at = perfdata::kFileHeaderSize;
  for (const auto& attr : attrs_) {
    ids_at.push_back(at);
    at += attr.ids.size() * 8;
  }
  const std::uint64_t attrs_at = at;
  const std::uint64_t data_at = attrs_at + stride * attrs_.size();

  ByteWriter out(order_);
  out.text(order_ == ByteOrder::kLittle ? "PERFILE2" : "2ELIFREP");
  out.u64(perfdata::kFileHeaderSize).u64(stride);
  out.u64(attrs_at).u64(stride * attrs_.size());
  out.u64(data_at).u64(data_.size());
  out.u64(0).u64(0);
  std::uint64_t bitmap = 0;
  for (const auto& section : features) bitmap |= 1ULL << static_cast<unsigned>(section.feature);
  out.u64(bitmap).u64(0).u64(0).u64(0);

  for (const auto& attr : attrs_) {
    for (const std::uint64_t id : attr.ids) out.u64(id);
  }
  for (std::size_t i = 0; i < attrs_.size(); ++i) {
    auto bytes = encode_attr(attrs_[i], order_);
    bytes.resize(stride - 16);
    out.bytes(bytes).u64(ids_at[i]).u64(attrs_[i].ids.size() * 8);
  }
  out.bytes(data_.data());

  std::uint64_t feature_at = out.size() + features.size() * 16;
  for (const auto& section : features) {
    out.u64(feature_at).u64(section.content.size());
    feature_at += section.content.size();
  }
  for (const auto& section : features) out.bytes(section.content);
  return out.take();
}

PerfDataBuilder& PerfDataBuilder::keep_plain() {
  plain_size_ = data_.size();
  return *this;
}

PerfDataBuilder& PerfDataBuilder::compress(perfdata::RecordType type, std::size_t chunk) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  const auto all = data_.take();
  data_ = ByteWriter(order_);
  data_.bytes(std::span(all).first(plain_size_));
  const auto plain = std::span(all).subspan(plain_size_);
  std::vector<std::byte> compressed(ZSTD_compressBound(chunk));
  for (std::size_t at = 0; at < plain.size(); at += chunk) {
    ZSTD_inBuffer in{plain.data() + at, std::min(chunk, plain.size() - at), 0};
    ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
    if (ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_flush) != 0) {
      throw std::runtime_error("zstd did not take a chunk whole");
    }
    ByteWriter body(order_);
    if (type == perfdata::RecordType::kCompressed2) body.u64(out.pos);
    body.bytes(std::span(compressed).first(out.pos));
    if (type == perfdata::RecordType::kCompressed2) body.align(8);
    add_record(static_cast<std::uint32_t>(type), 0, body.data());
  }
  return *this;
}

std::vector<std::byte> PerfDataBuilder::build_stream(std::size_t tracing_record_size) const {
  PerfDataBuilder records(order_);
  for (const auto& attr : attrs_) {
    ByteWriter body(order_);
    body.bytes(encode_attr(attr, order_));
    for (const std::uint64_t id : attr.ids) body.u64(id);
    records.add_record(64, 0, body.data());
  }
  for (const auto& section : sorted_features()) {
    if (section.feature == Feature::kTracingData) continue;
    ByteWriter body(order_);
    body.u64(static_cast<std::uint64_t>(section.feature)).bytes(section.content).align(8);
    records.add_record(80, 0, body.data());
  }
  for (const auto& section : features_) {
    if (section.feature != Feature::kTracingData) continue;
    ByteWriter body(order_);
    const std::size_t padded = (section.content.size() + 7) / 8 * 8;
    body.u32(static_cast<std::uint32_t>(padded));
    body.zeros(tracing_record_size - perfdata::kRecordHeaderSize - body.size());
    records.add_record(66, 0, body.data());
    records.add_bytes(section.content);
    records.add_bytes(std::vector<std::byte>(padded - section.content.size()));
  }
  ByteWriter out(order_);
  out.text(order_ == ByteOrder::kLittle ? "PERFILE2" : "2ELIFREP").u64(perfdata::kPipeHeaderSize);
  out.bytes(records.data_.data()).bytes(data_.data());
  return out.take();
}

}  // namespace perf2dat::testing
