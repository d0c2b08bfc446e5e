"""Answers a request for a trace: torch.profiler around the next n steps, written to the path that gradwatt named."""
import os

from .ring import DONE, FAILED, TAKEN

_MOST_STEPS = 1000  # a trace of more would fill memory


class Profiler:
    """A failure is the answer to the request; the marks go on."""

    def __init__(self, torch, recorder):
        self._torch = torch
        self._recorder = recorder
        self._running = None
        self._steps_left = 0
        self._request = 0
        self._path = ""

    def look(self, step_ended):
        """Looks for a request, or counts a step of the one that runs. True while a profile is taken."""
        ring = self._recorder.ring()
        if ring is None:
            return False
        try:
            if self._running is not None:
                self._steps_left -= step_ended
                if self._steps_left <= 0:
                    self._stop(ring)
                elif step_ended:
                    self._running.step()
            else:
                request = ring.request()
                if request is not None:
                    self._start(ring, *request)
        except Exception as error:
            self._running = None
            ring.answer(self._request, FAILED)
            ring.fact("agent.problem", "profile: %s: %s" % (type(error).__name__, error))
        return self._running is not None

    def abandon(self):
        """The process ends before the last step of the request: what was recorded is still written."""
        ring = self._recorder.ring()
        if self._running is not None and ring is not None:
            self._stop(ring)

    def _start(self, ring, number, steps, path):
        self._request, self._path, self._steps_left = number, path, min(steps, _MOST_STEPS)
        torch = self._torch
        if torch.autograd._profiler_enabled():
            raise RuntimeError("the program is profiling itself")
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        # With a schedule each step gets its ProfilerStep range, by which readers tell steps apart.
        profiler = torch.profiler.profile(activities=activities, schedule=lambda step: torch.profiler.ProfilerAction.RECORD)
        profiler.start()
        self._running = profiler
        ring.answer(number, TAKEN)

    def _stop(self, ring):
        profiler, self._running = self._running, None
        profiler.stop()
        part = "%s.%d.part.json" % (self._path, os.getpid())
        profiler.export_chrome_trace(part)
        os.rename(part, self._path)  # whoever finds the file finds all of it
        ring.answer(self._request, DONE)
