// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of tasks: whatever some of them are, libtracecmd finds those of all others.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "holds.h"
#include "testing/recordings.h"
#include "trace_cmd_judge.h"

namespace perf2dat::props {
namespace {

using testing::Bytes;

struct Named {
  std::uint32_t tid = 0;
  std::string comm;
};

std::ostream& operator<<(std::ostream& out, const Named& named) {
  return out << named.tid << ' ' << rc::toString(named.comm);
}

/// A name that trace-cmd shows as it is.
bool is_plain(const std::string& comm) {
  return !comm.empty() && comm.size() <= 15 &&
         std::all_of(comm.begin(), comm.end(),
                     [](unsigned char c) { return std::isgraph(c) != 0; });
}

rc::Gen<std::string> any_comm() {
  const auto bytes = rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(1, 256), [](int byte) { return static_cast<char>(byte); }));
  return rc::gen::weightedOneOf<std::string>(
      {{4, rc::gen::map(rc::gen::container<std::string>(rc::gen::inRange('!', '~')),
                        [](const std::string& text) { return text.substr(0, 15); })},
       {2, bytes},
       {3, rc::gen::element<std::string>(
               "", " ", "\n", "a\nb", "12 x", "\n7 forged", "\t", "#", "<...>", "sixteen-letters!",
               "much-longer-than-a-kernel-has", "b\xc3\xa4r", "\xff\xfe", " a", "a ")}});
}

TEST(Cmdlines, OthersNamesStandWhateverSomeAre) {
  holds(
      [] {
        const auto order = *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig);
        const auto names = *rc::gen::container<std::vector<Named>>(rc::gen::apply(
            [](std::uint32_t tid, std::string comm) {
              return Named{tid, std::move(comm)};
            },
            rc::gen::inRange<std::uint32_t>(1, 30), any_comm()));
        const bool as_stream = *rc::gen::arbitrary<bool>();

        testing::PerfDataBuilder builder = testing::ping_recording(order);
        std::map<std::uint32_t, std::string> last;
        for (const Named& named : names) {
          builder.add_comm(named.tid, named.tid, named.comm, testing::trailer_at(50, 1));
          RC_CLASSIFY(last.contains(named.tid), "a task is named twice");
          RC_CLASSIFY(named.comm.empty(), "an empty name");
          RC_CLASSIFY(named.comm.size() >= 16, "16 bytes or more");
          RC_CLASSIFY(named.comm.find('\n') != std::string::npos, "a line break");
          RC_CLASSIFY(named.comm.find('\xc3') != std::string::npos, "UTF-8");
          last[named.tid] = named.comm;
        }
        for (std::uint32_t tid = 1; tid < 30; ++tid) {
          builder.add_sample(0, testing::ping(order, {1, 100 + tid, tid % 3}, 0, tid));
        }

        const testing::Workshop workshop(as_stream ? builder.build_stream() : builder.build());
        testing::value_of(workshop.convert());
        std::vector<int> pids(30);
        for (int pid = 0; pid < 30; ++pid) pids[static_cast<std::size_t>(pid)] = pid;
        const auto judged = judge_file(workshop.directory().path("out.dat"), pids);
        RC_ASSERT(judged.has_value());
        RC_ASSERT(judged->events.size() == 29U);
        for (const auto& [tid, comm] : last) {
          if (is_plain(comm)) RC_ASSERT(judged->names[tid] == comm);
        }
        // Nobody is named who was not.
        for (std::uint32_t tid = 1; tid < 30; ++tid) {
          if (!last.contains(tid)) RC_ASSERT(judged->names[tid] == "<...>");
        }
      },
      {"a task is named twice", "an empty name", "16 bytes or more", "a line break", "UTF-8"});
}

}  // namespace
}  // namespace perf2dat::props
