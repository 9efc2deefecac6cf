# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is proven in guests: each stage runs programs in guests of one architecture and gives a list of
cases. What the guests left is in build/verify/ARCH/STAGE."""

import functools
import hashlib
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import guests
import machine
import programs
import reference
import results
from results import case

RESULTS = guests.TOP / "build" / "verify"
TESTS = guests.VM / "tests"
COMPARE = guests.TOP / "scripts" / "compare_report.py"
KINDS = ["sched", "irq-timer", "syscalls", "mixed", "callchain", "compressed", "stream"]
# All that compare_report.py prints where there are differences, and none but of some kinds.
ONLY_DIFFERENCES = (r"(?=.*differences of kind)"
                    r"(?:(?!differences of kind).|differences of kind (?:{}):)*")
# Kinds that cannot pass yet: what is then printed, and why.
EXPECTED_FAILURES = {
    "group-read": (ONLY_DIFFERENCES.format("missing|extra|name"),
                   "perf script shows a line for each member of a group that is read together "
                   "({...}:S); perf2dat converts the samples, of which there is one"),
    "maple-tree": (ONLY_DIFFERENCES.format("fields"),
                   "the formats of these events hold a TAB, at which libtraceevent gives up"),
}
CPUS = [1, 2, 4]
HOST_SUMS = threading.Lock()  # the first who needs them makes them
# Recordings of this many CPUs go to all other machines.
CROSS_CPUS = 2
# A guest that takes longer hangs: the longest that was seen on two cores, with another guest beside,
# times five.
SECONDS = {"kernel": 120, "unit": 1800, "roundtrip": 900, "reference": 600, "cross": 600}


def empty_directory(arch, name):
    """For what a guest leaves; what an earlier run left there is gone."""
    directory = RESULTS / arch.name / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def in_guest(arch, stage, command, files, show, *, name=None, **options):
    """Runs a command in a guest; returns machine.Result, and raises guests.Failed when the guest's
    kernel complained or the guest gave no result."""
    name = name or stage
    out = empty_directory(arch, name)
    files = [(str(source), str(place)) for source, place in files]
    options.setdefault("timeout", SECONDS[stage])
    with open(out / "console.txt", "w", encoding="utf-8") as log:
        def keep(text):
            print(text, file=log, flush=True)
            if show:
                show(text)
        result = machine.run(arch, command, out, files=files, show=keep, what=name, **options)
    machine.check(result, f"{arch.name}: {name}")
    return result


# What must not go unnoticed: a command that does it, the time it gets, and what is then said.
FAULTS = {
    "a guest that hangs": ("sleep 100000", 20, "took longer than 20 s"),
    "a kernel that warns": ("echo 'WARNING: CPU: 0 PID: 1 at here' >/dev/kmsg", 120, "kernel complained"),
    "a guest that ends early": ("poweroff -f", 120, "ended without a result"),
}


def is_noticed(arch, fault, show):
    command, seconds, said = FAULTS[fault]
    try:
        in_guest(arch, "kernel", command, [], show, name="fault", timeout=seconds)
    except guests.Failed as failed:
        return case(f"notices {fault}", said in str(failed), str(failed))
    return case(f"notices {fault}", False, "nothing was said")


def kernel(arch, show):
    """The architecture's kernel is built, boots, and passes its own KUnit tests; what goes wrong in a
    guest is noticed."""
    result = in_guest(arch, "kernel", "uname -srm", [], show)
    log = (result.directory / "kernel.log").read_text(errors="replace").splitlines()
    # Suites stand at the begin of a line, after their number; their tests are indented, each suite's
    # with a number of their own, and decide the suite's result.
    suites = results.from_ktap(log)
    tests = results.from_ktap(["1..0", *(line.strip() for line in log if line.startswith("    "))])
    return [case("boots", result.status == 0, "\n".join(result.console)),
            *(each._replace(name=f"KUnit {each.name}") for each in (*suites, *tests)),
            *(is_noticed(arch, fault, show) for fault in FAULTS)]


def unit(arch, show):
    """Our own unit tests, built for the architecture."""
    tests = sorted((programs.build(arch) / "converter/tests").glob("*_tests"))
    files = [(test, f"/job/tests/{test.name}") for test in tests]
    files += [(TESTS / "unit", "/job/unit"), (guests.TOP / "golden", guests.TOP / "golden")]
    result = in_guest(arch, "unit", "./unit", files, show)
    cases = []
    for test in tests:
        found = result.directory / f"{test.name}.xml"
        if found.exists():
            cases += results.from_xml(found.read_text(errors="replace"))
        else:
            log = (result.directory / f"{test.name}.log").read_text(errors="replace")
            cases.append(case(test.name, False, "it did not come to its end:\n" + log[-4000:]))
    # Guests have all that any test needs.
    cases = [each._replace(outcome=results.FAILED) if each.outcome == results.SKIPPED else each
             for each in cases]
    return results.with_status(cases, "unit", result.status)


def perf2dat_files(arch):
    build = programs.build(arch, "perf2dat_main")
    return [(build / "converter/perf2dat", "/job/perf2dat"), (TESTS / "record.sh", "/job/record.sh")]


def compared(directory, kind):
    """Whether the guest's perf and trace-cmd tell the same of a recording and what became of it."""
    try:
        printed = guests.run(sys.executable, COMPARE, directory / f"{kind}.data",
                             directory / f"{kind}.dat", "--perf-events", directory / f"{kind}.perf.txt",
                             "--report", directory / f"{kind}.report.txt")
        return True, printed
    except guests.Failed as failed:
        return False, str(failed)


