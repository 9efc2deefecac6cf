// SPDX-License-Identifier: GPL-2.0-only
/// The kernel's arithmetic of cursors (kernel/events/aux_ring.h, the file itself), once for each
/// width of a cursor. A struct takes the place of what is the whole program in C: its members are
/// what the file has.
#pragma once

#include <cstdint>

// C's name of the type; not every compiler has it in C++.
#ifndef _Bool
#define _Bool bool  // NOLINT(bugprone-reserved-identifier)
#endif

struct Ring8 {
#define AUX_CURSOR std::uint8_t
#include "kernel/events/aux_ring.h"
  static constexpr aux_cursor_t kMaxSize = AUX_RING_MAX_SIZE;
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring16 {
#define AUX_CURSOR std::uint16_t
#include "kernel/events/aux_ring.h"
  static constexpr aux_cursor_t kMaxSize = AUX_RING_MAX_SIZE;
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring32 {
#define AUX_CURSOR std::uint32_t
#include "kernel/events/aux_ring.h"
  static constexpr aux_cursor_t kMaxSize = AUX_RING_MAX_SIZE;
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring64 {
#define AUX_CURSOR std::uint64_t
#include "kernel/events/aux_ring.h"
  static constexpr aux_cursor_t kMaxSize = AUX_RING_MAX_SIZE;
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

/// As the kernel includes it.
struct KernelRing {
#include "kernel/events/aux_ring.h"
  static constexpr aux_cursor_t kMaxSize = AUX_RING_MAX_SIZE;
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

/// What must not be done.
struct SignedRing8 {
#define AUX_CURSOR std::int8_t
#include "kernel/events/aux_ring.h"
#undef AUX_CURSOR
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};
