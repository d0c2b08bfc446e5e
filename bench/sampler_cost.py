"""What sampling eight GPUs costs while a job sleeps: share of one core and resident memory, at 1 s and at 100 ms.

    python3 bench/sampler_cost.py [BUILD FOLDER] [seconds]

The GPUs are played by the fake driver of the tests, whose calls cost nothing: the figures are gradwatt's own part.
"while it runs" is from the fifth second on, without the start (drivers opened, update periods found out) and the end.
"""
import json
import os
import sqlite3
import subprocess
import sys
import pathlib
import tempfile
import time

build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60

def cpu_s(pid):
    """CPU time of all threads of the process so far, from the scheduler's own account."""
    return sum(int(f.read_text().split()[0]) for f in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) * 1e-9


environment = dict(os.environ, GRADWATT_NVML_LIBRARY=str(build / "doubles/fake_nvml/libnvidia-ml.so.1"),
                   GRADWATT_FAKE_NVML="h100*8; power=square(100,600,7s)")
for interval in ("1s", "100ms"):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        job = subprocess.Popen([build / "bin/gradwatt", "run", "--quiet", "-i", interval, "--out", out, "--", "sleep",
                                str(seconds)], env=environment)
        time.sleep(5)
        before, begin = cpu_s(job.pid), time.monotonic()
        time.sleep(max(1, seconds - 7))
        running = (cpu_s(job.pid) - before) / (time.monotonic() - begin)
        if job.wait() != 0:
            sys.exit("gradwatt failed")
        with sqlite3.connect(next(out.glob("*.db"))) as database:
            facts = dict(database.execute("SELECT name, value FROM fact WHERE name LIKE 'sampler.%'"))
            rows = database.execute("SELECT count(*) FROM gpu").fetchone()[0]
        print(f"{interval}: {running * 100:.2f} % of one core while it runs, {facts['sampler.cpu_s'] / seconds * 100:.2f} % "
              f"with start and end ({facts['sampler.cpu_s']:.2f} s in {seconds:.0f} s), {facts['sampler.rss_bytes'] / 2**20:.1f} MiB resident, "
              f"{rows} GPU rows, {facts['sampler.late_ticks']:.0f} late ticks")
