"""Where in PyTorch the agent listens: loader iterators, backward(), Optimizer.step(), torch.save, DDP.

Each wrapper calls the original with what it was given and passes on what it returns or raises. What the agent does
beside it is guarded: its first failure is reported and ends it. Inside torch.compile every wrapper is transparent.

Wrappers that run in each step are written for cold caches: one entry for the journal, no call of our own that can be
spared. What must be done rarely is behind one test.
"""
import atexit
import functools
import sys
from _thread import get_ident
from time import monotonic_ns, thread_time_ns

from . import facts
from .cost import CostMeter
from .device_clock import DeviceClock
from .journal import Journal
from .profile import Profiler
from .steps import (
    BACKWARD_BEGINS, BACKWARD_ENDS, FETCHED, LOADER_ENDED, MANUAL_STEP, OPTIMIZER_BEGINS, OPTIMIZER_ENDS, SAVED,
    StepTracker,
)  # fmt: skip


class Agent:
    """The parts, and what the wrappers do rarely. Methods do nothing once the recorder is silent."""

    def __init__(self, torch, recorder):
        self.torch = torch
        self.recorder = recorder
        self.cost = CostMeter()
        self.device = DeviceClock(torch.cuda)
        self.profiler = Profiler(torch, recorder)
        self.facts = facts.Facts(torch, recorder)
        self.tracker = StepTracker(recorder, self.device)
        self.journal = Journal(recorder, self.tracker, self.cost, self._after_steps)
        recorder.on_manual_step = self.manual_step

    def guard(self, method, *args):
        try:
            method(*args)
        except Exception as error:
            self.recorder.problem(error)

    def event(self):
        """Where the device is now; hooks call it only while device.on."""
        try:
            return self.device.now()
        except Exception as error:
            self.recorder.problem(error)
            return None

    def manual_step(self, samples=None):
        now = monotonic_ns()
        self.journal.note((MANUAL_STEP, now, samples))
        self.journal.end_of_step(now)

    def _after_steps(self, before, steps):
        """`steps` were counted until now, `before` when this was called last. True: to be called after each step."""
        if before == 0:
            self.recorder.learn_ranks()
        if steps > before:
            self.facts.after_steps(before, steps, self.cost.seconds)
        return self.profiler.look(step_ended=steps > before)

    def pass_begins(self, iterator, samples):
        iterator._gradwatt_samples, iterator._gradwatt_full = samples, facts.full_batches(self.torch, iterator, samples)
        self.facts.loader(iterator, samples)

    def finish(self):
        if not self.recorder.active:
            return
        self.journal.take_in(monotonic_ns())
        if self.tracker.steps:
            self.guard(self.tracker.finish)
            self.guard(self.facts.at_end, self.cost.seconds)
            self.guard(self.profiler.abandon)


def install(recorder, begun=None):
    torch = sys.modules["torch"]
    agent = Agent(torch, recorder)
    compiling = _is_compiling(torch)
    _leave_uncompiled(torch, Agent.guard, with_callees=True)
    _listen_to_loaders(torch, agent)
    _listen_to_backward(torch, agent, compiling)
    _listen_to_optimizers(torch, agent, compiling)
    _listen_to_save(torch, agent)
    _listen_to_ddp(agent)
    atexit.register(agent.finish)
    if begun is not None:
        agent.cost.since(begun)


def _is_compiling(torch):
    compiler = getattr(torch, "compiler", None)
    found = getattr(compiler, "is_compiling", None)  # 2.1 and newer
    return found  # None: nothing can be compiling


def _leave_uncompiled(torch, function, with_callees=False):
    """Tells torch.compile to run this function as it is where it meets it, instead of trying to compile it: one graph
    break less. By the C part alone: importing torch._dynamo takes seconds. Without effect where that looks different."""
    module = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    try:
        if hasattr(module, "set_code_exec_strategy"):
            skip, usual = module._FrameAction.SKIP, module._FrameAction.DEFAULT
            strategy = module._FrameExecStrategy(skip, skip if with_callees else usual)
            module.set_code_exec_strategy(function.__code__, strategy)
        elif hasattr(module, "skip_code"):  # before 2.7
            module.skip_code(function.__code__)
    except Exception:
        pass
    return function


def _listen_to_loaders(torch, agent):
    base = torch.utils.data.dataloader._BaseDataLoaderIter
    original = base.__next__
    recorder, journal, device, event = agent.recorder, agent.journal, agent.device, agent.event
    note, measured, entries, most_entries = journal.note, agent.cost.hook, journal.entries, journal.MOST_ENTRIES
    samples_of, is_training = facts.samples_of, torch.is_grad_enabled

    @functools.wraps(original)
    def __next__(self):
        if not recorder.active:
            return original(self)
        begin = monotonic_ns()
        try:
            batch = original(self)
        except StopIteration:
            note((LOADER_ENDED, begin, monotonic_ns(), is_training(), facts.key_of(self), get_ident()))
            raise
        cpu = thread_time_ns() if journal.measuring else 0
        end, training, number = monotonic_ns(), is_training(), self._num_yielded
        first = number == 1
        try:
            samples = self._gradwatt_samples if 1 < number <= self._gradwatt_full else samples_of(self, batch)
            happening = event() if device.on else None
            key = id(getattr(self, "_index_sampler", self))
            note((FETCHED, begin, end, samples, training, key, first, get_ident(), happening))
            if first and training:
                agent.pass_begins(self, samples)
        except Exception as error:
            recorder.problem(error)
        if cpu:
            measured(cpu, thread_time_ns())
        if first and training or len(entries) > most_entries:
            journal.take_in_if_due(end)
        return batch

    base._gradwatt_full = 0  # batches of the pass that have _gradwatt_samples
    base.__next__ = _leave_uncompiled(torch, __next__)


