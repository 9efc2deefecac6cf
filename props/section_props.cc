// SPDX-License-Identifier: LGPL-2.1-or-later
// The sections and options of a trace.dat: a walk that was written from trace-cmd.dat.v7(5) alone
// finds each where it is said to be.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "holds.h"
#include "shuffled.h"
#include "testing/conversions.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"
#include "tracedat/metadata.h"

namespace perf2dat::props {
namespace {

using testing::Bytes;
using tracedat::CpuRange;
using tracedat::Metadata;
using tracedat::PageFormat;

struct Section {
  std::uint64_t offset = 0;  ///< of its header
  std::string description;
  std::uint64_t content = 0;  ///< offset
  std::uint64_t size = 0;     ///< of the content
};

struct Option {
  std::uint16_t id = 0;
  std::size_t offset = 0;  ///< of its header
  std::size_t size = 0;    ///< with the header
  Bytes data;
};

/// A file as the manual page describes it.
struct Walk {
  std::uint64_t options_offset = 0;
  std::map<std::uint16_t, Section> sections;  ///< by id
  std::vector<Option> options;
  std::uint64_t end = 0;  ///< of the last section, as far as its size says
};

constexpr std::uint16_t kStrings = 15;
constexpr std::uint16_t kFlyrecord = 3;
constexpr std::uint16_t kCmdlines = 21;
constexpr std::uint16_t kDone = 0;
constexpr std::uint16_t kBuffer = 3;
constexpr std::uint16_t kTraceClock = 4;
constexpr std::uint16_t kUname = 5;
constexpr std::uint16_t kCpuCount = 8;
constexpr std::uint16_t kVersion = 9;
constexpr std::size_t kSectionHeader = 16;

Walk walk(const Bytes& file, ByteOrder order, std::uint8_t long_size, std::uint32_t page_size) {
  ByteReader in(std::span<const std::byte>{file}, order);
  RC_ASSERT(in.text(10) == std::string_view("\x17\x08\x44tracing", 10));
  RC_ASSERT(in.c_string() == "7");
  RC_ASSERT(in.u8() == (order == ByteOrder::kBig ? 1 : 0));
  RC_ASSERT(in.u8() == long_size);
  RC_ASSERT(in.u32() == page_size);
  RC_ASSERT(in.c_string() == "none");
  in.c_string();
  Walk walk;
  walk.options_offset = in.u64();

  // One section begins where the last one ends, up to the events.
  std::map<std::uint16_t, std::uint32_t> descriptions;
  while (!walk.sections.contains(kFlyrecord)) {
    Section section;
    section.offset = in.offset();
    const std::uint16_t id = in.u16();
    RC_ASSERT(in.u16() == 0);  // not compressed
    descriptions[id] = in.u32();
    section.size = in.u64();
    section.content = in.offset();
    RC_ASSERT(in.ok());
    RC_ASSERT(section.content == section.offset + kSectionHeader);
    RC_ASSERT(walk.sections.emplace(id, section).second);
    if (id == kFlyrecord) {
      walk.end = section.content + section.size;
    } else {
      in.bytes(section.size);
    }
    RC_ASSERT(in.ok());
  }

  const Section& strings = walk.sections.at(kStrings);
  for (auto& [id, section] : walk.sections) {
    RC_ASSERT(descriptions[id] < strings.size);
    section.description =
        reinterpret_cast<const char*>(file.data()) + strings.content + descriptions[id];
  }

  const Section& section = walk.sections.at(0);
  RC_ASSERT(section.offset == walk.options_offset);
  ByteReader options(std::span<const std::byte>{file}.subspan(section.content, section.size), order,
                     section.content);
  do {
    Option option;
    option.offset = options.offset();
    option.id = options.u16();
    option.size = 6 + options.u32();
    const auto data = options.bytes(option.size - 6);
    RC_ASSERT(options.ok());
    option.data.assign(data.begin(), data.end());
    walk.options.push_back(std::move(option));
  } while (walk.options.back().id != 0);
  RC_ASSERT(options.offset() == section.content + section.size);
  return walk;
}

const Option& option(const Walk& walk, std::uint16_t id) {
  const auto found = std::find_if(walk.options.begin(), walk.options.end(),
                                  [&](const Option& each) { return each.id == id; });
  RC_ASSERT(found != walk.options.end());
  return *found;
}

// trace-cmd knows that these count nanoseconds, and shows seconds. Of others it would show raw
// numbers where the file has the option TRACECLOCK; without it, it takes all for nanoseconds.
const std::vector<std::string> kClocksOfSeconds = {"local", "global",   "uptime", "perf",
                                                   "mono",  "mono_raw", "tai"};
const std::vector<std::string> kOtherClocks = {"boot", "realtime", "clockid 99"};

/// rapidcheck's strings have no NUL.
rc::Gen<std::string> c_strings() { return rc::gen::string<std::string>(); }

rc::Gen<std::string> texts() {
  return rc::gen::oneOf(rc::gen::just(std::string()), c_strings(),
                        rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
}

rc::Gen<std::string> comms() {
  return rc::gen::oneOf(texts(), rc::gen::element<std::string>(" ", "\n", "\t \v\f\r", " a", "a\nb",
                                                               "\n7 forged", "b\xc3\xa4r"));
}

Metadata draw_metadata(ByteOrder order) {
  Metadata metadata;
  TracingData& tracing = metadata.tracing;
  tracing.order = order;
  tracing.long_size = *rc::gen::element<std::uint8_t>(4, 8);
  tracing.header_page = *texts();
  tracing.header_event = *texts();
  tracing.ftrace_formats = *rc::gen::container<std::vector<std::string>>(texts());
  tracing.systems = *rc::gen::container<std::vector<EventSystem>>(rc::gen::apply(
      [](std::string name, std::vector<std::string> formats) {
        return EventSystem{std::move(name), std::move(formats)};
      },
      c_strings(), rc::gen::container<std::vector<std::string>>(texts())));
  tracing.kallsyms = *rc::gen::weightedOneOf<std::string>(
      {{20, texts()}, {1, rc::gen::just(std::string(70'000, 'x'))}});
  tracing.printk = *texts();
  const auto names = *rc::gen::container<std::map<std::uint32_t, std::string>>(
      rc::gen::arbitrary<std::uint32_t>(), comms());
  for (const auto& [pid, comm] : names) metadata.cmdlines.push_back({pid, comm});
  metadata.cpu_count = *rc::gen::element<std::uint32_t>(1, 2, 4096, 65536);
  metadata.clock =
      *rc::gen::oneOf(rc::gen::elementOf(kClocksOfSeconds), rc::gen::elementOf(kOtherClocks));
  metadata.uname = *c_strings();
  metadata.version = *c_strings();
  return metadata;
}

constexpr std::size_t kMostCpus = 4096;

std::vector<CpuRange> draw_ranges(std::uint32_t page_size) {
  const auto count = *rc::gen::weightedElement<std::size_t>(
      {{5, 0}, {5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 8}, {1, kMostCpus}});
  // Thousands of CPUs have the same few sizes and gaps, again and again.
  const auto pages =
      *rc::gen::container<std::vector<std::uint64_t>>(8, rc::gen::inRange<std::uint64_t>(1, 1000));
  const auto steps =
      *rc::gen::container<std::vector<std::uint32_t>>(7, rc::gen::element<std::uint32_t>(1, 2, 15));
  std::vector<CpuRange> ranges;
  std::uint64_t offset = 1ULL << 20U;
  std::uint32_t cpu = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = page_size * pages[i % pages.size()];
    ranges.push_back({cpu, offset, size});
    offset += size;
    cpu += steps[i % steps.size()];
  }
  return ranges;
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Lines that libtracecmd's "%d %m[^\n]" parses: each has a name that is more than space, and
/// neither line breaks nor NULs in it.
std::string lines_of(const std::vector<tracedat::Cmdline>& cmdlines) {
  std::string lines;
  for (const auto& [pid, comm] : cmdlines) {
    if (std::all_of(comm.begin(), comm.end(), &is_space)) continue;
    lines += std::to_string(pid) + ' ';
    for (const char c : comm) lines += c == '\n' || c == '\0' ? '?' : c;
    lines += '\n';
  }
  return lines;
}

void check_texts(ByteReader& in, const std::vector<std::string>& expected) {
  RC_ASSERT(in.u32() == expected.size());
  for (const std::string& text : expected) {
    const std::uint64_t size = in.u64();
    RC_ASSERT(in.text(size) == text);
  }
}

/// The contents of the sections that hold what the kernel says of its events.
void check_contents(const Bytes& file, ByteOrder order, const Walk& walk,
                    const Metadata& metadata) {
  const TracingData& tracing = metadata.tracing;
  const auto content_of = [&](std::uint16_t id) {
    const Section& section = walk.sections.at(id);
    return ByteReader(std::span<const std::byte>{file}.subspan(section.content, section.size),
                      order, section.content);
  };
  const auto check_end = [&](const ByteReader& in, std::uint16_t id) {
    const Section& section = walk.sections.at(id);
    RC_ASSERT(in.ok());
    RC_ASSERT(in.offset() == section.content + section.size);
  };

  ByteReader headers = content_of(16);
  for (const auto& [name, text] : {std::pair{"header_page", tracing.header_page},
                                   std::pair{"header_event", tracing.header_event}}) {
    RC_ASSERT(headers.c_string() == name);
    const std::uint64_t size = headers.u64();
    RC_ASSERT(headers.text(size) == text);
  }
  check_end(headers, 16);

  ByteReader ftrace = content_of(17);
  check_texts(ftrace, tracing.ftrace_formats);
  check_end(ftrace, 17);

  ByteReader systems = content_of(18);
  RC_ASSERT(systems.u32() == tracing.systems.size());
  for (const EventSystem& system : tracing.systems) {
    RC_ASSERT(systems.c_string() == system.name);
    check_texts(systems, system.formats);
  }
  check_end(systems, 18);

  for (const auto& [id, text] : {std::pair{std::uint16_t{19}, tracing.kallsyms},
                                 std::pair{std::uint16_t{20}, tracing.printk}}) {
    ByteReader in = content_of(id);
    const std::uint32_t size = in.u32();
    RC_ASSERT(in.text(size) == text);
    check_end(in, id);
  }
  ByteReader cmdlines = content_of(kCmdlines);
  const std::uint64_t size = cmdlines.u64();
  RC_ASSERT(cmdlines.text(size) == lines_of(metadata.cmdlines));
  check_end(cmdlines, kCmdlines);
}

/// The data of an option that is a text, with its NUL.
std::string text_of(const Walk& walk, std::uint16_t id) {
  const Bytes& data = option(walk, id).data;
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

/// All options, and what is in them.
void check_options(ByteOrder order, const Walk& walk, const Metadata& metadata,
                   std::uint32_t page_size, const std::vector<CpuRange>& ranges) {
  const bool has_clock = std::find(kClocksOfSeconds.begin(), kClocksOfSeconds.end(),
                                   metadata.clock) != kClocksOfSeconds.end();
  std::vector<std::uint16_t> expected = {kDone, kBuffer, kCpuCount, kVersion, 16,
                                         17,    18,      19,        20,       kCmdlines};
  if (has_clock) expected.push_back(kTraceClock);
  if (!metadata.uname.empty()) expected.push_back(kUname);
  std::sort(expected.begin(), expected.end());
  std::vector<std::uint16_t> ids;
  for (const Option& each : walk.options) ids.push_back(each.id);
  std::sort(ids.begin(), ids.end());
  RC_ASSERT(ids == expected);

  // Options that tell where a section is have its id.
  for (const std::uint16_t id : {std::uint16_t{16}, std::uint16_t{17}, std::uint16_t{18},
                                 std::uint16_t{19}, std::uint16_t{20}, kCmdlines}) {
    const Bytes& data = option(walk, id).data;
    RC_ASSERT(data.size() == 8U);
    RC_ASSERT(load<std::uint64_t>(data.data(), order) == walk.sections.at(id).offset);
  }
  const Bytes& end = option(walk, kDone).data;
  RC_ASSERT(end == Bytes(8));

  const auto c_string = [](const std::string& text) { return text + '\0'; };
  RC_ASSERT(text_of(walk, kVersion) == c_string(metadata.version));
  if (!metadata.uname.empty()) RC_ASSERT(text_of(walk, kUname) == c_string(metadata.uname));
  if (has_clock) RC_ASSERT(text_of(walk, kTraceClock) == c_string('[' + metadata.clock + ']'));

  const Bytes& cpu_count = option(walk, kCpuCount).data;
  RC_ASSERT(cpu_count.size() == 4U);
  RC_ASSERT(load<std::uint32_t>(cpu_count.data(), order) == metadata.cpu_count);

  ByteReader buffer(option(walk, kBuffer).data, order);
  RC_ASSERT(buffer.u64() == walk.sections.at(kFlyrecord).offset);
  RC_ASSERT(buffer.c_string().empty());
  RC_ASSERT(buffer.c_string() == metadata.clock);
  RC_ASSERT(buffer.u32() == page_size);
  RC_ASSERT(buffer.u32() == ranges.size());
  for (const CpuRange& range : ranges) {
    RC_ASSERT(buffer.u32() == range.cpu);
    RC_ASSERT(buffer.u64() == range.offset);
    RC_ASSERT(buffer.u64() == range.size);
    RC_ASSERT(range.offset + range.size <= walk.end);
  }
  RC_ASSERT(buffer.ok());
  RC_ASSERT(buffer.remaining() == 0U);
}

TEST(Sections, AreWhereAFreshWalkFindsThem) {
  holds(
      [] {
        const auto order = *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig);
        const Metadata metadata = draw_metadata(order);
        const PageFormat format{order, *rc::gen::element<std::uint32_t>(4096, 65536), 8};
        const auto ranges = draw_ranges(format.page_size);
        const std::uint64_t file_size =
            ranges.empty() ? 0 : ranges.back().offset + ranges.back().size;
        const Bytes file = tracedat::encode_metadata(metadata, format, ranges, file_size);
        // Decided here: RC_PRE() evaluates all of its expression.
        const bool fits = ranges.empty() || file.size() <= ranges.front().offset;
        RC_PRE(fits);
        const TracingData& tracing = metadata.tracing;
        const std::vector<tracedat::Cmdline>& cmdlines = metadata.cmdlines;
        RC_CLASSIFY(ranges.empty(), "no CPU");
        RC_CLASSIFY(ranges.size() > 4, "five CPUs or more");
        RC_CLASSIFY(ranges.size() == kMostCpus, "4096 CPUs");
        RC_CLASSIFY(tracing.systems.empty(), "no system");
        RC_CLASSIFY(tracing.kallsyms.empty(), "no symbols");
        RC_CLASSIFY(tracing.kallsyms.size() > 65536, "a long text");
        RC_CLASSIFY(cmdlines.empty(), "no name");
        RC_CLASSIFY(std::any_of(cmdlines.begin(), cmdlines.end(),
                                [](const auto& each) {
                                  return std::all_of(each.comm.begin(), each.comm.end(), &is_space);
                                }),
                    "a name of nothing but space");
        RC_CLASSIFY(
            std::any_of(cmdlines.begin(), cmdlines.end(),
                        [](const auto& each) { return each.comm.find('\0') != std::string::npos; }),
            "a NUL in a name");
        RC_CLASSIFY(metadata.uname.empty(), "no uname");

        const Walk found = walk(file, order, tracing.long_size, format.page_size);
        RC_ASSERT(found.end == std::max<std::uint64_t>(file_size, file.size()));
        RC_ASSERT(found.sections.at(kFlyrecord).content == file.size());
        RC_ASSERT(found.sections.size() == 9U);
        for (const auto& [id, section] : found.sections) RC_ASSERT(!section.description.empty());
        check_contents(file, order, found, metadata);
        check_options(order, found, metadata, format.page_size, ranges);
      },
      {"no CPU", "five CPUs or more", "4096 CPUs", "no system", "no symbols", "a long text",
       "no name", "a name of nothing but space", "a NUL in a name", "no uname"});
}

TEST(Sections, OptionsAreReadInAnyOrder) {
  holds(
      [] {
        const auto order = *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig);
        const testing::Workshop workshop(testing::full_recording(order));
        testing::value_of(workshop.convert());
        const std::string path = workshop.directory().path("out.dat");
        const Bytes file = testing::read_file(path);
        const auto judged = judge_file(path, {10, 12});
        RC_ASSERT(judged.has_value());
        const auto read = testing::read_trace_dat(file);

        const Walk found = walk(file, order, 8, 4096);
        std::vector<std::uint16_t> ids;  // DONE stays the last one
        for (const Option& each : found.options) {
          if (each.id != kDone) ids.push_back(each.id);
        }
        const auto moved_ids = *shuffled(ids);
        RC_CLASSIFY(moved_ids != ids, "the order changed");
        Bytes moved = file;
        std::size_t at = found.options.front().offset;
        for (const std::uint16_t id : moved_ids) {
          const Option& next = option(found, id);
          std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(next.offset), next.size,
                      moved.begin() + static_cast<std::ptrdiff_t>(at));
          at += next.size;
        }
        testing::write_file(path, moved);
        const auto judged_again = judge_file(path, {10, 12});
        RC_ASSERT(judged_again.has_value());
        RC_ASSERT(judged_again->events == judged->events);
        RC_ASSERT(judged_again->names == judged->names);
        const auto read_again = testing::read_trace_dat(moved);
        RC_ASSERT(read_again.events == read.events);
        RC_ASSERT(read_again.cmdlines == read.cmdlines);
        RC_ASSERT(read_again.contents.options == read.contents.options);
      },
      {"the order changed"});
}

}  // namespace
}  // namespace perf2dat::props
