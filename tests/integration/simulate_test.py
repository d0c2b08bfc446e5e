"""`gradwatt simulate` as a user types it: the example's cluster, a record that other verbs read, mistakes in a line."""
import json
import unittest

from program import SOURCE, ProgramTest

CLUSTER = SOURCE / "examples/clusters/eight-nodes.toml"
JOB = ("--compute-s", "0.3", "--gradient-bytes", "1e8", "--local-batch", "64")


class Simulate(ProgramTest):
    def simulate(self, *words):
        """Standard output; it succeeds."""
        status, out, err = self.gradwatt("simulate", "--cluster", CLUSTER, *words)
        self.assertEqual(status, 0, err)
        return out

    def test_other_verbs_read_the_record_as_a_run_that_says_it_is_simulated(self):
        self.assertIn("8 nodes with 8 GPUs each, two-level", self.simulate(*JOB, "--out", self.run_folder))
        report = self.report()
        self.assertEqual(report["energy"]["where"], "simulated")
        self.assertEqual(report["energy"]["how"], "estimated")
        self.assertTrue(report["complete"])
        # 100 steps of the slow node: 0.3 s / 0.9 and what is exposed.
        self.assertGreater(report["duration_s"], 100 * 0.3 / 0.9)
        self.assertLess(report["duration_s"], 100 * 0.36)
        status, out, err = self.gradwatt("diagnose", "--json", self.run_folder)
        self.assertEqual(status, 0, err)
        self.assertIn("findings", json.loads(out))

    def test_a_run_goes_into_the_store_where_no_folder_is_named(self):
        self.simulate(*JOB, "--quiet")
        self.assertEqual(self.report("last")["energy"]["where"], "simulated")

    def test_a_simulated_run_can_be_simulated_again_elsewhere(self):
        self.simulate(*JOB, "--out", self.run_folder, "--quiet")
        again = json.loads(self.simulate("--from", self.run_folder, "--strategy", "local-sgd", "--json"))
        self.assertEqual(again["energy"]["where"], "simulated")

    def test_mistakes_are_one_line_and_an_exit_status(self):
        broken = self.folder / "broken.toml"
        broken.write_text("nodes = 0\ngpus_per_node = 1\n")
        for wanted, words in ((2, ()), (2, ("--cluster", CLUSTER)),
                              (2, ("--cluster", CLUSTER, *JOB, "--strategy", "none")),
                              (2, ("--cluster", CLUSTER, *JOB, "--steps", "0")),
                              (3, ("--cluster", broken, *JOB)),
                              (3, ("--cluster", "/no/such.toml", *JOB))):
            status, out, err = self.gradwatt("simulate", *words)
            self.assertEqual((status, out, err.count("\n")), (wanted, "", 1), words)

    def test_a_folder_that_holds_a_record_is_left_alone(self):
        self.simulate(*JOB, "--out", self.run_folder, "--quiet")
        status, _, _ = self.gradwatt("simulate", "--cluster", CLUSTER, *JOB, "--out", self.run_folder)
        self.assertEqual(status, 2)


if __name__ == "__main__":
    unittest.main()
