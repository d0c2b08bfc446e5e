#!/usr/bin/env python3
"""The rival of bench/train_speed.py: the same training as an ordinary PyTorch DDP script on gloo.

Started once a rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set. Rank 0 prints one JSON object: step times in
seconds and the time of the backward pass with and without communication.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class BasicBlock(nn.Module):
    """Two 3×3 convolutions beside a shortcut: identity, zero padding, or a 1×1 convolution."""

    def __init__(self, cin, cout, stride, project):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.stride, self.pad = stride, cout - cin
        self.downsample = None
        if project and (stride != 1 or cin != cout):
            self.downsample = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        if self.downsample is not None:
            x = self.downsample(x)
        elif self.stride != 1 or self.pad:
            x = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, self.pad // 2, self.pad - self.pad // 2))
        return F.relu(x + y, inplace=True)


class ResNet(nn.Module):
    def __init__(self, widths, blocks, project, channels, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, widths[0], 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        layers, cin = [], widths[0]
        for stage, width in enumerate(widths):
            for block in range(blocks):
                layers.append(BasicBlock(cin, width, 2 if stage and not block else 1, project))
                cin = width
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(cin, classes)

    def forward(self, x):
        x = self.layers(F.relu(self.bn1(self.conv1(x)), inplace=True))
        return self.fc(x.mean((2, 3)))


class Filter(nn.Module):
    """AFNO's filter as FourCastNet's reference has it: the kept columns stop at half of the rows."""

    def __init__(self, dim, blocks, sparsity=0.01):
        super().__init__()
        size = dim // blocks
        self.blocks, self.size, self.sparsity = blocks, size, sparsity
        self.w1 = nn.Parameter(0.02 * torch.randn(2, blocks, size, size))
        self.b1 = nn.Parameter(0.02 * torch.randn(2, blocks, size))
        self.w2 = nn.Parameter(0.02 * torch.randn(2, blocks, size, size))
        self.b2 = nn.Parameter(0.02 * torch.randn(2, blocks, size))

    def forward(self, x):
        batch, height, width, dim = x.shape
        z = torch.fft.rfft2(x, dim=(1, 2), norm="ortho").reshape(batch, height, width // 2 + 1, self.blocks, self.size)
        kept = height // 2 + 1
        real, imag = z.real[:, :, :kept], z.imag[:, :, :kept]
        mul = lambda a, w: torch.einsum("...bi,bio->...bo", a, w)
        r1 = F.relu(mul(real, self.w1[0]) - mul(imag, self.w1[1]) + self.b1[0])
        i1 = F.relu(mul(imag, self.w1[0]) + mul(real, self.w1[1]) + self.b1[1])
        r2 = mul(r1, self.w2[0]) - mul(i1, self.w2[1]) + self.b2[0]
        i2 = mul(i1, self.w2[0]) + mul(r1, self.w2[1]) + self.b2[1]
        out = torch.zeros_like(z)
        out[:, :, :kept] = torch.complex(F.softshrink(r2, self.sparsity), F.softshrink(i2, self.sparsity))
        out = out.reshape(batch, height, width // 2 + 1, dim)
        return torch.fft.irfft2(out, s=(height, width), dim=(1, 2), norm="ortho") + x


class AfnoBlock(nn.Module):
    def __init__(self, dim, blocks):
        super().__init__()
        self.norm1, self.filter, self.norm2 = nn.LayerNorm(dim, 1e-6), Filter(dim, blocks), nn.LayerNorm(dim, 1e-6)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        x = x + self.filter(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Afno(nn.Module):
    def __init__(self, height, width, patch, channels, dim, depth, blocks):
        super().__init__()
        self.rows, self.columns, self.patch, self.channels = height // patch, width // patch, patch, channels
        self.position = nn.Parameter(0.02 * torch.randn(1, self.rows, self.columns, dim))
        self.embed = nn.Conv2d(channels, dim, patch, patch)
        self.blocks = nn.Sequential(*[AfnoBlock(dim, blocks) for _ in range(depth)])
        self.head = nn.Linear(dim, channels * patch * patch, bias=False)

    def forward(self, x):
        x = self.blocks(self.embed(x).permute(0, 2, 3, 1) + self.position)
        x = self.head(x).reshape(-1, self.rows, self.columns, self.patch, self.patch, self.channels)
        return x.permute(0, 5, 1, 3, 2, 4).reshape(-1, self.channels, self.rows * self.patch, self.columns * self.patch)


def relative_l2(prediction, target):
    difference = (prediction - target).flatten(1).norm(dim=1)
    return (difference / target.flatten(1).norm(dim=1)).mean()


MODELS = {
    "resnet18": (lambda: ResNet([64, 128, 256, 512], 2, True, 3), (3, 32, 32), 10),
    "resnet8": (lambda: ResNet([16, 32, 64], 1, False, 3), (3, 32, 32), 10),
    "afno-tiny": (lambda: Afno(72, 144, 8, 2, 64, 4, 4), (2, 72, 144), 0),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, required=True, help="examples a rank")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--foreach", action="store_true", help="the optimizer's steps over all parameters at once")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(1)
    make, shape, classes = MODELS[options.model]
    model = make()
    x = torch.randn(options.batch, *shape)
    y = torch.randint(0, classes, (options.batch,)) if classes else torch.randn(options.batch, *shape)
    if options.channels_last:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    ddp = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4,
                                foreach=options.foreach)
    lossof = F.cross_entropy if classes else relative_l2

    def step(sync):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.precision == "bf16"):
            loss = lossof(ddp(x).float(), y)
        middle = time.perf_counter()
        loss.backward()
        end = time.perf_counter()
        optimizer.step()
        loss.item()
        return time.perf_counter() - begin, end - middle

    for _ in range(4):
        step(True)
    times, backward, silent = [], [], []
    for _ in range(options.steps):
        total, back = step(True)
        times.append(total)
        backward.append(back)
    with ddp.no_sync():
        for _ in range(max(3, options.steps // 3)):
            silent.append(step(False)[1])
    if rank == 0:
        print(json.dumps({"step_s": times, "backward_s": backward, "silent_backward_s": silent}))
    dist.barrier()
    del ddp, model, optimizer
    dist.destroy_process_group()


main()
