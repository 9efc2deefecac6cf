# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our own programs, built for a guest."""

import os

import guests
import kernels
import root
import series

# Debug information would be most of what a guest has to unpack, and the optimizer most of the time that
# the builds for all guests take.
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DTRACEBRIDGE_TESTS=ON",
           "-DCMAKE_EXE_LINKER_FLAGS=-s"]


def build(arch, *targets):
    """Builds targets (none: all) for an architecture; returns the build's directory."""
    guests.run(guests.TOP / "scripts" / "setup", "build")
    guests.install([*arch.packages, "binutils", "ninja-build"])
    directory = guests.TOP / "build" / f"guest-{arch.name}"
    packages = root.unpacked(arch)
    with guests.locked(directory):
        run_build(arch, directory, packages, targets)
    return directory


def run_build(arch, directory, packages, targets):
    guests.run("cmake", "-S", guests.TOP, "-B", directory, "-G", "Ninja",
               f"-DCMAKE_TOOLCHAIN_FILE={guests.VM}/toolchain.cmake",
               f"-DTRACEBRIDGE_GNU={arch.gnu}", f"-DTRACEBRIDGE_PACKAGES={packages}", *OPTIONS)
    wanted = [word for target in targets for word in ("--target", target)]
    guests.run("cmake", "--build", directory, "-j", str(os.cpu_count()), *wanted)


def build_here():
    """Builds perf2dat for this machine; returns its path."""
    with guests.locked(guests.TOP / "build"):
        guests.run("make", "-C", guests.TOP, "all")
    return guests.TOP / "build/release/converter/perf2dat"


def build_selftest(arch):
    """Builds the series' selftest in user space for a guest, with no library; returns its path."""
    guests.install(arch.packages)
    program = guests.TOP / "build" / f"guest-{arch.name}" / "aux_kernel_usermode"
    with series.patched(kernels.source()) as (source, _), guests.locked(program.parent):
        tests = source / "tools/testing/selftests"
        guests.run(f"{arch.gnu}-gcc", "-O2", "-Wall", "-static", "-pthread", "-I", tests,
                   tests / "perf_events/aux_kernel_usermode.c", "-o", program)
    return program
