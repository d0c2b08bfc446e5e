"""Each rank computes with 16 threads, whatever CPUs there are. Verdict: host:cpu-thread-oversubscription."""
from common import DataLoader, Examples, main, network, torch, train


def job():
    torch.set_num_threads(16)
    train(DataLoader(Examples(), batch_size=128), network(1024, 3))


main(job)
