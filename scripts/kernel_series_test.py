#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the series of kernel/ is read, applied and made commits of, on sources of a few files."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path
from unittest import mock

SCRIPTS = Path(__file__).resolve().parent
sys.path.insert(0, str(SCRIPTS.parent / "vm"))
import guests  # noqa: E402 pylint: disable=wrong-import-position
import kernels  # noqa: E402 pylint: disable=wrong-import-position
import results  # noqa: E402 pylint: disable=wrong-import-position
import rst  # noqa: E402 pylint: disable=wrong-import-position
import series  # noqa: E402 pylint: disable=wrong-import-position
import series_check  # noqa: E402 pylint: disable=wrong-import-position


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


kernel_series = load("kernel-series")
kernel_build = load("kernel-build")

WHO = "A Person <person@example.org>"
CORE = "".join(f"line {number}\n" for number in range(1, 21))
SERIES = {
    "series/series.toml": """\
        [[commit]]
        name = "01-first"
        [[commit]]
        name = "02-second"
        files = ["kernel/new/added.c", "kernel/new/run.sh"]
        [[commit]]
        name = "03-third"
        """,
    "series/01-first.msg": "core: Fix it\n\nIt was wrong.\n\nFixes: 0123456789ab (\"core: Break it\")\n",
    "series/02-second.msg": "core: Add it\n\nIt was not there.\n",
    "series/03-third.msg": "core: Use it\n\nNobody did.\n",
    "series/01-first.diff": """\
        --- a/kernel/core.c
        +++ b/kernel/core.c
        @@ -2,3 +2,3 @@
         line 2
        -line 3
        +first 3
         line 4
        """,
    "series/03-third.diff": """\
        diff --git a/kernel/core.c b/kernel/core.c
        --- a/kernel/core.c
        +++ b/kernel/core.c
        @@ -2,4 +2,4 @@
         line 2
         first 3
        -line 4
        +third 4
         line 5
        --- a/README
        +++ b/README
        @@ -1 +1,2 @@
         Read me.
        +And this.
        """,
    "series/cover.txt": "core: Make it good\n\nIt was not.\n",
    "tree/kernel/new/added.c": "int added;\n",
    "tree/kernel/new/run.sh": "#!/bin/sh\n",
}
SOURCE = {"kernel/core.c": CORE, "README": "Read me.\n", "Makefile": "all:\n", "lib/other.c": "int other;\n",
          ".complete": "", "with space.txt": "x\n", "scripts/tool": "#!/bin/sh\n"}


class Fixture(unittest.TestCase):
    """Each test has a source and a series of its own."""

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.source = self.directory / "source-7.2.99"
        self.kernel = self.directory / "kernel"
        for name, text in SOURCE.items():
            self.write(self.source / name, text)
            # As if it had been unpacked: older than all that is made of it.
            os.utime(self.source / name, (1_700_000_000, 1_700_000_000))
        (self.source / "scripts/tool").chmod(0o755)
        (self.source / "link.c").symlink_to("kernel/core.c")
        (self.source / "folder").symlink_to("lib")
        for name, text in SERIES.items():
            self.write(self.kernel / name, textwrap.dedent(text))
        (self.kernel / "tree/kernel/new/run.sh").chmod(0o755)

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name, text):
        self.write(self.kernel / name, (self.kernel / name).read_text() + textwrap.dedent(text))

    def listed(self):
        return series.Series(self.kernel)

    def steps(self):
        return list(self.listed().steps(self.source))

    def state(self):
        return {path: file for _, changed in self.steps() for path, file in changed.items()}

    def assert_source_is_untouched(self):
        for name, text in SOURCE.items():
            self.assertEqual((self.source / name).read_text(), text, name)
            self.assertEqual((self.source / name).stat().st_mtime, 1_700_000_000, name)


