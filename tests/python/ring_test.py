"""The Python writer against the C++ reader."""
import json
import os
import signal
import subprocess
import sys
import unittest

from support import PYTHON_FOLDER, AgentTest

PRELUDE = """
import os, sys, time
sys.path.insert(0, %r)
from gradwatt.agent.ring import *
ring = Ring(os.environ["GRADWATT_MARKS"])
""" % str(PYTHON_FOLDER)


class RingTest(AgentTest):
    def test_every_field_arrives(self):
        self.run_code(PRELUDE + "ring.span(STEP, 7, 100, 250, 64, [1, 2, 3, UNKNOWN, 5, 6, 7, 8], 1)")
        (step,) = self.marks("step")
        self.assertEqual(
            step,
            {"kind": "step", "rank": 0, "name": "", "number": 7, "begin_ns": 100, "end_ns": 250, "samples": 64,
             "clock": "device_events", "data_wait": 1, "forward": 2, "backward": 3, "comm_exposed": None,
             "optimizer": 5, "checkpoint": 6, "evaluation": 7, "other": 8},
        )  # fmt: skip

    def test_what_is_not_known_arrives_as_missing(self):
        self.run_code(PRELUDE + "ring.span(EPOCH, 0, 100, 250)")
        (epoch,) = self.marks("epoch")
        self.assertIsNone(epoch["samples"])
        self.assertIsNone(epoch["forward"])

    def test_regions_keep_their_name_and_never_end_in_half_a_character(self):
        self.run_code(PRELUDE + "ring.region('größe', 1, 2); ring.region('x' + 'é' * 40, 1, 2)")
        names = [mark["name"] for mark in self.marks("region")]
        self.assertEqual(names, ["größe", "x" + "é" * 31])

    def test_facts_are_numbers_or_texts_of_any_length(self):
        self.run_code(
            PRELUDE + "ring.fact('ddp.parameters', 12345678901); ring.fact('loader.pin_memory', True)\n"
            "ring.fact('agent.cpu_s', 1.5e-3); ring.fact('agent.problem', 'ü' * 900); ring.fact('job.backend', '')"
        )
        facts = self.facts()
        self.assertEqual(facts["ddp.parameters"], 12345678901)
        self.assertEqual(facts["loader.pin_memory"], 1)
        self.assertEqual(facts["agent.cpu_s"], 1.5e-3)
        self.assertEqual(facts["agent.problem"], "ü" * 900)
        self.assertEqual(facts["job.backend"], "")

    def test_an_endless_text_is_cut(self):
        self.run_code(PRELUDE + "ring.fact('agent.problem', 'x' * 10000)")
        self.assertEqual(len(self.facts()["agent.problem"]), 64 * 84 - len("agent.problem=t"))

    def test_ranks_come_from_the_environment_of_each_launcher(self):
        for names in (("RANK", "LOCAL_RANK", "WORLD_SIZE"),
                      ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
                      ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS")):  # fmt: skip
            with self.subTest(names[0]):
                self.run_code(PRELUDE + "ring.span(STEP, 0, 1, 2)", **dict(zip(names, ("3", "1", "4"))))
                ring = self.marks("ring")[-1]
                self.assertEqual((ring["rank"], ring["local_rank"], ring["world_size"]), (3, 1, 4))
                for name in os.listdir(self.marks_folder):
                    os.unlink(os.path.join(self.marks_folder, name))

    def test_an_overrun_is_counted_exactly(self):
        self.run_code(PRELUDE + "for i in range(16384 + 500): ring.span(STEP, i, i, i + 1)")
        self.assertEqual(self.marks("lost")[0]["overruns"], 500)
        self.assertEqual(len(self.marks("step")), 16384)

    def test_threads_write_whole_marks(self):
        self.run_code(
            PRELUDE + "import threading\n"
            "def work(t):\n"
            "    for i in range(2000): ring.span(EPOCH, t * 2000 + i, i, 2 * i + t, t)\n"
            "threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]"
        )
        marks = self.marks("epoch")
        self.assertEqual(sorted(mark["number"] for mark in marks), list(range(8000)))
        for mark in marks:
            i, t = mark["number"] % 2000, mark["number"] // 2000
            self.assertEqual((mark["begin_ns"], mark["end_ns"], mark["samples"]), (i, 2 * i + t, t))

    def test_a_killed_writer_leaves_a_readable_ring(self):
        program = self.write(
            "program.py",
            PRELUDE + "for i in range(300): ring.span(STEP, i, i, i + 1)\nprint('ready', flush=True)\ntime.sleep(60)",
        )
        writer = subprocess.Popen([sys.executable, program], env=self.environment(), stdout=subprocess.PIPE)
        self.addCleanup(writer.stdout.close)
        writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        self.assertEqual(len(self.marks("step")), 300)
        self.assertEqual(self.marks("lost"), [])

    def test_nothing_is_lost_at_ten_thousand_marks_a_second(self):
        seen = open(os.path.join(self.folder, "seen"), "w+")  # a file: a pipe that nobody empties would stop the reader
        self.addCleanup(seen.close)
        reader = subprocess.Popen(
            [os.environ["GRADWATT_PRINT_MARKS"], self.marks_folder, "--watch"], stdin=subprocess.PIPE, stdout=seen
        )
        self.run_code(
            PRELUDE + "due = time.monotonic()\n"
            "for i in range(20000):\n"
            "    ring.span(STEP, i, i, i + 1)\n"
            "    if i % 10 == 9:\n"
            "        due += 0.001\n"
            "        time.sleep(max(0, due - time.monotonic()))"
        )
        reader.communicate(b"end\n")
        seen.seek(0)
        records = [json.loads(line) for line in seen]
        self.assertEqual([r["number"] for r in records if r["kind"] == "step"], list(range(20000)))
        self.assertEqual([r for r in records if r["kind"] == "lost"], [])

    def test_a_folder_that_is_gone_or_full_raises_and_leaves_no_file(self):
        self.run_code(
            "import os, sys\nsys.path.insert(0, %r)\n"
            "from gradwatt.agent import ring\n"
            "def full(*a): raise OSError(28, 'No space left on device')\n"
            "try:\n    ring.Ring('/nonexistent'); sys.exit(1)\nexcept OSError: pass\n"
            "ring.os.posix_fallocate = full\n"
            "try:\n    ring.Ring(os.environ['GRADWATT_MARKS']); sys.exit(1)\nexcept OSError: pass\n" % str(PYTHON_FOLDER)
        )
        self.assert_silent()


if __name__ == "__main__":
    unittest.main()
