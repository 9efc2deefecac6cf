#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that reference.py accepts what two recorders of the same events see, and nothing else."""

import unittest

import reference

SECOND = 10**9
WINDOW = (10 * SECOND, 11 * SECOND)


def line(time, fields, cpu=0, name="softirq_entry", pid=7):
    return f"  sh-{pid}  [{cpu:03}]  {time // SECOND}.{time % SECOND:09}: {name}:  {fields}"


def recording(delay, extra=()):
    """Events every 10 ms on two CPUs, each seen `delay` ns after it happened."""
    lines = [line(10 * SECOND + i * 10**7 + cpu * 1000 + delay, f"vec={i % 10}", cpu)
             for i in range(100) for cpu in (0, 1)]
    return sorted([*lines, *extra], key=lambda text: text.split()[2])


class Compare(unittest.TestCase):
    def agreement(self, ours, theirs):
        return reference.compare(ours, theirs, WINDOW)

    def expect_difference(self, ours, theirs, text):
        differences = self.agreement(ours, theirs).differences
        self.assertTrue(any(text in each for each in differences), differences)
        differences = self.agreement(theirs, ours).differences
        self.assertTrue(differences)

    def test_the_same_seen_one_after_the_other(self):
        for delay in (0, 1, 4 * 10**6):
            agreement = self.agreement(recording(0), recording(delay))
            self.assertEqual(agreement.differences, [])
            self.assertEqual((agreement.cpus, agreement.nested), (2, 0))
            self.assertGreater(agreement.events, 100)

    def test_an_interrupt_between_the_two_recorders(self):
        # The outer event is seen at 0 and at 500, the inner one at 100 and at 200.
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        ours = recording(0, [line(at, "outer"), line(at + 100, "inner")])
        theirs = recording(0, [line(at + 200, "inner"), line(at + 500, "outer")])
        agreement = self.agreement(ours, theirs)
        self.assertEqual(agreement.differences, [])
        self.assertEqual(agreement.nested, 1)

    def test_events_in_the_wrong_order(self):
        # They overlap, which no interrupt can explain.
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        ours = recording(0, [line(at, "first"), line(at + 100, "second")])
        theirs = recording(0, [line(at + 300, "first"), line(at + 400, "second")])
        self.expect_difference(ours, theirs, "overlaps")

    def test_nothing_in_the_window(self):
        agreement = reference.compare(recording(0), recording(0), (20 * SECOND, 21 * SECOND))
        self.assertEqual((agreement.events, agreement.cpus), (0, 0))

    def test_another_clock(self):
        self.expect_difference(recording(0), recording(15 * 10**6), "overlaps")

    def test_a_missing_event(self):
        whole = recording(0)
        for index in range(50, 150):
            self.expect_difference(whole[:index] + whole[index + 1:], recording(10), "of trace-cmd")

    def test_one_that_perf_passed_over(self):
        # 1000 events on CPU 0 in the window allow for one.
        theirs = [line(10 * SECOND + i * 10**6, f"vec={i % 10}") for i in range(100, 2000)]
        window = (10 * SECOND, 12 * SECOND)
        for index in (700, 701, 900):
            agreement = reference.compare(theirs[:index] + theirs[index + 1:], theirs, window)
            self.assertEqual((agreement.differences, agreement.unseen), ([], 1))
            two = theirs[:index] + theirs[index + 1:index + 51] + theirs[index + 52:]
            self.assertNotEqual(reference.compare(two, theirs, window).differences, [])
            # Nothing excuses what trace-cmd did not see.
            one_more = reference.compare(theirs, theirs[:index] + theirs[index + 1:], window)
            self.assertNotEqual(one_more.differences, [])

    def test_another_cpu(self):
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        ours, theirs = (recording(0, [line(at, "moved", cpu)]) for cpu in (0, 1))
        self.expect_difference(ours, theirs, "1 converted, 0 of trace-cmd")
        self.expect_difference(ours, theirs, "0 converted, 1 of trace-cmd")

    def test_a_task_that_is_reaped_between_the_two_recorders(self):
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        zombie, dead, runs = (recording(0, [line(at, f"prev_prio=120 prev_state={state} ==> next_comm=a")])
                              for state in "ZXR")
        self.assertEqual(self.agreement(zombie, dead).differences, [])
        self.expect_difference(zombie, runs, "of trace-cmd")

    def test_another_task_that_is_renamed_between_the_two_recorders(self):
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        for pid, differ in ((8, False), (7, True)):  # 7 is who causes the event, and does nothing else
            ours, theirs = (recording(0, [line(at, f"comm={name} pid={pid} runtime=5 [ns]")])
                            for name in ("reference", "dd of=x"))
            self.assertEqual(bool(self.agreement(ours, theirs).differences), differ)
        pids = (recording(0, [line(at, f"comm=dd pid={pid} runtime=5 [ns]")]) for pid in (8, 9))
        self.expect_difference(*pids, "of trace-cmd")

    def test_another_pid_name_or_field(self):
        at = 10 * SECOND + SECOND // 2 + 3 * 10**6
        ours = recording(0, [line(at, "vec=1")])
        for other in (line(at, "vec=2"), line(at, "vec=1", pid=8), line(at, "vec=1", name="other")):
            self.expect_difference(ours, recording(0, [other]), "of trace-cmd")


if __name__ == "__main__":
    unittest.main()
