// SPDX-License-Identifier: GPL-2.0-only
/// The kernel's arithmetic of cursors (kernel/events/aux_ring.h, the file itself), once for each
/// width of a cursor. A struct takes the place of what is the whole program in C: its members are
/// what the file has.
#pragma once

#include <cstdint>

struct Ring8 {
#define aux_cursor_t std::uint8_t
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
  static constexpr Cursor kMaxSize = AUX_RING_MAX_SIZE;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring16 {
#define aux_cursor_t std::uint16_t
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
  static constexpr Cursor kMaxSize = AUX_RING_MAX_SIZE;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring32 {
#define aux_cursor_t std::uint32_t
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
  static constexpr Cursor kMaxSize = AUX_RING_MAX_SIZE;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

struct Ring64 {
#define aux_cursor_t std::uint64_t
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
  static constexpr Cursor kMaxSize = AUX_RING_MAX_SIZE;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

/// As the kernel includes it.
struct KernelRing {
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
  static constexpr Cursor kMaxSize = AUX_RING_MAX_SIZE;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};

/// What must not be done.
struct SignedRing8 {
#define aux_cursor_t std::int8_t
#include "kernel/events/aux_ring.h"
  using Cursor = aux_cursor_t;
#undef aux_cursor_t
#undef AUX_RING_MAX_SIZE
#undef _KERNEL_EVENTS_AUX_RING_H
};
