"""Rank 0 writes a large checkpoint every 40 steps, and all wait for the disk. Verdict: io:synchronous-checkpoint."""
import os
import tempfile

from common import DataLoader, Examples, dist, main, torch, train

EVERY_STEPS = 40


def job():
    state = torch.zeros(24 * 2**20)  # 96 MiB beside the small network: optimiser state of a larger one
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "checkpoint.pt")

    class Synced:
        """A file whose bytes are on the disk when write() returns."""

        def __init__(self):
            self.file = open(path, "wb")

        def write(self, data):
            written = self.file.write(data)
            self.file.flush()
            os.fsync(self.file.fileno())
            return written

        def flush(self):
            self.file.flush()

    def save(step, model, optimizer):
        if step % EVERY_STEPS == 0 and dist.get_rank() == 0:
            target = Synced()
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, target)
            target.file.close()

    train(DataLoader(Examples(), batch_size=32), after_step=save)
    if os.path.exists(path):
        os.remove(path)
    os.rmdir(folder)


main(job)
