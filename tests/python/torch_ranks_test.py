"""The agent in data-parallel jobs: torch.distributed.run, torch.multiprocessing.spawn, forked ranks, no_sync."""
import os
import socket
import unittest

from support import SOURCE, AgentTest, python, require_torch

EXAMPLE = str(SOURCE / "examples" / "ddp_fashion_mnist.py")
IMAGES = "/usr/share/datasets/fashion-mnist"

RANK = """
import os, sys, torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

def work(rank, world, folder, accumulate=1):
    dist.init_process_group("gloo", init_method="file://" + folder + "/rendezvous", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(10, 1), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(48, 10), torch.randn(48, 1))
    for number, (x, y) in enumerate(DataLoader(data, batch_size=8), 1):
        if number % accumulate:
            with model.no_sync():
                model(x).sum().backward()
            continue
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    del model  # first: PyTorch 1.13 can deadlock when the last reference to the process group goes with the model
    dist.destroy_process_group()
"""


def setUpModule():
    require_torch()


def launcher(folder, processes):
    # Python 3.11 with PyTorch 1.13 needs the three log options; newer ones accept them.
    return ["-m", "torch.distributed.run", "--nproc_per_node", str(processes), "--redirects", "1", "--tee", "1",
            "--log_dir", os.path.join(folder, "logs"), "--master_port", str(free_port())]  # fmt: skip


def free_port():
    """A rank of an earlier test may still hold that test's port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RanksTest(AgentTest):
    def check_ranks(self, steps, samples):
        self.assert_no_problem()
        rings = sorted(self.marks("ring"), key=lambda ring: ring["rank"])
        self.assertEqual([(r["rank"], r["world_size"]) for r in rings], [(0, 2), (1, 2)])
        for rank in (0, 1):
            marks = self.marks("step", rank)
            self.assertEqual([m["number"] for m in marks], list(range(steps)))
            self.assertEqual(sum(m["samples"] for m in marks), samples)
            facts = self.facts("rank %d" % rank)
            self.assertEqual(facts["job.backend"], "gloo")
            self.assertGreater(facts["ddp.parameters"], 0)
        self.assertEqual(self.facts("job")["job.world_size"], 2)

    def test_two_ranks_of_the_example_under_torch_distributed_run(self):
        if not os.path.isdir(IMAGES):
            self.skipTest("the images are not here; install dataset-fashion-mnist")
        program = [*launcher(self.folder, 2), EXAMPLE, "--epochs", "1", "--limit", "640", "--batch-size", "32"]
        out = self.run_python(*program)
        self.assertIn("epoch 0: loss", out)
        self.check_ranks(steps=10, samples=320)
        facts = self.facts("rank 1")
        self.assertEqual(facts["ddp.bucket_cap_bytes"], 25 * 2**20)
        self.assertEqual(facts["ddp.find_unused_parameters"], 0)
        self.assertEqual(facts["ddp.static_graph"], 0)
        self.assertEqual(facts["ddp.parameter_bytes"], 4 * facts["ddp.parameters"])
        self.assertEqual(facts["loader.batches"], 10)
        self.assertGreater(facts["ddp.comm_s"], 0)
        self.assertEqual([e["samples"] for e in self.marks("epoch", 0)], [320])

    def test_ranks_that_are_spawned_are_measured(self):
        self.run_code(
            RANK + "if __name__ == '__main__': mp.spawn(work, args=(2, sys.argv[1]), nprocs=2)", self.folder
        )
        self.check_ranks(steps=6, samples=48)
        self.assertEqual(self.facts("rank 0")["ddp.bucket_cap_bytes"], 2**20)

    def test_ranks_that_are_forked_are_silent(self):
        self.run_code(
            RANK + "if __name__ == '__main__':\n"
            "    mp.start_processes(work, args=(2, sys.argv[1]), nprocs=2, start_method='fork')",
            self.folder,
        )
        self.assert_silent()

    def test_micro_steps_without_synchronisation_are_not_steps(self):
        self.run_code(
            RANK + "if __name__ == '__main__': mp.spawn(work, args=(2, sys.argv[1], 3), nprocs=2)", self.folder
        )
        self.check_ranks(steps=2, samples=48)

    def test_the_exit_status_of_a_failing_rank_is_the_launchers(self):
        program = self.write("rank.py", "import os, torch, sys\nsys.exit(3 if os.environ['RANK'] == '1' else 0)\n")
        self.run_python(*launcher(self.folder, 2), program, status=1)
        self.assert_silent()

    def test_the_example_runs_without_a_launcher_and_without_gradwatt(self):
        if not os.path.isdir(IMAGES):
            self.skipTest("the images are not here; install dataset-fashion-mnist")
        out = self.run_python(EXAMPLE, "--epochs", "1", "--limit", "128", GRADWATT_MARKS=None, PYTHONPATH=None)
        self.assertIn("epoch 0: loss", out)


if __name__ == "__main__":
    unittest.main()
