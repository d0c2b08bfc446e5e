"""Runs at the start of every Python process below `gradwatt run`, because run puts this folder first in PYTHONPATH.

It only waits for `import torch`; a process that never imports it pays for one small class. Then it runs the
sitecustomize that this one hides. Nothing here may fail the process or change what it sees. Kept short, since a folder
without the right to write byte code has it compiled at each start; the rest is in ../start.py.
"""
import os
import sys


class _TorchFinder:
    """Passes every import by but the first one of torch."""

    def find_spec(self, name, path=None, target=None):
        return _start().spec_of_torch(self, path, target) if name == "torch" else None


def _start():
    """start.py as a module, under a name of its own: no other gradwatt on sys.path can stand in for it."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("_gradwatt_start", os.path.join(os.path.dirname(_here), "start.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run_hidden():
    """Runs the sitecustomize that Python would have found without us, as that module."""
    spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = sys.modules["_frozen_importlib"].module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    _here = os.path.dirname(os.path.abspath(__file__))
    # What the program sees in sys.path is what it would see without us; children find us through the environment.
    sys.path[:] = [entry for entry in sys.path if entry != _here]
    if "GRADWATT_MARKS" in os.environ and "GRADWATT_NO_AGENT" not in os.environ:
        if "torch" in sys.modules:
            _start().start_agent()
        else:
            sys.meta_path.insert(0, _TorchFinder())
except Exception:
    pass  # without the agent the job is still measured from outside
_run_hidden()
