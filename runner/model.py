"""The words that the modules of the runner share. Formats: docs/formats.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

# Exit codes of `assay`; README.md has them, too.
ALL_AS_EXPECTED = 0
UNEXPECTED_RESULT = 1
WRONG_USE = 2
COULD_NOT_RUN = 3
NOTHING_APPLICABLE = 77
INTERRUPTED = 130  # ^C
BROKEN_PIPE = 141  # the reader of standard output has gone: assay list … | head
TERMINATED = 143  # SIGTERM

# Statuses of cases (docs/words.md).
STATUSES = ("pass", "fail", "crash", "timeout", "lost", "xfail", "xpass", "flaky", "skip", "unsupported")
WORST_FIRST = ("crash", "timeout", "fail", "lost", "xpass", "flaky", "xfail", "pass", "skip", "unsupported")
FAILED = ("fail", "crash", "timeout", "lost")  # before known failures are looked at
UNEXPECTED = frozenset({*FAILED, "xpass"})  # these fail the run
NOT_RUN = frozenset({"skip", "unsupported"})
ENDS = frozenset({"crash", "timeout", "lost"})  # these end their job: one more launch for each


def exit_code(statuses: Mapping[str, int]) -> int:
    """The exit code of a run with so many cases of each status."""
    if any(statuses.get(status) for status in UNEXPECTED):
        return UNEXPECTED_RESULT
    return ALL_AS_EXPECTED if statuses.keys() - NOT_RUN else NOTHING_APPLICABLE


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The numbers of several targets, added up by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


class WrongUse(Exception):
    """The user asked for something that cannot be: one sentence (what, where, what would be right). Exit code 2."""


class CannotRun(Exception):
    """No MPI, a launch that failed, a full disk: one sentence. Exit code 3."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends a run as ^C does, with another exit code."""


@dataclass(frozen=True)
class Launch:
    """A command that starts the ranks of one job."""

    argv: Sequence[str]
    env: Mapping[str, str]  # the whole environment of the launcher
    local: bool = False  # all ranks run on this machine: they get a folder of their own for temporary files


class Launcher(Protocol):
    """How a target starts `np` ranks; made by libraries.targets, called by supervision.job for each job."""

    def __call__(self, suite_args: Sequence[str]) -> Launch: ...


@dataclass(frozen=True)
class Target:
    """One MPI library × number of ranks (× transport)."""

    name: str  # mpich@5.0.2/np4
    mpi: str  # mpich@5.0.2
    np: int
    launcher: Launcher
    oversubscription: float = 1.0  # ranks per core, at least 1
    settings: Mapping[str, str] = field(default_factory=dict)  # what the runner set beyond the user's wish
    family: str = ""  # mpich, openmpi, impi
    version: str = ""  # 5.0.2
    transport: str = ""  # "" is the library's own choice
    threads: int = 1  # that run a case in each rank
    # What is wrong with the MPI library that a rank says it runs (its hello, docs/formats.md section 4), or "".
    wrong_library: Callable[[Mapping[str, Any]], str] = lambda hello: ""

    @property
    def slug(self) -> str:
        """The name as a directory."""
        return self.name.replace("/", "_").replace(":", "_")


@dataclass(frozen=True)
class Options:
    """What supervision needs to know."""

    seed: int = 1
    threads: int = 1
    repeat: int = 1
    retries: int = 0
    strict: bool = False
    timeout_scale: float = 1.0
    case_timeout: float | None = None  # seconds of CPU time of a rank after which a case has hung; None: the usual
    max_time: float | None = None  # seconds after which the run stops
    maxfail: int | None = None  # unexpected results after which it stops


@dataclass
class Verdict:
    """One judged case; `extra` holds the optional fields of a line of cases.jsonl."""

    case: str
    target: str
    status: str
    seconds: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
