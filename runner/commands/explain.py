"""assay explain: for each suspected defect of a run the smallest case, a C program, versions, a report."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from reports.evidence import Evidence, parse_case, printable, write_file
from reports.signature import Signature, signatures
from runner.commands.bisect import since
from runner.commands.known import installed
from runner.explaining import showing, smallest, suspects, trials
from runner.explaining.explained import Explained
from runner.explaining.order import Order
from runner.explaining.report import write_report
from runner.explaining.trials import Bench
from runner.libraries import build, targets
from runner.libraries.launching import LaunchWishes
from runner.model import CannotRun, WrongUse
from runner.request import Request, repeat_command, request_of_run

MOST_DEFECTS = 100
NPS = (1, 2, 3, 4)
OTHERS = 20  # cases of a test of which one is looked for that passes on another library


@dataclass(frozen=True)
class Wish:
    """What is to be explained, and how far."""

    defect: int | None = None
    case: str | None = None
    program: bool = False
    since: bool = False
    report: bool = False
    with_known: bool = False
    against: Sequence[str] = ()  # libraries that may say what is right; none: those that are installed


def explain(directory: Path, wish: Wish, console: Console) -> list[Explained]:
    """Explain the suspected defects of the run in `directory`; what was found is written to its folder `explained`."""
    evidence = Evidence(directory)
    request = request_of_run(directory, evidence.run)
    if wish.case is not None:
        one = suspects.suspect_of(evidence, wish.case)
        if one is None:
            raise WrongUse(f"--case {wish.case}: no case of {directory} that failed")
        wanted = [one]
    else:
        there = suspects.suspects(evidence, wish.with_known)
        if wish.defect is not None and wish.defect not in {one.number for one in there}:
            raise WrongUse(f"--defect {wish.defect}: {directory} has {len(there)} suspected defects")
        wanted = [one for one in there if wish.defect in (None, one.number)][:MOST_DEFECTS]
    if not wanted:
        console.print(f"assay: nothing failed in {directory} that is not explained; --with-known takes that, too")
        return []
    folder = directory / "explained"
    explainer = Explainer(request, evidence, wish, folder, console)
    done = []
    for suspect in wanted:
        try:
            done.append(explainer.one(suspect))
        except CannotRun as error:
            if len(wanted) == 1:
                raise
            console.print(f"assay: {suspect.number}. {suspect.signature}: {error}", markup=False, soft_wrap=True)
    return done


class Explainer:
    """Explains the defects of one run."""

    def __init__(self, request: Request, evidence: Evidence, wish: Wish, folder: Path, console: Console) -> None:
        self.request, self.evidence, self.wish, self.folder, self.console = request, evidence, wish, folder, console
        self.benches: dict[str, Bench] = {}

    def bench(self, mpi: str, request: Request | None = None) -> Bench:
        """The library under test, or one to compare with; each is built for once."""
        key = f"{mpi} {'' if request is None else 'plain'}"
        if key not in self.benches:
            self.benches[key] = Bench(request or self.request, mpi, self.console, [showing.LAYER])
        return self.benches[key]

    def one(self, suspect: suspects.Suspect) -> Explained:
        """Everything that is wished of one defect."""
        begin = time.monotonic()
        bench = self.bench(str(self.evidence.about[suspect.target]["mpi"]))
        tests = bench.tests(max(np for _, np in suspect.cases))
        orders = {
            test: Order({axis["axis"]: axis["values"] for axis in about["axes"]}) for test, about in tests.items()
        }

        def complexity(case: str) -> Any:
            test = parse_case(case).test
            return bool(showing.out_of_reach(tests.get(test, {}))), orders.get(test, Order({})).complexity(case)

        name = f"{suspect.number:03}" if suspect.number else "case"
        own = self._own_folder(f"{name}-{_slug(str(suspect.signature))}")
        made = self._explained(suspect, suspects.starts(suspect, complexity), orders, own)
        if made.shown is not None and not made.shown.works:
            made = self._with_another(
                suspect, made, sorted(suspect.cases, key=lambda one: complexity(one[0])), orders, own
            )
        if made.shown is not None and made.shown.headline:
            made.title = f"{_library_name(bench)}: {made.shown.headline}"
        made.seconds = time.monotonic() - begin
        if self.wish.since:
            made.since = since(made, bench, self.console)
        if self.wish.report:
            write_report(made, bench, self.evidence, own)
        write_file(own / "explained.json", lambda file: file.write(json.dumps(made.record(), indent=1) + "\n"))
        self._say(made)
        return made

    def _with_another(
        self,
        suspect: suspects.Suspect,
        made: Explained,
        cases: Sequence[tuple[str, int]],
        orders: Mapping[str, Order],
        own: Path,
    ) -> Explained:
        """What `made` becomes when the case also has to pass on a library at hand; cases of other tests come first."""
        bench = self.bench(str(self.evidence.about[suspect.target]["mpi"]))
        np = cases[0][1]
        tests = bench.tests(np)
        first = parse_case(made.found.case).test
        wanted = [case for case, ranks in cases if ranks == np]
        wanted = [case for case in wanted if not showing.out_of_reach(tests.get(parse_case(case).test, {}))]
        wanted = _some_of_each([case for case in wanted if parse_case(case).test != first], OTHERS)
        wanted += [case for case, ranks in cases if ranks == np and parse_case(case).test == first][:OTHERS]
        for k, make in enumerate(self._others(bench)[0]):
            try:
                other = make()
            except (CannotRun, WrongUse):
                continue
            folder = own / f"other-{k + 1}"
            right = trials.passing(other, wanted, np, folder / "passing")
            starts = [(case, np) for case in wanted if case in right][:3]
            if starts:
                again = self._explained(suspect, starts, orders, folder, other)
                if again.shown is not None and again.shown.works:
                    return again
        return made

    def _explained(
        self,
        suspect: suspects.Suspect,
        starts: Sequence[tuple[str, int]],
        orders: Mapping[str, Order],
        own: Path,
        other: Bench | None = None,
    ) -> Explained:
        """The smallest case near one of these, which passes on the `other` library if there is one; and its program."""
        begin = time.monotonic()
        bench = self.bench(str(self.evidence.about[suspect.target]["mpi"]))
        (own / "runs").mkdir(parents=True, exist_ok=True)
        here = trials.RealTrials(bench, suspect.signature, own / "runs")
        both = here if other is None else trials.PassingElsewhere(here, other, own / "passing")
        found = smallest.search(starts, orders, both, sorted({*NPS, *(np for _, np in suspect.cases)}))
        found.cases_run, found.launches, found.seconds = here.cases, here.launches, time.monotonic() - begin
        record = here.records.get((found.case, found.np)) or suspect.sample
        seen = next((one for one in _signatures(record, suspect)), suspect.signature)
        plain = replace(self.request, known=(), no_known=False)  # what is known has nothing to do with it
        command = repeat_command(plain, bench.target(found.np), found.case)
        made = Explained(suspect, found, smallest.sentence(found, orders), command)
        made.message = seen.message or str(record.get("reason") or "")
        made.title = f"{_library_name(bench)}: {_first_line(made.message) or str(seen)}"
        if self.wish.program and found.failures:
            file = f"{bench.library.family}_{_slug(parse_case(found.case).test)}_{_slug(str(seen))}"
            made.shown = showing.show(
                bench,
                *self._others(bench),
                found.case,
                found.np,
                seen,
                made.message,
                own,
                file,
                command,
                _library_name(bench),
            )
        return made

    def _own_folder(self, name: str) -> Path:
        """A new folder; one of an earlier explanation is kept beside it."""
        for number in range(1, 1000):
            path = self.folder / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise CannotRun(f"{path}: cannot be written: {error.strerror}") from None
            return path
        raise CannotRun(f"{self.folder}: no free name for {name}")

    def _plain(self) -> Request:
        """The request without what was preloaded."""
        wishes = self.request.wishes
        return replace(self.request, wishes=LaunchWishes(wishes.launcher, {}, [], wishes.defaults, wishes.force_np))

    def _others(self, bench: Bench) -> tuple[list[Callable[[], Bench]], list[targets.Library]]:
        """Libraries on which the case may be recorded, and all on which the program is tried; the likely ones first.

        A library whose suite would have to be built is not recorded on, unless it was named.
        """
        there = self.wish.against or [spec for spec in installed() if spec != bench.library.spec]
        libraries = [targets.resolve(spec) for spec in there]
        libraries.sort(key=lambda one: (one.family == bench.library.family, one.key != bench.library.key))
        if self.request.wishes.preload:
            libraries.insert(0, bench.library)
        request = self._plain()

        def is_built(one: targets.Library) -> bool:
            if os.environ.get(build.OWN_SUITE):  # it fits the libraries with the key of this one
                return one.key == bench.library.key
            if build.prebuilt(one, self.request.preset, [build.SUITE]):
                return True
            return build.suite(build.directory(one, self.request.preset), one).exists()

        built = [one for one in libraries if self.wish.against or is_built(one)]
        return [partial(self.bench, one.spec, request) for one in built], libraries

    def _say(self, made: Explained) -> None:
        found = made.found
        rate = f"{found.failures} of {found.runs} runs" if found.flaky else "each time"
        one = made.suspect
        head = f"{one.number}. " if one.number else ""
        self._line(f"{head}{one.signature} ({len(one.all_cases)} cases of {', '.join(one.tests[:3])})")
        self._line(
            f"   smallest: {found.case}, {found.np} rank{'s' if found.np > 1 else ''}, {rate}"
            if found.runs
            else f"   {found.note or 'not settled'}"
        )
        self._line(f"   fails {made.sentence}" if found.runs else "")
        if made.shown is not None:
            says = ", ".join(f"{says} on {mpi}" for mpi, says in made.shown.says.items())
            text = f"{made.shown.path} ({made.shown.lines} lines): {says}" if made.shown.path else "none"
            self._line(f"   program: {text}{'; ' if made.shown.why_not else ''}{made.shown.why_not}")
        if made.since:
            self._line(f"   versions: {made.since}")
        early = ", not finished: its budget was spent" if found.ended_early else ""
        self._line(f"   {found.cases_run} cases in {found.launches} launches, {made.seconds:.0f} s{early}")

    def _line(self, text: str) -> None:
        if text:
            self.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _some_of_each(cases: Sequence[str], most: int) -> list[str]:
    """At most so many cases of each test, in their order."""
    number: Counter[str] = Counter()
    found = []
    for case in cases:
        number[test := parse_case(case).test] += 1
        if number[test] <= most:
            found.append(case)
    return found


def _signatures(record: Mapping[str, Any], suspect: suspects.Suspect) -> list[Signature]:
    return [one for one in signatures(record) if suspects.same(one, suspect.signature)]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("mpi_", "")).strip("_")[:40]


def _first_line(text: str) -> str:
    return " ".join(text.split("\n")[0].split())


def _library_name(bench: Bench) -> str:
    title = targets.known().get(bench.library.family, {}).get("title", bench.library.family)
    return f"{title} {bench.library.version}".strip()
