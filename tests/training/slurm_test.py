"""`srun gradwatt train` and `srun gradwatt-train` below a real Slurm of one machine, which the test starts for itself.

Skips with a reason where Slurm is not installed (Debian: slurm-wlm munge) or may not be started (root). Needs
GRADWATT_BUILD.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from trainer_test import BUILD, SMALL_NET

DAEMONS = ("munged", "slurmctld", "slurmd")


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not():
    missing = [p for p in (*DAEMONS, "srun", "sinfo") if find(p) is None]
    if missing:
        return f"{', '.join(missing)} not installed (apt install slurm-wlm munge)"
    return "Slurm's daemons are started as root" if os.geteuid() != 0 else None


def configuration(folder):
    host = socket.gethostname().split(".")[0]
    return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={max(2, os.cpu_count())} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=YES State=UP
"""


@unittest.skipIf(why_not(), why_not())
class BelowSrun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gw-slurm-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        for name in ("munge", "spool", "state"):
            (cls.folder / name).mkdir(mode=0o755)
        (cls.folder / "slurm.conf").write_text(configuration(cls.folder))
        key = cls.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        cls.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("GRADWATT_", "SLURM_"))},
                           "SLURM_CONF": str(cls.folder / "slurm.conf"), "GRADWATT_INTERVAL": "0.1",
                           "GRADWATT_RUNS": str(cls.folder / "runs"), "HOME": str(cls.folder)}
        munge = cls.folder / "munge"
        cls.start_daemon("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}",
                         f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        cls.start_daemon("slurmctld", "-D", "-c")
        cls.start_daemon("slurmd", "-D", "-c")
        cls.wait_until_idle()

    @classmethod
    def start_daemon(cls, name, *arguments):
        log = open(cls.folder / f"{name}.out", "w")
        process = subprocess.Popen([find(name), *arguments], stdout=log, stderr=log, env=cls.environment)
        log.close()
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)

    @classmethod
    def wait_until_idle(cls):
        state = ""
        for _ in range(150):
            done = subprocess.run(["timeout", "5", find("sinfo"), "-h", "-o", "%T"], capture_output=True, text=True,
                                  env=cls.environment)
            state = done.stdout.strip() or done.stderr.strip()
            if state == "idle":
                return
            time.sleep(0.2)
        logs = "\n".join(p.read_text()[-1500:] for p in cls.folder.glob("*.out"))
        raise unittest.SkipTest(f"Slurm does not come up on this machine ({state}): {logs}")

    def srun(self, *command):
        done = subprocess.run(["timeout", "--signal=INT", "180", find("srun"), "-n", "2", "--overcommit",
                               *map(str, command)], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_each_start_ends_with_energy_and_one_record_of_both_ranks(self):
        recipe = self.folder / "recipe.toml"
        recipe.write_text(SMALL_NET.replace("examples = 64", "examples = 1024").replace("image_size = 16", "image_size = 32"))
        for words in (["gradwatt", "train"], ["gradwatt-train"]):
            with self.subTest(words=words):
                run = self.folder / words[-1]
                printed = self.srun(BUILD / "bin" / words[0], *words[1:], recipe, "--out", run)
                self.assertRegex(printed, r"(?m)^training .* on 2 ranks")
                self.assertRegex(printed, r"(?m)^energy ")
                self.assertEqual(len(list(run.glob("*.db"))), 1)
                done = subprocess.run([BUILD / "bin/gradwatt", "report", "--json", run], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                self.assertTrue(report["complete"])
                self.assertEqual(report["exit_status"], 0)
                self.assertEqual(report["steps"]["ranks"], 2)
                if report["energy"]["energy_j"] is not None:
                    self.assertIn("a sample", printed)
                    self.assertGreater(report["steps"]["energy_per_sample_j"], 0)


if __name__ == "__main__":
    unittest.main()
