#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what perf says of a recording with what trace-cmd says of the trace.dat made from it.

Event by event, per CPU and in order: time in nanoseconds, name, pid, comm and the text of the
fields must be the same. Where the two programs or formats differ by nature, the difference is
evened out and its number of events is printed, so that nothing is hidden.

Exit status: 0 no differences, 1 differences, 2 could not compare.
"""

import argparse
import collections
import gzip
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

SHOWN_DIFFERENCES = 20
DEAD = -1  # perf's tid of a task that had already ended
IDLE_NAME = "<idle>"  # trace-cmd's name of pid 0, whatever the recording calls it
UNKNOWN_NAME = "<...>"  # trace-cmd's name of a pid it has no name for

# A comm has at most 15 bytes and may hold anything: spaces, digits, dashes, brackets. In both
# programs' lines it is the shortest text from the start after which the rest fits, because no comm
# is long enough to hold a CPU and a time with nine decimals itself.
PERF_LINE = re.compile(
    r"\s*(?P<comm>.*?)\s+(?P<tid>-?\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?"
    r"(?P<seconds>\d+)\.(?P<nanoseconds>\d{9}):\s+(?P<rest>.*)")
TRACE_CMD_LINE = re.compile(
    r"\s*(?P<comm>.*?)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+"
    r"(?:[^\s\d]\S*\s+)?"  # the irq and preemption flags that some versions of trace-cmd print here
    r"(?P<seconds>\d+)\.(?P<nanoseconds>\d{9}):\s+(?P<name>\S+):(?:\s+(?P<fields>.*))?$")
# Only samples that are no tracepoint's show their period, a number before the name.
PERF_EVENT = re.compile(r"(?P<period>\d+\s+)?(?P<event>\S+):(?:\s+(?P<fields>.*))?$")
TRACEPOINT = re.compile(r"[A-Za-z_][\w.-]*:(?P<name>[A-Za-z_][\w.-]*)(?::[A-Za-z]+)?")
# What perf appends to an event's name with a colon, as in cycles:u or dummy:HG.
MODIFIERS = frozenset("ukhGHpPSDIWeb")
PERF_COMM = re.compile(r"PERF_RECORD_COMM(?: exec)?: (.*):\d+/(\d+)$")
PERF_FORK = re.compile(r"PERF_RECORD_FORK\(\d+:(\d+)\):\(\d+:(\d+)\)$")
CALL_CHAIN = re.compile(r"\s+[0-9a-f]+ \S|\s*$")
# Fields as a function=tick_nohz_handler: perf on the recorded machine knew the symbols.
VALUES = re.compile(r"(?<==)\S+")
ADDRESS = re.compile(r"0x[0-9a-f]+")
SYMBOL = re.compile(r"[A-Za-z_.][\w.$]*(?:\+0x[0-9a-f]+)?")
NAME_IN_FIELDS = re.compile(r"\b((?:prev_|next_|child_)?)comm=(.*?) \1pid=(\d+)")
EVENTS_DROPPED = re.compile(r"CPU:\d+ \[.*EVENTS DROPPED\]$")
# trace-cmd holds call chains in events of their own; perf shows them with the event they belong to.
STACK_EVENTS = {"kernel_stack", "user_stack"}


class Event(NamedTuple):
    cpu: int
    time: int
    name: str
    pid: int
    comm: str
    fields: str
    line: str


class CannotCompare(Exception):
    pass


def nanoseconds(match):
    return int(match["seconds"] + match["nanoseconds"])


def tracepoint_name(event):
    """The name without its system when `event` is a tracepoint's name in perf, else None."""
    match = TRACEPOINT.fullmatch(event)
    return match["name"] if match and not MODIFIERS.issuperset(match["name"]) else None


