// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracedat/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/byte_writer.h"
#include "tracedat/layout.h"

namespace perf2dat::tracedat {
namespace {

/// Writes sections one after another and keeps their descriptions for the section of strings.
class SectionWriter {
 public:
  explicit SectionWriter(ByteWriter& out) : out_(out), strings_(out.order()) {}

  /// Begins a section; `end()` fills in its size. Returns the offset of its header.
  std::uint64_t begin(SectionId id, std::string_view description) {
    const std::uint64_t offset = header(id, add_string(description), 0);
    start_ = out_.size();
    return offset;
  }

  void end() { out_.patch(start_ - 8, std::uint64_t{out_.size() - start_}); }

  /// The header of a section whose content is written by somebody else.
  std::uint64_t header(SectionId id, std::uint32_t description, std::uint64_t size) {
    const std::uint64_t offset = out_.size();
    out_.u16(static_cast<std::uint16_t>(id)).u16(0).u32(description).u64(size);
    return offset;
  }

  std::uint32_t add_string(std::string_view text) {
    const auto id = static_cast<std::uint32_t>(strings_.size());
    strings_.c_string(text);
    return id;
  }

  /// The section of all strings added up to now.
  void write_strings() {
    const std::uint32_t description = add_string("strings");
    header(SectionId::kStrings, description, strings_.size());
    out_.bytes(strings_.data());
  }

