// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of AUX cursors (the kernel's own header) against a deque and integers that do not
// wrap.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "aux_ring_cursors.h"
#include "aux_ring_model.h"
#include "holds.h"

namespace perf2dat::props {
namespace {

rc::Gen<AuxCommand> any_command() {
  using Kind = AuxCommand::Kind;
  return rc::gen::apply(
      [](Kind kind, std::uint64_t first, std::uint64_t second) {
        return AuxCommand{kind, first, second};
      },
      rc::gen::weightedElement<Kind>({{6, Kind::kProduce},
                                      {1, Kind::kSkip},
                                      {1, Kind::kFill},
                                      {4, Kind::kCopy},
                                      {3, Kind::kConsume},
                                      {2, Kind::kDrain},
                                      {2, Kind::kAnyRange},
                                      {2, Kind::kAnyTail},
                                      {1, Kind::kJump}}),
      rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>());
}

template <typename Ring>
void agrees_with_deque() {
  using Cursor = typename Ring::Cursor;
  holds(
      [] {
        const auto page_size = *rc::gen::element<Cursor>(4, 16, 32);
        const auto nr_pages = *rc::gen::element<Cursor>(1, 2, 4);
        const auto size = static_cast<Cursor>(page_size * nr_pages);
        RC_ASSERT(Ring::aux_ring_size_valid(nr_pages, page_size));
        const auto watermark = *rc::gen::inRange<Cursor>(1, static_cast<Cursor>(size + 1));
        const auto commands = *rc::gen::container<std::vector<AuxCommand>>(any_command());
        AuxRingModel<Ring> model(page_size, nr_pages, watermark);
        for (const AuxCommand& command : commands) model.run(command);
        RC_CLASSIFY(model.met().full, "the ring is full");
        RC_CLASSIFY(model.met().head_wraps, "the head wraps");
        RC_CLASSIFY(model.met().copy_crosses_page, "a copy goes beyond a page");
        RC_CLASSIFY(model.met().copy_wraps, "a copy wraps");
      },
      {"the ring is full", "the head wraps", "a copy goes beyond a page", "a copy wraps"});
}

TEST(AuxRing, CursorsOf8BitsAgreeWithADeque) { agrees_with_deque<Ring8>(); }

TEST(AuxRing, CursorsOf16BitsAgreeWithADeque) { agrees_with_deque<Ring16>(); }

TEST(AuxRing, CursorsOf32BitsAgreeWithADeque) { agrees_with_deque<Ring32>(); }

TEST(AuxRing, CursorsOf64BitsAgreeWithADeque) { agrees_with_deque<Ring64>(); }

TEST(AuxRing, TheKernelsCursorsAgreeWithADeque) { agrees_with_deque<KernelRing>(); }

}  // namespace
}  // namespace perf2dat::props