def roundtrip(arch, show):
    """perf records in the guest, the guest's perf2dat converts, and the guest's trace-cmd and perf
    tell the same."""
    cases = []
    kinds = [*KINDS, *EXPECTED_FAILURES]
    for cpus in CPUS:  # Else an earlier run's recordings would go on to the next stage.
        empty_directory(arch, f"roundtrip-{cpus}")
    files = [*perf2dat_files(arch), (TESTS / "roundtrip", "/job/roundtrip")]
    for cpus in CPUS:
        command = f"test $(nproc) = {cpus} && ./roundtrip {' '.join(kinds)}"
        result = in_guest(arch, "roundtrip", command, files, show, name=f"roundtrip-{cpus}", smp=cpus)
        found = results.from_ktap(result.console)
        for index, each in enumerate(found):
            if not each.failed:
                passed, text = compared(result.directory, each.name)
                found[index] = case(each.name, passed, text)
        cases += [each._replace(name=f"{each.name}, {cpus} CPUs")
                  for each in results.expect_failures(found, EXPECTED_FAILURES)]
    return cases


def with_trace_cmd(arch, show):
    """trace-cmd and perf record at the same time; the converted file agrees with trace-cmd's own."""
    files = [*perf2dat_files(arch), (TESTS / "reference", "/job/reference")]
    result = in_guest(arch, "reference", "./reference", files, show)
    if result.status != 0:
        return [case("records", False, "\n".join(result.console))]
    agreement = reference.compare_files(result.directory)
    count = len(agreement.differences)
    text = "\n".join([f"compared {agreement.events} events on {agreement.cpus} CPUs: "
                      f"{count} differences, {agreement.unseen} that perf passed over", *agreement.differences[:reference.SHOWN]])
    return [case("the same events in the same order, at the same times", count == 0, text),
            case("there were events on each CPU", agreement.cpus == 2, text)]


def recordings():
    """(path here, name) of each recording that goes to all machines."""
    return [(path, f"{path.parent.parent.name}/{path.name}")
            for path in sorted(RESULTS.glob(f"*/roundtrip-{CROSS_CPUS}/*.data"))]


@functools.cache
def host_sums():
    """The SHA-256 sums of what the recordings become on this machine."""
    perf2dat = programs.build_here()
    sums = {}
    with tempfile.TemporaryDirectory() as directory:
        converted = Path(directory) / "trace.dat"
        for path, name in recordings():
            guests.run(perf2dat, "-q", "-f", "-i", path, "-o", converted)
            sums[name] = hashlib.sha256(converted.read_bytes()).hexdigest()
    return sums


def cross(arch, show):
    """The recordings of all guests become the same files here and in this guest."""
    with HOST_SUMS:
        expected = host_sums()
    files = [*perf2dat_files(arch), (TESTS / "convert", "/job/convert"),
             *((path, f"/job/recordings/{name}") for path, name in recordings())]
    result = in_guest(arch, "cross", "./convert", files, show)
    sums = {}
    if (result.directory / "sums").exists():
        sums = {name: digest for digest, name in
                (line.split() for line in (result.directory / "sums").read_text().splitlines())}
    cases = []
    for other in guests.ARCHITECTURES:
        for kind in (*KINDS, *EXPECTED_FAILURES):
            name = f"{other}/{kind}.data"
            here, there = sums.get(name), expected.get(name)
            cases.append(case(name, here is not None and here == there,
                              f"{there} on the host, {here} in the guest" if there
                              else f"it is not there: run the stage roundtrip of {other}"))
    return results.with_status(cases, "cross", result.status)


STAGES = {"kernel": kernel, "unit": unit, "roundtrip": roundtrip, "reference": with_trace_cmd,
          "cross": cross}
