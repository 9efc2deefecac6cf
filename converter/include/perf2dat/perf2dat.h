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
    kUsage,      ///< an option's value means nothing
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
  /// A file, a FIFO, a folder of perf record --threads, or "-" for standard input.
  std::string input = "perf.data";
  std::string output = "trace.dat";
  /// Windows of time in the syntax of perf script --time; empty: everything.
  std::string time;
  /// A folder like tracefs with the event formats, for recordings that lack them; empty: none.
  std::string tracing_dir;
  /// Replace an output that exists. It is replaced at the end, in one step.
  bool overwrite = false;
  /// Read the output again before it appears and compare its events with the input's.
  bool check = false;
  /// Called now and then with the bytes read so far and in all (0: unknown); returns false to
  /// cancel.
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
    kGuest,          ///< tracepoint samples from inside a virtual machine
  };
  Reason reason;
  std::string event;  ///< the event's name; empty for kUnknownEvent
  std::uint64_t count;
};

struct Summary {
  std::uint64_t converted = 0;  ///< events in the output
  std::uint32_t cpus = 0;       ///< CPUs that have events
  std::uint32_t page_size = 0;  ///< bytes of a ring-buffer page in the output
  bool checked = false;         ///< the output was read again and compared
  std::vector<LeftOut> left_out;
  std::uint64_t outside_time = 0;  ///< events outside the windows that were asked for
  /// Events that were dropped while recording, as the recording's LOST records tell where it
  /// happened, and those of them that no mark in the output tells of.
  std::uint64_t lost = 0;
  std::uint64_t lost_unplaced = 0;
  /// Samples that were dropped, as counters tell without a place (LOST_SAMPLES). Where a recording
  /// has both, most samples are in both.
  std::uint64_t lost_samples = 0;
  std::vector<std::string> warnings;  ///< one line each: what may be shown otherwise than recorded
};

/// Converts `options.input` to `options.output`. The output appears whole, at the end, or not at
/// all.
Expected<Summary> convert(const Options& options) noexcept;

/// The library's version, such as "0.1.0".
const char* version() noexcept;

}  // namespace perf2dat
