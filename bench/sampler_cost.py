"""What sampling eight GPUs costs while a job sleeps: share of one core and resident memory, at 1 s and at 100 ms.

    python3 bench/sampler_cost.py [BUILD FOLDER] [seconds]

The GPUs are played by the fake driver of the tests, whose calls cost nothing: the figures are gradwatt's own part.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import pathlib

build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60

environment = dict(os.environ, GRADWATT_NVML_LIBRARY=str(build / "doubles/fake_nvml/libnvidia-ml.so.1"),
                   GRADWATT_FAKE_NVML="h100*8; power=square(100,600,7s)")
for interval in ("1s", "100ms"):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        subprocess.run([build / "bin/gradwatt", "run", "--quiet", "-i", interval, "--out", out, "--", "sleep", str(seconds)],
                       env=environment, check=True)
        with sqlite3.connect(next(out.glob("*.db"))) as database:
            facts = dict(database.execute("SELECT name, value FROM fact WHERE name LIKE 'sampler.%'"))
            rows = database.execute("SELECT count(*) FROM gpu").fetchone()[0]
        print(f"{interval}: {facts['sampler.cpu_s'] / seconds * 100:.2f} % of one core "
              f"({facts['sampler.cpu_s']:.2f} s in {seconds:.0f} s), {facts['sampler.rss_bytes'] / 2**20:.1f} MiB resident, "
              f"{rows} GPU rows, {facts['sampler.late_ticks']:.0f} late ticks")
