"""Starts the agent once torch's own code has run. Loaded by site/sitecustomize.py at the first import of torch.

A watcher may not fail the import that it watches: what goes wrong here ends in "no agent", never in an exception.
"""
import os
import sys
import time


def start_agent():
    begun = time.thread_time_ns()
    try:
        from importlib.util import module_from_spec, spec_from_file_location

        folder = os.path.dirname(os.path.abspath(__file__))
        spec = spec_from_file_location(
            "_gradwatt_agent", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        agent = module_from_spec(spec)
        sys.modules["_gradwatt_agent"] = agent
        spec.loader.exec_module(agent)
        agent.install(begun)
    except Exception:
        pass  # without the agent the job is still measured from outside


def spec_of_torch(finder, path, target):
    """What the other finders say of torch, with its loader watched; None where there is no torch."""
    spec = None
    for other in list(sys.meta_path):
        find = getattr(other, "find_spec", None)
        spec = find("torch", path, target) if find is not None and other is not finder else None
        if spec is not None:
            break
    try:
        _watch(finder, spec.loader)
    except Exception:
        pass
    return spec


def _watch(finder, loader):
    # On the one loader object of this one module; its class and what inspect and pkgutil see stay as they are.
    run = loader.exec_module

    def exec_module(module):
        del loader.exec_module
        run(module)  # when torch fails to import, the finder stays in place for another try
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
            start_agent()

    loader.exec_module = exec_module
