#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that scripts/litmus takes nothing for proven that is not."""

import contextlib
import importlib.machinery
import importlib.util
import io
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parent / "litmus"


def load(path):
    loader = importlib.machinery.SourceFileLoader("litmus", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("litmus", loader))
    loader.exec_module(module)
    return module


litmus = load(SCRIPT)

TEXT = """C {name}

(*
 * Result: {result}
 *
 * Why.
 *
 * Source: kernel/a.c, f(): smp_mb();
 *)

{{}}

P0(int *x)
{{
	WRITE_ONCE(*x, 1);
}}

exists (x=0)
"""
OUTPUT = """Test {name} Allowed
States 1
x=1;
No
Witnesses
Positive: 0 Negative: 1
Condition exists (x=0)
Observation {name} {observed}
Time {name} 0.00
Hash=0
"""
CODE = """/* f() has smp_mb(); */
static void g(void)
{
	smp_mb();
}

int f(int a,
      int b);

static int
f(int a, int b)
{
	/* smp_mb(); */
	smp_mb();
}
"""
README = "\na.litmus\na-broken-b.litmus\n    Both.\n"


class FakeSource:
    """Of the kernel, with two files."""

    def __init__(self):
        self.files = {"kernel/a.c": CODE, str(litmus.FOLDER / "README"): README}
        self.failure = ""

    def read(self, path):
        return self.files.get(str(path))


class FakeHerd:
    """Says of a test what it is told to say; else what is expected."""

    def __init__(self):
        self.told = {}

    def run(self, path):
        name = path.stem
        right = "Sometimes 1 1" if litmus.BROKEN in name else "Never 0 1"
        return self.told.get(name, (0, OUTPUT.format(name=name, observed=right), ""))

    def say(self, name, observed, extra="", status=0, complaints=""):
        self.told[name] = status, OUTPUT.format(name=name, observed=observed) + extra, complaints


class LitmusTest(unittest.TestCase):
    """A test and its twin, one thing of which is wrong."""

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.source, self.herd = FakeSource(), FakeHerd()
        self.write("a", "Never")
        self.write("a-broken-b", "Sometimes")

    def write(self, name, result, *replacement):
        text = TEXT.format(name=name, result=result)
        if replacement:
            self.assertIn(replacement[0], text)
            text = text.replace(*replacement)
        (self.directory / f"{name}.litmus").write_text(text)

    def problems(self):
        tests = [litmus.Litmus(path) for path in sorted(self.directory.glob("*.litmus"))]
        return {row.test.name: row.problems for row in litmus.check(tests, self.source, self.herd)
                if row.problems}

    def expect(self, name, words):
        found = self.problems()
        self.assertEqual(list(found), [name], found)
        self.assertIn(words, found[name][0])

    def test_all_is_well(self):
        self.assertEqual(self.problems(), {})

    def test_another_result(self):
        for observed in ("Sometimes 1 1", "Always 1 0"):
            self.herd.say("a", observed)
            self.expect("a", "and not Never")

    def test_a_twin_that_never_happens_or_always(self):
        for observed in ("Never 0 1", "Always 1 0"):
            self.herd.say("a-broken-b", observed)
            self.expect("a-broken-b", "and not Sometimes")

    def test_a_test_without_executions(self):
        self.herd.say("a", "Never 0 0")
        self.expect("a", "no execution is possible")

    def test_a_data_race_is_for_twins_only(self):
        self.herd.say("a-broken-b", "Sometimes 1 1", "Flag data-race\n")
        self.assertEqual(self.problems(), {})
        self.herd.say("a", "Never 0 1", "Flag data-race\n")
        self.expect("a", "data-race")

    def test_another_flag_is_for_none(self):
        self.herd.say("a-broken-b", "Sometimes 1 1", "Flag unbalanced-rcu-lock\n")
        self.expect("a-broken-b", "unbalanced-rcu-lock")

    def test_a_run_that_is_cut(self):
        self.herd.told["a"] = 0, "Test a Allowed\nStates 1\n", ""
        self.expect("a", "no result")
        self.herd.told["a"] = None, "", ""
        self.expect("a", "took longer")

    def test_a_run_that_fails(self):
        self.herd.say("a", "Never 0 1", status=2)
        self.expect("a", "status is 2")
        self.herd.say("a", "Never 0 1", complaints="Warning: File a is wrong\n")
        self.expect("a", "Warning")

    def test_the_result_of_another_test(self):
        self.herd.told["a"] = 0, OUTPUT.format(name="c", observed="Never 0 1"), ""
        self.expect("a", "no result")

    def test_a_test_without_a_twin(self):
        (self.directory / "a-broken-b.litmus").unlink()
        self.expect("a", "no broken twin")

    def test_a_twin_without_its_test(self):
        (self.directory / "a.litmus").unlink()
        self.expect("a-broken-b", "there is no a")

    def test_a_twin_that_asks_for_something_else(self):
        self.write("a-broken-b", "Sometimes", "exists (x=0)", "exists (x=1)")
        self.expect("a-broken-b", "another outcome")

    def test_a_comment_that_expects_something_else(self):
        self.write("a", "Sometimes")
        self.expect("a", "Result: Never")
        self.write("a", "Never", " * Result: Never\n", "")
        self.expect("a", "Result: Never")

    def test_a_name_that_is_another(self):
        self.write("a", "Never", "C a\n", "C c\n")
        self.expect("a", "first line")

    def test_a_line_that_is_gone(self):
        self.source.files["kernel/a.c"] = CODE.replace("\n\tsmp_mb();\n}\n", "\n}\n")
        self.assertEqual(sorted(self.problems()), ["a", "a-broken-b"])
        self.source.files["kernel/a.c"] = None
        self.assertEqual(sorted(self.problems()), ["a", "a-broken-b"])

    def test_lines_in_another_order(self):
        self.write("a", "Never", " * Source: kernel/a.c, f(): smp_mb();\n",
                   " * Source: kernel/a.c, f(): smp_mb();\n * Source: kernel/a.c, f(): smp_mb();\n")
        self.expect("a", "behind the last one")

    def test_no_line(self):
        self.write("a", "Never", " * Source: kernel/a.c, f(): smp_mb();\n", "")
        self.expect("a", "names no line")

    def test_a_test_that_the_readme_does_not_have(self):
        self.source.files[str(litmus.FOLDER / "README")] = README.replace("a.litmus\n", "")
        self.expect("a", "README")


