"""Does measuring slow a training? Inside one DDP job (two gloo ranks on the CPU), agent and sampler are switched on and
off in alternating blocks of steps; pairs of neighbouring blocks are compared.

    OMP_NUM_THREADS=1 build/release/bin/gradwatt run --quiet --out DIR -- /usr/bin/python3 bench/ddp_ab.py [pairs]

Off: gradwatt itself is stopped (SIGSTOP: no sampler, no writer) and the agent says nothing. Prints the mean change of
the step time and of a rank's own CPU time (the agent's part), each with its 95 % interval.
"""
import os
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

BLOCK_STEPS = 60
WARM_UP = 40


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
    agent = sys.modules.get("_gradwatt_agent")
    if agent is not None and agent.current() is not None:
        agent.current().active = on
    if rank == 0:
        os.kill(gradwatt, signal.SIGCONT if on else signal.SIGSTOP)


def train(rank, pairs, port, gradwatt):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(64 * 4096, 64), torch.randint(0, 10, (64 * 4096,)))
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                                                  nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()

    def batches():
        while True:
            yield from DataLoader(data, batch_size=256)

    source = batches()

    def steps(n):
        """Wall and CPU seconds a step."""
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(n):
            x, y = next(source)
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
        return (time.perf_counter() - begin) / n, (time.process_time() - cpu) / n

    steps(WARM_UP)
    order = random.Random(7)
    change = {"step time": [], "CPU time of rank 0": []}
    for _ in range(pairs):
        first_on = order.random() < 0.5
        time_of = {}
        for on in (first_on, not first_on):
            dist.barrier()
            switch(on, rank, gradwatt)
            dist.barrier()
            time_of[on] = steps(BLOCK_STEPS)
        for i, name in enumerate(change):
            change[name].append(100 * (time_of[True][i] / time_of[False][i] - 1))
    switch(True, rank, gradwatt)
    if rank == 0:
        print(f"{pairs} pairs of {BLOCK_STEPS} steps of {time_of[False][0] * 1e3:.1f} ms")
        for name, values in change.items():
            mean = statistics.mean(values)
            half = 1.99 * statistics.stdev(values) / len(values) ** 0.5
            print(f"measuring changes the {name} by {mean:+.2f} % (95 % interval {mean - half:+.2f} to {mean + half:+.2f} %), "
                  f"median {statistics.median(values):+.2f} %")
    del model  # first: PyTorch 1.13 can deadlock when the last reference to the process group goes with the model
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    mp.spawn(train, args=(count, random.randint(20000, 40000), gradwatt_pid()), nprocs=2)
