"""Where in PyTorch the agent listens: loader iterators, backward(), Optimizer.step(), torch.save, DDP.

Each wrapper calls the original with what it was given and passes on what it returns or raises. What the agent does
beside it is guarded: its first failure is reported and ends it. Inside torch.compile every wrapper is transparent.
"""
import atexit
import functools
import sys
from time import monotonic_ns

from . import facts
from .device_clock import DeviceClock
from .profile import Profiler
from .steps import StepTracker


class Agent:
    """What the wrappers call. Methods do nothing once the recorder is silent, and never raise."""

    def __init__(self, torch, recorder):
        self.torch = torch
        self.recorder = recorder
        self.profiler = Profiler(torch, recorder)
        self.tracker = StepTracker(recorder, DeviceClock(torch.cuda), self._on_step)
        self.facts = facts.Facts(torch, recorder)
        recorder.on_manual_step = self.tracker.manual_step

    def guard(self, method, *args):
        try:
            method(*args)
        except Exception as error:
            self.recorder.problem(error)

    def fetched(self, iterator, begin, batch):
        training = self.torch.is_grad_enabled()
        first = getattr(iterator, "_num_yielded", 0) == 1
        samples = facts.samples_of(iterator, batch)
        self.tracker.fetched(begin, samples, training, facts.key_of(iterator), first)
        if training and first:
            self.facts.loader(iterator, samples)

    def loader_ended(self, iterator, begin):
        self.tracker.loader_ended(begin, self.torch.is_grad_enabled(), facts.key_of(iterator))

    def backward_begins(self, tensors):
        if isinstance(tensors, (tuple, list)) and tensors:
            tensors = tensors[0]
        self.tracker.backward_begins(bool(getattr(tensors, "is_cuda", False)))

    def optimizer_ends(self, optimizer):
        self.facts.optimizer(optimizer)
        self.tracker.optimizer_ends(id(optimizer))

    def _on_step(self, number):
        if number == 0:
            self.recorder.learn_ranks()
        self.facts.after_step(number, self.tracker.own_ns)
        self.profiler.after_step()

    def finish(self):
        if self.recorder.active and self.tracker.steps:
            self.guard(self.tracker.finish)
            self.guard(self.facts.at_end, self.tracker.own_ns)
            self.guard(self.profiler.abandon)


def install(recorder):
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


def _is_compiling(torch):
    compiler = getattr(torch, "compiler", None)
    found = getattr(compiler, "is_compiling", None)  # 2.1 and newer
    return found if found is not None else lambda: False


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
    recorder = agent.recorder

    @functools.wraps(original)
    def __next__(self):
        if not recorder.active:
            return original(self)
        begin = monotonic_ns()
        try:
            batch = original(self)
        except StopIteration:
            agent.guard(agent.loader_ended, self, begin)
            raise
        agent.guard(agent.fetched, self, begin, batch)
        return batch

    base.__next__ = _leave_uncompiled(torch, __next__)


def _listen_to_backward(torch, agent, compiling):
    original = torch.autograd.backward
    recorder = agent.recorder

    @functools.wraps(original)
    def backward(*args, **kwargs):
        if compiling() or not recorder.active:
            return original(*args, **kwargs)
        agent.guard(agent.backward_begins, args[0] if args else kwargs.get("tensors"))
        try:
            return original(*args, **kwargs)
        finally:
            agent.guard(agent.tracker.backward_ends)

    torch.autograd.backward = _leave_uncompiled(torch, backward)


def _listen_to_optimizers(torch, agent, compiling):
    recorder = agent.recorder

    def before(optimizer, args, kwargs):
        if compiling():
            return None
        if recorder.active:
            agent.guard(agent.tracker.optimizer_begins, id(optimizer))
        return None

    def after(optimizer, args, kwargs):
        if compiling():
            return None
        if recorder.active:
            agent.guard(agent.optimizer_ends, optimizer)
        return None

    module = sys.modules["torch.optim.optimizer"]  # torch.optim hides it
    if hasattr(module, "register_optimizer_step_post_hook"):  # 2.0 and newer
        module.register_optimizer_step_pre_hook(before)
        module.register_optimizer_step_post_hook(after)
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
    recorder = agent.recorder

    @functools.wraps(original)
    def save(*args, **kwargs):
        if not recorder.active:
            return original(*args, **kwargs)
        begin = monotonic_ns()
        try:
            return original(*args, **kwargs)
        finally:
            agent.guard(agent.tracker.saved, begin)

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
