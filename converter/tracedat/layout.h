// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers of the trace.dat format, version 7.
//
// Source: trace-cmd's manual page trace-cmd.dat.v7(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perf2dat::tracedat {

inline constexpr std::string_view kMagic{"\x17\x08\x44tracing", 10};
inline constexpr std::string_view kFileVersion = "7";
inline constexpr std::string_view kNoCompression = "none";

enum class SectionId : std::uint16_t {
  kOptions = 0,
  kFlyrecord = 3,
  kStrings = 15,
  kHeaderInfo = 16,
  kFtraceFormats = 17,
  kEventFormats = 18,
  kKallsyms = 19,
  kPrintk = 20,
  kCmdlines = 21,
};

/// u16 id, u16 flags, u32 string id of a description, u64 size of what follows.
inline constexpr std::size_t kSectionHeaderSize = 16;

enum class OptionId : std::uint16_t {
  kDone = 0,
  kBuffer = 3,
  kTraceClock = 4,
  kUname = 5,
  kCpuCount = 8,
  kVersion = 9,
  kHeaderInfo = 16,
  kFtraceFormats = 17,
  kEventFormats = 18,
  kKallsyms = 19,
  kPrintk = 20,
  kCmdlines = 21,
};

}  // namespace perf2dat::tracedat
