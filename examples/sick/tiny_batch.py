"""One example a step: no step holds enough work. Verdict: compute:tiny-work."""
from common import DataLoader, Examples, main, network, train


def job():
    train(DataLoader(Examples(), batch_size=1), network(128, 2))


main(job)
