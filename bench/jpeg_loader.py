"""How fast the trainer's loader brings JPEG images, as a ratio to PyTorch's DataLoader with equal workers and batch.

    /usr/bin/python3 bench/jpeg_loader.py [build/release/bin/jpeg_loader] [--workers 2] [--pairs 12] [--quality 92]

Both read the same folder of made images (500×375, seeded) with the same work: a random crop resized to 224×224,
mirroring, conversion and normalisation to float, collation into batches of 64. Epochs of the two alternate in one run,
workers stay alive between epochs on both sides. The interval is a t interval of the log ratios of the pairs.
Before that it compares the evaluation form of one image (resize 256, centre 224) with torchvision's.
"""
import argparse
import math
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import torch
import torchvision
from PIL import Image
from torchvision import transforms

NORMALIZE = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
# 97.5 % quantiles of Student's t by degrees of freedom.
T_QUANTILE = {9: 2.262, 10: 2.228, 11: 2.201, 14: 2.145, 15: 2.131, 19: 2.093}


def made_image(random, width=500, height=375):
    """Smooth shading, some edges and grain: about the file size of a photograph."""
    coarse = random.integers(0, 256, (8, 10, 3), dtype=numpy.uint8)
    image = numpy.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC)).astype(numpy.float32)
    for _ in range(40):
        x, y = random.integers(0, width - 40), random.integers(0, height - 40)
        w, h = random.integers(8, 120), random.integers(8, 120)
        image[y:y + h, x:x + w] = 0.5 * image[y:y + h, x:x + w] + 0.5 * random.integers(0, 256, 3)
    image += random.normal(0, 6, (height, width, 1))
    return Image.fromarray(image.clip(0, 255).astype(numpy.uint8))


def make_folder(root, images, quality):
    random = numpy.random.default_rng(1)
    size = 0
    for i in range(images):
        path = root / f"class{i % 8}" / f"{i:05}.jpg"
        path.parent.mkdir(exist_ok=True)
        made_image(random).save(path, quality=quality)
        size += path.stat().st_size
    return size / images


def compare_evaluation(program, root):
    raw = subprocess.run([program, root, "0", "1", "dump"], check=True, stdout=subprocess.PIPE).stdout
    ours = torch.frombuffer(bytearray(raw), dtype=torch.float32).reshape(3, 224, 224)
    form = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), NORMALIZE])
    theirs = torchvision.datasets.ImageFolder(root, form)[0][0]
    difference = (ours - theirs).abs() * 0.226 * 255
    print(f"evaluation form of one image, ours against torchvision's: mean difference {difference.mean():.3f}, "
          f"99 % below {difference.flatten().kthvalue(int(difference.numel() * 0.99)).values:.2f} of 255 grey levels")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/release/bin/jpeg_loader")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--quality", type=int, default=92)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        mean_size = make_folder(root, args.images, args.quality)
        print(f"{args.images} images of 500×375, {mean_size / 1024:.0f} KiB each, {args.workers} workers, "
              f"batch {args.batch}")
        compare_evaluation(args.program, folder)
        form = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                                   transforms.ToTensor(), NORMALIZE])
        theirs = torch.utils.data.DataLoader(torchvision.datasets.ImageFolder(folder, form), batch_size=args.batch,
                                             shuffle=True, drop_last=True, num_workers=args.workers,
                                             persistent_workers=args.workers > 0)
        ours = subprocess.Popen([args.program, folder, str(args.workers), str(args.batch)], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def our_epoch():
            ours.stdin.write("epoch\n")
            ours.stdin.flush()
            seconds, images = ours.stdout.readline().split()
            return float(seconds) / int(images)

        def their_epoch():
            begin, images = time.perf_counter(), 0
            for batch, _ in theirs:
                images += len(batch)
            return (time.perf_counter() - begin) / images

        our_epoch(), their_epoch()  # threads and processes start, the files come into memory
        pairs = []
        for i in range(args.pairs):
            first = (our_epoch, their_epoch) if i % 2 == 0 else (their_epoch, our_epoch)
            result = {epoch: epoch() for epoch in first}
            pairs.append((result[our_epoch], result[their_epoch]))
        ours.terminate()  # closing its input is not enough: PyTorch's workers hold a copy of the pipe
        ours.wait()
    logs = [math.log(b / a) for a, b in pairs]
    half = T_QUANTILE.get(len(logs) - 1, 2.3) * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.mean(logs)
    print(f"ours {1 / statistics.median(a for a, _ in pairs):.0f} images/s, "
          f"PyTorch {1 / statistics.median(b for _, b in pairs):.0f} images/s (medians)")
    print(f"ratio {math.exp(middle):.2f} (95 % interval {math.exp(middle - half):.2f} to {math.exp(middle + half):.2f}, "
          f"{len(pairs)} interleaved pairs)")


main()