class PerfScript:
    """Reads the lines of perf script.

    Saved lines have perf's default fields and lack the records of forks and names. `names` are then
    those that perf gives for the same recording, or None when it cannot read it.
    """

    def __init__(self, lines, saved=False, names=None):
        self.lines = lines
        self.saved = saved
        self.names = names or {}  # tid: the last name that perf knows for it
        self.collects_names = names is None
        self.lacks_names = saved and names is None
        self.names_in_fields = collections.defaultdict(set)  # pid: what fields of events call it
        self.counts = collections.Counter()

    def events(self):
        pending = None
        for line in self.lines:
            line = line.rstrip("\n")
            match = PERF_LINE.match(line)
            if match:
                if pending:
                    yield pending
                pending = self.parse(match, line)
            elif pending and not self.in_call_chain(line):
                pending = pending._replace(fields=f"{pending.fields}\n{line}".rstrip())
        if pending:
            yield pending

    def in_call_chain(self, line):
        # Fields of our choice hold no call chains of tracepoints, the default fields do.
        return self.saved and CALL_CHAIN.match(line)

    def parse(self, match, line):
        """The event in a line, or None when the line shows something else than a tracepoint's."""
        rest = match["rest"]
        if rest.startswith("PERF_RECORD_"):
            self.take_task_record(rest)
            return None
        event = PERF_EVENT.match(rest)
        name = tracepoint_name(event["event"]) if event and not event["period"] else None
        if name is None or match["cpu"] is None:
            self.counts["no tracepoint"] += 1
            return None
        fields = (event["fields"] or "").strip()
        tid, comm = int(match["tid"]), match["comm"]
        self.take_names(tid, comm, fields)
        return Event(int(match["cpu"]), nanoseconds(match), name, tid, comm, fields, line)

    def take_names(self, tid, comm, fields):
        if self.collects_names and tid != DEAD and comm != f":{tid}":
            self.names[tid] = comm
        for _, name, pid in NAME_IN_FIELDS.findall(fields):
            self.names_in_fields[int(pid)].add(name.strip())

    def take_task_record(self, record):
        if match := PERF_COMM.match(record):
            self.names[int(match[2])] = match[1].strip()
        elif match := PERF_FORK.match(record):
            # A new task has its parent's name, also when its tid was another task's before.
            child, parent = int(match[1]), int(match[2])
            self.names.pop(child, None)
            if parent in self.names:
                self.names[child] = self.names[parent]


class TraceCmdReport:
    """Reads the lines of trace-cmd report -t."""

    def __init__(self, lines):
        self.lines = lines
        self.counts = collections.Counter()

    def events(self):
        pending = None  # None also while lines of a header or a stack pass
        for line in self.lines:
            line = line.rstrip("\n")
            match = TRACE_CMD_LINE.match(line)
            if match:
                if pending:
                    yield pending
                pending = self.parse(match, line)
            elif EVENTS_DROPPED.match(line):
                self.counts["dropped"] += 1
            elif pending:
                pending = pending._replace(fields=f"{pending.fields}\n{line}".rstrip())
        if pending:
            yield pending

    def parse(self, match, line):
        if match["name"] in STACK_EVENTS:
            self.counts["stacks"] += 1
            return None
        return Event(int(match["cpu"]), nanoseconds(match), match["name"], int(match["pid"]),
                     match["comm"].strip(), (match["fields"] or "").strip(), line)


class Differences:
    """Counts all differences by kind and keeps the first ones to show."""

    def __init__(self, limit=SHOWN_DIFFERENCES):
        self.limit = limit
        self.counts = collections.Counter()
        self.shown = []

    def add(self, kind, perf_event, trace_event, note="", count=1):
        self.counts[kind] += count
        if self.limit is None or len(self.shown) < self.limit:
            self.shown.append((kind, perf_event, trace_event, note))

    def print(self):
        for kind, perf_event, trace_event, note in self.shown:
            print(f"{kind}{': ' if note else ''}{note}")
            print(f"  perf       {perf_event.line.strip() if perf_event else '-'}")
            print(f"  trace-cmd  {trace_event.line.strip() if trace_event else '-'}")
        for kind, count in sorted(self.counts.items()):
            print(f"differences of kind {kind}: {count}")


