"""Turns what hooks see (batches fetched, backward passes, optimiser calls) into steps, epochs and their phases.

Knows nothing of PyTorch. The words, also for docs:

step        ends when an optimiser has updated the parameters; the next one begins there. Micro-batches that are only
            accumulated, and steps that a gradient scaler skips, belong to the step that follows. Several optimisers
            that update in turn on the same batch make one step.
data_wait   time in the data loader's next(), in the thread that trains
forward     from a training batch in hand to the begin of backward(): transfer, model and loss
backward    in backward(); includes gradient communication that it hides or waits for
optimizer   in optimizer.step(), without a closure's backward passes
evaluation  while batches are fetched with gradients off
checkpoint  in torch.save
other       the rest of the step, where all four of data_wait, forward, backward, optimizer are known
samples     batch sizes of the batches that a backward pass followed
"""
from collections import deque

from .ring import EPOCH, STEP, UNKNOWN

DATA_WAIT, FORWARD, BACKWARD, COMM_EXPOSED, OPTIMIZER, CHECKPOINT, EVALUATION, OTHER = range(8)
# Kinds of what the hooks note.
(FETCHED, LOADER_ENDED, BACKWARD_BEGINS, BACKWARD_ENDS, OPTIMIZER_BEGINS, OPTIMIZER_ENDS, SAVED, MANUAL_STEP) = range(8)
_PARTS = (DATA_WAIT, FORWARD, BACKWARD, OPTIMIZER)
_ON_DEVICE = (FORWARD, BACKWARD, OPTIMIZER)
_PLAIN_STEP = (FETCHED, BACKWARD_BEGINS, BACKWARD_ENDS, OPTIMIZER_BEGINS, OPTIMIZER_ENDS)
_UNKNOWN_PHASES = [UNKNOWN] * 8
_MOST_AHEAD = 2  # batches that a program may fetch before it uses the first; more were not trained on
_MOST_WAITING = 64  # steps whose device events are not done; older ones are told in host time


class _Step:
    """A step being collected, then one waiting to be written."""

    __slots__ = ("begin", "end", "samples", "phases", "events")

    def __init__(self, begin):
        self.begin = begin
        self.end = None
        self.samples = UNKNOWN
        self.phases = _UNKNOWN_PHASES[:]
        self.events = {}  # phase: list of (event, event)

    def add(self, phase, nanoseconds):
        known = self.phases[phase]
        self.phases[phase] = nanoseconds if known == UNKNOWN else known + nanoseconds

    def add_samples(self, count):
        self.samples = count if self.samples == UNKNOWN else self.samples + count

    def add_events(self, phase, begin, end):
        if begin is not None and end is not None:
            self.events.setdefault(phase, []).append((begin, end))

    def absorb(self, later):
        """Takes in what followed and belongs to the same step."""
        self.end = later.end
        for phase, nanoseconds in enumerate(later.phases):
            if nanoseconds != UNKNOWN:
                self.add(phase, nanoseconds)
        if later.samples != UNKNOWN:
            self.add_samples(later.samples)
        for phase, pairs in later.events.items():
            self.events.setdefault(phase, []).extend(pairs)

    def device_times_complete(self):
        """Every host time of a phase on the device has a time by events beside it."""
        known = [phase for phase in _ON_DEVICE if self.phases[phase] != UNKNOWN]
        return bool(known) and all(phase in self.events for phase in known)

    def events_done(self):
        return all(event.query() for pairs in self.events.values() for pair in pairs for event in pair)

    def fill_other(self):
        if all(self.phases[phase] != UNKNOWN for phase in _PARTS):
            known = sum(nanoseconds for nanoseconds in self.phases if nanoseconds != UNKNOWN)
            self.phases[OTHER] = max(0, self.end - self.begin - known)


class _Epoch:
    """One pass over the training loader."""

    __slots__ = ("begin", "steps", "samples")

    def __init__(self, begin):
        self.begin = begin
        self.steps = 0
        self.samples = 0