class Rules(Fixture):
    def problems(self):
        return self.listed().problems()

    def test_a_complete_series_has_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_a_file_that_no_commit_brings(self):
        self.write(self.kernel / "tree/lib/lost.c", "")
        self.assertEqual(self.problems(), ["series.toml: no commit brings kernel/tree/lib/lost.c"])

    def test_a_file_that_two_commits_bring(self):
        self.append("series/series.toml", 'files = ["kernel/new/added.c"]\n')
        self.assertEqual(self.problems(), ["series.toml: 2 commits bring kernel/tree/kernel/new/added.c"])

    def test_a_directory_stands_for_its_files(self):
        self.write(self.kernel / "tree/kernel/new/below/more.c", "")
        self.append("series/series.toml", 'files = ["kernel/new/"]\n')
        self.assertEqual(self.listed().commits[2].files,
                         ["kernel/new/added.c", "kernel/new/below/more.c", "kernel/new/run.sh"])

    def test_a_directory_of_nothing(self):
        self.append("series/series.toml", 'files = ["kernel/other/"]\n')
        applied, failure = kernel_series.collect(self.listed().steps(self.source))
        self.assertEqual(len(applied), 2)
        self.assertIn("there is no kernel/tree/kernel/other/", failure)

    def test_a_diff_that_is_left_out(self):
        self.write(self.kernel / "series/04-fourth.diff", "")
        self.assertEqual(self.problems(), ["series.toml: 04-fourth is left out"])

    def test_a_message_that_is_missing(self):
        (self.kernel / "series/02-second.msg").unlink()
        self.assertEqual(self.problems(), ["02-second: there is no 02-second.msg"])
        applied, failure = kernel_series.collect(self.listed().steps(self.source))
        self.assertEqual([commit.name for commit, _ in applied], ["01-first"])
        self.assertIn("there is no 02-second.msg", failure)

    def test_messages_without_a_text(self):
        for text in ("", "core: Add it\n", "core: Add it\n\n", "core: Add it\nand more\n\nText.\n"):
            with self.subTest(text):
                self.write(self.kernel / "series/02-second.msg", text)
                self.assertEqual(self.problems(), ["02-second.msg:1: it has to be a subject, an empty line "
                                                   "and a text"])

    def test_a_message_that_is_signed(self):
        self.append("series/02-second.msg", f"\nSigned-off-by: {WHO}\n")
        self.assertEqual(self.problems(), ["02-second.msg:5: the sign-off is added by kernel-series"])

    def test_a_commit_of_nothing(self):
        (self.kernel / "series/01-first.diff").unlink()
        self.assertEqual(self.problems(), ["01-first: it changes nothing"])

    def test_a_commit_at_another_place(self):
        self.append("series/series.toml", '[[commit]]\nname = "05-fifth"\nfiles = ["lib/fifth.c"]\n')
        self.write(self.kernel / "series/05-fifth.msg", "lib: Add it\n\nText.\n")
        self.write(self.kernel / "tree/lib/fifth.c", "")
        self.assertEqual(self.problems(), ["series.toml: 05-fifth: the name of commit 4 begins with 04-"])

    def test_no_cover_letter(self):
        (self.kernel / "series/cover.txt").unlink()
        self.assertEqual(self.problems(), ["cover.txt: there is no cover letter"])

    def test_no_commit(self):
        for name in SERIES:
            if name != "series/cover.txt":
                (self.kernel / name).unlink()
        self.assertEqual(self.problems(), ["series.toml: there is no commit"])


class Messages(Fixture):
    def signed(self, name):
        return series.Commit(self.kernel, name, []).signed_message(WHO)

    def test_the_sign_off_joins_other_trailers(self):
        self.assertTrue(self.signed("01-first").endswith(
            f"wrong.\n\nFixes: 0123456789ab (\"core: Break it\")\nSigned-off-by: {WHO}\n"))

    def test_the_sign_off_follows_a_text_after_an_empty_line(self):
        self.assertTrue(self.signed("02-second").endswith(f"there.\n\nSigned-off-by: {WHO}\n"))


