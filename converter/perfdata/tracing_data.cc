// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/tracing_data.h"

#include <bit>
#include <string_view>

namespace perf2dat::perfdata {
namespace {

constexpr std::string_view kMagic{"\x17\x08\x44tracing", 10};

std::string sized_text(ByteReader& reader) { return std::string(reader.text(reader.u64())); }

std::vector<std::string> read_formats(ByteReader& reader) {
  std::vector<std::string> formats;
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) formats.push_back(sized_text(reader));
  return formats;
}

Expected<std::string> read_header_text(ByteReader& reader, std::string_view name) {
  const std::uint64_t at = reader.offset();
  const auto found = reader.c_string();
  if (reader.ok() && found != name) {
    return input_error("the event formats have no {} at offset {:#x}", name, at);
  }
  return sized_text(reader);
}

}  // namespace

Expected<TracingData> parse_tracing_data(std::span<const std::byte> bytes, std::uint64_t origin) {
  // The byte order comes before the first number that has one.
  ByteReader start(bytes, ByteOrder::kLittle, origin);
  const auto magic = start.text(kMagic.size());
  const auto version = start.c_string();
  const std::uint8_t endian = start.u8();
  if (!start.ok()) return cut_short("the event formats' header", start);
  if (magic != kMagic) {
    return input_error("the event formats at offset {:#x} do not begin with their magic", origin);
  }
  if (version != "0.5" && version != "0.6") {
    return input_error(
        "the event formats at offset {:#x} have a version that is neither 0.5 nor 0.6", origin);
  }

  TracingData data;
  data.order = endian == 0 ? ByteOrder::kLittle : ByteOrder::kBig;
  ByteReader reader(bytes, data.order, origin);
  reader.skip(start.offset() - origin);
  data.long_size = reader.u8();
  data.page_size = reader.u32();
  P2D_ASSIGN(data.header_page, read_header_text(reader, "header_page"));
  P2D_ASSIGN(data.header_event, read_header_text(reader, "header_event"));
  data.ftrace_formats = read_formats(reader);
  const std::uint32_t systems = reader.u32();
  for (std::uint32_t i = 0; i < systems && reader.ok(); ++i) {
    std::string name(reader.c_string());
    data.systems.push_back({std::move(name), read_formats(reader)});
  }
  data.kallsyms = reader.text(reader.u32());
  data.printk = reader.text(reader.u32());
  if (version == "0.6") data.cmdlines = sized_text(reader);
  if (!reader.ok()) return cut_short("the event formats", reader);

  if (data.long_size != 4 && data.long_size != 8) {
    return input_error("the event formats at offset {:#x} say that long has {} bytes", origin,
                       data.long_size);
  }
  if (!std::has_single_bit(data.page_size)) {
    return input_error("the event formats at offset {:#x} say that a page has {} bytes", origin,
                       data.page_size);
  }
  return data;
}

}  // namespace perf2dat::perfdata
