# SPDX-License-Identifier: LGPL-2.1-or-later
"""The patch series in kernel/, and the kernel's source with the series applied.

kernel/series/series.toml has the commits in their order. Of each there are
    kernel/series/NAME.msg   its message, without a sign-off
    kernel/series/NAME.diff  its edits of the kernel's own files, on top of the commits before it
    kernel/tree/PATH         each file that it adds, in its final form; PATH/ stands for all files below
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

import guests

KERNEL = guests.TOP / "kernel"
KERNELS = guests.CACHE / "kernel"
# What a copy of the source has in it that is not the source's.
RECORD = ".series.json"
TRAILER = re.compile(r"[A-Z][A-Za-z-]*: \S")


class File(NamedTuple):
    """A file of the source, as a commit leaves it."""
    content: bytes
    executable: bool

    @staticmethod
    def read(path):
        return File(path.read_bytes(), os.access(path, os.X_OK))


class DoesNotApply(guests.Failed):
    """A commit's diff does not fit on what comes before it."""

    def __init__(self, commit, text):
        super().__init__(f"{commit.name}: {text}")
        self.commit = commit


def git_environment(directory):
    """For git on the repository in a directory, or where there is none, on its files: whatever repository the
    caller's environment names (as it does in a hook), it is not meant."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**inherited, "GIT_CEILING_DIRECTORIES": str(Path(directory).resolve().parent),
            # Another user's preferences would make another series.
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def apply(directory, diff, *words):
    return guests.run("git", "apply", "--whitespace=nowarn", *words, diff.resolve(), cwd=directory,
                      env=git_environment(directory))


class Commit:
    """One commit of the series."""

    def __init__(self, kernel, name, files):
        self.name = name
        self.files = []  # new ones
        for path in files:
            below = sorted((kernel / "tree" / path).rglob("*")) if path.endswith("/") else []
            self.files += [str(each.relative_to(kernel / "tree")) for each in below
                           if each.is_file()] or [path]
        self.tree = kernel / "tree"
        self.diff = kernel / "series" / f"{name}.diff"
        self.message = kernel / "series" / f"{name}.msg"

    def edited(self):
        """The paths of the kernel's own files that the commit edits."""
        if not self.diff.exists():
            return []
        listed = apply(self.diff.parent, self.diff, "--numstat", "-z")
        return [entry.split("\t", maxsplit=2)[2] for entry in listed.split("\0") if entry]

    def signed_message(self, signer):
        if not self.message.exists():
            raise DoesNotApply(self, f"there is no {self.message.name}")
        text = self.message.read_text().rstrip("\n")
        last = text.rpartition("\n\n")[2].splitlines()
        separator = "\n" if all(TRAILER.match(line) for line in last) else "\n\n"
        return f"{text}{separator}Signed-off-by: {signer}\n"

    def problems(self):
        if not self.message.exists():
            return [f"{self.name}: there is no {self.message.name}"]
        subject, *body = self.message.read_text().splitlines() or [""]
        found = []
        if not subject.strip() or body[:1] != [""] or not "".join(body).strip():
            found.append(f"{self.message.name}:1: it has to be a subject, an empty line and a text")
        found += [f"{self.message.name}:{number}: the sign-off is added by kernel-series"
                  for number, line in enumerate([subject, *body], 1) if line.startswith("Signed-off-by:")]
        if not self.diff.exists() and not self.files:
            found.append(f"{self.name}: it changes nothing")
        return found


class Series:
    """What there is in kernel/."""

    def __init__(self, kernel=KERNEL):
        self.kernel = kernel
        self.cover = kernel / "series" / "cover.txt"
        listed = kernel / "series" / "series.toml"
        described = tomllib.loads(listed.read_text()) if listed.exists() else {}
        self.commits = [Commit(kernel, each["name"], each.get("files", []))
                        for each in described.get("commit", [])]

    def digest(self):
        """Changes whenever the source that the series makes does."""
        digest = hashlib.sha256()
        for commit in self.commits:
            parts = [commit.name.encode(), commit.diff.read_bytes() if commit.diff.exists() else b""]
            for path in commit.files:
                file = self.new_file(commit, path)
                parts += [path.encode(), file.content, b"x" if file.executable else b"-"]
            for part in parts:
                digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()

    def new_file(self, commit, path):
        if not (self.kernel / "tree" / path).is_file():
            raise DoesNotApply(commit, f"there is no kernel/tree/{path}")
        return File.read(self.kernel / "tree" / path)

    def steps(self, source):
        """Yields (commit, {path: File}), with the files that the commit changes or adds as it leaves them.
        Raises DoesNotApply."""
        with tempfile.TemporaryDirectory(prefix="series.") as name:
            scratch = Path(name)
            for commit in self.commits:
                yield commit, self.step(commit, source, scratch)

    def step(self, commit, source, scratch):
        try:
            edited = commit.edited()
            for path in edited:
                target = scratch / path
                if target.exists():
                    continue
                if not (source / path).is_file():
                    raise DoesNotApply(commit, f"the source has no {path} to edit; "
                                               "new files stand in kernel/tree, in their final form")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / path, target)
            if commit.diff.exists():
                apply(scratch, commit.diff)
        except DoesNotApply:
            raise
        except guests.Failed as failed:
            raise DoesNotApply(commit, str(failed)) from failed
        removed = [path for path in edited if not (scratch / path).is_file()]
        if removed:
            raise DoesNotApply(commit, f"it removes {', '.join(removed)}; diffs edit files, and no more")
        changed = {path: File.read(scratch / path) for path in edited}
        for path in commit.files:
            if path in changed or (source / path).exists():
                raise DoesNotApply(commit, f"{path} is not new")
            changed[path] = self.new_file(commit, path)
        return changed

    def problems(self):
        """What is wrong with the files themselves, a line for each."""
        found = []
        names = [commit.name for commit in self.commits]
        for place, name in enumerate(names, 1):
            if not re.fullmatch(rf"{place:02}-[a-z0-9-]+", name):
                found.append(f"series.toml: {name}: the name of commit {place} begins with {place:02}-")
        for commit in self.commits:
            found += commit.problems()
        kept = {path.stem for path in (self.kernel / "series").iterdir()
                if path.suffix in (".msg", ".diff")}
        found += [f"series.toml: {name} is left out" for name in sorted(kept - set(names))]
        brought = [path for commit in self.commits for path in commit.files]
        there = {str(path.relative_to(self.kernel / "tree"))
                 for path in (self.kernel / "tree").rglob("*") if path.is_file()}
        found += [f"series.toml: no commit brings kernel/tree/{path}"
                  for path in sorted(there - set(brought))]
        found += [f"series.toml: {brought.count(path)} commits bring kernel/tree/{path}"
                  for path in sorted(set(brought)) if brought.count(path) > 1]
        if not self.commits:
            found.append("series.toml: there is no commit")
        if not self.cover.exists():
            found.append("cover.txt: there is no cover letter")
        return found


