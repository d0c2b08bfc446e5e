"""What the jobs of this folder share: a small network, made-up examples, a plain DistributedDataParallel loop on gloo.

Ordinary user code that knows nothing of gradwatt. Each job is healthy here and gets its illness in a file of its own.
"""
import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

FEATURES = 256
CLASSES = 10


class Examples(Dataset):
    """Made-up examples; `wait_s` stands for what fetching one costs without using the CPU."""

    def __init__(self, count=2048, wait_s=0.0):
        generator = torch.Generator().manual_seed(1)
        self.images = torch.randn(count, FEATURES, generator=generator)
        self.labels = torch.randint(CLASSES, (count,), generator=generator)
        self.wait_s = wait_s

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.wait_s:
            time.sleep(self.wait_s)
        return self.images[index], self.labels[index]


def network(width=768, depth=3):
    layers = [nn.Linear(FEATURES, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES))


def seconds_asked_for():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30, help="how long to train")
    return parser.parse_args().seconds


def train(loader, model=None, after_step=None, **ddp_options):
    """Trains until the time is over; the ranks agree on the end, so that none waits for another."""
    seconds = seconds_asked_for()
    torch.manual_seed(0)
    model = DistributedDataParallel(model or network(), **ddp_options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin, steps, over = time.monotonic(), 0, torch.zeros(1)
    while not over:
        for images, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            steps += 1
            if after_step:
                after_step(steps, model, optimizer)
            if steps % 16 == 0:
                over[0] = time.monotonic() - begin > seconds
                dist.broadcast(over, 0)
                if over:
                    break
    if dist.get_rank() == 0:
        print(f"{steps} steps in {time.monotonic() - begin:.1f} s")
    del model  # PyTorch 1.13 can hang where the process group goes first


def main(job):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    job()
    dist.destroy_process_group()


__all__ = ["CLASSES", "DataLoader", "Examples", "FEATURES", "dist", "main", "network", "nn", "time", "torch", "train"]
