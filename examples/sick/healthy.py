"""Nothing is wrong: examples are at hand, steps compute, ranks do like work. Verdict: control:healthy."""
from common import DataLoader, Examples, main, network, train


def job():
    train(DataLoader(Examples(), batch_size=256), network(1024, 4))


main(job)
