"""The batch script of a plan, submitted to a real Slurm: it is accepted, holds what was planned, and measures the job."""
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

from one_machine import OneMachine, why_not

BUILD = pathlib.Path(os.environ["GRADWATT_BUILD"])
PROGRAM = BUILD / "bin" / "gradwatt"
# What each rank was given, in a file of its own.
RANK = """
import json, os, signal, sys, time
if "GW_UNTIL_SIGNAL" in os.environ:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    got = signal.sigtimedwait([signal.SIGTERM], 150)
    open(sys.argv[1] + "/signal" + os.environ["SLURM_PROCID"], "w").write(str(got and got.si_signo))
    sys.exit(0)
time.sleep(1.0)
keys = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "CUDA_VISIBLE_DEVICES", "GW_LOCAL_BATCH", "GW_TEXT")
open(sys.argv[1] + "/rank" + os.environ["SLURM_PROCID"], "w").write(
    json.dumps([{k: os.environ.get(k) for k in keys}, sys.argv[2:]]))
sys.exit(int(os.environ.get("GW_EXIT", "0")))
"""


@unittest.skipIf(why_not(), why_not())
class SubmittedJob(OneMachine):
    GPUS = 2

    def submit(self, run, *options):
        script = self.folder / f"{run.name}.sh"
        program = self.folder / "rank.py"
        program.write_text(RANK)
        cores = max(2, os.cpu_count())
        done = subprocess.run([BUILD / "tests/print_job_file", str(self.GPUS), str(cores), PROGRAM, run, "/usr/bin/python3",
                               program, self.folder, "--batch={local_batch}", "seed {seed}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        script.write_text(done.stdout)
        return self.slurm("sbatch", "--wait", f"--output={run}.out", *options, script)

    def shown(self, job):
        return self.slurm("scontrol", "show", "job", job).stdout

    def ranks(self):
        return [json.loads(p.read_text()) for p in sorted(self.folder.glob("rank[0-9]"))]

    def test_runs_every_rank_as_planned_and_leaves_one_measured_record(self):
        run = self.folder / "run"
        done = self.submit(run)
        printed = pathlib.Path(f"{run}.out").read_text()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + printed)

        for rank, (environment, arguments) in enumerate(self.ranks()):
            self.assertEqual(environment["SLURM_PROCID"], str(rank))
            self.assertEqual(environment["SLURM_NTASKS"], "2")
            self.assertEqual(environment["SLURM_CPUS_PER_TASK"], str(max(2, os.cpu_count()) // 2))
            self.assertEqual(environment["CUDA_VISIBLE_DEVICES"], "0,1")
            self.assertEqual(environment["GW_LOCAL_BATCH"], "32")
            self.assertEqual(environment["GW_TEXT"], "two words")
            self.assertEqual(arguments, ["--batch=32", "seed 7"])
        self.assertEqual(len(self.ranks()), 2)

        self.assertEqual(len(list(run.glob("*.db"))), 1)
        report = json.loads(subprocess.run([PROGRAM, "report", "--json", run], capture_output=True, text=True).stdout)
        self.assertTrue(report["complete"])
        self.assertEqual(report["exit_status"], 0)
        self.assertGreater(report["duration_s"], 0.9)

        job = re.search(r"batch job (\d+)", done.stdout).group(1)
        shown = self.shown(job)
        for piece in ("JobName=small-job", "Comment=gradwatt-plan:3f2a91", "TimeLimit=00:12:00", "NumNodes=1",
                      "ExitCode=0:0"):
            self.assertIn(piece, shown)

    def test_a_rank_that_fails_fails_the_job_with_its_status(self):
        self.environment = {**self.environment, "GW_EXIT": "3"}
        run = self.folder / "failed"
        done = self.submit(run)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        report = json.loads(subprocess.run([PROGRAM, "report", "--json", run], capture_output=True, text=True).stdout)
        self.assertEqual(report["exit_status"], 3)

    def test_the_signal_reaches_every_rank_in_time_for_a_checkpoint(self):
        # A limit of three minutes and a signal two minutes before it: it comes after half a minute to a whole one.
        self.environment = {**self.environment, "GW_UNTIL_SIGNAL": "1"}
        run = self.folder / "signalled"
        done = self.submit(run, "--time=3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + pathlib.Path(f"{run}.out").read_text())
        for rank in range(self.GPUS):
            self.assertEqual((self.folder / f"signal{rank}").read_text(), str(int(signal.SIGTERM)))


if __name__ == "__main__":
    unittest.main()
