"""For the tests of the agent: runs a program as `gradwatt run` would start it, and reads its rings with the C++ reader."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PYTHON_FOLDER = SOURCE / "python"
SITE = PYTHON_FOLDER / "gradwatt" / "agent" / "site"


def python():
    """The interpreter under test; skips where the environment to test is not named."""
    if not os.environ.get("GRADWATT_TEST_VENV"):
        return sys.executable
    venv = os.environ.get("GRADWATT_TORCH_VENV")
    if not venv:
        raise unittest.SkipTest("GRADWATT_TORCH_VENV names no environment with another PyTorch")
    return os.path.join(venv, "bin", "python")


def require_torch():
    """Called by setUpModule."""
    if subprocess.run([python(), "-c", "import torch"], capture_output=True).returncode != 0:
        raise unittest.SkipTest("%s cannot import torch" % python())


def torch_version():
    code = "import torch; print(*torch.__version__.split('.')[:2])"
    major, minor = subprocess.run([python(), "-c", code], capture_output=True, text=True).stdout.split()
    return int(major), int(minor)


class AgentTest(unittest.TestCase):
    """Gives each test a folder and a ring folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gw-agent-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.marks_folder = os.path.join(self.folder, "marks")
        os.mkdir(self.marks_folder)

    def environment(self, **more):
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GRADWATT_") and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        }
        environment.update(
            GRADWATT_MARKS=self.marks_folder, PYTHONPATH=str(SITE), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1"
        )
        environment.update(more)
        return {name: value for name, value in environment.items() if value is not None}

    def write(self, name, code):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(code))
        return path

    def run_python(self, *arguments, status=0, **environment):
        """Standard output of the interpreter with these arguments."""
        done = subprocess.run(
            [python(), *arguments], env=self.environment(**environment), capture_output=True, text=True, cwd=self.folder,
            timeout=200,  # a hanging launch names its test instead of ending the whole file
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.errors = done.stderr
        return done.stdout

    def run_code(self, code, *arguments, status=0, **environment):
        return self.run_python(self.write("program.py", code), *arguments, status=status, **environment)

    def records(self):
        """All lines that the C++ reader prints, as dicts."""
        done = subprocess.run(
            [os.environ["GRADWATT_PRINT_MARKS"], self.marks_folder], capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def marks(self, kind, rank=None):
        return [r for r in self.records() if r["kind"] == kind and (rank is None or r["rank"] == rank)]

    def facts(self, subject=None):
        """name: last value."""
        records = [r for r in self.records() if r["kind"] == "fact"]
        for record in records:
            self.assertTrue(record["known"], record)
        return {r["name"]: r["value"] for r in records if subject is None or r["subject"] == subject}

    def assert_silent(self):
        self.assertEqual(os.listdir(self.marks_folder), [])

    def assert_no_problem(self):
        self.assertNotIn("agent.problem", self.facts())
        self.assertEqual(self.marks("lost") + self.marks("problem"), [])
