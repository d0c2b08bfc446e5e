"""Phase times on a CUDA device: events recorded on the current stream, read steps later, never waited for."""


class DeviceClock:
    """`cuda` is torch.cuda or something that looks like it. Off until enable(): a CPU job never touches CUDA."""

    def __init__(self, cuda):
        self._cuda = cuda
        self.on = False  # else now() need not be called

    def enable(self, on):
        self.on = on and self._cuda.is_initialized()

    def enable_for(self, tensors):
        """`tensors`: of the backward pass that begins, one or several."""
        if isinstance(tensors, (tuple, list)) and tensors:
            tensors = tensors[0]
        self.enable(bool(getattr(tensors, "is_cuda", False)))

    def usable(self):
        # A query or a record of a timing event inside a graph capture would break the capture.
        return self.on and not self._cuda.is_current_stream_capturing()

    def now(self):
        """An event at this point of the current stream, or None."""
        if not self.usable():
            return None
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def times_ns(events):
        """{phase: ns} from {phase: [(begin, end)]} of events that are done; {} where they cannot be compared."""
        try:
            return {
                phase: int(sum(begin.elapsed_time(end) for begin, end in pairs) * 1e6)
                for phase, pairs in events.items()
            }
        except RuntimeError:  # of two devices
            return {}
