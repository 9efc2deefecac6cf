#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the command perf2dat as a user would: options, lines, exit statuses, files.

The environment names it: PERF2DAT the command, GOLDEN_DIR the folder of recordings.
"""

import gzip
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PERF2DAT = os.environ["PERF2DAT"]
GOLDEN = Path(os.environ["GOLDEN_DIR"])
SCHED = GOLDEN / "x86_64/sched.data"
MIXED = GOLDEN / "x86_64/mixed.data"
STREAM = GOLDEN / "x86_64/stream.data"


def samples_of(event, recording):
    """How many samples of events whose name begins so the recording machine's own perf printed."""
    text = gzip.decompress(recording.with_suffix(".perf-script.txt.gz").read_bytes())
    return text.count(f" {event}:".encode())


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def run_command(self, *arguments):
        return subprocess.run([PERF2DAT, *map(str, arguments)], cwd=self.directory,
                              capture_output=True, text=True, timeout=60, check=False)

    def files(self):
        return sorted(path.name for path in self.directory.iterdir())

    def assert_fails(self, result, status, *words):
        """One line on standard error, nothing on standard output, and the status."""
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Aperf2dat: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, result.stderr)

    def test_converts_perf_data_to_trace_dat_by_default(self):
        shutil.copy(SCHED, self.directory / "perf.data")
        result = self.run_command()
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.splitlines(), [
            "[ perf2dat: Converted 'perf.data' into trace.dat format 'trace.dat' ]",
            f"[ perf2dat: Converted {samples_of('sched', SCHED)} events ]"])
        self.assertEqual(self.files(), ["perf.data", "trace.dat"])

    def test_takes_the_files_by_option_or_by_place(self):
        for arguments in (["-i", SCHED, "-o", "out"], ["--input", SCHED, "--output", "out"],
                          ["-i", SCHED, "--to-trace-dat", "out"], [SCHED, "out"],
                          [SCHED, "-o", "out"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_command(*arguments).returncode, 0)
                self.assertEqual(self.files(), ["out"])
                (self.directory / "out").unlink()

    def test_writes_the_same_bytes_each_time(self):
        self.run_command(SCHED, "one")
        self.run_command(SCHED, "two")
        self.assertEqual((self.directory / "one").read_bytes(),
                         (self.directory / "two").read_bytes())

    def test_counts_what_it_leaves_out(self):
        result = self.run_command(MIXED)
        self.assertEqual(result.stderr.splitlines()[1:], [
            f"[ perf2dat: Converted {samples_of('sched', MIXED)} events ]",
            f"[ perf2dat: Left out {samples_of('cpu-clock', MIXED)} samples of cpu-clock: "
            "not a tracepoint ]"])

    def test_check_and_verbose_tell_more(self):
        lines = self.run_command("--check", "-v", SCHED).stderr.splitlines()
        self.assertEqual(lines[2:], [
            f"[ perf2dat: Checked {samples_of('sched', SCHED)} events: count, time and data are the "
            "recording's ]",
            "[ perf2dat: 2 CPUs with events, pages of 4096 bytes ]"])

    def test_quiet_tells_nothing_but_errors(self):
        result = self.run_command("-q", SCHED)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assert_fails(self.run_command("-q", SCHED), 3, "exists")

    def test_version_and_help_go_to_standard_output(self):
        version = self.run_command("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"\Aperf2dat \d+\.\d+\.\d+\n\Z")
        usage = self.run_command("--help")
        self.assertEqual(usage.returncode, 0)
        for option in ("--input", "--output", "--to-trace-dat", "--force", "--verbose", "--quiet",
                       "--check", "--version", "Exit status"):
            self.assertIn(option, usage.stdout)

    def test_wrong_usage_has_status_2(self):
        for arguments in (["--no-such-option"], ["-i"], ["a", "b", "c"], ["-v", "-q"],
                          ["-i", "a", "b"]):
            with self.subTest(arguments=arguments):
                self.assert_fails(self.run_command(*arguments), 2, "--help")
                self.assertEqual(self.files(), [])

    def test_an_unusable_recording_has_status_1(self):
        self.assert_fails(self.run_command(), 1, "perf.data", "perf record")
        (self.directory / "perf.data").write_bytes(b"no recording")
        self.assert_fails(self.run_command(), 1, "not a perf.data file")
        (self.directory / "perf.data").write_bytes(SCHED.read_bytes()[:-1])
        self.assert_fails(self.run_command(), 1, "truncated")
        self.assertEqual(self.files(), ["perf.data"])

    def test_an_output_that_exists_has_status_3_and_stays(self):
        output = self.directory / "trace.dat"
        output.write_text("mine")
        self.assert_fails(self.run_command(SCHED), 3, "trace.dat", "--force")
        self.assertEqual(output.read_text(), "mine")
        self.assertEqual(self.run_command(SCHED, "-f").returncode, 0)
        self.assertNotEqual(output.read_bytes()[:4], b"mine")

    def test_an_output_that_cannot_be_written_has_status_3(self):
        self.assert_fails(self.run_command(SCHED, "no/such/directory"), 3, "no/such/directory")
        self.assert_fails(self.run_command("-f", SCHED, "/dev/null"), 3, "not a regular file")
        shutil.copy(SCHED, self.directory / "perf.data")
        self.assert_fails(self.run_command("-f", "perf.data", "perf.data"), 3, "recording itself")
        self.assertEqual((self.directory / "perf.data").read_bytes(), SCHED.read_bytes())

    def test_a_closed_or_full_standard_error_is_no_reason_to_fail(self):
        for redirection in ("2>&-", "2>/dev/full"):
            with self.subTest(redirection=redirection):
                result = subprocess.run(["sh", "-c", f'exec "$0" -f "$1" out {redirection}',
                                         PERF2DAT, str(SCHED)], cwd=self.directory, check=False)
                self.assertEqual(result.returncode, 0)
                result = subprocess.run(["sh", "-c", f'exec "$0" no.data out2 {redirection}',
                                         PERF2DAT], cwd=self.directory, check=False)
                self.assertEqual(result.returncode, 1)

    def test_a_file_size_limit_is_an_error_and_leaves_nothing(self):
        result = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$0" "$1" out', PERF2DAT,
                                 str(SCHED)], cwd=self.directory, capture_output=True, text=True,
                                check=False)
        self.assert_fails(result, 3, "cannot write")
        self.assertEqual(self.files(), [])

    def test_ctrl_c_lets_a_stream_come_to_its_end(self):
        stream = STREAM.read_bytes()
        process = subprocess.Popen([PERF2DAT, "-i", "-", "-o", "out"], cwd=self.directory,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(stream[:100000])
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.stdin.write(stream[100000:])
        process.stdin.close()
        errors = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0, errors)
        self.assertIn(f"Converted {samples_of('sched', STREAM)} events", errors)

    def test_other_signals_end_it_while_it_waits_and_leave_nothing(self):
        for sent in ([signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGINT]):
            with self.subTest(sent=sent):
                process = subprocess.Popen([PERF2DAT, "-i", "-", "-o", "out"],
                                           cwd=self.directory, stdin=subprocess.PIPE)
                time.sleep(0.3)
                for each in sent:
                    process.send_signal(each)
                    time.sleep(0.1)
                self.assertEqual(process.wait(timeout=10), -sent[-1])
                process.stdin.close()
                self.assertEqual(self.files(), [])

    def test_a_signal_that_is_ignored_stays_ignored(self):
        process = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$0" -i - -o out', PERF2DAT],
                                   cwd=self.directory, stdin=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(STREAM.read_bytes())
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_stream_cannot_be_the_output(self):
        self.assert_fails(self.run_command(SCHED, "-o", "-"), 2, "output")

    def test_a_replaced_file_keeps_its_mode(self):
        output = self.directory / "trace.dat"
        output.write_text("mine")
        output.chmod(0o600)
        self.assertEqual(self.run_command(SCHED, "-f").returncode, 0)
        self.assertEqual(output.stat().st_mode & 0o777, 0o600)

    def test_a_stream_that_is_cut_off_early_says_so(self):
        (self.directory / "perf.data").write_bytes(STREAM.read_bytes()[:300])
        self.assert_fails(self.run_command(), 1, "cut off")

    def test_a_bar_would_need_a_second_so_a_short_run_on_a_terminal_shows_none(self):
        master, terminal = pty.openpty()
        try:
            subprocess.run([PERF2DAT, str(SCHED), "out"], cwd=self.directory, stderr=terminal,
                           timeout=60, check=True)
            shown = os.read(master, 65536).decode()
        finally:
            os.close(master)
            os.close(terminal)
        self.assertIn(f"Converted {samples_of('sched', SCHED)} events", shown)
        self.assertNotIn("%", shown)


if __name__ == "__main__":
    unittest.main()
