// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads an uncompressed trace.dat of version 7, such as the writer makes, to check it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tracedat/layout.h"
#include "tracedat/metadata.h"
#include "tracedat/ring_page.h"

namespace perf2dat::tracedat {

/// Fills the span from an offset; returns the number of bytes, fewer only at the end of the file.
using ReadAt = std::function<Expected<std::size_t>(std::uint64_t, std::span<std::byte>)>;

/// The file as its sections and options describe it. Every size and offset was checked against the
/// file's size.
struct Contents {
  PageFormat format;
  std::uint8_t long_size = 0;
  std::map<SectionId, std::vector<std::byte>> sections;  ///< without the events
  std::map<SectionId, std::string> descriptions;
  std::map<OptionId, std::vector<std::byte>> options;
  std::string clock;
  std::vector<CpuRange> ranges;

  /// The text of an option that is a string, without its NUL; nullopt: there is none.
  std::optional<std::string> text_option(OptionId id) const;
  /// The text of the section of command lines.
  Expected<std::string> cmdlines() const;
};

Expected<Contents> read_contents(const ReadAt& read_at, std::uint64_t file_size);

/// Gives each event of a CPU to `take`, in the file's order. Fails where a page breaks a rule of
/// the format, and where time runs backwards.
Expected<void> read_events(const ReadAt& read_at, const PageFormat& format, const CpuRange& range,
                           const std::function<void(const RingEvent&)>& take);

}  // namespace perf2dat::tracedat
