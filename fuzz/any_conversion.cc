// SPDX-License-Identifier: LGPL-2.1-or-later
#include "any_conversion.h"

#include <filesystem>

#include "memory_watch.h"
#include "perf2dat/perf2dat.h"
#include "property.h"
#include "read_recording.h"
#include "testing/recordings.h"

namespace perf2dat::fuzz {
namespace {

namespace fs = std::filesystem;

/// A number that an input chooses with all of its bytes, the same with any C++ library: FNV-1a.
std::uint64_t digest_of(std::span<const std::byte> input) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const std::byte byte : input) {
    digest = (digest ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
  }
  return digest;
}

struct Choice {
  Options options;
  bool cancels = false;
};

Choice choose_options(std::span<const std::byte> input) {
  std::uint64_t choices = digest_of(input);
  const auto choose = [&](std::uint64_t ways) {
    const std::uint64_t chosen = choices % ways;
    choices /= ways;
    return chosen;
  };
  Choice choice;
  Options& options = choice.options;
  constexpr const char* kTimes[] = {"", "10%/2", "0,1"};
  options.time = kTimes[choose(3)];
  if (choose(2) == 1) options.tracing_dir = tracing_dir();
  options.check = true;
  choice.cancels = choose(16) == 1;
  options.progress = [cancels = choice.cancels](std::uint64_t done, std::uint64_t total) {
    expect(total == 0 || done <= total, "no more is done than there is to do");
    return !cancels;
  };
  return choice;
}

/// A recording is to blame for most errors, but one may be too large for any trace.dat.
bool may_be(const Error& error, const Choice& choice) {
  switch (error.kind) {
    case Error::Kind::kCancelled:
      return choice.cancels;
    case Error::Kind::kInput:
      return true;
    case Error::Kind::kUsage:
      return !choice.options.time.empty();  // percents of times that the recording does not tell
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
    folder.write("tracing/events/header_page", tracing.header_page);
    folder.write("tracing/events/header_event", tracing.header_event);
    folder.write("tracing/events/test/ping/format", tracing.systems.back().formats.front());
    return folder.path("tracing");
  }();
  return path;
}

void expect_conversion(const std::string& path, std::span<const std::byte> input,
                       std::uint64_t largest) {
  static OutputFolder folder;
  Choice choice = choose_options(input);
  Options& options = choice.options;
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
    expect(may_be(error, choice), error.message);
    expect(error.message.find_first_of("\r\n") == std::string::npos, "errors are one line");
    expect(offsets_are_inside(error.message, largest), error.message);
    return;
  }
  expect(!choice.cancels, "what is cancelled has no output");
  fs::remove(options.output);
  expect(summary->lost_unplaced <= summary->lost, "no more is lost without a place than is lost");
  for (const auto& warning : summary->warnings) {
    expect(offsets_are_inside(warning, largest), warning);
  }
}

}  // namespace perf2dat::fuzz
