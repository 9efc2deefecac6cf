# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is proven of each commit of the series in kernel/: it builds without warnings, sparse, kernel-doc and
checkpatch.pl find nothing, the selftests build.

The kernel's own code has warnings, too: only those are a commit's that the source without the series has not.
"""

import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import guests
import kernels
import results
import rst
import series

CHECKS = ["builds", "sparse", "kernel-doc", "selftests", "rst", "checkpatch"]
ARCH = "x86_64"
# What uses perf's internals and its AUX buffers: built whatever the commit changes.
USERS = ["kernel/events/", "arch/x86/events/", "kernel/trace/trace_event_perf.o"]
SELFTESTS = "tools/testing/selftests/perf_events"
# In addition to a guest's, for the symbols that the series adds.
CONFIG = ["CONFIG_DEBUG_KERNEL=y", "CONFIG_RUNTIME_TESTING_MENU=y", "CONFIG_KUNIT=y", "CONFIG_SAMPLES=y",
          "CONFIG_CGROUPS=y", "CONFIG_CGROUP_PERF=y"]
# User mode Linux has no perf events: where headers have other declarations for that, these include them.
WITHOUT_PERF = ["kernel/fork.o", "kernel/exit.o"]
PACKAGES = [*kernels.PACKAGES, "libc6-dev", "python3-docutils", "python3-git", "python3-ply"]
SYMBOL = re.compile(r"(?m)^(?:menu)?config\s+(\w+)\n(?:[ \t]+.*\n|\n)*?[ \t]+(bool|tristate)\b")


class Message(NamedTuple):
    """What a tool says of a line."""
    path: str  # in the source
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


# "path:line:column: warning: text" of compilers and sparse, "Warning: path:line text" of kernel-doc.
MESSAGE = re.compile(r"(?:(?P<before>Warning|Error): )?(?P<path>[^\s:]+):(?P<line>\d+)(?::\d+)?:? "
                     r"(?P<text>.*)")
# "WARNING: modpost: text", and "kernel/events/core.o: warning: objtool: text": these know of no line.
OF_OBJECT = re.compile(r"(?P<path>(?:WARNING|ERROR): modpost|[^\s:]+\.k?o(?=: warning: )): (?P<text>.*)")


def messages(lines, source, directory):
    """The warnings and errors among the lines that a tool printed about a source, which ran in a directory.
    One of a header comes from all that include it, and is one."""
    found = {}
    for line in lines:
        line = re.sub(r"\x1b\[[0-9;]*[mK]", "", line)
        if match := OF_OBJECT.fullmatch(line):
            message = Message(match["path"], 0, match["text"])
            found[message, line] = message
            continue
        match = MESSAGE.fullmatch(line)
        if not match or not (match["before"] or re.match(r"(fatal )?(warning|error): ", match["text"])):
            continue
        path = os.path.relpath(os.path.join(directory, match["path"]), source)
        message = Message(path, int(match["line"]), match["text"])
        found.setdefault((message, line), message)
    return list(found.values())


def new_messages(found, known):
    """Those of the found messages that are not known: lines move, so a line number is no difference."""
    rest = collections.Counter((message.path, message.text) for message in known)
    new = []
    for message in found:
        if rest[message.path, message.text] > 0:
            rest[message.path, message.text] -= 1
        else:
            new.append(message)
    return new


def new_symbols(source, state):
    """{CONFIG_NAME: y or m} of the configuration symbols that the files of a state add."""
    found = {}
    for path, file in state.items():
        if not Path(path).name.startswith("Kconfig"):
            continue
        old = (source / path).read_text(errors="replace") if (source / path).exists() else ""
        before = {name for name, _ in SYMBOL.findall(old)}
        found.update({f"CONFIG_{name}": "m" if kind == "tristate" else "y"
                      for name, kind in SYMBOL.findall(file.content.decode(errors="replace"))
                      if name not in before})
    return found


def is_code(path):
    """Whether a file takes part in the kernel's build."""
    return not path.startswith(("Documentation/", "tools/")) and path != "MAINTAINERS"


def objects_of(paths):
    return sorted({path[:-2] + ".o" for path in paths if is_code(path) and path.endswith(".c")})


