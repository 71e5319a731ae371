"""Runs the candidates of a search through the ordinary machinery: many cases share a launch."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reports.signature import Signature, signatures
from runner.explaining.smallest import Spent
from runner.explaining.suspects import same
from runner.libraries import build, launching, targets
from runner.model import ENDS, Options, Target, Verdict, WrongUse
from runner.planning import plan
from runner.request import Request
from runner.supervision.context import CaseFacts, Task
from runner.supervision.journal import Journal
from runner.supervision.patience import Patience

MOST_CASES = 600
MOST_LAUNCHES = 60
MOST_SECONDS = 240.0
HANG_SCALE = 0.3  # of the time of a case, where hangs are what is looked for


class Bench:
    """One library and its test binary, as something that cases can be run on."""

    def __init__(self, request: Request, mpi: str, console: Any, programs: Sequence[str] = ()) -> None:
        self.request = replace(request, mpi=[mpi])
        self.library = targets.resolve(mpi)
        suites = request.selection.suites_to_compile()
        say = lambda text: console.print(f"assay: {text}", highlight=False, soft_wrap=True)  # noqa: E731
        self.folder = build.build(
            self.library, request.preset, note=say, programs=(build.SUITE, *programs), suites=suites
        )
        self.binary = build.suite(self.folder, self.library)
        self.suite = plan.Suite(self.binary, launching.list_environment(self.library))
        self._about: dict[str, Any] = {}

    def tests(self, np: int) -> dict[str, dict[str, Any]]:
        """What --list=tests says, by test."""
        if not self._about:
            self._about = {line["test"]: line for line in self.suite.ask("tests", np)}
        return self._about

    def target(self, np: int, env: Mapping[str, str] | None = None, preload: Sequence[Path] = ()) -> Target:
        """`np` ranks, as the run in question had them."""
        wishes = self.request.wishes
        wishes = replace(wishes, env={**wishes.env, **(env or {})}, preload=[*preload, *wishes.preload])
        made = launching.make_target(self.library, np, self.binary, wishes)
        return replace(made, threads=self.request.options.threads)

    def exists(self, cases: Iterable[str], np: int) -> set[str]:
        """The ones of these names that are cases with `np` ranks."""
        wanted = set(cases)
        threads = f"--threads={self.request.options.threads}"
        try:
            lines = self.suite.ask(
                "cases", np, ["--tier=full", threads, *(f"--select={glob}" for glob in covering(wanted))]
            )
        except WrongUse:  # none of them
            return set()
        return {line["case"] for line in lines if "unsupported" not in line} & wanted

    def run(
        self,
        cases: Sequence[str],
        target: Target,
        folder: Path,
        hear: Callable[[Sequence[Verdict]], None],
        *,
        options: Options,
        enough: Callable[[Sequence[str]], Mapping[str, str]] = lambda cases: {},
        words: str = "",
    ) -> None:
        """Run cases into a folder; `words` are for a preloaded layer (docs/formats.md, section 3)."""
        from runner.supervision.supervise import supervise

        tests = self.tests(target.np)
        folder.mkdir(parents=True, exist_ok=True)

        def of(line: str) -> Mapping[str, Any]:
            return tests.get(line.partition(" ")[0].partition("/")[0], {})

        facts = CaseFacts(
            threaded=lambda line: of(line).get("thread_level") == "multiple",
            alone=lambda line: bool(of(line).get("own_job")),
            enough=enough,
        )
        with Journal(folder / "cases.jsonl") as journal:
            supervise(
                Task(
                    target=target,
                    plan=[f"{case} {words}" if words else case for case in cases],
                    out=folder,
                    journal=journal,
                    options=options,
                    cases=facts,
                    on_verdicts=hear,
                    patience=Patience(doubts=0),
                )
            )


def covering(cases: Collection[str]) -> list[str]:
    """Few globs that match these cases, and no more than others that differ by one value.

    A name would have to be that of a case; a glob may match nothing.
    """
    of: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        parts = case.split("/")
        for k in range(1, len(parts)):
            axis = parts[k].partition("=")[0]
            of["/".join([*parts[:k], f"{axis}=*", *parts[k + 1 :]])].add(case)
    found = [f"{case[:-1]}?" for case in cases if "/" not in case]
    left = set(cases) - {case for case in cases if "/" not in case}
    for glob in sorted(of, key=lambda glob: (-len(of[glob]), glob)):
        if not left:
            break
        if of[glob] & left:
            found.append(glob)
            left -= of[glob]
    return found


class RealTrials:
    """smallest.Trials on a library."""

    def __init__(self, bench: Bench, wanted: Signature, out: Path) -> None:
        self.bench, self.wanted, self.out = bench, wanted, out
        self.ending = wanted.status in ENDS
        self.cases = self.launches = self.questions = 0
        self.begin = time.monotonic()
        self.records: dict[tuple[str, int], dict[str, Any]] = {}  # what cases that failed alike saw last

    def exists(self, cases: Iterable[str], np: int) -> set[str]:
        return self.bench.exists(cases, np)

    def fail(self, groups: Sequence[Sequence[str]], np: int, *, first: bool = False) -> dict[str, bool]:
        cases = list(dict.fromkeys(case for group in groups for case in group))
        if not cases:
            return {}
        spent = time.monotonic() - self.begin
        if self.cases + len(cases) > MOST_CASES or self.launches >= MOST_LAUNCHES or spent > MOST_SECONDS:
            raise Spent
        told: dict[str, bool] = {}
        most = self.launches + max(2 * len(groups), 12)

        def hear(verdicts: Sequence[Verdict]) -> None:
            self.cases += len(verdicts)
            for verdict in verdicts:
                self._note(verdict, told, np)

        def enough(todo: Sequence[str]) -> dict[str, str]:
            """Before each launch: which cases need not run any more."""
            if self.launches >= min(most, MOST_LAUNCHES):
                return dict.fromkeys(todo, "enough launches for this question")
            settled = {case for group in groups if first and any(map(told.get, group)) for case in group}
            if left_out := {case: "a simpler case fails already" for case in todo if case in settled}:
                return left_out
            self.launches += 1
            return {}

        options = replace(self.bench.request.options, retries=0, repeat=1)
        if self.wanted.status == "timeout":
            options = replace(options, timeout_scale=options.timeout_scale * HANG_SCALE)
        self.questions += 1
        folder = self.out / f"{self.questions:03}-np{np}"
        self.bench.run(cases, self.bench.target(np), folder, hear, options=options, enough=enough)
        return told

    def _note(self, verdict: Verdict, told: dict[str, bool], np: int) -> None:
        if verdict.status in ("skip", "unsupported"):
            return
        record = {"case": verdict.case, "target": verdict.target, "status": verdict.status, **verdict.extra}
        told[verdict.case] = any(same(one, self.wanted) for one in signatures(record))
        if told[verdict.case]:
            self.records[(verdict.case, np)] = record


class PassingElsewhere:
    """smallest.Trials that also wants a case to pass on another library, so that a program can say OK there."""

    def __init__(self, trials: RealTrials, other: Bench, out: Path) -> None:
        self.trials, self.other, self.out = trials, other, out
        self.ending = trials.ending
        self.questions = 0

    def exists(self, cases: Iterable[str], np: int) -> set[str]:
        return self.other.exists(self.trials.exists(cases, np), np)

    def fail(self, groups: Sequence[Sequence[str]], np: int, *, first: bool = False) -> dict[str, bool]:
        told = self.trials.fail(groups, np, first=first)
        self.questions += 1
        right = passing(self.other, [case for case, fails in told.items() if fails], np, self.out / str(self.questions))
        return {case: fails and case in right for case, fails in told.items()}


def passing(bench: Bench, cases: Sequence[str], np: int, folder: Path) -> set[str]:
    """The ones of these cases that pass on a library."""
    verdicts: list[Verdict] = []
    there = bench.exists(cases, np) if cases else set()
    if there:
        options = replace(bench.request.options, retries=0, repeat=1)
        wanted = [case for case in cases if case in there]
        bench.run(wanted, bench.target(np), folder, verdicts.extend, options=options)
    return {one.case for one in verdicts if one.status == "pass"}
