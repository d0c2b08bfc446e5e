"""CPU time of a mark in a Python training program. Best of 15 rounds: the machine's own noise only adds.

    /usr/bin/python3 bench/mark_cost.py
"""
import itertools
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
os.environ["GRADWATT_MARKS"] = folder = tempfile.mkdtemp(prefix="gw-bench-", dir="/dev/shm")
import gradwatt  # noqa: E402
from gradwatt.agent.device_clock import DeviceClock  # noqa: E402
from gradwatt.agent.recorder import Recorder  # noqa: E402
from gradwatt.agent.ring import STEP, Ring  # noqa: E402
from gradwatt.agent.steps import (  # noqa: E402
    BACKWARD_BEGINS, BACKWARD_ENDS, FETCHED, OPTIMIZER_BEGINS, OPTIMIZER_ENDS, StepTracker,
)  # fmt: skip

ROUNDS, CALLS = 15, 20000


def best_us(call):
    return min(one_round(call) for _ in range(ROUNDS)) / CALLS / 1e3


def one_round(call):
    begin = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return time.thread_time_ns() - begin


def empty():
    pass


def region():
    with gradwatt.region("validation"):
        pass


def agent_at_work():
    """A call that makes one step of what the hooks note in a step on a CPU; the tracker takes a hundred at once."""
    tracker, at, entries = StepTracker(Recorder(), DeviceClock(None)), time.monotonic_ns(), []
    for number in range(100):
        entries += [
            (FETCHED, at, at + 1000, 64, True, 1, False, 7, None), (BACKWARD_BEGINS, at + 2000, None),
            (BACKWARD_ENDS, at + 3000, None), (OPTIMIZER_BEGINS, at + 4000, 9, None), (OPTIMIZER_ENDS, at + 5000, 9, None),
        ]  # fmt: skip
        at += 6000
    tracker.thread = 7
    tracker.take([(FETCHED, at, at + 1, 64, True, 1, True, 7, None), *entries[1:5]])
    calls = itertools.count(1)

    def call():
        if next(calls) % 100 == 0:
            tracker.take(entries)

    return call


def main():
    ring = Ring(folder)
    phases = [1, 2, 3, 4, 5, 6, 7, 8]
    calls = [
        ("write one step with phases", lambda: ring.span(STEP, 7, 100, 200, 64, phases)),
        ("write one region", lambda: ring.region("validation", 100, 200)),
        ("gradwatt.step()", gradwatt.step),
        ("with gradwatt.region()", region),
        ("look for a request", ring.request),
        ("make one step of its notes", agent_at_work()),
    ]
    loop = best_us(empty)
    for name, call in calls:
        print("%-34s %6.2f us" % (name, best_us(call) - loop))


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
