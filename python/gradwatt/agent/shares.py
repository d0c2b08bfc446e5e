"""How the training thread spends its time: facts main.cpu_share and python.gc_share, from the first step on."""
import gc
from _thread import get_ident
from time import monotonic_ns, thread_time_ns

_SHORTEST_NS = 2_000_000_000  # a share of less says little


class Shares:
    def __init__(self, clock=monotonic_ns, thread_clock=thread_time_ns):
        self._clock = clock
        self._thread_clock = thread_clock
        self._begin = self._cpu = self._thread = None
        self._collecting = None
        self._collected = 0

    def begin(self):
        """In the training thread, at its first step."""
        self._begin, self._cpu, self._thread = self._clock(), self._thread_clock(), get_ident()
        gc.callbacks.append(self._on_collection)

    def _on_collection(self, phase, info):
        if phase == "start":
            self._collecting = self._clock()
        elif self._collecting is not None:
            self._collected += self._clock() - self._collecting
            self._collecting = None

    def told(self):
        """{fact: share}; empty in another thread, before the first step and when too little time went by."""
        if self._begin is None or get_ident() != self._thread:
            return {}
        elapsed = self._clock() - self._begin
        if elapsed < _SHORTEST_NS:
            return {}
        return {
            "main.cpu_share": min(1.0, (self._thread_clock() - self._cpu) / elapsed),
            "python.gc_share": self._collected / elapsed,
        }
