// SPDX-License-Identifier: LGPL-2.1-or-later
// The pieces of a conversion one by one: decoding a sample, appending to a page, decompressing.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "base/byte_writer.h"
#include "perfdata/decompressor.h"
#include "perfdata/sample.h"
#include "testing/perf_data_builder.h"
#include "tracedat/ring_page.h"

namespace perf2dat {
namespace {

constexpr std::size_t kPayload = 68;  // of sched_switch

/// A sample's body as perf record -a writes it for a tracepoint.
std::vector<std::byte> sample_body(ByteOrder order) {
  ByteWriter body(order);
  body.u64(7).u64(0xffffffff81000000).u32(42).u32(42).u64(123'456'789).u32(1).u32(0).u64(1);
  body.u32(kPayload).zeros(kPayload);
  return body.take();
}

void decode_sample(benchmark::State& state, ByteOrder order) {
  perfdata::Attr attr;
  attr.sample_type = testing::AttrSpec().sample_type;
  const perfdata::SampleLayout layout(attr, order);
  const auto body = sample_body(order);
  for (auto _ : state) {
    perfdata::Sample sample;
    benchmark::DoNotOptimize(layout.decode(body, sample));
    benchmark::DoNotOptimize(sample);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK_CAPTURE(decode_sample, own_order, kHostOrder);
BENCHMARK_CAPTURE(decode_sample, other_order, other(kHostOrder));

void append_to_page(benchmark::State& state, ByteOrder order) {
  tracedat::PageFormat format;
  format.order = order;
  tracedat::PagePacker packer(format);
  const std::vector<std::byte> payload(kPayload);
  std::vector<std::byte> pages;
  std::uint64_t time = 0;
  for (auto _ : state) {
    const tracedat::RingEvent event{time += 1000, payload, 0};
    if (packer.append(event)) continue;
    packer.finish(pages);
    benchmark::DoNotOptimize(pages.data());
    pages.clear();
    packer.append(event);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kPayload));
}
BENCHMARK_CAPTURE(append_to_page, own_order, kHostOrder);
BENCHMARK_CAPTURE(append_to_page, other_order, other(kHostOrder));

/// Compressed records of samples, as perf record -z writes them.
void decompress(benchmark::State& state) {
  testing::PerfDataBuilder builder(kHostOrder);
  builder.add_attr({});
  testing::SampleSpec sample;
  std::size_t plain = 0;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    sample.time = 1000ULL * i;
    sample.tid = i % 17;
    sample.raw.assign(kPayload, std::byte{static_cast<unsigned char>(i % 251)});
    builder.add_sample(0, sample);
    plain += sample_body(kHostOrder).size() + perfdata::kRecordHeaderSize;
  }
  builder.compress(perfdata::RecordType::kCompressed);
  const auto file = builder.build();
  // From the end of the header, ids and attrs on are the compressed records.
  constexpr std::size_t kDataAt = perfdata::kFileHeaderSize + 128 + 16;
  std::vector<std::byte> buffer(256U << 10U);
  for (auto _ : state) {
    perfdata::Decompressor decompressor;
    std::size_t done = 0;
    for (std::size_t at = kDataAt; done < plain;) {
      const std::size_t size = load<std::uint16_t>(file.data() + at + 6, kHostOrder);
      decompressor.feed(std::span(file).subspan(at + perfdata::kRecordHeaderSize,
                                                size - perfdata::kRecordHeaderSize));
      const auto got = decompressor.read(buffer);
      if (!got) state.SkipWithError(got.error().message.c_str());
      if (!got) return;
      done += *got;
      at += size;
    }
    benchmark::DoNotOptimize(buffer.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(plain));
}
BENCHMARK(decompress);

}  // namespace
}  // namespace perf2dat