class Application(Fixture):
    def test_commits_build_on_each_other(self):
        first, second, third = [changed for _, changed in self.steps()]
        self.assertEqual(set(first), {"kernel/core.c"})
        self.assertIn(b"line 2\nfirst 3\nline 4\n", first["kernel/core.c"].content)
        self.assertEqual(second["kernel/new/added.c"], series.File(b"int added;\n", False))
        self.assertEqual(second["kernel/new/run.sh"], series.File(b"#!/bin/sh\n", True))
        self.assertIn(b"line 2\nfirst 3\nthird 4\n", third["kernel/core.c"].content)
        self.assertEqual(third["README"].content, b"Read me.\nAnd this.\n")
        self.assert_source_is_untouched()

    def does_not_apply(self, name):
        applied, failure = kernel_series.collect(self.listed().steps(self.source))
        self.assertTrue(failure.startswith(f"{name}: "), failure)
        return [commit.name for commit, _ in applied]

    def test_a_diff_whose_context_differs(self):
        self.write(self.source / "README", "Read us.\n")
        self.assertEqual(self.does_not_apply("03-third"), ["01-first", "02-second"])

    def test_a_diff_of_no_file(self):
        (self.source / "README").unlink()
        self.does_not_apply("03-third")

    def test_a_diff_of_a_new_file(self):
        self.append("series/03-third.diff", """\
            --- a/kernel/new/added.c
            +++ b/kernel/new/added.c
            @@ -1 +1 @@
            -int added;
            +int more;
            """)
        self.does_not_apply("03-third")

    def test_a_diff_that_adds_a_file(self):
        self.append("series/03-third.diff", """\
            --- /dev/null
            +++ b/kernel/more.c
            @@ -0,0 +1 @@
            +int more;
            """)
        self.does_not_apply("03-third")

    def test_a_diff_that_removes_a_file(self):
        self.append("series/03-third.diff", """\
            --- a/lib/other.c
            +++ /dev/null
            @@ -1 +0,0 @@
            -int other;
            """)
        self.does_not_apply("03-third")

    def test_a_new_file_that_the_source_has(self):
        self.write(self.source / "kernel/new/added.c", "")
        self.assertEqual(self.does_not_apply("02-second"), ["01-first"])

    def test_a_new_file_that_is_missing(self):
        (self.kernel / "tree/kernel/new/added.c").unlink()
        self.does_not_apply("02-second")

    def test_no_diff(self):
        self.write(self.kernel / "series/03-third.diff", "Nothing here.\n")
        self.does_not_apply("03-third")

    def test_a_caller_in_a_repository(self):
        with mock.patch.dict(os.environ, {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"}):
            self.assertEqual(len(self.steps()), 3)

    def test_the_digest_is_of_what_is_built(self):
        before = self.listed().digest()
        self.append("series/02-second.msg", "More of it.\n")
        self.assertEqual(self.listed().digest(), before)
        seen = {before}
        for change in (lambda: self.append("series/01-first.diff", "\n"),
                       lambda: self.append("tree/kernel/new/added.c", "int more;\n"),
                       lambda: (self.kernel / "tree/kernel/new/added.c").chmod(0o755)):
            change()
            seen.add(self.listed().digest())
        self.assertEqual(len(seen), 4)


class Copies(Fixture):
    def setUp(self):
        super().setUp()
        self.tree = self.directory / "patched-7.2.99"

    def patched(self):
        with series.patched(self.source, self.kernel) as (tree, digest):
            self.assertEqual(tree, self.tree)
            self.assertEqual(digest, self.listed().digest())

    def times(self):
        # Times are of a clock that ticks some hundred times a second.
        for path in self.tree.rglob("*"):
            if path.is_file() and path.stat().st_nlink == 1 and not path.is_symlink():
                os.utime(path, (1_750_000_000, 1_750_000_000))
        return self.changed_since

    def changed_since(self):
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*")
                      if path.is_file() and not path.is_symlink() and path.name != series.RECORD
                      and path.stat().st_mtime > 1_760_000_000)

    def text(self, name):
        return (self.tree / name).read_text()

    def test_has_the_series_and_leaves_the_source(self):
        self.patched()
        self.assertIn("first 3\nthird 4\n", self.text("kernel/core.c"))
        self.assertEqual(self.text("kernel/new/added.c"), "int added;\n")
        self.assertTrue(os.access(self.tree / "kernel/new/run.sh", os.X_OK))
        self.assertFalse((self.tree / ".complete").exists())
        self.assertTrue((self.tree / "folder").is_symlink())
        self.assert_source_is_untouched()

    def test_shares_what_is_the_same(self):
        self.patched()
        self.assertTrue((self.tree / "lib/other.c").samefile(self.source / "lib/other.c"))
        self.assertFalse((self.tree / "kernel/core.c").samefile(self.source / "kernel/core.c"))

    def test_a_second_time_nothing_changes(self):
        self.patched()
        changed = self.times()
        self.patched()
        self.assertEqual(changed(), [])

    def test_one_file_changes(self):
        self.patched()
        changed = self.times()
        self.append("tree/kernel/new/added.c", "int more;\n")
        self.patched()
        self.assertEqual(changed(), ["kernel/new/added.c"])
        self.assertEqual(self.text("kernel/new/added.c"), "int added;\nint more;\n")

    def test_what_the_series_has_no_more_becomes_the_source_s(self):
        self.patched()
        changed = self.times()
        for name in ("02-second.msg", "03-third.msg", "03-third.diff"):
            (self.kernel / "series" / name).unlink()
        self.write(self.kernel / "series/series.toml", '[[commit]]\nname = "01-first"\n')
        self.patched()
        self.assertFalse((self.tree / "kernel/new").exists())
        self.assertEqual(self.text("README"), "Read me.\n")
        # With a new time: for make the source's old one would be no change.
        self.assertEqual(changed(), ["README", "kernel/core.c"])
        self.assert_source_is_untouched()

    def test_directories_of_the_source_stay(self):
        self.append("series/series.toml", 'files = ["lib/third.c"]\n')
        self.write(self.kernel / "tree/lib/third.c", "")
        self.patched()
        self.assertTrue((self.tree / "lib/third.c").exists())
        self.write(self.kernel / "series/series.toml", textwrap.dedent(SERIES["series/series.toml"]))
        (self.source / "lib/other.c").unlink()
        (self.tree / "lib/other.c").unlink()
        self.patched()
        self.assertFalse((self.tree / "lib/third.c").exists())
        self.assertTrue((self.tree / "lib").is_dir())

    def test_an_update_that_was_interrupted_is_done_again(self):
        self.patched()
        self.append("tree/kernel/new/added.c", "int more;\n")
        real = series.write_anew

        def interrupted(path, file):
            real(path, file)
            raise KeyboardInterrupt

        with mock.patch.object(series, "write_anew", interrupted):
            with self.assertRaises(KeyboardInterrupt):
                self.patched()
        self.write(self.kernel / "series/series.toml", '[[commit]]\nname = "01-first"\n')
        self.patched()
        self.assertFalse((self.tree / "kernel/new/added.c").exists())

    def test_a_series_that_does_not_apply_changes_nothing(self):
        self.patched()
        changed = self.times()
        self.write(self.kernel / "series/03-third.diff", "Nothing here.\n")
        with self.assertRaises(series.DoesNotApply):
            self.patched()
        self.assertEqual(changed(), [])

    def test_the_source_stays_while_somebody_reads_it(self):
        reads = """if True:
            import sys
            sys.path.insert(0, sys.argv[1])
            from pathlib import Path
            import series
            with series.patched(Path(sys.argv[2]), Path(sys.argv[3])) as (tree, _):
                print(Path(tree, "kernel/new/added.c").read_text())
            """
        command = [sys.executable, "-c", reads, SCRIPTS.parent / "vm", self.source, self.kernel]
        with series.patched(self.source, self.kernel):
            self.append("tree/kernel/new/added.c", "int more;\n")
            other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            with self.assertRaises(subprocess.TimeoutExpired):
                other.wait(0.5)
            self.assertEqual(self.text("kernel/new/added.c"), "int added;\n")
        self.assertIn("int more;", other.communicate(timeout=30)[0])


class Builds(Fixture):
    """The build of these tests makes an object of one file, when make would: when the object is older."""

    def setUp(self):
        super().setUp()
        self.output = self.directory / "build"
        self.output.mkdir()
        self.shared = series.Patched(self.source, self.kernel)
        self.object = self.output / "added.o"
        self.compiled = 0
        self.meanwhile = []  # what happens between reading the file and writing the object

    def make(self):
        file = self.shared.tree / "kernel/new/added.c"
        if not self.object.exists() or self.object.stat().st_mtime_ns < file.stat().st_mtime_ns:
            text = file.read_text()
            self.compiled += 1
            time.sleep(0.02)  # files' times tick
            if self.meanwhile:
                self.meanwhile.pop(0)()
            time.sleep(0.02)
            self.object.write_text(text)
        time.sleep(0.02)

    def build(self):
        kernel_build.bring_up_to_date(self.shared, self.output, lambda digest: f"key {digest}", self.make)

    def change(self):
        self.append("tree/kernel/new/added.c", "int more;\n")
        self.shared.update()  # as another build does

    def is_current(self):
        return self.object.read_text() == (self.kernel / "tree/kernel/new/added.c").read_text()

    def test_nothing_is_done_a_second_time(self):
        self.build()
        with mock.patch.object(self, "make", lambda: self.fail("built again")):
            self.build()
        self.assertEqual(self.compiled, 1)

    def test_a_change_of_the_source_is_built(self):
        self.build()
        self.change()
        self.build()
        self.assertTrue(self.is_current())
        self.assertEqual(self.compiled, 2)

    def test_a_change_while_it_is_built_is_built(self):
        self.meanwhile = [self.change]
        self.build()
        self.assertTrue(self.is_current())
        self.assertEqual(self.compiled, 2)

    def test_a_change_and_back_while_it_is_built(self):
        original = (self.kernel / "tree/kernel/new/added.c").read_text()

        def forth_and_back():
            self.change()
            self.write(self.kernel / "tree/kernel/new/added.c", original)
            self.shared.update()

        self.meanwhile = [forth_and_back]
        self.build()
        self.assertTrue(self.is_current())

    def test_a_change_while_a_build_was_interrupted_is_built(self):
        def change_and_end():
            self.change()
            self.object.write_text("of what it was")
            raise KeyboardInterrupt

        self.meanwhile = [change_and_end]
        with self.assertRaises(KeyboardInterrupt):
            self.build()
        self.build()
        self.assertTrue(self.is_current())

    def test_a_failure_is_told(self):
        def fail():
            raise guests.Failed("no")

        self.meanwhile = [fail]
        with self.assertRaises(guests.Failed):
            self.build()
        self.assertFalse((self.output / "built.key").exists())
        self.build()
        self.assertTrue(self.is_current())

    def test_a_failure_of_a_source_that_changed_is_tried_again(self):
        def change_and_fail():
            self.change()
            raise guests.Failed("no")

        self.meanwhile = [change_and_fail]
        self.build()
        self.assertTrue(self.is_current())


class Trees(Fixture):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(kernel_series, "signer", lambda: WHO)
        patch.start()
        self.addCleanup(patch.stop)
        self.tree = self.directory / "series-7.2.99"

    def make(self):
        return kernel_series.make_tree(self.source, self.steps())

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.tree, stdout=subprocess.PIPE, text=True,
                              check=True, env=series.git_environment(self.tree)).stdout

    def ids(self):
        return self.git("log", "--reverse", "--format=%H", "base..series").split()

    def test_has_a_commit_of_each(self):
        self.make()
        self.assertEqual(self.git("log", "--reverse", "--format=%s|%an <%ae>|%cn <%ce>", "series"),
                         "".join(f"{subject}|{WHO}|{WHO}\n" for subject in (
                             "Linux 7.2.99", "core: Fix it", "core: Add it", "core: Use it")))
        self.assertEqual(self.git("log", "-1", "--format=%B", "series").strip(),
                         f"core: Use it\n\nNobody did.\n\nSigned-off-by: {WHO}")
        self.assertEqual(self.git("diff", "--name-status", "series^", "series"),
                         "M\tREADME\nM\tkernel/core.c\n")
        self.assertEqual(self.git("diff", "--summary", "base", "series"),
                         " create mode 100644 kernel/new/added.c\n"
                         " create mode 100755 kernel/new/run.sh\n")

    def test_the_base_is_the_source(self):
        self.make()
        self.assertEqual(set(self.git("ls-tree", "-r", "--name-only", "base").splitlines()),
                         set(SOURCE) - {".complete"} | {"link.c", "folder"})
        self.assertIn("120000", self.git("ls-tree", "base", "folder"))
        self.assertIn("100755", self.git("ls-tree", "base", "scripts/tool"))
        self.assertEqual(self.git("show", "base:kernel/core.c"), CORE)

    def test_the_files_are_those_of_the_last_commit(self):
        self.make()
        self.assertIn("third 4", (self.tree / "kernel/core.c").read_text())
        self.assertTrue((self.tree / "lib/other.c").samefile(self.source / "lib/other.c"))
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assert_source_is_untouched()

    def test_commits_that_stay_keep_their_id(self):
        self.make()
        before = self.ids()
        self.make()
        self.assertEqual(self.ids(), before)
        self.append("series/02-second.msg", "More of it.\n")
        self.make()
        after = self.ids()
        self.assertEqual(after[0], before[0])
        self.assertNotEqual(after[1], before[1])

    def test_what_the_series_has_no_more_is_gone(self):
        self.make()
        self.write(self.kernel / "series/series.toml", '[[commit]]\nname = "01-first"\n')
        self.make()
        self.assertEqual(len(self.ids()), 1)
        self.assertFalse((self.tree / "kernel/new").exists())
        self.assertEqual((self.tree / "README").read_text(), "Read me.\n")
        self.assert_source_is_untouched()

    def test_edits_are_not_thrown_away(self):
        self.make()
        (self.tree / "kernel/core.c").write_text("mine\n")
        with self.assertRaisesRegex(guests.Failed, "kernel/core.c"):
            self.make()
        self.assertEqual((self.tree / "kernel/core.c").read_text(), "mine\n")

    def test_commits_are_not_thrown_away(self):
        self.make()
        self.git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty",
                 "-m", "mine")
        with self.assertRaisesRegex(guests.Failed, "commits on branch series"):
            self.make()

    def mails(self, *words):
        repository = self.make()
        return kernel_series.write_mails(repository, self.listed().cover, self.directory / "mails", words)

    def test_mails(self):
        mails = self.mails()
        self.assertEqual([path.name for path in mails],
                         ["0000-cover-letter.patch", "0001-core-Fix-it.patch", "0002-core-Add-it.patch",
                          "0003-core-Use-it.patch"])
        cover = mails[0].read_text()
        self.assertIn("Subject: [PATCH 0/3] core: Make it good\n", cover)
        self.assertIn("\nIt was not.\n", cover)
        self.assertNotIn("***", cover)
        self.assertIn(f"From: {WHO}\n", cover)
        self.assertIn(f"\nSigned-off-by: {WHO}\n---\n", mails[1].read_text())
        self.assertIn("+third 4", mails[3].read_text())

    def test_mails_of_an_earlier_series_are_gone(self):
        self.mails()
        self.write(self.kernel / "series/series.toml", '[[commit]]\nname = "01-first"\n')
        self.mails("-v2")
        self.assertEqual(sorted(path.name for path in (self.directory / "mails").iterdir()),
                         ["v2-0000-cover-letter.patch", "v2-0001-core-Fix-it.patch"])

    def test_mails_are_the_same_whenever_they_are_made(self):
        before = [path.read_text() for path in self.mails()]
        shutil.rmtree(self.tree)
        self.assertEqual([path.read_text() for path in self.mails()], before)

    def test_mails_apply(self):
        mails = self.mails()
        self.git("checkout", "-q", "-b", "again", "base")
        self.git("-c", "user.name=x", "-c", "user.email=x@example.org", "am", "-q", *map(str, mails[1:]))
        self.assertEqual(self.git("diff", "again", "series"), "")


