# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is proven in guests: each stage runs programs in one guest and gives a list of cases."""

import hashlib
import re
from typing import NamedTuple

import guests
import machine
import programs

RESULTS = guests.TOP / "build" / "vm"
KINDS = ["sched", "irq-timer", "syscalls", "mixed", "callchain", "compressed", "stream"]
CPUS = [1, 2, 4]
# Times find what hangs; they are five times what an idle machine takes, and more.
UNIT_SECONDS = 4500
ROUNDTRIP_SECONDS = 1200
CROSS_SECONDS = 900


class Case(NamedTuple):
    """One thing that holds or does not."""
    name: str
    passed: bool
    text: str = ""  # what it printed


def ktap_cases(lines):
    """The cases of a KTAP text. Those that its plan promised and that did not come have failed."""
    cases = []
    planned = 0
    text = []
    for line in lines:
        if plan := re.fullmatch(r"1\.\.(\d+)", line):
            planned = int(plan[1])
        elif result := re.fullmatch(r"(not )?ok \d+ (?:- )?(.*)", line):
            cases.append(Case(result[2], result[1] is None, "\n".join(text)))
            text = []
        elif line.startswith("# "):
            text.append(line[2:])
    missing = planned - len(cases)
    cases += [Case(f"case {len(cases) + i + 1}", False, "the guest did not come to it")
              for i in range(missing)]
    return cases or [Case("plan", False, "the guest printed no test plan")]


def in_guest(arch, what, command, files, *, show, timeout, **options):
    """Runs a KTAP-speaking command in a guest; returns its cases and the directory of its /out."""
    out = RESULTS / arch.name / what
    try:
        result = machine.run(arch, command, out, files=files, show=show, timeout=timeout, what=what,
                             **options)
        out.mkdir(parents=True, exist_ok=True)
        (out / "console.txt").write_text("\n".join(result.console) + "\n")
        cases = ktap_cases(result.console)
        machine.check(result, what)
    except guests.Failed as failed:
        return [Case(what, False, str(failed))]
    if result.status != 0 and all(case.passed for case in cases):
        cases.append(Case(what, False, f"its status is {result.status}"))
    return cases


def unit(arch, show):
    """Our own unit tests, built for the architecture."""
    build = programs.build(arch)
    tests = sorted((build / "converter/tests").glob("*_tests"))
    files = [(test, f"/job/tests/{test.name}") for test in tests]
    files += [(guests.VM / "guest/unit", "/job/unit"), (guests.TOP / "golden", guests.TOP / "golden")]
    return in_guest(arch, "unit", "./unit", [(a, str(b)) for a, b in files], show=show,
                    timeout=UNIT_SECONDS)


def perf2dat_files(arch):
    build = programs.build(arch, "perf2dat_main")
    return [(build / "converter/perf2dat", "/job/perf2dat")]


def roundtrip(arch, show):
    """perf records in the guest, the guest's perf2dat converts, and the guest's trace-cmd and perf
    tell the same."""
    cases = []
    for cpus in CPUS:
        files = [*perf2dat_files(arch), (guests.VM / "guest/roundtrip", "/job/roundtrip"),
                 (guests.TOP / "scripts/compare_report.py", "/job/compare_report.py")]
        found = in_guest(arch, f"roundtrip-{cpus}", "./roundtrip " + " ".join(KINDS), files,
                         show=show, timeout=ROUNDTRIP_SECONDS, smp=cpus)
        cases += [case._replace(name=f"{case.name}, {cpus} CPUs") for case in found]
    return cases


def recordings():
    """(path here, name) of each recording that the guests' round trips left."""
    return [(path, f"{path.parent.parent.name}/{path.parent.name}-{path.name}")
            for path in sorted(RESULTS.glob("*/roundtrip-*/*.data"))]


def host_sums():
    """The SHA-256 sums of the recordings that are converted on this machine."""
    guests.run("make", "-C", guests.TOP, "all")
    converted = RESULTS / "converted.dat"
    sums = {}
    for path, name in recordings():
        guests.run(guests.TOP / "build/release/converter/perf2dat", "--check", "-q", "-f", "-i", path,
                   "-o", converted)
        sums[name] = hashlib.sha256(converted.read_bytes()).hexdigest()
        converted.unlink()
    return sums


def cross(arch, show):
    """The recordings of all guests become the same files here and in this guest."""
    expected = host_sums()
    for other in guests.ARCHITECTURES:
        if not any(name.startswith(f"{other}/") for name in expected):
            return [Case(other, False, f"there are no recordings of {other}: run its stage roundtrip")]
    files = [*perf2dat_files(arch), (guests.VM / "guest/convert", "/job/convert"),
             *((path, f"/job/recordings/{name}") for path, name in recordings())]
    out = RESULTS / arch.name / "cross"
    try:
        result = machine.run(arch, "./convert", out, files=files, show=show, timeout=CROSS_SECONDS,
                             what="cross")
        machine.check(result, "cross")
    except guests.Failed as failed:
        return [Case("cross", False, str(failed))]
    sums = {}
    if (out / "sums").exists():
        sums = {name: digest for digest, name in
                (line.split() for line in (out / "sums").read_text().splitlines())}
    cases = []
    for other in guests.ARCHITECTURES:
        names = [name for name in expected if name.startswith(f"{other}/")]
        wrong = [name for name in names if sums.get(name) != expected[name]]
        cases.append(Case(f"{other}'s {len(names)} recordings", not wrong,
                          "\n".join(f"{name}: {sums.get(name)} instead of {expected[name]}"
                                    for name in wrong)))
    return cases


STAGES = {"unit": unit, "roundtrip": roundtrip, "cross": cross}
