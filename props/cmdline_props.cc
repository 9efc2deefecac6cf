// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of tasks: whatever they are, libtracecmd finds each.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "holds.h"
#include "testing/conversions.h"
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

constexpr const char* kUnknown = "<...>";  // what libtraceevent calls a task without a name

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// What trace-cmd shows of a task whose record has this name.
std::string shown(const std::string& comm) {
  // A NUL ends a name in the record, and the kernel's names have 15 bytes at most.
  std::string name = comm.substr(0, comm.find('\0')).substr(0, 15);
  // libtracecmd parses each line by "%d %m[^\n]". This skips space before a name, so one of nothing
  // else would be none, and a line break in a name would begin another line.
  const auto begin = std::find_if_not(name.begin(), name.end(), &is_space);
  if (begin == name.end()) return kUnknown;
  std::replace(name.begin(), name.end(), '\n', '?');
  name.erase(name.begin(), std::find_if_not(name.begin(), name.end(), &is_space));
  return name;
}

rc::Gen<std::string> any_comm() {
  const auto bytes = rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(0, 256), [](int byte) { return static_cast<char>(byte); }));
  return rc::gen::weightedOneOf<std::string>(
      {{4, rc::gen::map(rc::gen::container<std::string>(rc::gen::inRange('!', '~')),
                        [](const std::string& text) { return text.substr(0, 15); })},
       {2, bytes},
       {3, rc::gen::element<std::string>(
               "", " ", "\n", "a\nb", "12 x", "\n7 forged", "\t", "#", kUnknown, "fifteen-letters",
               "sixteen-letters!", "much-longer-than-a-kernel-has", "b\xc3\xa4r",
               "cut-in-utf-8:-\xc3\xa4", "\xff\xfe", " a", "a ", " \n a", "\v\f\r two words",
               std::string(15, ' ') + "x", std::string("nul\0here", 8))}});
}

TEST(Cmdlines, EachTaskHasItsLastName) {
  constexpr std::uint32_t kTasks = 30;
  holds(
      [] {
        const auto order = *rc::gen::element(ByteOrder::kLittle, ByteOrder::kBig);
        const auto names = *rc::gen::container<std::vector<Named>>(rc::gen::apply(
            [](std::uint32_t tid, std::string comm) {
              return Named{tid, std::move(comm)};
            },
            rc::gen::inRange<std::uint32_t>(1, kTasks), any_comm()));
        const bool as_stream = *rc::gen::arbitrary<bool>();

        testing::PerfDataBuilder builder = testing::ping_recording(order);
        std::map<std::uint32_t, std::string> last;
        for (const Named& named : names) {
          builder.add_comm(named.tid, named.tid, named.comm, testing::trailer_at(50, 1));
          RC_CLASSIFY(last.contains(named.tid), "a task is named twice");
          last[named.tid] = named.comm;
        }
        for (std::uint32_t tid = 1; tid < kTasks; ++tid) {
          builder.add_sample(0, testing::ping(order, {1, 100 + tid, tid % 3}, 0, tid));
        }
        // Of a task's names only the last is looked at.
        for (const auto& [tid, comm] : last) {
          RC_CLASSIFY(comm.empty(), "an empty name");
          RC_CLASSIFY(!comm.empty() && std::all_of(comm.begin(), comm.end(), &is_space),
                      "nothing but space");
          RC_CLASSIFY(comm.size() > 1 && is_space(comm.front()), "space in front");
          RC_CLASSIFY(comm.size() >= 16, "16 bytes or more");
          RC_CLASSIFY(comm.find('\n') != std::string::npos, "a line break");
          RC_CLASSIFY(comm.find('\0') != std::string::npos, "a NUL");
          RC_CLASSIFY(comm.find('\xc3') != std::string::npos, "UTF-8");
        }

        const testing::Workshop workshop(as_stream ? builder.build_stream() : builder.build());
        testing::value_of(workshop.convert());
        std::vector<int> pids(kTasks);
        std::iota(pids.begin(), pids.end(), 0);
        const auto judged = judge_file(workshop.directory().path("out.dat"), pids);
        RC_ASSERT(judged.has_value());
        RC_ASSERT(judged->events.size() == kTasks - 1U);
        for (std::uint32_t tid = 1; tid < kTasks; ++tid) {
          const auto named = last.find(tid);
          // Nobody is named who was not.
          const std::string expected = named == last.end() ? kUnknown : shown(named->second);
          RC_ASSERT(judged->names[tid] == expected);
        }
      },
      {"a task is named twice", "an empty name", "nothing but space", "space in front",
       "16 bytes or more", "a line break", "a NUL", "UTF-8"});
}

}  // namespace
}  // namespace perf2dat::props
