# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a kernel is configured and made."""

import os
import re
import subprocess
from pathlib import Path

import guests

PACKAGES = ["bc", "bison", "ccache", "flex", "gcc", "git", "libelf-dev", "libssl-dev", "make", "perl",
            "xz-utils"]
# An image says when, where and by whom it was built; the same source should give the same image.
REPRODUCIBLE = {"KBUILD_BUILD_TIMESTAMP": "2026-01-01", "KBUILD_BUILD_USER": "tracebridge",
                "KBUILD_BUILD_HOST": "tracebridge", "KBUILD_BUILD_VERSION": "1"}
FRAGMENTS = guests.VM / "kernel"
# Fragments that are neither everybody's nor an architecture's: kernels that are built to find faults.
FLAVOURS = sorted({path.stem for path in FRAGMENTS.glob("*.config")}
                  - {"common", *guests.ARCHITECTURES})


def source():
    """The directory of the kernel's source, which is fetched when it is not there."""
    return Path(guests.run(guests.TOP / "scripts" / "kernel-source").split()[-1])


def fragments(arch, flavour=None):
    return [FRAGMENTS / f"{name}.config" for name in ("common", arch.name, flavour) if name]


def symbol_of(line):
    """The symbol that a line of a configuration gives a value; None: it is a comment."""
    found = re.match(r"(?:# )?(CONFIG_\w+)(?==| is not set)", line)
    return found and found[1]


def merged(*texts):
    """The lines of configurations; of two that give a symbol a value the last one counts."""
    values = {}
    for line in "\n".join(texts).splitlines():
        if symbol := symbol_of(line):
            values.pop(symbol, None)
            values[symbol] = line
    return list(values.values())


def values_of(lines):
    """{symbol: value} of a configuration; of symbols that are not set the value is n."""
    return {symbol_of(line): "n" if line.startswith("#") else line.partition("=")[2]
            for line in lines if symbol_of(line)}


def check_config(path, wanted):
    """allnoconfig passes over a symbol whose needs are not met, without a word."""
    config = values_of(path.read_text().splitlines())
    missing = [f"{symbol}={value}" for symbol, value in values_of(wanted).items()
               if config.get(symbol, "n") != value]
    if missing:
        raise guests.Failed(f"the kernel's configuration did not take {', '.join(missing)}")


class Build:
    """A source, and where it is built for an architecture, with ccache."""

    def __init__(self, directory, output, arch, gnu, jobs):
        self.directory = directory
        self.output = output
        self.words = ["make", "-C", directory, f"O={output}", f"ARCH={arch}",
                      f"CROSS_COMPILE={gnu}-", f"CC=ccache {gnu}-gcc", f"-j{jobs}"]
        # What `make verify ARCH=...` was told is not meant for the kernel's make.
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("ARCH", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")}
        self.environment = {**inherited, **REPRODUCIBLE,
                            "CCACHE_DIR": str(guests.CACHE / "ccache"), "CCACHE_BASEDIR": str(directory),
                            # The preprocessor runs once, not twice.
                            "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1"}

    def configure(self, wanted):
        """Gives it the configuration that has these lines, what they need, and no more."""
        fragment = self.output / "wanted.config"
        fragment.write_text("\n".join(wanted) + "\n")
        guests.run(*self.words, "allnoconfig",
                   env={**self.environment, "KCONFIG_ALLCONFIG": str(fragment)})
        check_config(self.output / ".config", wanted)

    def make(self, *words, log="build.log"):
        """Makes targets; returns the log's lines, and raises Failed with those of it that say why."""
        path = self.output / log
        with open(path, "w", encoding="utf-8") as file:
            result = subprocess.run([str(word) for word in (*self.words, *words)], env=self.environment,
                                    stdout=file, stderr=subprocess.STDOUT, check=False)
        lines = path.read_text(errors="replace").splitlines()
        if result.returncode != 0:
            errors = [line for line in lines if re.search(r"error|Error", line)]
            raise guests.Failed(f"the kernel does not build, see {path}:\n"
                                + "\n".join(errors[:10] or lines[-10:]))
        return lines
