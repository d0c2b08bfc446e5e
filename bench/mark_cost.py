"""CPU time of a mark in a Python training program. Best of 15 rounds: the machine's own noise only adds.

    /usr/bin/python3 bench/mark_cost.py
"""
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
from gradwatt.agent.steps import StepTracker  # noqa: E402

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


def agent_step(tracker):
    """Everything that the hooks do in one training step on a CPU."""
    begin = time.monotonic_ns()
    tracker.fetched(begin, 64, True, 1, False)
    tracker.backward_begins(False)
    tracker.backward_ends()
    tracker.optimizer_begins(1)
    tracker.optimizer_ends(1)


def main():
    ring = Ring(folder)
    tracker = StepTracker(Recorder(), DeviceClock(None))
    phases = [1, 2, 3, 4, 5, 6, 7, 8]
    calls = [
        ("write one step with phases", lambda: ring.span(STEP, 7, 100, 200, 64, phases)),
        ("write one region", lambda: ring.region("validation", 100, 200)),
        ("gradwatt.step()", gradwatt.step),
        ("with gradwatt.region()", region),
        ("look for a request", ring.request),
        ("all hooks of one training step", lambda: agent_step(tracker)),
    ]
    loop = best_us(empty)
    for name, call in calls:
        print("%-34s %6.2f us" % (name, best_us(call) - loop))


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
