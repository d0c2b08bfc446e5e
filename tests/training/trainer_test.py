"""The trainer as its users start it: several ranks, resumed runs, and what happens when something fails.

Every run is a real mpirun of build/…/bin/gradwatt-train on data that the test makes. Needs GRADWATT_BUILD.
"""
import json
import math
import os
import pathlib
import re
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


def floats(tensor):
    return struct.unpack(f"<{len(tensor[2]) // 4}f", tensor[2])


class TrainerTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradwatt-train-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def command(self, recipe, ranks=1, *arguments):
        file = self.folder / "recipe.toml"
        file.write_text(recipe)
        start = [] if ranks == 1 else [*MPIRUN, str(ranks)]
        return [*start, str(TRAINER), str(file), "--quiet", *arguments]

    def environment(self):
        return {**{k: v for k, v in os.environ.items() if not k.startswith("GRADWATT_")},
                "GRADWATT_RUNS": str(self.folder / "runs"), "GRADWATT_INTERVAL": "0.1"}

    def train(self, recipe, ranks=1, *arguments, check=True):
        done = subprocess.run(self.command(recipe, ranks, *arguments), capture_output=True, text=True, timeout=120,
                              env=self.environment())
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def report(self, run):
        done = subprocess.run([str(BUILD / "bin/gradwatt"), "report", "--json", str(run)], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_no_rings_left(self):
        self.assertEqual(list(pathlib.Path("/dev/shm").glob("gradwatt-train-*")), [])

    def keep(self, name):
        return ["--set", f"checkpoint.file={self.folder / name}"]

    def assert_same_model(self, a, b, tolerance):
        for name in a:
            if name.startswith("model/"):
                worst = max(abs(x - y) for x, y in zip(doubles(a[name]), doubles(b[name])))
                self.assertLessEqual(worst, tolerance, name)

    def assert_same_state(self, a, b):
        a, b = read_safetensors(self.folder / a), read_safetensors(self.folder / b)
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            self.assertEqual(a[name], b[name], name)


class SeveralRanks(TrainerTest):
    def test_two_and_four_ranks_train_what_one_rank_trains(self):
        for ranks in (1, 2, 4):
            self.train(SMALL_FIELDS, ranks, *self.keep(f"ranks{ranks}"))
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.assert_same_model(*(read_safetensors(self.folder / f"ranks{r}") for r in (1, ranks)), 1e-12)

    def test_single_precision_differs_by_rounding_only(self):
        for ranks in (1, 2):
            self.train(SMALL_FIELDS, ranks, *self.keep(f"ranks{ranks}"), "--set", "run.precision=fp32", "--set",
                       "run.steps=1")
        one, two = (read_safetensors(self.folder / f"ranks{ranks}") for ranks in (1, 2))
        for name in one:
            if name.startswith("model/"):
                pairs = list(zip(floats(one[name]), floats(two[name])))
                worst = max(abs(x - y) for x, y in pairs)
                self.assertLessEqual(worst, 2e-6 * max(1, max(abs(x) for x, _ in pairs)), name)

    def test_the_norm_that_is_clipped_is_that_of_the_global_batch(self):
        # A norm that is added up over ranks once more would be too large by the square root of their number.
        clip = ["--set", "run.clip=0.01"]
        self.train(SMALL_FIELDS, 1, *self.keep("one"), *clip)
        self.train(SMALL_FIELDS, 4, *self.keep("four"), *clip)
        self.train(SMALL_FIELDS, 1, *self.keep("pieces"), *clip, "--set", "batch.accumulate=4")
        self.train(SMALL_FIELDS, 1, *self.keep("free"))
        one = read_safetensors(self.folder / "one")
        for other in ("four", "pieces"):
            self.assert_same_model(one, read_safetensors(self.folder / other), 1e-12)
        with self.assertRaises(AssertionError, msg="clipping changed nothing"):
            self.assert_same_model(one, read_safetensors(self.folder / "free"), 1e-12)

    def test_every_strategy_of_the_wire_keeps_the_ranks_equal(self):
        for settings in (["sync.overlap=false"], ["sync.shared_memory=false"], ["sync.wire=bf16"], ["sync.wire=fp16"],
                         ["run.sync_batch_norm=true"], ["batch.accumulate=2"], ["run.channels_last=true"],
                         ["optimizer.name=lamb"], ["optimizer.name=lars"], ["optimizer.name=adamw", "run.clip=1"],
                         ["run.precision=bf16"]):
            with self.subTest(settings):
                self.train(SMALL_NET, 3 if "bf16" in settings[0] else 2, "--set", "run.steps=3", "--set",
                           "batch.local=8", *[word for s in settings for word in ("--set", s)])

    def test_every_strategy_trains_and_ends_with_equal_ranks(self):
        for strategy, ranks, more in (("two-level", 4, ["sync.ranks_per_host=2"]), ("one-bit", 3, []),
                                      ("one-bit", 2, ["run.precision=bf16", "sync.plain_updates=2"]),
                                      ("local-sgd", 2, ["sync.period=2"]), ("stale-synchronous", 2, []),
                                      ("daso", 4, ["sync.ranks_per_host=2", "sync.warmup_epochs=1",
                                                   "sync.cooldown_epochs=0"])):
            with self.subTest(strategy, more=more):
                done = self.train(SMALL_NET, ranks, "--set", f"sync.strategy={strategy}", "--set", "batch.local=4",
                                  *[word for s in more for word in ("--set", s)])
                self.assertIn("result", done.stdout + done.stderr)

    def test_mixed_precision_keeps_weights_optimizer_and_statistics_in_single(self):
        self.train(SMALL_NET, 2, *self.keep("state"), "--set", "run.precision=bf16", "--set", "run.steps=2")
        state = read_safetensors(self.folder / "state")
        types = {name: t[0] for name, t in state.items() if name.startswith(("model/", "optimizer/"))
                 and not name.endswith(("num_batches_tracked", "steps"))}
        self.assertIn("model/bn1.running_var", types)
        self.assertEqual({name: t for name, t in types.items() if t != "F32"}, {})

    def test_accumulated_micro_steps_are_the_large_batch(self):
        self.train(SMALL_FIELDS, 1, *self.keep("whole"))
        self.train(SMALL_FIELDS, 2, *self.keep("pieces"), "--set", "batch.accumulate=2")
        self.assert_same_model(*(read_safetensors(self.folder / name) for name in ("whole", "pieces")), 1e-12)


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

    def test_so_is_one_whose_ranks_keep_residuals_or_go_their_own_ways(self):
        # Where ranks part, a checkpoint brings them together: both runs have it at the same updates.
        often = ["--set", "checkpoint.every_steps=3"]
        apart = ["--set", "sync.warmup_epochs=0", "--set", "sync.cooldown_epochs=0"]
        for strategy, more, stop in (("one-bit", [], 3), ("local-sgd", ["--set", "sync.period=2", *often], 3),
                                     ("daso", ["--set", "sync.ranks_per_host=1", *apart], 4)):
            with self.subTest(strategy=strategy):
                for name in ("whole", "parts"):
                    (self.folder / name).unlink(missing_ok=True)
                more = ["--set", f"sync.strategy={strategy}", *more]
                self.train(SMALL_NET, 2, *self.keep("whole"), *more)
                self.train(SMALL_NET, 2, *self.keep("parts"), *more, "--set", f"run.steps={stop}")
                self.train(SMALL_NET, 2, *self.keep("parts"), *more, "--resume")
                self.assert_same_state("whole", "parts")

    def test_a_checkpoint_of_another_strategy_is_refused(self):
        self.train(SMALL_NET, 2, *self.keep("state"), "--set", "run.steps=3")
        done = self.train(SMALL_NET, 2, *self.keep("state"), "--set", "sync.strategy=one-bit", "--resume", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another strategy", done.stderr)

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
                                   stderr=subprocess.PIPE, text=True, env=self.environment())
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
        apart = ["--set", "sync.ranks_per_host=1", "--set", "sync.warmup_epochs=0"]
        for victim, strategy, more in ((0, "all-reduce", []), (1, "all-reduce", []), (1, "one-bit", []),
                                       (2, "stale-synchronous", []), (1, "daso", apart)):
            with self.subTest(victim=victim, strategy=strategy):
                checkpoint = self.folder / f"state-{strategy}{victim}"
                process = self.start(3, *self.LONG, *self.keep(checkpoint.name), "--set", f"sync.strategy={strategy}",
                                     *more)
                self.wait_for(checkpoint.exists)
                pids = self.rank_pids(process, 3)
                os.kill(pids[victim], signal.SIGKILL)
                _, errors = process.communicate(timeout=30)
                self.assertNotEqual(process.returncode, 0)
                self.assertRegex(errors, r"rank \d: stops because rank \d on \S+ \(process %d\) died" % pids[victim])
                self.assertIn("--resume", errors)
                self.assertIn("model/fc.weight", read_safetensors(checkpoint))
                self.assert_no_rings_left()

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


    def fields_with_a_hole(self):
        """A year of the FourCastNet layout whose last field, the target of one example alone, holds a NaN."""
        try:
            import h5py
            import numpy
        except ImportError as missing:
            self.skipTest(f"python3-h5py is not installed ({missing})")
        shape = (13, 2, 17, 32)
        for part in ("train", "test", "stats"):
            (self.folder / "era5" / part).mkdir(parents=True)
        for part in ("train", "test"):
            fields = numpy.random.default_rng(1).normal(size=shape).astype("float32")
            if part == "train":
                fields[-1, 1, 5, 7] = numpy.nan
            with h5py.File(self.folder / "era5" / part / "2001.h5", "w") as file:
                file["fields"] = fields
        for name, value in (("global_means", 0), ("global_stds", 1)):
            numpy.save(self.folder / "era5/stats" / f"{name}.npy", numpy.full((1, 2, 1, 1), value, "float32"))
        return SMALL_FIELDS.replace('kind = "synthetic-fields"', f'kind = "era5"\npath = "{self.folder}/era5"')

    def test_a_nan_in_one_ranks_data_is_told_by_that_rank_and_reaches_nobody(self):
        recipe = self.fields_with_a_hole()
        for ranks, more in ((2, []), (3, []), (2, ["batch.local=2", "batch.accumulate=2"]), (2, ["sync.overlap=false"]),
                            (2, ["sync.shared_memory=false"]), (2, ["run.precision=bf16"])):
            with self.subTest(ranks=ranks, more=more):
                keep = self.keep("state") + ["--set", "checkpoint.every_steps=1"]
                (self.folder / "state").unlink(missing_ok=True)
                settings = [word for s in ["batch.local=1", *more] for word in ("--set", s)]
                begin = time.monotonic()
                done = self.train(recipe, ranks, *keep, *settings, check=False)
                self.assertLess(time.monotonic() - begin, 60)
                self.assertEqual(done.returncode, 1, done.stderr)
                told = set(re.findall(r"rank (\d) on \S+: the loss of its batch became nan", done.stderr))
                self.assertEqual(len(told), 1, done.stderr)
                culprit, = told
                heard = set(re.findall(r"rank (\d): stops because rank %s on \S+ failed: the loss of its batch became nan"
                                       % culprit, done.stderr))
                self.assertEqual(heard, {str(r) for r in range(ranks)} - told, done.stderr)
                if (self.folder / "state").exists():  # the hole may lie in the first batch
                    for name, tensor in read_safetensors(self.folder / "state").items():
                        if name.startswith("model/"):
                            values = doubles(tensor) if tensor[0] == "F64" else floats(tensor)
                            self.assertFalse(any(map(math.isnan, values)), name)

    def test_the_record_of_a_run_that_failed_is_whole_and_says_so(self):
        recipe = self.fields_with_a_hole()
        done = self.train(recipe, 2, "--out", str(self.folder / "run"), "--set", "batch.local=1", check=False)
        self.assertEqual(done.returncode, 1)
        report = self.report(self.folder / "run")
        self.assertTrue(report["complete"])
        self.assertEqual(report["exit_status"], 1)
        self.assert_no_rings_left()


class Measuring(TrainerTest):
    """Each way to start a training ends with its energy, its origin, energy per sample, and a record."""

    def assert_measured(self, run, ranks):
        report = self.report(run)
        self.assertTrue(report["complete"])
        self.assertEqual(report["exit_status"], 0)
        self.assertEqual(report["steps"]["ranks"], ranks)
        self.assertEqual(report["steps"]["samples"], 2 * 1024)
        facts = {f["name"]: f["value"] for f in report["facts"]}
        self.assertEqual(facts["job.world_size"], ranks)
        self.assertEqual(facts["job.model"], "resnet8")
        self.assertEqual(facts["job.parameters"], 75290)
        self.assertEqual(facts["job.global_batch_size"], 16)
        self.assertEqual(facts["job.local_batch_size"], 16 // ranks)
        self.assertEqual(facts["job.samples"], 2 * 1024)
        self.assertIn("result.accuracy_pct", facts)
        if report["energy"]["energy_j"] is None:
            self.skipTest("nothing measures or models energy on this machine")
        self.assertGreater(report["energy"]["energy_j"], 0)
        return report

    # Energy per sample needs steps over some seconds.
    LONGER = ["--set", "data.image_size=32", "--set", "data.examples=1024"]

    def test_started_by_mpirun_the_trainer_measures_itself(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                run = self.folder / f"run{ranks}"
                done = self.train(SMALL_NET, ranks, "--out", str(run), "--name", "small", *self.LONGER)
                report = self.assert_measured(run, ranks)
                self.assertRegex(done.stdout, r"(?m)^energy +\S+ \S+ \((counter|integrated|modelled|estimated).* covered\)")
                self.assertRegex(done.stdout, r"J a sample")
                self.assertIn(str(run), done.stdout)
                self.assertIn("accuracy_pct", done.stdout)
                self.assertFalse([f for f in report["facts"] if f["name"] == "sampler.cpu_s"],
                                 "the training's own CPU time is no cost of measuring")
                self.assert_no_rings_left()

    def test_a_mistake_leaves_no_record(self):
        for ranks in (1, 2):
            done = self.train(SMALL_NET, ranks, "--out", str(self.folder / "run"), "--set", "batch.global=4096", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse((self.folder / "run").exists())

    def test_below_gradwatt_run_nothing_is_opened_twice_and_the_report_has_the_energy(self):
        file = self.folder / "recipe.toml"
        file.write_text(SMALL_NET)
        gradwatt = str(BUILD / "bin/gradwatt")
        for start, ranks in (([gradwatt, "train"], 1), ([gradwatt, "train", "--ranks", "2"], 2),
                             ([*MPIRUN, "2", gradwatt, "train"], 2)):
            with self.subTest(start=start):
                run = self.folder / f"run{len(start)}"
                done = subprocess.run([*start, "--out", str(run), str(file), *self.LONGER], capture_output=True, text=True,
                                      timeout=120, env=self.environment())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"(?m)^energy +in the report of `gradwatt run`")
                self.assertNotRegex(done.stdout, r"(?m)^record ", "the trainer wrote one of its own")
                self.assertIn("a sample", done.stdout)
                self.assertRegex(done.stdout, r"(?m)^  result +accuracy")
                self.assert_measured(run, ranks)


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
