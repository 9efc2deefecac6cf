// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is the block of event formats that perf stores. What is read from it is written, and
// read again as the same: as perf's block, and as the sections of a trace.dat.
#include "perfdata/tracing_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

void write_formats(ByteWriter& out, const std::vector<std::string>& formats) {
  out.u32(static_cast<std::uint32_t>(formats.size()));
  for (const auto& text : formats) out.u64(text.size()).text(text);
}

/// What trace-cmd.dat.v7(5) says of the sections.
std::map<tracedat::SectionId, std::vector<std::byte>> sections_of(const TracingData& tracing) {
  using tracedat::SectionId;
  const auto section = [&](const auto& write) {
    ByteWriter out(tracing.order);
    write(out);
    return out.take();
  };
  const auto text_section = [&](const std::string& text) {
    return section(
        [&](ByteWriter& out) { out.u32(static_cast<std::uint32_t>(text.size())).text(text); });
  };
  return {
      {SectionId::kHeaderInfo, section([&](ByteWriter& out) {
         out.c_string("header_page").u64(tracing.header_page.size()).text(tracing.header_page);
         out.c_string("header_event").u64(tracing.header_event.size()).text(tracing.header_event);
       })},
      {SectionId::kFtraceFormats,
       section([&](ByteWriter& out) { write_formats(out, tracing.ftrace_formats); })},
      {SectionId::kEventFormats, section([&](ByteWriter& out) {
         out.u32(static_cast<std::uint32_t>(tracing.systems.size()));
         for (const auto& system : tracing.systems) {
           write_formats(out.c_string(system.name), system.formats);
         }
       })},
      {SectionId::kKallsyms, text_section(tracing.kallsyms)},
      {SectionId::kPrintk, text_section(tracing.printk)}};
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
  for (const auto& [id, content] : sections_of(tracing)) {
    fuzz::expect(contents->sections.at(id) == content,
                 fmt::format("section {} of the trace.dat is whole", static_cast<unsigned>(id)));
  }
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