class Comparison:
    """Pairs the events of both sides per CPU while they arrive."""

    def __init__(self, perf, trace_cmd, limit=SHOWN_DIFFERENCES):
        self.perf = perf
        self.trace_cmd = trace_cmd
        self.differences = Differences(limit)
        self.notes = collections.Counter()
        self.total = {"perf": 0, "trace-cmd": 0}
        self.pairs = 0
        self.cpus = set()
        self.only_perf = []
        self.only_trace_cmd = []
        self.symbols = {}  # address in trace-cmd: the symbol that a saved text has for it
        # Names can be compared only at the end, when each task's last name is known.
        self.names_in_perf = collections.defaultdict(collections.Counter)  # pid: {comm: events}
        self.names_in_trace_cmd = collections.defaultdict(dict)  # pid: {comm: [events, first pair]}

    def run(self):
        queues = collections.defaultdict(lambda: (collections.deque(), collections.deque()))
        both = itertools.zip_longest(self.perf.events(), self.trace_cmd.events())
        for sides in both:
            for side, event in enumerate(sides):
                if event:
                    self.total["trace-cmd" if side else "perf"] += 1
                    queues[event.cpu][side].append(event)
                    self.pair(*queues[event.cpu], needed=2)
        self.cpus = set(queues)
        for perf_queue, trace_queue in queues.values():
            self.pair(perf_queue, trace_queue, needed=1)
            self.only_perf += perf_queue
            self.only_trace_cmd += trace_queue
        self.report_unpaired()
        self.compare_names()

    def pair(self, perf_queue, trace_queue, needed):
        while len(perf_queue) >= needed and len(trace_queue) >= needed:
            lonely = lonely_head(perf_queue, trace_queue)
            if lonely is perf_queue:
                self.only_perf.append(perf_queue.popleft())
            elif lonely is trace_queue:
                self.only_trace_cmd.append(trace_queue.popleft())
            else:
                self.compare(perf_queue.popleft(), trace_queue.popleft())

    def compare(self, perf_event, trace_event):
        self.pairs += 1
        for kind in ("time", "name", "fields"):
            if getattr(perf_event, kind) == getattr(trace_event, kind):
                continue
            if kind == "fields" and self.same_but_symbols(perf_event.fields, trace_event.fields):
                self.notes["events whose addresses a saved text shows as symbols"] += 1
                continue
            self.differences.add(kind, perf_event, trace_event)
        if perf_event.pid == DEAD:
            self.compare_dead_task(perf_event, trace_event)
        elif perf_event.pid != trace_event.pid:
            self.differences.add("pid", perf_event, trace_event)
            return
        else:
            self.names_in_perf[perf_event.pid][perf_event.comm] += 1
        entry = self.names_in_trace_cmd[trace_event.pid].setdefault(
            trace_event.comm, [0, (perf_event, trace_event)])
        entry[0] += 1

    def same_but_symbols(self, perf_fields, trace_fields):
        """Symbols stand for addresses in a saved text: the same one for an address each time."""
        if not self.perf.saved or VALUES.sub("", perf_fields) != VALUES.sub("", trace_fields):
            return False
        for ours, theirs in zip(VALUES.findall(perf_fields), VALUES.findall(trace_fields)):
            if ours == theirs:
                continue
            if not (SYMBOL.fullmatch(ours) and ADDRESS.fullmatch(theirs)
                    and self.symbols.setdefault(theirs, ours) == ours):
                return False
        return True

    def compare_dead_task(self, perf_event, trace_event):
        """The fields of sched_switch tell the pid that the sample does not."""
        self.notes["events of tasks that had ended (perf: tid -1)"] += 1
        if perf_event.name != "sched_switch":
            return
        match = NAME_IN_FIELDS.search(perf_event.fields)
        if match and int(match[3]) != trace_event.pid:
            self.differences.add("pid", perf_event, trace_event)

    def report_unpaired(self):
        """What one side misses on one CPU and the other on another is on the wrong CPU."""
        elsewhere = collections.defaultdict(collections.deque)
        for event in self.only_trace_cmd:
            elsewhere[event.time, event.name, event.fields].append(event)
        for event in self.only_perf:
            twins = elsewhere[event.time, event.name, event.fields]
            if twins:
                self.pairs += 1
                self.differences.add("cpu", event, twins.popleft())
            else:
                self.differences.add("missing", event, None)
        for twins in elsewhere.values():
            for event in twins:
                self.differences.add("extra", None, event)

    def compare_names(self):
        for pid, names in self.names_in_trace_cmd.items():
            for comm, (events, (perf_event, trace_event)) in names.items():
                if not self.accepts_name(pid, comm, events):
                    known = self.perf.names.get(pid, "unknown to perf")
                    self.differences.add("comm", perf_event, trace_event, count=events,
                                         note=f"pid {pid}, {events} events, last name: {known}")
        for pid, names in self.names_in_perf.items():
            renamed = sum(names.values()) - names[self.perf.names.get(pid, f":{pid}")]
            if renamed:
                self.notes["events shown under the last name of their task"] += renamed
                self.notes["tasks whose name changed"] += 1

    def accepts_name(self, pid, comm, events):
        if pid == 0:
            self.notes[f"events of pid 0 (perf: swapper, trace-cmd: {IDLE_NAME})"] += events
            return comm == IDLE_NAME
        if comm == self.perf.names.get(pid):
            return True
        if pid not in self.perf.names and comm == UNKNOWN_NAME:
            self.notes[f"events of tasks without a name (trace-cmd: {UNKNOWN_NAME})"] += events
            return True
        # Fields of other events may tell a name that perf does not know, or that a saved text does
        # not tell because the task got it after its last event.
        is_known = pid in self.perf.names and not self.perf.lacks_names
        if not is_known and comm in self.perf.names_in_fields[pid]:
            self.notes["events of tasks whose name only events' fields tell"] += events
            return True
        return False

    def print(self):
        count = sum(self.differences.counts.values())
        self.differences.print()
        if self.total["perf"] != self.total["trace-cmd"]:
            print(f"perf has {self.total['perf']} events, trace-cmd has {self.total['trace-cmd']}")
        print(f"compared {self.pairs} events on {len(self.cpus)} CPUs: {count} differences")
        notes = dict(self.notes)
        notes["samples left out that are of no tracepoint"] = self.perf.counts["no tracepoint"]
        notes["tasks named as in the saved text, perf cannot read the recording"] = (
            len(self.perf.names) if self.perf.lacks_names else 0)
        notes["kernel_stack and user_stack events left out"] = self.trace_cmd.counts["stacks"]
        notes["gaps (EVENTS DROPPED) in trace-cmd's report"] = self.trace_cmd.counts["dropped"]
        for note, events in notes.items():
            if events:
                print(f"  normalised: {note}: {events}")


