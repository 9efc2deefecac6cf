#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which lines of a kernel's log are taken for complaints."""

import unittest

import machine

COMPLAINTS = """\
WARNING: CPU: 1 PID: 77 at kernel/events/core.c:5512 perf_event_release+0x10/0x20
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: sleeping function called from invalid context at kernel/locking/mutex.c:591
BUG: KASAN: slab-use-after-free in rb_free_aux+0x1c/0x40
BUG: KCSAN: data-race in perf_output_begin / perf_output_end
BUG: spinlock bad magic on CPU#0, swapper/0/1
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!
watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [perf:77]
kernel BUG at mm/slub.c:4411!
Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP
Internal error: synchronous external abort: 0000000096000010 [#1]  SMP
illegal operation: 0001 ilc:1 [#1] SMP
---[ end trace 0000000000000000 ]---
Oops: general protection fault, probably for non-canonical address 0xdead000000000100
Unable to handle kernel pointer dereference in virtual kernel address space
Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000000
rcu: INFO: rcu_sched self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: rcu_sched kthread starved for 2100 jiffies!
refcount_t: underflow; use-after-free.
refcount_t: addition on 0; use-after-free.
UBSAN: array-index-out-of-bounds in kernel/events/ring_buffer.c:700:3
INFO: task perf:77 blocked for more than 120 seconds.
INFO: trying to register non-static key.
unreferenced object 0xffff888101234567 (size 64):
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
DEBUG_LOCKS_WARN_ON(lock->magic != lock)
list_add corruption. next->prev should be prev (ffff), but was 0000.
""".splitlines()

HARMLESS = """\
Linux version 7.2.12 (tracebridge@tracebridge) (gcc 12.2.0) #1 SMP PREEMPT 2026-01-01
rcu: Hierarchical RCU implementation.
rcu: \tRCU restricting CPUs from NR_CPUS=8 to nr_cpu_ids=2.
RCU Tasks Rude: Setting shift to 1 and lim to 1 rcu_task_cb_adjust=1.
Spectre V2 : Mitigation: Retpolines
# kunit_debug: pass:3 fail:0 skip:0 total:3
printk: legacy console [ttyS0] enabled
ok 3 backtrace_suppression_test_warn_direct
clocksource: refined-jiffies: mask: 0xffffffff max_cycles: 0xffffffff
Debug: lockdep is off, and a bug: is not a BUG
""".splitlines()


class Complaints(unittest.TestCase):
    def test_are_noticed(self):
        for line in COMPLAINTS:
            with self.subTest(line):
                self.assertTrue(machine.COMPLAINT.search(line))

    def test_are_not_imagined(self):
        for line in HARMLESS:
            with self.subTest(line):
                self.assertFalse(machine.COMPLAINT.search(line))

    def test_leave_out_data_races_of_others(self):
        functions = {"perf_output_begin", "perf_event_aux_wait"}
        for line, others in [
                ("BUG: KCSAN: data-race in hrtimer_wakeup / schedule_hrtimeout_range_clock", True),
                ("BUG: KCSAN: data-race in task_tick_fair", True),
                ("BUG: KCSAN: data-race in perf_output_begin / hrtimer_wakeup", False),
                ("BUG: KCSAN: data-race in hrtimer_wakeup / perf_output_begin", False),
                ("BUG: KCSAN: data-race in perf_event_aux_wait", False),
                ("BUG: KCSAN: assert: race in hrtimer_wakeup / task_tick_fair", False),
                ("BUG: KASAN: slab-use-after-free in hrtimer_wakeup", False)]:
            with self.subTest(line):
                self.assertEqual(machine.is_race_of_others(line, functions), others)
                self.assertFalse(machine.is_race_of_others(line, None))


if __name__ == "__main__":
    unittest.main()
