// SPDX-License-Identifier: LGPL-2.1-or-later
// What can't be converted: an error says why, and nothing is left behind. What is damaged or
// hostile ends the same way, or is converted into a valid file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/byte_orders.h"
#include "testing/conversions.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"
#include "testing/places.h"
#include "testing/recordings.h"

namespace perf2dat::testing {
namespace {

using perfdata::Feature;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BadInput {
  std::string_view name;
  /// Makes the input.
  std::function<Bytes(ByteOrder)> build;
  /// Parts of what the error must say.
  std::vector<std::string_view> says;
};

/// A recording of the event test:ping, asked for without some fields, that has a sample.
Bytes ping_without(std::uint64_t fields, ByteOrder order) {
  PerfDataBuilder builder(order);
  AttrSpec attr = tracepoint(kPing, {1}, "test:ping");
  attr.sample_type &= ~fields;
  builder.set_tracing(kernel(order)).add_attr(attr);
  return builder.add_sample(0, ping(order, {1, 100, 0})).build();
}

/// A recording with other formats than the made-up kernel's.
Bytes with_formats(ByteOrder order, const std::function<void(TracingData&)>& change) {
  TracingData tracing = kernel(order);
  change(tracing);
  PerfDataBuilder builder(order);
  builder.set_tracing(tracing).add_attr(tracepoint(kPing, {1}, "test:ping"));
  return builder.add_sample(0, ping(order, {1, 100, 0})).build();
}

void remove_all(std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word)) {
    text.replace(at, word.size(), "x");
  }
}

