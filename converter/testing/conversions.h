// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversions of recordings in tests, and what came out of them.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "model/event_format.h"
#include "perf2dat/perf2dat.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/read_at.h"
#include "testing/recordings.h"
#include "tracedat/reader.h"

namespace perf2dat::testing {

/// The mark that events are missing.
struct Mark {
  std::uint32_t cpu = 0;
  std::uint64_t missed = 0;
  std::uint64_t next_time = 0;  ///< of the event that it is before

  friend bool operator==(const Mark&, const Mark&) = default;
  friend void PrintTo(const Mark& mark, std::ostream* out) {
    *out << fmt::format("{} missed before {} ns of CPU {}", mark.missed, mark.next_time, mark.cpu);
  }
};

/// What a trace.dat holds.
struct TraceDat {
  tracedat::Contents contents;
  std::vector<Event> events;  ///< CPU by CPU, each in the file's order
  std::vector<Mark> marks;    ///< the same; each before an event
  std::string cmdlines;

  std::uint32_t cpu_count() const {
    const auto& option = contents.options.at(tracedat::OptionId::kCpuCount);
    return ByteReader(option, contents.format.order).u32();
  }
};

inline TraceDat read_trace_dat(std::span<const std::byte> bytes) {
  const auto read_at = reader_of(bytes);
  TraceDat file;
  file.contents = value_of(tracedat::read_contents(read_at, bytes.size()));
  for (const auto& range : file.contents.ranges) {
    std::uint64_t missed = 0;
    const auto read = tracedat::read_events(
        read_at, file.contents.format, range, [&](const tracedat::RingEvent& event) {
          if (event.is_mark()) {
            if (missed != 0) throw std::runtime_error("two marks without an event between them");
            missed = event.missed;
            return;
          }
          if (missed != 0) file.marks.push_back({range.cpu, missed, event.time});
          missed = 0;
          file.events.push_back(
              {range.cpu, event.time, {event.payload.begin(), event.payload.end()}});
        });
    if (!read) throw std::runtime_error(read.error().message);
    if (missed != 0) throw std::runtime_error("a mark without an event after it");
  }
  file.cmdlines = value_of(file.contents.cmdlines());
  return file;
}

/// A tree like tracefs that tells of the kernel's events.
inline void write_tracing_dir(const std::string& path, const TracingData& tracing) {
  const auto write = [&](const std::string& name, std::string_view text) {
    const auto file = std::filesystem::path(path) / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file.string(), std::as_bytes(std::span(text)));
  };
  write("events/header_page", tracing.header_page);
  write("events/header_event", tracing.header_event);
  for (const auto& system : tracing.systems) {
    for (const auto& text : system.formats) {
      const auto name = parse_event_format(text).value().name;
      write(fmt::format("events/{}/{}/format", system.name, name), text);
    }
  }
}

/// Writes to a FIFO in a thread of its own, for whoever reads it.
class FifoWriter {
 public:
  FifoWriter(const std::string& path, Bytes bytes) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + path);
    thread_ = std::thread([path, bytes = std::move(bytes)] { write_file(path, bytes); });
  }
  FifoWriter(const FifoWriter&) = delete;
  FifoWriter& operator=(const FifoWriter&) = delete;
  ~FifoWriter() { thread_.join(); }

 private:
  std::thread thread_;
};

/// A directory with a recording in it and room for an output.
class Workshop {
 public:
  explicit Workshop(std::span<const std::byte> recording = {}) {
    options_.input = directory_.write("in.data", recording);
    options_.output = directory_.path("out.dat");
    options_.check = true;
  }

  const TemporaryDirectory& directory() const { return directory_; }
  Options& options() { return options_; }
  Expected<Summary> convert() const { return perf2dat::convert(options_); }
  TraceDat output() const { return read_trace_dat(read_file(options_.output)); }

  /// Converts what can't be converted. Returns why; all else in the directory is as it was.
  std::string error(Error::Kind kind = Error::Kind::kInput) const {
    const auto before = directory_.entries();
    auto message = error_of(convert(), kind);
    EXPECT_TRUE(directory_.entries() == before) << "a failure left something behind: " << message;
    return message;
  }

 private:
  TemporaryDirectory directory_;
  Options options_;
};

struct Converted {
  Summary summary;
  TraceDat output;
};

/// Converts a workshop's recording and checks it on the way.
inline Converted convert_in(const Workshop& workshop) {
  Converted converted;
  converted.summary = value_of(workshop.convert());
  converted.output = workshop.output();
  EXPECT_TRUE(converted.summary.checked);
  EXPECT_EQ(converted.summary.converted, converted.output.events.size());
  EXPECT_EQ(converted.summary.cpus, converted.output.contents.ranges.size());
  EXPECT_EQ(converted.summary.page_size, converted.output.contents.format.page_size);
  return converted;
}

inline Converted convert_bytes(std::span<const std::byte> recording) {
  return convert_in(Workshop(recording));
}

}  // namespace perf2dat::testing
