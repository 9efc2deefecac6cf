# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command in a guest, and brings back what it left in /out."""

import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import guests
import root

PACKAGES = ["binutils", "cpio", "gzip"]
DISK_BYTES = 1 << 30  # sparse; /out must fit
TIMED_OUT = 124  # as timeout(1) has it

# What a healthy kernel does not say.
COMPLAINT = re.compile(
    r"WARNING:|_WARN_ON\(|\bBUG(:| at )|\bOops\b|Kernel panic|Unable to handle kernel|"
    r"UBSAN:|refcount_t:|list_(add|del) corruption|"
    r"trying to register non-static key|"  # lockdep; its other reports begin with WARNING
    r"rcu: INFO:.* stall|kthread starved|blocked for more than|"
    r"unreferenced object|kmemleak: \d+ new|"
    r"---\[ end trace|\[#\d+\]")  # of what else kills a task on any architecture
# KCSAN looks at the whole kernel, which is not free of data races.
DATA_RACE = re.compile(r"BUG: KCSAN: data-race in (\S+)(?: / (\S+))?")


class Result:
    """What a guest's run came to."""

    def __init__(self, status, seconds, console, directory, functions=None):
        self.status = status  # of the command; None: the guest did not say
        self.seconds = seconds
        self.console = console  # lines
        self.directory = directory  # what was in /out
        log = directory / "kernel.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else console
        self.complaints = [line for line in lines if COMPLAINT.search(line)
                           and not is_race_of_others(line, functions)]


def is_race_of_others(line, functions):
    """Whether it is of a data race with no part in any of the functions; None: all count."""
    race = functions is not None and DATA_RACE.search(line)
    return bool(race) and not functions.intersection(race.groups())


class TimedOut(guests.Failed):
    """The guest took longer than it may."""


def write_job(arch, command, files, directory):
    """The archive behind the initramfs: the command, and files at the places that they have in the
    guest."""
    tree = directory / "job-tree"
    (tree / "job").mkdir(parents=True)
    (tree / "job/command").write_text(command + "\n")
    (tree / "job/date").write_text(str(int(time.time())))
    for source, place in files:
        target = tree / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(source).is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    root.archive(tree, directory / "job.cpio.gz")
    shutil.rmtree(tree)
    initrd = directory / "initrd"
    with open(initrd, "wb") as file:
        for part in (root.initramfs(arch), directory / "job.cpio.gz"):
            file.write(Path(part).read_bytes())
            file.write(bytes(-file.tell() % 4))
    return initrd


def command_line(arch, flavour, initrd, disk, smp, megabytes, image, parameters):
    machine = {**arch.machine, **arch.machine.get(flavour, {})}
    return [machine["qemu"], *machine["arguments"], "-accel", machine["accelerator"], "-smp", str(smp),
            "-m", str(megabytes), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            *machine["console"], "-kernel", str(image), "-initrd", str(initrd),
            # Of the kernel's messages the console shows warnings and worse; the log has all.
            "-append", f"{machine['command_line']} panic=-1 loglevel=5 {parameters}",
            "-drive", f"if=none,id=out,format=raw,file={disk}",
            "-device", f"{machine['disk']},drive=out"]


def kernel_build(arch, flavour, *words):
    """The path that scripts/kernel-build prints last."""
    chosen = ["--flavour", flavour] if flavour else []
    return Path(guests.run(guests.TOP / "scripts" / "kernel-build", arch.name, *chosen, *words).split()[-1])


def kernel_image(arch, flavour=None):
    return kernel_build(arch, flavour)


def kernel_modules(arch, flavour=None):
    """The paths of the kernel's modules."""
    return sorted(kernel_build(arch, flavour, "--modules").iterdir())


def series_functions(arch, image):
    """The functions of the files that the series in kernel/ is about, in a kernel that is built."""
    build = Path(str(image).removesuffix(arch.kernel["image"]))
    objects = [*build.glob("kernel/events/*.o"), *build.glob("samples/perf/*.ko"), *build.glob("lib/test_perf_aux.ko")]
    printed = guests.run("nm", "--defined-only", "--format=posix", *objects)
    return {words[0] for words in map(str.split, printed.splitlines()) if words[1:2] and words[1] in "tT"}


def run(arch, command, out, *, files=(), smp=2, megabytes=1024, timeout=600, show=None,
        interactive=False, what="the command", flavour=None, parameters=""):
    """Runs a shell command in a guest of an architecture; the directory `out` gets what it leaves in
    /out.

    files: (path here, absolute path there) of files and directories.  show: called with each line of
    the console.  flavour: of the kernel.  parameters: more words for the kernel.  Raises TimedOut, which names `what`, after `timeout` seconds.
    """
    guests.install([*PACKAGES, *arch.packages])
    image = kernel_image(arch, flavour)
    with tempfile.TemporaryDirectory(prefix="vm.") as name:
        directory = Path(name)
        initrd = write_job(arch, command, files, directory)
        disk = directory / "disk"
        with open(disk, "wb") as file:
            file.truncate(DISK_BYTES)
        line = command_line(arch, flavour, initrd, disk, smp, megabytes, image, parameters)
        begun = time.monotonic()
        console = (run_interactive(line) if interactive
                   else run_watched(line, timeout, show, f"{arch.name}: {what}"))
        seconds = time.monotonic() - begun
        functions = series_functions(arch, image) if flavour == "kcsan" else None
        return Result(unpack(disk, out), seconds, console, out, functions)


def unpack(disk, out):
    """Unpacks the guest's /out; returns the command's status, or None."""
    try:
        guests.run("tar", "-xf", disk, "-C", out, "--no-same-owner")
        return int((out / "status").read_text())
    except (guests.Failed, OSError, ValueError):
        return None


def run_interactive(line):
    subprocess.run(line, check=False)
    return []


_running = set()
_stopped = threading.Event()


def stop():
    """Ends all guests, and lets no other begin."""
    _stopped.set()
    for process in list(_running):
        process.kill()


def run_watched(line, timeout, show, what):
    # However this process ends, no guest outlives it.
    process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *line], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    _running.add(process)
    late = threading.Event()

    def end():
        late.set()
        process.kill()

    timer = threading.Timer(timeout, end)
    timer.start()
    console = []
    try:
        if _stopped.is_set():
            raise guests.Failed(f"{what}: stopped")
        for raw in process.stdout:
            text = raw.decode(errors="replace").rstrip("\r\n")
            console.append(text)
            if show:
                show(text)
        process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        _running.discard(process)
    if late.is_set():
        tail = "\n".join(console[-10:])
        raise TimedOut(f"{what} took longer than {timeout} s; the console's last lines:\n{tail}")
    return console


def check(result, what):
    """Raises Failed when the guest did not come to its end, or its kernel complained."""
    complaints = "\n".join(["the guest's kernel complained:", *result.complaints[:10]])
    if result.status is None:
        tail = "\n".join(result.console[-20:])
        raise guests.Failed(f"{what}: the guest ended without a result:\n{tail}"
                            + (f"\n{complaints}" if result.complaints else ""))
    if result.complaints:
        raise guests.Failed(f"{what}: {complaints}")


def show_line(text):
    print(text, flush=True, file=sys.stdout)