std::vector<BadInput> bad_inputs() {
  return {
      {"AnEmptyFile", [](ByteOrder) { return Bytes(); }, {"it is empty"}},
      {"AFileOfAnotherKind",
       [](ByteOrder) { return Bytes(5000, std::byte{'x'}); },
       {"not a perf.data file", "offset 0"}},
      {"AnUnfinishedRecording",
       [](ByteOrder order) { return with_number(full_recording(order), 48, 0, order); },
       {"killed before it finished", "--tracing-dir"}},
      {"AFileWhoseHeaderIsAStreams",
       [](ByteOrder order) { return with_number(full_recording(order), 8, 16, order); },
       {"none of its 0 events is a tracepoint"}},
      {"AHeaderOfAnUnknownSize",
       [](ByteOrder order) { return with_number(full_recording(order), 8, 80, order); },
       {"its header says that it has 80 bytes"}},
      {"AStreamOfAHeaderOnly",
       [](ByteOrder order) {
         Bytes bytes = eight_pings(order).build_stream();
         bytes.resize(16);
         return bytes;
       },
       {"none of its 0 events is a tracepoint"}},
      {"AStreamWithoutFormats",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         builder.add_attr(tracepoint(kPing, {1}, "test:ping"));
         return builder.add_sample(0, ping(order, {1, 100, 0})).build_stream();
       },
       {"no event formats", "--tracing-dir"}},
      {"AStreamWhoseFormatsAreCutOff",
       [](ByteOrder order) {
         Bytes bytes = ping_recording(order).build_stream();
         bytes.resize(bytes.size() - 100);
         return bytes;
       },
       {"bytes expected at offset 0x"}},
      {"AStreamWithoutSamples",
       [](ByteOrder order) { return ping_recording(order).build_stream(); },
       {"no samples of its tracepoints", "did not fire"}},
      {"ACompressedRecordThatIsNoZstd",
       [](ByteOrder order) {
         return ping_recording(order).add_record(81, 0, Bytes(100, std::byte{0xee})).build();
       },
       {"the compressed record at offset 0x", "damaged", "zstd"}},
      {"ACompressedRecordOfTheNewerKindThatIsNoZstd",
       [](ByteOrder order) {
         PerfDataBuilder builder = ping_recording(order);
         builder.add_sample(0, ping(order, {1, 100, 0}));
         ByteWriter body(order);
         body.u64(90).bytes(Bytes(96, std::byte{0xee}));
         return builder.add_record(83, 0, body.data()).build();
       },
       {"the compressed record at offset 0x", "damaged", "zstd"}},
      {"ACompressedRecordLargerThanItself",
       [](ByteOrder order) {
         return ping_recording(order).add_record(83, 0, Bytes(16, std::byte{1})).build();
       },
       {"a compressed record ends too early", "offset 0x"}},
      {"ACompressedRecordWithoutRecords",
       [](ByteOrder order) {
         return ping_recording(order)
             .add_bytes(Bytes(64))
             .compress(perfdata::RecordType::kCompressed)
             .build();
       },
       {"in the compressed record at offset 0x", "is no record"}},
      {"ACompressedRecordingThatEndsInsideARecord",
       [](ByteOrder order) {
         return eight_pings(order)
             .add_bytes(ByteWriter(order).u32(9).u16(0).u16(64).zeros(20).take())
             .compress(perfdata::RecordType::kCompressed2)
             .build();
       },
       {"the last compressed record at offset 0x", "ends inside a record"}},
      {"ARecordingWithoutFormats",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         builder.add_attr(tracepoint(kPing, {1}, "test:ping"));
         return builder.add_sample(0, ping(order, {1, 100, 0})).build();
       },
       {"no event formats", "--tracing-dir", "/sys/kernel/tracing"}},
      {"ARecordingWithoutFormatsAndTracepoints",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         return builder.add_attr(cpu_clock({1}))
             .add_sample(0, sample({1, 100, 0}, order, {}))
             .build();
       },
       {"none of its 1 events is a tracepoint", "perf record -e 'sched:*' -a"}},
      {"SamplesOfGuestsOnly",
       [](ByteOrder order) {
         ByteWriter index(order);
         index.u64(1).u64(1).zeros(24).u64(1234).u64(0);
         return ping_recording(order)
             .add_record(69, 0, index.data())
             .add_sample(0, ping(order, {1, 100, 0}))
             .build();
       },
       {"none of its 1 tracepoint samples is of the host", "virtual machine"}},
      {"ARecordingWithoutTracepoints",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         builder.set_tracing(kernel(order)).add_attr(cpu_clock({1})).add_attr(cpu_clock({2}));
         return builder.add_sample(0, sample({1, 100, 0}, order, {})).build();
       },
       {"none of its 2 events is a tracepoint", "perf record -e 'sched:*' -a"}},
      {"ARecordingWithoutEvents",
       [](ByteOrder order) {
         return PerfDataBuilder(order).set_tracing(kernel(order)).add_finished_round().build();
       },
       {"none of its 0 events is a tracepoint"}},
      {"TracepointsThatDidNotFire",
       [](ByteOrder order) {
         PerfDataBuilder builder = ping_recording(order);
         builder.add_attr(cpu_clock({2})).add_comm(5, 5, "five");
         return builder.add_sample(1, sample({2, 100, 0}, order, {})).build();
       },
       {"no samples of its tracepoints", "did not fire"}},
      {"SamplesOfUnknownEventsOnly",
       [](ByteOrder order) {
         PerfDataBuilder builder = ping_recording(order);
         builder.add_attr(tracepoint(kWakeup, {2}));
         return builder.add_sample(0, ping(order, {3, 100, 0})).build();
       },
       {"its 1 samples are of events that it does not describe"}},
      {"SamplesThatLackRawData",
       [](ByteOrder order) { return ping_without(perfdata::kSampleRaw, order); },
       {"none of its 1 tracepoint samples has raw data", "perf record -R"}},
      {"SamplesWithRawDataOfFourZeros",
       [](ByteOrder order) {
         return ping_recording(order)
             .add_sample(0, sample({1, 100, 0}, order, Bytes(4)))
             .add_sample(0, sample({1, 100, 0}, order, Bytes(4)))
             .build();
       },
       {"none of its 2 tracepoint samples has raw data", "perf record -R"}},
      {"SamplesWithoutATime",
       [](ByteOrder order) { return ping_without(perfdata::kSampleTime, order); },
       {"none of its 1 tracepoint samples tells its time", "perf record -T"}},
      {"SamplesWithoutACpu",
       [](ByteOrder order) { return ping_without(perfdata::kSampleCpu, order); },
       {"none of its 1 tracepoint samples tells its CPU", "perf record --sample-cpu"}},
      {"SamplesOfCpusThatNoTraceDatHolds",
       [](ByteOrder order) {
         return ping_recording(order).add_sample(0, ping(order, {1, 100, 65536})).build();
       },
       {"its 1 tracepoint samples", "CPU", "above 65535"}},
      {"EventsThatCanNotBeToldApart",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         AttrSpec attr = tracepoint(kPing, {1});
         attr.sample_type &= ~std::uint64_t{perfdata::kSampleIdentifier};
         builder.set_tracing(kernel(order)).add_attr(attr).add_attr(attr);
         return builder.add_sample(0, ping(order, {1, 100, 0})).build();
       },
       {"it has 2 events", "do not tell which one", "record with"}},
      {"FormatsWithoutCommonPid",
       [](ByteOrder order) {
         return with_formats(order, [](TracingData& tracing) {
           for (auto& system : tracing.systems) {
             for (auto& format : system.formats) remove_all(format, "common_pid");
           }
         });
       },
       {"do not describe common_pid"}},
      {"FormatsWhoseCommonPidHasTwoBytes",
       [](ByteOrder order) {
         return with_formats(order, [](TracingData& tracing) {
           tracing.systems = {
               {"a", {"name: b\nID: 400\n\tfield:short common_pid;\toffset:4;\tsize:2;\n"}}};
         });
       },
       {"do not describe common_pid as a number of 4 bytes"}},
      {"NoFormatsAtAll",
       [](ByteOrder order) {
         return with_formats(order, [](TracingData& tracing) { tracing.systems.clear(); });
       },
       {"do not describe common_pid"}},
      {"AHeaderPageWithoutCommit",
       [](ByteOrder order) {
         return with_formats(
             order, [](TracingData& tracing) { remove_all(tracing.header_page, "commit"); });
       },
       {"header_page does not describe commit"}},
      {"AHeaderPageWhoseCommitHasTwoBytes",
       [](ByteOrder order) {
         return with_formats(order,
                             [](TracingData& tracing) { tracing.header_page = header_page(2); });
       },
       {"header_page says that commit has 2 bytes"}},
      {"FormatsOfAnotherByteOrder",
       [](ByteOrder order) {
         PerfDataBuilder builder(order);
         builder.set_feature(Feature::kTracingData,
                             encode_tracing_data(kernel(other(order)), other(order)));
         builder.add_attr(tracepoint(kPing, {1}));
         return builder.add_sample(0, ping(order, {1, 100, 0})).build();
       },
       {"another byte order"}},
      {"ARecordSmallerThanItsHeader",
       [](ByteOrder order) {
         return ping_recording(order)
             .add_sample(0, ping(order, {1, 100, 0}))
             .add_bytes(ByteWriter(order).u32(9).u16(0).u16(7).take())
             .build();
       },
       {"the record at offset 0x", "7 bytes"}},
      {"ARecordBeyondTheEnd",
       [](ByteOrder order) {
         return ping_recording(order)
             .add_sample(0, ping(order, {1, 100, 0}))
             .add_bytes(ByteWriter(order).u32(9).u16(0).u16(64).zeros(48).take())
             .build();
       },
       {"the record of 64 bytes at offset 0x", "beyond the data's end"}},
      {"ASampleThatIsCutShort",
       [](ByteOrder order) { return ping_recording(order).add_record(9, 1, Bytes(40)).build(); },
       {"the sample at offset 0x", "40 bytes"}},
      {"ANameThatIsCutShort",
       [](ByteOrder order) { return ping_recording(order).add_record(3, 0, Bytes(8)).build(); },
       {"the record of a task's name", "offset 0x"}},
      {"AForkThatIsCutShort",
       [](ByteOrder order) { return ping_recording(order).add_record(7, 0, Bytes(8)).build(); },
       {"the record of a fork", "offset 0x"}},
      {"ALossThatIsCutShort",
       [](ByteOrder order) { return ping_recording(order).add_record(2, 0, Bytes(8)).build(); },
       {"the record of lost events", "offset 0x"}},
  };
}

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.name; }