class Lines(unittest.TestCase):
    def find(self, function, text, content=CODE):
        end = litmus.Line("kernel/a.c", function, text).find(content)
        return None if end is None else content.count("\n", 0, end) + 1

    def test_are_those_of_the_function_itself_without_comments(self):
        self.assertEqual(self.find("f", "smp_mb();"), 14)
        self.assertEqual(self.find("g", "smp_mb();"), 4)

    def test_that_are_not_there(self):
        self.assertIsNone(self.find("f", "smp_wmb();"))
        self.assertIsNone(self.find("h", "smp_mb();"))
        self.assertIsNone(self.find("g", "smp_mb();", CODE.replace("\n\tsmp_mb();\n}\n\n", "\n}\n\n")))


class Script(unittest.TestCase):
    """All of it, with a herd7 that says what it is told to."""

    def status(self, herd, failure=""):
        source = FakeSource()
        source.failure = failure
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            for test, result in (("a", "Never"), ("a-broken-b", "Sometimes")):
                (Path(name) / f"{test}.litmus").write_text(TEXT.format(name=test, result=result))
            herd.version = lambda: (7, 58)
            for target, attribute, value in (
                    (litmus, "TESTS", Path(name)), (litmus, "Source", lambda _: source),
                    (litmus.Herd, "fetch", lambda _: herd),
                    (litmus.kernels, "source", lambda: Path("/source-7.2")),
                    (litmus.guests, "install", lambda _: None),
                    (litmus.sys, "argv", ["litmus", "--ktap"])):
                stack.enter_context(mock.patch.object(target, attribute, value))
            printed = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            return litmus.main(), litmus.results.from_ktap(printed.getvalue().splitlines())

    def test_status_and_ktap_tell_of_a_failure(self):
        status, cases = self.status(FakeHerd())
        self.assertEqual((status, len(cases), [each.name for each in cases if each.failed]), (0, 3, []))
        herd = FakeHerd()
        herd.say("a-broken-b", "Never 0 1")
        status, cases = self.status(herd)
        self.assertEqual((status, [each.name for each in cases if each.failed]),
                         (1, ["a-broken-b Sometimes"]))

    def test_a_series_that_does_not_apply_is_a_failure(self):
        status, cases = self.status(FakeHerd(), "01-a: it does not fit")
        self.assertEqual((status, [each.name for each in cases if each.failed]), (1, ["the series applies"]))


if __name__ == "__main__":
    unittest.main()