COMPILER = """\
  CC      kernel/core.o
In file included from /s/include/x.h:3,
                 from /s/kernel/core.c:1:
/s/include/x.h: In function 'f':
/s/include/x.h:10:2: warning: unused variable 'a' [-Wunused-variable]
   10 |  int a;
\x1b[01m\x1b[K../source/kernel/core.c:7:5:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kexpected ';'
/s/include/x.h:10:2: warning: unused variable 'a' [-Wunused-variable]
/s/kernel/core.c:12:3: note: declared here
Warning: ../source/kernel/core.c:40 function parameter 'x' not described in 'f'
WARNING: modpost: missing MODULE_DESCRIPTION() in lib/a.o
kernel/core.o: warning: objtool: f+0x10: unreachable instruction
  LD [M]  lib/a.ko
make[2]: *** [/s/scripts/Makefile.build:289: kernel/core.o] Error 1
"""


class ToolMessages(unittest.TestCase):
    def parse(self, text):
        return [str(message) for message in series_check.messages(
            text.replace("/s/", "/w/source/").splitlines(), Path("/w/source"), Path("/w/build"))]

    def test_are_those_of_all_tools(self):
        self.assertEqual(self.parse(COMPILER), [
            "include/x.h:10: warning: unused variable 'a' [-Wunused-variable]",
            "kernel/core.c:7: error: expected ';'",
            "kernel/core.c:40: function parameter 'x' not described in 'f'",
            "WARNING: modpost: missing MODULE_DESCRIPTION() in lib/a.o",
            "kernel/core.o: warning: objtool: f+0x10: unreachable instruction"])

    def test_are_new_whatever_lines_moved(self):
        message = series_check.Message
        known = [message("a.c", 1, "old"), message("a.c", 5, "twice"), message("b.c", 1, "old")]
        found = [message("a.c", 9, "old"), message("a.c", 15, "twice"), message("a.c", 25, "twice"),
                 message("a.c", 30, "new"), message("c.c", 1, "old")]
        self.assertEqual(series_check.new_messages(found, known), [found[2], found[3], found[4]])


