"""The PyTorch agent: tells gradwatt about optimiser steps without a change to the training code.

`gradwatt run` puts site/ first in PYTHONPATH; its sitecustomize.py waits for `import torch` in every Python process.
It never synchronises a device, keeps no tensor or model alive, does nothing in data-loader workers and forked
children, and goes quiet for good when anything in it fails (fact agent.problem says why).

    start.py         starts it right after the import of torch
    ring.py          writes marks and facts (docs/mark-ring.md)
    recorder.py      this process's ring: opened late, silenced on fork and on failure
    hooks.py         where in PyTorch it listens
    journal.py       what the hooks note, and when it is worked on
    steps.py         turns fetches, backward passes and optimiser calls into steps, epochs and phases
    device_clock.py  phase times of a CUDA device by events that are read later
    facts.py         what it says about the job's settings
    profile.py       answers a request for a trace
    cost.py          the CPU time that all this takes
"""

_recorder = None


def install(begun=None):
    """Listens to the torch that was just imported. Called once a process. `begun`: this thread's CPU time in ns before."""
    global _recorder
    from .recorder import Recorder

    recorder = Recorder()
    try:
        from . import hooks

        hooks.install(recorder, begun)
        _recorder = recorder
    except Exception as error:
        recorder.problem(error)


def current():
    """The recorder of this process, for gradwatt.step() and gradwatt.region()."""
    return _recorder
