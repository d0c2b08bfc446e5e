"""The training thread fetches each batch itself. Verdict: data:loader-synchronous."""
from common import DataLoader, Examples, main, train


def job():
    train(DataLoader(Examples(wait_s=0.003), batch_size=16, num_workers=0))


main(job)
