// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is the block of event formats that perf stores. What is read from it is written, and
// read again as the same: as perf's block, and as the sections of a trace.dat.
#include "perfdata/tracing_data.h"

#include <algorithm>

#include "model/event_format.h"
#include "property.h"
#include "testing/perf_data_builder.h"
#include "testing/read_at.h"
#include "tracedat/metadata.h"
#include "tracedat/reader.h"

namespace perf2dat {
namespace {

bool same(const TracingData& a, const TracingData& b) {
  const auto same_system = [](const EventSystem& left, const EventSystem& right) {
    return left.name == right.name && left.formats == right.formats;
  };
  return a.order == b.order && a.long_size == b.long_size && a.page_size == b.page_size &&
         a.header_page == b.header_page && a.header_event == b.header_event &&
         a.ftrace_formats == b.ftrace_formats && a.kallsyms == b.kallsyms && a.printk == b.printk &&
         a.cmdlines == b.cmdlines &&
         std::equal(a.systems.begin(), a.systems.end(), b.systems.begin(), b.systems.end(),
                    same_system);
}

std::vector<std::byte> formats_section(const TracingData& tracing) {
  ByteWriter out(tracing.order);
  out.u32(static_cast<std::uint32_t>(tracing.systems.size()));
  for (const auto& system : tracing.systems) {
    out.c_string(system.name).u32(static_cast<std::uint32_t>(system.formats.size()));
    for (const auto& text : system.formats) out.u64(text.size()).text(text);
  }
  return out.take();
}

void survives_trace_dat(const TracingData& tracing) {
  tracedat::PageFormat format;
  format.order = tracing.order;
  format.page_size = tracing.page_size;
  const auto commit_size = commit_size_of(tracing.header_page);
  if (!commit_size || format.page_size < tracedat::kSmallestPage ||
      format.page_size > tracedat::kLargestPage) {
    return;
  }
  format.commit_size = *commit_size;
  tracedat::Metadata metadata;
  metadata.tracing = tracing;
  metadata.cpu_count = 1;
  metadata.version = "fuzz";
  const auto file = tracedat::encode_metadata(metadata, format, {}, 0);
  const auto contents = tracedat::read_contents(testing::reader_of(file), file.size());
  fuzz::expect(contents.has_value(), contents ? "" : contents.error().message);
  fuzz::expect(
      contents->sections.at(tracedat::SectionId::kEventFormats) == formats_section(tracing),
      "the formats are in the trace.dat");
  fuzz::expect(contents->format.commit_size == format.commit_size, "commit's size is kept");
}

}  // namespace
}  // namespace perf2dat

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat;  // NOLINT(google-build-using-namespace)
  const auto input = fuzz::bytes_of(data, size);
  // Somewhere in a file: messages count from the file's begin.
  constexpr std::uint64_t kOrigin = 4096;
  const auto read = perfdata::parse_tracing_data(input, kOrigin);
  if (!read) {
    fuzz::expect(fuzz::offsets_are_inside(read.error().message, size, kOrigin),
                 read.error().message);
    return 0;
  }
  const auto written = testing::encode_tracing_data(*read, read->order);
  const auto again = perfdata::parse_tracing_data(written, 0);
  fuzz::expect(again.has_value(), again ? "" : again.error().message);
  fuzz::expect(same(*read, *again), "what is written is read again");
  survives_trace_dat(*read);
  return 0;
}
