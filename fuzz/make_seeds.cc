// SPDX-License-Identifier: LGPL-2.1-or-later
// make_seeds DIRECTORY: small recordings for the fuzzer to begin with, in both byte orders, with
// the records, fields and features that the converter knows.
#include <fstream>
#include <string>

#include "base/byte_writer.h"
#include "testing/perf_data_builder.h"

namespace {

using namespace perf2dat;            // NOLINT(google-build-using-namespace)
using namespace perf2dat::testing;   // NOLINT(google-build-using-namespace)
using namespace perf2dat::perfdata;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kSwitchId = 316;
constexpr std::uint64_t kAllFixedFields = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime |
                                          kSampleAddr | kSampleId | kSampleStreamId | kSampleCpu |
                                          kSamplePeriod | kSampleRaw;

constexpr auto kSwitchFormat = R"(name: sched_switch
ID: 316
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;

print fmt: "%s:%d ==> %s:%d", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid
)";

TracingData tracing(std::uint32_t commit_size) {
  TracingData data;
  data.header_page =
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;"
      "\toffset:8;\tsize:" +
      std::to_string(commit_size) + ";\tsigned:1;\n";
  data.header_event = "# compressed entry header\n";
  data.systems = {{"sched", {kSwitchFormat}}};
  data.cmdlines = "1 init\n";
  return data;
}

std::vector<std::byte> switch_data(ByteOrder order, std::uint32_t pid) {
  ByteWriter raw(order);
  raw.u16(kSwitchId).u8(0).u8(0).u32(pid);
  raw.c_string("prev").zeros(11).u32(pid).u32(120).u64(1);
  raw.c_string("next").zeros(11).u32(pid + 1).u32(120);
  return raw.take();
}

AttrSpec attr(std::uint64_t id, std::uint64_t sample_type) {
  AttrSpec spec;
  spec.config = kSwitchId;
  spec.sample_type = sample_type;
  spec.ids = {id};
  spec.name = "sched:sched_switch";
  return spec;
}

PerfDataBuilder recording(ByteOrder order, std::uint64_t sample_type, std::uint64_t read_format,
                          std::uint32_t commit_size) {
  PerfDataBuilder builder(order);
  auto first = attr(1, sample_type);
  first.read_format = read_format;
  auto second = attr(2, sample_type);
  second.read_format = read_format;
  second.type = 1;
  second.name = "cpu-clock";
  builder.add_attr(first).add_attr(second).set_tracing(tracing(commit_size)).set_cpus(2);
  builder.set_text_feature(Feature::kHostname, "host").set_text_feature(Feature::kArch, "x86_64");
  builder.add_comm(1, 1, "one").add_fork(2, 1, 2, 1, 5).add_lost(1, 3).add_lost_samples(2);
  for (std::uint32_t i = 0; i < 6; ++i) {
    SampleSpec sample;
    sample.id = i == 3 ? 2 : 1;
    sample.tid = 1 + i % 2;
    sample.cpu = i % 2;
    sample.time = i == 4 ? 12 : 10 + std::uint64_t{i} * 200'000'000;
    sample.raw = switch_data(order, 1);
    if ((sample_type & kSampleRead) != 0) sample.read = {1, 2, 3, 4, 5};
    if ((sample_type & kSampleCallchain) != 0) sample.callchain = {0xffffffff81000000, 7};
    builder.add_sample(i == 3 ? 1 : 0, sample);
    if (i == 2) builder.add_finished_round();
  }
  return builder;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int number = 0;
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const auto usual = AttrSpec().sample_type;
    for (const auto& builder :
         {recording(order, usual, kReadId, 8), recording(order, kAllFixedFields, 0, 4),
          recording(order, usual | kSampleCallchain, kReadId, 8),
          recording(order, usual | kSampleRead,
                    kReadTimeEnabled | kReadTimeRunning | kReadId | kReadLost, 8),
          recording(order, usual | kSampleRead, kReadGroup | kReadId, 8)}) {
      const auto bytes = builder.build();
      std::ofstream out(std::string(argv[1]) + "/seed-" + std::to_string(number++),
                        std::ios::binary);
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
      if (!out.flush()) return 1;
    }
  }
  return 0;
}