class BadInputs : public ::testing::TestWithParam<BadInput> {};

INSTANTIATE_TEST_SUITE_P(Of, BadInputs, ::testing::ValuesIn(bad_inputs()),
                         [](const auto& input) { return std::string(input.param.name); });

TEST_P(BadInputs, AreAnErrorThatSaysWhyAndLeaveNothing) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const Workshop workshop(GetParam().build(order));
    const auto message = workshop.error();
    EXPECT_THAT(message, StartsWith(workshop.directory().path("in.data") + ": "));
    for (const auto part : GetParam().says) EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST_P(BadInputs, LeaveAnOutputThatIsThereAsItWas) {
  Workshop workshop(GetParam().build(kHostOrder));
  workshop.directory().write("out.dat", Bytes(10, std::byte{'o'}));
  workshop.options().overwrite = true;
  EXPECT_NE(workshop.error(), "");
}

TEST(NoInput, IsAnErrorThatNamesThePathAndWhatToDo) {
  Workshop workshop;
  const auto path = workshop.directory().path("missing");
  workshop.options().input = path;
  EXPECT_THAT(workshop.error(), AllOf(StartsWith(path + ": cannot open it: "),
                                      HasSubstr("No such file"), HasSubstr("perf record")));
  workshop.options().input = "";
  EXPECT_THAT(workshop.error(), HasSubstr("cannot open it"));
}

