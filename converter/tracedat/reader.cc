// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string_view>

#include "model/event_format.h"

namespace perf2dat::tracedat {
namespace {

Expected<std::vector<std::byte>> read_exactly(const ReadAt& read_at, std::uint64_t file_size,
                                              std::uint64_t offset, std::uint64_t size,
                                              std::string_view what) {
  if (offset > file_size || size > file_size - offset) {
    return check_error("{} at offset {:#x} has {} bytes, but the file ends at {:#x}", what, offset,
                       size, file_size);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  P2D_ASSIGN(const std::size_t done, read_at(offset, bytes));
  if (done < bytes.size()) return check_error("{} at offset {:#x} is cut short", what, offset);
  return bytes;
}

Failure broken(std::string_view what, const ByteReader& reader) {
  return check_error("{} at offset {:#x} is cut short", what, reader.offset());
}

struct InitialFormat {
  std::uint64_t options_offset;
  std::uint64_t first_section;
};

Expected<InitialFormat> read_initial_format(const ReadAt& read_at, std::uint64_t file_size,
                                            Contents& contents) {
  constexpr std::uint64_t kEnough = 64;
  P2D_ASSIGN(const auto bytes, read_exactly(read_at, file_size, 0, std::min(file_size, kEnough),
                                            "the initial format"));
  // The byte order comes before the first number that has one.
  ByteReader text(bytes, ByteOrder::kLittle);
  const auto magic = text.text(kMagic.size());
  const auto version = text.c_string();
  const std::uint8_t endian = text.u8();
  if (!text.ok() || magic != kMagic) return check_error("no trace.dat: the magic is missing");
  if (version != kFileVersion) return check_error("trace.dat of a version that is not 7");
  if (endian > 1) return check_error("the byte order is {}, neither 0 nor 1", endian);
  contents.format.order = endian == 1 ? ByteOrder::kBig : ByteOrder::kLittle;

  ByteReader reader(bytes, contents.format.order);
  reader.skip(text.offset());
  contents.long_size = reader.u8();
  contents.format.page_size = reader.u32();
  const auto compression = reader.c_string();
  reader.c_string();
  const std::uint64_t options_offset = reader.u64();
  if (!reader.ok()) return broken("the initial format", reader);
  if (compression != kNoCompression) return check_error("the file is compressed");
  const std::uint32_t page_size = contents.format.page_size;
  if (!std::has_single_bit(page_size) || page_size < kSmallestPage || page_size > kLargestPage) {
    return check_error("the page size is {}", page_size);
  }
  return InitialFormat{options_offset, reader.offset()};
}

struct Section {
  SectionId id;
  std::uint32_t description;
  std::uint64_t offset;  // of its header
  std::uint64_t size;    // without its header
};

/// Whether the writer makes such a section; others are passed over.
bool is_known(SectionId id) {
  switch (id) {
    case SectionId::kOptions:
    case SectionId::kFlyrecord:
    case SectionId::kStrings:
    case SectionId::kHeaderInfo:
    case SectionId::kFtraceFormats:
    case SectionId::kEventFormats:
    case SectionId::kKallsyms:
    case SectionId::kPrintk:
    case SectionId::kCmdlines:
      return true;
  }
  return false;
}

/// Those that are known, each of which is there once.
Expected<std::vector<Section>> read_section_headers(const ReadAt& read_at, std::uint64_t file_size,
                                                    ByteOrder order, std::uint64_t offset) {
  std::vector<Section> sections;
  std::set<SectionId> seen;
  while (offset < file_size) {
    P2D_ASSIGN(const auto bytes,
               read_exactly(read_at, file_size, offset, kSectionHeaderSize, "a section's header"));
    ByteReader reader(bytes, order, offset);
    const auto id = static_cast<SectionId>(reader.u16());
    const std::uint16_t flags = reader.u16();
    const std::uint32_t description = reader.u32();
    const std::uint64_t size = reader.u64();
    if (flags != 0) return check_error("the section at {:#x} has flags {:#x}", offset, flags);
    if (size > file_size - offset - kSectionHeaderSize) {
      return check_error("the section at {:#x} has {} bytes, but the file ends at {:#x}", offset,
                         size, file_size);
    }
    if (is_known(id)) {
      if (!seen.insert(id).second) {
        return check_error("section {} is there twice", static_cast<unsigned>(id));
      }
      sections.push_back({id, description, offset, size});
    }
    offset += kSectionHeaderSize + size;
  }
  return sections;
}

bool is_text(OptionId id) {
  return id == OptionId::kTraceClock || id == OptionId::kUname || id == OptionId::kVersion;
}

/// The last option says where more of them are; the writer has them all in one place.
Expected<void> check_last_option(std::span<const std::byte> data, ByteOrder order) {
  ByteReader reader(data, order);
  const std::uint64_t next = reader.u64();
  if (!reader.ok()) return broken("the last option", reader);
  if (next != 0) return check_error("the options go on at {:#x}", next);
  return {};
}

Expected<void> read_options(std::span<const std::byte> bytes, Contents& contents) {
  ByteReader reader(bytes, contents.format.order);
  while (reader.ok()) {
    const auto id = static_cast<OptionId>(reader.u16());
    const auto data = reader.bytes(reader.u32());
    if (!reader.ok()) break;
    if (!contents.options.try_emplace(id, data.begin(), data.end()).second) {
      return check_error("option {} is there twice", static_cast<unsigned>(id));
    }
    if (id == OptionId::kDone) return check_last_option(data, contents.format.order);
    if (is_text(id) && (data.empty() || data.back() != std::byte{0})) {
      return check_error("the text of option {} has no end", static_cast<unsigned>(id));
    }
  }
  return broken("the section of options", reader);
}

Expected<void> check_section_options(const std::vector<Section>& sections,
                                     const Contents& contents) {
  struct Pair {
    OptionId option;
    SectionId section;
  };
  static constexpr std::array<Pair, 6> kPairs = {{
      {OptionId::kHeaderInfo, SectionId::kHeaderInfo},
      {OptionId::kFtraceFormats, SectionId::kFtraceFormats},
      {OptionId::kEventFormats, SectionId::kEventFormats},
      {OptionId::kKallsyms, SectionId::kKallsyms},
      {OptionId::kPrintk, SectionId::kPrintk},
      {OptionId::kCmdlines, SectionId::kCmdlines},
  }};
  for (const Pair& pair : kPairs) {
    const auto found = contents.options.find(pair.option);
    if (found == contents.options.end()) {
      return check_error("there is no option {}", static_cast<unsigned>(pair.option));
    }
    const std::uint64_t offset = ByteReader(found->second, contents.format.order).u64();
    const bool there = std::any_of(sections.begin(), sections.end(), [&](const Section& each) {
      return each.id == pair.section && each.offset == offset;
    });
    if (!there) {
      return check_error("option {} points to {:#x}, where no such section is",
                         static_cast<unsigned>(pair.option), offset);
    }
  }
  return {};
}

/// No page is of two CPUs.
Expected<void> check_apart(std::vector<CpuRange> ranges) {
  std::erase_if(ranges, [](const CpuRange& range) { return range.size == 0; });
  std::sort(ranges.begin(), ranges.end(),
            [](const CpuRange& a, const CpuRange& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const CpuRange& before = ranges[i - 1];
    if (before.size > ranges[i].offset - before.offset) {
      return check_error("pages of CPU {} at {:#x} are CPU {}'s, too", ranges[i].cpu,
                         ranges[i].offset, before.cpu);
    }
  }
  return {};
}

Expected<void> read_buffer_option(const std::vector<Section>& sections, Contents& contents) {
  const auto found = contents.options.find(OptionId::kBuffer);
  if (found == contents.options.end()) return check_error("there is no BUFFER option");
  ByteReader reader(found->second, contents.format.order);
  const std::uint64_t section_offset = reader.u64();
  // Those of a named buffer are shown as of another instance, beside a file without any.
  if (!reader.c_string().empty()) return check_error("the buffer of the events has a name");
  contents.clock = reader.c_string();
  const std::uint32_t page_size = reader.u32();
  const std::uint32_t cpus = reader.u32();
  if (page_size != contents.format.page_size) {
    return check_error("BUFFER's page size is {}, the file's is {}", page_size,
                       contents.format.page_size);
  }
  const auto section = std::find_if(sections.begin(), sections.end(), [&](const Section& each) {
    return each.id == SectionId::kFlyrecord && each.offset == section_offset;
  });
  if (section == sections.end()) {
    return check_error("BUFFER points to {:#x}, where no section of events is", section_offset);
  }
  const auto count = contents.options.find(OptionId::kCpuCount);
  if (count == contents.options.end()) return check_error("there is no CPUCOUNT option");
  const std::uint32_t cpu_count = ByteReader(count->second, contents.format.order).u32();
  if (cpu_count > kHighestCpu + 1) {
    return check_error("there are {} CPUs, but at most {} can be", cpu_count, kHighestCpu + 1);
  }
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < cpus && reader.ok(); ++i) {
    CpuRange range{};
    range.cpu = reader.u32();
    range.offset = reader.u64();
    range.size = reader.u64();
    if (!reader.ok()) break;
    const std::uint64_t end = section->offset + kSectionHeaderSize + section->size;
    if (range.offset < section->offset + kSectionHeaderSize || range.offset > end ||
        range.size > end - range.offset) {
      return check_error("CPU {}'s {} bytes at {:#x} are outside the section of events", range.cpu,
                         range.size, range.offset);
    }
    if (range.offset % page_size != 0 || range.size % page_size != 0) {
      return check_error("CPU {}'s {} bytes at {:#x} are not whole pages of {} bytes", range.cpu,
                         range.size, range.offset, page_size);
    }
    if (!seen.insert(range.cpu).second) return check_error("CPU {} is there twice", range.cpu);
    if (range.cpu >= cpu_count) {
      return check_error("CPU {} has pages, but there are {} CPUs", range.cpu, cpu_count);
    }
    contents.ranges.push_back(range);
  }
  if (!reader.ok()) return broken("the BUFFER option", reader);
  return check_apart(contents.ranges);
}

}  // namespace

std::optional<std::string> Contents::text_option(OptionId id) const {
  const auto found = options.find(id);
  if (found == options.end()) return std::nullopt;
  return std::string(ByteReader(found->second, format.order).c_string());
}

Expected<std::string> Contents::cmdlines() const {
  ByteReader reader(sections.at(SectionId::kCmdlines), format.order);
  const auto text = reader.text(reader.u64());
  if (!reader.ok()) return broken("the section of command lines", reader);
  return std::string(text);
}

Expected<Contents> read_contents(const ReadAt& read_at, std::uint64_t file_size) {
  Contents contents;
  P2D_ASSIGN(const auto initial, read_initial_format(read_at, file_size, contents));
  P2D_ASSIGN(const auto sections, read_section_headers(read_at, file_size, contents.format.order,
                                                       initial.first_section));
  for (const auto& section : sections) {
    if (section.id == SectionId::kFlyrecord) continue;
    P2D_ASSIGN(auto bytes, read_exactly(read_at, file_size, section.offset + kSectionHeaderSize,
                                        section.size, "a section"));
    contents.sections[section.id] = std::move(bytes);
  }
  for (const auto& section : sections) {
    const auto& strings = contents.sections[SectionId::kStrings];
    ByteReader reader(strings, contents.format.order);
    reader.skip(section.description);
    contents.descriptions[section.id] = reader.c_string();
    if (!reader.ok()) return check_error("section at {:#x} has no description", section.offset);
    if (section.id == SectionId::kOptions && section.offset != initial.options_offset) {
      return check_error("the options are at {:#x}, not at {:#x}", section.offset,
                         initial.options_offset);
    }
  }
  P2D_TRY(read_options(contents.sections[SectionId::kOptions], contents));
  P2D_TRY(check_section_options(sections, contents));
  P2D_TRY(read_buffer_option(sections, contents));

  // The size of commit is told by the kernel's description of a page, nowhere else.
  ByteReader info(contents.sections[SectionId::kHeaderInfo], contents.format.order);
  const auto page_name = info.c_string();
  const auto header_page = info.text(info.u64());
  const auto event_name = info.c_string();
  info.text(info.u64());
  if (!info.ok()) return broken("the section of header information", info);
  if (page_name != "header_page" || event_name != "header_event" || info.remaining() != 0) {
    return check_error("the section of header information is no header_page and header_event");
  }
  const auto commit_size = commit_size_of(header_page);
  if (!commit_size) return check_error("{}", commit_size.error().message);
  contents.format.commit_size = *commit_size;
  return contents;
}

Expected<void> read_events(const ReadAt& read_at, const PageFormat& format, const CpuRange& range,
                           const std::function<void(const RingEvent&)>& take) {
  std::vector<std::byte> page(format.page_size);
  std::uint64_t last_time = 0;
  for (std::uint64_t at = 0; at < range.size; at += page.size()) {
    P2D_ASSIGN(const std::size_t done, read_at(range.offset + at, page));
    if (done < page.size()) return check_error("CPU {}'s pages are cut short", range.cpu);
    PageReader reader(format, page);
    while (const auto event = reader.next()) {
      if (event->time < last_time) {
        return check_error("CPU {}: time runs back from {} to {} on the page at {:#x}", range.cpu,
                           last_time, event->time, range.offset + at);
      }
      last_time = event->time;
      take(*event);
    }
    if (reader.damage() != nullptr) {
      return check_error("CPU {}: {} at offset {:#x}", range.cpu, reader.damage(),
                         range.offset + at + reader.position());
    }
  }
  return {};
}

}  // namespace perf2dat::tracedat
