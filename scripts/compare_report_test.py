#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that compare_report.py reads both programs' lines and finds every kind of difference."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_report  # noqa: E402

PERF = """\
         swapper     0 [000]     0.000000000: PERF_RECORD_FORK(7:7):(2:2)
              sh     0 [000]     0.000000000: PERF_RECORD_COMM: sh:7/7
         swapper     0 [000]     5.000000001: sched:sched_waking: comm=sh pid=7 prio=120
              sh     7 [000]     5.000000002: PERF_RECORD_COMM exec: odd-1 [2] x:7/7
     odd-1 [2] x     7 [001]     5.000000003: raw_syscalls:sys_enter: NR 0 (1, 2)
              sh     9 [000]     5.000000004: irq:softirq_entry: vec=7
              sh     9 [000]     5.000000005: irq:softirq_entry: vec=9
              sh     9 [000]     5.000000006: irq:softirq_exit: vec=9
""".splitlines()

TRACE_CMD = """\
cpus=2
          <idle>-0     [000]     5.000000001: sched_waking:         comm=sh pid=7 prio=120
     odd-1 [2] x-7     [001]     5.000000003: sys_enter:            NR 0 (1, 2)
              sh-9     [000]     5.000000004: softirq_entry:        vec=7
              sh-9     [000]     5.000000005: softirq_entry:        vec=9
              sh-9     [000]     5.000000006: softirq_exit:         vec=9
""".splitlines()


def compare(perf, trace_cmd, **options):
    comparison = compare_report.Comparison(compare_report.PerfScript(perf, **options),
                                           compare_report.TraceCmdReport(trace_cmd))
    comparison.run()
    return comparison


def events(reader, text):
    return list(reader(text.splitlines()).events())


class PerfLines(unittest.TestCase):
    def only_event(self, line):
        found = events(compare_report.PerfScript, line)
        self.assertEqual(len(found), 1, line)
        return found[0]

    def test_event(self):
        event = self.only_event("   sh  12 [003]  7.000000042:    sched:sched_switch: prev_comm=a")
        self.assertEqual(event[:6], (3, 7000000042, "sched_switch", 12, "sh", "prev_comm=a"))

    def test_odd_names(self):
        for comm in ("a b", "a 1", "a-1 2", "kworker/0:1-eve", "x [1]", "1 [2] 3.4: b", ":12", ""):
            event = self.only_event(f"{comm:>16}    12 [000]     7.000000042: sys:event: c")
            self.assertEqual((event.comm, event.pid, event.name), (comm, 12, "event"), comm)

    def test_dead_task(self):
        event = self.only_event("             :-1    -1 [000]     7.000000042: sys:event: c")
        self.assertEqual((event.comm, event.pid), (":-1", compare_report.DEAD))

    def test_no_fields(self):
        self.assertEqual(self.only_event("  sh  12 [000]  7.000000042: sys:event: ").fields, "")

    def test_modifiers_are_no_part_of_the_name(self):
        self.assertEqual(self.only_event("sh 1 [000] 7.000000042: sys:event:u: c").name, "event")

    def test_fields_with_colons_and_several_lines(self):
        event = self.only_event("sh 1 [000] 7.000000042: sys:event: c:d: 1: x\n second\n\n")
        self.assertEqual(event.fields, "c:d: 1: x\n second")

    def test_other_events_are_left_out(self):
        for event in ("250000          cpu-clock:  ffffffff8128b533 f+0x13 ([kernel.kallsyms])",
                      "cpu-clock: ", "cycles:u: ", "dummy:HG: ", "1 cycles:ppp:  ff f+0x1 (x)"):
            perf = compare_report.PerfScript([f"sh 1 [000] 7.000000042: {event}", "\t    ff f (x)"])
            self.assertEqual(list(perf.events()), [], event)
            self.assertEqual(perf.counts["no tracepoint"], 1)

    def test_event_without_cpu_is_left_out(self):
        self.assertEqual(events(compare_report.PerfScript, "sh 1 7.000000042: sys:event: c"), [])

    def test_call_chains_of_saved_text_are_skipped(self):
        lines = ["sh 1 [000] 7.000000042: sys:event: c",
                 "\tffffffff815b7d5c f+0x6ac ([kernel.kallsyms])",
                 "\t           ee137 g+0x7 (/lib/libc.so.6)",
                 "",
                 "sh 1 [000] 7.000000043: sys:event: d"]
        found = compare_report.PerfScript(lines, saved=True).events()
        self.assertEqual([event.fields for event in found], ["c", "d"])

    def test_names(self):
        perf = compare_report.PerfScript("""\
  sh   0 [000] 0.000000000: PERF_RECORD_COMM: sh:7/7
  sh   7 [000] 1.000000000: PERF_RECORD_FORK(8:8):(7:7)
  sh   7 [000] 2.000000000: PERF_RECORD_COMM exec: a:1/2 b:7/7
  sh   7        2.500000000: PERF_RECORD_COMM: thread:7/10
  :9   9 [000] 3.000000000: sys:event: c
  x   11 [000] 3.000000000: sys:event: c
  y   11 [000] 4.000000000: PERF_RECORD_FORK(11:11):(99:99)
""".splitlines())
        list(perf.events())
        self.assertEqual(perf.names, {7: "a:1/2 b", 8: "sh", 10: "thread"})


