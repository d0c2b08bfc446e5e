"""What sampler, writer and agent take of a training's CPU time: the demo's training (two gloo ranks on the CPU), measured
by gradwatt, some times over.

    python3 bench/ddp_share.py [build/release/bin/gradwatt] [RUNS] [EPOCHS]

gradwatt's own process by getrusage (sampler.cpu_s), each rank's agent as it says itself (agent.cpu_s, an estimate), the
job's CPU time from the record. The first run is not counted: it may compile the agent's byte code.
"""
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "ddp_fashion_mnist.py"


def one_run(program, epochs):
    """CPU seconds of (gradwatt, agents, job), and steps of a rank."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        train = ["/usr/bin/python3", "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1", "--log_dir", folder,
                 "--master_port", str(random.randint(20000, 40000)), "--nproc_per_node", "2", EXAMPLE, "--epochs", epochs]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run([program, "run", "--quiet", "--out", out, "--", *train], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=dict(environment, OMP_NUM_THREADS="1"))
        with sqlite3.connect(next(out.glob("*.db"))) as database:
            (own,) = database.execute("SELECT value FROM fact WHERE name = 'sampler.cpu_s'").fetchone()
            agents = database.execute("SELECT max(value) FROM fact WHERE name = 'agent.cpu_s' GROUP BY subject").fetchall()
            (job,) = database.execute("SELECT max(cpu_time_us) * 1e-6 FROM job").fetchone()
            (steps,) = database.execute("SELECT count(*) FROM mark WHERE rank = 0 AND kind = 'step'").fetchone()
    return own, sum(value for (value,) in agents), job, steps


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/gradwatt"
    runs, epochs = (int(sys.argv[2]) if len(sys.argv) > 2 else 5), (sys.argv[3] if len(sys.argv) > 3 else "2")
    one_run(program, "1")
    shares = []
    for _ in range(runs):
        own, agents, job, steps = one_run(program, epochs)
        shares.append((own / job * 100, agents / job * 100, (own + agents) / job * 100))
        print(f"job {job:.1f} s of CPU, {steps} steps a rank; "
              f"sampler and writer {own:.3f} s ({shares[-1][0]:.2f} %), "
              f"agents {agents:.3f} s ({shares[-1][1]:.2f} %, {agents / 2 / steps * 1e6:.0f} us a step and rank), "
              f"together {shares[-1][2]:.2f} %", flush=True)
    print("medians: sampler and writer %.2f %%, agents %.2f %%, together %.2f %%"
          % tuple(statistics.median(column) for column in zip(*shares)))


main()
