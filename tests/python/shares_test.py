"""Shares of the training thread's time, and what a data set lies on, without PyTorch."""
import gc
import pathlib
import sys
import tempfile
import threading
import unittest

from support import PYTHON_FOLDER

sys.path.insert(0, str(PYTHON_FOLDER))
from gradwatt.agent import storage  # noqa: E402
from gradwatt.agent.shares import Shares  # noqa: E402

SECOND = 1_000_000_000


class SharesOfTheTrainingThread(unittest.TestCase):
    def setUp(self):
        self.now = self.cpu = 0
        self.shares = Shares(lambda: self.now, lambda: self.cpu)
        self.addCleanup(self.forget)

    def forget(self):
        if self.shares._on_collection in gc.callbacks:
            gc.callbacks.remove(self.shares._on_collection)

    def test_nothing_is_told_before_the_first_step(self):
        self.assertEqual(self.shares.told(), {})

    def test_nothing_is_told_of_a_moment(self):
        self.shares.begin()
        self.now = SECOND
        self.assertEqual(self.shares.told(), {})

    def test_cpu_time_and_collections_become_shares_of_the_time_since_the_first_step(self):
        self.now, self.cpu = 5 * SECOND, 3 * SECOND
        self.shares.begin()
        self.shares._on_collection("start", {})
        self.now += SECOND
        self.shares._on_collection("stop", {})
        self.now, self.cpu = 15 * SECOND, 11 * SECOND
        self.assertEqual(self.shares.told(), {"main.cpu_share": 0.8, "python.gc_share": 0.1})

    def test_python_tells_of_its_collections(self):
        self.shares.begin()
        self.now = 4 * SECOND
        before = self.shares.told()["python.gc_share"]
        times = iter(range(4 * SECOND, 100 * SECOND, SECOND))
        self.shares._clock = lambda: next(times)
        gc.collect()
        self.assertGreater(self.shares._collected, 0)
        self.assertEqual(before, 0)

    def test_another_thread_is_told_nothing(self):
        self.shares.begin()
        self.now = 10 * SECOND
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.shares.told()))
        thread.start()
        thread.join()
        self.assertEqual(answers, [{}])


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class StorageOfADataSet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.number = storage.os.stat(self.root).st_dev
        self.major_minor = "%d:%d" % (storage.os.major(self.number), storage.os.minor(self.number))

    def mounted(self, system):
        (self.root / "proc/self").mkdir(parents=True, exist_ok=True)
        (self.root / "proc/self/mountinfo").write_text(
            "20 1 0:1 / /proc rw - proc proc rw\n36 35 %s / /data rw,noatime shared:1 - %s source rw\n" % (self.major_minor, system)
        )

    def disk(self, name, rotational="0"):
        device = self.root / "sys/devices/x" / name
        (device / "queue").mkdir(parents=True)
        (device / "queue/rotational").write_text(rotational + "\n")
        link = self.root / "sys/dev/block" / self.major_minor
        link.parent.mkdir(parents=True)
        link.symlink_to(device)

    def kind(self):
        return storage.kind_of(self.root, self.root)

    def test_a_network_file_system_says_its_name(self):
        self.mounted("nfs4")
        self.assertEqual(self.kind(), "nfs")
        self.mounted("lustre")
        self.assertEqual(self.kind(), "lustre")

    def test_any_file_system_in_user_space_is_fuse(self):
        self.mounted("fuse.s3fs")
        self.assertEqual(self.kind(), "fuse")

    def test_a_disk_with_platters_is_told_from_one_without(self):
        self.mounted("ext4")
        self.disk("sda", rotational="1")
        self.assertEqual(self.kind(), "hdd")

    def test_an_nvme_drive_is_known_by_its_name(self):
        self.mounted("xfs")
        self.disk("nvme0n1")
        self.assertEqual(self.kind(), "nvme")

    def test_nothing_is_said_of_a_virtual_disk_or_an_overlay(self):
        self.mounted("overlay")
        self.assertIsNone(self.kind())
        self.mounted("ext4")
        self.disk("vda", rotational="1")
        self.assertIsNone(self.kind())

    def test_the_path_is_found_below_wrappers_and_in_lists_of_samples(self):
        here = str(self.root)
        self.assertEqual(storage.path_of(Plain(root=here)), here)
        self.assertEqual(storage.path_of(Plain(samples=[(here, 3)])), here)
        self.assertEqual(storage.path_of(Plain(dataset=Plain(datasets=[Plain(data_dir=self.root)]))), here)

    def test_a_data_set_without_files_has_no_path(self):
        self.assertIsNone(storage.path_of(Plain(root="/nowhere/at/all", samples=[1.5])))
        self.assertIsNone(storage.path_of(None))


if __name__ == "__main__":
    unittest.main()