TEST(ADirectory, WithoutARecordingInItIsAnError) {
  Workshop workshop;
  const auto path = workshop.directory().path("recording");
  std::filesystem::create_directory(path);
  workshop.options().input = path;
  EXPECT_THAT(workshop.error(), AllOf(StartsWith(path + ": "), HasSubstr("No such file")));
  std::filesystem::create_directory(path + "/data");
  EXPECT_THAT(workshop.error(), HasSubstr("not a regular file"));
}

TEST(ADirectory, WithADamagedThreadsFileIsAnError) {
  Workshop workshop;
  const auto path = workshop.directory().path("recording");
  std::filesystem::create_directory(path);
  write_file(path + "/data", full_recording(kHostOrder));
  write_file(path + "/data.0", Bytes(20, std::byte{0xff}));
  workshop.options().input = path;
  EXPECT_THAT(workshop.error(), HasSubstr("beyond the data's end"));
}

TEST(AFifo, ThatGivesNothingIsAnError) {
  Workshop workshop;
  workshop.options().input = workshop.directory().path("fifo");
  const FifoWriter writer(workshop.options().input, {});
  EXPECT_THAT(workshop.error(), HasSubstr("it is empty"));
}

TEST(ADevice, IsAnError) {
  Workshop workshop;
  workshop.options().input = "/dev/null";
  EXPECT_THAT(workshop.error(), HasSubstr("it is empty"));
  workshop.options().input = "/dev/zero";
  EXPECT_THAT(workshop.error(), HasSubstr("not a perf.data file"));
}

TEST(ATracingDir, ThatIsNoneIsAnError) {
  PerfDataBuilder builder(kHostOrder);
  builder.add_attr(tracepoint(kPing, {1}));
  Workshop workshop(builder.add_sample(0, ping(kHostOrder, {1, 100, 0})).build());
  const auto path = workshop.directory().path("tracing");
  workshop.options().tracing_dir = path;
  EXPECT_THAT(workshop.error(), AllOf(HasSubstr(path), HasSubstr("events/header_page")));
  TracingData tracing = kernel(kHostOrder);
  tracing.systems.clear();
  write_tracing_dir(path, tracing);
  EXPECT_THAT(workshop.error(), AllOf(HasSubstr(path), HasSubstr("no events/*/*/format")));
}

class Damage : public ByteOrderTest {
 protected:
  Damage() { workshop_.options().input = recording_.path(); }

  ByteOrder order() const { return GetParam(); }

  /// Converts it into a valid file, which is removed, or fails and leaves nothing.
  bool converts_or_fails(const Bytes& bytes) const {
    recording_.write(bytes);
    const auto summary = workshop_.convert();
    if (!summary) {
      EXPECT_NE(error_of(summary), "");
      EXPECT_FALSE(std::filesystem::exists(workshop_.directory().path("out.dat")));
      return false;
    }
    EXPECT_TRUE(summary->checked);
    EXPECT_EQ(workshop_.output().events.size(), summary->converted);
    std::filesystem::remove(workshop_.directory().path("out.dat"));
    return true;
  }