class TraceCmdLines(unittest.TestCase):
    def test_odd_names(self):
        for comm in ("<...>", "a b", "a-1", "a-1 2", "kworker/0:1-eve", "x-1 [1]", "x-1 [2] 3.4: "):
            line = f"{comm:>16}-12    [003]     7.000000042: event:                    c"
            event = events(compare_report.TraceCmdReport, line)[0]
            self.assertEqual(event[:6], (3, 7000000042, "event", 12, comm.strip(), "c"), comm)

    def test_flags_before_the_time(self):
        for flags in (".....", "d..2.", "d.h1", "..s2."):
            line = f"              sh-12    [003] {flags}   7.000000042: event: c"
            self.assertEqual(events(compare_report.TraceCmdReport, line)[0].time, 7000000042)

    def test_stacks_and_gaps_are_no_events(self):
        trace_cmd = compare_report.TraceCmdReport("""\
version = 7
cpus=1
 sh-1  [000]  7.000000042: event: c
 sh-1  [000]  7.000000042: kernel_stack:         <stack trace >
=> ffffffff815b7d5c
CPU:0 [12 EVENTS DROPPED]
 sh-1  [000]  7.000000043: event: d
 second line
""".splitlines())
        self.assertEqual([event.fields for event in trace_cmd.events()], ["c", "d\n second line"])
        self.assertEqual(trace_cmd.counts, {"stacks": 1, "dropped": 1})


