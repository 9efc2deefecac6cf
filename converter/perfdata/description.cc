// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/description.h"

#include <algorithm>
#include <map>

#include "perfdata/tracing_data.h"

namespace perf2dat::perfdata {
namespace {

// u32 size, then text with zeros to that size.
std::string read_string(ByteReader& reader) {
  const auto text = reader.text(reader.u32());
  return std::string(text.substr(0, text.find('\0')));
}

Expected<void> whole(std::string_view what, const ByteReader& reader) {
  return reader.ok() ? Expected<void>{} : cut_short(what, reader);
}

/// Events with their names: perf writes them here once more, and the names only here.
Expected<void> read_event_names(ByteReader reader, Description& description) {
  auto& attrs = description.attrs;
  const std::uint32_t count = reader.u32();
  const std::uint32_t attr_size = reader.u32();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    reader.skip(attr_size);
    const std::uint32_t ids = reader.u32();
    const auto name = read_string(reader);
    // A recording of one event may have no ids.
    Attr* named = ids == 0 && count == attrs.size() ? &attrs[i] : nullptr;
    for (std::uint32_t k = 0; k < ids && reader.ok(); ++k) {
      const auto found = description.attr_of_id.find(reader.u64());
      // All ids are of one event. A copy of the name for each could ask for much memory.
      if (found != description.attr_of_id.end() && named == nullptr) named = &attrs[found->second];
    }
    if (named != nullptr) named->name = name;
  }
  return whole("the description of the events", reader);
}

Expected<std::map<Feature, FileSection>> read_table(const InputFile& file, const Header& header) {
  const auto count =
      static_cast<std::uint64_t>(std::count(header.features.begin(), header.features.end(), true));
  const std::uint64_t offset = header.data.offset + header.data.size;
  P2D_ASSIGN(const auto bytes, file.read_exactly(offset, count * 16, "the table of features"));
  ByteReader reader(bytes, header.order, offset);
  std::map<Feature, FileSection> sections;
  for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
    if (!header.features[bit]) continue;
    const FileSection section = read_section(reader);
    P2D_TRY(check_inside(file, fmt::format("feature {}", bit), section));
    sections[static_cast<Feature>(bit)] = section;
  }
  return sections;
}

// perf_event_attr, then ids up to the record's end.
Expected<void> take_attr(const Record& record, Description& description) {
  ByteReader reader(record.body, description.order, record.offset + kRecordHeaderSize);
  P2D_ASSIGN(Attr attr, parse_attr(reader));
  while (reader.remaining() >= 8) attr.ids.push_back(reader.u64());
  add_attr(std::move(attr), description);
  return {};
}

// u64 feature, then what a file has in the feature's section.
Expected<void> take_feature(const Record& record, Description& description) {
  ByteReader reader(record.body, description.order, record.offset + kRecordHeaderSize);
  const std::uint64_t feature = reader.u64();
  if (!reader.ok()) return cut_short("the record of a feature", reader);
  if (feature >= kFeatureBits) return {};
  return parse_feature(static_cast<Feature>(feature), reader, description);
}

// u64 kind, u64 id, then the new value.
Expected<void> take_update(const Record& record, Description& description) {
  ByteReader reader(record.body, description.order, record.offset + kRecordHeaderSize);
  constexpr std::uint64_t kName = 2;
  const std::uint64_t kind = reader.u64();
  const std::uint64_t id = reader.u64();
  if (!reader.ok()) return cut_short("the record of an event's update", reader);
  if (kind != kName) return {};
  const auto name = reader.text(reader.remaining());
  const auto found = description.attr_of_id.find(id);
  if (found == description.attr_of_id.end()) return {};
  auto& known = description.attrs[found->second].name;
  const auto updated = name.substr(0, name.find('\0'));
  if (known == updated) return {};
  known = updated;
  ++description.changes;
  return {};
}

