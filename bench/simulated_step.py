#!/usr/bin/env python3
"""Is a simulated step as long as a measured one? Trainer and simulator on links of a given rate.

    bench/simulated_step.py BUILD [--trainer-build BUILD] [--rates 1gbit 500mbit] [--repeats 3]     (as root)

Two ranks of `gradwatt train` (ResNet-18 for 32x32 images, 44.7 MB of gradients), one a namespace, on a veth pair that tc
limits, as in shaped_link.py. Told to the simulator beforehand: what a step computes, from a run record over a link that
limits nothing; and what share of a link's rate MPI's all-reduce reaches, from one run at 2 Gbit/s without overlap. Then
steps at other rates, with and without overlap, are predicted and measured. Of the repeats the shortest median counts:
other work on the machine only lengthens them.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import shaped_link as link

GRADIENT_BYTES = 44_695_848
# Buckets of 1 MiB, then 25 MiB, filled from the last layer on: 9.5, 26.5 and 8.7 MB. The last leaves at the end.
OVERLAP = 1 - 8.7 / 44.7
LATENCY_US = 100  # of an MPI message over TCP on a veth pair; makes up less than 1 % of these steps
GBIT = {"gbit": 1.0, "mbit": 1e-3}


def gbit_of(rate):
    return float(rate[:-4]) * GBIT[rate[-4:]]


def measured(options, rate, overlap, record_in=None):
    """Of the repeat with the shortest median step: that, the exposed communication, and the folder of its run record."""
    link.set_up(rate)
    best = None
    for repeat in range(options.repeats):
        run = record_in / f"run-{repeat}" if record_in else None
        with tempfile.TemporaryDirectory() as folder:
            rows = link.train(options.trainer_build, pathlib.Path(folder),
                              link.settings_of(overlap, options.steps, options.batch), ("--out", str(run)) if run else ())
        once = link.median_s(rows, "step_ns"), link.median_s(rows, "comm_exposed_ns"), run
        if best is None or once[0] < best[0]:
            best = once
    return best


def simulated(options, folder, run, gbit, overlap):
    cluster = folder / "cluster.toml"
    cluster.write_text(f"nodes = 2\ngpus_per_node = 1\ngpu_idle_w = 1\ngpu_busy_w = 1\ngpu_comm_w = 1\n"
                       f"nic_gbit_per_s = {gbit:.6f}\nnic_us = {LATENCY_US}\n")
    out = folder / f"simulated-{gbit:.3f}-{overlap}"
    answer = subprocess.run([str(options.build / "bin/gradwatt"), "simulate", "--cluster", str(cluster), "--from", str(run),
                             "--gradient-bytes", str(GRADIENT_BYTES), "--overlap", str(OVERLAP if overlap else 0),
                             "--steps", "20", "--out", str(out), "--json"], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)["duration_s"] / 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--trainer-build", type=pathlib.Path)
    parser.add_argument("--rates", nargs="+", default=["1gbit", "500mbit"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("this bench makes network namespaces and must run as root")
    options.build = options.build.resolve()
    options.trainer_build = (options.trainer_build or options.build).resolve()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            free_s, _, run = measured(options, "20gbit", True, folder)
            _, exchange_s, _ = measured(options, "2gbit", False)
            reached = 8e-9 * GRADIENT_BYTES / exchange_s / 2
            print(f"a step on a link that limits nothing: {1e3 * free_s:.0f} ms; an all-reduce reaches {100 * reached:.0f} % of "
                  "2 Gbit/s", flush=True)
            for rate in options.rates:
                for overlap in (True, False):
                    step_s, exposed_s, _ = measured(options, rate, overlap)
                    predicted_s = simulated(options, folder, run, gbit_of(rate) * reached, overlap)
                    print(f"{rate}, {'with' if overlap else 'without'} overlap: measured {1e3 * step_s:.0f} ms "
                          f"({1e3 * exposed_s:.0f} ms exposed), simulated {1e3 * predicted_s:.0f} ms, "
                          f"{100 * (predicted_s / step_s - 1):+.1f} %", flush=True)
    finally:
        link.take_down()


if __name__ == "__main__":
    main()
