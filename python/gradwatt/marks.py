"""Steps and regions named by the program itself, written to the mark ring that the agent of this process uses too."""
import functools
import os
import sys
from time import monotonic_ns

_own_recorder = None
_step_begin = None
_steps = 0


def _recorder():
    """The agent's where it runs; else one of our own."""
    global _own_recorder
    agent = sys.modules.get("_gradwatt_agent")
    recorder = agent.current() if agent is not None else None
    if recorder is not None:
        return recorder
    if _own_recorder is None:
        from .agent.recorder import Recorder

        _own_recorder = Recorder()
    return _own_recorder


def _ring():
    return _recorder().ring() if os.environ.get("GRADWATT_MARKS") else None


def step(samples=None):
    """Says that a training step ended just now; the next one begins here. The first call of a program in which the
    PyTorch agent sees nothing only starts the clock. Once it was called, optimiser steps are no longer counted by
    themselves. `samples`: how many this process trained on in the step, where known."""
    global _step_begin, _steps
    now = monotonic_ns()
    ring = _ring()
    if ring is None:
        return
    recorder = _recorder()
    recorder.manual_steps = True
    if recorder.on_manual_step is not None:
        recorder.on_manual_step(samples)
        return
    begin, _step_begin = _step_begin, now
    if begin is None:
        return
    from .agent.ring import STEP, UNKNOWN

    ring.span(STEP, _steps, begin, now, UNKNOWN if samples is None else int(samples))
    _steps += 1


class region:
    """A named stretch of time: `with region("name"):` or `@region("name")`. Regions may nest; names are cut at 64 bytes.
    A region that an exception leaves is recorded as well."""

    def __init__(self, name):
        self.name = str(name)
        self._begins = []  # of entries that run: one object may be entered again inside itself

    def __enter__(self):
        self._begins.append(monotonic_ns())
        return self

    def __exit__(self, kind, value, traceback):
        ring = _ring()
        begin = self._begins.pop()
        if ring is not None:
            ring.region(self.name, begin, monotonic_ns())
        return False

    def __call__(self, function):
        name = self.name

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with region(name):
                return function(*args, **kwargs)

        return wrapper


class EnergyMonitor:
    """Windows that begin and end in different places:

        monitor = EnergyMonitor()
        monitor.start("epoch")
        ...
        seconds = monitor.stop("epoch")

    A window is a region. Its energy is not known here: power is measured outside this process and matched with the
    windows afterwards, in `gradwatt report`."""

    def __init__(self):
        self._begins = {}

    def start(self, name):
        if name in self._begins:
            raise ValueError("the window %r is already running; stop it first" % (name,))
        self._begins[name] = monotonic_ns()

    def stop(self, name):
        """Ends the window; its length in seconds."""
        if name not in self._begins:
            raise ValueError("the window %r is not running; start it first" % (name,))
        begin, end = self._begins.pop(name), monotonic_ns()
        ring = _ring()
        if ring is not None:
            ring.region(str(name), begin, end)
        return (end - begin) * 1e-9
