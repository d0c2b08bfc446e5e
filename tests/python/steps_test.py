"""The state machine that makes steps, with a clock turned by hand and without PyTorch."""
import random
import sys
import unittest

from support import PYTHON_FOLDER

sys.path.insert(0, str(PYTHON_FOLDER))
from gradwatt.agent.device_clock import DeviceClock  # noqa: E402
from gradwatt.agent.ring import EPOCH, STEP, UNKNOWN  # noqa: E402
from gradwatt.agent.steps import (  # noqa: E402
    BACKWARD, BACKWARD_BEGINS, BACKWARD_ENDS, CHECKPOINT, COMM_EXPOSED, DATA_WAIT, EVALUATION, FETCHED, FORWARD,
    LOADER_ENDED, MANUAL_STEP, OPTIMIZER, OPTIMIZER_BEGINS, OPTIMIZER_ENDS, OTHER, SAVED, StepTracker,
)  # fmt: skip


THREAD = 7  # in which all of it happens, where a test does not say otherwise


class FakeRing:
    def __init__(self):
        self.steps, self.epochs = [], []

    def span(self, kind, number, begin, end, samples=UNKNOWN, phases=None, on_device=0):
        mark = {"number": number, "begin": begin, "end": end, "samples": samples, "on_device": on_device}
        if kind == STEP:
            mark["phases"] = list(phases)
        {STEP: self.steps, EPOCH: self.epochs}[kind].append(mark)


class FakeRecorder:
    def __init__(self):
        self.out = FakeRing()

    def ring(self):
        return self.out


class FakeCuda:
    """Events that hold the time of recording and are done when told."""

    def __init__(self, clock):
        self.clock = clock
        self.done_until = float("inf")
        self.capturing = False
        self.calls_in_capture = 0

    def is_initialized(self):
        return True

    def is_current_stream_capturing(self):
        return self.capturing

    def Event(self, enable_timing):
        assert enable_timing
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, cuda):
        self.cuda = cuda

    def record(self):
        self.cuda.calls_in_capture += self.cuda.capturing
        self.time = self.cuda.clock()

    def query(self):
        self.cuda.calls_in_capture += self.cuda.capturing
        return self.time <= self.cuda.done_until

    def elapsed_time(self, end):  # ms, as PyTorch; the fake device is twice as slow as the host
        assert self.query() and end.query()
        return 2 * (end.time - self.time) / 1e6


def random_training(choose):
    """Entries of a training that is mostly plain."""
    now, entries, first = 1000, [], True

    def later():
        nonlocal now
        now += choose.randrange(1, 50)
        return now

    def odd():
        return choose.random() < 0.05

    for _ in range(choose.randrange(5, 40)):
        for _ in range(0 if odd() else 2 if odd() else 1):
            samples, training = UNKNOWN if odd() else 8, not odd()
            thread = THREAD + 1 if odd() else THREAD
            entries.append((FETCHED, later(), later(), samples, training, 1 + odd(), first or odd(), thread, None))
            first = False
        for _ in range(0 if odd() else 2 if odd() else 1):
            entries += [(BACKWARD_BEGINS, later(), None), (BACKWARD_ENDS, later(), None)]
        for key in (1, 2) if odd() else (1,):
            entries += [(OPTIMIZER_BEGINS, later(), key, None), (OPTIMIZER_ENDS, later(), key, None)]
        if odd():
            entries.append((SAVED, later(), later(), THREAD))
        if odd():
            entries.append((LOADER_ENDED, later(), later(), True, 1, THREAD))
            first = True
        if choose.random() < 0.003:
            entries.append((MANUAL_STEP, later(), 5))
    return entries


