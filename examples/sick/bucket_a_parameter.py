"""Each gradient is exchanged by itself: a bucket a parameter. Verdict: sync:small-buckets."""
from common import DataLoader, Examples, FEATURES, main, network, train


def job():
    train(DataLoader(Examples(), batch_size=32), network(FEATURES, 60), bucket_cap_mb=0.0001)


main(job)
