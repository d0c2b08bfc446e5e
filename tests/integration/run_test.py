"""`gradwatt run` from outside: exit statuses, signals, crashes, disks, several ranks."""
import concurrent.futures
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import unittest

from program import BUILD, PROGRAM, PYTHON, SOURCE, ProgramTest, component

STEPS = """
import sys, time
sys.path.insert(0, sys.argv[1])
import gradwatt
for i in range(int(sys.argv[2])):
    time.sleep(0.02)
    gradwatt.step(samples=8)
"""


def wait_until(condition, what, patience=30):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("never happened: " + what)


class ExitStatus(ProgramTest):
    def test_the_command_s_status_is_passed_on(self):
        for code, command in ((0, ["true"]), (5, ["sh", "-c", "exit 5"]), (137, ["sh", "-c", "kill -9 $$"]),
                              (127, ["no-such-command-here"]), (126, ["/etc/passwd"])):
            status, _, _ = self.gradwatt("run", "--", *command)
            self.assertEqual(status, code, command)

    def test_output_and_input_are_the_command_s_own(self):
        process = self.start("run", "--quiet", "--", "cat", stdin=subprocess.PIPE)
        out, _ = process.communicate("hello\n", timeout=60)
        self.assertEqual(out, "hello\n")

    def test_a_command_that_cannot_start_leaves_no_record(self):
        self.gradwatt("run", "--out", self.run_folder, "--", "no-such-command-here")
        self.assertFalse(self.run_folder.exists())

    def test_a_crash_of_the_training_is_reported_with_its_status(self):
        status, out, _ = self.gradwatt("run", "--json", "--out", self.run_folder, "--", "sh", "-c", "sleep 1; kill -9 $$")
        self.assertEqual(status, 137)
        report = json.loads(out)
        self.assertEqual(report["exit_status"], 137)
        self.assertTrue(report["complete"])
        self.assertGreater(report["duration_s"], 0.9)


class WrongUse(ProgramTest):
    def test_one_clear_line_and_status_two(self):
        for arguments in (["run"], ["run", "--"], ["run", "true"], ["run", "--interval", "0", "--", "true"],
                          ["run", "--interval", "-1s", "--", "true"], ["run", "--gpus", "7", "--", "true"],
                          ["run", "--pid", "4194303"], ["run", "--pid", "abc"], ["run", "--node"],
                          ["run", "--for", "5s", "--", "true"], ["run", "--out", "/proc/no/run", "--", "true"]):
            status, out, err = self.gradwatt(*arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertEqual(len(err.splitlines()), 1, err)

    def test_an_out_folder_that_holds_a_record_is_refused_before_the_command_starts(self):
        self.gradwatt("run", "--out", self.run_folder, "--", "true")
        status, _, err = self.gradwatt("run", "--out", self.run_folder, "--", "touch", self.folder / "started")
        self.assertEqual(status, 2)
        self.assertIn("holds a run record already", err)
        self.assertFalse((self.folder / "started").exists())


class Signals(ProgramTest):
    def begin(self, *command, **options):
        process = self.start("run", "--out", self.run_folder, "--interval", "200ms", "--", *command, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def test_kill_9_of_gradwatt_loses_two_seconds_at_most_and_the_training_goes_on(self):
        done = self.folder / "done"
        process = self.begin("sh", "-c", f"sleep 6; touch {done}", environment=self.gpus("h100; power=constant(300)"))
        wait_until(lambda: list(self.run_folder.glob("*.db")), "the record begins")
        time.sleep(4)
        killed = time.monotonic_ns()
        process.kill()
        process.wait(timeout=30)
        wait_until(done.exists, "the training finishes")
        report = self.report()
        self.assertFalse(report["complete"])
        self.assertIsNone(report["exit_status"])
        status, raw, err = self.gradwatt("report", "--raw", "--long", self.run_folder)
        self.assertEqual(status, 0, err)
        self.assertGreater(report["duration_s"], 1.5)
        self.assertGreater(component(report, "gpu")["energy_j"], 300 * (4 - 2 - 0.5))
        del killed, raw

    def test_sigterm_to_gradwatt_alone_reaches_the_command_and_the_report_comes(self):
        process = self.begin("sleep", "60")
        wait_until(lambda: list(self.run_folder.glob("*.db")), "the record begins")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 128 + 15)
        self.assertTrue(self.report()["complete"])

    def test_ctrl_c_at_the_terminal_ends_the_command_and_the_report_comes(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(PROGRAM, [str(PROGRAM), "run", "--out", str(self.run_folder), "--", "cat"], self.environment())
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"typed\n")
        seen = b""
        while seen.count(b"typed") < 2:  # the terminal's echo and cat's copy
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        try:
            while True:
                block = os.read(terminal, 4096)
                if not block:
                    break
                seen += block
        except OSError:
            pass
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 130)
        self.assertIn(b"exit status 130", seen)


