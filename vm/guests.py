# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is known of each guest architecture, and where its parts are kept."""

import contextlib
import fcntl
import os
import subprocess
import threading
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
VM = TOP / "vm"
ARCHITECTURES = sorted(path.stem for path in (VM / "arch").glob("*.toml"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tracebridge"
# Packages of Debian's for Python, which another Python than Debian's does not find.
DEBIAN_PYTHON = "/usr/lib/python3/dist-packages"


class Architecture:
    """One guest architecture: what vm/arch/NAME.toml says of it."""

    def __init__(self, name):
        with open(VM / "arch" / f"{name}.toml", "rb") as file:
            described = tomllib.load(file)
        self.name = name
        self.debian = described["debian"]  # Debian's name of it
        self.gnu = described["gnu"]  # the prefix of its compiler
        self.packages = described["packages"]  # that build for it and run it
        self.user = described.get("user")  # what runs its programs on this machine, if that is needed
        self.kernel = described["kernel"]
        self.machine = described["machine"]


_installing = threading.Lock()  # apt does not wait for another that fetches package lists


def install(packages):
    """Sees to it that Debian packages are installed on this machine; what is missing is the failure's
    message."""
    with _installing:
        run(TOP / "scripts" / "setup", "--packages", *packages)


@contextlib.contextmanager
def locked(directory):
    """Nobody else makes anything in the directory meanwhile."""
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(*command, **options):
    """Runs a command; its output is only shown, on standard error, when it fails."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                            **options)
    if result.returncode != 0:
        raise Failed(f"{command[0]} failed with status {result.returncode}:\n{result.stdout[-4000:]}")
    return result.stdout


class Failed(Exception):
    """A step that could not be done; the message says which and why."""
