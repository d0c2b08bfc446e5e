"""`srun gradwatt train` and `srun gradwatt-train` below a real Slurm of one machine, which the test starts for itself.

Skips with a reason where Slurm is not installed or may not be started. Needs GRADWATT_BUILD and GRADWATT_SOURCE.
"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["GRADWATT_SOURCE"], "tests", "slurm"))
from one_machine import OneMachine, why_not  # noqa: E402
from trainer_test import BUILD, SMALL_NET  # noqa: E402


@unittest.skipIf(why_not(), why_not())
class BelowSrun(OneMachine):
    def srun(self, *command):
        done = self.slurm("srun", "-n", "2", "--overcommit", *command)
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
