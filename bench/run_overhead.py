"""What `gradwatt run -- true` adds to `true`, in interleaved pairs: wall and CPU time, peak memory.

    python3 bench/run_overhead.py [build/release/bin/gradwatt] [pairs]
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/gradwatt"
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 40


def once(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory() as folder:
    os.environ["GRADWATT_RUNS"] = folder
    bare, measured = ["true"], [program, "run", "--", "true"]
    once(bare), once(measured)
    wall, cpu = [], []
    for i in range(pairs):
        order = (bare, measured) if i % 2 == 0 else (measured, bare)
        result = {tuple(c): once(c) for c in order}
        wall.append(result[tuple(measured)][0] - result[tuple(bare)][0])
        cpu.append(result[tuple(measured)][1] - result[tuple(bare)][1])
    for name, values in (("wall", wall), ("CPU", cpu)):
        values.sort()
        print(f"gradwatt run -- true adds {name}: median {statistics.median(values) * 1e3:.1f} ms "
              f"(of {pairs} pairs: {values[0] * 1e3:.1f} to {values[-1] * 1e3:.1f} ms)")
    print(f"largest resident memory of any child: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.1f} MiB")