  void expect_nothing_is_left() const {
    EXPECT_THAT(workshop_.directory().entries(), ::testing::ElementsAre(::testing::Key("in.data")));
  }

 private:
  MemoryFile recording_;
  Workshop workshop_;
};

INSTANTIATE_TEST_SUITE_P(Orders, Damage, both_orders(), order_name);

TEST_P(Damage, ByTruncationAtAnyByteIsAnError) {
  Bytes bytes = full_recording(order());
  EXPECT_TRUE(converts_or_fails(bytes));
  while (!bytes.empty()) {
    bytes.resize(bytes.size() - std::min(bytes.size(), places_step()));
    EXPECT_FALSE(converts_or_fails(bytes)) << bytes.size();
  }
  expect_nothing_is_left();
}

TEST_P(Damage, OfTheHeadersNumbersIsAnErrorOrHarmless) {
  const Bytes good = full_recording(order());
  const std::uint64_t size = good.size();
  const auto number = [&](std::size_t at) {
    return load<std::uint64_t>(good.data() + at, order());
  };
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < perfdata::kFileHeaderSize; at += 8) places.push_back(at);
  const auto table = static_cast<std::size_t>(number(40) + number(48));  // of 7 features
  constexpr std::size_t kNumbersInTable = 14;
  for (std::size_t i = 0; i < kNumbersInTable; ++i) places.push_back(table + i * 8);
  const auto attrs = static_cast<std::size_t>(number(24));
  for (std::size_t i = 0; i < number(32) / 8; ++i) places.push_back(attrs + i * 8);
  for (const std::size_t at : places) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, size - 1, size, size + 1, size - number(at),
          ~std::uint64_t{0}, ~std::uint64_t{0} - number(at), ~number(at) + 1,
          std::uint64_t{1} << 32U, std::uint64_t{1} << 63U}) {
      converts_or_fails(with_number(good, at, value, order()));
    }
  }
  expect_nothing_is_left();
}

TEST_P(Damage, OfAnyByteIsAnErrorOrHarmless) {
  Bytes bytes = full_recording(order());
  for (std::size_t at = 0; at < bytes.size(); at += places_step()) {
    for (const auto flipped : {std::byte{0xff}, std::byte{1}}) {
      bytes[at] ^= flipped;
      converts_or_fails(bytes);
      bytes[at] ^= flipped;
    }
  }
  expect_nothing_is_left();
}

/// Where a stream's records end, counted by its format alone, and how many are samples.
std::vector<std::pair<std::size_t, std::size_t>> record_ends(const Bytes& stream, ByteOrder order) {
  constexpr std::size_t kHeader = 16;
  std::vector<std::pair<std::size_t, std::size_t>> ends = {{kHeader, 0}};
  while (ends.back().first < stream.size()) {
    auto [at, samples] = ends.back();
    const std::byte* const record = stream.data() + at;
    const auto type = load<std::uint32_t>(record, order);
    at += load<std::uint16_t>(record + 6, order);
    if (type == 66) at += load<std::uint32_t>(record + 8, order);
    if (type == 9) ++samples;
    ends.emplace_back(at, samples);
  }
  return ends;
}

TEST_P(Damage, ByTruncationOfAStreamKeepsTheWholeRecordsBeforeAndWarns) {
  const Bytes whole = eight_pings(order()).build_stream();
  const auto events = convert_bytes(whole).output.events;
  const auto ends = record_ends(whole, order());
  ASSERT_EQ(ends.back().second, 8U);
  const MemoryFile recording;
  Workshop workshop;
  workshop.options().input = recording.path();
  auto last = ends.rbegin();
  for (std::size_t size = whole.size() + 1; size-- > 0;) {
    recording.write(std::span(whole).first(size));
    while (last != ends.rend() && last->first > size) ++last;
    const std::size_t samples = last == ends.rend() ? 0 : last->second;
    if (samples == 0) {
      EXPECT_NE(workshop.error(), "") << size;
      continue;
    }
    const auto [summary, output] = convert_in(workshop);
    std::filesystem::remove(workshop.directory().path("out.dat"));
    EXPECT_EQ(summary.converted, samples) << size;
    EXPECT_TRUE(
        std::includes(events.begin(), events.end(), output.events.begin(), output.events.end()))
        << size;
    if (last->first == size) {
      EXPECT_THAT(summary.warnings, ::testing::IsEmpty()) << size;
    } else {
      EXPECT_THAT(
          summary.warnings,
          ::testing::ElementsAre(HasSubstr(fmt::format("the last {} bytes, from offset {:#x} on,",
                                                       size - last->first, last->first))));
    }
  }
}

