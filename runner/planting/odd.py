"""Oddities: what the standard allows and no library does (oddities/*.toml). The tests have to pass under each."""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports.evidence import write_file
from runner.libraries.build import REPO
from runner.model import FAILED, CannotRun, Verdict, WrongUse
from runner.planning import plan
from runner.planning.callgraph import procedures_of_tests
from runner.planting.catalogue import entries_of, refuse_twice
from runner.planting.results import Catch, catch_record, message_of, test_of
from runner.planting.session import Request, Session

CATALOGUES = REPO / "oddities"
TOGETHER = "all that go together"


@dataclass(frozen=True)
class Oddity:
    """One entry of oddities/*.toml."""

    name: str
    note: str
    clause: str  # of MPI-5.0, which allows it
    excludes: tuple[str, ...] = ()  # oddities that cannot be on at the same time
    alone: str = ""  # why it does not go together with the others


@dataclass
class Outcome:
    """What became of the cases under an oddity, or under several."""

    name: str
    note: str
    clause: str
    np: int
    tier: str
    cases: int = 0  # that were run
    passed: int = 0
    known: int = 0  # that failed as the known failures say
    unsupported: int = 0
    seconds: float = 0.0
    failed: list[Catch] = field(default_factory=list)
    not_tried: tuple[str, ...] = ()  # oddities of which no rank has called a procedure that they change

    @property
    def word(self) -> str:
        """Either "failed", "not tried" or "passed". Cases that pass where nothing was odd show nothing."""
        if self.failed:
            return "failed"
        return "passed" if self.passed > 0 and self.name not in self.not_tried else "not tried"


class OddSession(Session):
    """Runs under oddities."""

    LAYER = "assay_oddities"
    VARIABLE = "ASSAY_ODD"

    def __init__(self, request: Request, out: Path, note: Callable[[str], None]) -> None:
        self.file_of_tried = (out / "tried").absolute()
        env = {**request.wishes.env, "ASSAY_ODD_TRIED": str(self.file_of_tried)}
        super().__init__(replace(request, wishes=replace(request.wishes, env=env)), out, note)

    def take_tried(self) -> set[str]:
        """The oddities of which ranks have called a procedure that they change since this was last asked."""
        try:
            tried = set(self.file_of_tried.read_text().split())
        except FileNotFoundError:
            return set()
        self.file_of_tried.unlink()
        return tried

    def procedures(self) -> dict[str, set[str]]:
        """For each oddity the procedures that it changes, as the built library says. Raises CannotRun."""
        environment = {**os.environ, **self.suite.environment, "LD_PRELOAD": str(self.shim), "ASSAY_ODD_LIST": "1"}
        done = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True, check=False)
        of: dict[str, set[str]] = {}
        for line in done.stdout.splitlines():
            name, _, procedure = line.partition(" ")
            of.setdefault(name, set()).add(procedure)
        if not of:
            raise CannotRun(f"{self.shim} does not list what it does: {done.stderr.strip()[:300] or 'no output'}")
        return of


def load(folder: Path = CATALOGUES) -> list[Oddity]:
    """The oddities of all catalogues of a folder. Raises WrongUse for what is missing, unknown or there twice."""
    oddities = [one for path in sorted(folder.glob("*.toml")) for one in load_one(path)]
    names = [one.name for one in oddities]
    refuse_twice(folder, names)
    for one in oddities:
        if unknown := sorted(set(one.excludes) - set(names)):
            raise WrongUse(f"{folder}: {one.name} excludes {', '.join(unknown)}, which is not there")
    return oddities


def load_one(path: Path) -> list[Oddity]:
    """The oddities of one catalogue. Raises WrongUse."""
    oddities = []
    for where, entry in entries_of(path, "oddity", {"name", "note", "clause"}, {"excludes", "alone"}):
        if not entry["clause"][:1].isdigit():
            raise WrongUse(f"{where}: the clause begins with the number of a section of MPI-5.0")
        excludes = tuple(entry.get("excludes", ()))
        oddities.append(Oddity(entry["name"], entry["note"], entry["clause"], excludes, entry.get("alone", "")))
    return oddities


def together(oddities: Iterable[Oddity]) -> list[Oddity]:
    """Those that can be on at once: of several that exclude each other the first."""
    chosen: list[Oddity] = []
    for one in oddities:
        if one.alone or any(one.name in other.excludes or other.name in one.excludes for other in chosen):
            continue
        chosen.append(one)
    return chosen


