# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is proven in guests: each stage runs programs in guests of one architecture and gives a list of
cases. What the guests left is in build/verify/ARCH/STAGE."""

import functools
import hashlib
import os
import re
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
SECONDS = {"kernel": 120, "kunit": 900, "selftests": 900, "stress": 600, "sanitizers": 1800, "unit": 1800,
           "roundtrip": 900, "reference": 600, "cross": 600}
# Kernels that check themselves, and what their logs say when the checks are on: one that is built in and
# off finds nothing.
SANITIZERS = {
    "kasan": ["KernelAddressSanitizer initialized", "Lock dependency validator",
              "Kernel memory leak detector initialized"],
    "kcsan": ["kcsan: enabled early", r"kcsan: selftest: (\d+)/\1 tests passed"],
}
# An allocation counts as lost when it is some seconds old. The kernel's log says so.
FIND_LEAKS = """
leaks=/sys/kernel/debug/kmemleak
[ ! -e $leaks ] || for _ in 1 2; do sleep 6; echo scan >$leaks; done
"""
# For how long the AUX buffers of kernel consumers are stressed: more says more.
STRESS_MINUTES = float(os.environ.get("STRESS_MINUTES") or 0.5)


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
    """The architecture's kernel is built and boots; what goes wrong in a guest is noticed."""
    result = in_guest(arch, "kernel", "uname -srm", [], show)
    return [case("boots", result.status == 0, "\n".join(result.console)),
            *(is_noticed(arch, fault, show) for fault in FAULTS)]


def kunit_cases(log):
    """The cases of all suites in a kernel's log. Suites stand at the begin of a line, after their
    number; their tests are indented, each suite's with a number of their own, and decide the suite's
    result."""
    suites = results.from_ktap(log)
    tests = results.from_ktap(["1..0", *(line.strip() for line in log if line.startswith("    "))])
    return [each._replace(name=f"KUnit {each.name}") for each in (*suites, *tests)]


def kunit(arch, show):
    """The kernel's KUnit tests pass, those of the series in kernel/ among them."""
    return kunit_cases(run_kunit(arch, "kunit", show))


def run_kunit(arch, stage, show, suites="*", command="true", **options):
    """Boots a guest whose kernel runs KUnit suites; returns its log's lines."""
    result = in_guest(arch, stage, command, [], show,
                      parameters=f"kunit.autorun=1 kunit.filter_glob={suites}", **options)
    return (result.directory / "kernel.log").read_text(errors="replace").splitlines()


def kernel_files(arch, flavour=None):
    """What the kernel's tests in user space need in a guest."""
    tests = guests.TOP / "kernel/tree/tools/testing/selftests/perf_events"
    return [*((path, f"/job/{path.name}") for path in machine.kernel_modules(arch, flavour)),
            (programs.build_selftest(arch), "/job/aux_kernel_usermode"),
            (tests / "aux_kernel.sh", "/job/aux_kernel.sh")]


def selftests(arch, show):
    """The series' selftests pass, and the tracepoint of its sample goes from perf to trace-cmd."""
    files = kernel_files(arch)
    result = in_guest(arch, "selftests", "MODULES_DIR=/job ./aux_kernel.sh", files, show)
    cases = results.with_status(results.from_ktap(result.console), "selftests", result.status)
    files += [*perf2dat_files(arch), (TESTS / "roundtrip", "/job/roundtrip")]
    result = in_guest(arch, "selftests", "./roundtrip aux-drain", files, show, name="selftests-aux-drain")
    return [*cases, *compare_all(result)]


def stress(arch, show, flavour=None, stage="stress"):
    """An AUX buffer is filled, drained, released and set up anew, its event disabled and enabled and its
    CPU taken away, all at the same time; nothing is lost that the PMU does not tell of."""
    files = [*kernel_files(arch, flavour), (TESTS / "stress", "/job/stress")]
    result = in_guest(arch, stage, f"./stress {STRESS_MINUTES}; status=$?; {FIND_LEAKS} exit $status",
                      files, show, name=f"{stage}-{flavour}-stress" if flavour else stage, flavour=flavour,
                      timeout=SECONDS[stage] + 120 * STRESS_MINUTES)
    return results.with_status(results.from_ktap(result.console), "stress", result.status)


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
    return results.with_status(results.without_skips(cases), "unit", result.status)


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


def compare_all(result):
    """The cases of tests/roundtrip: what the guest could record and convert has to compare, too."""
    return [each if each.failed else case(each.name, *compared(result.directory, each.name))
            for each in results.from_ktap(result.console)]


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
        cases += [each._replace(name=f"{each.name}, {cpus} CPUs")
                  for each in results.expect_failures(compare_all(result), EXPECTED_FAILURES)]
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


def sanitizers(arch, show):
    """KUnit tests, and a stress, by kernels that look for what goes wrong without being seen."""
    cases = []
    for flavour, signs in SANITIZERS.items():
        log = run_kunit(arch, "sanitizers", show, "perf_aux_kernel*", FIND_LEAKS,
                        name=f"sanitizers-{flavour}", flavour=flavour)
        found = [case(f"is on: {sign}", any(re.search(sign, line) for line in log), "the log does not say so")
                 for sign in signs]
        tests = kunit_cases(log)
        # The only kernel in which allocations can be made to fail.
        found += results.without_skips(tests) if flavour == "kasan" else tests
        # It has perf switch events on, see the machine of kcsan.
        found += stress(arch, show, flavour, "sanitizers") if flavour == "kasan" else []
        cases += [each._replace(name=f"{flavour}: {each.name}") for each in found]
    return cases


STAGES = {"kernel": kernel, "kunit": kunit, "selftests": selftests, "stress": stress,
          "sanitizers": sanitizers, "unit": unit, "roundtrip": roundtrip, "reference": with_trace_cmd,
          "cross": cross}
# Stages that are not for all architectures.
ONLY = {"sanitizers": ["x86_64"]}
