// SPDX-License-Identifier: LGPL-2.1-or-later
// libperf2dat: converts recordings of `perf record` to the trace.dat of trace-cmd.
//
// The library never prints, exits or throws across this boundary, and keeps no global state: calls
// on different files may run in different threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace perf2dat {

/// Why a conversion stopped. `message` is one line: what is wrong, where, and what to do.
struct Error {
  enum class Kind {
    kInput,      ///< the recording is missing, damaged, or holds nothing that can be converted
    kOutput,     ///< the output exists, or cannot be written
    kCheck,      ///< the output was read again and does not hold what the input held
    kCancelled,  ///< the progress callback returned false
    kInternal,   ///< out of memory, or a bug
  };
  Kind kind;
  std::string message;
};

template <typename T>
using Expected = tl::expected<T, Error>;

struct Options {
  std::string input = "perf.data";
  std::string output = "trace.dat";
  /// Replace an output that exists. It is replaced at the end, in one step.
  bool overwrite = false;
  /// Read the output again before it appears and compare its events with the input's.
  bool check = false;
  /// Called now and then with the bytes read so far and in all; returns false to cancel.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

/// Something of the recording that is not in the output.
struct LeftOut {
  enum class Reason {
    kNotTracepoint,  ///< samples of an event that is no tracepoint
    kNoRawData,      ///< tracepoint samples without the tracepoint's data
    kNoCpu,          ///< tracepoint samples that do not tell their CPU
    kNoTime,         ///< tracepoint samples that do not tell their time
    kBadCpu,         ///< tracepoint samples of a CPU id that no trace.dat can hold
    kUnknownEvent,   ///< samples whose event the recording does not describe
    kLost,           ///< events that the kernel or perf dropped while recording
  };
  Reason reason;
  std::string event;  ///< the event's name; empty for kUnknownEvent and kLost
  std::uint64_t count;
};

struct Summary {
  std::uint64_t converted = 0;  ///< events in the output
  std::uint32_t cpus = 0;       ///< CPUs that have events
  std::uint32_t page_size = 0;  ///< bytes of a ring-buffer page in the output
  bool checked = false;         ///< the output was read again and compared
  std::vector<LeftOut> left_out;
  std::vector<std::string> warnings;  ///< one line each: what may be shown otherwise than recorded
};

/// Converts `options.input` to `options.output`. The output appears whole, at the end, or not at
/// all.
Expected<Summary> convert(const Options& options) noexcept;

/// The library's version, such as "0.1.0".
const char* version() noexcept;

}  // namespace perf2dat