class Concerns(unittest.TestCase):
    def test_are_the_checks_that_files_are_a_matter_of(self):
        checker = series_check.Checker.__new__(series_check.Checker)
        for paths, checks in {
                "kernel/events/core.c": {"builds", "sparse", "kernel-doc"},
                "lib/Kconfig.debug": {"builds", "sparse"},
                "include/uapi/linux/perf_event.h": {"builds", "sparse", "kernel-doc", "selftests"},
                "Documentation/core-api/perf_aux.rst": {"rst"},
                "Documentation/litmus-tests/perf/a.litmus": set(),
                "MAINTAINERS": set(),
                "tools/testing/selftests/perf_events/a.sh": {"selftests"},
                "tools/testing/selftests/perf_events/a.c lib/a.c": {"builds", "sparse", "kernel-doc",
                                                                   "selftests"}}.items():
            with self.subTest(paths):
                self.assertEqual(set(checker.checks(paths.split())), checks)


class Configurations(unittest.TestCase):
    def test_the_last_value_counts(self):
        self.assertEqual(kernels.merged("CONFIG_A=y\n# why\nCONFIG_B=y\n", "# CONFIG_A is not set\n"),
                         ["CONFIG_B=y", "# CONFIG_A is not set"])

    def test_what_was_not_taken_is_noticed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / ".config"
            path.write_text("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x=y\"\nCONFIG_D=m\n")
            kernels.check_config(path, ["CONFIG_A=y", "# CONFIG_B is not set", "CONFIG_B=n",
                                        'CONFIG_C="x=y"', "CONFIG_D=m", "# CONFIG_E is not set"])
            for line in ("CONFIG_A=m", "CONFIG_B=y", "# CONFIG_A is not set", "CONFIG_AA=y", "CONFIG_D=n"):
                with self.subTest(line), self.assertRaises(guests.Failed):
                    kernels.check_config(path, [line])

    def test_symbols_of_the_series(self):
        with tempfile.TemporaryDirectory() as name:
            source = Path(name)
            old = "config OLD\n\tbool \"Old\"\n\thelp\n\t  Text.\n\n"
            new = ("config NEW\n\ttristate \"New\"\n\tdepends on OLD\n\nconfig NUMBER\n\tint \"Number\"\n"
                   "\nmenuconfig MENU\n\tdepends on OLD\n\tbool \"Menu\"\n\n")
            (source / "Kconfig").write_text(old)
            state = {"Kconfig": series.File((new + old).encode(), False),
                     "lib/Kconfig.debug": series.File(b"config MORE\n\tbool\n", False),
                     "lib/a.c": series.File(b"config NOT\n\tbool\n", False)}
            self.assertEqual(series_check.new_symbols(source, state),
                             {"CONFIG_NEW": "m", "CONFIG_MENU": "y", "CONFIG_MORE": "y"})

    def test_objects_of_files(self):
        self.assertEqual(series_check.objects_of(["kernel/a.c", "kernel/a.h", "tools/b.c", "lib/c.c",
                                                  "Documentation/d.c"]), ["kernel/a.o", "lib/c.o"])

    def test_modules_of_earlier_builds_are_gone(self):
        with tempfile.TemporaryDirectory() as name:
            output = Path(name)
            for path in ("lib/new.ko", "modules/old.ko"):
                Fixture.write(output / path, "")
            (output / "modules.order").write_text("lib/new.o\n")
            kernel_build.collect_modules(output)
            self.assertEqual([path.name for path in (output / "modules").iterdir()], ["new.ko"])


