"""A real Slurm of one machine that a test class starts for itself and ends with it, all files in one folder.

    @unittest.skipIf(why_not(), why_not())
    class BelowSlurm(OneMachine):
        GPUS = 2        # device files that Slurm hands out; nothing computes on them

Skips with a reason where Slurm is not installed (Debian: slurm-wlm munge) or may not be started (root).
"""
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import unittest

DAEMONS = ("munged", "slurmctld", "slurmd")


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not():
    missing = [p for p in (*DAEMONS, "srun", "sbatch", "sinfo", "scontrol") if find(p) is None]
    if missing:
        return f"{', '.join(missing)} not installed (apt install slurm-wlm munge)"
    return "Slurm's daemons are started as root" if os.geteuid() != 0 else None


def configuration(folder, gpus):
    host = socket.gethostname().split(".")[0]
    return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={16817 + 10 * (gpus > 0)}
SlurmdPort={16818 + 10 * (gpus > 0)}
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
{"GresTypes=gpu" if gpus else ""}
NodeName={host} NodeAddr=127.0.0.1 CPUs={max(2, os.cpu_count())} {f"Gres=gpu:{gpus}" if gpus else ""} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=YES State=UP
"""


class OneMachine(unittest.TestCase):
    GPUS = 0

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gw-slurm-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        for name in ("munge", "spool", "state"):
            (cls.folder / name).mkdir(mode=0o755)
        (cls.folder / "slurm.conf").write_text(configuration(cls.folder, cls.GPUS))
        if cls.GPUS:
            cls.make_gpus()
        key = cls.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        cls.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("GRADWATT_", "SLURM_", "SBATCH_"))},
                           "SLURM_CONF": str(cls.folder / "slurm.conf"), "GRADWATT_INTERVAL": "0.1",
                           "GRADWATT_RUNS": str(cls.folder / "runs"), "HOME": str(cls.folder)}
        munge = cls.folder / "munge"
        cls.start_daemon("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}",
                         f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        cls.start_daemon("slurmctld", "-D", "-c")
        cls.start_daemon("slurmd", "-D", "-c")
        cls.wait_until_idle()

    @classmethod
    def make_gpus(cls):
        """Slurm takes character devices only; these are /dev/null under another name."""
        for i in range(cls.GPUS):
            try:
                os.mknod(cls.folder / f"nvidia{i}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except PermissionError:
                raise unittest.SkipTest("device files, which stand for GPUs, may not be made here") from None
        (cls.folder / "gres.conf").write_text(f"Name=gpu File={cls.folder}/nvidia[0-{cls.GPUS - 1}]\n")

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

    def slurm(self, program, *arguments, patience=180):
        """Exit status and both outputs; never waits for ever for a job that cannot start."""
        return subprocess.run(["timeout", "--signal=INT", str(patience), find(program), *map(str, arguments)],
                              capture_output=True, text=True, env=self.environment, cwd=self.folder)