def sparse():
    """The command that runs sparse. Releases before 0.6.5 do not know operators that the kernel uses, and
    the build then passes over sparse without an error; so it is one of Debian testing, with its C library."""
    directory = guests.CACHE / "sparse"
    command = directory / "run"
    with guests.locked(directory):
        if not command.exists():
            guests.run(guests.TOP / "scripts" / "debian-packages", "--suite", "testing", "--alone",
                       directory, "sparse", "libc6")
            libraries = directory / "usr/lib/x86_64-linux-gnu"
            # After so many messages it would stop, and the kernel's own come first.
            command.with_suffix(".new").write_text(
                f"#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} "
                f"{directory}/usr/bin/sparse -fmax-errors=unlimited -fmax-warnings=unlimited \"$@\"\n")
            command.with_suffix(".new").chmod(0o755)
            command.with_suffix(".new").rename(command)
    return command


class Checker:
    """Goes through the series in a copy of the source, commit by commit."""

    def __init__(self, source, final, jobs, link=False):
        """final: the state ({path: File}) that the whole series leaves."""
        self.source = source
        self.link = link
        self.touched = {path for path in final if (source / path).exists()}
        self.symbols = new_symbols(source, final)
        self.work = series.copy_name(source, "check")
        self.work.mkdir(parents=True, exist_ok=True)
        self.tree = self.work / "source"
        if not self.tree.exists():
            series.copy_links(source, self.tree)
        self.arch = guests.Architecture(ARCH)
        self.kernel = self.builder(f"build-{ARCH}", self.arch.kernel["arch"], jobs)
        self.without_perf = self.builder("build-um", "um", jobs)
        self.sparse = sparse()
        self.known = {}  # messages of the source itself, by check
        self.state = {}

    def builder(self, name, arch, jobs):
        (self.work / name).mkdir(exist_ok=True)
        return kernels.Build(self.tree, self.work / name, arch, self.arch.gnu, jobs)

    def go_to(self, state):
        self.state = state
        series.update(self.tree, self.source, state)

    def checks(self, changed):
        """{check: what runs it and returns messages} of the checks that changed files are a matter of."""
        runs = {}
        if any(map(is_code, changed)):
            runs["builds"], runs["sparse"] = self.build, self.run_sparse
        if any(path.endswith((".c", ".h")) for path in changed):
            runs["kernel-doc"] = self.kernel_doc
        if any(path.startswith(("tools/testing/", "include/uapi/")) for path in changed):
            runs["selftests"] = self.selftests
        if any(path.endswith(".rst") for path in changed):
            runs["rst"] = self.check_rst
        return runs

    def learn(self, say):
        """What the tools say of the source itself."""
        self.go_to({})
        for target in (*USERS, *objects_of(self.touched)):
            # What was compiled before would not say anything.
            objects = self.kernel.output / target
            for each in objects.rglob("*.o") if target.endswith("/") else [objects]:
                each.unlink(missing_ok=True)
        # The selftests' headers are the source's as long as no commit changes them.
        for check, run in self.checks({*self.touched, SELFTESTS + "/"}).items():
            say(check)
            self.known[check] = run(self.touched)

    def check(self, changed):
        """Yields (check, what it found: text for people)."""
        for check, run in self.checks(changed).items():
            try:
                new = new_messages(run(changed), self.known.get(check, []))
                yield check, "\n".join(map(str, new))
            except guests.Failed as failed:
                yield check, str(failed)

    def config(self):
        """The lines of the configuration; symbols that later commits bring are not there yet."""
        ours = new_symbols(self.source, self.state)
        lines = kernels.merged("\n".join([*CONFIG, *(f"{name}={value}" for name, value in ours.items())]),
                               *(path.read_text() for path in kernels.fragments(self.arch)))
        later = set(self.symbols) - set(ours)
        return [line for line in lines if kernels.symbol_of(line) not in later]

    def build(self, changed):
        """Builds what the state touches, and its users."""
        self.kernel.configure(self.config())
        objects = objects_of([*self.state, *changed])
        lines = self.kernel.make("W=1", *(["vmlinux", "modules"] if self.link else [*USERS, *objects]))
        missing = [each for each in objects if not (self.kernel.output / each).exists()]
        if missing:
            raise guests.Failed(f"the configuration leaves out {', '.join(missing)}")
        found = messages(lines, self.tree, self.kernel.output)
        if any(path.startswith("include/") for path in changed):
            self.without_perf.configure(["CONFIG_64BIT=y", "# CONFIG_PERF_EVENTS is not set"])
            lines = self.without_perf.make("W=1", *WITHOUT_PERF)
            found += messages(lines, self.tree, self.without_perf.output)
        return found

    def run_sparse(self, changed):
        objects = objects_of([*self.state, *changed])
        # The same W as in build(): with other flags all would be compiled again.
        lines = self.kernel.make("W=1", "C=2", f"CHECK={self.sparse}", "kernel/events/", *objects,
                                 log="sparse.log")
        seen = {os.path.relpath(os.path.join(self.kernel.output, line.split()[1]), self.tree)
                for line in lines if line.startswith("  CHECK  ")}
        missing = {each[:-2] + ".c" for each in objects} - seen
        if missing:
            raise guests.Failed(f"sparse has not seen {', '.join(sorted(missing))}")
        return messages(lines, self.tree, self.kernel.output)

    def kernel_doc(self, changed):
        files = [path for path in sorted(changed) if path.endswith((".c", ".h"))]
        printed = guests.run("scripts/kernel-doc", "-none", "-Wall", *files, cwd=self.tree,
                             env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return messages(printed.splitlines(), self.tree, self.tree)

    def selftests(self, _):
        """Builds them anew with this state's headers."""
        output = self.work / "selftests"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir()
        self.kernel.make("headers", log="headers.log")
        result = subprocess.run(["make", "-C", self.tree / SELFTESTS, f"OUTPUT={output}",
                                 f"KHDR_INCLUDES=-isystem {self.kernel.output}/usr/include"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", check=False, env=self.kernel.environment)
        if result.returncode != 0:
            raise guests.Failed(f"they do not build:\n{result.stdout[-4000:]}")
        makefile = (self.tree / SELFTESTS / "Makefile").read_text()
        ours = [Path(path) for path in self.state if Path(path).parent == Path(SELFTESTS)]
        missing = [path.name for path in ours
                   if (path.suffix == ".c" and not (output / path.stem).exists())
                   or (path.suffix == ".sh" and path.name not in makefile)]
        if missing:
            raise guests.Failed(f"the Makefile leaves out {', '.join(missing)}")
        return messages(result.stdout.splitlines(), self.tree, self.tree / SELFTESTS)

    def check_rst(self, changed):
        return [Message(path, line, text) for path in sorted(changed) if path.endswith(".rst")
                for line, text in rst.check(self.tree, path)]


def maintained(tree, path):
    """Whether a section of MAINTAINERS other than that of all files has a file."""
    printed = guests.run("scripts/get_maintainer.pl", "--nogit", "--nogit-fallback", "-f", path, cwd=tree)
    return any("THE REST" not in line and not line.endswith("(open list)") for line in printed.splitlines())


def checkpatch(tree, patch, new_files, history=None):
    """(what checkpatch.pl finds in a patch, commits that could not be looked up), in a git tree that has the
    patch. It has no history: a repository that has it may be given. Where checkpatch.pl asks whether
    MAINTAINERS has to know of new files, that is looked up."""
    environment = {**os.environ, "PYTHONPATH": guests.DEBIAN_PYTHON, "PYTHONDONTWRITEBYTECODE": "1"}
    if history:
        environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = guests.run(
            "git", "rev-parse", "--path-format=absolute", "--git-path", "objects", cwd=history).strip()
    result = subprocess.run(["scripts/checkpatch.pl", "--strict", "--terse", "--show-types", "--no-summary",
                             "--showfile", patch], cwd=tree, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    found, unknown = [], []
    for line in filter(str.strip, result.stdout.splitlines()):
        if "WARNING:FILE_PATH_CHANGES:" in line:
            found += [f"{path}: MAINTAINERS does not have it"
                      for path in new_files if not maintained(tree, path)]
        elif (commit := re.search(r"WARNING:UNKNOWN_COMMIT_ID: .*'(\w+)'", line)) and not history:
            unknown.append(commit[1])
        else:
            found.append(line)
    if result.returncode not in (0, 1) or (result.returncode == 1 and not result.stdout.strip()):
        found.append(f"checkpatch.pl failed with status {result.returncode}")
    return "\n".join(found), unknown


def check_patches(tree, patches, history):
    """{name: what checkpatch() gives} of {name: (patch, its new files)}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = {name: pool.submit(checkpatch, tree, *patch, history) for name, patch in patches.items()}
        return {name: each.result() for name, each in found.items()}


def table(rows):
    """Of {name: {check: case}}; what is not a matter of a commit is no case."""
    words = {results.PASSED: "ok", results.FAILED: "FAILED"}
    width = max(map(len, rows), default=0)
    lines = [f"{'':<{width}} " + " ".join(f"{check:>10}" for check in CHECKS)]
    for name, cases in rows.items():
        cells = (words[cases[check].outcome] if check in cases else "-" for check in CHECKS)
        lines.append(f"{name:<{width}} " + " ".join(f"{cell:>10}" for cell in cells))
    return "\n".join(lines)
