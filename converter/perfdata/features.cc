// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/features.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "perfdata/tracing_data.h"

namespace perf2dat::perfdata {
namespace {

// u32 size, then text with zeros to that size.
std::string read_string(ByteReader& reader) {
  const auto text = reader.text(reader.u32());
  return std::string(text.substr(0, text.find('\0')));
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
    const std::uint64_t at = reader.u64();
    const std::uint64_t size = reader.u64();
    if (at > file.size() || size > file.size() - at) {
      return input_error(
          "feature {} has {} bytes at offset {:#x}, but the file ends at {:#x}: "
          "it is truncated or damaged",
          bit, size, at, file.size());
    }
    sections[static_cast<Feature>(bit)] = {at, size};
  }
  return sections;
}

/// Events with their names: perf writes them here once more, and the names only here.
Expected<void> read_event_names(ByteReader reader, std::vector<Attr>& attrs) {
  std::unordered_map<std::uint64_t, Attr*> by_id;
  for (auto& attr : attrs) {
    for (const std::uint64_t id : attr.ids) by_id.emplace(id, &attr);
  }
  const std::uint32_t count = reader.u32();
  const std::uint32_t attr_size = reader.u32();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    reader.skip(attr_size);
    const std::uint32_t ids = reader.u32();
    const auto name = read_string(reader);
    // A recording of one event may have no ids.
    Attr* named = ids == 0 && count == attrs.size() ? &attrs[i] : nullptr;
    for (std::uint32_t k = 0; k < ids && reader.ok(); ++k) {
      const auto found = by_id.find(reader.u64());
      // All ids are of one event. A copy of the name for each could ask for much memory.
      if (found != by_id.end() && named == nullptr) named = found->second;
    }
    if (named != nullptr) named->name = name;
  }
  if (!reader.ok()) return cut_short("the description of the events", reader);
  return {};
}

}  // namespace

Expected<Features> read_features(const InputFile& file, const Header& header,
                                 std::vector<Attr>& attrs) {
  P2D_ASSIGN(const auto sections, read_table(file, header));
  Features features;
  // Calls `parse` with a reader of the feature's section, if the recording has it.
  const auto read = [&](Feature feature, std::string_view what, auto parse) -> Expected<void> {
    const auto found = sections.find(feature);
    if (found == sections.end()) return {};
    const auto [offset, size] = found->second;
    P2D_ASSIGN(const auto bytes, file.read_exactly(offset, size, what));
    return parse(ByteReader(bytes, header.order, offset));
  };
  const auto read_text = [&](Feature feature, std::string_view what, std::string& text) {
    return read(feature, what, [&](ByteReader reader) -> Expected<void> {
      text = read_string(reader);
      return reader.ok() ? Expected<void>{} : cut_short(what, reader);
    });
  };

  P2D_TRY(read_text(Feature::kHostname, "the host's name", features.hostname));
  P2D_TRY(read_text(Feature::kOsRelease, "the kernel's release", features.os_release));
  P2D_TRY(read_text(Feature::kArch, "the machine's name", features.arch));
  P2D_TRY(read(Feature::kCpuCount, "the number of CPUs", [&](ByteReader reader) -> Expected<void> {
    features.cpus_available = reader.u32();
    return reader.ok() ? Expected<void>{} : cut_short("the number of CPUs", reader);
  }));
  P2D_TRY(read(Feature::kEventDesc, "the description of the events",
               [&](ByteReader reader) { return read_event_names(reader, attrs); }));
  const auto formats = sections.find(Feature::kTracingData);
  if (formats != sections.end()) {
    const auto [offset, size] = formats->second;
    P2D_ASSIGN(const auto bytes, file.read_exactly(offset, size, "the event formats"));
    P2D_ASSIGN(features.tracing, parse_tracing_data(bytes, offset));
  }
  return features;
}

}  // namespace perf2dat::perfdata
