// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/sample.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/fuzzing.h"

namespace perf2dat::perfdata {
namespace {

constexpr std::size_t kFieldSize = 8;

std::uint32_t load_u32(std::span<const std::byte> bytes, std::size_t at, ByteOrder order) {
  return load<std::uint32_t>(bytes.data() + at, order);
}

std::uint64_t load_u64(std::span<const std::byte> bytes, std::size_t at, ByteOrder order) {
  return load<std::uint64_t>(bytes.data() + at, order);
}

/// The offset of a field among those of fixed size at the beginning of a sample; nullopt: absent.
std::optional<std::uint32_t> fixed_offset(std::uint64_t sample_type, std::uint64_t wanted) {
  static constexpr std::array<std::uint64_t, 9> kOrder = {
      kSampleIdentifier, kSampleIp,       kSampleTid, kSampleTime,  kSampleAddr,
      kSampleId,         kSampleStreamId, kSampleCpu, kSamplePeriod};
  if ((sample_type & wanted) == 0) return std::nullopt;
  std::uint32_t offset = 0;
  for (const std::uint64_t field : kOrder) {
    if (field == wanted) break;
    if ((sample_type & field) != 0) offset += kFieldSize;
  }
  return offset;
}

std::optional<std::uint32_t> id_offset(const Attr& attr) {
  const auto identifier = fixed_offset(attr.sample_type, kSampleIdentifier);
  return identifier ? identifier : fixed_offset(attr.sample_type, kSampleId);
}

}  // namespace

SampleLayout::SampleLayout(const Attr& attr, ByteOrder order)
    : order_(order),
      tid_(fixed_offset(attr.sample_type, kSampleTid).value_or(kAbsent)),
      time_(fixed_offset(attr.sample_type, kSampleTime).value_or(kAbsent)),
      cpu_(fixed_offset(attr.sample_type, kSampleCpu).value_or(kAbsent)),
      read_format_(attr.read_format),
      has_read_((attr.sample_type & kSampleRead) != 0),
      has_callchain_((attr.sample_type & kSampleCallchain) != 0),
      has_raw_((attr.sample_type & kSampleRaw) != 0) {
  constexpr std::uint64_t kFixed = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                                   kSampleAddr | kSampleId | kSampleStreamId | kSampleCpu |
                                   kSamplePeriod;
  fixed_size_ = static_cast<std::uint32_t>(std::popcount(attr.sample_type & kFixed) * kFieldSize);
}

// A group's READ: u64 nr, times, nr x (value, id, lost); a single one: value, times, id, lost.
std::optional<std::size_t> SampleLayout::read_size(std::span<const std::byte> rest) const {
  const auto bits = [&](std::uint64_t mask) {
    return static_cast<std::size_t>(std::popcount(read_format_ & mask)) * kFieldSize;
  };
  const std::size_t times = bits(kReadTimeEnabled | kReadTimeRunning);
  const std::size_t value = kFieldSize + bits(kReadId | kReadLost);
  if ((read_format_ & kReadGroup) == 0) return times + value;
  if (rest.size() < kFieldSize) return std::nullopt;
  const std::uint64_t count = load_u64(rest, 0, order_);
  if (count > rest.size() / value) return std::nullopt;
  return kFieldSize + times + static_cast<std::size_t>(count) * value;
}

/// The offset of RAW's size, at most the body's; nullopt: the sample ends before.
std::optional<std::size_t> SampleLayout::raw_offset(std::span<const std::byte> body) const {
  std::size_t offset = fixed_size_;
  if (has_read_) {
    if (offset > body.size()) return std::nullopt;
    const auto size = read_size(body.subspan(offset));
    if (!size) return std::nullopt;
    offset += *size;
  }
  if (has_callchain_) {
    if (offset + kFieldSize > body.size()) return std::nullopt;
    const std::uint64_t count = load_u64(body, offset, order_);
    if (count > body.size() / kFieldSize) return std::nullopt;
    offset += kFieldSize + static_cast<std::size_t>(count) * kFieldSize;
  }
  if (offset > body.size()) return std::nullopt;
  return offset;
}

/// Why `decode()` could not.
Failure SampleLayout::damage(std::span<const std::byte> body, std::uint64_t offset) const {
  if (body.size() < fixed_size_) {
    return input_error("the sample at offset {:#x} has {} bytes, but its fields need {}", offset,
                       body.size(), fixed_size_);
  }
  const auto at = raw_offset(body);
  if (!at || body.size() - *at < kRawSizeSize) {
    return input_error("the sample at offset {:#x} ends after {} bytes, before its raw data",
                       offset, body.size());
  }
  return input_error("the sample at offset {:#x} has raw data of {} bytes, but room for {}", offset,
                     load_u32(body, *at, order_), body.size() - *at - kRawSizeSize);
}

Expected<AttrFinder> AttrFinder::create(const std::vector<Attr>& attrs, ByteOrder order) {
  AttrFinder finder(order);
  finder.single_ = attrs.size() == 1;
  if (attrs.empty()) return finder;
  const auto offset = id_offset(attrs.front());
  const bool same = std::all_of(attrs.begin(), attrs.end(),
                                [&](const Attr& attr) { return id_offset(attr) == offset; });
  finder.has_id_ = offset && same;
  if (finder.has_id_) finder.id_offset_ = *offset;
  if (finder.single_) return finder;
  if (!finder.has_id_) {
    return input_error(
        "it has {} events, but its samples do not tell which one they are of "
        "(no id at the same place in all); record with a newer perf",
        attrs.size());
  }
  finder.has_identifier_ = std::all_of(attrs.begin(), attrs.end(), [](const Attr& attr) {
    return (attr.sample_type & kSampleIdentifier) != 0;
  });
  constexpr auto kSmallIds = size_or_when_fuzzing<std::uint64_t>(1U << 16U, 1U << 8U);
  for (std::size_t i = 0; i < attrs.size(); ++i) {
    for (const std::uint64_t id : attrs[i].ids) {
      if (id >= kSmallIds) {
        finder.large_ids_[id] = i;
        continue;
      }
      if (id >= finder.small_ids_.size()) finder.small_ids_.resize(id + 1, kUnknown);
      finder.small_ids_[id] = i;
    }
  }
  return finder;
}

std::size_t AttrFinder::by_large_id(std::uint64_t id) const {
  const auto found = large_ids_.find(id);
  return found == large_ids_.end() ? kUnknown : found->second;
}

std::uint64_t AttrFinder::id_of_sample(std::span<const std::byte> body) const {
  if (!has_id_ || body.size() < id_offset_ + kIdSize) return 0;
  return load_u64(body, id_offset_, order_);
}

namespace {

// Of a record that came out of a compressed one, no place inside it is one in the file.
Failure too_short(std::string_view what, const Record& record) {
  return input_error("{} at offset {:#x} ends after {} bytes, inside a field", what, record.offset,
                     kRecordHeaderSize + record.body.size());
}

}  // namespace

// u32 pid, u32 tid, comm with zeros to a multiple of 8, trailer.
Expected<CommRecord> decode_comm(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  reader.skip(4);
  const std::uint32_t tid = reader.u32();
  const auto comm = reader.c_string();
  if (!reader.ok()) return too_short("the record of a task's name", record);
  return CommRecord{tid, comm};
}

// u32 pid, u32 ppid, u32 tid, u32 ptid, u64 time, trailer.
Expected<ForkRecord> decode_fork(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  ForkRecord fork{};
  reader.skip(8);
  fork.tid = reader.u32();
  fork.parent_tid = reader.u32();
  fork.time = reader.u64();
  if (!reader.ok()) return too_short("the record of a fork", record);
  return fork;
}

// LOST: u64 id, u64 lost; LOST_SAMPLES: u64 lost.
Expected<std::uint64_t> decode_lost(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  if (record.type == RecordType::kLost) reader.skip(8);
  const std::uint64_t lost = reader.u64();
  if (!reader.ok()) return too_short("the record of lost events", record);
  return lost;
}

// From the beginning: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER, each only if its bit is set.
TrailerLayout::TrailerLayout(const Attr& attr, ByteOrder order) : order_(order) {
  if (!attr.sample_id_all) return;
  const auto from_end = [&](std::uint64_t field, std::uint64_t after) {
    if ((attr.sample_type & field) == 0) return std::size_t{0};
    return (static_cast<std::size_t>(std::popcount(attr.sample_type & after)) + 1) * kFieldSize;
  };
  time_ = from_end(kSampleTime, kSampleId | kSampleStreamId | kSampleCpu | kSampleIdentifier);
  cpu_ = from_end(kSampleCpu, kSampleIdentifier);
}

}  // namespace perf2dat::perfdata
