// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/header.h"

#include <algorithm>

namespace perf2dat::perfdata {
namespace {

// The bitmap is an array of longs of the machine that wrote it. A 32-bit big-endian machine's
// longs have, read as u64, their halves the other way round. Bit 1 (the event formats) or any
// other of the first 32 is always set, and none of the second 32 yet: that tells which it is.
void read_features(ByteReader& reader, Header& header) {
  std::array<std::uint64_t, kFeatureBits / 64> words{};
  for (auto& word : words) word = reader.u64();
  constexpr std::uint64_t kLowHalf = 0xffffffff;
  if ((words[0] & kLowHalf) == 0) {
    for (auto& word : words) word = (word >> 32U) | (word << 32U);
  }
  for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
    header.features[bit] = ((words[bit / 64] >> (bit % 64)) & 1U) != 0;
  }
}

}  // namespace

FileSection read_section(ByteReader& reader) {
  FileSection section;
  section.told_at = reader.offset();
  section.offset = reader.u64();
  section.size = reader.u64();
  return section;
}

Expected<void> check_inside(const InputFile& file, std::string_view what, FileSection section) {
  if (section.offset <= file.size() && section.size <= file.size() - section.offset) return {};
  return input_error(
      "at offset {:#x} it places {} in {} bytes from {:#x} on, but the file ends at {:#x}: "
      "it is truncated or damaged",
      section.told_at, what, section.size, section.offset, file.size());
}

Expected<Start> read_start(std::span<const std::byte> bytes) {
  if (bytes.empty()) return input_error("it is empty: perf record did not finish");
  Start start;
  ByteReader text(bytes, start.order);
  const auto magic = text.text(std::min(bytes.size(), kMagicLittle.size()));
  if (magic == kMagicBig) {
    start.order = ByteOrder::kBig;
  } else if (magic != kMagicLittle) {
    if (kMagicLittle.starts_with(magic) || kMagicBig.starts_with(magic)) {
      return input_error("it ends at offset {:#x}, inside the header: it is truncated",
                         bytes.size());
    }
    return input_error(
        "it is not a perf.data file: at offset 0 it has neither PERFILE2 nor 2ELIFREP");
  }
  ByteReader reader(bytes, start.order);
  reader.skip(magic.size());
  start.size = reader.u64();
  if (!reader.ok()) {
    return input_error("it ends at offset {:#x}, inside the header: it is truncated", bytes.size());
  }
  start.is_stream = start.size == kPipeHeaderSize;
  return start;
}

Expected<Header> read_header(const InputFile& file) {
  std::array<std::byte, kFileHeaderSize> bytes{};
  P2D_ASSIGN(const std::size_t done, file.read_at(0, bytes));
  const std::span<const std::byte> read(bytes.data(), done);
  P2D_ASSIGN(const Start start,
             read_start(read.first(std::min<std::size_t>(done, kPipeHeaderSize))));

  Header header;
  header.order = start.order;
  ByteReader reader(read, header.order);
  reader.skip(kPipeHeaderSize);
  header.attr_size = reader.u64();
  header.attrs = read_section(reader);
  header.data = read_section(reader);
  read_section(reader);  // event types, which nobody writes any more
  if (start.size >= kFileHeaderSize) read_features(reader, header);
  if (!reader.ok()) {
    return input_error("it ends at offset {:#x}, inside the header: it is truncated", done);
  }
  if (start.size != kFileHeaderSize && start.size != kOldFileHeaderSize) {
    return input_error("its header says that it has {} bytes, neither {}, {} nor {}", start.size,
                       kPipeHeaderSize, kOldFileHeaderSize, kFileHeaderSize);
  }
  P2D_TRY(check_inside(file, "the table of events", header.attrs));
  P2D_TRY(check_inside(file, "the data", header.data));
  return header;
}

}  // namespace perf2dat::perfdata
