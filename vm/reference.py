# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds a converted recording against the trace.dat that trace-cmd recorded of the same events.

perf and trace-cmd were asked the same events and the same clock. Both see each event, one after the
other, so it has two times. The events are of those at which the kernel keeps the CPU: between the two times
nothing else can happen on it but an interrupt, which both see whole. Therefore the spans between the two times of all events of a CPU lie apart or one within
the other. That needs no tolerance: a time of another clock, unit or base, a wrong CPU, an event too many
or too few makes spans overlap.
"""

import collections
import re
import sys
from typing import NamedTuple

import guests

sys.path.insert(0, str(guests.TOP / "scripts"))
import compare_report  # noqa: E402 pylint: disable=wrong-import-position

SHOWN = 10  # differences
# perf passes over an event that comes while it is busy with another one of the same context. That is rare;
# that nothing else is missing is what the round trips show.
UNSEEN = 1000  # there may be one in so many events
# A task that ends is a zombie (Z) until its parent has seen that, and dead (X) then. On another CPU that may
# be between the two times at which the recorders look.
ENDED = re.compile(r"\bprev_state=[ZX]")
# So may the program that it begins on another CPU, and with it its name.
NAME_OF = re.compile(r"\bcomm=.*? pid=(\d+)")


class Agreement(NamedTuple):
    events: int  # that both saw
    cpus: int  # on which both saw any
    nested: int  # events that came between the two times of another
    unseen: int  # events that perf passed over
    differences: list  # lines


class Span(NamedTuple):
    """An event that both saw."""
    begin: int
    end: int
    line: str


def by_cpu(lines):
    result = collections.defaultdict(list)
    for event in compare_report.TraceCmdReport(lines).events():
        result[event.cpu].append(event)
    return result


def quiet_time(times, begin, end):
    """The middle of the longest time between begin and end in which nothing happened."""
    inside = [begin, *(time for time in times if begin < time < end), end]
    length, start = max((after - before, before) for before, after in zip(inside, inside[1:]))
    return start + length // 2


def cut(ours, theirs, window):
    """What both saw between two quiet times, one near each end of the window, so that no event lies
    across an edge."""
    times = sorted(event.time for event in (*ours, *theirs))
    edge = (window[1] - window[0]) // 5
    begin = quiet_time(times, window[0], window[0] + edge)
    end = quiet_time(times, window[1] - edge, window[1])
    return [[event for event in events if begin <= event.time < end] for events in (ours, theirs)]


def content(event):
    """What both recorders have to tell of an event, other than the time."""
    def nameless(about):
        return about[0] if int(about[1]) == event.pid else f"pid={about[1]}"
    fields = NAME_OF.sub(nameless, ENDED.sub("prev_state=Z|X", event.fields))
    return event.name, event.pid, fields


def by_content(events):
    result = collections.defaultdict(list)
    for event in events:
        result[content(event)].append(event)
    return result


def distance(ours, theirs):
    return sum(abs(a.time - b.time) for a, b in zip(ours, theirs))


def without_unseen(ours, theirs):
    """Theirs without those that fit least to any of ours, so that both are the same number."""
    while len(theirs) > len(ours):
        theirs = min((theirs[:i] + theirs[i + 1:] for i in range(len(theirs))),
                     key=lambda rest: distance(ours, rest))
    return theirs


def pair(ours, theirs):
    """The spans of all events, in order, how many perf passed over, and what else only one side has."""
    spans = []
    unseen = 0
    allowed = len(theirs) // UNSEEN
    differences = []
    ours, theirs = by_content(ours), by_content(theirs)
    for key in {**ours, **theirs}:
        our, their = ours[key], theirs[key]
        if 0 < len(their) - len(our) <= allowed - unseen:
            unseen += len(their) - len(our)
            their = without_unseen(our, their)
        if len(our) != len(their):
            line = (our or their)[0].line.strip()
            differences.append(f"{len(our)} converted, {len(their)} of trace-cmd: {line}")
            continue
        spans += [Span(*sorted((a.time, b.time)), a.line.strip()) for a, b in zip(our, their)]
    return sorted(spans, key=lambda span: (span.begin, -span.end)), unseen, differences


def find_overlaps(spans):
    """How many spans lie within another, and a line for each that overlaps one."""
    nested = 0
    differences = []
    around = []  # spans that the next may lie within, the innermost last
    for span in spans:
        while around and around[-1].end < span.begin:
            around.pop()
        if around and around[-1].end < span.end:
            if around[-1].end > span.begin:
                differences.append(f"{span.end - span.begin} ns: {span.line}\n    overlaps "
                                   f"{around[-1].end - around[-1].begin} ns: {around[-1].line}")
            around.pop()
        nested += bool(around)
        around.append(span)
    return nested, differences


def compare(converted, native, window):
    """Compares the lines of two reports (`trace-cmd report -t -N`), between two times in nanoseconds."""
    ours, theirs = by_cpu(converted), by_cpu(native)
    events = nested = unseen = 0
    cpus = 0
    differences = []
    for cpu in sorted({*ours, *theirs}):
        spans, passed_over, found = pair(*cut(ours[cpu], theirs[cpu], window))
        unseen += passed_over
        within, overlaps = find_overlaps(spans)
        cpus += bool(spans)
        events += len(spans)
        nested += within
        differences += [f"CPU {cpu}: {line}" for line in (*found, *overlaps)]
    return Agreement(events, cpus, nested, unseen, differences)


def compare_files(directory):
    """What vm/tests/reference left in a directory."""
    begin, end = (round(float(line) * 1e9)
                  for line in (directory / "window").read_text().splitlines())
    texts = [compare_report.read_saved(str(directory / name))
             for name in ("converted.txt", "native.txt")]
    # The clock of the window ticks a hundred times a second.
    return compare(*texts, (begin + 10**7, end))