class StepsTest(unittest.TestCase):
    def setUp(self):
        self.now = 1000
        self.recorder = FakeRecorder()
        self.ring = self.recorder.out
        self.cuda = FakeCuda(lambda: self.now)
        self.device = DeviceClock(self.cuda)
        self.tracker = StepTracker(self.recorder, self.device)
        self.tracker.thread = THREAD
        self.on_device = False

    # The things a training loop does; times are durations.

    def fetch(self, took=10, samples=4, training=True, loader=1, first=False):
        begin = self.now
        self.now += took
        self.tracker.fetched(begin, self.now, samples, training, loader, first, THREAD, self.device.now())

    def loader_ends(self, took=1, training=True, loader=1):
        begin = self.now
        self.now += took
        self.tracker.loader_ended(begin, self.now, training, loader, THREAD)

    def compute(self, took):
        self.now += took

    def backward_begins(self):
        self.device.enable(self.on_device)
        self.tracker.backward_begins(self.now, self.device.now())

    def backward_ends(self):
        self.tracker.backward_ends(self.now, self.device.now())

    def backward(self, took=30):
        self.backward_begins()
        self.now += took
        self.backward_ends()

    def update_begins(self, key=1):
        self.tracker.optimizer_begins(self.now, key, self.device.now())

    def update_ends(self, key=1):
        self.tracker.optimizer_ends(self.now, key, self.device.now())

    def update(self, took=5, key=1):
        self.update_begins(key)
        self.now += took
        self.update_ends(key)

    def train_step(self, **fetch):
        self.fetch(**fetch)
        self.compute(20)
        self.backward()
        self.update()

    def phases(self, step=-1):
        return self.ring.steps[step]["phases"]

    def test_a_step_is_split_into_its_phases(self):
        self.train_step()
        self.compute(7)  # logging
        self.train_step()
        step = self.ring.steps[1]
        expected = {DATA_WAIT: 10, FORWARD: 20, BACKWARD: 30, OPTIMIZER: 5, OTHER: 7}
        self.assertEqual({p: t for p, t in enumerate(step["phases"]) if t != UNKNOWN}, expected)
        self.assertEqual(step["samples"], 4)
        self.assertEqual(step["end"] - step["begin"], 72)
        self.assertEqual(step["begin"], self.ring.steps[0]["end"])

    def test_micro_batches_belong_to_the_step_that_updates(self):
        for _ in range(3):
            self.fetch()
            self.compute(20)
            self.backward()
        self.update()
        self.assertEqual(len(self.ring.steps), 1)
        self.assertEqual(self.ring.steps[0]["samples"], 12)
        self.assertEqual(self.phases()[BACKWARD], 90)
        self.assertEqual(self.phases()[FORWARD], 60)

    def test_without_a_loader_its_phases_are_missing_and_not_zero(self):
        self.backward()
        self.update()
        self.backward()
        self.update()
        self.assertEqual(self.phases()[DATA_WAIT], UNKNOWN)
        self.assertEqual(self.phases()[FORWARD], UNKNOWN)
        self.assertEqual(self.phases()[OTHER], UNKNOWN)
        self.assertEqual(self.ring.steps[-1]["samples"], UNKNOWN)
        self.assertEqual(self.phases()[COMM_EXPOSED], UNKNOWN)

    def test_two_optimisers_on_one_batch_make_one_step(self):
        for _ in range(5):
            self.fetch()
            self.backward()
            self.update(key=1)
            self.backward()
            self.update(key=2)
        self.tracker.finish()
        self.assertEqual([s["number"] for s in self.ring.steps], [0, 1, 2, 3, 4])
        self.assertEqual(self.phases()[OPTIMIZER], 10)
        self.assertEqual(self.phases()[BACKWARD], 60)

    def test_one_optimiser_that_updates_twice_on_a_batch_makes_two_steps(self):
        self.fetch()
        for _ in range(2):
            self.backward()
            self.update()
        self.assertEqual(len(self.ring.steps), 2)

    def test_an_optimiser_within_another_counts_once(self):
        self.fetch()
        self.backward()
        self.update_begins()
        self.update(key=2)
        self.update_ends()
        self.assertEqual(len(self.ring.steps), 1)

    def test_an_optimiser_that_raised_does_not_hide_later_steps(self):
        self.update_begins()  # never ends
        self.train_step()
        self.train_step()
        self.assertEqual(len(self.ring.steps), 2)

    def test_backward_in_a_closure_is_not_optimizer_time(self):
        self.fetch()
        self.update_begins()
        self.backward(30)
        self.compute(8)
        self.update_ends()
        self.assertEqual(self.phases()[BACKWARD], 30)
        self.assertEqual(self.phases()[OPTIMIZER], 8)

    def test_a_backward_within_a_backward_counts_once(self):
        self.fetch()
        self.backward_begins()
        self.backward(10)
        self.backward_ends()
        self.update()
        self.assertEqual(self.phases()[BACKWARD], 10)
        self.assertEqual(self.ring.steps[0]["samples"], 4)

    def test_evaluation_and_checkpoints_between_steps_are_named(self):
        self.train_step()
        for _ in range(2):
            self.fetch(training=False, samples=100, loader=2)
            self.compute(50)
        self.loader_ends(training=False, loader=2)
        begin = self.now
        self.compute(25)
        self.tracker.saved(begin, self.now, THREAD)
        self.train_step()
        self.assertEqual(self.phases()[EVALUATION], 121)
        self.assertEqual(self.phases()[CHECKPOINT], 25)
        self.assertEqual(self.ring.steps[1]["samples"], 4)
        self.assertEqual(self.phases()[OTHER], 0)

    def test_epochs_are_passes_of_the_training_loader(self):
        for _ in range(2):
            for i in range(3):
                self.train_step(first=i == 0)
            self.loader_ends()
            self.fetch(training=False, loader=2, first=True)
            self.loader_ends(training=False, loader=2)
        self.assertEqual([(e["number"], e["samples"]) for e in self.ring.epochs], [(0, 12), (1, 12)])
        self.assertLessEqual(self.ring.epochs[0]["end"], self.ring.epochs[1]["begin"])

    def test_a_pass_that_is_left_early_ends_with_its_last_step(self):
        self.train_step(first=True)
        end = self.now
        self.compute(1000)
        self.train_step(first=True)
        self.assertEqual(self.ring.epochs[0]["end"], end)
        self.tracker.finish()
        self.assertEqual(len(self.ring.epochs), 2)

    def test_evaluation_with_gradients_on_does_not_end_the_epoch(self):
        self.train_step(first=True)
        self.fetch(loader=2, first=True)
        self.loader_ends(loader=2)
        self.train_step()
        self.loader_ends()
        self.assertEqual(len(self.ring.epochs), 1)

    def test_batches_fetched_one_ahead_are_counted_once_each(self):
        self.fetch()
        for _ in range(9):
            self.fetch()
            self.backward()
            self.update()
        self.backward()
        self.update()
        self.assertEqual([s["samples"] for s in self.ring.steps], [4] * 10)

    def test_the_programs_own_steps_replace_the_optimisers(self):
        self.train_step()
        self.tracker.manual_step(self.now)
        self.train_step()
        self.train_step()
        self.tracker.manual_step(self.now, samples=99)
        self.assertEqual(len(self.ring.steps), 2)
        self.assertEqual(self.ring.steps[1]["samples"], 99)
        self.assertEqual(self.phases()[BACKWARD], 60)

    def test_batches_fetched_by_another_thread_are_no_wait_for_data(self):
        self.train_step()
        begin = self.now
        self.tracker.fetched(begin, begin + 500, 4, True, 1, False, THREAD + 1, None)
        self.backward()
        self.update()
        self.assertEqual(self.phases()[DATA_WAIT], UNKNOWN)
        self.assertEqual(self.ring.steps[1]["samples"], 4)

    def test_many_entries_at_once_make_what_single_ones_make(self):
        for seed in range(300):
            entries = random_training(random.Random(seed))
            at_once, singly = FakeRecorder(), FakeRecorder()
            trackers = [StepTracker(recorder, DeviceClock(None)) for recorder in (at_once, singly)]
            for tracker in trackers:
                tracker.thread = THREAD
            trackers[0].take(entries)
            for entry in entries:
                trackers[1].take([entry])
            for tracker in trackers:
                tracker.finish()
            self.assertEqual(at_once.out.steps, singly.out.steps, entries)
            self.assertEqual(at_once.out.epochs, singly.out.epochs, entries)

    def test_device_times_replace_host_times_once_the_events_are_done(self):
        self.on_device = True
        self.train_step()  # its batch came before it was known that a device works
        self.cuda.done_until = self.now
        self.train_step()
        self.assertEqual([s["on_device"] for s in self.ring.steps], [0])
        self.cuda.done_until = float("inf")
        self.train_step()
        step = self.ring.steps[1]
        self.assertEqual((step["number"], step["on_device"]), (1, 1))
        self.assertEqual([step["phases"][p] for p in (FORWARD, BACKWARD, OPTIMIZER)], [40, 60, 10])
        self.assertEqual(step["phases"][DATA_WAIT], 10)
        self.assertEqual(step["phases"][OTHER], UNKNOWN)

    def test_events_that_are_never_done_cost_the_device_times_and_no_step(self):
        self.on_device = True
        self.cuda.done_until = 0
        for _ in range(200):
            self.train_step()
        self.assertGreater(len(self.ring.steps), 100)
        self.tracker.finish()
        self.assertEqual(sorted(s["number"] for s in self.ring.steps), list(range(200)))
        self.assertEqual({s["on_device"] for s in self.ring.steps}, {0})

    def test_no_event_is_touched_while_a_graph_is_captured(self):
        self.on_device = True
        self.train_step()
        self.train_step()
        self.cuda.capturing = True
        self.train_step()
        self.train_step()
        self.assertEqual(self.cuda.calls_in_capture, 0)
        self.cuda.capturing = False
        self.tracker.finish()
        self.assertEqual(sorted(s["number"] for s in self.ring.steps), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