class StepTracker:
    """Works on what the hooks noted, some time later and for many steps at once. `recorder` gets the marks."""

    def __init__(self, recorder, device):
        self._recorder = recorder
        self._device = device
        self._step = None  # being collected
        self._held = None  # complete, but another optimiser may still belong to it
        self._waiting = deque()  # (number, step) whose device events are not done
        self._several_optimizers = False
        self._stepped = set()  # id() of the optimisers of the last step
        self._manual = False  # the program says its steps itself: they count, not the optimiser's
        self._new_batch = False
        self._ahead = deque()  # samples of batches fetched and not trained on yet, UNKNOWN where not known
        self._batch_at = None  # when the batch in hand came: forward may be running
        self._batch_event = None
        self._evaluation_at = None
        self._depth = 0  # of backward calls
        self._backward_at = self._backward_event = None
        self._backward_inside = 0  # host time of backward passes within the optimiser call that runs
        self._calls = []  # optimiser calls that run: (id, begin, event), outermost first
        self._loader = None  # key of the one that the last batch came from
        self._passes = {}  # loader key: _Epoch that runs
        self._epochs = 0
        self.steps = 0
        self.thread = None  # id of the one that trains, where known

    def take(self, entries):
        """`entries`: in the order of their ends, (kind, what the method of that kind is called with)."""
        methods = (
            self.fetched,
            self.loader_ended,
            self.backward_begins,
            self.backward_ends,
            self.optimizer_begins,
            self.optimizer_ends,
            self.saved,
            self.manual_step,
        )
        position, end = 0, len(entries)
        while position < end:
            if position + 5 <= end and self._take_plain_step(entries[position : position + 5]):
                position += 5
            else:
                kind, *what = entries[position]
                methods[kind](*what)
                position += 1

    def _take_plain_step(self, entries):
        """True where the five entries are the step that nearly all are, and the last one was too: what the methods would
        make of it, in a third of the time."""
        step = self._step
        if step is None or tuple(entry[0] for entry in entries) != _PLAIN_STEP or step.phases != _UNKNOWN_PHASES:
            return False
        (_, begin, fetched, samples, training, loader, first, thread, fetch_event), \
            (_, backward, event), (_, backward_end, _), (_, update, key, _), (_, end, end_key, _) = entries
        running = self._passes.get(loader)
        if (
            not training or first or samples == UNKNOWN or running is None or fetch_event is not None
            or event is not None or key != end_key or self._stepped != {key} or thread != self.thread
            or self._manual or self._several_optimizers or self._waiting or self._ahead or self._calls or self._depth
            or self._evaluation_at is not None or step.samples != UNKNOWN
        ):  # fmt: skip
            return False
        ring = self._recorder.ring()
        if ring is None:
            return False
        known = (fetched - begin, backward - fetched, backward_end - backward, end - update)
        other = max(0, end - step.begin - sum(known))
        phases = (*known[:3], UNKNOWN, known[3], UNKNOWN, UNKNOWN, other)
        ring.span(STEP, self.steps, step.begin, end, samples, phases)
        self._loader = loader
        self.steps += 1
        running.steps += 1
        running.samples += samples
        step.begin = end
        return True

    # What the hooks noted. Times are of the monotonic clock in ns, `event` is one of the device clock or None, `thread`
    # the id of the thread in which it happened.

    def fetched(self, begin, now, samples, training, loader, first, thread, event):
        """A batch came. `loader`: a key that stays the same from pass to pass; `first`: of this pass."""
        if not self._trains(thread):
            if training:
                self._keep_ahead(samples)  # fetched in the background: nobody waited
            return
        self._pass_by(begin)
        self._batch_at = None
        if training:
            self._write_held()
            step = self._collecting(begin)
            if first:
                self._end_pass(loader, self._last_end(begin))
                self._passes[loader] = _Epoch(begin)
            self._loader = loader
            step.add(DATA_WAIT, now - begin)
            self._keep_ahead(samples)
            self._batch_event = event
            self._batch_at = now
        else:
            self._evaluation_at = begin

    def loader_ended(self, begin, now, training, loader, thread):
        if not self._trains(thread):
            return
        self._pass_by(now)
        self._batch_at = None
        if training and loader in self._passes:
            self._collecting(begin).add(DATA_WAIT, now - begin)
            self._write_held()
            self._end_pass(loader, now)

    def backward_begins(self, now, event):
        self._depth += 1
        if self._depth > 1:
            return
        self._pass_by(now)
        step = self._collecting(now)
        if self._batch_at is not None:
            step.add(FORWARD, now - self._batch_at)
            step.add_events(FORWARD, self._batch_event, event)
            self._batch_at = None
        if self._ahead:
            self._take_samples(step)
        self._backward_at, self._backward_event = now, event

    def backward_ends(self, now, event):
        self._depth = max(0, self._depth - 1)
        if self._depth > 0 or self._backward_at is None:
            return
        took = now - self._backward_at
        step = self._collecting(self._backward_at)
        step.add(BACKWARD, took)
        step.add_events(BACKWARD, self._backward_event, event)
        if self._calls:
            self._backward_inside += took
        self._backward_at = self._backward_event = None

    def optimizer_begins(self, now, key, event):
        for position, call in enumerate(self._calls):
            if call[0] == key:  # its last call ended by an exception
                del self._calls[position:]
                break
        if not self._calls:
            self._backward_inside = 0
            self._pass_by(now)
        self._calls.append((key, now, event))

    def optimizer_ends(self, now, key, event):
        while self._calls and self._calls[-1][0] != key:
            self._calls.pop()  # an inner call that ended by an exception
        if not self._calls:
            return
        _, begin, begin_event = self._calls.pop()
        if self._calls:
            return  # an optimiser that another one wraps
        step = self._collecting(begin)
        step.add(OPTIMIZER, max(0, now - begin - self._backward_inside))
        step.add_events(OPTIMIZER, begin_event, event)
        self._batch_at = None
        if not self._manual:
            self._close(key, now)

    def saved(self, begin, now, thread):
        if self.thread == thread and self._step is not None:
            self._pass_by(begin)
            self._step.add(CHECKPOINT, now - begin)

    def manual_step(self, now, samples=None):
        """The program says itself that a step ended."""
        self._manual = True
        self._write_held()
        step = self._collecting(now)
        if step.begin == now:
            return  # the first call of a program that the hooks saw nothing of: steps count from here
        if samples is not None:
            step.samples = int(samples)
        step.end = now
        self._step = _Step(now)
        self._write(step)

    def finish(self):
        """At the end of the process: writes what waits. Nothing is waited for: unread device times are host times."""
        self._write_held()
        self._drain(everything=True)
        for loader in list(self._passes):
            self._end_pass(loader, self._last_end(self._passes[loader].begin))

    # What follows from it.

    def _trains(self, thread):
        return self.thread is None or self.thread == thread

    def _keep_ahead(self, samples):
        self._ahead.append(samples)
        if len(self._ahead) > _MOST_AHEAD:
            self._ahead.popleft()
        self._new_batch = True

    def _collecting(self, begin):
        if self._step is None:
            self._step = _Step(begin)
        return self._step

    def _last_end(self, otherwise):
        """End of the last step: where a pass that was left early ended."""
        return self._step.begin if self._step is not None and self.steps else otherwise

    def _pass_by(self, now):
        """Something else begins: evaluation, if it ran, reached until here."""
        if self._evaluation_at is not None:
            self._collecting(self._evaluation_at).add(EVALUATION, now - self._evaluation_at)
            self._evaluation_at = None

    def _close(self, key, now):
        step, self._step = self._step, _Step(now)
        step.end = now
        same = bool(self._stepped) and key not in self._stepped and not self._new_batch
        if not same and step.phases[BACKWARD] == UNKNOWN:
            while self._ahead:  # gradients came another way than by backward()
                self._take_samples(step)
        if same and self._held is None:
            # The second optimiser of the first step, which was written already: its work goes to the next one.
            self._several_optimizers = True
            step.end = None
            self._step = step
        elif same:
            self._held.absorb(step)
        else:
            self._write_held()
            self._stepped.clear()
            if self._several_optimizers:
                self._held = step
            else:
                self._write(step)
        self._stepped.add(key)
        self._new_batch = False

    def _take_samples(self, step):
        samples = self._ahead.popleft()
        if samples != UNKNOWN:
            step.add_samples(samples)

    def _write_held(self):
        step, self._held = self._held, None
        if step is not None:
            self._write(step)

    def _write(self, step):
        number, self.steps = self.steps, self.steps + 1
        running = self._passes.get(self._loader)
        if running is not None:
            running.steps += 1
            running.samples += max(0, step.samples)
        if step.device_times_complete():
            self._waiting.append((number, step))
        else:
            self._emit(number, step, on_device=0)
        self._drain(everything=False)

    def _drain(self, everything):
        while self._waiting:
            number, step = self._waiting[0]
            done = self._device.usable() and step.events_done()
            if not done and not everything and len(self._waiting) <= _MOST_WAITING:
                return
            self._waiting.popleft()
            times = self._device.times_ns(step.events) if done else {}
            for phase, nanoseconds in times.items():
                step.phases[phase] = nanoseconds
            self._emit(number, step, on_device=int(bool(times)))

    def _emit(self, number, step, on_device):
        ring = self._recorder.ring()
        if ring is None:
            return
        if not on_device:
            step.fill_other()
        ring.span(STEP, number, step.begin, step.end, step.samples, step.phases, on_device)

    def _end_pass(self, loader, end):
        epoch = self._passes.pop(loader, None)
        if epoch is None or epoch.steps == 0:
            return
        ring = self._recorder.ring()
        if ring is not None:
            ring.span(EPOCH, self._epochs, epoch.begin, end, epoch.samples or UNKNOWN)
        self._epochs += 1