TEST_P(Damage, ByTruncationOfACompressedStreamKeepsTheWholeRecordsBefore) {
  for (const auto type : {perfdata::RecordType::kCompressed, perfdata::RecordType::kCompressed2}) {
    const Bytes whole = eight_pings(order()).compress(type, 100).build_stream();
    const MemoryFile recording;
    Workshop workshop;
    workshop.options().input = recording.path();
    std::vector<std::size_t> outer_ends;
    for (const auto& [end, samples] : record_ends(whole, order())) outer_ends.push_back(end);
    const auto events = convert_bytes(whole).output.events;
    std::uint64_t before = 8;
    for (std::size_t size = whole.size(); before > 0; --size) {
      recording.write(std::span(whole).first(size));
      const auto summary = workshop.convert();
      if (!summary) {
        EXPECT_NE(error_of(summary), "");
        break;
      }
      const auto output = workshop.output();
      std::filesystem::remove(workshop.directory().path("out.dat"));
      EXPECT_LE(summary->converted, before);
      EXPECT_EQ(summary->converted, output.events.size());
      EXPECT_TRUE(
          std::includes(events.begin(), events.end(), output.events.begin(), output.events.end()));
      const bool between = std::binary_search(outer_ends.begin(), outer_ends.end(), size);
      if (!between) {
        EXPECT_THAT(summary->warnings, ::testing::SizeIs(1)) << size;
      }
      before = summary->converted;
    }
    EXPECT_LE(before, 2U) << "the smallest pieces were not tried";
  }
}

TEST_P(Damage, OfAnyByteOfAStreamIsAnErrorOrHarmless) {
  for (Bytes bytes :
       {eight_pings(order()).build_stream(),
        eight_pings(order()).compress(perfdata::RecordType::kCompressed2, 100).build_stream()}) {
    for (std::size_t at = 0; at < bytes.size(); at += places_step()) {
      for (const auto flipped : {std::byte{0xff}, std::byte{1}}) {
        bytes[at] ^= flipped;
        converts_or_fails(bytes);
        bytes[at] ^= flipped;
      }
    }
  }
  expect_nothing_is_left();
}

TEST(ARealRecording, CutShortIsAnError) {
  const Bytes bytes = read_file(GOLDEN_DIR "/x86_64/raw-syscalls.data");
  const MemoryFile recording;
  Workshop workshop;
  workshop.options().input = recording.path();
  for (std::size_t size = 0; size < bytes.size(); size += 1009) {
    recording.write(std::span(bytes).first(size));
    EXPECT_NE(workshop.error(), "");
  }
  recording.write(std::span(bytes).first(bytes.size() - 1));
  EXPECT_THAT(workshop.error(), HasSubstr("truncated"));
}

class HostileFiles : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  ByteWriter writer() const { return ByteWriter(order()); }

  std::string error(const PerfDataBuilder& builder) const {
    const Workshop workshop(builder.build());
    const MemoryLimit limit(16U << 20U);
    return workshop.error();
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, HostileFiles, both_orders(), order_name);

