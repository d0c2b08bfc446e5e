"""The examples of rank 1 take long to come; rank 0 waits for it in each step.

Verdict: imbalance:straggler-rank, rank 1, because of data:loader-synchronous there.
"""
from common import DataLoader, Examples, dist, main, train


def job():
    train(DataLoader(Examples(wait_s=0.003 if dist.get_rank() == 1 else 0.0), batch_size=16, num_workers=0))


main(job)
