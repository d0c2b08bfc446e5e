"""The agent in one process with the PyTorch at hand. With GRADWATT_TEST_VENV the one of GRADWATT_TORCH_VENV."""
import os
import signal
import subprocess
import unittest

from support import PYTHON_FOLDER, SITE, AgentTest, python, require_torch, torch_version

PRELUDE = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(40, 10), torch.randn(40, 1))
model = nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(loader, update_every=1):
    for number, (x, y) in enumerate(loader, 1):
        ((model(x) - y) ** 2).mean().backward()
        if number % update_every == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


def setUpModule():
    require_torch()


def body(code):
    """`code` of a test behind the prelude; indentation of the test is taken off."""
    import textwrap

    return PRELUDE + textwrap.dedent(code)


class TorchTest(AgentTest):
    def steps(self):
        self.assert_no_problem()
        return sorted(self.marks("step"), key=lambda step: step["number"])

    def test_steps_samples_phases_and_epochs_of_a_plain_loop(self):
        self.run_code(body("""
            for epoch in range(2):
                train(DataLoader(data, batch_size=16, shuffle=True))
            """))
        steps = self.steps()
        self.assertEqual([s["number"] for s in steps], list(range(6)))
        self.assertEqual([s["samples"] for s in steps], [16, 16, 8] * 2)
        for step in steps:
            parts = [step[p] for p in ("data_wait", "forward", "backward", "optimizer", "other")]
            self.assertGreater(min(parts[:4]), 0)
            self.assertEqual(sum(parts), step["end_ns"] - step["begin_ns"])
            self.assertIsNone(step["comm_exposed"])
            self.assertEqual(step["clock"], "host")
        self.assertEqual([(e["number"], e["samples"]) for e in self.marks("epoch")], [(0, 40), (1, 40)])

    def test_settings_are_reported_as_facts(self):
        self.run_code(body("""
            torch.set_num_threads(1)
            train(DataLoader(data, batch_size=16, num_workers=1, prefetch_factor=3, persistent_workers=True))
            """))
        self.assert_no_problem()
        facts = self.facts()
        expected = {
            "loader.workers": 1, "loader.batch_size": 16, "loader.prefetch_factor": 3, "loader.persistent_workers": 1,
            "loader.pin_memory": 0, "loader.batches": 3, "job.local_batch_size": 16, "job.optimizer": "SGD",
            "torch.num_threads": 1, "job.world_size": 1,
        }  # fmt: skip
        self.assertEqual({name: facts.get(name) for name in expected}, expected)
        self.assertRegex(facts["job.framework"], r"^PyTorch \d+\.\d+")
        self.assertGreater(facts["agent.cpu_s"], 0)
        self.assertEqual({r["how"] for r in self.marks("fact") if r["name"] == "agent.cpu_s"}, {"estimated"})
        self.assertNotIn("job.backend", facts)

    def test_waiting_for_slow_data_is_data_wait(self):
        self.run_code(body("""
            import time
            class Slow(torch.utils.data.Dataset):
                def __len__(self): return 4
                def __getitem__(self, i): time.sleep(0.03); return torch.randn(10), torch.randn(1)
            train(DataLoader(Slow(), batch_size=2))
            """))
        for step in self.steps():
            self.assertGreaterEqual(step["data_wait"], 60e6)

    def test_forked_loader_workers_are_silent(self):
        self.run_code(body("train(DataLoader(data, batch_size=10, num_workers=2))"))
        self.assertEqual(len(self.steps()), 4)
        self.assertEqual(len(self.marks("ring")), 1)

    def test_spawned_loader_workers_are_silent(self):
        self.run_code("""
            import torch
            from torch.utils.data import DataLoader, Dataset, TensorDataset

            class Busy(Dataset):
                "Trains in the worker: nothing a step of the job."
                def __len__(self): return 8
                def __getitem__(self, i):
                    model = torch.nn.Linear(2, 1)
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    model(torch.randn(3, 2)).sum().backward()
                    optimizer.step()
                    return torch.randn(2)

            if __name__ == "__main__":
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for x in DataLoader(Busy(), batch_size=4, num_workers=1, multiprocessing_context="spawn"):
                    model(x).sum().backward()
                    optimizer.step()
            """)
        self.assertEqual(len(self.steps()), 2)
        self.assertEqual(len(self.marks("ring")), 1)

    def test_a_forked_child_that_trains_is_silent(self):
        self.run_code(body("""
            import os
            train(DataLoader(data, batch_size=20))
            if os.fork() == 0:
                train(DataLoader(data, batch_size=1))
                os._exit(0)
            os.wait()
            """))
        self.assertEqual(len(self.steps()), 2)
        self.assertEqual(len(self.marks("ring")), 1)

    def test_accumulated_micro_steps_are_not_steps(self):
        self.run_code(body("train(DataLoader(data, batch_size=5), update_every=4)"))
        self.assertEqual([s["samples"] for s in self.steps()], [20, 20])

    def test_a_step_that_a_gradient_scaler_skips_is_not_a_step(self):
        # Debian's build has no CUDA, on which the scaler insists: this is its rule, with our own check for infinity.
        self.run_code(body("""
            class Scaler:
                def step(self, optimizer):
                    if all(torch.isfinite(p.grad).all() for p in model.parameters()):
                        optimizer.step()
            scaler = Scaler()
            for number, (x, y) in enumerate(DataLoader(data, batch_size=10)):
                loss = ((model(x) - y) ** 2).mean() * (float("inf") if number == 1 else 1)
                loss.backward()
                scaler.step(optimizer)
                optimizer.zero_grad()
            """))
        self.assertEqual([s["samples"] for s in self.steps()], [10, 20, 10])

    def test_the_real_gradient_scaler_where_it_runs_on_the_cpu(self):
        if torch_version() < (2, 3):
            self.skipTest("torch.amp.GradScaler for the CPU came with 2.3")
        self.run_code(body("""
            scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
            for number, (x, y) in enumerate(DataLoader(data, batch_size=10)):
                loss = ((model(x) - y) ** 2).mean() * (float("inf") if number == 1 else 1)
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            """))
        self.assertEqual([s["samples"] for s in self.steps()], [10, 20, 10])

    def test_two_optimisers_that_alternate_make_one_step_a_batch(self):
        self.run_code(body("""
            other = nn.Linear(10, 1)
            second = torch.optim.Adam(other.parameters())
            for x, y in DataLoader(data, batch_size=10):
                model(x).sum().backward(); optimizer.step()
                other(x).sum().backward(); second.step()
            """))
        self.assertEqual(len(self.steps()), 4)

    def test_optimisers_of_all_kinds_count(self):
        self.run_code(body("""
            class Mine(torch.optim.SGD):
                def step(self, closure=None):
                    return super().step(closure)
            class FromScratch(torch.optim.Optimizer):
                def __init__(self, params): super().__init__(params, {})
                def step(self): return "own result"
            for make in (lambda p: torch.optim.Adam(p), lambda p: torch.optim.AdamW(p), lambda p: Mine(p, lr=0.1),
                         lambda p: torch.optim.RMSprop(p)):
                optimizer = make(model.parameters())
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
                for x, y in DataLoader(data, batch_size=20):
                    model(x).sum().backward(); optimizer.step(); scheduler.step()
            own = FromScratch(model.parameters())
            for x, y in DataLoader(data, batch_size=40):
                model(x).sum().backward()
                assert own.step() == "own result"
            lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=3)
            def closure():
                lbfgs.zero_grad(); loss = (model(torch.ones(2, 10)) ** 2).sum(); loss.backward(); return loss
            for x, y in DataLoader(data, batch_size=40):
                assert lbfgs.step(closure) is not None
            """))
        self.assertEqual(len(self.steps()), 4 * 2 + 2)

    def test_evaluation_and_checkpoint_are_named_and_give_no_samples(self):
        path = os.path.join(self.folder, "checkpoint.pt")
        self.run_code(body("""
            train(DataLoader(data, batch_size=20))
            with torch.no_grad():
                for x, y in DataLoader(data, batch_size=5): model(x)
            torch.save(model.state_dict(), sys.argv[1])
            train(DataLoader(data, batch_size=20))
            """), path)  # fmt: skip
        steps = self.steps()
        self.assertEqual([s["samples"] for s in steps], [20] * 4)
        self.assertGreater(steps[2]["evaluation"], 0)
        self.assertGreater(steps[2]["checkpoint"], 0)
        self.assertIsNone(steps[1]["evaluation"])

    def test_numerics_checkpoints_and_pickles_are_those_of_a_plain_run(self):
        code = body("""
            import hashlib, io, pickle, copy
            optimizer = torch.optim.Adam(model.parameters())
            train(DataLoader(data, batch_size=16, shuffle=True))
            buffer = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
            again = torch.load(io.BytesIO(buffer.getvalue()))
            copied = pickle.loads(pickle.dumps(copy.deepcopy(optimizer)))
            copied.step()
            assert pickle.loads(pickle.dumps(torch.save)) is torch.save
            assert pickle.loads(pickle.dumps(torch.autograd.backward)) is torch.autograd.backward
            print(hashlib.sha256(buffer.getvalue()).hexdigest(), sorted(vars(model)), sorted(vars(optimizer)))
            """)
        self.assertEqual(self.run_code(code), self.run_code(code, GRADWATT_MARKS=None, PYTHONPATH=None))
        self.assert_no_problem()

    def test_models_optimisers_and_batches_are_not_kept_alive(self):
        self.run_code(body("""
            import gc, weakref
            kept = []
            def train_once():
                model = nn.Linear(10, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for x, y in DataLoader(data, batch_size=20):
                    model(x).sum().backward(); optimizer.step()
                    kept.append(weakref.ref(x))
                kept.extend(map(weakref.ref, (model, optimizer)))
            train_once()
            gc.collect()
            assert all(reference() is None for reference in kept), kept
            """))
        self.assertEqual(len(self.steps()), 2)

    def test_an_exception_of_the_program_is_unchanged(self):
        self.run_code(body("""
            class Broken(torch.utils.data.Dataset):
                def __len__(self): return 4
                def __getitem__(self, i): raise LookupError("no item %d" % i)
            try: train(DataLoader(Broken()))
            except LookupError as error: assert error.args == ("no item 0",)
            else: raise SystemExit(1)
            try: torch.ones(2).backward()
            except RuntimeError as error: pass
            train(DataLoader(data, batch_size=20))
            raise OverflowError("mine")
            """), status=1)  # fmt: skip
        self.assertIn("OverflowError: mine", self.errors)
        self.assertEqual(len(self.steps()), 2)

    def test_a_failing_hook_goes_quiet_and_says_why_and_training_goes_on(self):
        out = self.run_code(body("""
            import _gradwatt_agent.steps as steps
            train(DataLoader(data, batch_size=20))
            def broken(*arguments): raise KeyError("bug in the agent")
            steps.StepTracker.fetched = broken
            train(DataLoader(data, batch_size=20))
            print(model.weight.sum().item() != 0)
            """))
        self.assertEqual(out.strip(), "True")
        self.assertEqual(self.errors, "")
        self.assertRegex(self.facts()["agent.problem"], r"KeyError: 'bug in the agent' \(program.py:\d+\)")
        self.assertEqual(len(self.marks("step")), 2)

    def test_a_process_that_never_trains_opens_no_ring(self):
        self.run_code(body("""
            with torch.no_grad():
                for x, y in DataLoader(data, batch_size=10): model(x)
            """))
        self.assert_silent()

    def test_a_ring_folder_that_is_gone_changes_nothing(self):
        self.run_code(body("train(DataLoader(data, batch_size=10))"), GRADWATT_MARKS="/nonexistent/folder")
        self.assertEqual(self.errors, "")

    def test_the_exit_status_is_the_programs(self):
        self.run_code(body("train(DataLoader(data, batch_size=10)); sys.exit(5)"), status=5)
        self.assertEqual(len(self.steps()), 4)

    def killed_while_it_sleeps(self, code):
        """What a program printed before it was killed."""
        program = self.write("program.py", body(code))
        training = subprocess.Popen([python(), program], env=self.environment(), stdout=subprocess.PIPE, text=True)
        self.addCleanup(training.stdout.close)
        line = training.stdout.readline()
        training.send_signal(signal.SIGKILL)
        training.wait()
        return line

    def test_a_training_that_is_killed_soon_leaves_all_its_steps(self):
        self.killed_while_it_sleeps("""
            import time
            train(DataLoader(data, batch_size=10))
            print("trained", flush=True)
            time.sleep(60)
            """)
        self.assertEqual(len(self.steps()), 4)

    def test_a_training_that_is_killed_later_leaves_all_but_its_last_second(self):
        last_ns = int(self.killed_while_it_sleeps("""
            import time
            begin = time.monotonic()
            while time.monotonic() < begin + 2.5:
                train(DataLoader(data, batch_size=10))
                time.sleep(0.002)  # nobody empties the ring meanwhile: a fast machine would fill it
            last = time.monotonic_ns()
            print(last, flush=True)
            time.sleep(60)
            """))
        steps = self.steps()
        self.assertEqual([s["number"] for s in steps], list(range(len(steps))))
        longest = max(s["end_ns"] - s["begin_ns"] for s in steps)
        self.assertGreater(steps[-1]["end_ns"], last_ns - 1_000_000_000 - 2 * longest - 100_000_000)

    def test_batches_are_counted_where_the_program_stacks_them_itself(self):
        self.run_code(body("""
            def stack(items):  # drops every second one
                return torch.stack([x for x, y in items[::2]]), torch.stack([y for x, y in items[::2]])
            train(DataLoader(data, batch_size=10, collate_fn=stack))
            train(DataLoader(data, batch_sampler=[[1, 2, 3], [4], [5, 6], [7, 8, 9, 10], [11]]))
            train(DataLoader(data, batch_size=9))
            class Endless(torch.utils.data.Sampler):  # knows no length
                def __init__(self): pass
                def __iter__(self): return iter(range(7))
            train(DataLoader(data, batch_size=2, sampler=Endless()))
            """))
        self.assertEqual([s["samples"] for s in self.steps()], [5] * 4 + [3, 1, 2, 4, 1] + [9] * 4 + [4, 2, 2, 2, 1])

    def test_backward_passes_without_an_optimiser_do_not_fill_memory(self):
        self.run_code(body("""
            import gc
            for _ in range(3000): model(data.tensors[0]).sum().backward()
            journals = [o for o in gc.get_objects() if type(o).__name__ == "Journal"]
            assert len(journals[0].entries) < 1100, len(journals[0].entries)
            train(DataLoader(data, batch_size=10))
            """))
        self.assertEqual(len(self.steps()), 4)

    def test_the_programs_own_steps_and_regions_use_the_agents_ring(self):
        self.run_code(body("""
            import gradwatt
            for x, y in DataLoader(data, batch_size=10):
                for _ in range(3):  # three updates that the program counts as one step
                    model(x).sum().backward(); optimizer.step()
                gradwatt.step()
            with gradwatt.region("after"): pass
            """), PYTHONPATH=os.pathsep.join([str(SITE), str(PYTHON_FOLDER)]))  # fmt: skip
        self.assertEqual(len(self.marks("ring")), 1)
        # The agent counted the updates of the first batch before it could know better.
        self.assertEqual(len(self.steps()), 3 + 4)
        self.assertEqual([r["name"] for r in self.marks("region")], ["after"])

    def test_a_request_is_answered_with_a_trace(self):
        trace = os.path.join(self.folder, "trace")
        ask = [os.environ["GRADWATT_PRINT_MARKS"], self.marks_folder, "--ask", "3", trace]
        self.run_code(body("""
            import json, os, subprocess, time
            train(DataLoader(data, batch_size=10))
            assert subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout == "1\\n"
            train(DataLoader(data, batch_size=4))
            with open("%s-%d.json" % (sys.argv[5], os.getpid())) as file:
                trace = json.load(file)
            events = trace if isinstance(trace, list) else trace["traceEvents"]  # a build without kineto writes a list
            names = [event.get("name", "") for event in events]
            assert sum("Optimizer.step" in name for name in names) == 3, names
            """), *ask)  # fmt: skip
        self.assertEqual(len(self.steps()), 14)

    def test_a_request_that_cannot_be_met_does_not_stop_the_marks(self):
        ask = [os.environ["GRADWATT_PRINT_MARKS"], self.marks_folder, "--ask", "2", "/nonexistent/folder/trace"]
        self.run_code(body("""
            import subprocess
            train(DataLoader(data, batch_size=10))
            subprocess.run(sys.argv[1:], capture_output=True)
            train(DataLoader(data, batch_size=4))
            """), *ask)  # fmt: skip
        self.assertEqual(len(self.marks("step")), 14)
        self.assertIn("profile:", self.facts()["agent.problem"])

    def test_a_program_that_profiles_itself_is_not_disturbed(self):
        ask = [os.environ["GRADWATT_PRINT_MARKS"], self.marks_folder, "--ask", "2", os.path.join(self.folder, "t")]
        self.run_code(body("""
            import subprocess
            train(DataLoader(data, batch_size=10))
            with torch.profiler.profile(with_stack=True) as profile:
                subprocess.run(sys.argv[1:], capture_output=True)
                train(DataLoader(data, batch_size=4))
            assert any("Optimizer.step" in event.key for event in profile.key_averages())
            """), *ask)  # fmt: skip
        self.assertEqual(len(self.marks("step")), 14)
        self.assertIn("profiling itself", self.facts()["agent.problem"])

    def test_compiled_models_and_optimisers_compile_as_without_the_agent(self):
        if torch_version() < (2, 1):
            self.skipTest("torch.compile needs PyTorch 2")
        code = body("""
            import torch._dynamo as dynamo
            from torch._dynamo.testing import CompileCounter
            counter = CompileCounter()
            compiled = torch.compile(model, backend=counter, fullgraph=True)
            step = torch.compile(optimizer.step, backend=counter)
            for x, y in DataLoader(data, batch_size=10):
                ((compiled(x) - y) ** 2).mean().backward()
                step()
                optimizer.zero_grad()
            def whole(x):
                loss = model(x).sum(); loss.backward(); optimizer.step(); return loss
            whole = torch.compile(whole, backend=counter)
            for x, y in DataLoader(data, batch_size=10): whole(x)
            print(counter.frame_count, sum(dynamo.utils.counters["graph_break"].values()), model.weight.sum().item())
            """)
        with_agent = self.run_code(code).split()
        plain = self.run_code(code, GRADWATT_MARKS=None, PYTHONPATH=None).split()
        self.assertEqual(with_agent, plain)
        self.assertNotIn("agent.problem", self.facts())


if __name__ == "__main__":
    unittest.main()