TEST_P(HostileFiles, WithHugeCountsNeedNoMemory) {
  constexpr std::uint32_t kMany = 0xfffffff8;
  const auto pings = [&] { return ping_recording(order()); };
  AttrSpec group = tracepoint(kPing, {2});
  group.sample_type |= perfdata::kSampleRead | perfdata::kSampleCallchain;
  group.read_format = perfdata::kReadGroup;
  const auto sample_with = [&](const ByteWriter& rest) {
    ByteWriter body = writer();
    body.u64(2).zeros(40).bytes(rest.data());
    return pings().add_attr(group).add_record(9, 1, body.data());
  };
  const auto feature = [&](Feature which, const ByteWriter& content) {
    return PerfDataBuilder(order())
        .leave_out_event_names()
        .add_attr(tracepoint(kPing, {1}))
        .add_finished_round()
        .set_feature(which, content.data());
  };
  const auto formats = [&] {
    ByteWriter out = writer();
    out.text(std::string_view("\x17\x08\x44tracing", 10)).c_string("0.5");
    out.u8(order() == ByteOrder::kBig ? 1 : 0).u8(8).u32(4096).c_string("header_page");
    return out;
  };
  const auto systems = [&] {
    return formats().u64(0).c_string("header_event").u64(0).u32(0).u32(kMany);
  };
  for (const auto& builder : {
           feature(Feature::kHostname, writer().u32(kMany)),
           feature(Feature::kEventDesc, writer().u32(kMany).u32(kMany)),
           feature(Feature::kEventDesc, writer().u32(kMany).u32(0).zeros(64)),
           feature(Feature::kEventDesc, writer().u32(1).u32(0).u32(kMany).u32(0)),
           feature(Feature::kTracingData, formats().u64(1ULL << 62U)),
           feature(Feature::kTracingData, systems()),
           feature(Feature::kTracingData, systems().c_string("a").u32(kMany).u64(0)),
           feature(Feature::kTracingData, systems().c_string("a").u32(0).c_string("").u32(0)),
           sample_with(writer().u64(kMany)),
           sample_with(writer().u64(1ULL << 61U).zeros(64)),
           sample_with(writer().u64(0).u64(1ULL << 61U)),
           sample_with(writer().u64(0).u64(0).u32(kMany)),
           pings().add_record(71, 0, writer().u64(~0ULL).data()),
           pings().add_record(69, 0, writer().u64(kMany).zeros(64).data()),
           pings().add_record(83, 0, writer().u64(~0ULL).zeros(64).data()),
       }) {
    EXPECT_NE(error(builder), "");
  }
}

TEST_P(HostileFiles, ThatAreStreamsWithHugeCountsNeedNoMemory) {
  constexpr std::uint32_t kMany = 0xfffffff8;
  const PerfDataBuilder begin = PerfDataBuilder(order()).add_attr(tracepoint(kPing, {1}));
  for (PerfDataBuilder builder : {
           PerfDataBuilder(begin).add_record(66, 0, writer().u32(kMany).u32(0).data()),
           PerfDataBuilder(begin).add_record(80, 0, writer().u64(12).u32(kMany).u32(kMany).data()),
           PerfDataBuilder(begin).add_record(80, 0, writer().u64(3).u32(kMany).data()),
           PerfDataBuilder(begin).add_record(69, 0, writer().u64(~0ULL).zeros(64).data()),
       }) {
    const Workshop workshop(builder.build_stream());
    const MemoryLimit limit(16U << 20U);
    EXPECT_NE(workshop.error(), "");
  }
}

TEST_P(HostileFiles, WithMuchInLittleNeedNoMemory) {
  PerfDataBuilder builder = ping_recording(order());
  for (unsigned i = 0; i < 1000; ++i) builder.add_record(10, 0, Bytes(60000));
  builder.add_sample(0, ping(order(), {1, 100, 0}));
  const Bytes bytes = builder.compress(perfdata::RecordType::kCompressed2, 1U << 20U).build();
  EXPECT_LT(bytes.size(), 1U << 20U);
  const Workshop workshop(bytes);
  const MemoryLimit limit(16U << 20U);
  EXPECT_EQ(value_of(workshop.convert()).converted, 1U);
}

TEST_P(HostileFiles, WithIdsThatAreMoreThanTheFileNeedNoMemory) {
  const Bytes good = ping_recording(order()).add_finished_round().build();
  const auto attrs = load<std::uint64_t>(good.data() + 24, order());
  for (const std::uint64_t size : {1ULL << 40U, 1ULL << 62U, ~0ULL - 7}) {
    const Workshop workshop(with_number(good, attrs + 128 + 8, size, order()));
    const MemoryLimit limit(16U << 20U);
    EXPECT_THAT(workshop.error(), HasSubstr("the ids of an event"));
  }
}

