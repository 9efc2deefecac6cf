// SPDX-License-Identifier: LGPL-2.1-or-later
#include "any_conversion.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>

#include "memory_watch.h"
#include "perf2dat/perf2dat.h"
#include "property.h"
#include "read_recording.h"
#include "testing/recordings.h"

namespace perf2dat::fuzz {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  expect(static_cast<bool>(file.flush()), "there is room for the folder");
}

Options choose_options(std::span<const std::byte> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  std::size_t choices = std::hash<std::string_view>()(text);
  const auto choose = [&](std::size_t ways) {
    const std::size_t chosen = choices % ways;
    choices /= ways;
    return chosen;
  };
  Options options;
  constexpr const char* kTimes[] = {"", "10%/2", "0,1"};
  options.time = kTimes[choose(3)];
  if (choose(2) == 1) options.tracing_dir = tracing_dir();
  options.check = true;
  options.progress = [](std::uint64_t done, std::uint64_t total) {
    expect(total == 0 || done <= total, "no more is done than there is to do");
    return true;
  };
  return options;
}

/// A recording is to blame for most errors, but one may be too large for any trace.dat.
bool may_be(const Error& error, const Options& options) {
  switch (error.kind) {
    case Error::Kind::kInput:
      return true;
    case Error::Kind::kUsage:
      return !options.time.empty();  // percents of times that the recording does not tell
    case Error::Kind::kOutput:
      return error.message.find("is larger than the largest page") != std::string::npos;
    default:
      return false;
  }
}

}  // namespace

const std::string& tracing_dir() {
  static OutputFolder folder;
  static std::string path = [] {
    const auto tracing = testing::kernel(ByteOrder::kLittle);
    const fs::path events = folder.path("tracing/events");
    write_text(events / "header_page", tracing.header_page);
    write_text(events / "header_event", tracing.header_event);
    write_text(events / "test/ping/format", tracing.systems.back().formats.front());
    return folder.path("tracing");
  }();
  return path;
}

void expect_conversion(const std::string& path, std::span<const std::byte> input,
                       std::uint64_t largest) {
  static OutputFolder folder;
  Options options = choose_options(input);
  options.input = path;
  options.output = folder.path("out.dat");

  const MemoryWatch watch;  // counts from here on
  const auto summary = convert(options);
  // It may keep so many pages and late events in memory, whatever the input's size.
  constexpr std::size_t kBudget = 60U << 20U;
  expect(MemoryWatch::peak() <= kBudget + memory_for(input),
         "memory is bounded by the input's size");
  expect(fs::exists(options.output) == summary.has_value(),
         "there is an output where there is no error, and only there");
  if (!summary) {
    const Error& error = summary.error();
    expect(may_be(error, options), error.message);
    expect(error.message.find_first_of("\r\n") == std::string::npos, "errors are one line");
    expect(offsets_are_inside(error.message, largest), error.message);
    return;
  }
  fs::remove(options.output);
  expect(summary->lost_unplaced <= summary->lost, "no more is lost without a place than is lost");
  for (const auto& warning : summary->warnings) {
    expect(offsets_are_inside(warning, largest), warning);
  }
}

}  // namespace perf2dat::fuzz
