"""Trains a small convolutional network on Fashion-MNIST with DistributedDataParallel on CPUs.

    python3 -m torch.distributed.run --nproc_per_node 2 --redirects 1 --tee 1 --log_dir /tmp/logs \\
        examples/ddp_fashion_mnist.py --epochs 2

Ordinary training code: nothing in it knows that it may be measured. The images are the IDX files of Debian's
package dataset-fashion-mnist. (PyTorch 1.13 on Python 3.11 needs the three log options.)
"""
import argparse
import gzip
import os
import struct
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def read_idx(path):
    """An IDX file of unsigned bytes as a tensor."""
    with gzip.open(path, "rb") as file:
        dimensions = struct.unpack(">HBB", file.read(4))[2]
        shape = struct.unpack(">%dI" % dimensions, file.read(4 * dimensions))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(shape)


def load(folder, part, limit):
    images = read_idx(os.path.join(folder, part + "-images-idx3-ubyte.gz"))[:limit]
    labels = read_idx(os.path.join(folder, part + "-labels-idx1-ubyte.gz"))[:limit]
    pixels = images.float().unsqueeze(1) / 255.0
    return TensorDataset((pixels - 0.286) / 0.353, labels.long())  # mean and deviation of the training images


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def train_epoch(model, loader, optimizer):
    loss_function = nn.CrossEntropyLoss()
    model.train()
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / max(1, len(loader))


@torch.no_grad()
def accuracy(model, loader):
    """Over all ranks."""
    model.eval()
    counts = torch.zeros(2)
    for images, labels in loader:
        counts += torch.tensor([(model(images).argmax(1) == labels).sum(), len(labels)])
    if dist.is_initialized():
        dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the four IDX files")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64, help="samples a step and rank")
    parser.add_argument("--workers", type=int, default=0, help="data-loader processes a rank")
    parser.add_argument("--limit", type=int, default=None, help="use only so many training images")
    parser.add_argument("--learning-rate", type=float, default=0.05)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    distributed = "RANK" in os.environ
    if distributed:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = build_model()
    if distributed:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate, momentum=0.9)

    train_set = load(arguments.data, "train", arguments.limit)
    test_set = load(arguments.data, "t10k", arguments.limit)
    sampler = DistributedSampler(train_set) if distributed else None
    train_loader = DataLoader(
        train_set, arguments.batch_size, shuffle=sampler is None, sampler=sampler, num_workers=arguments.workers
    )
    test_sampler = DistributedSampler(test_set, shuffle=False) if distributed else None
    test_loader = DataLoader(test_set, 500, sampler=test_sampler)

    for epoch in range(arguments.epochs):
        begin = time.monotonic()
        if sampler is not None:
            sampler.set_epoch(epoch)
        loss = train_epoch(model, train_loader, optimizer)
        correct = accuracy(model, test_loader)
        if not distributed or dist.get_rank() == 0:
            seconds = time.monotonic() - begin
            print("epoch %d: loss %.3f, accuracy %.1f %%, %.1f s" % (epoch, loss, 100 * correct, seconds), flush=True)
    if distributed:
        # The model first: PyTorch 1.13 can deadlock when the last reference to the process group goes with the model.
        del model
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
