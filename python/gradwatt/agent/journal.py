"""What the hooks note in a training step, and when it is worked on.

A step of a training finds cold caches: what takes 6 us in a loop takes 100 us there. So a hook only appends one entry to
a list, and the work on the entries (steps.py) is done for many steps at once, at the end of an optimiser call:

- for the first steps, for steps longer than a second, and while a profile is taken: at each step;
- else when a second has passed or the list is long.

A request for a profile is looked for twice in this time and when a pass over the training loader begins.

So a process that is killed loses at most the marks of its last second.
"""
from _thread import allocate_lock, get_ident

from .ring import NO_REQUEST

_AT_ONCE = 10  # steps from the start; figures that grow are said at the tenth for the first time
_AT_MOST_NS = 1_000_000_000
_MOST_ENTRIES = 1024
_FEW_STEPS = 2


class Journal:
    """Hooks read the public attributes and nothing else, for speed. Any thread may note; one works on the notes.
    after_steps(before, steps) is called behind the work; True: to be called at each step."""

    __slots__ = (
        "entries", "note", "due", "measuring", "asked", "seen",
        "_recorder", "_tracker", "_cost", "_after_steps", "_take_at", "_working",
    )  # fmt: skip

    MOST_ENTRIES = _MOST_ENTRIES

    def __init__(self, recorder, tracker, cost, after_steps):
        self.entries = []
        self.note = self.entries.append
        self.due = 0  # time from which end_of_step() is to be called; 0: at the next step
        self.measuring = True  # hooks measure their CPU time
        self.asked, self.seen = NO_REQUEST, 0  # a request waits where asked[0] != seen
        self._recorder = recorder
        self._tracker = tracker
        self._cost = cost
        self._after_steps = after_steps
        self._take_at = 0
        self._working = allocate_lock()

    def end_of_step(self, now):
        """At the end of an optimiser call, when it is due or the list is long."""
        if self._tracker.thread is None:
            self._tracker.thread = get_ident()
        if now >= self._take_at or self._cannot_wait():
            self.take_in(now)
        elif self.measuring:
            self.measuring = False
            self.due = self._take_at
        else:
            self.measuring = True
            self.due = 0

    def take_in_if_due(self, now):
        """Where a pass begins or the list is long, in any thread."""
        if self._cannot_wait():
            self.take_in(now)

    def _cannot_wait(self):
        return self.asked[0] != self.seen or len(self.entries) > _MOST_ENTRIES

    def take_in(self, now):
        """Works on all that was noted. Does not raise."""
        if not self._working.acquire(False):
            return  # another thread does, or this one is within it
        try:
            begin = self._cost.now()
            entries = self.entries[:]
            del self.entries[: len(entries)]
            before = self._tracker.steps
            self._tracker.take(entries)
            self._plan(now, before, self._tracker.steps)
            self._cost.batch(begin, len(entries))
        except Exception as error:
            self._recorder.problem(error)
            self.entries.clear()
        finally:
            self._working.release()

    def _plan(self, now, before, steps):
        if steps == 0:
            self.measuring = False  # a program that only evaluates
            return
        was_each_step = self._take_at == 0
        each_step = self._after_steps(before, steps) or steps < _AT_ONCE
        self._take_at = 0 if each_step else now + _AT_MOST_NS
        # Not the step that comes next: it finds what this one left in the caches.
        self.due = 0 if each_step else now + _AT_MOST_NS // 2
        if steps > before:
            self.measuring = each_step or not was_each_step and steps - before < _FEW_STEPS
        ring = self._recorder.ring()
        if ring is not None:
            self.asked, self.seen = ring.asked, ring.seen