class Results(unittest.TestCase):
    def test_the_table_tells_what_was_not_a_matter(self):
        run = kernel_series.Run()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            run.add("01-first", "builds", "")
            run.add("01-first", "sparse", "kernel/core.c:1: warning: no")
        self.assertIn("\n    kernel/core.c:1: warning: no\n", printed.getvalue())
        self.assertEqual([each.outcome for each in run.cases], [results.PASSED, results.FAILED])
        head, row = series_check.table(run.rows).splitlines()
        self.assertEqual(dict(zip(head.split(), row.split()[1:])),
                         {"builds": "ok", "sparse": "FAILED", "kernel-doc": "-", "selftests": "-", "rst": "-",
                          "checkpatch": "-"})


@unittest.skipUnless(Path(guests.DEBIAN_PYTHON, "docutils").exists(), "python3-docutils is not there")
class Documents(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as name:
            Fixture.write(Path(name) / "Documentation/a.rst", textwrap.dedent(text))
            Fixture.write(Path(name) / "Documentation/b.rst", "")
            return rst.check(name, "Documentation/a.rst")

    def test_that_are_good(self):
        self.assertEqual(self.check("""\
            =====
            Title
            =====

            See :doc:`b`, :doc:`text </b>` and :c:func:`f()`.

            .. toctree::
               :maxdepth: 1

               b
            """), [])

    def test_that_are_not(self):
        found = self.check("""\
            Title
            ====

            See :doc:`c`, :what:`d` and ``e.

            .. kernel-doc:: kernel/missing.c
               :identifiers: f
            """)
        self.assertEqual({line for line, _ in found}, {2, 4, 6})
        self.assertIn((4, "there is no document c"), found)
        self.assertIn((6, "there is no kernel/missing.c"), found)


if __name__ == "__main__":
    unittest.main()
