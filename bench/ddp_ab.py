"""Does measuring slow a training? Inside one DDP job (the example's network, two gloo ranks on the CPU), agent and sampler
are switched on and off in alternating blocks of steps; neighbouring blocks are compared.

    OMP_NUM_THREADS=1 build/release/bin/gradwatt run --quiet --out DIR -- /usr/bin/python3 bench/ddp_ab.py [PAIRS]

Off: gradwatt itself is stopped (SIGSTOP: no sampler, no writer) and the agent says nothing. The order is on-off-off-on or
its mirror image, drawn for each two pairs, so that a drift of the machine cancels. A block is longer than the second in
which agent and sampler do their work; its first steps, in which both catch up, are not counted. Times are means of both
ranks.

Other work on the machine disturbs some pairs by far more than is to be measured. So what counts is the 20 % trimmed mean
over the pairs (the same on both sides; each pair holds all that agent and sampler do in a second) with Yuen's 95 %
interval; the plain mean stands beside it.
"""
import math
import os
import pathlib
import random
import signal
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
from ddp_fashion_mnist import build_model  # noqa: E402

BLOCK_STEPS = 110
CATCH_UP = 10
WARM_UP = 200
TRIM = 0.2


def gradwatt_pid():
    pid = os.getppid()
    while pid > 1:
        with open(f"/proc/{pid}/stat") as file:
            name, rest = file.read().rsplit(")", 1)
        if name.endswith("(gradwatt"):
            return pid
        pid = int(rest.split()[1])
    sys.exit("run this below `gradwatt run`")


def switch(on, rank, gradwatt):
    sys.modules["_gradwatt_agent"].current().active = on
    if rank == 0:
        os.kill(gradwatt, signal.SIGCONT if on else signal.SIGSTOP)


class Training:
    def __init__(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        images = TensorDataset(torch.randn(60000, 1, 28, 28), torch.randint(0, 10, (60000,)))
        self.model = DistributedDataParallel(build_model())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.loss_of = nn.CrossEntropyLoss()
        self.source = self.batches(images)

    @staticmethod
    def batches(images):
        while True:
            yield from DataLoader(images, batch_size=64, shuffle=True)

    def steps(self, n):
        """Wall and CPU seconds a step, means of both ranks."""
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(n):
            x, y = next(self.source)
            self.optimizer.zero_grad()
            loss = self.loss_of(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            loss.item()
        times = torch.tensor([time.perf_counter() - begin, time.process_time() - cpu], dtype=torch.float64) / n
        dist.all_reduce(times)
        return (times / dist.get_world_size()).tolist()


def orders(pairs):
    """Whether a pair begins with "on"."""
    draw = random.Random(7)
    for _ in range(0, pairs, 2):
        first = draw.random() < 0.5
        yield from (first, not first)


# Student's t, 97.5 %, by degrees of freedom; 1.96 in the limit (Cornish-Fisher expansion, exact to 0.2 % from 8 on).
def t_quantile(freedom):
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def trimmed(values):
    """20 % trimmed mean and half of Yuen's 95 % interval."""
    ordered, n = sorted(values), len(values)
    cut = int(TRIM * n)
    kept = ordered[cut : n - cut]
    winsorized = [min(max(value, kept[0]), kept[-1]) for value in ordered]
    error = statistics.stdev(winsorized) / ((1 - 2 * TRIM) * math.sqrt(n))
    return statistics.mean(kept), t_quantile(len(kept) - 1) * error


def report(pairs, step_s, change):
    print(f"{pairs} pairs of blocks of {BLOCK_STEPS} steps of {step_s * 1e3:.1f} ms; {CATCH_UP} before each not counted")
    for name, values in change.items():
        center, half = trimmed(values)
        mean = statistics.mean(values)
        wide = t_quantile(pairs - 1) * statistics.stdev(values) / math.sqrt(pairs)
        print(f"measuring changes the {name} by {center:+.2f} % (95 % interval {center - half:+.2f} to {center + half:+.2f}); "
              f"all pairs: mean {mean:+.2f} % ({mean - wide:+.2f} to {mean + wide:+.2f}), "
              f"median {statistics.median(values):+.2f} %")


def train(rank, pairs, port, gradwatt):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    training = Training()
    training.steps(WARM_UP)
    change = {"step time": [], "CPU time of a rank": []}
    for first_on in orders(pairs):
        times = {}
        for on in (first_on, not first_on):
            dist.barrier()
            switch(on, rank, gradwatt)
            training.steps(CATCH_UP)
            times[on] = training.steps(BLOCK_STEPS)
        for i, values in enumerate(change.values()):
            values.append(100 * math.log(times[True][i] / times[False][i]))
    dist.barrier()
    switch(True, rank, gradwatt)
    if rank == 0:
        report(len(change["step time"]), times[False][0], change)
    training.model = None  # first: PyTorch 1.13 can deadlock when the last reference to the group goes with the model
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    mp.spawn(train, args=(count, random.randint(20000, 40000), gradwatt_pid()), nprocs=2)
