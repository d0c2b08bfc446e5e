"""When notes are worked on, and what the agent says of its own CPU time; with clocks turned by hand."""
import sys
import unittest

from support import PYTHON_FOLDER

sys.path.insert(0, str(PYTHON_FOLDER))
from gradwatt.agent.cost import CostMeter  # noqa: E402
from gradwatt.agent.journal import Journal  # noqa: E402

SECOND = 1_000_000_000


class FakeRing:
    def __init__(self):
        self.asked, self.seen = [0], 0


class FakeRecorder:
    def __init__(self):
        self.out = FakeRing()
        self.problems = []

    def ring(self):
        return self.out

    def problem(self, error):
        self.problems.append(error)


class FakeTracker:
    """Every entry is a step."""

    def __init__(self):
        self.steps, self.thread, self.batches = 0, None, []

    def take(self, entries):
        if "broken" in entries:
            raise ValueError("broken")
        self.steps += len(entries)
        self.batches.append(len(entries))


class JournalTest(unittest.TestCase):
    def setUp(self):
        self.now = 5 * SECOND
        self.cpu = 0
        self.recorder, self.tracker = FakeRecorder(), FakeTracker()
        self.cost = CostMeter(clock=lambda: self.cpu)
        self.profiling = False
        self.journal = Journal(self.recorder, self.tracker, self.cost, lambda before, steps: self.profiling)

    def step(self, took, entry=1):
        """As a hook does it; one entry a step. True where it was measured."""
        self.now += took
        measured = self.journal.measuring
        self.journal.note(entry)
        if measured:
            self.cost.hook(self.cpu, self.cpu + 7)
        if self.now >= self.journal.due:
            self.journal.end_of_step(self.now)
        return measured

    def test_the_first_steps_are_told_at_once_and_later_ones_each_second(self):
        for _ in range(300):
            self.step(took=10_000_000)
        self.assertEqual(self.tracker.batches[:10], [1] * 10)
        self.assertEqual(self.tracker.batches[10:], [100, 100])

    def test_long_steps_are_told_one_by_one_and_measured(self):
        measured = [self.step(took=3 * SECOND) for _ in range(40)]
        self.assertEqual(self.tracker.batches, [1] * 40)
        self.assertEqual(measured.count(False), 1)  # of the first that might have been one of many

    def test_one_step_a_second_is_measured_and_not_the_one_behind_a_batch(self):
        measured = [self.step(took=10_000_000) for _ in range(10 + 500)][10:]
        self.assertLessEqual(sum(measured), 6)
        self.assertGreaterEqual(sum(measured), 4)
        self.assertFalse(any(measured[number] for number in range(100, 500, 100)))

    def test_while_a_profile_is_taken_each_step_is_told(self):
        self.profiling = True
        for _ in range(50):
            self.step(took=1000)
        self.assertEqual(self.tracker.batches, [1] * 50)

    def test_a_request_is_seen_within_the_second(self):
        for _ in range(20):
            self.step(took=1000)
        told = len(self.tracker.batches)
        self.recorder.out.asked[0] = 1
        self.step(took=600_000_000)
        self.assertEqual(len(self.tracker.batches), told + 1)

    def test_a_failure_is_reported_and_the_notes_are_gone(self):
        self.step(took=1, entry="broken")
        self.assertEqual([str(problem) for problem in self.recorder.problems], ["broken"])
        self.assertEqual(self.journal.entries, [])

    def test_work_within_the_work_is_left_for_later(self):
        self.tracker.take = lambda entries: self.journal.take_in(self.now)
        self.step(took=1)
        self.assertEqual(self.recorder.problems, [])


class CostTest(unittest.TestCase):
    def setUp(self):
        self.cpu = 0
        self.cost = CostMeter(clock=self.read)

    def read(self):
        self.cpu += 1  # what a reading costs
        return self.cpu

    def hook(self, took):
        begin = self.cost.now()
        self.cpu += took
        self.cost.hook(begin, self.cost.now())

    def test_all_hooks_measured_are_their_sum_and_the_measuring(self):
        for _ in range(4):
            self.hook(took=10)
        self.cost.batch(self.cost.now(), 4)
        self.assertAlmostEqual(self.cost.seconds() * 1e9, 4 * 10 + 4 * 3 + 1)

    def test_hooks_that_were_not_measured_cost_the_mean_of_those_that_were(self):
        self.hook(took=1000)  # the very first one
        self.cost.batch(self.cost.now(), 1)
        self.hook(took=10)
        self.hook(took=20)
        self.cost.batch(self.cost.now(), 12)
        self.assertAlmostEqual(self.cost.seconds() * 1e9, 1000 + 30 + 10 * 15 + 3 * 3 + 2)

    def test_what_was_never_measured_is_not_said(self):
        self.cost.batch(self.cost.now(), 5)
        self.assertIsNone(self.cost.seconds())

    def test_the_start_counts(self):
        begin = self.cost.now()
        self.cpu += 5000
        self.cost.since(begin)
        self.assertAlmostEqual(self.cost.seconds() * 1e9, 5001)


if __name__ == "__main__":
    unittest.main()
