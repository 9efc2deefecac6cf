# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases that hold or do not: read from what test programs print, and written for people and machines.

Read: KTAP (https://docs.kernel.org/dev-tools/ktap.html), the XML of GoogleTest, JUnit's XML of ctest.
Written: KTAP, JUnit's XML, a table.
"""

import re
import xml.etree.ElementTree as xml
from typing import NamedTuple

PASSED, FAILED, EXPECTED, SKIPPED = "passed", "failed", "expected failure", "skipped"


class Case(NamedTuple):
    """One thing that was to be shown."""
    name: str
    outcome: str
    text: str = ""  # what was printed of it, or why it was expected to fail

    @property
    def failed(self):
        return self.outcome == FAILED


def case(name, passed, text=""):
    return Case(name, PASSED if passed else FAILED, text)


def without_skips(cases):
    """Where all is there that any of them needs, one that is skipped has failed."""
    return [case(each.name, False, f"it was skipped: {each.text}") if each.outcome == SKIPPED else each
            for each in cases]


def with_status(cases, what, status):
    """No cases at all is a failure, and so is a status that no case accounts for."""
    if not cases:
        return [case(what, False, f"it has shown nothing; its status is {status}")]
    if status != 0 and not any(each.failed for each in cases):
        return [*cases, case(what, False, f"its status is {status}")]
    return cases


def expect_failures(cases, expected):
    """Cases that are expected (name: (a pattern of all that they may print, why)) have to fail in this
    way. They count as failed when they pass, since the list is out of date then, and when they are not
    there."""
    result = []
    for each in cases:
        pattern, reason = expected.get(each.name, (None, None))
        if reason and each.failed and re.fullmatch(pattern, each.text, re.DOTALL):
            each = each._replace(outcome=EXPECTED, text=f"{reason}\n{each.text}")
        elif reason:
            each = case(each.name, False, f"it {each.outcome} and was expected to fail, because {reason}"
                                          f"\n{each.text}")
        result.append(each)
    missing = set(expected) - {each.name for each in cases}
    return result + [case(name, False, "it was expected to fail, and was not tried")
                     for name in sorted(missing)]


def from_ktap(lines):
    """The cases of a KTAP text without subtests. Those that its plan promised and that did not come
    have failed."""
    cases = []
    planned = None
    text = []
    for line in lines:
        if plan := re.fullmatch(r"1\.\.(\d+)", line):
            planned = int(plan[1])
        elif result := re.fullmatch(r"(not )?ok \d+ (?:- )?([^#]*?)\s*(?:# *(\w+)\s*(.*))?", line):
            outcome = (SKIPPED if (result[3] or "").upper() == "SKIP"
                       else FAILED if result[1] else PASSED)
            why = [result[4]] if outcome == SKIPPED and result[4] else []
            cases.append(Case(result[2], outcome, "\n".join([*why, *text])))
            text = []
        elif line.startswith("# "):
            text.append(line[2:])
    if planned is None:
        return [*cases, case("plan", False, "there is no test plan")]
    return cases + [case(f"case {i}", False, "\n".join(["it was not come to", *text]))
                    for i in range(len(cases) + 1, planned + 1)]


def from_xml(text):
    """The cases of JUnit's XML as ctest and GoogleTest write it."""
    cases = []
    for element in xml.fromstring(text).iter("testcase"):
        name = element.get("name")
        if element.get("classname") != name:  # ctest's are the same
            name = f"{element.get('classname')}.{name}"
        details = "\n".join((part.get("message") or "") + "\n" + (part.text or "")
                            for part in element if part.tag in ("failure", "error", "skipped",
                                                                "system-out"))
        if element.find("failure") is not None or element.find("error") is not None:
            outcome = FAILED
        elif (element.find("skipped") is not None or element.get("result") in ("skipped", "suppressed")
              or element.get("status") in ("notrun", "disabled")):
            outcome = SKIPPED
        else:
            outcome = PASSED
        cases.append(Case(name, outcome, details.strip()))
    return cases


def printable(text):
    """XML can hold no other characters."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def to_ktap(cases):
    lines = ["KTAP version 1", f"1..{len(cases)}"]
    for number, each in enumerate(cases, 1):
        if each.failed:
            lines += [f"# {line}" for line in each.text.splitlines()]
        result = "ok" if each.outcome in (PASSED, SKIPPED) else "not ok"
        reason = each.text.split("\n", maxsplit=1)[0]
        directive = {EXPECTED: f" # XFAIL {reason}", SKIPPED: f" # SKIP {reason}"}
        lines.append(f"{result} {number} {each.name}{directive.get(each.outcome, '')}")
    return "\n".join(lines) + "\n"


class Stage(NamedTuple):
    """What one stage came to on one architecture."""
    name: str
    arch: str
    cases: list
    seconds: float

    def count(self, outcome):
        return sum(each.outcome == outcome for each in self.cases)


def to_junit(stages):
    suites = xml.Element("testsuites")
    for stage in stages:
        name = f"{stage.name}.{stage.arch}"
        suite = xml.SubElement(suites, "testsuite", name=name, time=f"{stage.seconds:.1f}",
                               tests=str(len(stage.cases)), failures=str(stage.count(FAILED)),
                               skipped=str(stage.count(SKIPPED) + stage.count(EXPECTED)))
        for each in stage.cases:
            element = xml.SubElement(suite, "testcase", name=printable(each.name), classname=name)
            text = printable(each.text)
            if each.failed:
                xml.SubElement(element, "failure").text = text
            elif each.outcome == PASSED:
                xml.SubElement(element, "system-out").text = text
            else:
                xml.SubElement(element, "skipped", message=f"{each.outcome}: {text}")
    return xml.ElementTree(suites)


def to_table(stages):
    lines = [f"{'architecture':<13} {'stage':<12} {'passed':>7} {'failed':>7} {'expected':>9} "
             f"{'skipped':>8} {'seconds':>8}"]
    for stage in stages:
        lines.append(f"{stage.arch:<13} {stage.name:<12} {stage.count(PASSED):>7} "
                     f"{stage.count(FAILED):>7} {stage.count(EXPECTED):>9} {stage.count(SKIPPED):>8} "
                     f"{stage.seconds:>8.0f}")
    return "\n".join(lines)
