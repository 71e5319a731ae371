"""assay bisect: which released version brought a defect, or mended it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.version import InvalidVersion, Version
from rich.console import Console

from runner.commands import known as reproducers
from runner.explaining.explained import Explained
from runner.explaining.trials import Bench
from runner.libraries import targets
from runner.model import CannotRun, Options, Verdict, WrongUse
from runner.options import nps_of, wishes_of
from runner.planning.plan import Selection, comma_list
from runner.request import Request

FAILS, PASSES, UNKNOWN = "fails", "passes", "cannot be tried"


@dataclass
class Answer:
    """What was tried, and where it changes."""

    order: list[str]  # SPECs, oldest first
    tried: dict[str, str] = field(default_factory=dict)  # SPEC → FAILS, PASSES, or why it cannot be tried
    change: tuple[str, str] | None = None  # the last that behaves as the oldest does, and the next

    def sentence(self) -> str:
        """In words."""
        said = [spec for spec in self.order if self.tried.get(spec) in (FAILS, PASSES)]
        if not said:
            return "no version could be tried"
        if self.change is None:
            word = "fails" if self.tried[said[0]] == FAILS else "passes"
            return f"{word} at both ends, {said[0]} and {said[-1]} ({len(said)} versions tried)"
        before, after = self.change
        if self.tried[after] == FAILS:
            return f"since {after}; {before} passes ({len(said)} versions tried)"
        return f"mended in {after}; {before} still fails ({len(said)} versions tried)"

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {"versions": self.order, "tried": self.tried, "change": self.change, "says": self.sentence()}


def bisect(order: Sequence[str], fails: Callable[[str], str]) -> Answer:
    """Find the change in `order` (oldest first): its ends first, then halves. `fails` says FAILS, PASSES or why not.

    One that cannot be tried is passed over for its neighbours. Of several changes one is found.
    """
    made = Answer(list(order))

    def nearest(places: Sequence[int]) -> int | None:
        for place in places:
            spec = order[place]
            if spec not in made.tried:
                made.tried[spec] = fails(spec)
            if made.tried[spec] in (FAILS, PASSES):
                return place
        return None

    low = nearest(range(len(order)))
    high = nearest(range(len(order) - 1, -1, -1))
    if low is None or high is None or made.tried[order[low]] == made.tried[order[high]]:
        return made
    while high - low > 1:
        middle = (low + high) // 2
        inside = sorted(range(low + 1, high), key=lambda place: abs(place - middle))
        found = nearest(inside)
        if found is None:
            break
        if made.tried[order[found]] == made.tried[order[low]]:
            low = found
        else:
            high = found
    made.change = order[low], order[high]
    return made


def versions(spec: str) -> list[str]:
    """`mpich@3.4.3..5.0.2` → the SPECs of what the registry has between them, oldest first. Raises WrongUse."""
    found = re.fullmatch(r"([a-z]+)@([^.,]\S*?)\.\.(\S+)", spec)
    if not found:
        raise WrongUse(f"--mpi {spec}: name a range such as mpich@4.0.2..5.0.2, or several libraries in order")
    family, first, last = found.groups()
    for version in (first, last):
        targets.check_spec(f"{family}@{version}")
    there = {Version(one): one for one in targets.versions(family) if _is_release(one)}
    low, high = Version(first), Version(last)
    if low >= high:
        raise WrongUse(f"--mpi {spec}: the older version comes first")
    between = [f"{family}@{there[one]}" for one in sorted(there) if low <= one <= high]
    if len(between) < 2:
        raise WrongUse(f"--mpi {spec}: the registry has {len(between)} versions between these")
    return between


def _is_release(version: str) -> bool:
    try:
        made = Version(version)
    except InvalidVersion:
        return False
    return not made.is_prerelease and not made.post


def by_program(path: Path) -> Callable[[str], str]:
    """Judges a library by what a stand-alone program says on it: no build of the suite is needed."""
    recipe = reproducers.recipe(path)

    def fails(spec: str) -> str:
        try:
            outcome = reproducers.try_on(targets.resolve(spec), recipe)
        except (CannotRun, WrongUse) as error:
            return f"{UNKNOWN}: {error}"
        if outcome.says == reproducers.OK:
            return PASSES
        shows = outcome.says in (reproducers.BUG, reproducers.CRASH, reproducers.HANG)
        return FAILS if shows else f"{UNKNOWN}: {outcome.says}: {outcome.text}"

    return fails


def by_case(case: str, np: int, request: Request, console: Console, folder: Path) -> Callable[[str], str]:
    """Judges a library by one case of the suite, which is built for it."""

    def fails(spec: str) -> str:
        try:
            bench = Bench(request, spec, console)
            if case not in bench.exists([case], np):
                return f"{UNKNOWN}: it has no such case with {np} ranks"
            verdicts: list[Verdict] = []
            options = replace(request.options, retries=0)
            place = folder / re.sub(r"\W+", "_", spec)
            bench.run([case], bench.target(np), place, verdicts.extend, options=options)
        except (CannotRun, WrongUse) as error:
            return f"{UNKNOWN}: {error}"
        status = verdicts[0].status if verdicts else "lost"
        return PASSES if status == "pass" else FAILS if status != "unsupported" else f"{UNKNOWN}: unsupported"

    return fails


def run(order: Sequence[str], fails: Callable[[str], str], console: Console) -> Answer:
    """Bisect with a line for each version that is tried."""

    def say(spec: str) -> str:
        says = fails(spec)
        console.print(f"assay: {spec}: {says}", markup=False, highlight=False, soft_wrap=True)
        return says

    return bisect(order, say)


def start(given: Mapping[str, Any], case: str | None, program: str | None, console: Console, as_json: bool) -> int:
    """The command: returns its exit code. Raises WrongUse."""
    if (case is None) == (program is None):
        raise WrongUse("assay bisect: name a --case or a --program")
    words = comma_list(given["mpi"])
    order = versions(words[0]) if len(words) == 1 else words
    for spec in order:
        targets.check_spec(spec)
    nps = nps_of(given["np"])
    if len(nps) > 1:
        raise WrongUse("assay bisect: name one --np")
    selection = Selection(seed=given["seed"], select=[case] if case else [])
    request = Request(order, nps, selection, Options(given["seed"]), preset=given["preset"], wishes=wishes_of(given))
    with TemporaryDirectory(prefix="assay-bisect-") as folder:
        judge = by_program(Path(program)) if program else by_case(str(case), nps[0], request, console, Path(folder))
        found = run(order, judge, console)
    print(json.dumps(found.record(), indent=1) if as_json else found.sentence())
    return 0 if found.change else 1


def since(made: Explained, bench: Bench, console: Console) -> str:
    """What --since of `assay explain` says: over all versions of the family that the registry has for this machine."""
    family = bench.library.family
    if "wheel" not in targets.known().get(family, {}):
        return f"{bench.library.spec} is in no registry; `assay bisect --mpi path:OLD,path:NEW` takes builds in order"
    there = sorted((one for one in targets.versions(family) if _is_release(one)), key=Version)
    order = [f"{family}@{one}" for one in there if Version(one) <= Version(bench.library.version)]
    if made.shown is not None and made.shown.works and made.shown.path is not None:
        return run(order, by_program(made.shown.path), console).sentence()
    with TemporaryDirectory(prefix="assay-bisect-") as folder:
        return run(
            order, by_case(made.found.case, made.found.np, bench.request, console, Path(folder)), console
        ).sentence()
