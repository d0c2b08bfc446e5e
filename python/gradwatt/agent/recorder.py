"""This process's side of the job's record: opens the ring when there is something to say, and knows when to be silent."""
import os
import sys


class Recorder:
    """No method raises. `active` is False for good after a failure, in forked children and in loader workers."""

    def __init__(self, folder=None):
        self.folder = folder or os.environ.get("GRADWATT_MARKS", "")
        self.active = bool(self.folder)
        self.on_manual_step = None  # called where the program calls gradwatt.step() itself
        self._ring = None
        self._facts = {}  # as last said, so that nothing is said twice
        self._early = []  # facts from before the first mark
        os.register_at_fork(after_in_child=self.silence)

    def silence(self):
        self.active = False
        self._ring = None

    def ring(self):
        """The open ring, or None where there is none to write to."""
        if self._ring is None and self.active:
            self._open()
        return self._ring

    def _open(self):
        try:
            worker = sys.modules.get("torch.utils.data._utils.worker")
            if worker is not None and worker.get_worker_info() is not None:
                self.silence()
                return
            from .ring import Ring

            self._ring = Ring(self.folder)
            early, self._early = self._early, []
            self.learn_ranks()
            for fact in early:
                self._ring.fact(*fact)
        except Exception:
            self.silence()  # no folder, no space: there is nobody to tell

    def learn_ranks(self):
        """Ranks that were given to the process group and not in the environment (torch.multiprocessing.spawn)."""
        distributed = sys.modules.get("torch.distributed")
        if self._ring is None or distributed is None or not distributed.is_available():
            return
        if distributed.is_initialized():
            local = os.environ.get("LOCAL_RANK", "")
            self._ring.set_ranks(
                distributed.get_rank(), int(local) if local.isdigit() else -1, distributed.get_world_size()
            )

    def fact(self, name, value, estimated=False):
        """Said once for each value. Before the first mark it is kept: a process that never trains opens no ring."""
        if not self.active or value is None or self._facts.get(name) == value:
            return
        self._facts[name] = value
        if self._ring is None:
            self._early.append((name, value, estimated))
        else:
            self._ring.fact(name, value, estimated)

    def problem(self, error):
        """Says why, once, and goes quiet."""
        try:
            if self.active:
                ring = self.ring()
                if ring is not None:
                    frame = error.__traceback__
                    while frame is not None and frame.tb_next is not None:
                        frame = frame.tb_next
                    where = "" if frame is None else " (%s:%d)" % (
                        os.path.basename(frame.tb_frame.f_code.co_filename),
                        frame.tb_lineno,
                    )
                    ring.fact("agent.problem", "%s: %s%s" % (type(error).__name__, error, where))
        except Exception:
            pass
        self.silence()
