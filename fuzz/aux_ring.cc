// SPDX-License-Identifier: LGPL-2.1-or-later
// The input is a list of commands to an AUX ring, whose cursors have 8, 16, 32 or 64 bits. The
// kernel's arithmetic agrees with a deque and with integers that do not wrap.
#include "aux_ring_cursors.h"
#include "aux_ring_model.h"
#include "property.h"

namespace perf2dat::fuzz {
namespace {

using props::AuxCommand;

AuxCommand draw_command(Draw& draw) {
  AuxCommand command;
  command.kind = static_cast<AuxCommand::Kind>(
      draw.below(static_cast<std::size_t>(AuxCommand::Kind::kJump) + 1));
  // Small numbers are enough for most, and leave room for more commands.
  const std::size_t wide = draw.below(3);
  command.first = wide > 0 ? draw.number<std::uint64_t>() : draw.byte();
  command.second = wide > 1 ? draw.number<std::uint64_t>() : draw.byte();
  return command;
}

template <typename Ring>
void run(Draw& draw) {
  using Cursor = typename Ring::Cursor;
  const auto page_size = draw.one_of<Cursor>({4, 16, 32});
  const auto nr_pages = draw.one_of<Cursor>({1, 2, 4});
  const auto size = static_cast<Cursor>(page_size * nr_pages);
  expect(Ring::aux_ring_size_valid(nr_pages, page_size), "the size is valid");
  const auto watermark = static_cast<Cursor>(1 + draw.below(size));
  props::AuxRingModel<Ring> model(page_size, nr_pages, watermark);
  while (!draw.empty()) model.run(draw_command(draw));
}

}  // namespace
}  // namespace perf2dat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perf2dat::fuzz;  // NOLINT(google-build-using-namespace)
  Draw draw(bytes_of(data, size));
  try {
    switch (draw.below(5)) {
      case 0:
        run<Ring8>(draw);
        break;
      case 1:
        run<Ring16>(draw);
        break;
      case 2:
        run<Ring32>(draw);
        break;
      case 3:
        run<Ring64>(draw);
        break;
      default:
        run<KernelRing>(draw);
    }
  } catch (const std::logic_error& difference) {
    expect(false, difference.what());
  }
  return 0;
}
