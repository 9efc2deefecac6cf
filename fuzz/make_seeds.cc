// SPDX-License-Identifier: LGPL-2.1-or-later
// make_seeds GOLDEN OUT: writes what each fuzz target begins with, to OUT/TARGET: recordings made
// to order, those of the folder GOLDEN cut small, the outputs they become, and what these consist
// of.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "input_in_memory.h"
#include "output_folder.h"
#include "perf2dat/perf2dat.h"
#include "perfdata/header.h"
#include "perfdata/tracing_data.h"
#include "testing/read_at.h"
#include "testing/recordings.h"
#include "tracedat/reader.h"

namespace perf2dat::fuzz {
namespace {

namespace fs = std::filesystem;

using perfdata::Feature;
using perfdata::RecordType;
using testing::Bytes;
using testing::PerfDataBuilder;

constexpr auto kOrders = {ByteOrder::kLittle, ByteOrder::kBig};

// Places in a file's header.
constexpr std::size_t kHeaderSizeAt = 8;
constexpr std::size_t kDataSizeAt = 48;
constexpr std::size_t kFeaturesAt = 72;

class Seeds {
 public:
  explicit Seeds(fs::path out) : out_(std::move(out)) {}

  void add(const std::string& target, std::span<const std::byte> bytes) {
    fs::create_directories(out_ / target);
    std::ofstream file(out_ / target / fmt::format("seed-{}", count_++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write to " + out_.string());
  }
  /// After a byte that tells what kind of input it is.
  void add(const std::string& target, std::uint8_t kind, std::span<const std::byte> bytes) {
    Bytes input = {static_cast<std::byte>(kind)};
    input.insert(input.end(), bytes.begin(), bytes.end());
    add(target, input);
  }
  void add_text(const std::string& target, std::uint8_t kind, std::string_view text) {
    add(target, kind, std::as_bytes(std::span(text)));
  }

 private:
  fs::path out_;
  unsigned count_ = 0;
};

/// The format of one event of each of two systems, and a little of each other text.
TracingData cut(TracingData tracing) {
  const auto shorten = [](auto& list, std::size_t most) {
    list.resize(std::min<std::size_t>(list.size(), most));
  };
  shorten(tracing.systems, 2);
  for (auto& system : tracing.systems) shorten(system.formats, 1);
  shorten(tracing.ftrace_formats, 1);
  for (auto* text :
       {&tracing.kallsyms, &tracing.printk, &tracing.cmdlines, &tracing.header_event}) {
    shorten(*text, 40);
  }
  return tracing;
}

Bytes cut_tracing_data(std::span<const std::byte> bytes) {
  const auto tracing = perfdata::parse_tracing_data(bytes, 0);
  if (!tracing) throw std::runtime_error(tracing.error().message);
  return testing::encode_tracing_data(cut(*tracing), tracing->order);
}

/// Whole records, up to so many bytes.
std::span<const std::byte> first_records(std::span<const std::byte> data, ByteOrder order,
                                         std::size_t most) {
  std::size_t end = 0;
  while (data.size() - end >= perfdata::kRecordHeaderSize) {
    const std::size_t size = load<std::uint16_t>(data.data() + end + 6, order);
    if (size > data.size() - end || end + size > most) break;
    end += size;
  }
  return data.first(end);
}

/// A real file with its header, events and features, but few records and formats.
Bytes cut_file(const Bytes& bytes) {
  static InputInMemory memory;
  const auto file = InputFile::open(memory.path_of(bytes));
  const auto header = file ? perfdata::read_header(*file) : tl::unexpected(file.error());
  if (!header) throw std::runtime_error(header.error().message);
  const auto whole = std::span(bytes);
  const auto data = whole.subspan(header->data.offset, header->data.size);
  const auto records = first_records(data, header->order, 1000);
  const auto table_bytes = whole.subspan(header->data.offset + header->data.size);
  ByteReader table(table_bytes, header->order);

  std::vector<Bytes> contents;
  for (std::size_t bit = 0; bit < header->features.size(); ++bit) {
    if (!header->features[bit]) continue;
    const std::uint64_t offset = table.u64();
    const auto content = whole.subspan(offset, table.u64());
    contents.emplace_back(content.begin(), content.end());
    if (bit == static_cast<std::size_t>(Feature::kTracingData)) {
      contents.back() = cut_tracing_data(content);
    }
  }
  ByteWriter out(header->order);
  out.bytes(whole.first(header->data.offset)).bytes(records);
  out.patch(kDataSizeAt, std::uint64_t{records.size()});
  std::uint64_t at = out.size() + 16 * contents.size();
  for (const Bytes& content : contents) {
    out.u64(at).u64(content.size());
    at += content.size();
  }
  for (const Bytes& content : contents) out.bytes(content);
  return out.take();
}

/// The same of a stream.
Bytes cut_stream(const Bytes& bytes, ByteOrder order) {
  constexpr std::size_t kHeader = perfdata::kRecordHeaderSize;
  ByteWriter out(order);
  auto rest = std::span(bytes);
  out.bytes(rest.first(perfdata::kPipeHeaderSize));
  rest = rest.subspan(perfdata::kPipeHeaderSize);
  std::map<RecordType, std::size_t> counts;
  while (rest.size() >= kHeader) {
    const auto type = static_cast<RecordType>(load<std::uint32_t>(rest.data(), order));
    const std::size_t size = load<std::uint16_t>(rest.data() + 6, order);
    if (size > rest.size()) break;
    const std::size_t at = out.size();
    // All that describes, and a few of what happened.
    if (type >= RecordType::kHeaderAttr || ++counts[type] < 10) out.bytes(rest.first(size));
    rest = rest.subspan(size);
    if (type != RecordType::kHeaderTracingData) continue;
    const auto payload = load<std::uint32_t>(out.data().data() + at + kHeader, order);
    Bytes formats = cut_tracing_data(rest.first(payload));
    formats.resize((formats.size() + 7) / 8 * 8);
    out.patch(at + kHeader, static_cast<std::uint32_t>(formats.size()));
    out.bytes(formats);
    rest = rest.subspan((std::size_t{payload} + 7) / 8 * 8);
  }
  return out.take();
}

/// Samples of every layout, and a record of each kind.
PerfDataBuilder recording(ByteOrder order, std::uint64_t sample_type, std::uint64_t read_format,
                          std::uint32_t commit_size) {
  PerfDataBuilder builder(order);
  auto tracing = testing::kernel(order);
  tracing.header_page = testing::header_page(commit_size);
  builder.set_tracing(cut(tracing)).set_cpus(2);
  builder.set_text_feature(Feature::kHostname, "host").set_text_feature(Feature::kArch, "x86_64");
  auto event = testing::tracepoint(testing::kSwitch, {1}, "sched:sched_switch");
  event.sample_type = sample_type;
  event.read_format = read_format;
  auto clock = testing::cpu_clock({2});
  clock.sample_type = sample_type;
  clock.read_format = read_format;
  builder.add_attr(event).add_attr(clock);
  builder.add_comm(1, 1, "one").add_fork(2, 1, 2, 1, 5).add_lost(1, 3).add_lost_samples(2);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::uint64_t time = i == 4 ? 12 : 10 + std::uint64_t{i} * 200'000'000;
    auto sample = testing::sample({i == 3 ? 2U : 1U, time, i % 2}, order,
                                  testing::switch_payload(order, {1, "prev"}, {2, "next"}));
    if ((sample_type & perfdata::kSampleRead) != 0) sample.read = {1, 2, 3, 4, 5};
    sample.callchain = {0xffffffff81000000, 7};
    builder.add_sample(i == 3 ? 1 : 0, sample);
    if (i == 2) builder.add_finished_round();
  }
  return builder;
}

std::vector<PerfDataBuilder> recordings(ByteOrder order) {
  using namespace perfdata;  // NOLINT(google-build-using-namespace)
  const std::uint64_t usual = testing::AttrSpec().sample_type;
  const std::uint64_t fixed = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                              kSampleAddr | kSampleId | kSampleStreamId | kSampleCpu |
                              kSamplePeriod | kSampleRaw;
  std::vector<PerfDataBuilder> builders = {
      recording(order, usual, kReadId, 8),
      recording(order, fixed, 0, 4),
      recording(order, usual | kSampleCallchain, kReadId, 8),
      recording(order, usual | kSampleRead,
                kReadTimeEnabled | kReadTimeRunning | kReadId | kReadLost, 8),
      recording(order, usual | kSampleRead, kReadGroup | kReadId, 8),
      testing::eight_pings(order)};
  for (const auto type : {RecordType::kCompressed, RecordType::kCompressed2}) {
    builders.push_back(builders.front());
    builders.back().compress(type, 100);
  }
  return builders;
}

/// A recording of one event, with a sample of each of its ids.
PerfDataBuilder pings(ByteOrder order, const std::vector<std::uint64_t>& ids) {
  PerfDataBuilder builder(order);
  builder.set_tracing(cut(testing::kernel(order)));
  builder.add_attr(testing::tracepoint(testing::kPing, ids, "test:ping"));
  for (const std::uint64_t id : ids) {
    builder.add_sample(0, testing::ping(order, {id, 100 + id, 0}));
  }
  return builder;
}

/// Bodies of records that describe, by their types.
std::vector<std::pair<std::uint32_t, Bytes>> describing_records(ByteOrder order) {
  ByteWriter attr(order);
  attr.bytes(testing::encode_attr(testing::tracepoint(testing::kWakeup, {}), order)).u64(9);
  ByteWriter index(order);
  index.u64(1).u64(1).zeros(24);
  ByteWriter guest_index(order);
  guest_index.u64(1).u64(1).zeros(24).u64(77).u64(0);
  ByteWriter update(order);
  update.u64(2).u64(1).c_string("test:pong").align(8);
  ByteWriter feature(order);
  feature.u64(static_cast<std::uint64_t>(Feature::kHostname)).u32(8).c_string("another");
  return {{64, attr.take()},
          {69, index.take()},
          {69, guest_index.take()},
          {78, update.take()},
          {80, feature.take()}};
}

/// Event formats among the samples.
PerfDataBuilder& add_formats(PerfDataBuilder& builder, const TracingData& tracing) {
  Bytes formats = testing::encode_tracing_data(tracing, builder.order());
  formats.resize((formats.size() + 7) / 8 * 8);
  ByteWriter size(builder.order());
  builder.add_record(66, 0, size.u32(static_cast<std::uint32_t>(formats.size())).zeros(4).take());
  return builder.add_bytes(formats);
}

/// What perf writes rarely, or never.
std::vector<PerfDataBuilder> rare_recordings(ByteOrder order) {
  std::vector<PerfDataBuilder> builders;
  for (const auto& [type, body] : describing_records(order)) {
    auto builder = pings(order, {1, 2});
    builder.add_record(type, 0, body).add_sample(0, testing::ping(order, {1, 200, 0}));
    builders.push_back(builder);
    builders.push_back(builder.compress(RecordType::kCompressed));
  }
  for (const std::uint32_t commit_size : {4U, 8U}) {
    auto tracing = cut(testing::kernel(order));
    tracing.header_page = testing::header_page(commit_size);
    auto builder = pings(order, {1});
    add_formats(builder, tracing).add_sample(0, testing::ping(order, {1, 200, 0}));
    builders.push_back(builder);
  }
  for (const std::uint32_t size : {95U, 96U}) {
    auto attr = testing::tracepoint(testing::kPing, {1}, "test:ping");
    attr.size = size;
    attr.clockid = 1;
    builders.emplace_back(order).set_tracing(cut(testing::kernel(order))).add_attr(attr);
    builders.back().add_sample(0, testing::ping(order, {1, 100, 0}));
  }
  for (const std::uint64_t shared : {9U, 70'000U}) {
    auto builder = pings(order, {1, shared});
    builder.add_attr(testing::tracepoint(testing::kWakeup, {2, shared}, "sched:sched_wakeup"));
    builders.push_back(builder);
  }
  for (const auto missing :
       {perfdata::kSampleRaw, perfdata::kSampleTime, perfdata::kSampleCpu, perfdata::kSampleTid}) {
    auto builder = pings(order, {1});
    auto attr = testing::tracepoint(testing::kWakeup, {2}, "sched:sched_wakeup");
    attr.sample_type &= ~std::uint64_t{missing};
    builder.add_attr(attr).add_sample(1, testing::ping(order, {2, 200, 1}));
    builders.push_back(builder);
  }
  builders.push_back(pings(order, {1, 2, 3}));
  builders.back().set_feature(Feature::kSampleTime, ByteWriter(order).u64(101).u64(103).take());
  // More than is decompressed at once.
  constexpr std::uint32_t kMmap = 1;
  builders.push_back(pings(order, {1}));
  for (int i = 0; i < 6; ++i) builders.back().add_record(kMmap, 0, Bytes(60'000));
  builders.back().add_sample(0, testing::ping(order, {1, 200, 0}));
  builders.back().compress(RecordType::kCompressed, 1U << 20U);
  return builders;
}

/// A file that perf record was killed over: no size of the data, and nothing behind them.
Bytes unfinished_file(ByteOrder order, bool compressed) {
  PerfDataBuilder builder(order);
  builder.leave_out_event_names().add_attr(testing::tracepoint(testing::kPing, {1}));
  for (std::uint64_t time = 100; time < 104; ++time) {
    builder.add_sample(0, testing::ping(order, {1, time, 0}));
  }
  if (compressed) builder.compress(RecordType::kCompressed, 100);
  return testing::with_number(builder.build(), kDataSizeAt, 0, order);
}

/// Files whose headers are not as perf writes them today on most machines.
std::vector<Bytes> rare_files(ByteOrder order) {
  const Bytes usual = pings(order, {1, 2, 3}).build();
  Bytes swapped = usual;
  std::rotate(swapped.begin() + kFeaturesAt, swapped.begin() + kFeaturesAt + 4,
              swapped.begin() + kFeaturesAt + 8);
  return {testing::with_number(usual, kHeaderSizeAt, perfdata::kOldFileHeaderSize, order), swapped,
          unfinished_file(order, false), unfinished_file(order, true)};
}

/// Streams that end in a sample with all that is before RAW, which is cut at one place or another.
std::vector<Bytes> cut_samples(ByteOrder order) {
  auto attr = testing::tracepoint(testing::kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleRead | perfdata::kSampleCallchain;
  attr.read_format = perfdata::kReadGroup | perfdata::kReadId;
  PerfDataBuilder builder(order);
  builder.set_tracing(cut(testing::kernel(order))).add_attr(attr);
  const std::size_t begin = builder.build_stream().size();
  auto sample = testing::ping(order, {1, 100, 0});
  sample.read = {1, 5, 1};
  sample.callchain = {7};
  const Bytes whole = builder.add_sample(0, sample).build_stream();
  std::vector<Bytes> streams;
  constexpr std::size_t kStep = 6;  // into each field
  for (std::size_t end = begin + perfdata::kRecordHeaderSize; end < whole.size(); end += kStep) {
    streams.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end));
    store(streams.back().data() + begin + 6, static_cast<std::uint16_t>(end - begin), order);
  }
  return streams;
}

/// A file with a sample whose call chain has so many entries that their bytes are, in 64 bits,
/// those of the one that is there.
Bytes too_long_call_chain(ByteOrder order) {
  constexpr std::uint64_t kEntry = 0x7c7c7c7c7c7c7c7c;
  auto attr = testing::tracepoint(testing::kPing, {1}, "test:ping");
  attr.sample_type |= perfdata::kSampleCallchain;
  auto sample = testing::ping(order, {1, 100, 0});
  sample.callchain = {kEntry};
  PerfDataBuilder builder(order);
  builder.set_tracing(cut(testing::kernel(order))).add_attr(attr).add_sample(0, sample);
  Bytes file = builder.build();
  const Bytes chain = ByteWriter(order).u64(1).u64(kEntry).take();
  const auto found = std::search(file.begin(), file.end(), chain.begin(), chain.end());
  if (found == file.end()) throw std::runtime_error("a recording has no call chain");
  return testing::with_number(file, static_cast<std::size_t>(found - file.begin()),
                              1 + (std::uint64_t{1} << 61U), order);
}

/// What the reader refuses of a trace.dat: pages of a few bytes, pages at no multiple of their
/// size, a CPU that is there twice, and a section so large that the next one would be itself.
void add_refused_outputs(Seeds& seeds, const Bytes& file, const tracedat::Contents& contents) {
  const ByteOrder order = contents.format.order;
  constexpr std::size_t kPageSizeAt = 14;  // behind magic, version, byte order and size of a long
  const Bytes in_buffer =
      ByteWriter(order).c_string(contents.clock).u32(contents.format.page_size).take();
  const auto found = std::search(file.begin(), file.end(), in_buffer.begin(), in_buffer.end());
  if (found == file.end()) throw std::runtime_error("an output has no BUFFER");
  const auto in_buffer_at =
      static_cast<std::size_t>(found - file.begin()) + contents.clock.size() + 1;
  for (const std::uint32_t page_size : {8U, 16U}) {
    Bytes small = file;
    store(small.data() + kPageSizeAt, page_size, order);
    store(small.data() + in_buffer_at, page_size, order);
    seeds.add("trace_dat", small);
  }
  constexpr std::size_t kCpusAt = 4 + 4;  // behind the page size and the number of CPUs
  if (const auto& first = contents.ranges.front(); first.size > 0) {
    // In front of the first pages is nothing but zeros up to their multiple.
    constexpr std::uint64_t kEarlier = 8;
    Bytes misplaced = file;
    const auto pages = misplaced.begin() + static_cast<std::ptrdiff_t>(first.offset);
    std::rotate(pages - kEarlier, pages, pages + static_cast<std::ptrdiff_t>(first.size));
    store(misplaced.data() + in_buffer_at + kCpusAt + 4, first.offset - kEarlier, order);
    seeds.add("trace_dat", misplaced);
  }
  if (contents.ranges.size() > 1) {
    Bytes twice = file;
    constexpr std::size_t kSecondAt = kCpusAt + 20;  // behind one CPU
    store(twice.data() + in_buffer_at + kSecondAt, contents.ranges.front().cpu, order);
    seeds.add("trace_dat", twice);
  }
  constexpr std::uint16_t kUnknown = 99;
  ByteWriter with_section(order);
  with_section.bytes(file).u16(kUnknown).u16(0).u32(0).u64(
      0 - std::uint64_t{tracedat::kSectionHeaderSize});
  seeds.add("trace_dat", with_section.take());
}

/// A trace.dat and what it consists of.
void add_output(Seeds& seeds, const Bytes& recording) {
  static InputInMemory input;
  static OutputFolder folder;
  Options options;
  options.input = input.path_of(recording);
  options.output = folder.path("out.dat");
  options.overwrite = true;
  if (!convert(options)) return;  // cut where there is nothing to convert yet
  const Bytes file = folder.read("out.dat");
  seeds.add("trace_dat", file);
  const auto contents = tracedat::read_contents(testing::reader_of(file), file.size());
  if (!contents) throw std::runtime_error(contents.error().message);
  const auto& format = contents->format;
  const auto kind = static_cast<std::uint8_t>((format.order == ByteOrder::kBig ? 1 : 0) |
                                              (format.commit_size == 4 ? 2 : 0) |
                                              (format.page_size == 65536 ? 4U << 2U : 0));
  for (const auto& range : contents->ranges) {
    auto page = std::span(file).subspan(range.offset, format.page_size);
    while (!page.empty() && page.back() == std::byte{0}) page = page.first(page.size() - 1);
    seeds.add("ring_page", kind, page);
  }
  if (file.size() < 20'000) add_refused_outputs(seeds, file, *contents);
}

/// A page with one event, whose last two bytes begin another.
void add_page_that_ends_in_a_word(Seeds& seeds) {
  constexpr std::size_t kPageSize = 4096;
  constexpr std::size_t kHeader = 16;
  constexpr std::size_t kEvent = kPageSize - kHeader - 4;
  constexpr std::uint32_t kLargestShort = 28;
  for (const ByteOrder order : kOrders) {
    ByteWriter page(order);
    page.u64(1000).u64(kEvent + 2);
    page.u32(0).u32(kEvent - 4).zeros(kEvent - 8);
    page.u32(order == ByteOrder::kLittle ? kLargestShort : kLargestShort << 27U);
    seeds.add("ring_page", order == ByteOrder::kBig ? 1 : 0, page.data());
  }
}

/// One whose output is like that of others.
void add_unusual(Seeds& seeds, const Bytes& bytes, bool is_stream) {
  seeds.add(is_stream ? "perf_pipe" : "perf_file", bytes);
  seeds.add("convert_bytes", bytes);
}

void add_recording(Seeds& seeds, const Bytes& bytes, bool is_stream) {
  add_unusual(seeds, bytes, is_stream);
  add_output(seeds, bytes);
}

void add_golden(Seeds& seeds, const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".data") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto view = std::as_bytes(std::span(text));
    const Bytes bytes(view.begin(), view.end());
    const auto start = perfdata::read_start(view.first(perfdata::kPipeHeaderSize));
    if (!start) throw std::runtime_error(start.error().message);
    const bool is_stream = start->is_stream;
    const Bytes small = is_stream ? cut_stream(bytes, start->order) : cut_file(bytes);
    // What is compressed may not be cut.
    constexpr std::size_t kLargestSeed = 20'000;
    if (small.size() < kLargestSeed) add_recording(seeds, small, is_stream);
  }
}

/// Two formats of sched_switch of which one has impossible fields, and the data of an event.
void add_two_formats(Seeds& seeds, ByteOrder order, const std::string& usual) {
  const Bytes data = testing::switch_payload(order, {1, "prev"}, {2, "next"});
  const std::string_view raw(reinterpret_cast<const char*>(data.data()), data.size());
  for (const std::string_view field : {"offset:24;\tsize:4;", "offset:56;\tsize:4;",
                                       "offset:8;\tsize:16;", "offset:40;\tsize:16;"}) {
    for (const std::string_view instead : {"offset:4294967290;\tsize:4;", "offset:60;\tsize:0;",
                                           "offset:4294967290;\tsize:0;", "offset:67;\tsize:1;"}) {
      std::string odd = usual;
      odd.replace(odd.find(field), field.size(), instead);
      seeds.add_text("cli_text", 3, fmt::format("{}{}{}{}{}", usual, '\0', odd, '\0', raw));
      seeds.add_text("cli_text", 3, fmt::format("{}{}{}{}{}", odd, '\0', usual, '\0', raw));
    }
  }
}

void add_texts(Seeds& seeds) {
  // The kinds are those of cli_text.
  using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)
  for (const auto text : {"\x00"
                          "1 init\n2 kthreadd\n900 two words\n"sv,
                          "\x01\x03\x10\x00\x01seven\x00\x20\x01\x02\x05\x30\x02\x07"sv}) {
    seeds.add_text("cli_text", 0, text);
  }
  const std::string span(16, '\x01');
  const std::string probes(32, '\x02');
  for (const std::string_view text :
       {"1.5,2.75", ",3", "5,", "1,2 3,4", "10%/2,10%/3", "0%-10%,30%-40%", "10%", "33.3%/1"}) {
    seeds.add_text("cli_text", 1, fmt::format("\x01{}{}{}", span, probes, text));
  }
  // All times that there are.
  const std::string whole_span = std::string(8, '\0') + std::string(8, '\xff');
  seeds.add_text("cli_text", 1, fmt::format("\x01{}{}0%-100%", whole_span, probes));
  seeds.add_text("cli_text", 2, "\x03" + probes);
  for (const ByteOrder order : kOrders) {
    const auto tracing = testing::kernel(order);
    for (const auto& system : tracing.systems) {
      for (const auto& text : system.formats) seeds.add_text("cli_text", 3, text);
    }
    seeds.add_text("cli_text", 3, tracing.header_page);
    add_two_formats(seeds, order, tracing.systems[0].formats[0]);
    std::string texts;
    for (const auto& text : {tracing.header_page, tracing.header_event,
                             tracing.systems[0].formats[0], tracing.systems[0].formats[1]}) {
      texts += text + '\0';
    }
    const char order_byte = order == ByteOrder::kBig ? '\x01' : '\x00';
    // All files are there; or header_page, a format or printk_formats is a pipe.
    for (const char files : {'\x00', '\x04', '\x14', '\x44'}) {
      seeds.add_text("cli_text", 4, std::string({order_byte, '\0', files}) + texts);
    }
  }
}

/// The header's file, and two files of records, which are compressed or not.
void add_folder(Seeds& seeds, ByteOrder order, std::uint8_t choices, const Bytes& file,
                bool compressed) {
  ByteWriter folder(ByteOrder::kLittle);
  folder.u8(choices).u16(static_cast<std::uint16_t>(file.size())).bytes(file);
  for (const std::uint64_t cpu : {0U, 1U}) {
    PerfDataBuilder records(order);
    records.add_attr(testing::tracepoint(testing::kPing, {1}));
    const std::size_t begin = records.build_stream().size();
    records.add_sample(0, testing::ping(order, {1, 100 + cpu, static_cast<std::uint32_t>(cpu)}));
    if (compressed) records.compress(RecordType::kCompressed);
    const Bytes stream = records.build_stream();
    // A stream's end is its records.
    const auto tail = std::span(stream).subspan(begin);
    folder.u16(static_cast<std::uint16_t>(tail.size())).bytes(tail);
  }
  seeds.add("perf_folder", folder.take());
}

void add_folders(Seeds& seeds, ByteOrder order) {
  // The choices are those of perf_folder.
  constexpr std::uint8_t kTracingDir = 1;
  constexpr std::uint8_t kGap = 2;
  const Bytes empty = testing::ping_recording(order).build();
  for (const std::uint8_t choices : {std::uint8_t{0}, kTracingDir, kGap}) {
    add_folder(seeds, order, choices, empty, false);
    add_folder(seeds, order, choices, empty, true);
  }
  const Bytes whole = testing::eight_pings(order).build();
  for (const std::uint8_t choices : {std::uint8_t{0}, kTracingDir}) {
    add_folder(seeds, order, choices, whole, false);
  }
  for (const bool compressed : {false, true}) {
    add_folder(seeds, order, kTracingDir, unfinished_file(order, compressed), compressed);
  }
}

/// Streams with the data of tracing hardware, more than is read at once, behind records of so many
/// bytes: a source that is large is read by a thread.
void add_auxtrace(Seeds& seeds, ByteOrder order) {
  constexpr std::size_t kSize = 6'000;
  for (const std::size_t before : {0, 1, 3}) {
    // One says that it has more, which is behind a file's data.
    for (const std::size_t told : {kSize, kSize + 500}) {
      auto builder = testing::ping_recording(order);
      for (std::size_t i = 0; i < before; ++i) builder.add_record(10, 0, Bytes(4000));
      builder.add_record(71, 0, ByteWriter(order).u64(told).zeros(32).take());
      builder.add_bytes(Bytes(kSize)).add_sample(0, testing::ping(order, {1, 100, 0}));
      seeds.add("perf_pipe", builder.build_stream());
      seeds.add("perf_file", builder.build());
    }
  }
}

/// Events at the limits of the largest page, and CPUs at those of a trace.dat, after one event.
void add_limits(Seeds& seeds) {
  // What cpu_streams draws: the page's format, the budget, the place of the pages; then for each
  // event its CPU, how its time goes on and how far, and its size.
  constexpr std::uint8_t kLittle = 0;
  for (const char commit : {'\0', '\1'}) {
    const std::string begin = {'\0', commit, '\0', '\0', '\0', '\0', '\4', '\1', '\1'};
    for (char size = 0; size < 8; ++size) {
      seeds.add_text("cpu_streams", kLittle, begin + std::string({'\0', '\4', '\1', '\xfa', size}));
    }
    for (const char cpu : {'\xfa', '\xfb', '\xfc'}) {
      seeds.add_text("cpu_streams", kLittle, begin + std::string({cpu, '\4', '\1', '\1'}));
    }
  }
}

/// Each event has the whole file as its ids. Together these would be far more than that.
void add_shared_ids(Seeds& seeds, ByteOrder order) {
  constexpr std::size_t kAttrSize = 64;
  constexpr std::size_t kTableAt = 24;  // in the header: the offset of the table of events
  PerfDataBuilder builder(order);
  auto attr = testing::tracepoint(testing::kPing, {});
  attr.size = kAttrSize;
  for (int i = 0; i < 400; ++i) builder.add_attr(attr);
  Bytes file = builder.leave_out_event_names().build();
  const auto table = load<std::uint64_t>(file.data() + kTableAt, order);
  const auto size = load<std::uint64_t>(file.data() + kTableAt + 8, order);
  for (auto at = table; at < table + size; at += kAttrSize + 16) {
    store(file.data() + at + kAttrSize, std::uint64_t{0}, order);
    store(file.data() + at + kAttrSize + 8, std::uint64_t{file.size() / 8 * 8}, order);
  }
  seeds.add("perf_file", file);
}

/// For targets that draw from their input whatever it is.
void add_noise(Seeds& seeds, const std::string& target) {
  std::minstd_rand random(7);
  for (const std::size_t size : {16U, 64U, 200U, 600U, 1500U}) {
    Bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8U);
    seeds.add(target, bytes);
  }
}

void make_seeds(const fs::path& golden, const fs::path& out) {
  Seeds seeds(out);
  for (const ByteOrder order : kOrders) {
    add_shared_ids(seeds, order);
    for (const auto& builder : recordings(order)) {
      add_recording(seeds, builder.build(), false);
      add_recording(seeds, builder.build_stream(), true);
    }
    add_recording(seeds, testing::full_recording(order), false);
    for (const auto& builder : rare_recordings(order)) {
      add_unusual(seeds, builder.build(), false);
      add_unusual(seeds, builder.build_stream(), true);
    }
    for (const auto& file : rare_files(order)) add_unusual(seeds, file, false);
    add_unusual(seeds, too_long_call_chain(order), false);
    for (const auto& stream : cut_samples(order)) add_unusual(seeds, stream, true);
    add_folders(seeds, order);
    add_auxtrace(seeds, order);
    auto tracing = testing::kernel(order);
    seeds.add("tracing_data", testing::encode_tracing_data(tracing, order));
    tracing.cmdlines = "900 saved\n";
    tracing.kallsyms = "ffffffff81000000 T _text\n";
    tracing.printk = "0xffffffff82000000 : \"a text\"\n";
    seeds.add("tracing_data", testing::encode_tracing_data(tracing, order));
  }
  add_page_that_ends_in_a_word(seeds);
  add_golden(seeds, golden);
  add_texts(seeds);
  add_limits(seeds);
  for (const auto* target : {"convert", "cpu_streams", "aux_ring"}) add_noise(seeds, target);
}

}  // namespace
}  // namespace perf2dat::fuzz

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_seeds GOLDEN OUT\n", stderr);
    return 2;
  }
  try {
    perf2dat::fuzz::make_seeds(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
