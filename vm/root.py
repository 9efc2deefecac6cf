# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file system that a guest boots from: Debian's programs of its architecture, as an initramfs.

All packages are unpacked in the cache (`unpacked()`), where cross compilers find libraries, too. The
initramfs holds a few programs of them and the libraries that these need, found as the dynamic linker
finds them. What runs in the guest comes in a second archive behind it, see machine.py.
"""

import hashlib
import os
import re
import shutil
import subprocess

import guests

PROGRAMS = ["busybox-static", "libc-bin", "libtraceevent1-plugin", "linux-perf", "python3-minimal",
            "trace-cmd"]
# What our own programs and their tests are built with.
LIBRARIES = ["libcli11-dev", "libexpected-dev", "libfmt-dev", "libgmock-dev", "libgtest-dev",
             "librapidcheck-dev", "libstdc++6", "libtracecmd-dev", "libtraceevent-dev", "libtracefs-dev",
             "libzstd-dev", "zlib1g-dev"]
# What goes into the initramfs, with its libraries; a directory goes with all that is in it.
FILES = ["bin/busybox", "usr/bin/getconf", "usr/bin/perf", "usr/bin/python3.11", "usr/bin/trace-cmd",
         "usr/lib/python3.11", "usr/lib/{gnu}/traceevent",
         # of our own programs
         "usr/lib/{gnu}/libfmt.so.9", "usr/lib/{gnu}/libstdc++.so.6", "usr/lib/{gnu}/libz.so.1",
         "usr/lib/{gnu}/libzstd.so.1"]
DIRECTORIES = ["dev", "etc", "job", "out", "proc", "root", "run", "sys", "tmp"]
INIT = guests.VM / "init"


def unpacked(arch):
    """The directory with all packages of an architecture; they are fetched when it is not there."""
    directory = guests.CACHE / "vm" / arch.name / "packages"
    wanted = "\n".join([*PROGRAMS, *LIBRARIES])
    with guests.locked(directory.parent):
        done = directory / ".complete"
        if done.exists() and done.read_text() == wanted:
            return directory
        shutil.rmtree(directory, ignore_errors=True)
        guests.run(guests.TOP / "scripts" / "debian-packages", "--arch", arch.debian, directory,
                   *PROGRAMS, *LIBRARIES)
        merge_usr(directory)
        done.write_text(wanted)
    return directory


def merge_usr(directory):
    """/bin, /lib and so on become links into /usr, as on every Debian system; packages still differ
    in which of them they use."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        old = directory / name
        if old.is_symlink() or not old.exists():
            continue
        shutil.copytree(old, directory / "usr" / name, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(old)
        old.symlink_to(f"usr/{name}")


def needed_by(path):
    """The names of the libraries that a program or library asks for, and its dynamic linker."""
    result = subprocess.run(["readelf", "-W", "-d", "-l", path], capture_output=True, text=True,
                            check=False)
    return re.findall(r"\(NEEDED\).*\[(.+)\]|interpreter: (\S+)\]", result.stdout)


class Closure:
    """Files of the unpacked packages, with all that they need."""

    def __init__(self, arch, packages):
        self.packages = packages
        self.folders = [f"usr/lib/{arch.gnu}", "usr/lib", "usr/lib64"]
        self.files = set()  # relative to packages

    def add(self, name):
        path = self.packages / name
        if path.is_dir() and not path.is_symlink():
            for below in sorted(path.iterdir()):
                self.add(f"{name}/{below.name}")
            return
        if name in self.files or name.endswith(".pyc"):
            return
        if not path.exists():
            raise guests.Failed(f"no package has {name}")
        self.files.add(name)
        if path.is_symlink():
            target = os.path.join("/", os.path.dirname(name), os.readlink(path))
            self.add(os.path.normpath(target).lstrip("/"))
            return
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return
        for library, linker in needed_by(path):
            self.add(self.find(library or os.path.basename(linker)))

    def find(self, library):
        for folder in self.folders:
            if os.path.lexists(self.packages / folder / library):
                return f"{folder}/{library}"
        raise guests.Failed(f"no package has the library {library}")


def archive(directory, output):
    """Packs a directory as the kernel unpacks it: a compressed cpio archive."""
    with open(output, "wb") as file:
        names = subprocess.Popen(["find", ".", "-mindepth", "1", "-print0"], cwd=directory,
                                 stdout=subprocess.PIPE)
        pack = subprocess.Popen(["cpio", "--null", "--create", "--quiet", "--format=newc",
                                 "--owner=0:0"], cwd=directory, stdin=names.stdout,
                                stdout=subprocess.PIPE)
        press = subprocess.run(["gzip", "-1n"], stdin=pack.stdout, stdout=file, check=False)
        if names.wait() or pack.wait() or press.returncode:
            raise guests.Failed(f"cannot pack {directory}")


def initramfs(arch):
    """The path of the architecture's initramfs; it is made when it is not there."""
    packages = unpacked(arch)
    key = hashlib.sha256(repr((FILES, DIRECTORIES, INIT.read_text(),
                               (packages / ".complete").stat().st_mtime)).encode()).hexdigest()
    output = packages.parent / f"root-{key[:16]}.cpio.gz"
    with guests.locked(packages.parent):
        if not output.exists():
            make_initramfs(arch, packages, output)
    return output


def make_initramfs(arch, packages, output):
    closure = Closure(arch, packages)
    for name in FILES:
        closure.add(name.format(gnu=arch.gnu))
    tree = output.with_suffix(".tree")
    shutil.rmtree(tree, ignore_errors=True)
    for name in DIRECTORIES:
        (tree / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / "usr" / name).mkdir(parents=True)
        (tree / name).symlink_to(f"usr/{name}")
    for name in sorted(closure.files):
        target = tree / ("usr/" + name if name.startswith("bin/") else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(packages / name, target, follow_symlinks=False)
    link_interpreters(tree, packages)
    shutil.copy2(INIT, tree / "init")
    (tree / "usr/bin/python3").symlink_to("python3.11")
    temporary = output.with_suffix(".new")
    archive(tree, temporary)
    shutil.rmtree(tree)
    for old in output.parent.glob("root-*.gz"):
        old.unlink()
    temporary.rename(output)


def link_interpreters(tree, packages):
    """Dynamic linkers are asked for by names like /lib64/ld-linux-x86-64.so.2, which are links."""
    for folder in ("lib", "lib64"):
        for link in (packages / "usr" / folder).glob("ld*.so*"):
            target = tree / "usr" / folder / link.name
            if not os.path.lexists(target):
                shutil.copy2(link, target, follow_symlinks=False)
