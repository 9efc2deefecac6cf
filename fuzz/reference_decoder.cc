// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reference_decoder.h"

#include "base/byte_reader.h"

namespace perf2dat::fuzz {
namespace {

// { u64 value; u64 time_enabled; u64 time_running; u64 id; u64 lost; }, or for a group
// { u64 nr; u64 time_enabled; u64 time_running; { u64 value; u64 id; u64 lost; } [nr]; };
// all but value and nr only if their bit is set.
void skip_read(std::uint64_t read_format, ByteReader& reader) {
  const auto has = [&](perfdata::ReadFormat bit) { return (read_format & bit) != 0; };
  const bool is_group = has(perfdata::kReadGroup);
  std::uint64_t values = 1;
  if (is_group) {
    values = reader.u64();
  } else {
    reader.u64();
  }
  if (has(perfdata::kReadTimeEnabled)) reader.u64();
  if (has(perfdata::kReadTimeRunning)) reader.u64();
  for (std::uint64_t i = 0; i < values && reader.ok(); ++i) {
    if (is_group) reader.u64();
    if (has(perfdata::kReadId)) reader.u64();
    if (has(perfdata::kReadLost)) reader.u64();
  }
}

}  // namespace

std::optional<ReferenceSample> decode_sample(const perfdata::Attr& attr, ByteOrder order,
                                             std::span<const std::byte> body) {
  const auto has = [&](perfdata::SampleType bit) { return (attr.sample_type & bit) != 0; };
  ReferenceSample sample;
  ByteReader reader(body, order);
  if (has(perfdata::kSampleIdentifier)) sample.id = reader.u64();
  if (has(perfdata::kSampleIp)) reader.u64();
  if (has(perfdata::kSampleTid)) {
    reader.u32();  // pid
    sample.tid = reader.u32();
  }
  if (has(perfdata::kSampleTime)) sample.time = reader.u64();
  if (has(perfdata::kSampleAddr)) reader.u64();
  if (has(perfdata::kSampleId)) {
    const std::uint64_t id = reader.u64();
    if (!has(perfdata::kSampleIdentifier)) sample.id = id;
  }
  if (has(perfdata::kSampleStreamId)) reader.u64();
  if (has(perfdata::kSampleCpu)) {
    sample.cpu = reader.u32();
    reader.u32();  // res
  }
  if (has(perfdata::kSamplePeriod)) reader.u64();
  // What comes next matters only as what is before RAW.
  if (has(perfdata::kSampleRaw)) {
    if (has(perfdata::kSampleRead)) skip_read(attr.read_format, reader);
    if (has(perfdata::kSampleCallchain)) {
      const std::uint64_t addresses = reader.u64();
      for (std::uint64_t i = 0; i < addresses && reader.ok(); ++i) reader.u64();
    }
    sample.raw = reader.bytes(reader.u32());
  }
  if (!reader.ok()) return std::nullopt;
  return sample;
}

// { u32 pid, tid; u64 time; u64 id; u64 stream_id; u32 cpu, res; u64 id; }, each only if the bit of
// TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER is set. Nothing tells where it begins, so it is read
// from its end, and a field that is not whole is not there.
ReferenceTrailer decode_trailer(const perfdata::Attr& attr, ByteOrder order,
                                std::span<const std::byte> body) {
  ReferenceTrailer trailer;
  if (!attr.sample_id_all) return trailer;
  constexpr std::size_t kFieldSize = 8;
  for (const auto field :
       {perfdata::kSampleIdentifier, perfdata::kSampleCpu, perfdata::kSampleStreamId,
        perfdata::kSampleId, perfdata::kSampleTime, perfdata::kSampleTid}) {
    if ((attr.sample_type & field) == 0) continue;
    if (body.size() < kFieldSize) break;
    ByteReader reader(body.last(kFieldSize), order);
    if (field == perfdata::kSampleTime) trailer.time = reader.u64();
    if (field == perfdata::kSampleCpu) trailer.cpu = reader.u32();
    body = body.first(body.size() - kFieldSize);
  }
  return trailer;
}

}  // namespace perf2dat::fuzz
