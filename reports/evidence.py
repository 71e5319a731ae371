"""Reads what a run left (docs/formats.md, section 6) in one pass: run.json and cases.jsonl.

Kept per case are its status, its seconds and where its newest line stands in the file. Everything else (messages,
stacks) is read again from there when a report asks for it, so memory does not grow with the size of the messages.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from runner.model import STATUSES, CannotRun, WrongUse

# Not allowed in XML 1.0 (section 2.2), and an escape sequence must not reach the reader's terminal.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Entry(NamedTuple):
    """What is kept of a case: `offset` is the byte in cases.jsonl where its newest line begins."""

    status: str
    seconds: float
    offset: int


class Case(NamedTuple):
    """A case name, taken apart: `p2p.ring/comm=world` → `p2p.ring`, {"comm": "world"}."""

    test: str
    axes: dict[str, str]


def parse_case(name: str) -> Case:
    """Take a case name apart. A part without `=` is no axis and is left out."""
    test, *parts = name.split("/")
    return Case(test, dict(part.split("=", 1) for part in parts if "=" in part))


def printable(text: object) -> str:
    """`text` with every character that a terminal or XML must not see spelled out, as in `\\x1b`."""
    text = str(text)
    if text.isprintable():  # nearly always, and much faster
        return text
    return _UNPRINTABLE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def value_order(value: str) -> tuple[int, float, str]:
    """Sort key of axis values: numbers by size, then words by alphabet."""
    return (0, float(value), "") if value.isdecimal() else (1, 0.0, value)


def objects(value: object) -> list[dict[str, Any]]:
    """The JSON objects of a list; nothing when it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Evidence:
    """The run that left its results in the directory `out`.

    `run` is run.json; `targets` are their names, first those of run.json in its order; `about[target]` is what run.json
    says of one; `cases[target][case]` is the newest entry of a case; `advisory[target]` names the cases with advisory
    findings; `warnings` are those of the run and of the reading. Names are printable (see `printable`). Raises WrongUse
    when the files are not those of a run, CannotRun when they cannot be read.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.run = read_run(out / "run.json")
        self.warnings = [str(text) for text in self.run.get("warnings") or ()]
        self.about = {printable(about.get("name")): about for about in objects(self.run.get("targets"))}
        self.cases: dict[str, dict[str, Entry]] = {name: {} for name in self.about}
        self.advisory: dict[str, set[str]] = {}
        self._file = out / "cases.jsonl"
        if self._file.exists():
            self._read_cases()
        if not self.run.get("finished"):
            self.warnings.append("the run has not finished: these are the cases judged so far")

    @property
    def targets(self) -> list[str]:
        return list(self.cases)

    @property
    def left_out(self) -> str:
        """What the profile of the run kept out of it, in one sentence; "" without a profile."""
        found = [about["left_out"] for about in self.about.values() if isinstance(about.get("left_out"), dict)]
        tests = max((one.get("tests", 0) for one in found), default=0)
        values = max((one.get("values", 0) for one in found), default=0)
        if not found or not (isinstance(tests, int) and isinstance(values, int)):
            return ""
        profile = printable(self.run.get("profile"))
        return f"profile {profile} leaves out {tests:,} tests, and {values:,} values of the axes of others"

    def counts(self, target: str | None = None) -> Counter[str]:
        """Cases by status, of one target or of all."""
        names = self.targets if target is None else [target]
        return Counter(entry.status for name in names for entry in self.cases[name].values())

    def reasons_of(self, target: str, status: str) -> Counter[str]:
        """The reasons of the cases of this status, with how many cases have each."""
        cases = [case for case, entry in self.cases.get(target, {}).items() if entry.status == status]
        return Counter(str(record.get("reason") or "no reason given") for record in self.details(target, cases))

    def details(self, target: str, cases: list[str]) -> Iterator[dict[str, Any]]:
        """The newest line of each of these cases, in this order."""
        if not cases:
            return
        with _open(self._file) as file:
            for case in cases:
                file.seek(self.cases[target][case].offset)
                line: dict[str, Any] = json.loads(file.readline())
                yield {**line, "target": target, "case": case}

    def _read_cases(self) -> None:
        statuses = {status: status for status in STATUSES}  # one shared string each
        offset = 0
        with _open(self._file) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.warnings.append(
                        f"{self._file}: the last line ({number}) is cut off and was left out; `assay resume` repeats it"
                    )
                    break
                try:
                    record = json.loads(line)
                    target, case, status = record["target"], record["case"], statuses[record["status"]]
                    seconds = float(record.get("seconds") or 0.0)
                    if not (isinstance(target, str) and isinstance(case, str)):
                        raise TypeError
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                    raise WrongUse(
                        f"{self._file}, line {number}: not a judged case; each line is a JSON object with case, target "
                        f"and status (one of {' '.join(STATUSES)})"
                    ) from None
                target, case = printable(target), sys.intern(printable(case))  # the targets share most names
                self.cases.setdefault(target, {})[case] = Entry(status, seconds, offset)
                cases_with_advice = self.advisory.setdefault(target, set())
                if record.get("advisory"):
                    cases_with_advice.add(case)
                else:
                    cases_with_advice.discard(case)
                offset += len(line)


def write_file(path: Path, write: Callable[[TextIOWrapper], object]) -> Path:
    """Let `write` write a text file that appears under its name only when it is complete. Raises CannotRun."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            write(file)
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise CannotRun(f"cannot write {path}: {error.strerror}; free some space or choose another --out") from error
    return path


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from error


def read_run(path: Path) -> dict[str, Any]:
    """run.json of a run. Raises WrongUse when it is none, CannotRun when it cannot be read."""
    if not path.exists():
        raise WrongUse(f"{path.parent} holds no run: there is no run.json; name the --out directory of an `assay run`")
    try:
        with _open(path) as file:
            run = json.load(file)
    except ValueError:
        raise WrongUse(f"{path} is not JSON; it is written by `assay run` and not meant to be edited") from None
    if not isinstance(run, dict) or run.get("format") != 1:
        found = run.get("format") if isinstance(run, dict) else None
        raise WrongUse(f"{path}: format is {found!r}; this version of assay reads format 1")
    return run