 private:
  ByteWriter& out_;
  ByteWriter strings_;
  std::size_t start_ = 0;
};

void write_option(ByteWriter& out, OptionId id, std::span<const std::byte> data) {
  out.u16(static_cast<std::uint16_t>(id)).u32(static_cast<std::uint32_t>(data.size())).bytes(data);
}

void write_option(ByteWriter& out, OptionId id, std::uint64_t value) {
  write_option(out, id, ByteWriter(out.order()).u64(value).data());
}

void write_option(ByteWriter& out, OptionId id, std::string_view text) {
  write_option(out, id, ByteWriter(out.order()).c_string(text).data());
}

void write_initial_format(ByteWriter& out, const Metadata& metadata, const PageFormat& format) {
  out.text(kMagic).c_string(kFileVersion);
  out.u8(format.order == ByteOrder::kBig ? 1 : 0).u8(metadata.tracing.long_size);
  out.u32(format.page_size);
  out.c_string(kNoCompression).c_string("");
}

void write_header_info(ByteWriter& out, const TracingData& tracing) {
  out.c_string("header_page").u64(tracing.header_page.size()).text(tracing.header_page);
  out.c_string("header_event").u64(tracing.header_event.size()).text(tracing.header_event);
}

void write_formats(ByteWriter& out, const std::vector<std::string>& formats) {
  out.u32(static_cast<std::uint32_t>(formats.size()));
  for (const auto& format : formats) out.u64(format.size()).text(format);
}

void write_event_formats(ByteWriter& out, const std::vector<EventSystem>& systems) {
  out.u32(static_cast<std::uint32_t>(systems.size()));
  for (const auto& system : systems) {
    out.c_string(system.name);
    write_formats(out, system.formats);
  }
}

// `[boot]` and clocks unknown to trace-cmd make it show raw numbers; without the option it shows
// seconds, as perf does.
bool shows_seconds(std::string_view clock) {
  static constexpr std::array<std::string_view, 7> kClocks = {"local", "global",   "uptime", "perf",
                                                              "mono",  "mono_raw", "tai"};
  return std::find(kClocks.begin(), kClocks.end(), clock) != kClocks.end();
}

std::vector<std::byte> buffer_option(const Metadata& metadata, const PageFormat& format,
                                     const std::vector<CpuRange>& ranges,
                                     std::uint64_t section_offset) {
  ByteWriter out(format.order);
  // The name of the top buffer is empty.
  out.u64(section_offset).c_string("").c_string(metadata.clock);
  out.u32(format.page_size).u32(static_cast<std::uint32_t>(ranges.size()));
  for (const auto& range : ranges) out.u32(range.cpu).u64(range.offset).u64(range.size);
  return out.take();
}

}  // namespace

std::string cmdlines_text(const std::vector<Cmdline>& cmdlines) {
  std::string text;
  for (const auto& [pid, comm] : cmdlines) {
    // The reader skips space before a name, so one of nothing else is an empty one.
    if (comm.find_first_not_of(" \t\n\v\f\r") == std::string::npos) continue;
    std::string line = comm;
    std::replace(line.begin(), line.end(), '\n', '?');
    std::replace(line.begin(), line.end(), '\0', '?');
    text += fmt::format("{} {}\n", pid, line);
  }
  return text;
}

std::vector<std::byte> encode_metadata(const Metadata& metadata, const PageFormat& format,
                                       const std::vector<CpuRange>& ranges,
                                       std::uint64_t file_size) {
  const TracingData& tracing = metadata.tracing;
  ByteWriter out(format.order);
  SectionWriter sections(out);
  std::vector<std::pair<OptionId, std::uint64_t>> offsets;
  const auto section = [&](SectionId id, OptionId option, std::string_view description,
                           auto write_content) {
    offsets.emplace_back(option, sections.begin(id, description));
    write_content();
    sections.end();
  };

  write_initial_format(out, metadata, format);
  const std::size_t options_offset_at = out.size();
  out.u64(0);

  section(SectionId::kHeaderInfo, OptionId::kHeaderInfo, "headers",
          [&] { write_header_info(out, tracing); });
  section(SectionId::kFtraceFormats, OptionId::kFtraceFormats, "ftrace events",
          [&] { write_formats(out, tracing.ftrace_formats); });
  section(SectionId::kEventFormats, OptionId::kEventFormats, "events format",
          [&] { write_event_formats(out, tracing.systems); });
  // Also when there is no text: trace-cmd's split and convert give up where these are missing.
  const auto text_section = [&](SectionId id, OptionId option, std::string_view description,
                                const std::string& text) {
    section(id, option, description,
            [&] { out.u32(static_cast<std::uint32_t>(text.size())).text(text); });
  };
  text_section(SectionId::kKallsyms, OptionId::kKallsyms, "kallsyms", tracing.kallsyms);
  text_section(SectionId::kPrintk, OptionId::kPrintk, "printk", tracing.printk);
  section(SectionId::kCmdlines, OptionId::kCmdlines, "command lines", [&] {
    const auto text = cmdlines_text(metadata.cmdlines);
    out.u64(text.size()).text(text);
  });

  const std::uint32_t flyrecord_description = sections.add_string("buffer flyrecord");
  const std::uint32_t options_description = sections.add_string("options");
  sections.write_strings();

  // The options come last, since they tell where the others are; the section of events follows.
  ByteWriter options(format.order);
  for (const auto& [id, offset] : offsets) write_option(options, id, offset);
  if (shows_seconds(metadata.clock)) {
    write_option(options, OptionId::kTraceClock, fmt::format("[{}]", metadata.clock));
  }
  if (!metadata.uname.empty()) write_option(options, OptionId::kUname, metadata.uname);
  write_option(options, OptionId::kVersion, metadata.version);
  write_option(options, OptionId::kCpuCount,
               ByteWriter(format.order).u32(metadata.cpu_count).data());
  // The last two options' sizes are known before the events' place is.
  constexpr std::size_t kOptionHeaderSize = 6;
  const std::size_t buffer_size = buffer_option(metadata, format, ranges, 0).size();
  const std::size_t rest = kOptionHeaderSize + buffer_size + kOptionHeaderSize + 8;
  const std::uint64_t flyrecord_offset = out.size() + kSectionHeaderSize + options.size() + rest;
  write_option(options, OptionId::kBuffer,
               buffer_option(metadata, format, ranges, flyrecord_offset));
  write_option(options, OptionId::kDone, std::uint64_t{0});

  out.patch(options_offset_at,
            sections.header(SectionId::kOptions, options_description, options.size()));
  out.bytes(options.data());
  const std::uint64_t data_offset = flyrecord_offset + kSectionHeaderSize;
  sections.header(SectionId::kFlyrecord, flyrecord_description,
                  std::max(file_size, data_offset) - data_offset);
  return out.take();
}

}  // namespace perf2dat::tracedat
