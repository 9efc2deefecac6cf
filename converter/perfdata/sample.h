// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes samples, and the few other records that a conversion needs.
//
// Source: perf_event_open(2) and include/uapi/linux/perf_event.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perfdata/attr.h"
#include "perfdata/record_stream.h"

namespace perf2dat::perfdata {

struct Sample {
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t time = 0;          ///< nanoseconds
  std::span<const std::byte> raw;  ///< the tracepoint's data, in the recorded machine's byte order
};

/// Where the fields of an attr's samples are.
///
/// A sample's fields up to RAW come in this order, each only if its bit is set: IDENTIFIER, IP,
/// TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD (8 bytes each), then READ and CALLCHAIN, whose
/// sizes differ from sample to sample, and RAW. What follows RAW is not needed.
class SampleLayout {
 public:
  SampleLayout(const Attr& attr, ByteOrder order);

  bool has_time() const { return time_ != kAbsent; }
  bool has_cpu() const { return cpu_ != kAbsent; }

  /// Decodes a sample's body. Fields that the layout does not have are 0 or empty. False: the body
  /// is too short for its fields; `damage()` tells which.
  bool decode(std::span<const std::byte> body, Sample& sample) const {
    if (body.size() < fixed_size_) return false;
    const auto u32 = [&](std::size_t at) { return load<std::uint32_t>(body.data() + at, order_); };
    sample.tid = tid_ == kAbsent ? 0 : u32(tid_ + 4);
    sample.time = time_ == kAbsent ? 0 : load<std::uint64_t>(body.data() + time_, order_);
    sample.cpu = cpu_ == kAbsent ? 0 : u32(cpu_);
    sample.raw = {};
    if (!has_raw_) return true;
    std::size_t at = fixed_size_;
    if (has_read_ || has_callchain_) {
      const auto found = raw_offset(body);
      if (!found) return false;
      at = *found;
    }
    if (body.size() - at < kRawSizeSize) return false;
    const std::size_t size = u32(at);
    at += kRawSizeSize;
    if (size > body.size() - at) return false;
    sample.raw = body.subspan(at, size);
    return true;
  }

  /// Why `decode()` said no to a body. `offset` is the record's.
  Failure damage(std::span<const std::byte> body, std::uint64_t offset) const;

 private:
  static constexpr std::uint32_t kAbsent = ~0U;
  static constexpr std::size_t kRawSizeSize = 4;

  std::optional<std::size_t> raw_offset(std::span<const std::byte> body) const;
  std::optional<std::size_t> read_size(std::span<const std::byte> rest) const;

  ByteOrder order_;
  std::uint32_t tid_ = kAbsent;
  std::uint32_t time_ = kAbsent;
  std::uint32_t cpu_ = kAbsent;
  std::uint32_t fixed_size_ = 0;  // of the fields before READ
  std::uint64_t read_format_ = 0;
  bool has_read_ = false;
  bool has_callchain_ = false;
  bool has_raw_ = false;
};

/// Finds the attr of a record: by the id in it, or because there is one attr only.
class AttrFinder {
 public:
  /// Fails when there are several attrs and nothing in their records tells them apart.
  static Expected<AttrFinder> create(const std::vector<Attr>& attrs, ByteOrder order);

  /// No attr's index: larger than any. A plain number, as this is asked for each sample.
  static constexpr std::size_t kUnknown = ~std::size_t{0};

  /// The index of a sample's attr; kUnknown: nobody has its id, or it is too short for one.
  std::size_t of_sample(std::span<const std::byte> body) const {
    if (single_) return 0;
    if (body.size() < id_offset_ + kIdSize) return kUnknown;
    return by_id(load<std::uint64_t>(body.data() + id_offset_, order_));
  }

  /// The id in a sample; 0: it has none.
  std::uint64_t id_of_sample(std::span<const std::byte> body) const;

  /// The same as `of_sample()` for any other record, whose trailer may end in an id. The first attr
  /// when it has none.
  std::size_t of_trailer(std::span<const std::byte> body) const {
    if (single_ || !has_identifier_) return 0;
    if (body.size() < kIdSize) return kUnknown;
    return by_id(load<std::uint64_t>(body.data() + body.size() - kIdSize, order_));
  }

 private:
  static constexpr std::size_t kIdSize = 8;

  explicit AttrFinder(ByteOrder order) : order_(order) {}

  std::size_t by_id(std::uint64_t id) const {
    // perf gives the records that it makes up itself no id; they belong to the first attr.
    if (id == 0) return 0;
    return id < small_ids_.size() ? small_ids_[id] : by_large_id(id);
  }
  std::size_t by_large_id(std::uint64_t id) const;

  ByteOrder order_;
  bool single_ = false;
  bool has_id_ = false;          // all samples have one, at id_offset_
  bool has_identifier_ = false;  // all samples and trailers have one
  std::size_t id_offset_ = 0;
  // Ids are small numbers that the kernel counts up, so nearly all are in the first table.
  std::vector<std::size_t> small_ids_;
  std::map<std::uint64_t, std::size_t> large_ids_;
};

/// A task got a name.
struct CommRecord {
  std::uint32_t tid;
  std::string_view comm;
};

/// A task was made by another.
struct ForkRecord {
  std::uint32_t tid;
  std::uint32_t parent_tid;
  std::uint64_t time;  ///< nanoseconds
};

Expected<CommRecord> decode_comm(const Record& record, ByteOrder order);
Expected<ForkRecord> decode_fork(const Record& record, ByteOrder order);
/// How many events LOST or LOST_SAMPLES tells of.
Expected<std::uint64_t> decode_lost(const Record& record, ByteOrder order);

/// What the trailer tells that records other than samples have when sample_id_all is set
/// (`struct sample_id` in perf_event_open(2)).
struct Trailer {
  std::optional<std::uint64_t> time;  ///< nanoseconds
  std::optional<std::uint32_t> cpu;
};

/// Where the fields of such a trailer are, counted from the record's end.
class TrailerLayout {
 public:
  TrailerLayout(const Attr& attr, ByteOrder order);

  Trailer read(std::span<const std::byte> body) const {
    Trailer trailer;
    const auto at = [&](std::size_t from_end) { return body.data() + body.size() - from_end; };
    if (time_ != 0 && time_ <= body.size()) trailer.time = load<std::uint64_t>(at(time_), order_);
    if (cpu_ != 0 && cpu_ <= body.size()) trailer.cpu = load<std::uint32_t>(at(cpu_), order_);
    return trailer;
  }

 private:
  ByteOrder order_;
  std::size_t time_ = 0;  // 0: absent
  std::size_t cpu_ = 0;
};

}  // namespace perf2dat::perfdata
