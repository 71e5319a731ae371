"""The planted faults: faults/*.toml. faults/README.md says what an entry holds."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.libraries.build import REPO
from runner.model import WrongUse

CATALOGUES = REPO / "faults"
NO_FAULT = "none"  # with the bookkeeping of faults/, and nothing wrong
KINDS = ("fail", "crash", "timeout", "advisory")
Axis = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fault:
    """One entry of faults/*.toml."""

    name: str
    note: str
    expect: tuple[str, ...]  # globs on case names, one of which has to catch it
    kind: tuple[str, ...]  # the statuses that count as catching it; "advisory": a finding that fails only a strict run
    np: int  # the fewest ranks
    axis: Axis = ()  # the wider tier is made over these values, where only few cases matter
    control: str = NO_FAULT  # what its cases run under to show that they pass without it

    def expects(self, case: str) -> bool:
        """Whether this case is one of those that may be expected to catch it."""
        return any(fnmatch.fnmatchcase(case, glob) for glob in self.expect)

    @property
    def strict(self) -> bool:
        """Whether it is hunted in strict runs, where a finding of level advisory fails its case."""
        return "advisory" in self.kind

    @property
    def statuses(self) -> tuple[str, ...]:
        """What a case says that caught it."""
        return ("fail", *self.kind) if self.strict else self.kind

    def about(self, test: str) -> bool:
        """Whether some case of this test might be expected to catch it."""
        return any(fnmatch.fnmatchcase(test, glob.partition("/")[0]) for glob in self.expect)


def entries_of(path: Path, kind: str, needed: Set[str], optional: Set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries `[[kind]]` of a catalogue, each with words for where it stands.

    Raises WrongUse for what cannot be read, and for entries with keys that are missing or unknown.
    """
    try:
        with path.open("rb") as file:
            entries = tomllib.load(file).get(kind, [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for number, entry in enumerate(entries, 1):
        where = f"{path}, {kind} {number} ({entry.get('name', 'without a name')})"
        if odd := sorted(needed ^ (set(entry) - optional)):
            keys = ", ".join(key for key in ("name", "note", "clause", "expect", "kind", "np") if key in needed)
            raise WrongUse(f"{where}: each entry has {keys}; look at {', '.join(odd)}")
        yield where, entry


def refuse_twice(folder: Path, names: Sequence[str]) -> None:
    """Raises WrongUse for names that several entries have."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise WrongUse(f"{folder}: {', '.join(twice)}: there twice")


def load(folder: Path = CATALOGUES) -> list[Fault]:
    """The faults of all catalogues of a folder. Raises WrongUse for what is missing, unknown or there twice."""
    faults = [fault for path in sorted(folder.glob("*.toml")) for fault in load_one(path)]
    refuse_twice(folder, [fault.name for fault in faults])
    return faults


def controls(folder: Path = CATALOGUES) -> set[str]:
    """What cases may run under to show that they pass without a fault, beside NO_FAULT. Raises WrongUse."""
    entries = (
        entry for path in folder.glob("*.toml") for entry in entries_of(path, "control", {"name", "note"}, set())
    )
    return {entry["name"] for _, entry in entries}


def load_one(path: Path) -> list[Fault]:
    """The faults of one catalogue. Raises WrongUse."""
    faults = []
    known = controls(path.parent)
    for where, entry in entries_of(path, "fault", {"name", "note", "expect", "kind", "np"}, {"axis", "control"}):
        if not entry["expect"] or not entry["kind"] or not set(entry["kind"]) <= set(KINDS):
            raise WrongUse(f"{where}: kind is a list of {', '.join(KINDS)}, and expect must not be empty")
        control = entry.get("control", NO_FAULT)
        if control not in {NO_FAULT, *known}:
            raise WrongUse(
                f"{where}: there is no [[control]] {control}; there are {', '.join(sorted(known)) or 'none'}"
            )
        axis = tuple(sorted(entry.get("axis", {}).items()))
        expect, kind = tuple(entry["expect"]), tuple(entry["kind"])
        faults.append(Fault(entry["name"], entry["note"], expect, kind, int(entry["np"]), axis, control))
    return faults