// u64 count, then for each id: u64 id, index, cpu, tid. A recording with guests has as many times
// u64 machine_pid, vcpu after these.
Expected<void> take_id_index(const Record& record, Description& description) {
  ByteReader reader(record.body, description.order, record.offset + kRecordHeaderSize);
  const std::uint64_t count = reader.u64();
  constexpr std::size_t kEntry = 32;
  constexpr std::size_t kGuestEntry = 16;
  if (!reader.ok() || count > reader.remaining() / kEntry) {
    return input_error("the index of ids at offset {:#x} has {} entries, but room for {}",
                       record.offset, count, reader.remaining() / kEntry);
  }
  if (reader.remaining() / (kEntry + kGuestEntry) < count) return {};
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < count; ++i) {
    ids.push_back(reader.u64());
    reader.skip(kEntry - 8);
  }
  for (const std::uint64_t id : ids) {
    const std::uint64_t machine_pid = reader.u64();
    reader.skip(kGuestEntry - 8);
    if (machine_pid != 0 && description.guest_ids.insert(id).second) ++description.changes;
  }
  return {};
}

}  // namespace

void add_attr(Attr attr, Description& description) {
  for (const std::uint64_t id : attr.ids) {
    description.attr_of_id[id] = description.attrs.size();
  }
  description.attrs.push_back(std::move(attr));
  ++description.changes;
}

Expected<void> parse_feature(Feature feature, ByteReader reader, Description& description) {
  ++description.changes;
  switch (feature) {
    case Feature::kTracingData: {
      const std::uint64_t origin = reader.offset();
      const auto text = reader.text(reader.remaining());
      P2D_ASSIGN(description.tracing, parse_tracing_data(std::as_bytes(std::span(text)), origin));
      return {};
    }
    case Feature::kHostname:
      description.hostname = read_string(reader);
      return whole("the host's name", reader);
    case Feature::kOsRelease:
      description.os_release = read_string(reader);
      return whole("the kernel's release", reader);
    case Feature::kArch:
      description.arch = read_string(reader);
      return whole("the machine's name", reader);
    case Feature::kCpuCount:
      description.cpus_available = reader.u32();
      return whole("the number of CPUs", reader);
    case Feature::kEventDesc:
      return read_event_names(reader, description);
    case Feature::kSampleTime: {
      TimeSpan span;
      span.first = reader.u64();
      span.last = reader.u64();
      // perf writes zeros when it did not look at the samples.
      if (span.last != 0 && span.first <= span.last) description.sample_time = span;
      return whole("the times of the first and last sample", reader);
    }
  }
  return {};
}

Expected<void> read_features(const InputFile& file, const Header& header,
                             Description& description) {
  P2D_ASSIGN(const auto sections, read_table(file, header));
  for (const auto feature :
       {Feature::kTracingData, Feature::kHostname, Feature::kOsRelease, Feature::kArch,
        Feature::kCpuCount, Feature::kEventDesc, Feature::kSampleTime}) {
    const auto found = sections.find(feature);
    if (found == sections.end()) continue;
    const std::uint64_t offset = found->second.offset;
    P2D_ASSIGN(const auto bytes,
               file.read_exactly(offset, found->second.size,
                                 fmt::format("feature {}", static_cast<unsigned>(feature))));
    P2D_TRY(parse_feature(feature, ByteReader(bytes, header.order, offset), description));
  }
  return {};
}

Expected<bool> parse_description(const Record& record, Description& description) {
  switch (record.type) {
    case RecordType::kHeaderAttr:
      P2D_TRY(take_attr(record, description));
      return true;
    case RecordType::kHeaderFeature:
      P2D_TRY(take_feature(record, description));
      return true;
    case RecordType::kEventUpdate:
      P2D_TRY(take_update(record, description));
      return true;
    case RecordType::kIdIndex:
      P2D_TRY(take_id_index(record, description));
      return true;
    default:
      return false;
  }
}

}  // namespace perf2dat::perfdata
