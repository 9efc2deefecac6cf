// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/header.h"

#include <algorithm>

namespace perf2dat::perfdata {
namespace {

Expected<ByteOrder> read_magic(const InputFile& file) {
  if (file.size() == 0) return input_error("it is empty: perf record did not finish");
  std::array<std::byte, 8> bytes{};
  P2D_ASSIGN(const std::size_t done, file.read_at(0, bytes));
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), done);
  if (magic == kMagicLittle) return ByteOrder::kLittle;
  if (magic == kMagicBig) return ByteOrder::kBig;
  if (!magic.empty() && (kMagicLittle.starts_with(magic) || kMagicBig.starts_with(magic))) {
    return input_error("it ends at offset {:#x}, inside the header: it is truncated", done);
  }
  return input_error(
      "it is not a perf.data file: at offset 0 it has neither PERFILE2 nor 2ELIFREP");
}

FileSection read_section(ByteReader& reader) {
  const std::uint64_t offset = reader.u64();
  return {offset, reader.u64()};
}

Expected<void> check_inside(const InputFile& file, std::string_view name, FileSection section) {
  if (section.offset <= file.size() && section.size <= file.size() - section.offset) return {};
  return input_error(
      "its header says {} is {} bytes at offset {:#x}, but the file ends at {:#x}: "
      "it is truncated or damaged",
      name, section.size, section.offset, file.size());
}

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

Expected<Header> read_header(const InputFile& file) {
  Header header;
  P2D_ASSIGN(header.order, read_magic(file));

  std::array<std::byte, kFileHeaderSize> bytes{};
  P2D_ASSIGN(const std::size_t done, file.read_at(0, bytes));
  const std::span<const std::byte> read(bytes.data(), done);
  ByteReader reader(read, header.order);
  reader.skip(kMagicLittle.size());
  const std::uint64_t size = reader.u64();
  if (reader.ok() && size == kPipeHeaderSize) {
    return input_error(
        "it is a pipe recording (perf record -o -), which is not supported yet: "
        "convert it with perf inject -i IN -o OUT first");
  }
  header.attr_size = reader.u64();
  header.attrs = read_section(reader);
  header.data = read_section(reader);
  read_section(reader);  // event types, which nobody writes any more
  const bool has_features = size >= kFileHeaderSize;
  if (has_features) read_features(reader, header);
  if (!reader.ok()) {
    return input_error("it ends at offset {:#x}, inside the header: it is truncated", done);
  }
  if (size != kFileHeaderSize && size != kOldFileHeaderSize) {
    return input_error("its header says that it has {} bytes, neither {}, {} nor {}", size,
                       kPipeHeaderSize, kOldFileHeaderSize, kFileHeaderSize);
  }
  if (header.data.size == 0) {
    return input_error(
        "its header says that it has no data: perf record was killed before it finished the file, "
        "and the event formats are missing; record again");
  }
  P2D_TRY(check_inside(file, "the table of events", header.attrs));
  P2D_TRY(check_inside(file, "the data", header.data));
  return header;
}

}  // namespace perf2dat::perfdata
