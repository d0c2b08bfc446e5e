#!/usr/bin/env python3
"""Exposed communication with and without overlap, between two network namespaces on a link of a given rate.

    bench/shaped_link.py BUILD [--rate 1gbit] [--pairs 5] [--steps 8] [--batch 32]     (as root: it makes namespaces)

Two ranks of `gradwatt train` (ResNet-18 for 32x32 images, 44.7 MB of gradients), one a namespace, MPI over TCP on a veth
pair that tc limits. Runs with sync.overlap true and false alternate; printed are the medians of what a step waits for
other ranks, and the ratio with its range over pairs.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile

NAMES = ("gradwatt-a", "gradwatt-b")
NET = "10.99.7.0/24"


def sh(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def address(i):
    return f"10.99.7.{i + 1}"


def take_down():
    for name in NAMES:
        sh("ip", "netns", "del", name, check=False)


def set_up(rate):
    take_down()
    for name in NAMES:
        sh("ip", "netns", "add", name)
    sh("ip", "link", "add", "gwa0", "netns", NAMES[0], "type", "veth", "peer", "name", "gwb0", "netns", NAMES[1])
    for i, (name, device) in enumerate(zip(NAMES, ("gwa0", "gwb0"))):
        inside = ("ip", "netns", "exec", name)
        sh(*inside, "ip", "link", "set", "lo", "up")
        sh(*inside, "ip", "addr", "add", f"{address(i)}/24", "dev", device)
        sh(*inside, "ip", "link", "set", device, "up")
        sh(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms")


def train(build, folder, settings, extra=()):
    """Rows of rank 0's step times, without the first three, of a training by two ranks, one a namespace."""
    agent = folder / "agent.sh"
    # Stands in for ssh: the first argument is the host, the rest a command line.
    agent.write_text("#!/bin/bash\nhost=$1; shift\n"
                     f"case $host in {address(0)}) ns={NAMES[0]};; *) ns={NAMES[1]};; esac\n"
                     'exec ip netns exec $ns unshare --uts bash -c "hostname $ns; $*"\n')
    agent.chmod(0o755)
    recipe, times = folder / "link.toml", folder / "times.csv"
    recipe.write_text("")
    mpi = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(agent),
           "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", NET, "--mca", "oob_tcp_if_include", NET,
           "--host", f"{address(0)}:1,{address(1)}:1", "-np", "2", str(build / "bin/gradwatt-train"), str(recipe), "--quiet",
           "--step-times", str(times), *extra]
    for setting in settings:
        mpi += ["--set", setting]
    line = f"hostname {NAMES[0]}; exec " + " ".join(mpi)
    subprocess.run(["ip", "netns", "exec", NAMES[0], "unshare", "--uts", "bash", "-c", line], check=True,
                   stdout=subprocess.DEVNULL, timeout=300)
    return list(csv.DictReader(times.open()))[3:]


def settings_of(overlap, steps, batch):
    return ["model.name=resnet18", "model.small_stem=true", "data.kind=free", "data.image_size=32", f"batch.local={batch}",
            "schedule.rate=0.01", "run.threads=1", "loader.workers=1", "run.evaluate_every_epochs=0", "run.epochs=1000",
            f"run.steps={steps + 3}", f"sync.overlap={'true' if overlap else 'false'}"]


def median_s(rows, key):
    return statistics.median(int(row[key]) for row in rows) * 1e-9


def run(build, folder, overlap, options):
    """Median exposed communication and step time of rank 0, in seconds."""
    rows = train(build, folder, settings_of(overlap, options.steps, options.batch))
    return median_s(rows, "comm_exposed_ns"), median_s(rows, "step_ns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("this bench makes network namespaces and must run as root")
    options.build = options.build.resolve()
    set_up(options.rate)
    overlapped, plain = [], []
    try:
        for pair in range(options.pairs):
            for overlap in ((True, False) if pair % 2 == 0 else (False, True)):
                with tempfile.TemporaryDirectory() as folder:
                    (overlapped if overlap else plain).append(run(options.build, pathlib.Path(folder), overlap, options))
    finally:
        take_down()
    ratios = [a[0] / b[0] for a, b in zip(overlapped, plain)]
    middle = lambda runs, k: 1e3 * statistics.median(r[k] for r in runs)
    print(f"{options.rate}: exposed communication {middle(overlapped, 0):.0f} ms with overlap, {middle(plain, 0):.0f} ms "
          f"without: {100 * statistics.median(ratios):.0f} % ({100 * min(ratios):.0f} to {100 * max(ratios):.0f} over "
          f"{len(ratios)} pairs); step {middle(overlapped, 1):.0f} against {middle(plain, 1):.0f} ms")


if __name__ == "__main__":
    main()
