"""Runs at the start of every Python process below `gradwatt run`, because run puts this folder first in PYTHONPATH.

It only waits for `import torch`; a process that never imports it pays for one small class. Then it runs the
sitecustomize that this one hides. Nothing here may fail the process or change what it sees.
"""
import sys


def _main():
    import os  # loaded by every Python start already

    here = os.path.dirname(os.path.abspath(__file__))
    # What the program sees in sys.path is what it would see without us; children find us through the environment.
    sys.path[:] = [entry for entry in sys.path if entry != here]
    if os.environ.get("GRADWATT_MARKS") and not os.environ.get("GRADWATT_NO_AGENT"):
        if "torch" in sys.modules:
            _start_agent(os.path.dirname(here))
        else:
            sys.meta_path.insert(0, _TorchFinder(os.path.dirname(here)))


def _start_agent(folder):
    """Loads the agent from its folder under a name of its own: no other gradwatt on sys.path can stand in for it."""
    try:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("_gradwatt_agent", folder + "/__init__.py", submodule_search_locations=[folder])
        agent = module_from_spec(spec)
        sys.modules["_gradwatt_agent"] = agent
        spec.loader.exec_module(agent)
        agent.install()
    except Exception:
        pass  # without the agent the job is still measured from outside


class _TorchFinder:
    """Lets the other finders find torch and starts the agent once torch's own code has run."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        try:
            spec = self._spec_of_the_others(name, path, target)
            if spec is not None and spec.loader is not None:
                self._watch(spec.loader)
            return spec
        except ImportError:
            raise
        except Exception:
            return None

    def _spec_of_the_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                return spec
        return None

    def _watch(self, loader):
        # On the one loader object of this one module; its class and what inspect and pkgutil see stay as they are.
        run = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            run(module)  # when torch fails to import, we stay in place for another try
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _start_agent(self.folder)

        loader.exec_module = exec_module


def _run_hidden():
    """Runs the sitecustomize that Python would have found without us, as that module."""
    finder = sys.modules["_frozen_importlib_external"].PathFinder
    spec = finder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["_frozen_importlib"].module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _main()
except Exception:
    pass
_run_hidden()