def lonely_head(perf_queue, trace_queue):
    """The queue whose first event has no counterpart in the other, or None when they are a pair."""
    perf_event, trace_event = perf_queue[0], trace_queue[0]
    if perf_event.time == trace_event.time:
        return None
    if len(perf_queue) > 1 and perf_queue[1].time == trace_event.time:
        return perf_queue
    if len(trace_queue) > 1 and trace_queue[1].time == perf_event.time:
        return trace_queue
    # The same event with another time is a wrong time rather than one missing and one extra.
    if perf_event[2:4] == trace_event[2:4] and perf_event.fields == trace_event.fields:
        return None
    return perf_queue if perf_event.time < trace_event.time else trace_queue


class Program:
    """Runs a program and gives its output line by line."""

    def __init__(self, command, environment, verbose):
        self.command = command
        self.environment = environment
        self.verbose = verbose

    def lines(self):
        if self.verbose:
            print("$", shlex.join(self.command), file=sys.stderr)
        with tempfile.TemporaryFile() as messages:
            try:
                process = subprocess.Popen(self.command, env=self.environment,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=messages)
            except OSError as error:
                raise CannotCompare(f"cannot run {self.command[0]}: {error.strerror}") from error
            with process:
                # Not by text mode's lines: a carriage return may be part of a field.
                for line in process.stdout:
                    yield line.decode(errors="backslashreplace")
            messages.seek(0)
            self.check(process.returncode, messages.read().decode(errors="replace"))

    def check(self, status, messages):
        if self.verbose:
            print(messages, end="", file=sys.stderr)
        if status != 0:
            raise CannotCompare(f"{shlex.join(self.command)}: exit status {status}\n{messages}")


