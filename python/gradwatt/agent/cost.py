"""CPU time that the agent takes from the thread that trains: fact agent.cpu_s.

Reading a thread's CPU time is a system call and costs more than what a hook does, so it is not read at each step.
Measured are: the start of the agent, all work in batches, and the hooks of about two steps a second (of all steps where
they are few). The other hooks are taken to cost what the measured ones do in the mean: an estimate, and said as one.
The measuring itself is counted too. Not in it is what Python takes to call a wrapper at all.
"""
from time import thread_time_ns


class CostMeter:
    def __init__(self, clock=thread_time_ns):
        self.now = clock
        self._whole = 0  # all that was measured
        self._measured = self._measured_hooks = 0  # since the last batch
        self._all = self._all_hooks = 0
        self._sample = self._sample_hooks = 0  # of batches of which only a part was measured
        self._others = 0  # hooks that were not measured

    def since(self, begin):
        """All that was done since `begin` is the agent's."""
        self._whole += self.now() - begin

    def hook(self, begin, end):
        """One hook was measured: CPU times around what it did."""
        reading = self.now() - end
        self._measured += max(0, end - begin - reading)
        self._measured_hooks += 1
        self._whole += 3 * reading

    def batch(self, begin, hooks):
        """A batch of that many hooks was worked on since `begin`."""
        others = hooks - self._measured_hooks
        if others > 0:
            self._others += others
            self._sample += self._measured
            self._sample_hooks += self._measured_hooks
        self._all += self._measured
        self._all_hooks += self._measured_hooks
        self._whole += self._measured
        self._measured = self._measured_hooks = 0
        self.since(begin)

    def seconds(self):
        """None where nothing is known of the hooks that were not measured."""
        # The first steps were all measured, but their hooks cost more than later ones.
        known, hooks = (self._sample, self._sample_hooks) if self._sample_hooks else (self._all, self._all_hooks)
        if self._others and not hooks:
            return None
        return (self._whole + (self._others * known / hooks if self._others else 0)) * 1e-9
