#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that scripts/golden finds all that can be wrong with golden/.

The environment names what is there: PERF2DAT the command, GOLDEN_DIR the folder of recordings.
"""

import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parent / "golden"
PERF2DAT = os.environ["PERF2DAT"]
SOURCE = Path(os.environ["GOLDEN_DIR"]) / "x86_64"
NAME = "x86_64/raw-syscalls"


def load(path):
    loader = importlib.machinery.SourceFileLoader("golden", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("golden", loader))
    loader.exec_module(module)
    return module


golden = load(SCRIPT)


def flip_byte(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


class GoldenTest(unittest.TestCase):
    """Each test has a golden/ of its own, with one real recording and what it must become."""

    def setUp(self):
        directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, directory)
        self.golden, self.made = directory / "golden", directory / "made"
        (self.golden / "x86_64").mkdir(parents=True)
        for name, value in (("GOLDEN", self.golden), ("MADE", self.made)):
            patch = mock.patch.object(golden, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        for suffix in golden.RECORDED + golden.EXPECTED:
            shutil.copy(f"{SOURCE}/raw-syscalls{suffix}", self.path(suffix))

    def path(self, suffix, name=NAME):
        return self.golden / f"{name}{suffix}"

    def run_script(self, *arguments):
        """Runs the script in this process; returns its status and all that it printed."""
        printed = io.StringIO()
        with mock.patch("sys.argv", ["golden", *arguments]), \
                contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = golden.main()
        return int(status), printed.getvalue()

    def assert_check_fails(self, *words):
        status, text = self.run_script("check", PERF2DAT, NAME)
        self.assertNotEqual(status, 0, text)
        for word in words:
            self.assertIn(word, text)
        return text


class Check(GoldenTest):
    def test_passes_what_is_as_expected(self):
        self.assertEqual(self.run_script("check", PERF2DAT, NAME), (0, f"{NAME}: as expected\n"))

    def test_of_all_recordings_fails_when_some_are_missing(self):
        status, text = self.run_script("check", PERF2DAT)
        self.assertEqual(status, 1)
        self.assertIn(f"{NAME}: as expected\n", text)
        self.assertIn(f"{self.golden}/s390x/sched.data is missing\n", text)

    def test_finds_another_sum(self):
        lines = self.path(golden.SUMS).read_text().splitlines()
        self.assertTrue(lines[1].endswith("  raw-syscalls.dat"))
        wrong = ("0" if lines[1][0] != "0" else "1") + lines[1][1:]
        self.path(golden.SUMS).write_text(f"{lines[0]}\n{wrong}\n")
        text = self.assert_check_fails("line 2 is the first", f"-{wrong}", f"+{lines[1]}")
        self.assertNotIn("trace-cmd", text)

    def test_finds_another_report(self):
        report = gzip.decompress(self.path(golden.REPORT).read_bytes())
        self.path(golden.REPORT).write_bytes(
            gzip.compress(report.replace(b"sys_exit", b"sys_exim", 1)))
        self.assert_check_fails(self.path(golden.REPORT).name, "sys_exim", "the first that differs",
                                "expected one to the byte", "trace-cmd version")

    def test_finds_a_report_that_ends_early(self):
        report = gzip.decompress(self.path(golden.REPORT).read_bytes())
        self.path(golden.REPORT).write_bytes(gzip.compress(report[:-1]))
        self.assert_check_fails(self.path(golden.REPORT).name)

    def test_finds_a_damaged_report(self):
        flip_byte(self.path(golden.REPORT), 1000)
        self.assert_check_fails(f"{self.path(golden.REPORT)} is damaged")

    def test_finds_another_summary(self):
        flip_byte(self.path(golden.SUMMARY), -2)
        self.assert_check_fails(self.path(golden.SUMMARY).name, "expected one to the byte")

    def test_finds_another_recording_even_where_it_becomes_the_same(self):
        # The last byte is of a feature that is not converted.
        flip_byte(self.path(golden.DATA), -1)
        text = self.assert_check_fails("line 1 is the first", "+  raw-syscalls.data"[1:])
        self.assertIn(".sha256", text)

    def test_finds_a_recording_that_does_not_convert(self):
        flip_byte(self.path(golden.DATA), 0)
        self.assert_check_fails("not a perf.data file")

    def test_finds_that_an_expectation_is_missing(self):
        for suffix in golden.EXPECTED:
            with self.subTest(suffix=suffix):
                kept = self.path(suffix).read_bytes()
                self.path(suffix).unlink()
                self.assert_check_fails(f"{self.path(suffix)} is missing")
                self.path(suffix).write_bytes(kept)

    def test_finds_that_the_recording_is_missing(self):
        self.path(golden.DATA).unlink()
        self.assert_check_fails(f"{self.path(golden.DATA)} is missing")

    def test_needs_perf2dat(self):
        status, text = self.run_script("check", "/no/such/perf2dat")
        self.assertEqual(status, 1)
        self.assertIn("cannot run /no/such/perf2dat", text)

    def test_shows_a_few_of_many_differences(self):
        text = golden.first_differences("".join(f"{i}\n" for i in range(5000)),
                                        "same\n" * 5000)
        self.assertIn("line 1 is the first", text)
        self.assertLess(len(text.splitlines()), 30)


class Complete(GoldenTest):
    def setUp(self):
        super().setUp()
        for arch in golden.guests.ARCHITECTURES:
            (self.golden / arch).mkdir(exist_ok=True)
            for kind in golden.KINDS:
                for suffix in golden.RECORDED + golden.EXPECTED:
                    self.path(suffix, f"{arch}/{kind}").write_bytes(b"")

    def assert_finds(self, *problems):
        self.assertEqual(self.run_script("complete"), (1, "".join(f"{line}\n" for line in problems)))

    def test_passes_what_is_complete(self):
        self.assertEqual(self.run_script("complete")[0], 0)

    def test_finds_a_missing_file(self):
        for suffix in golden.RECORDED + golden.EXPECTED:
            for name in (NAME, "s390x/mixed"):
                if name == NAME and suffix == golden.DATA:
                    continue  # then the others are orphans, see below
                with self.subTest(name=name, suffix=suffix):
                    kept = self.path(suffix, name).read_bytes()
                    self.path(suffix, name).unlink()
                    self.assert_finds(f"{self.path(suffix, name)} is missing")
                    self.path(suffix, name).write_bytes(kept)

    def test_finds_expectations_without_a_recording(self):
        self.path(golden.DATA).unlink()
        paths = sorted(map(self.path, [golden.PERF_TEXT, *golden.EXPECTED]))
        self.assert_finds(*(f"{path} belongs to no recording" for path in paths))

    def test_finds_any_other_file(self):
        (self.golden / "arm64/notes").touch()
        self.assert_finds(f"{self.golden}/arm64/notes belongs to no recording")

    def test_finds_a_missing_architecture(self):
        shutil.rmtree(self.golden / "arm64")
        status, text = self.run_script("complete")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.golden}/arm64/stream.data is missing", text)

    def test_finds_a_recording_that_is_too_large(self):
        path = self.path(golden.DATA, "arm64/sched")
        path.write_bytes(bytes(299_999))
        self.assertEqual(self.run_script("complete")[0], 0)
        path.write_bytes(bytes(300_000))
        self.assert_finds(f"{path} has 300000 bytes: it must be smaller than 300000")


class Changes(GoldenTest):
    def test_expect_and_accept_put_an_expectation_right(self):
        right = self.path(golden.SUMMARY).read_bytes()
        self.path(golden.SUMMARY).write_text("something else\n")
        status, text = self.run_script("expect", PERF2DAT, NAME)
        self.assertEqual(status, 0, text)
        self.assertIn("-something else", text)
        self.assertEqual(self.path(golden.SUMMARY).read_text(), "something else\n")
        self.assertEqual(self.run_script("accept", NAME), (0, ""))
        self.assertEqual(self.path(golden.SUMMARY).read_bytes(), right)
        self.assertEqual(self.run_script("check", PERF2DAT, NAME)[0], 0)

    def test_an_architecture_stands_for_all_that_it_has(self):
        self.assertEqual(self.run_script("check", PERF2DAT, "x86_64"), (0, f"{NAME}: as expected\n"))
        self.assertEqual(self.run_script("check", PERF2DAT, "s390x"),
                         (2, f"golden: {self.golden} has no recordings of s390x\n"))
        self.run_script("expect", PERF2DAT, "x86_64")
        self.path(golden.SUMMARY).unlink()
        self.assertEqual(self.run_script("accept", "x86_64"), (0, ""))
        self.assertTrue(self.path(golden.SUMMARY).exists())

    def test_accept_takes_nothing_that_is_incomplete_or_too_large(self):
        self.run_script("expect", PERF2DAT, NAME)
        self.path(golden.SUMMARY).unlink()
        recording = self.made / f"{NAME}.data"
        recording.write_bytes(recording.read_bytes() + bytes(300_000))
        status, text = self.run_script("accept", NAME)
        self.assertEqual(status, 2)
        self.assertIn("must be smaller", text)
        shutil.copy(self.path(golden.DATA), recording)
        (self.made / f"{NAME}.sha256").unlink()
        status, text = self.run_script("accept", NAME)
        self.assertEqual(status, 2)
        self.assertIn(f"{self.made}/{NAME}.sha256 is missing", text)
        self.assertFalse(self.path(golden.SUMMARY).exists())

    def test_what_differs_from_the_recording_before_is_told(self):
        self.run_script("expect", PERF2DAT, NAME)
        for suffix in golden.RECORDED + golden.EXPECTED:
            shutil.copy(f"{SOURCE}/all-sched{suffix}", self.path(suffix))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            golden.show_differences(PERF2DAT, NAME)
        text = printed.getvalue()
        self.assertRegex(text, r"event raw_syscalls:sys_enter +0 +624\n")
        self.assertRegex(text, r"event sched:sched_switch +106 +0\n")
        self.assertRegex(text, r"tasks that are gone: .*\bxz\b")
        self.assertIn("os release : 6.18.44", text)

    def test_event_formats_that_changed_are_told(self):
        before = golden.event_formats(PERF2DAT, self.path(golden.DATA))
        self.assertEqual(sorted(before), ["sys_enter", "sys_exit"])
        self.assertNotIn("ID:", before["sys_exit"])
        after = before | {"sys_exit": before["sys_exit"].replace("long ret", "int ret")}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            golden.show_changed_formats(before, after)
        self.assertIn("changed: sys_exit\n", printed.getvalue())
        self.assertRegex(printed.getvalue(), r"\n-\tfield:long ret;.*\n\+\tfield:int ret;")


if __name__ == "__main__":
    unittest.main()
