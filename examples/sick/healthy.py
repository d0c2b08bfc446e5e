"""Nothing is wrong: examples are at hand, steps compute, ranks do like work. Verdict: control:healthy."""
from common import CLASSES, DataLoader, Examples, main, nn, train


def convolutions():
    """Much to compute with few parameters: the exchange of its gradients is small beside it."""
    return nn.Sequential(nn.Unflatten(1, (1, 16, 16)), nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(),
                         nn.AvgPool2d(4), nn.Flatten(), nn.Linear(512, CLASSES))


def job():
    train(DataLoader(Examples(), batch_size=64), convolutions())


main(job)