def copy_links(source, target):
    """A copy of a source whose files are the same ones. Nothing may write in them: a file that is to be
    another one is written anew, and then takes the name."""
    temporary = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        guests.run("cp", "-al", f"{source}/.", temporary)
        (temporary / ".complete").unlink(missing_ok=True)
        temporary.chmod(0o755)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary)
        raise


def write_anew(path, file):
    """Gives a file another content, its other names keep theirs; its time is now, so that make sees it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(file.content)
    temporary.chmod(0o755 if file.executable else 0o644)
    temporary.replace(path)


def remove(tree, source, path):
    """Removes a file, and the directories that were there for it alone."""
    (tree / path).unlink(missing_ok=True)
    for directory in Path(path).parents:
        if (source / directory).exists() or not (tree / directory).is_dir() or any(
                (tree / directory).iterdir()):
            break
        (tree / directory).rmdir()


def read_record(tree):
    try:
        return json.loads((tree / RECORD).read_text())
    except (OSError, ValueError):
        return {}


def write_record(tree, **record):
    temporary = tree / f"{RECORD}.new"
    temporary.write_text(json.dumps(record))
    temporary.replace(tree / RECORD)


def update(tree, source, wanted, digest=""):
    """Gives a copy of the source the files that are wanted ({path: File}); all others become the source's
    again. What has its content already is not touched, so that make leaves what depends on it. Returns the
    paths of what was."""
    record = read_record(tree)
    before = set(record.get("files", []))
    touched = {}
    for path in sorted(before | set(wanted)):
        file = wanted.get(path)
        if file is None and (source / path).is_file():
            # Not a link: make would take the source's old time for no change.
            file = File.read(source / path)
        if file is None or not (tree / path).is_file() or File.read(tree / path) != file:
            touched[path] = file
    # Each change of files has a number, by which a build knows what it may have missed.
    generation = record.get("generation", 0) + bool(touched)
    changes = {**record.get("changes", {}), **{path: generation for path in touched}}
    # Should this end half-way, the next one knows of all files that there may be.
    write_record(tree, files=sorted(before | set(wanted)), generation=generation, changes=changes)
    for path, file in touched.items():
        if file is None:
            remove(tree, source, path)
        else:
            write_anew(tree / path, file)
    write_record(tree, files=sorted(wanted), generation=generation, changes=changes, digest=digest)
    return list(touched)


@contextlib.contextmanager
def flocked(path, kind=fcntl.LOCK_EX):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, kind)
        yield lock


def copy_name(source, kind):
    """Where the copy of a source (source-7.2.12) for a purpose is (KIND-7.2.12)."""
    return source.with_name(f"{kind}-{source.name.removeprefix('source-')}")


class Patched:
    """The source with the series applied, which all builds share. It may change while one builds: what is
    built is right when generation() is still what update() returned, else it has to be built again, after
    renew()."""

    def __init__(self, source, kernel=KERNEL):
        self.source = source
        self.kernel = kernel
        self.tree = copy_name(source, "patched")

    def lock(self, kind=fcntl.LOCK_EX):
        return flocked(self.tree.with_name(f"{self.tree.name}.lock"), kind)

    def update(self):
        """Applies the series as it is now. Returns its digest and the files' generation."""
        with self.lock():
            listed = Series(self.kernel)
            digest = listed.digest()
            if read_record(self.tree).get("digest") != digest:
                wanted = {}
                for _, changed in listed.steps(self.source):
                    wanted.update(changed)
                if not self.tree.exists():
                    copy_links(self.source, self.tree)
                update(self.tree, self.source, wanted, digest)
            return digest, self.generation()

    def generation(self):
        return read_record(self.tree).get("generation", 0)

    def renew(self, generation):
        """Makes files that changed after a generation look as if they had done so now. A build that ran when
        they did may have made objects of what they were, and these are newer than they are."""
        with self.lock():
            for path, change in read_record(self.tree).get("changes", {}).items():
                if change > generation and (self.tree / path).exists():
                    os.utime(self.tree / path)


@contextlib.contextmanager
def patched(source, kernel=KERNEL):
    """Gives (directory, digest) of the source with the series applied, which stays as it is meanwhile: for
    what takes a moment."""
    shared = Patched(source, kernel)
    digest, _ = shared.update()
    with shared.lock(fcntl.LOCK_SH):
        yield shared.tree, digest