class Disks(ProgramTest):
    def in_small_disk(self, script):
        """Runs a shell script with $SMALL, a file system of 300 kB, in a mount namespace of its own."""
        small = self.folder / "small"
        small.mkdir()
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        probe = subprocess.run([*unshare, "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("skipped: this machine allows no mount namespace")
        return subprocess.run([*unshare, "sh", "-c", f"mount -t tmpfs -o size=300k none {small} && SMALL={small}; {script}"],
                              env=self.gpus("h100*8"), capture_output=True, text=True, timeout=120, cwd=self.folder)

    def test_a_full_disk_ends_no_training_and_is_said_once(self):
        done = self.in_small_disk(f"{PROGRAM} run -i 20ms --out $SMALL/run -- sleep 6; echo status $?; "
                                  f"{PROGRAM} report --json $SMALL/run >/dev/null; echo report $?")
        self.assertIn("status 0", done.stdout, done.stderr)
        self.assertEqual(done.stderr.count("cannot write the run record"), 1, done.stderr)
        self.assertIn("report 0", done.stdout, done.stderr)

    def test_a_default_store_that_cannot_be_written_gives_way_to_the_temporary_folder(self):
        blocked = self.folder / "file"
        blocked.write_text("no folder")
        status, _, err = self.gradwatt("run", "--", "true", environment=self.environment(
            GRADWATT_RUNS=blocked, TMPDIR=self.folder))
        self.assertEqual(status, 0)
        self.assertIn("gradwatt-runs", err)
        self.assertTrue(list(self.folder.glob("gradwatt-runs/*/*.db")))

    def test_with_no_writable_place_the_run_is_measured_and_reported_all_the_same(self):
        blocked = self.folder / "file"
        blocked.write_text("no folder")
        status, out, err = self.gradwatt("run", "--json", "--", "sleep", "1", environment=self.gpus(
            "h100; power=constant(300)", GRADWATT_RUNS=blocked, TMPDIR=blocked))
        self.assertEqual(status, 0)
        self.assertIn("not kept", err)
        self.assertGreater(component(json.loads(out), "gpu")["energy_j"], 100)


class Totals(ProgramTest):
    """One GPU that draws exactly 250 W with a counter that updates continuously."""

    SCRIPT = "h100; power=constant(250); energy_update=0"

    def check_total(self, run):
        report = self.report(run)
        gpu = component(report, "gpu")
        self.assertEqual(gpu["how"], "counter")
        rows = self.rows("SELECT t_ns, energy_uj, energy_raw_uj FROM gpu ORDER BY t_ns", run)
        first, last = rows[0], rows[-1]
        # Exact in the counter's unit: what is reported is the difference of two readings of the counter, the first one
        # and the first that came after the job's end.
        end = int(self.rows("SELECT value FROM meta WHERE key='job_end_ns'", run)[0][0])
        last = next((r for r in rows if r[0] >= end), last)
        self.assertEqual(round(gpu["energy_j"] * 1e6), last[2] - first[2])
        self.assertEqual(len({r[0] for r in rows}), len(rows))
        # And it is the script's: 250 W over the time between the first and the last reading, to the mJ that the counter
        # shows and the microseconds that a reading takes.
        self.assertAlmostEqual(gpu["energy_j"], 250 * (last[0] - first[0]) * 1e-9, delta=0.25)
        return report

    def test_the_total_is_the_script_s_with_one_two_or_four_ranks(self):
        for ranks in (1, 2, 4):
            run = self.folder / f"run{ranks}"
            job = self.folder / "job.py"
            job.write_text(STEPS)
            command = " & ".join(f"RANK={r} WORLD_SIZE={ranks} {PYTHON} {job} {SOURCE}/python 60" for r in range(ranks))
            status, _, err = self.gradwatt("run", "--out", run, "--", "sh", "-c", command + " & wait",
                                           environment=self.gpus(self.SCRIPT))
            self.assertEqual(status, 0, err)
            self.check_total(run)
            steps = self.rows("SELECT rank, count(*) FROM mark WHERE kind='step' GROUP BY rank", run)
            self.assertEqual(steps, [(r, 59) for r in range(ranks)])  # between 60 calls

    def test_four_gradwatts_of_one_launch_make_one_record_and_count_once(self):
        def task(rank):
            environment = self.gpus(self.SCRIPT, SLURM_JOB_ID=77, SLURM_STEP_ID=0, SLURM_PROCID=rank, SLURM_LOCALID=rank,
                                    SLURM_NTASKS=4, SLURM_STEP_NUM_TASKS=4, SLURM_NNODES=1, SLURM_STEP_TASKS_PER_NODE="4",
                                    SLURM_TASKS_PER_NODE="4")
            return self.gradwatt("run", "--quiet", "--", "sh", "-c", f"sleep 2; exit {3 if rank == 2 else 0}",
                                 environment=environment)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(task, range(4)))
        self.assertEqual([status for status, _, _ in results], [0, 0, 3, 0])
        runs = list((self.folder / "runs").iterdir())
        self.assertEqual(len(runs), 1, runs)
        report = self.check_total(runs[0])
        self.assertEqual(report["exit_status"], 3)
        self.assertTrue(report["complete"])

    def test_only_the_job_s_gpus_count(self):
        environment = self.gpus("h100*4; power=constant(100); energy_update=0", CUDA_VISIBLE_DEVICES="1,3")
        status, _, err = self.gradwatt("run", "--out", self.run_folder, "--", "sleep", "1.2", environment=environment)
        self.assertEqual(status, 0, err)
        self.assertEqual(self.rows("SELECT vendor_index FROM device WHERE kind='gpu' ORDER BY 1"), [(1,), (3,)])


class Attached(ProgramTest):
    def test_a_running_process_is_measured_for_a_time(self):
        victim = subprocess.Popen(["sleep", "30"])
        self.addCleanup(victim.kill)
        status, out, err = self.gradwatt("run", "--pid", victim.pid, "--for", "1.5s", "--json",
                                         environment=self.gpus("h100; power=constant(250)"))
        self.assertEqual(status, 0, err)
        report = json.loads(out)
        self.assertAlmostEqual(report["duration_s"], 1.5, delta=0.5)
        self.assertIsNone(victim.poll())

    def test_the_measurement_ends_with_the_process(self):
        victim = subprocess.Popen(["sleep", "1.5"])
        status, out, err = self.gradwatt("run", "--pid", victim.pid, "--json")
        victim.wait()
        self.assertEqual(status, 0, err)

    def test_the_whole_host_is_measured_for_a_time(self):
        status, out, err = self.gradwatt("run", "--node", "--for", "1.2s", "--json",
                                         environment=self.gpus("h100*2; power=constant(250)"))
        self.assertEqual(status, 0, err)
        self.assertEqual(len(component(json.loads(out), "gpu")["devices"]), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
