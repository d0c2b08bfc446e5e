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
import threading
from collections import deque
from time import monotonic_ns

from .ring import EPOCH, STEP, UNKNOWN

DATA_WAIT, FORWARD, BACKWARD, COMM_EXPOSED, OPTIMIZER, CHECKPOINT, EVALUATION, OTHER = range(8)
_PARTS = (DATA_WAIT, FORWARD, BACKWARD, OPTIMIZER)
_ON_DEVICE = (FORWARD, BACKWARD, OPTIMIZER)
_MOST_AHEAD = 2  # batches that a program may fetch before it uses the first; more were not trained on
_MOST_WAITING = 64  # steps whose device events are not done; older ones are told in host time


class _Step:
    """A step being collected, then one waiting to be written."""

    __slots__ = ("begin", "end", "samples", "phases", "events")

    def __init__(self, begin):
        self.begin = begin
        self.end = None
        self.samples = UNKNOWN
        self.phases = [UNKNOWN] * 8
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
    """`recorder` gets the marks; `on_step()` is called after each step that counts."""

    def __init__(self, recorder, device, on_step=None, clock=monotonic_ns):
        self._recorder = recorder
        self._device = device
        self._on_step = on_step or (lambda number: None)
        self._clock = clock
        self._step = None  # being collected
        self._held = None  # complete, but another optimiser may still belong to it
        self._waiting = deque()  # (number, step) whose device events are not done
        self._several_optimizers = False
        self._stepped = set()  # id() of the optimisers of the last step
        self._new_batch = False
        self._ahead = deque()  # samples of batches fetched and not trained on yet, UNKNOWN where not known
        self._batch_at = None  # when the batch in hand came: forward may be running
        self._batch_event = None
        self._evaluation_at = None
        self._thread = None  # that trains
        self._depth = 0  # of backward calls
        self._backward_at = self._backward_event = None
        self._backward_inside = 0  # host time of backward passes within the optimiser call that runs
        self._calls = []  # optimiser calls that run: (id, begin, event), outermost first
        self._loader = None  # key of the one that the last batch came from
        self._passes = {}  # loader key: _Epoch that runs
        self._epochs = 0
        self.steps = 0
        self.own_ns = 0  # host time that this class took

    # What the hooks report. `now` is when the thing happened, for the sum of own time.

    def fetched(self, begin, samples, training, loader, first):
        """A batch came. `loader`: a key that stays the same from pass to pass; `first`: of this pass."""
        now = self._clock()
        if not self._is_training_thread():
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
            self._batch_event = self._device.now()
            self._batch_at = self._clock()
        else:
            self._evaluation_at = begin
        self.own_ns += self._clock() - now

    def loader_ended(self, begin, training, loader):
        now = self._clock()
        if not self._is_training_thread():
            return
        self._pass_by(now)
        self._batch_at = None
        if training and loader in self._passes:
            self._collecting(begin).add(DATA_WAIT, now - begin)
            self._write_held()
            self._end_pass(loader, now)
        self.own_ns += self._clock() - now

    def backward_begins(self, on_device):
        self._depth += 1
        if self._depth > 1:
            return
        now = self._clock()
        if self._thread is None:
            self._thread = threading.get_ident()
        self._device.enable(on_device)
        event = self._device.now()
        self._pass_by(now)
        step = self._collecting(now)
        if self._batch_at is not None:
            step.add(FORWARD, now - self._batch_at)
            step.add_events(FORWARD, self._batch_event, event)
            self._batch_at = None
        if self._ahead:
            self._take_samples(step)
        self._backward_at, self._backward_event = self._clock(), event
        self.own_ns += self._backward_at - now

    def backward_ends(self):
        self._depth = max(0, self._depth - 1)
        if self._depth > 0 or self._backward_at is None:
            return
        now = self._clock()
        took = now - self._backward_at
        self._collecting(self._backward_at).add(BACKWARD, took)
        self._step.add_events(BACKWARD, self._backward_event, self._device.now())
        if self._calls:
            self._backward_inside += took
        self._backward_at = self._backward_event = None
        self.own_ns += self._clock() - now

    def optimizer_begins(self, key):
        now = self._clock()
        for position, call in enumerate(self._calls):
            if call[0] == key:  # its last call ended by an exception
                del self._calls[position:]
                break
        if not self._calls:
            self._backward_inside = 0
            self._pass_by(now)
        event = None if self._calls else self._device.now()
        after = self._clock()
        self._calls.append((key, after, event))
        self.own_ns += after - now

    def optimizer_ends(self, key):
        now = self._clock()
        while self._calls and self._calls[-1][0] != key:
            self._calls.pop()  # an inner call that ended by an exception
        if not self._calls:
            return
        _, begin, event = self._calls.pop()
        if self._calls:
            return  # an optimiser that another one wraps
        if self._thread is None:
            self._thread = threading.get_ident()
        step = self._collecting(begin)
        step.add(OPTIMIZER, max(0, now - begin - self._backward_inside))
        step.add_events(OPTIMIZER, event, self._device.now())
        self._batch_at = None
        if not self._recorder.manual_steps:
            self._close(key, now)
        self.own_ns += self._clock() - now

    def saved(self, begin):
        now = self._clock()
        if self._thread == threading.get_ident() and self._step is not None:
            self._pass_by(begin)
            self._step.add(CHECKPOINT, now - begin)

    def manual_step(self, samples=None):
        """The program says itself that a step ended."""
        now = self._clock()
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

    def _is_training_thread(self):
        return self._thread is None or self._thread == threading.get_ident()

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
        self._on_step(number)

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
