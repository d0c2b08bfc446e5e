"""One worker, whose examples take long to come; CPUs are free for more. Verdict: data:too-few-workers."""
from common import DataLoader, Examples, main, train


def job():
    train(DataLoader(Examples(wait_s=0.005), batch_size=16, num_workers=1, persistent_workers=True))


main(job)
