"""Steps and regions named by the program itself, written to the mark ring that the agent of this process uses too."""
import functools
import sys
from time import monotonic_ns

_recorder = None  # of this process, once it was needed
_step_begin = None
_steps = 0


def _find_recorder():
    """The agent's where it runs; else one of our own."""
    global _recorder
    agent = sys.modules.get("_gradwatt_agent")
    _recorder = agent.current() if agent is not None else None
    if _recorder is None:
        from .agent.recorder import Recorder

        _recorder = Recorder()
    return _recorder


def step(samples=None):
    """Says that a training step ended just now; the next one begins here. The first call of a program in which the
    PyTorch agent sees nothing only starts the clock. Once it was called, optimiser steps are no longer counted by
    themselves. `samples`: how many this process trained on in the step, where known."""
    global _step_begin, _steps
    now = monotonic_ns()
    recorder = _recorder or _find_recorder()
    ring = recorder.ring()
    if ring is None:
        return
    if recorder.on_manual_step is not None:
        recorder.on_manual_step(samples)
        return
    begin, _step_begin = _step_begin, now
    if begin is None:
        return
    ring.step(_steps, begin, now, samples)
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
        ring = (_recorder or _find_recorder()).ring()
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
        ring = (_recorder or _find_recorder()).ring()
        if ring is not None:
            ring.region(str(name), begin, end)
        return (end - begin) * 1e-9
