"""assay reproduce: experiments that others have published, and whether what they found shows here, too.

Entries are data: reproduce.toml says which program of bench/reproduce/ measures, and between which bounds its numbers
must lie for the shape to hold. Numbers are medians of rounds, ratios are made within a round.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from runner.commands.network import Network, Shape, Unsupported, network
from runner.libraries import build
from runner.model import CannotRun, WrongUse
from runner.planning.plan import must_be_one_of

ENTRIES = Path(__file__).with_name("reproduce.toml")
HOLDS, HOLDS_NOT, UNSUPPORTED = "holds", "does not hold", "unsupported"
CANNOT = 77  # exit code of a program: this machine cannot do it; its last words say why
LIMIT_SECONDS = 300  # for one round


@dataclass(frozen=True)
class Claim:
    """One number that is compared, and when it shows what was found."""

    text: str
    value: str
    theirs: float | None = None  # None: they say it without a number
    unit: str = "×"
    over: str = ""  # the value that it is divided by
    least: float | None = None
    most: float | None = None

    @property
    def criterion(self) -> str:
        """In words."""
        if self.least is None:
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if self.most is None else f"{self.least:g} to {self.most:g}"

    def ours(self, rounds: Sequence[Mapping[str, float]]) -> float:
        """What was measured. Raises CannotRun when a round lacks a number."""
        try:
            return statistics.median(
                each[self.value] / each[self.over] if self.over else each[self.value] for each in rounds
            )
        except KeyError as error:
            raise CannotRun(f"no number {error} was measured for: {self.text}") from None
        except ZeroDivisionError:
            raise CannotRun(f"{self.over} was measured as 0, for: {self.text}") from None

    def verdict(self, ours: float) -> str:
        """Whether it holds."""
        low, high = self.least is None or ours >= self.least, self.most is None or ours <= self.most
        return HOLDS if low and high else HOLDS_NOT


@dataclass(frozen=True)
class Entry:
    """One experiment."""

    name: str
    source: str
    about: str
    program: str
    claims: Sequence[Claim]
    arguments: Sequence[str] = ()
    network: Shape | None = None


def entries(path: Path = ENTRIES) -> list[Entry]:
    """All that there are. Raises ValueError for one that says nothing."""
    found = []
    for name, about in tomllib.loads(path.read_text()).items():
        claims = [Claim(**claim) for claim in about.pop("claim")]
        for claim in claims:
            if claim.least is None and claim.most is None:
                raise ValueError(f"{path}: {name}: {claim.text}: neither least nor most")
        shape = about.pop("network", None)
        found.append(Entry(name, claims=claims, network=Shape(**shape) if shape is not None else None, **about))
    return found


def chosen(names: Sequence[str], all_: Sequence[Entry]) -> list[Entry]:
    """Those whose names match one of the globs; all without any. Raises WrongUse for a glob that matches none."""
    for glob in names:
        if not any(fnmatchcase(one.name, glob) for one in all_):
            must_be_one_of("entry", glob, [one.name for one in all_])
            raise WrongUse(f"no entry matches {glob}")
    return [one for one in all_ if not names or any(fnmatchcase(one.name, glob) for glob in names)]


def run(wanted: Sequence[Entry], rounds: int, preset: str, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure; {"rounds", "entries": [{name, source, about, verdict, claims: […]} or {…, verdict, reason}]}."""
    folder = build.transports(preset, note=note)
    return {"rounds": rounds, "entries": [_reproduce(one, rounds, folder, note) for one in wanted]}


def judge(entry: Entry, rounds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """What the rounds say: {"verdict", "claims": [{text, unit, theirs, ours, criterion, verdict}], "values"}."""
    claims = []
    for claim in entry.claims:
        ours = claim.ours(rounds)
        claims.append(
            {
                "text": claim.text,
                "unit": claim.unit,
                "theirs": claim.theirs,
                "ours": ours,
                "criterion": claim.criterion,
                "verdict": claim.verdict(ours),
            }
        )
    good = all(claim["verdict"] == HOLDS for claim in claims)
    common = set(rounds[0]).intersection(*rounds)
    values = {name: statistics.median(each[name] for each in rounds) for name in rounds[0] if name in common}
    return {"verdict": HOLDS if good else HOLDS_NOT, "claims": claims, "values": values}


def _reproduce(entry: Entry, rounds: int, folder: Path, note: Callable[[str], None]) -> dict[str, Any]:
    about = {"name": entry.name, "source": entry.source, "about": entry.about}
    try:
        with network(entry.network) if entry.network else nullcontext() as place:
            measured = []
            for turn in range(1, rounds + 1):
                note(f"{entry.name}: round {turn} of {rounds}")
                measured.append(_measure(entry, folder, place))
    except Unsupported as error:
        return about | {"verdict": UNSUPPORTED, "reason": str(error)}
    return about | judge(entry, measured)


def _measure(entry: Entry, folder: Path, place: Network | None) -> dict[str, float]:
    """One round. Raises Unsupported, and CannotRun when the program fails."""
    command = [str(folder / entry.program), *entry.arguments]
    environment = {**os.environ, "FI_PROVIDER_PATH": str(folder), **(place.environment if place else {})}
    try:
        done = subprocess.run(
            place.inside(command) if place else command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{entry.name}: {entry.program} did not end within {LIMIT_SECONDS} s") from None
    words = (done.stderr.strip() or "it said nothing").splitlines()[-1]
    if done.returncode == CANNOT:
        raise Unsupported(words)
    if done.returncode != 0:
        raise CannotRun(f"{entry.name}: {entry.program} ended with {done.returncode}: {words}")
    try:
        return read_values(done.stdout)
    except ValueError:
        raise CannotRun(f"{entry.name}: {entry.program} printed no lines of a name and a number") from None


def read_values(text: str) -> dict[str, float]:
    """The lines of a program of bench/reproduce: a name and a number. Raises ValueError."""
    return {name: float(number) for name, number in (line.split() for line in text.splitlines())}
