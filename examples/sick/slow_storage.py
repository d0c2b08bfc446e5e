"""Two workers read records from a storage that gives 200 a second. Verdict: data:slow-storage.

The throttled reader is a process that writes records into a pipe; the workers of a rank share it, as they would a disk.
"""
import os

from common import DataLoader, FEATURES, main, time, torch, train

RECORD_BYTES = 4096  # a page: a pipe hands pages over whole
RECORDS_PER_S = 200


def throttled_reader():
    """The end of a pipe from which records come, no faster than the storage gives them."""
    source, sink = os.pipe()
    if os.fork() == 0:
        os.close(source)
        record = os.urandom(RECORD_BYTES)
        next_s = time.monotonic()
        try:
            while True:
                next_s += 1 / RECORDS_PER_S
                time.sleep(max(0.0, next_s - time.monotonic()))
                os.write(sink, record)
        except BrokenPipeError:
            os._exit(0)
    os.close(sink)
    # A small pipe: nothing is read ahead beyond what the loader asks for.
    import fcntl
    fcntl.fcntl(source, 1031, RECORD_BYTES)  # F_SETPIPE_SZ
    return source


class StoredExamples(torch.utils.data.Dataset):
    def __init__(self, source):
        self.source = source

    def __len__(self):
        return 2048

    def __getitem__(self, index):
        record = os.read(self.source, RECORD_BYTES)
        values = torch.frombuffer(bytearray(record), dtype=torch.uint8)[:FEATURES].float() / 255
        return values, index % 10


def job():
    train(DataLoader(StoredExamples(throttled_reader()), batch_size=16, num_workers=2, persistent_workers=True))


main(job)
