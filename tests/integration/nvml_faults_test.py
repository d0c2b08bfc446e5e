"""Every row of the table of driver faults, played through the program: the job's status is never changed, no figure is
negative, impossible or silently zero, and the energy is what the row says."""
import concurrent.futures
import json
import math
import os
import subprocess
import unittest

from program import BUILD, FAKE_NVML, ProgramTest, component

CASES = [line.split("\t") for line in
         subprocess.run([BUILD / "tests" / "print_fault_cases"], capture_output=True, text=True, check=True).stdout.splitlines()]


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{i}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


class Faults(ProgramTest):
    def play(self, case, attempt):
        name, _, script, energy, event, seconds, driver, opens, visible = case
        library = {"fake": FAKE_NVML, "old": FAKE_NVML.parent / "old" / FAKE_NVML.name,
                   "missing": "/nonexistent/libnvidia-ml.so.1", "no_driver_library": "/usr/lib/x86_64-linux-gnu/libc.so.6"}
        run = self.folder / f"{name}-{attempt}"
        environment = self.environment(GRADWATT_NVML_LIBRARY=library[driver], GRADWATT_FAKE_NVML=script)
        first = visible.split(";")[0] if visible else None
        if first is not None:
            environment["CUDA_VISIBLE_DEVICES"] = first
        status, out, err = self.gradwatt("run", "--json", "--out", run, "--", "sh", "-c", f"sleep {seconds}; exit 7",
                                         environment=environment)
        self.assertEqual(status, 7, f"{name}: the job's status was changed: {err}")
        report = json.loads(out)
        for path, value in numbers(report["energy"]):
            self.assertTrue(math.isfinite(value) and value >= 0, f"{name}: {path} = {value}")
        gpu = component(report, "gpu")
        joules = gpu["energy_j"]
        if joules is not None:
            self.assertGreater(joules, 0, f"{name}: a silent zero")
            devices = [d for d in gpu["devices"] if d["energy_j"] is not None]
            self.assertLess(joules, len(devices) * 1100 * (seconds_of(report) + 1), f"{name}: impossible energy")
        if opens != "sensor":
            self.assertIsNone(joules, name)
        elif energy == "missing":
            self.assertIsNone(joules, name)
        elif energy == "integrated":
            self.assertIsNotNone(joules, name)
            self.assertIn(gpu["how"], ("integrated", "modelled"), name)
        elif energy == "counter":
            self.assertIsNotNone(joules, f"{name}: {err}")
            self.assertEqual(gpu["how"], "counter", name)
        if event:
            kinds = {k for (k,) in self.rows("SELECT DISTINCT kind FROM event", run)}
            self.assertIn(event, kinds, name)

    def play_until_seen(self, case):
        """A busy machine may read past the short window of a fault: such a row is played again."""
        for attempt in range(3):
            try:
                return self.play(case, attempt)
            except AssertionError:
                if attempt == 2:
                    raise

    def test_every_row(self):
        self.assertGreaterEqual(len(CASES), 30)
        problems = []
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            for case, future in [(case, pool.submit(self.play_until_seen, case)) for case in CASES]:
                try:
                    future.result()
                except Exception as error:  # collected, so that one bad row does not hide the others
                    problems.append(f"{case[0]} ({case[1]}): {error}")
        self.assertEqual(problems, [], "\n".join(problems))


def seconds_of(report):
    return report["duration_s"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