def environment():
    """Without the places where perf looks for plugins: they print fields in their own words."""
    result = {**os.environ, "LC_ALL": "C", "HOME": "/nonexistent"}
    result.pop("TRACEEVENT_PLUGIN_DIR", None)
    return result


def read_saved(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        for line in file:
            yield line.decode(errors="backslashreplace")


def perf_script(arguments, no_symbols):
    if arguments.perf_events:
        return PerfScript(read_saved(arguments.perf_events))
    if not arguments.perf_script:
        return run_perf_script(arguments, no_symbols)
    names = names_in_recording(arguments, no_symbols)
    return PerfScript(read_saved(arguments.perf_script), saved=True, names=names)


def run_perf_script(arguments, no_symbols):
    # "trace:" chooses the fields of tracepoints only. Other events of the recording may lack a CPU,
    # and then perf would refuse. Without symbols perf prints addresses, as trace-cmd does.
    command = [arguments.perf, "script", "--ns", "-F", "trace:comm,tid,cpu,time,event,trace",
               "--show-task-events", "--kallsyms", no_symbols, "-i", arguments.perf_data]
    return PerfScript(Program(command, environment(), arguments.verbose).lines())


def names_in_recording(arguments, no_symbols):
    perf = run_perf_script(arguments, no_symbols)
    try:
        collections.deque(perf.events(), maxlen=0)
    except CannotCompare as problem:
        if arguments.verbose:
            print(f"names are taken from the saved text: {problem}", file=sys.stderr)
        return None
    return perf.names or None


def trace_cmd_report(arguments):
    if arguments.report:
        return TraceCmdReport(read_saved(arguments.report))
    command = [arguments.trace_cmd, "report", "-t", "-N", "-i", arguments.trace_dat]
    return TraceCmdReport(Program(command, environment(), arguments.verbose).lines())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perf_data", metavar="PERF_DATA")
    parser.add_argument("trace_dat", metavar="TRACE_DAT")
    parser.add_argument("--perf-script", metavar="FILE",
                        help="what `perf script --ns` printed of PERF_DATA (may end in .gz)")
    parser.add_argument("--perf-events", metavar="FILE",
                        help="the same, of the command that this script itself runs: see "
                             "run_perf_script()")
    parser.add_argument("--report", metavar="FILE",
                        help="what `trace-cmd report -t -N` printed of TRACE_DAT (may end in .gz)")
    parser.add_argument("--perf", default="perf", help="the perf to run (default: %(default)s)")
    parser.add_argument("--trace-cmd", default="trace-cmd",
                        help="the trace-cmd to run (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="show the commands, their messages and all differences")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    for path in filter(None, (arguments.perf_data, arguments.trace_dat, arguments.perf_script,
                              arguments.perf_events, arguments.report)):
        if not os.path.exists(path):
            raise CannotCompare(f"{path} does not exist")
    with tempfile.NamedTemporaryFile(prefix="no-symbols-") as no_symbols:
        limit = None if arguments.verbose else SHOWN_DIFFERENCES
        comparison = Comparison(perf_script(arguments, no_symbols.name),
                                trace_cmd_report(arguments), limit)
        comparison.run()
    if comparison.total["perf"] == 0:
        raise CannotCompare("perf script shows no tracepoint events of the recording, "
                            f"trace-cmd {comparison.total['trace-cmd']} events")
    comparison.print()
    return 1 if comparison.differences.counts else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(main())
    except (CannotCompare, OSError, EOFError) as problem:
        print(f"compare_report: {problem}", file=sys.stderr)
        sys.exit(2)
