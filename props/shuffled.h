// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws orders.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace perf2dat::props {

/// The same in another order, each as likely whatever the size of the case. It does not shrink: an
/// order is no simpler than another.
template <typename T>
rc::Gen<std::vector<T>> shuffled(std::vector<T> from) {
  return [from = std::move(from)](const rc::Random& random, int /*size*/) {
    rc::Random next = random;
    std::vector<T> drawn = from;
    for (std::size_t left = drawn.size(); left > 1; --left) {
      std::swap(drawn[left - 1], drawn[static_cast<std::size_t>(next.next() % left)]);
    }
    return rc::shrinkable::just(std::move(drawn));
  };
}

}  // namespace perf2dat::props