// A hash table of the C++ library has as many buckets, at some time, and its hash of a number is
// the number.
TEST_P(HostileFiles, WithIdsThatWouldShareABucketConvert) {
  auto attr = tracepoint(kPing, {1}, "test:ping");
  for (std::uint64_t i = 1; i < 700'000; ++i) attr.ids.push_back(i * 712'697);
  PerfDataBuilder builder(order());
  builder.set_tracing(kernel(order())).add_attr(attr);
  builder.add_attr(tracepoint(kPing, {2}, "test:ping"));
  builder.add_sample(0, sample({1, 100, 0}, order(), ping_payload(order(), 1, 1)));
  EXPECT_EQ(value_of(Workshop(builder.build()).convert()).converted, 1U);
}

TEST_P(HostileFiles, ThatDescribeTheirEventsOnAndOnAreGivenUp) {
  PerfDataBuilder builder = ping_recording(order());
  constexpr std::uint64_t kName = 2;
  for (int i = 0; i < 1100; ++i) {
    ByteWriter update(order());
    update.u64(kName).u64(1).text(i % 2 == 0 ? "one\0\0\0\0" : "another");
    builder.add_record(78, 0, update.align(8).take()).add_finished_round();
  }
  builder.add_sample(0, sample({1, 100, 0}, order(), ping_payload(order(), 1, 1)));
  EXPECT_THAT(Workshop(builder.build_stream()).error(), HasSubstr("anew more than 1000 times"));
}

TEST_P(HostileFiles, ThatSayTheSameOfTheirEventsOnAndOnConvert) {
  PerfDataBuilder builder = ping_recording(order());
  for (int i = 0; i < 1100; ++i) {
    builder.add_record(69, 0, ByteWriter(order()).u64(1).u64(1).zeros(24 + 16).take());
    builder.add_finished_round();
  }
  builder.add_sample(0, sample({1, 100, 0}, order(), ping_payload(order(), 1, 1)));
  EXPECT_EQ(value_of(Workshop(builder.build_stream()).convert()).converted, 1U);
}

TEST_P(HostileFiles, WhosePagesChangeAmongTheirSamplesAreRefused) {
  PerfDataBuilder builder = ping_recording(order());
  builder.add_sample(0, sample({1, 100, 0}, order(), ping_payload(order(), 1, 1)));
  TracingData changed = kernel(order());
  changed.header_page = header_page(4);
  Bytes formats = encode_tracing_data(changed, order());
  formats.resize((formats.size() + 7) / 8 * 8);
  const auto size = static_cast<std::uint32_t>(formats.size());
  builder.add_record(66, 0, ByteWriter(order()).u32(size).u32(0).take()).add_bytes(formats);
  builder.add_sample(0, sample({1, 200, 0}, order(), ping_payload(order(), 1, 1)));
  EXPECT_THAT(Workshop(builder.build_stream()).error(), HasSubstr("change among its samples"));
}

TEST_P(HostileFiles, WithALongNameOfASystemDoNotMultiplyIt) {
  TracingData tracing = kernel(order());
  tracing.systems.push_back({std::string(1000000, 's'), {}});
  for (std::uint32_t id = 1000; id < 6000; ++id) {
    tracing.systems.back().formats.push_back(fmt::format("name: n\nID: {}\n", id));
  }
  PerfDataBuilder builder(order());
  builder.set_tracing(tracing).leave_out_event_names().add_attr(tracepoint(1000, {1}));
  builder.add_sample(0, sample({1, 100, 0}, order(), Bytes(12)));
  const Workshop workshop(builder.add_sample(0, sample({1, 100, 0}, order(), {})).build());
  const MemoryLimit limit(64U << 20U);
  const auto summary = value_of(workshop.convert());
  EXPECT_LT(summary.left_out.at(0).event.size(), 1000U);
}

}  // namespace
}  // namespace perf2dat::testing