class Comparing(unittest.TestCase):
    def assert_kinds(self, trace_cmd, perf=PERF, **kinds):
        comparison = compare(perf, trace_cmd)
        self.assertEqual(dict(comparison.differences.counts), kinds)
        return comparison

    def changed(self, line, old, new):
        lines = list(TRACE_CMD)
        self.assertIn(old, lines[line])
        lines[line] = lines[line].replace(old, new)
        return lines

    def test_same(self):
        comparison = self.assert_kinds(TRACE_CMD)
        self.assertEqual((comparison.pairs, comparison.cpus), (5, {0, 1}))

    def test_order_between_cpus_does_not_matter(self):
        self.assert_kinds(TRACE_CMD[:2] + TRACE_CMD[3:] + [TRACE_CMD[2]])

    def test_missing(self):
        for line in range(1, 6):
            lines = TRACE_CMD[:line] + TRACE_CMD[line + 1:]
            self.assertEqual(self.assert_kinds(lines, missing=1).pairs, 4)

    def test_all_missing(self):
        self.assert_kinds([], missing=5)

    def test_extra(self):
        self.assert_kinds(TRACE_CMD + [TRACE_CMD[5].replace("000006", "000007")], extra=1)
        self.assert_kinds(TRACE_CMD[:4] + [TRACE_CMD[3]] + TRACE_CMD[4:], extra=1)

    def test_cpu(self):
        self.assert_kinds(self.changed(4, "[000]", "[001]"), cpu=1)

    def test_time(self):
        for line, old in ((1, "000001"), (2, "000003"), (4, "000005"), (5, "000006")):
            self.assert_kinds(self.changed(line, old, "000002"), time=1)

    def test_order(self):
        self.assertTrue(compare(PERF, TRACE_CMD[:3] + [TRACE_CMD[4], TRACE_CMD[3], TRACE_CMD[5]])
                        .differences.counts)

    def test_name(self):
        self.assert_kinds(self.changed(2, "sys_enter:", "sys_exit: "), name=1)

    def test_pid(self):
        self.assert_kinds(self.changed(3, "sh-9", "sh-8"), pid=1)

    def test_comm(self):
        comparison = self.assert_kinds(self.changed(2, "odd-1 [2] x", "sh"), comm=1)
        self.assertIn("last name: odd-1 [2] x", comparison.differences.shown[0][3])
        self.assert_kinds(self.changed(2, "odd-1 [2] x", "<...>"), comm=1)
        self.assert_kinds(self.changed(1, "<idle>", "swapper"), comm=1)

    def test_comm_counts_all_events(self):
        self.assert_kinds([line.replace("sh-9", "ls-9") for line in TRACE_CMD], comm=3)

    def test_fields(self):
        self.assert_kinds(self.changed(1, "pid=7 ", "pid=8 "), fields=1)
        self.assert_kinds(self.changed(2, "(1, 2)", "(1,  2)"), fields=1)
        self.assert_kinds(self.changed(2, "NR 0 (1, 2)", ""), fields=1)

    def test_renamed_events_are_counted(self):
        perf = [*PERF[:4], "sh 7 [001] 5.000000002: sys:event: c", *PERF[4:]]
        early = "     odd-1 [2] x-7     [001]     5.000000002: event: c"
        comparison = self.assert_kinds([*TRACE_CMD[:2], early, *TRACE_CMD[2:]], perf=perf)
        self.assertEqual(comparison.notes["events shown under the last name of their task"], 1)
        self.assertEqual(comparison.notes["tasks whose name changed"], 1)

    def test_unknown_name(self):
        perf = ["           :1234  1234 [000]     5.000000001: sys:event: c"]
        for comm, kinds in (("<...>", {}), ("sh", {"comm": 1})):
            self.assert_kinds([f"{comm}-1234 [000] 5.000000001: event: c"], perf=perf, **kinds)

    def test_name_told_by_fields_only(self):
        perf = [":8 8 [000] 5.000000001: sched:sched_switch: prev_comm=a b prev_pid=8 prev_prio=1"]
        fields = "sched_switch: prev_comm=a b prev_pid=8 prev_prio=1"
        self.assert_kinds([f"a b-8 [000] 5.000000001: {fields}"], perf=perf)
        self.assert_kinds([f"b-8 [000] 5.000000001: {fields}"], perf=perf, comm=1)

    def test_dead_task(self):
        switch = "sched_switch: prev_comm=cat prev_pid=8 prev_prio=1 ==> next_comm=sh next_pid=9"
        perf = ["   cat  8 [000]     5.000000001: PERF_RECORD_COMM exec: cat:8/8",
                f"  :-1 -1 [000]     5.000000001: sched:{switch}"]
        comparison = self.assert_kinds([f"cat-8 [000] 5.000000001: {switch}"], perf=perf)
        self.assertEqual(sum(comparison.notes.values()), 1)
        self.assert_kinds([f"sh-9 [000] 5.000000001: {switch}"], perf=perf, pid=1)
        self.assert_kinds([f"dog-8 [000] 5.000000001: {switch}"], perf=perf, comm=1)

    def test_saved_text_has_no_later_names(self):
        perf = ["sh 7 [000] 5.000000001: sys:event: c",
                "x  8 [000] 5.000000002: sys:event: comm=late pid=7 prio=1"]
        trace_cmd = ["late-7 [000] 5.000000001: event: c",
                     "x-8    [000] 5.000000002: event: comm=late pid=7 prio=1"]
        self.assertFalse(compare(perf, trace_cmd, saved=True).differences.counts)
        names = {7: "last", 8: "x"}
        differences = compare(perf, trace_cmd, saved=True, names=names).differences
        self.assertEqual(differences.counts, {"comm": 1})

    def test_only_first_differences_are_kept(self):
        perf = [f"sh 7 [000] {second}.000000001: sys:event: c" for second in range(100)]
        differences = self.assert_kinds([], perf=perf, missing=100).differences
        self.assertEqual(len(differences.shown), compare_report.SHOWN_DIFFERENCES)


