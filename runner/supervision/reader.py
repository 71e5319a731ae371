"""The event logs of all ranks of one job, merged into verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.model import Verdict
from runner.supervision import judge
from runner.supervision.context import JobContext
from runner.supervision.events import RankLog


class Reader:
    """The logs of all ranks of one job, merged into verdicts."""

    def __init__(self, run: JobContext, directory: Path, names: Sequence[str]) -> None:
        self.run, self.names = run, names
        self.unusual: set[int] = set()
        self.slow: dict[int, str] = {}  # cases that were given more time, and what they had taken by then
        self.logs = [RankLog(directory, rank, len(names), self.unusual) for rank in range(run.target.np)]
        self.merge = judge.Merge(len(names), run.target.np)

    def batches(self) -> Iterator[list[Verdict]]:
        """Read what all logs gained, until nothing is left; verdicts of the cases that all ranks have ended."""
        more = True
        while more:
            verdicts = []
            more = False
            for log in self.logs:
                for index in self.merge.add(log.read()):
                    verdicts.append(self._verdict(index))
                more = more or log.more
            yield verdicts

    def _verdict(self, index: int) -> Verdict:
        seconds = self.merge.longest[index] * 1e-9
        extra: dict[str, Any] = {}
        if index in self.slow:
            self.run.hung = 0
            extra["reason"] = f"slow: it had not ended after {self.slow[index]}"
        if index not in self.unusual:
            return self.run.verdict(self.names[index], "pass", seconds, extra)
        status, extra = judge.finished(self.logs, index, self.run.options.strict)
        return self.run.verdict(self.names[index], status, seconds, extra)

    def greeted(self) -> bool:
        """Whether every rank said hello."""
        return all(log.hellos for log in self.logs)

    def disagreement(self, plan: str) -> str:
        """What differs between the hellos so far and from what they should be, as a sentence, or ""."""
        np = len(self.logs)
        for log in self.logs:
            for hello in log.hellos:
                if hello.get("size") != np:
                    said = f"rank {hello.get('rank')} finds itself in a job of {hello.get('size')} ranks, not {np}"
                    return f"{said}: the launcher and the MPI library do not belong together"
            if len(log.hellos) > 1:
                return f"{len(log.hellos)} processes are rank {log.rank}"
        hellos = [log.hellos[0] for log in self.logs if log.hellos]
        expected: dict[str, Any] = {"plan": plan, "seed": self.run.options.seed, "binary": self.run.binary}
        for name, value in expected.items():
            for log in self.logs:
                wanted = value if value != "" else hellos[0].get(name) if hellos else ""
                if log.hellos and log.hellos[0].get(name) != wanted:
                    whose = "the runner" if value != "" else f"rank {hellos[0].get('rank')}"
                    return f"the {name} of rank {log.rank} is {log.hellos[0].get(name)}, that of {whose} is {wanted}"
        return ""

    def wrong_library(self) -> str:
        """What is wrong with the MPI library that a rank runs, as a sentence, or ""."""
        told = (self.run.target.wrong_library(hello) for log in self.logs for hello in log.hellos)
        return next((wrong for wrong in told if wrong), "")

    def close(self) -> None:
        """Close the logs."""
        for log in self.logs:
            log.close()
