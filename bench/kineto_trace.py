#!/usr/bin/env python3
"""What reading a large profiler trace costs: CPU, wall time and peak memory of `gradwatt report TRACE`.

    bench/kineto_trace.py [--copies 6] [--rounds 5] [--keep FOLDER] SAMPLE.pt.trace.json.gz

SAMPLE is a trace of 2021's torch.profiler (the corpus has resnet50_num_workers_0). It is repeated behind itself, with
today's category names and unique ids, so that it is one long trace of one rank: six copies are 192 MB. Written plain and
gzipped into FOLDER, or into a temporary one.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

CATEGORIES = {"Kernel": "kernel", "Runtime": "cuda_runtime", "Operator": "cpu_op", "Memcpy": "gpu_memcpy",
              "Memset": "gpu_memset", "async": "ac2g"}
IDS = ("correlation", "external id", "External id")
SEAM_US = 1000


def renamed(event):
    """The event as today's Kineto would write it."""
    if "cat" in event:
        event["cat"] = CATEGORIES.get(event["cat"], event["cat"])
    if event["name"].startswith("ProfilerStep#"):
        event["cat"] = "user_annotation"
    if str(event.get("tid", "")).startswith("stream "):
        event["tid"] = int(event["tid"].split()[1])
    return event


def shifted(event, copy, span, id_span, steps):
    event = dict(event, ts=event["ts"] + copy * (span + SEAM_US))
    if "id" in event:
        event["id"] += copy * id_span
    if event["name"].startswith("ProfilerStep#"):
        event["name"] = f"ProfilerStep#{int(event['name'].split('#')[1]) + copy * steps}"
    args = event.get("args")
    if args:
        args = event["args"] = dict(args)
        for key in IDS:
            if key in args:
                args[key] += copy * id_span
        if "external ts" in args:
            args["external ts"] += copy * (span + SEAM_US)
    return event


def write_trace(sample, copies, target):
    source = json.load(gzip.open(sample))
    events = [renamed(event) for event in source["traceEvents"]]
    timed = [event for event in events if event["ph"] in "Xfsi" and event.get("cat") != "Trace"]
    begin = min(event["ts"] for event in timed)
    span = max(event["ts"] + event.get("dur", 0) for event in timed) - begin
    ids = [event["id"] for event in timed if "id" in event]
    ids += [event["args"][key] for event in timed for key in IDS if key in event.get("args", {})]
    id_span = max(ids) + 1
    steps = sum(event["name"].startswith("ProfilerStep#") for event in timed)
    with open(target, "w") as out:
        head = {"schemaVersion": source["schemaVersion"], "distributedInfo": {"rank": 0, "world_size": 1},
                "deviceProperties": source["deviceProperties"]}
        out.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        lines = [json.dumps(event) for event in events if event["ph"] == "M"]
        out.write(",\n".join(lines))
        for copy in range(copies):
            for event in timed:
                out.write(",\n" + json.dumps(shifted(event, copy, span, id_span, steps)))
        out.write("\n]}\n")


def compress(plain, target):
    with open(plain, "rb") as source, gzip.open(target, "wb", compresslevel=6) as out:
        while block := source.read(1 << 20):
            out.write(block)


def in_child(function, *arguments):
    """Runs it in a process of its own: the peak memory of a program counts what its parent held when it was started."""
    child = os.fork()
    if child == 0:
        function(*arguments)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit("the trace could not be made")


def measure(command):
    """Wall s, CPU s and peak RSS in MiB of one run, its output thrown away."""
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser()
    parser.add_argument("sample")
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="folder for the traces, which stay there")
    parser.add_argument("--program", default=os.environ.get("GRADWATT_BUILD", str(root / "build/release")) + "/bin/gradwatt")
    parser.add_argument("--verb", default="report")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(wanted.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        plain, packed = folder / f"trace-{wanted.copies}.json", folder / f"trace-{wanted.copies}.json.gz"
        if not plain.exists():
            in_child(write_trace, wanted.sample, wanted.copies, plain)
        if not packed.exists():
            in_child(compress, plain, packed)
        for path in (plain, packed):
            runs = [measure([wanted.program, wanted.verb, str(path)]) for _ in range(wanted.rounds)]
            wall, cpu, rss = zip(*runs)
            print(f"{wanted.verb} {path.name}: {path.stat().st_size / 1e6:.1f} MB; "
                  f"wall {statistics.median(wall):.3f} s [{min(wall):.3f} {max(wall):.3f}], "
                  f"CPU {statistics.median(cpu):.3f} s [{min(cpu):.3f} {max(cpu):.3f}], "
                  f"peak RSS {max(rss):.0f} MiB, {wanted.rounds} runs")


main()