class CommandLine(unittest.TestCase):
    """Runs the script with stand-ins for both programs that print what the tests hold."""

    def run_script(self, perf, trace_cmd, perf_status=0, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            programs = [self.stand_in(folder, "perf", perf, perf_status),
                        self.stand_in(folder, "trace-cmd", trace_cmd, 0)]
            command = [sys.executable, compare_report.__file__, "/dev/null", "/dev/null",
                       "--perf", programs[0], "--trace-cmd", programs[1], *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def stand_in(self, folder, name, lines, status):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + f"\nEND\nexit {status}\n")
        os.chmod(path, 0o755)
        return path

    def test_same(self):
        done = self.run_script(PERF, TRACE_CMD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("compared 5 events on 2 CPUs: 0 differences\n", done.stdout)

    def test_different(self):
        done = self.run_script(PERF, TRACE_CMD[:-1])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("compared 4 events on 2 CPUs: 1 differences\n", done.stdout)
        self.assertIn("perf has 5 events, trace-cmd has 4\n", done.stdout)
        self.assertIn("softirq_exit", done.stdout)

    def test_empty_report(self):
        self.assertEqual(self.run_script(PERF, ["cpus=2"]).returncode, 1)

    def test_no_events(self):
        self.assertEqual(self.run_script([], []).returncode, 2)

    def test_failing_program(self):
        done = self.run_script(PERF, TRACE_CMD, 3)
        self.assertEqual(done.returncode, 2)
        self.assertIn("exit status 3", done.stderr)

    def test_missing_program(self):
        done = self.run_script(PERF, TRACE_CMD, 0, "--perf", "/nonexistent/perf")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot run /nonexistent/perf", done.stderr)

    def test_missing_file(self):
        done = self.run_script(PERF, TRACE_CMD, 0, "--perf-script", "/nonexistent.txt")
        self.assertEqual(done.returncode, 2)


class SymbolsOfSavedTexts(unittest.TestCase):
    PERF = "sh 1 [000] 7.000000001: timer:start: f={} n=1\nsh 1 [000] 7.000000002: timer:start: f={}"
    TRACE_CMD = "sh-1 [000] 7.000000001: start: f={} n=1\nsh-1 [000] 7.000000002: start: f={}"

    def differences(self, perf, trace_cmd, saved=True):
        comparison = compare(self.PERF.format(*perf).splitlines(),
                             self.TRACE_CMD.format(*trace_cmd).splitlines(), saved=saved)
        return comparison.differences.counts["fields"]

    def test_a_symbol_stands_for_an_address(self):
        self.assertEqual(self.differences(["tick+0x1f", "run"], ["0xffa0", "0xffb0"]), 0)

    def test_it_is_the_same_symbol_each_time(self):
        self.assertEqual(self.differences(["tick", "run"], ["0xffa0", "0xffa0"]), 1)

    def test_numbers_are_no_symbols(self):
        self.assertEqual(self.differences(["12", "-3"], ["0xffa0", "0xffb0"]), 2)

    def test_only_a_saved_text_has_symbols(self):
        self.assertEqual(self.differences(["tick", "run"], ["0xffa0", "0xffb0"], saved=False), 2)


if __name__ == "__main__":
    unittest.main()
