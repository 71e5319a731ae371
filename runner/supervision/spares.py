"""Jobs that are launched ahead of need, so that launches overlap where many are needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from runner.supervision.context import SparesContext
from runner.supervision.job import Job

_AHEAD = 1000  # cases: as many as may be run while a job is launched
_SPARE_RANKS = 12  # processes of all jobs that were launched ahead of need


class Spares:
    """Jobs that were launched ahead of need: each waits for its turn before its first case.

    A launch takes a second or so, most of it waiting for this and that; a case that ends its job after a moment would
    cost all of it. So where such cases come, the launches of what is to be run after them overlap.
    """

    def __init__(self, run: SparesContext) -> None:
        self._run = run
        self._waiting: deque[Job] = deque()
        self._todo: Sequence[str] = ()  # cases that are not settled; the running job began with the first of them
        self._seen = 0  # so many of them were looked at
        self._ends: deque[int] = deque()  # those among these that will end their job

    def expect(self, todo: Sequence[str]) -> None:
        """The job that is run next has the first of these cases, which are all that is left."""
        self._todo, self._seen = todo, 0
        self._ends.clear()

    def take(self, names: Sequence[str]) -> Job | None:
        """One that can run just these cases. What was launched for others in its place is ended."""
        while self._waiting:
            job = self._waiting.popleft()
            if job.begin_with(names) and job.lives():
                return job
            job.discard()
        return None

    def prepare(self, done: int) -> None:
        """Launch one more, if the running job, which has done so many cases, and those that wait will not be enough."""
        while self._seen < min(done + _AHEAD, len(self._todo)):
            if self._todo[self._seen] in self._run.ending or self._last_of_its_job(self._seen):
                self._ends.append(self._seen)
            self._seen += 1
        while self._ends and self._ends[0] < done:
            self._ends.popleft()
        most = min(self._run.patience.spares, _SPARE_RANKS // self._run.target.np)
        if len(self._waiting) >= min(most, len(self._ends)):
            return
        behind = self._ends[len(self._waiting)] + 1  # the case that it will begin with
        if behind < len(self._todo):
            kind, names = self._run.batch(self._todo, behind)
            self._waiting.append(Job(self._run, names, own=bool(kind[0])))

    def _last_of_its_job(self, index: int) -> bool:
        """Whether the case after it cannot share a launch with it."""
        kinds, behind = self._run.kinds, index + 1
        return behind < len(self._todo) and kinds[self._todo[behind]] != kinds[self._todo[index]]

    def discard(self) -> None:
        """End all that wait."""
        while self._waiting:
            self._waiting.popleft().discard()
