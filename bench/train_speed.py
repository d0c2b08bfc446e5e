#!/usr/bin/env python3
"""Steps of `gradwatt train` against the same training in PyTorch DDP on gloo, interleaved: the ratio and its interval.

    bench/train_speed.py BUILD [--pairs 10] [--case resnet18,resnet8,afno-tiny,resnet18-bf16] [--ranks 2] [--steps 12]

A pair is one run of each, in alternating order; of each run the median step after the warm-up counts. Printed are the
geometric mean of the ratios (above 1: gradwatt train is faster) with its 95 % interval over pairs, and the time that
the backward pass waits for other ranks: ours as measured in each step, theirs as the backward pass with communication
less that without.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Student's t for 95 % on both sides, by degrees of freedom.
T95 = {2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 11: 2.20, 14: 2.14, 19: 2.09, 29: 2.05}

CASES = {
    "resnet18": dict(model="resnet18", batch=32, settings=["model.small_stem=true"]),
    # Our updates are always fused. On a CPU PyTorch 1.13 has no fused SGD; `foreach` is the nearest.
    "resnet18-bf16": dict(model="resnet18", batch=32, precision="bf16", channels_last=True, foreach=True,
                          settings=["model.small_stem=true"]),
    "resnet8": dict(model="resnet8", batch=32, settings=[]),
    "afno-tiny": dict(model="afno-tiny", batch=4,
                      settings=["model.patch=8", "model.embed=64", "model.depth=4", "model.blocks=4"]),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_ours(build, case, ranks, steps, folder):
    times = folder / "times.csv"
    images = case["model"].startswith("resnet")
    shape = ["data.channels=3", "data.image_size=32", "data.examples=2048"] if images else []
    settings = [f"model.name={case['model']}", f"batch.local={case['batch']}",
                "data.kind=" + ("free" if images else "winds"), *shape, *case["settings"],
                "run.evaluate_every_epochs=0", "run.epochs=1000", f"run.steps={steps + 4}", "run.threads=1",
                "loader.workers=1", "optimizer.weight_decay=1e-4", "schedule.rate=0.01",
                f"run.precision={case.get('precision', 'fp32')}",
                f"run.channels_last={'true' if case.get('channels_last') else 'false'}"]
    recipe = folder / "speed.toml"
    recipe.write_text("")
    command = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks),
               str(build / "bin/gradwatt-train"), str(recipe), "--quiet", "--step-times", str(times)]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = list(csv.DictReader(times.open()))[4:]
    return (statistics.median(int(r["step_ns"]) for r in rows) * 1e-9,
            statistics.median(int(r["comm_exposed_ns"]) for r in rows) * 1e-9)


def run_theirs(case, ranks, steps):
    command = ["/usr/bin/python3", str(HERE / "ddp_rival.py"), case["model"], "--batch", str(case["batch"]), "--steps",
               str(steps), "--precision", case.get("precision", "fp32")]
    if case.get("channels_last"):
        command.append("--channels-last")
    if case.get("foreach"):
        command.append("--foreach")
    port = str(free_port())
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE,
                                  env={**os.environ, "RANK": str(r), "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1",
                                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}) for r in range(ranks)]
    outputs = [p.communicate()[0] for p in processes]
    if any(p.returncode for p in processes):
        sys.exit("the PyTorch script failed")
    result = json.loads(outputs[0])
    exposed = statistics.median(result["backward_s"]) - statistics.median(result["silent_backward_s"])
    return statistics.median(result["step_s"]), exposed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--case", default="resnet18,resnet8,afno-tiny")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    for name in options.case.split(","):
        case, logs, ours, theirs = CASES[name], [], [], []
        for pair in range(options.pairs):
            with tempfile.TemporaryDirectory() as folder:
                first = lambda: ours.append(run_ours(options.build, case, options.ranks, options.steps,
                                                     pathlib.Path(folder)))
                second = lambda: theirs.append(run_theirs(case, options.ranks, options.steps))
                for run in ([first, second] if pair % 2 == 0 else [second, first]):
                    run()
            logs.append(math.log(theirs[-1][0] / ours[-1][0]))
        mean = statistics.mean(logs)
        t = T95.get(len(logs) - 1, 2.0 if len(logs) > 30 else 2.3)
        half = t * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
        med = lambda pairs, k: statistics.median(p[k] for p in pairs)
        print(f"{name}: {math.exp(mean):.3f} x PyTorch DDP's speed (95 %: {math.exp(mean - half):.3f} to "
              f"{math.exp(mean + half):.3f}, {len(logs)} pairs); step {1e3 * med(ours, 0):.1f} ms against "
              f"{1e3 * med(theirs, 0):.1f} ms; exposed communication {1e3 * med(ours, 1):.1f} ms against "
              f"{1e3 * med(theirs, 1):.1f} ms", flush=True)


main()
