"""Tells gradwatt what the program is doing, where the PyTorch agent cannot see it.

    import gradwatt

    with gradwatt.region("validation"):     # or @gradwatt.region("validation") before a function
        validate(model)

    for batch in batches:                   # a loop without a torch optimiser
        train(batch)
        gradwatt.step(samples=len(batch))   # at the end of each step

Outside `gradwatt run` every call does nothing. Nothing here measures energy: gradwatt does that beside the program,
and `gradwatt report` shows the joules of each region and step.
"""
from .marks import EnergyMonitor, region, step

__all__ = ["EnergyMonitor", "region", "step"]
