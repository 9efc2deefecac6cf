#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that nothing that went wrong, or was not tried, is taken for passed."""

import unittest
import xml.etree.ElementTree as xml

import results
from results import EXPECTED, FAILED, PASSED, SKIPPED, Case, case


def outcomes(cases):
    return [(each.name, each.outcome) for each in cases]


class Status(unittest.TestCase):
    def test_that_no_case_accounts_for_is_a_failure(self):
        self.assertEqual(outcomes(results.with_status([case("a", True)], "w", 1)), [("a", PASSED), ("w", FAILED)])
        self.assertEqual(outcomes(results.with_status([case("a", False)], "w", 1)), [("a", FAILED)])
        self.assertEqual(outcomes(results.with_status([case("a", True)], "w", 0)), [("a", PASSED)])

    def test_nothing_shown_is_a_failure(self):
        self.assertEqual(outcomes(results.with_status([], "w", 0)), [("w", FAILED)])


class Ktap(unittest.TestCase):
    def test_results(self):
        text = ["KTAP version 1", "1..4", "# why", "ok 1 a", "noise", "not ok 2 - b c", "ok 3 d # SKIP e",
                "ok 4 f # time=3"]
        self.assertEqual(outcomes(results.from_ktap(text)),
                         [("a", PASSED), ("b c", FAILED), ("d", SKIPPED), ("f", PASSED)])
        self.assertEqual([each.text for each in results.from_ktap(text)], ["why", "", "e", ""])

    def test_what_was_promised_and_did_not_come_has_failed(self):
        self.assertEqual(outcomes(results.from_ktap(["1..3", "ok 1 a", "# last words"])),
                         [("a", PASSED), ("case 2", FAILED), ("case 3", FAILED)])

    def test_no_plan_is_a_failure(self):
        for text in ([], ["ok 1 a"], ["KTAP version 1"]):
            self.assertIn(("plan", FAILED), outcomes(results.from_ktap(text)))

    def test_is_read_as_it_is_written(self):
        cases = [case("a", True), case("b", False, "x\ny"), Case("c", SKIPPED, "z")]
        self.assertEqual(outcomes(results.from_ktap(results.to_ktap(cases).splitlines())), outcomes(cases))


class ExpectedFailures(unittest.TestCase):
    LIST = {"b": (r"\d+ wrong fields", "of a reason")}

    def check(self, cases, expected):
        self.assertEqual(outcomes(results.expect_failures(cases, self.LIST)), expected)

    def test_fail_as_expected(self):
        self.check([case("a", True), case("b", False, "3 wrong fields")], [("a", PASSED), ("b", EXPECTED)])

    def test_have_failed_when_they_pass(self):
        self.check([case("b", True)], [("b", FAILED)])

    def test_have_failed_when_they_fail_otherwise(self):
        self.check([case("b", False, "perf cannot record")], [("b", FAILED)])

    def test_have_failed_when_they_also_fail_otherwise(self):
        self.check([case("b", False, "3 wrong fields\n2 wrong times")], [("b", FAILED)])

    def test_keep_what_they_printed(self):
        found = results.expect_failures([case("b", False, "3 wrong fields")], self.LIST)
        self.assertEqual(found[0].text, "of a reason\n3 wrong fields")

    def test_have_failed_when_they_were_not_tried(self):
        self.check([case("a", True)], [("a", PASSED), ("b", FAILED)])

    def test_excuse_no_others(self):
        self.check([case("c", False, "1 wrong fields"), case("b", False, "1 wrong fields")],
                   [("c", FAILED), ("b", EXPECTED)])


class Xml(unittest.TestCase):
    def test_of_googletest(self):
        text = """<testsuites><testsuite name="S">
            <testcase name="a" status="run" result="completed" classname="S"/>
            <testcase name="b" status="run" result="completed" classname="S">
              <failure message="1 is not 2">place</failure></testcase>
            <testcase name="c" status="run" result="skipped" classname="S">
              <skipped message="cannot"/></testcase>
            <testcase name="d" status="notrun" result="suppressed" classname="S"/>
            </testsuite></testsuites>"""
        cases = results.from_xml(text)
        self.assertEqual(outcomes(cases), [("S.a", PASSED), ("S.b", FAILED), ("S.c", SKIPPED),
                                           ("S.d", SKIPPED)])
        self.assertIn("1 is not 2", cases[1].text)
        self.assertIn("cannot", cases[2].text)

    def test_of_ctest(self):
        text = """<testsuite><testcase name="a" classname="a" status="run"/>
            <testcase name="b" classname="b" status="fail"><failure message=""/></testcase>
            <testcase name="c" classname="c" status="notrun"><skipped message="77"/></testcase>
            <testcase name="d" classname="d" status="disabled"/></testsuite>"""
        self.assertEqual(outcomes(results.from_xml(text)),
                         [("a", PASSED), ("b", FAILED), ("c", SKIPPED), ("d", SKIPPED)])


class Written(unittest.TestCase):
    STAGES = [results.Stage("unit", "s390x", [case("a", True), case("b", False, "\x1b[1mbad\x00"),
                                              Case("c", EXPECTED, "why"), Case("d", SKIPPED, "e")], 12.4)]

    def test_table(self):
        self.assertEqual(results.to_table(self.STAGES).splitlines()[1].split(),
                         ["s390x", "unit", "1", "1", "1", "1", "12"])

    def test_junit(self):
        text = xml.tostring(results.to_junit(self.STAGES).getroot(), encoding="unicode")
        self.assertEqual(outcomes(results.from_xml(text)),
                         [("unit.s390x.a", PASSED), ("unit.s390x.b", FAILED), ("unit.s390x.c", SKIPPED),
                          ("unit.s390x.d", SKIPPED)])
        suite = xml.fromstring(text)[0]
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "skipped")], ["4", "1", "2"])


class Skips(unittest.TestCase):
    def test_are_failures_where_nothing_is_missing(self):
        cases = [results.case("a", True), results.case("b", False, "why"),
                 results.Case("c", results.SKIPPED, "needs more")]
        found = results.without_skips(cases)
        self.assertEqual([case.outcome for case in found], [results.PASSED, results.FAILED, results.FAILED])
        self.assertEqual(found[:2], cases[:2])
        self.assertIn("needs more", found[2].text)


if __name__ == "__main__":
    unittest.main()
