"""How long the case that holds up a job has been at it."""

from __future__ import annotations

from collections.abc import Sequence

from runner.supervision.patience import Budget
from runner.supervision.procs import Rank, Sample


class Stall:
    """How much time the earliest unfinished case has taken: CPU time of its ranks, and time in which none worked or one
    was stopped.
    """

    def __init__(self) -> None:
        self.index = -1
        self._restart(0.0)

    def _restart(self, now: float) -> None:
        self.since = now
        self.idle = 0.0
        self.stopped = 0.0
        self.slow = False  # whether the case may have used its time well
        self.sampled = 0.0
        self.first: dict[int, float] = {}
        self.cpu: dict[int, float] = {}

    def look(self, now: float, index: int, ranks: Sequence[Rank], budget: Budget) -> str:
        """The time that the case `index` has taken, in words, once it is beyond its budget; otherwise ""."""
        if index != self.index:
            self.index = index
            self._restart(now)
        if now - self.since < budget.unseen or now - self.sampled < 0.1:
            return ""
        samples: dict[int, Sample] = {rank.pid: found for rank in ranks if (found := rank.look())}
        # Who was stopped himself, or sat in a machine that was, does not know what the ranks did meanwhile.
        elapsed = min(now - self.sampled, 1.0) if self.sampled else 0.0
        self.sampled = now
        burnt = max((found.cpu - self.cpu.get(pid, found.cpu) for pid, found in samples.items()), default=0.0)
        # A rank that is ready to run but does not get a core is not idle: the machine is busy.
        if not any(found.state == "R" for found in samples.values()):
            self.idle += max(0.0, elapsed - burnt)
        # By SIGSTOP, not by a debugger ("t"): it goes on only if somebody sends SIGCONT, and others may spin for it.
        stopped = any(found.state == "T" for found in samples.values())
        self.stopped = self.stopped + elapsed if stopped else 0.0
        for pid, found in samples.items():
            self.cpu[pid] = found.cpu
            self.first.setdefault(pid, found.cpu)
        used = max((found.cpu - self.first[pid] for pid, found in samples.items()), default=0.0)
        self.slow = self.idle < budget.idle and self.stopped < budget.cpu
        if self.stopped >= budget.cpu:
            return f"{self.stopped:.1f} s in which a rank was stopped"
        if self.idle >= budget.idle:
            return f"{self.idle:.1f} s in which no rank used the CPU"
        return f"{used:.1f} s of CPU time" if used >= budget.cpu else ""
