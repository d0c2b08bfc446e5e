"""Starts the built program for the integration tests, in a world of its own: run store, sensors, environment."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GRADWATT_BUILD"])
SOURCE = pathlib.Path(os.environ["GRADWATT_SOURCE"])
PROGRAM = BUILD / "bin" / "gradwatt"
FAKE_NVML = BUILD / "doubles" / "fake_nvml" / "libnvidia-ml.so.1"
PYTHON = "/usr/bin/python3"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gw-it-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.run_folder = self.folder / "run"

    def environment(self, **changes):
        keep = {k: v for k, v in os.environ.items()
                if not k.startswith(("GRADWATT_", "SLURM_", "OMPI_", "PMI", "CUDA_VISIBLE", "TORCHELASTIC", "PYTHONPATH"))}
        keep.update(HOME=str(self.folder), GRADWATT_RUNS=str(self.folder / "runs"),
                    GRADWATT_NVML_LIBRARY="/nonexistent/libnvidia-ml.so.1")
        keep.update({k: str(v) for k, v in changes.items()})
        return keep

    def gpus(self, script, **changes):
        return self.environment(GRADWATT_NVML_LIBRARY=FAKE_NVML, GRADWATT_FAKE_NVML=script, **changes)

    def start(self, *arguments, environment=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([str(PROGRAM), *map(str, arguments)], env=environment or self.environment(), text=True,
                                cwd=self.folder, **options)

    def gradwatt(self, *arguments, environment=None, timeout=120, **options):
        """Exit status, stdout, stderr."""
        process = self.start(*arguments, environment=environment, **options)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def report(self, run=None):
        status, out, err = self.gradwatt("report", "--json", run or self.run_folder)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def rows(self, sql, run=None):
        """Rows of the only record of a finished run."""
        files = list((run or self.run_folder).glob("*.db"))
        self.assertEqual(len(files), 1, files)
        with sqlite3.connect(f"file:{files[0]}?mode=ro", uri=True) as database:
            return database.execute(sql).fetchall()


def component(report, name):
    return next(c for c in report["energy"]["components"] if c["component"] == name)
