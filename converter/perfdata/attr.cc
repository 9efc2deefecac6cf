// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/attr.h"

#include <algorithm>

namespace perf2dat::perfdata {
namespace {

constexpr std::size_t kIdsSectionSize = 16;

// The compiler places bit fields from the low end in little-endian code and from the high end in
// big-endian code.
bool flag(std::uint64_t flags, unsigned place, ByteOrder order) {
  return ((flags >> (order == ByteOrder::kLittle ? place : 63 - place)) & 1U) != 0;
}

Expected<std::vector<std::uint64_t>> read_ids(const InputFile& file, ByteOrder order,
                                              FileSection section) {
  if (section.size % 8 != 0) {
    return input_error("the ids of an event at offset {:#x} have {} bytes, no multiple of 8",
                       section.offset, section.size);
  }
  P2D_ASSIGN(const auto bytes,
             file.read_exactly(section.offset, section.size, "the ids of an event"));
  ByteReader reader(bytes, order, section.offset);
  std::vector<std::uint64_t> ids(bytes.size() / 8);
  for (auto& id : ids) id = reader.u64();
  return ids;
}

}  // namespace

Expected<Attr> parse_attr(ByteReader& reader) {
  const std::uint64_t start = reader.offset();
  Attr attr;
  attr.type = reader.u32();
  std::uint32_t size = reader.u32();
  if (size == 0) size = kSmallestAttrSize;
  attr.config = reader.u64();
  reader.skip(8);  // sample_period or sample_freq
  attr.sample_type = reader.u64();
  attr.read_format = reader.u64();
  const std::uint64_t flags = reader.u64();
  attr.sample_id_all = flag(flags, kFlagSampleIdAll, reader.order());
  constexpr std::uint32_t kClockidOffset = 92;
  if (size >= kClockidOffset + 4 && flag(flags, kFlagUseClockid, reader.order())) {
    reader.skip(start + kClockidOffset - reader.offset());
    attr.clockid = static_cast<std::int32_t>(reader.u32());
  }
  if (reader.ok() && size < kSmallestAttrSize) {
    return input_error("the event at offset {:#x} has {} bytes, fewer than {}", start, size,
                       kSmallestAttrSize);
  }
  reader.skip(start + size - reader.offset());
  if (!reader.ok()) return cut_short("an event's perf_event_attr", reader);
  return attr;
}

Expected<std::vector<Attr>> read_attrs(const InputFile& file, const Header& header) {
  const std::uint64_t stride = header.attr_size;
  if (stride < kSmallestAttrSize + kIdsSectionSize || header.attrs.size % stride != 0) {
    return input_error("the table of events at offset {:#x} has {} bytes in entries of {}",
                       header.attrs.offset, header.attrs.size, stride);
  }
  P2D_ASSIGN(const auto bytes,
             file.read_exactly(header.attrs.offset, header.attrs.size, "the table of events"));
  std::vector<Attr> attrs;
  std::uint64_t ids_size = 0;
  for (std::uint64_t at = 0; at < bytes.size(); at += stride) {
    const auto entry = std::span(bytes).subspan(at, stride);
    ByteReader reader(entry.first(stride - kIdsSectionSize), header.order,
                      header.attrs.offset + at);
    P2D_ASSIGN(Attr attr, parse_attr(reader));
    ByteReader ids(entry.last(kIdsSectionSize), header.order,
                   header.attrs.offset + at + stride - kIdsSectionSize);
    const FileSection section = read_section(ids);
    P2D_TRY(check_inside(file, "the ids of an event", section));
    // Each event has ids of its own. Were they shared, a small file could ask for much memory.
    ids_size += section.size;
    if (ids_size > file.size()) {
      return input_error(
          "the events up to the one at offset {:#x} have {} bytes of ids, but the file has {}",
          header.attrs.offset + at, ids_size, file.size());
    }
    P2D_ASSIGN(attr.ids, read_ids(file, header.order, section));
    attrs.push_back(std::move(attr));
  }
  return attrs;
}

}  // namespace perf2dat::perfdata
