"""What a job and the spare jobs need of the run that they belong to. supervise.Run is that run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from runner.model import Options, Target, Verdict
from runner.supervision.journal import Journal
from runner.supervision.patience import Patience

Kind = tuple[str, bool, str, int]  # needs a job of its own (its name), threads; damages (by what); number of the plan


@dataclass(frozen=True, kw_only=True)
class CaseFacts:
    """What is known of cases before they run, and what is done with their verdicts. Each takes the name of a case."""

    requirements: Callable[[str], Sequence[str]] = lambda case: ()  # the ids for its line
    threaded: Callable[[str], bool] = lambda case: False  # needs MPI_THREAD_MULTIPLE, which the others shall not have
    alone: Callable[[str], bool] = lambda case: False  # needs a job of its own
    expected: Callable[[str], Collection[str]] = lambda case: ()  # statuses with which it is known to fail
    damage: Callable[[str], str] = lambda case: ""  # the defect by which it is known to damage its process, or ""
    enough: Callable[[Sequence[str]], Mapping[str, str]] = lambda cases: {}  # of those left: which to skip, and why
    repeat: Callable[[str], str] | None = None  # the command that repeats it
    amend: Callable[[Verdict], Verdict] | None = None  # may change a final verdict before it is written


@dataclass(frozen=True, kw_only=True)
class Task:
    """What supervise() is to do: run the cases of `plan` that the journal does not hold yet for this target.

    With `binary` (the hash that `--list=build` prints) the ranks must have that binary, and verdicts that a killed
    runner had not yet written are recovered from the logs of its last job. Each batch of verdicts is in the journal
    before `on_verdicts` gets it; what that raises ends the run.
    """

    target: Target
    plan: Sequence[str]
    out: Path
    journal: Journal
    options: Options = field(default_factory=Options)
    cases: CaseFacts = field(default_factory=CaseFacts)
    on_verdicts: Callable[[Sequence[Verdict]], None] = lambda verdicts: None
    on_note: Callable[[str], None] = lambda text: None
    binary: str = ""
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class JobRecord:
    """What became of one job."""

    directory: str  # below the output directory
    cases: int  # judged in it
    end: str  # complete, crash, timeout, refused, launcher died, ranks died, no start, finalize hung, finalize crash
    seconds: float
    hello: dict[str, Any] = field(default_factory=dict)  # of rank 0
    trouble: str = ""  # what went wrong that no case is charged for: "finalize crash after the last case (rank 0: …)"


class JobContext(Protocol):
    """The run, as a job sees it."""

    target: Target
    out: Path
    options: Options
    binary: str  # the hash that all ranks have to say, or ""
    patience: Patience
    attempt: int
    settled: set[str]  # cases that have a verdict of this attempt
    hung: int  # cases in a row that were thought to be slow and did not end
    records: list[JobRecord]  # each job adds its own at its end

    def suite_args(self) -> list[str]:
        """The options of the suite that do not differ between jobs."""

    def new_folder(self) -> Path:
        """Make the directory of the next job."""

    def expected(self, case: str, /) -> Collection[str]:
        """The statuses with which this case is known to fail."""

    def damaged_by(self, case: str, /) -> str:
        """The defect by which this case and those that share its launch may damage processes, or ""."""

    def verdict(self, case: str, status: str, seconds: float, extra: dict[str, Any]) -> Verdict:
        """A verdict with the fields that every line has."""

    def judge(self, verdicts: list[Verdict]) -> None:
        """Write verdicts."""

    def on_note(self, text: str, /) -> None:
        """Tell the user one line."""

    def prepare(self, done: int) -> None:
        """Launch what will be needed next; the running job has done so many cases."""


class SparesContext(JobContext, Protocol):
    """The run, as the spare jobs see it."""

    kinds: dict[str, Kind]
    ending: set[str]  # cases that are known to end their job, at least now and then

    def batch(self, todo: Sequence[str], begin: int) -> tuple[Kind, list[str]]:
        """The cases from `begin` on that may share a launch, and of which kind they are."""
