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
  constexpr std::size_t kDataSizeAt = 48;
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
}

void add_recording(Seeds& seeds, const Bytes& bytes, bool is_stream) {
  seeds.add(is_stream ? "perf_pipe" : "perf_file", bytes);
  seeds.add("convert_bytes", bytes);
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
  seeds.add_text("cli_text", 2, "\x03" + probes);
  for (const ByteOrder order : kOrders) {
    const auto tracing = testing::kernel(order);
    for (const auto& system : tracing.systems) {
      for (const auto& text : system.formats) seeds.add_text("cli_text", 3, text);
    }
    seeds.add_text("cli_text", 3, tracing.header_page);
    std::string tree = {order == ByteOrder::kBig ? '\x01' : '\x00', '\0', '\0'};
    for (const auto& text : {tracing.header_page, tracing.header_event,
                             tracing.systems[0].formats[0], tracing.systems[0].formats[1]}) {
      tree += text + '\0';
    }
    seeds.add_text("cli_text", 4, tree);
  }
}

/// The header's file, without records, and two files of them.
void add_folder(Seeds& seeds, ByteOrder order, std::uint8_t choices) {
  const auto whole = testing::eight_pings(order);
  auto header = testing::ping_recording(order);
  const Bytes file = (choices & 4U) == 0 ? header.build() : whole.build();
  ByteWriter folder(ByteOrder::kLittle);
  folder.u8(choices).u16(static_cast<std::uint16_t>(file.size())).bytes(file);
  for (const std::uint64_t cpu : {0U, 1U}) {
    PerfDataBuilder records(order);
    records.add_attr(testing::tracepoint(testing::kPing, {1}));
    records.add_sample(0, testing::ping(order, {1, 100 + cpu, static_cast<std::uint32_t>(cpu)}));
    const Bytes stream = records.build_stream();
    // A stream's end is its records.
    const auto tail = std::span(stream).last(std::min<std::size_t>(stream.size(), 80));
    folder.u16(static_cast<std::uint16_t>(tail.size())).bytes(tail);
  }
  seeds.add("perf_folder", folder.take());
}

/// A stream with the data of tracing hardware, more than is read at once.
void add_auxtrace(Seeds& seeds, ByteOrder order) {
  constexpr std::size_t kSize = 17'000;
  auto builder = testing::ping_recording(order);
  builder.add_record(71, 0, ByteWriter(order).u64(kSize).zeros(32).take()).add_bytes(Bytes(kSize));
  builder.add_sample(0, testing::ping(order, {1, 100, 0}));
  seeds.add("perf_pipe", builder.build_stream());
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
    for (const auto& builder : recordings(order)) {
      add_recording(seeds, builder.build(), false);
      add_recording(seeds, builder.build_stream(), true);
    }
    add_recording(seeds, testing::full_recording(order), false);
    for (const std::uint8_t choices : {0, 1, 2, 4, 5}) add_folder(seeds, order, choices);
    add_auxtrace(seeds, order);
    auto tracing = testing::kernel(order);
    seeds.add("tracing_data", testing::encode_tracing_data(tracing, order));
    tracing.cmdlines = "900 saved\n";
    tracing.kallsyms = "ffffffff81000000 T _text\n";
    tracing.printk = "0xffffffff82000000 : \"a text\"\n";
    seeds.add("tracing_data", testing::encode_tracing_data(tracing, order));
  }
  add_golden(seeds, golden);
  add_texts(seeds);
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