def run(
    request: Request,
    only_together: bool,
    out: Path,
    note: Callable[[str], None],
    told: Callable[[Outcome], None],
) -> dict[str, Any]:
    """Run the tier under each oddity that matches, and then, if all do, the next tier under all that go together.

    Under one oddity the tests run that may call a procedure which it changes, and one case of each other test. With
    `only_together` only the second part is run, with the tier that was asked for.
    Returns what `out`/odd.json then holds: {"mpi", "np", "seconds", "ok", "oddities": [{name, note, clause, tier, word,
    cases, passed, known, unsupported, seconds, failed: [{case, status, message}], not_tried: [name]}]}. `ok`: nothing
    has failed, something has passed, and all were tried (but for a selection of suites, which need not call what an
    oddity changes).
    """
    begin = time.monotonic()
    all_of_them = load()
    oddities = [one for one in all_of_them if fnmatch.fnmatchcase(one.name, request.glob)]
    if not oddities:
        plan.must_be_one_of("oddity", request.glob, [one.name for one in all_of_them])
    plan.must_be_one_of("tier", request.tier, plan.TIERS)
    session = OddSession(request, out, note)
    cases = session.cases(request.tier, request.np)
    outcomes: list[Outcome] = []
    changed = session.procedures()
    for one in [one for one in oddities if one.name not in changed]:
        oddities.remove(one)
        note(f"{one.name} is not tried: {request.mpi} has nothing that it could change")
    if not only_together:
        called, _ = procedures_of_tests(session.binary, sorted({test_of(case) for case in cases}))
        note(f"{len(oddities)} oddities, {len(cases)} cases on {request.mpi}, np {request.np}")
        for one in oddities:
            some = concerned(cases, called, changed.get(one.name, set()))
            outcomes.append(Outcome(one.name, one.note, one.clause, request.np, request.tier))
            _run(session, outcomes[-1], one.name, some, told)
    chosen = together(oddities)
    if only_together or (request.glob == "*" and len(chosen) > 1):
        tier = request.tier if only_together else {"smoke": "quick"}.get(request.tier, request.tier)
        names = [one.name for one in chosen]
        clauses = "see oddities/*.toml"
        outcomes.append(Outcome(TOGETHER, f"{len(names)}: {', '.join(names)}.", clauses, request.np, tier))
        _run(session, outcomes[-1], ",".join(names), session.cases(tier, request.np), told)
    found = {
        "mpi": request.mpi,
        "np": request.np,
        "seconds": round(time.monotonic() - begin, 1),
        "ok": bool(outcomes)
        and all(one.passed > 0 and not one.failed and (request.suite or not one.not_tried) for one in outcomes),
        "oddities": [_record(one) for one in outcomes],
    }
    write_file(out / "odd.json", lambda file: file.write(json.dumps(found, indent=1) + "\n"))
    return found


def concerned(cases: Sequence[str], called: Mapping[str, set[str]], changed: set[str]) -> list[str]:
    """The cases of tests that may call a procedure which is changed, and the first case of each other test."""
    chosen, seen = [], set()
    for case in cases:
        test = test_of(case)
        if test not in seen or called.get(test, set()) & changed:
            chosen.append(case)
        seen.add(test)
    return chosen


def _run(
    session: OddSession, outcome: Outcome, names: str, cases: Sequence[str], told: Callable[[Outcome], None]
) -> None:
    begin = time.monotonic()
    target = session.target(outcome.np, names)

    def judge(verdict: Verdict) -> None:
        final = session.known.apply(verdict, target)
        outcome.cases += 1
        outcome.passed += verdict.status == "pass"
        outcome.unsupported += verdict.status == "unsupported"
        if final.status in FAILED:
            outcome.failed.append(Catch(verdict.case, verdict.status, message_of(verdict)))
        elif verdict.status in FAILED:
            outcome.known += 1

    if cases:
        session.run("together" if "," in names else names, target, cases, judge)
    tried = session.take_tried()
    outcome.not_tried = tuple(name for name in names.split(",") if name not in tried)
    outcome.seconds = time.monotonic() - begin
    told(outcome)


def _record(one: Outcome) -> dict[str, Any]:
    return {
        **{name: getattr(one, name) for name in ("name", "note", "clause", "tier", "word", "cases", "passed", "known")},
        "unsupported": one.unsupported,
        "seconds": round(one.seconds, 1),
        "failed": [catch_record(catch) for catch in one.failed],
        "not_tried": list(one.not_tried),
    }


def print_line(one: Outcome) -> str:
    """One outcome in one line."""
    counts = f"{one.cases} cases of tier {one.tier} in {one.seconds:.1f} s"
    if one.word == "failed":
        return f"{one.name:<28} {len(one.failed)} FAILED of {counts}: {one.failed[0].case}"
    if one.word == "not tried":
        why = "none passed" if one.name not in one.not_tried else "none has called what it changes"
        return f"{one.name:<28} NOT TRIED: of {counts} {why}"
    known = f", {one.known} known failures" if one.known else ""
    missing = f"; NOT TRIED: {', '.join(one.not_tried)}" if one.not_tried else ""
    return f"{one.name:<28} passed: {counts}{known}{missing}"


def print_report(found: Mapping[str, Any]) -> None:
    """What failed under which oddity, with the clause that allows it, and a last line."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for one in found["oddities"]:
        if not one["failed"]:
            continue
        console.print(Text(f"\n{one['name']}: {one['note']}\n  allowed by {one['clause']}"), soft_wrap=True)
        for catch in one["failed"]:
            console.print(Text(f"  {catch['status']} {catch['case']}: {catch['message']}"), soft_wrap=True)
    words = Counter(one["word"] for one in found["oddities"])
    counts = ", ".join(f"{words[word]} {word}" for word in ("passed", "failed", "not tried"))
    cases = sum(len(one["failed"]) for one in found["oddities"])
    console.print(f"{counts}; {cases} cases failed ({found['seconds']:.0f} s)")
