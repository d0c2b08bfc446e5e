"""The trainer as its users start it: several ranks, resumed runs, and what happens when something fails.

Every run is a real mpirun of build/…/bin/gradwatt-train on data that the test makes. Needs GRADWATT_BUILD.
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["GRADWATT_BUILD"])
TRAINER = BUILD / "bin/gradwatt-train"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]

SMALL_NET = """
[model]
name = "resnet8"
[data]
kind = "synthetic"
channels = 3
image_size = 16
examples = 64
[loader]
workers = 1
[batch]
global = 16
[schedule]
rate = 0.05
[run]
epochs = 2
threads = 1
verify_ranks = true
"""

# Without batch norm, so that the number of ranks must not matter.
SMALL_FIELDS = """
[model]
name = "afno-tiny"
patch = 4
embed = 16
depth = 1
blocks = 2
[data]
kind = "synthetic-fields"
channels = 2
rows = 16
columns = 32
examples = 32
[loader]
workers = 1
[batch]
global = 8
[optimizer]
momentum = 0.9
[schedule]
rate = 0.05
[run]
epochs = 2
threads = 1
precision = "fp64"
verify_ranks = true
"""


def read_safetensors(path):
    """Name -> (type, shape, bytes); the header's values under ''."""
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    tensors = {"": header.pop("__metadata__", {})}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"], raw[8 + size + begin:8 + size + end])
    return tensors


def doubles(tensor):
    return struct.unpack(f"<{len(tensor[2]) // 8}d", tensor[2])


class TrainerTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradwatt-train-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def command(self, recipe, ranks=1, *arguments):
        file = self.folder / "recipe.toml"
        file.write_text(recipe)
        start = [] if ranks == 1 else [*MPIRUN, str(ranks)]
        return [*start, str(TRAINER), str(file), "--quiet", *arguments]

    def train(self, recipe, ranks=1, *arguments, check=True):
        done = subprocess.run(self.command(recipe, ranks, *arguments), capture_output=True, text=True, timeout=120)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def keep(self, name):
        return ["--set", f"checkpoint.file={self.folder / name}"]

    def assert_same_state(self, a, b):
        a, b = read_safetensors(self.folder / a), read_safetensors(self.folder / b)
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            self.assertEqual(a[name], b[name], name)


class SeveralRanks(TrainerTest):
    def test_two_and_four_ranks_train_what_one_rank_trains(self):
        for ranks in (1, 2, 4):
            self.train(SMALL_FIELDS, ranks, *self.keep(f"ranks{ranks}"))
        one = read_safetensors(self.folder / "ranks1")
        for ranks in (2, 4):
            several = read_safetensors(self.folder / f"ranks{ranks}")
            for name in one:
                if name.startswith("model/"):
                    worst = max(abs(x - y) for x, y in zip(doubles(one[name]), doubles(several[name])))
                    self.assertLessEqual(worst, 1e-12, f"{name} with {ranks} ranks")

    def test_every_strategy_of_the_wire_keeps_the_ranks_equal(self):
        for settings in (["sync.overlap=false"], ["sync.shared_memory=false"], ["sync.wire=bf16"], ["sync.wire=fp16"],
                         ["run.sync_batch_norm=true"], ["batch.accumulate=2"], ["run.channels_last=true"],
                         ["optimizer.name=lamb"], ["optimizer.name=lars"], ["optimizer.name=adamw", "run.clip=1"],
                         ["run.precision=bf16"]):
            with self.subTest(settings):
                self.train(SMALL_NET, 3 if "bf16" in settings[0] else 2, "--set", "run.steps=3", "--set",
                           "batch.local=8", *[word for s in settings for word in ("--set", s)])

    def test_accumulated_micro_steps_are_the_large_batch(self):
        self.train(SMALL_FIELDS, 1, *self.keep("whole"))
        self.train(SMALL_FIELDS, 2, *self.keep("pieces"), "--set", "batch.accumulate=2")
        whole, pieces = (read_safetensors(self.folder / name) for name in ("whole", "pieces"))
        for name in whole:
            if name.startswith("model/"):
                worst = max(abs(x - y) for x, y in zip(doubles(whole[name]), doubles(pieces[name])))
                self.assertLessEqual(worst, 1e-12, name)