def _listen_to_backward(torch, agent, compiling):
    original = torch.autograd.backward
    recorder, journal, device, event = agent.recorder, agent.journal, agent.device, agent.event
    note, measured, entries, most_entries = journal.note, agent.cost.hook, journal.entries, journal.MOST_ENTRIES
    may_use_device = _may_use_device(torch)

    @functools.wraps(original)
    def backward(*args, **kwargs):
        if (compiling is not None and compiling()) or not recorder.active:
            return original(*args, **kwargs)
        cpu = thread_time_ns() if journal.measuring else 0
        if may_use_device:
            agent.guard(device.enable_for, args[0] if args else kwargs.get("tensors"))
        note((BACKWARD_BEGINS, monotonic_ns(), event() if device.on else None))
        if cpu:
            measured(cpu, thread_time_ns())
        try:
            return original(*args, **kwargs)
        finally:
            cpu = thread_time_ns() if journal.measuring else 0
            end = monotonic_ns()
            note((BACKWARD_ENDS, end, event() if device.on else None))
            if cpu:
                measured(cpu, thread_time_ns())
            if len(entries) > most_entries:
                journal.take_in_if_due(end)

    torch.autograd.backward = _leave_uncompiled(torch, backward)


def _may_use_device(torch):
    version = torch.version
    return getattr(version, "cuda", None) is not None or getattr(version, "hip", None) is not None


def _listen_to_optimizers(torch, agent, compiling):
    recorder, journal, device, event = agent.recorder, agent.journal, agent.device, agent.event
    note, measured, entries, most_entries = journal.note, agent.cost.hook, journal.entries, journal.MOST_ENTRIES

    def before(optimizer, args, kwargs):
        if (compiling is not None and compiling()) or not recorder.active:
            return None
        cpu = thread_time_ns() if journal.measuring else 0
        note((OPTIMIZER_BEGINS, monotonic_ns(), id(optimizer), event() if device.on else None))
        if cpu:
            measured(cpu, thread_time_ns())
        return None

    def after(optimizer, args, kwargs):
        if (compiling is not None and compiling()) or not recorder.active:
            return None
        cpu = thread_time_ns() if journal.measuring else 0
        end = monotonic_ns()
        note((OPTIMIZER_ENDS, end, id(optimizer), event() if device.on else None))
        due = end >= journal.due or len(entries) > most_entries
        if cpu:
            measured(cpu, thread_time_ns())
        if due:
            agent.guard(agent.facts.optimizer, optimizer)
            journal.end_of_step(end)
        return None

    module = sys.modules["torch.optim.optimizer"]  # torch.optim hides it
    if hasattr(module, "register_optimizer_step_post_hook"):  # 2.0 and newer
        module.register_optimizer_step_pre_hook(_leave_uncompiled(torch, before, with_callees=True))
        module.register_optimizer_step_post_hook(_leave_uncompiled(torch, after, with_callees=True))
    else:
        _wrap_steps(module.Optimizer, before, after)


def _wrap_steps(base, before, after):
    """1.13 wraps step() of each class when its first optimiser is made; ours goes around that."""
    original = base._hook_for_profile

    def wrap(step):
        @functools.wraps(step)
        def wrapper(self, *args, **kwargs):
            before(self, args, kwargs)
            result = step(self, *args, **kwargs)
            after(self, args, kwargs)
            return result

        wrapper._gradwatt = True
        return wrapper

    @functools.wraps(original)
    def _hook_for_profile(self):
        original(self)
        step = self.__class__.step
        if not getattr(step, "_gradwatt", False):
            self.__class__.step = wrap(step)

    base._hook_for_profile = _hook_for_profile


def _listen_to_save(torch, agent):
    original = torch.save
    recorder, note = agent.recorder, agent.journal.note

    @functools.wraps(original)
    def save(*args, **kwargs):
        if not recorder.active:
            return original(*args, **kwargs)
        begin = monotonic_ns()
        try:
            return original(*args, **kwargs)
        finally:
            note((SAVED, begin, monotonic_ns(), get_ident()))

    # In both places, so that it can still be pickled by its name.
    torch.save = torch.serialization.save = _leave_uncompiled(torch, save)


def _listen_to_ddp(agent):
    module = sys.modules.get("torch.nn.parallel.distributed")
    if module is None or not hasattr(module, "DistributedDataParallel"):
        return
    ddp = module.DistributedDataParallel
    original = ddp.__init__
    recorder = agent.recorder

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        if recorder.active:
            agent.guard(agent.facts.wrapped, self)

    ddp.__init__ = __init__
