// SPDX-License-Identifier: LGPL-2.1-or-later
// Recordings of a made-up kernel, and the events that a conversion must make of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "model/event_format.h"
#include "testing/payload_swap.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::testing {

using Bytes = std::vector<std::byte>;

// The events of the made-up kernel, by their ids in its formats.
inline constexpr std::uint32_t kSwitch = 316;
inline constexpr std::uint32_t kWakeup = 318;
inline constexpr std::uint32_t kPing = 400;

inline std::string event_format(std::string_view name, std::uint32_t id, std::string_view fields) {
  return fmt::format(
      "name: {}\nID: {}\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n{}\nprint fmt: \"\"\n",
      name, id, fields);
}

inline std::string header_page(std::uint32_t commit_size, std::uint32_t page_size = 4096) {
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      commit_size, 8 + commit_size, page_size - 8 - commit_size);
}

/// What the made-up kernel says of its events.
inline TracingData kernel(ByteOrder order) {
  TracingData tracing;
  tracing.order = order;
  tracing.header_page = header_page(8);
  tracing.header_event = "# compressed entry header\n";
  tracing.systems = {
      {"sched",
       {event_format("sched_switch", kSwitch,
                     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                     "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                     "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                     "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
                     "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
                     "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"),
        event_format("sched_wakeup", kWakeup,
                     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                     "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                     "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n")}},
      {"test",
       {event_format("ping", kPing, "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n")}}};
  return tracing;
}

struct Task {
  std::uint32_t pid;
  std::string_view comm;
};

inline ByteWriter begin_payload(ByteOrder order, std::uint32_t event, std::uint32_t pid) {
  ByteWriter out(order);
  out.u16(static_cast<std::uint16_t>(event)).u8(1).u8(2).u32(pid);
  return out;
}

inline void write_comm(ByteWriter& out, std::string_view comm) {
  out.text(comm).zeros(16 - comm.size());
}

inline Bytes switch_payload(ByteOrder order, Task prev, Task next) {
  ByteWriter out = begin_payload(order, kSwitch, prev.pid);
  write_comm(out, prev.comm);
  out.u32(prev.pid).u32(120).u64(1);
  write_comm(out, next.comm);
  out.u32(next.pid).u32(0xffffff88);
  return out.take();
}

inline Bytes wakeup_payload(ByteOrder order, std::uint32_t pid, Task woken) {
  ByteWriter out = begin_payload(order, kWakeup, pid);
  write_comm(out, woken.comm);
  return out.u32(woken.pid).u32(120).u32(3).take();
}

inline Bytes ping_payload(ByteOrder order, std::uint32_t pid, std::uint64_t value) {
  return begin_payload(order, kPing, pid).u64(value).take();
}

/// A tracepoint as perf record -a asks for it.
inline AttrSpec tracepoint(std::uint32_t id, std::vector<std::uint64_t> ids,
                           std::string_view name = {}) {
  AttrSpec attr;
  attr.config = id;
  attr.ids = std::move(ids);
  attr.name = name;
  return attr;
}

inline AttrSpec cpu_clock(std::vector<std::uint64_t> ids) {
  AttrSpec attr = tracepoint(0, std::move(ids), "cpu-clock");
  attr.type = 1;
  attr.sample_type &= ~std::uint64_t{perfdata::kSampleRaw};
  return attr;
}

struct At {
  std::uint64_t id;
  std::uint64_t time;
  std::uint32_t cpu;
};

/// A sample of the task that its data names.
inline SampleSpec sample(At at, ByteOrder order, Bytes raw) {
  SampleSpec spec;
  spec.id = at.id;
  spec.time = at.time;
  spec.cpu = at.cpu;
  if (raw.size() >= 8) spec.tid = load<std::uint32_t>(raw.data() + 4, order);
  spec.pid = spec.tid;
  spec.raw = std::move(raw);
  return spec;
}

inline SampleSpec ping(ByteOrder order, At at, std::uint64_t value = 0, std::uint32_t pid = 7) {
  return sample(at, order, ping_payload(order, pid, value));
}

inline TrailerSpec trailer_at(std::uint64_t time, std::uint64_t id) {
  TrailerSpec trailer;
  trailer.time = time;
  trailer.id = id;
  return trailer;
}

/// A recording of one event, test:ping, whose id is 1.
inline PerfDataBuilder ping_recording(ByteOrder order) {
  PerfDataBuilder builder(order);
  builder.set_tracing(kernel(order)).add_attr(tracepoint(kPing, {1}, "test:ping"));
  return builder;
}

/// A small recording that has something of everything.
inline Bytes full_recording(ByteOrder order) {
  PerfDataBuilder builder(order);
  TracingData tracing = kernel(order);
  tracing.kallsyms = "ffffffff81000000 T _text\n";
  tracing.printk = "0xffffffff82000000 : \"a text\"\n";
  tracing.cmdlines = "900 saved\n";
  builder.set_tracing(tracing).set_cpus(4);
  builder.set_text_feature(perfdata::Feature::kHostname, "box");
  builder.set_text_feature(perfdata::Feature::kOsRelease, "6.1.0");
  builder.set_text_feature(perfdata::Feature::kArch, "s390x");
  builder.set_feature(static_cast<perfdata::Feature>(2), Bytes(20));
  builder.add_attr(tracepoint(kSwitch, {1, 2}, "sched:sched_switch"));
  builder.add_attr(tracepoint(kWakeup, {3, 70000}, "sched:sched_wakeup"));
  builder.add_attr(cpu_clock({5}));
  builder.add_comm(10, 10, "ten", trailer_at(0, 0));
  builder.add_sample(
      0, sample({1, 1000, 0}, order, switch_payload(order, {10, "ten"}, {0, "swapper/0"})));
  builder.add_sample(
      0, sample({2, 900, 1}, order, switch_payload(order, {11, "eleven"}, {12, "twelve"})));
  builder.add_fork(13, 10, 13, 10, 1100, trailer_at(1100, 1));
  builder.add_finished_round();
  builder.add_sample(1, sample({70000, 950, 0}, order, wakeup_payload(order, 10, {12, "twelve"})));
  builder.add_sample(1, sample({3, 1UL << 40U, 1}, order, wakeup_payload(order, 13, {10, "ten"})));
  builder.add_sample(2, sample({5, 1300, 0}, order, {}));
  builder.add_sample(0, sample({99, 1300, 0}, order, Bytes(12)));
  builder.add_sample(0, sample({1, 1300, 0}, order, Bytes(4)));
  builder.add_lost(1, 5, trailer_at(1400, 1));
  builder.add_lost_samples(2, trailer_at(1400, 1));
  builder.add_record(71, 0, ByteWriter(order).u64(24).zeros(32).take());
  builder.add_bytes(Bytes(24, std::byte{0xff}));
  return builder.build();
}

/// A name and eight samples, to be built as a file or a stream.
inline PerfDataBuilder eight_pings(ByteOrder order) {
  PerfDataBuilder builder = ping_recording(order);
  builder.add_comm(7, 7, "seven", trailer_at(50, 1));
  for (std::uint64_t i = 0; i < 8; ++i) {
    builder.add_sample(0, ping(order, {1, 100 + i, static_cast<std::uint32_t>(i % 2)}, i));
  }
  return builder;
}

struct Event {
  std::uint32_t cpu = 0;
  std::uint64_t time = 0;
  Bytes payload;

  friend bool operator==(const Event&, const Event&) = default;
  friend auto operator<=>(const Event&, const Event&) = default;
};

/// A payload as a ring buffer holds a sample's: perf adds zeros to 4 bytes more than a multiple of
/// 8.
inline Event event_of(const SampleSpec& sample) {
  Event event{sample.cpu, sample.time, sample.raw};
  event.payload.resize((event.payload.size() + 4 + 7) / 8 * 8 - 4);
  return event;
}

inline std::vector<Event> events_of(const std::vector<SampleSpec>& samples) {
  std::vector<Event> events;
  events.reserve(samples.size());
  for (const auto& sample : samples) events.push_back(event_of(sample));
  return events;
}

/// As a trace.dat has them: by CPU and by time, those of equal time as they came.
inline std::vector<Event> sorted(std::vector<Event> events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.cpu, a.time) < std::tie(b.cpu, b.time);
  });
  return events;
}

/// Turns the events' data round, as another byte order's machine would have it.
inline void swap_events(std::vector<Event>& events, const TracingData& tracing, ByteOrder from) {
  std::map<std::uint32_t, EventFormat> formats;
  for (const auto& system : tracing.systems) {
    for (const auto& text : system.formats) {
      if (const auto format = parse_event_format(text)) formats[format->id] = *format;
    }
  }
  for (Event& event : events) {
    if (event.payload.size() < 2) continue;
    const auto found = formats.find(load<std::uint16_t>(event.payload.data(), from));
    if (found == formats.end()) continue;
    swap_payload(event.payload, found->second, from, tracing.long_size);
  }
}

inline Bytes with_number(Bytes bytes, std::size_t at, std::uint64_t value, ByteOrder order) {
  store(bytes.data() + at, value, order);
  return bytes;
}

}  // namespace perf2dat::testing
