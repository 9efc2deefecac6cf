#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a fuzzing campaign makes of libFuzzer's outputs: which inputs it keeps, what it takes for one
finding, and its numbers."""

import importlib.machinery
import importlib.util
import random
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "fuzz-campaign"
loader = importlib.machinery.SourceFileLoader("fuzz_campaign", str(SCRIPT))
campaign = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(campaign)


def write_control(folder, inputs):
    """The control file of a merge, of inputs with a size and features each."""
    lines = []
    for index, (name, (size, features)) in enumerate(inputs.items()):
        (folder / name).write_bytes(bytes(size))
        # What libFuzzer tells as the size is no more than it accepts.
        lines += [f"STARTED {index} {min(size, 100)}", f"FT {index} {' '.join(map(str, features))}",
                  f"COV {index}"]
    control = folder / "control"
    control.write_text("\n".join([str(len(inputs)), "0", *(str(folder / name) for name in inputs), *lines]) + "\n")
    return control


def cover(inputs, budget=None):
    with tempfile.TemporaryDirectory() as name:
        return [path.name for path in campaign.Done(write_control(Path(name), inputs)).cover(budget)]


def plain_cover(inputs):
    """The same, slowly: each time all inputs are judged."""
    chosen = []
    for kind in (lambda feature: feature // 8, lambda feature: feature):
        does = {name: {kind(feature) for feature in features} for name, (_, features) in inputs.items()}
        missing = set().union(*does.values()) - set().union(*(does[name] for name in chosen))
        while missing:
            best = max(inputs, key=lambda name: len(does[name] & missing) / (inputs[name][0] + 1))
            chosen.append(best)
            missing -= does[best]
    return chosen


class Cover(unittest.TestCase):
    """Which inputs are kept."""

    THREE = {"a": (10, [8]), "b": (11, [16]), "c": (12, [8, 16, 24])}

    def test_takes_few_that_do_it_all(self):
        self.assertEqual(cover(self.THREE), ["c"])

    def test_takes_what_does_most_in_the_budget(self):
        self.assertEqual(cover(self.THREE, 20), ["c"])
        self.assertEqual(cover(self.THREE, 11), ["a"])
        self.assertEqual(cover(self.THREE, 9), [])

    def test_goes_by_the_size_of_the_file(self):
        self.assertEqual(cover({"large": (1000, [8, 16]), "small": (3, [8])}, 999), ["small"])

    def test_takes_features_after_edges(self):
        inputs = {"large": (50, [8, 9, 10]), "small": (1, [8])}
        self.assertEqual(cover(inputs), ["small", "large"])
        self.assertEqual(cover(inputs, 50), ["small"])

    def test_takes_the_best_each_time(self):
        numbers = random.Random(1)
        for _ in range(30):
            inputs = {f"input-{index}": (numbers.randrange(200), numbers.sample(range(400), numbers.randrange(1, 40)))
                      for index in range(60)}
            self.assertEqual(cover(inputs), plain_cover(inputs))


class Keys(unittest.TestCase):
    """What is one finding."""

    FRAMES = """\
    #0 0x1 in operator new(unsigned long) (/build/x_fuzzer+0x1) (BuildId: 2)
    #1 0x2 in perf2dat::tracedat::(anonymous namespace)::read(int) /src/converter/tracedat/reader.cc:{}:5
    #2 0x3 in tl::expected<int, perf2dat::Error> perf2dat::call<int>() /src/converter/base/error.h:3:1
    #3 0x4 in LLVMFuzzerTestOneInput /src/fuzz/trace_dat.cc:9:3
    #4 0x5 in main (/build/x_fuzzer+0x1) (BuildId: 2)
"""

    def key(self, output, status=77, was_late=False):
        return campaign.key_of(campaign.Ended(output, status, 0, was_late))

    def test_nothing_failed(self):
        self.assertIsNone(self.key("Executed x in 1 ms", 0))

    def test_a_property(self):
        self.assertEqual(self.key("/src/fuzz/x.cc:12: does not hold: that\n==1== ERROR: libFuzzer: deadly signal\n"),
                         ("x.cc:12",))

    def test_places_in_our_sources(self):
        overflow = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x12 at pc 0x3\n" + self.FRAMES
        first = self.key(overflow.format(70))
        self.assertEqual(first, ("heap-buffer-overflow", "converter/tracedat/reader.cc:70",
                                 "converter/base/error.h:3", "fuzz/trace_dat.cc:9"))
        self.assertNotEqual(first, self.key(overflow.format(71)))

    def test_kinds_without_numbers(self):
        for text, kind in (("AddressSanitizer: requested allocation size 0x123 (0x456 after) exceeds", None),
                           ("libFuzzer: timeout after 10 seconds", "timeout after"),
                           ("libFuzzer: out-of-memory (used: 513Mb; limit: 512Mb)", "out-of-memory"),
                           ("LeakSanitizer: detected memory leaks", "detected memory leaks")):
            self.assertEqual(self.key(f"==1== ERROR: {text}\n")[0], kind or "requested allocation size")

    def test_no_end(self):
        self.assertEqual(self.key("", -9, True), ("never ends",))


class Numbers(unittest.TestCase):
    """What a log tells."""

    LOG = """\
#100: cov: 5 ft: 7 corp: 3 exec/s 50 oom/timeout/crash: 0/0/0 time: 9s job: 1 dft_time: 0
#400: cov: 5 ft: 7 corp: 3 exec/s 100 oom/timeout/crash: 0/1/2 time: 12s job: 2 dft_time: 0
INFO: exiting: {} time: 12s
"""

    def test_executions(self):
        # 100 in 2 s, then 300 in 3 s.
        self.assertEqual(campaign.executions(self.LOG), (400, 80))
        self.assertEqual(campaign.executions(""), (0, 0))

    def test_deaths(self):
        self.assertEqual(campaign.died(self.LOG.format(0)), 3)
        self.assertEqual(campaign.died(self.LOG.format(77)), 4)
        self.assertEqual(campaign.died(""), 0)


class Replace(unittest.TestCase):
    """A corpus that becomes another."""

    def test_keeps_what_is_chosen(self):
        with tempfile.TemporaryDirectory() as name:
            corpus, other = Path(name, "corpus"), Path(name, "other")
            other.write_bytes(b"new")
            campaign.replace(corpus, [other])
            kept = list(corpus.iterdir())
            self.assertEqual([path.read_bytes() for path in kept], [b"new"])
            (corpus / "old").write_bytes(b"old")
            campaign.replace(corpus, kept)
            self.assertEqual(list(corpus.iterdir()), kept)


if __name__ == "__main__":
    unittest.main()