class Resuming(TrainerTest):
    def test_a_resumed_run_is_bitwise_the_run_that_never_stopped(self):
        for recipe, more in ((SMALL_NET, []), (SMALL_NET, ["--set", "optimizer.name=adamw"]),
                             (SMALL_NET, ["--set", "schedule.name=plateau", "--set", "schedule.patience=0"])):
            with self.subTest(more=more):
                for name in ("whole", "parts"):
                    (self.folder / name).unlink(missing_ok=True)
                self.train(recipe, 2, *self.keep("whole"), *more)
                self.train(recipe, 2, *self.keep("parts"), *more, "--set", "run.steps=3")  # in mid-epoch
                self.train(recipe, 2, *self.keep("parts"), *more, "--set", "run.steps=6", "--resume")
                self.train(recipe, 2, *self.keep("parts"), *more, "--resume")
                self.assert_same_state("whole", "parts")

    def test_a_checkpoint_of_another_model_is_refused(self):
        self.train(SMALL_NET, 1, *self.keep("state"))
        done = self.train(SMALL_FIELDS, 1, *self.keep("state"), "--resume", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another recipe", done.stderr)

    def test_a_truncated_checkpoint_is_refused(self):
        self.train(SMALL_NET, 1, *self.keep("state"))
        file = self.folder / "state"
        file.write_bytes(file.read_bytes()[:-100])
        done = self.train(SMALL_NET, 1, *self.keep("state"), "--resume", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(file), done.stderr)


class Failing(TrainerTest):
    LONG = ["--set", "batch.local=4", "--set", "run.epochs=100000", "--set", "checkpoint.every_steps=5"]

    def start(self, ranks, *arguments):
        process = subprocess.Popen(self.command(SMALL_NET, ranks, *arguments), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.05)

    def rank_pids(self, process, count):
        pids = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = stat.read_text().split(" ", 1)
                if rest.startswith("(gradwatt-train)") and int(rest.rsplit(")", 1)[1].split()[1]) == process.pid:
                    pids.append(int(pid))
            except (OSError, IndexError):
                pass
        return sorted(pids) if len(pids) == count else []

    def test_a_killed_rank_is_named_by_the_others_and_nobody_hangs(self):
        for victim in (0, 1):
            with self.subTest(victim=victim):
                checkpoint = self.folder / f"state{victim}"
                process = self.start(3, *self.LONG, *self.keep(checkpoint.name))
                self.wait_for(checkpoint.exists)
                pids = self.rank_pids(process, 3)
                os.kill(pids[victim], signal.SIGKILL)
                _, errors = process.communicate(timeout=30)
                self.assertNotEqual(process.returncode, 0)
                self.assertRegex(errors, r"rank \d: stops because rank \d on \S+ \(process %d\) died" % pids[victim])
                self.assertIn("--resume", errors)
                self.assertIn("model/fc.weight", read_safetensors(checkpoint))

    def test_sigterm_ends_all_ranks_with_a_word(self):
        process = self.start(2, *self.LONG, *self.keep("state"))
        self.wait_for((self.folder / "state").exists)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        self.assertIn("SIGTERM", errors)

    def test_a_full_disk_at_a_checkpoint_ends_the_run_and_leaves_the_last_one_intact(self):
        disk = self.folder / "disk"
        disk.mkdir()
        inside = " ".join(self.command(SMALL_NET, 2, *self.LONG, "--set", f"checkpoint.file={disk}/state"))
        # The first state fits; then something else fills the disk.
        script = f"""
            mount -t tmpfs -o size=2m tmpfs {disk} || exit 77
            ({inside}) 2>{self.folder}/errors & train=$!
            for i in $(seq 600); do [ -e {disk}/state ] && break; sleep 0.1; done
            dd if=/dev/zero of={disk}/filler bs=1k 2>/dev/null
            wait $train; echo $? > {self.folder}/status; cp {disk}/state {self.folder}/state"""
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=120)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("this machine lets nobody mount a small disk: " + done.stderr.strip())
        errors = (self.folder / "errors").read_text()
        self.assertEqual((self.folder / "status").read_text().strip(), "1", errors)
        self.assertIn("rank 0", errors)
        self.assertIn("No space left", errors)
        self.assertIn("model/fc.weight", read_safetensors(self.folder / "state"))

    def test_an_unreadable_image_is_named_with_its_rank(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("python3-pil is not installed")
        for part in ("train", "val"):
            for kind in ("cat", "dog"):
                folder = self.folder / "images" / part / kind
                folder.mkdir(parents=True)
                for i in range(8):
                    Image.new("RGB", (40, 40), (20 * i, 90, 200)).save(folder / f"{i}.jpg")
        broken = self.folder / "images/train/dog/5.jpg"
        broken.write_bytes(broken.read_bytes()[:80])
        recipe = SMALL_NET.replace('kind = "synthetic"', f'kind = "images"\npath = "{self.folder}/images"')
        recipe = recipe.replace("global = 16", "local = 4")
        done = self.train(recipe, 2, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank (\d) on \S+: .*dog/5\.jpg")
        self.assertRegex(done.stderr, r"rank \d: stops because rank \d on \S+ failed: .*dog/5\.jpg")

    def test_a_loss_that_is_not_finite_names_its_rank(self):
        done = self.train(SMALL_NET, 2, "--set", "schedule.rate=1e9", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank \d on \S+: the loss of its batch became")
        self.assertRegex(done.stderr, r"rank \d: stops because rank \d on \S+ failed: the loss|rank \d on \S+: the loss")


class WrongUse(TrainerTest):
    def test_mistakes_in_a_recipe_are_one_line_with_place_and_remedy(self):
        for recipe, words in (("[model]\nname = \"resnet8\"\n", ["batch.local"]),
                              (SMALL_NET + "stepz = 3\n", ["recipe.toml:", "run.stepz", "run.steps"]),
                              (SMALL_NET.replace("epochs = 2", "epochs = -1"), ["run.epochs", "at least 1"]),
                              (SMALL_NET.replace("resnet8", "resnet9"), ["resnet9", "resnet8"]),
                              ("[model\n", ["recipe.toml:"])):
            with self.subTest(words=words):
                done = self.train(recipe, 1, check=False)
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_a_batch_that_does_not_divide_is_refused_on_every_rank_without_a_hang(self):
        done = self.train(SMALL_NET, 3, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("divided evenly over 3 ranks", done.stderr)

    def test_the_verb_says_it_in_one_line_and_makes_no_run(self):
        for recipe, ranks, word in ((SMALL_NET, "3", "divided evenly"), (SMALL_NET.replace("resnet8", "resnet9"), "2", "resnet8"),
                                    (SMALL_NET + "stepz = 3\n", "1", "run.steps")):
            with self.subTest(word):
                file, out = self.folder / "recipe.toml", self.folder / "run"
                file.write_text(recipe)
                done = subprocess.run([str(BUILD / "bin/gradwatt"), "train", "--ranks", ranks, "--out", str(out), str(file)],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
