"""A run from the first line of cases.jsonl to the exit code (docs/formats.md, section 6)."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from reports.evidence import Evidence, write_file
from runner.commands.prepare import Prepared, Ready
from runner.commands.progress import RunProgress
from runner.home import PROGRAM
from runner.libraries import launching, targets
from runner.libraries.transports import counted, counts, parse, prove
from runner.machine import machine, version
from runner.model import (
    NOT_RUN,
    UNEXPECTED,
    CannotRun,
    Verdict,
    WrongUse,
    added,
    exit_code,
)
from runner.planning import plan
from runner.request import Request, repeat_command
from runner.supervision.journal import Journal

FORMAT = 1
SANITIZED = ("asan", "tsan")  # presets
# Reasons of unsupported cases that rest on what the library says of itself.
_OF_ITSELF = re.compile(r"the MPI library provides MPI_THREAD_\w+|this library is of MPI [\d.]+")


def load_known(request: Request) -> Any:
    from reports import known

    ours = [] if request.no_known else known.shipped()
    return known.load(
        *map(Path, request.known), limit=request.known_limit, ours=ours, sanitized=request.preset in SANITIZED
    )


def _of_itself(reasons: Iterable[object]) -> Counter[str]:
    """What a library says of itself, as far as that is why cases were unsupported: how many cases each."""
    found = (_OF_ITSELF.search(str(reason)) for reason in reasons)
    return Counter(says[0] for says in found if says)


def _cases_of_all_tiers(suite: plan.Suite, np: int, globs: Sequence[str]) -> list[str]:
    arguments = [f"--tier={plan.TIERS[-1]}", *(f"--select={glob}" for glob in plan.globs(globs))]
    try:
        lines = suite.ask("cases", np, arguments)
    except (CannotRun, WrongUse):
        return []  # the run is over: all that is lost is that globs are told of which are in order
    return [line["case"] for line in lines if "unsupported" not in line]


class Enough(Exception):
    """The user wants no more cases to be run: why."""


class Session:
    """One start of a run: everything from the first line of cases.jsonl to the exit code."""

    def __init__(self, request: Request, out: Path, ready: Ready, known: Any, console: Console) -> None:
        self.request = request
        self.out = out
        self.ready = ready
        self.before: Evidence | None = None  # what a run that is resumed has found so far
        self.known = known
        self.console = console
        self.started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.seconds_before = 0.0
        self.begin = time.monotonic()
        self.warnings: list[str] = []
        self.machine = machine()
        self.unexpected = 0  # results of this start

    def run(self) -> int:
        """Run what is left; the exit code. Raises CannotRun, and what interrupts it, after the reports are written."""
        with Journal(self.out / "cases.jsonl") as journal:
            self._write(journal, finished=False)
            try:
                for one in self.ready.targets:
                    self._judge_again(one, journal)
                self.before = None  # some 100 bytes a case
                for one in self.ready.targets:
                    try:
                        self._one(one, journal)
                    except CannotRun as error:
                        one.could_not_run = str(error)
                self.warnings += self._presumed()
                if self.request.known:
                    with self.console.status("looking through wider tiers for what known failures match"):
                        self.warnings += self.known.unused(part=self.request.part, wider=self._wider_tiers())
            except Enough as error:
                if left := self._left(journal):
                    self.warnings.append(f"{error}: {left:,} cases were not run; {self._goes_on}")
            except KeyboardInterrupt as error:
                self._write(journal, finished=False)
                self._reports()
                raise type(error)(self._goes_on) from None
            except BaseException:
                self._write(journal, finished=False)
                raise
            failed = [
                *(f"{spec}: could not run: {reason}" for spec, reason in self.ready.absent.items()),
                *(
                    f"{one.target.name}: could not run: {one.could_not_run}"
                    for one in self.ready.targets
                    if one.could_not_run
                ),
            ]
            self.warnings = [*failed, *self._lost(), *self.warnings]
            finished = not failed and not self._left(journal)
            failed += self._attempt(lambda: self._write(journal, finished=finished))
            statuses = Counter(status for cases in journal.statuses.values() for status in cases.values())
        failed += self._reports()
        if failed:
            raise CannotRun("; ".join(failed))
        return exit_code(statuses)

    @property
    def _goes_on(self) -> str:
        return f"`{PROGRAM} resume {shlex.quote(str(self.out))}` goes on"

    def _left(self, journal: Journal) -> int:
        """How many cases have no verdict."""
        return sum(
            case not in journal.statuses.get(one.target.name, {})
            for one in self.ready.targets
            for case in one.plan.cases
        )

    def _enough(self, verdicts: Sequence[Verdict]) -> None:
        """Raises Enough when the user wants no more after these."""
        options = self.request.options
        self.unexpected += sum(verdict.status in UNEXPECTED for verdict in verdicts)
        if options.maxfail and self.unexpected >= options.maxfail:
            raise Enough(f"stopped at --maxfail {options.maxfail}")
        if options.max_time and time.monotonic() - self.begin > options.max_time:
            raise Enough(f"stopped at --max-time {options.max_time:g}s")

    @staticmethod
    def _attempt(step: Callable[[], object]) -> list[str]:
        """What went wrong: a report that cannot be written must not take the others away."""
        try:
            step()
        except CannotRun as error:
            return [str(error)]
        return []

    def _presumed(self) -> list[str]:
        """Where known failures were met in versions of libraries in which nobody has seen them."""
        seen = targets.seen()
        told = (self.known.presumed(one.target, seen.get(one.target.family, ())) for one in self.ready.targets)
        return [sentence for sentence in told if sentence]

    def _lost(self) -> list[str]:
        """How many cases were left out because of what a library says of itself, where that might be said wrongly."""
        found = []
        for one in self.ready.targets:
            says = one.hello.get("mpi") or one.header
            levels = {text: count for text, count in one.lost.items() if "MPI_THREAD" in text}
            found += [f"{one.target.name}: {count:,} cases were left out: {text}" for text, count in levels.items()]
            if one.header and says != one.header:
                other = one.lost.total() - sum(levels.values())
                head = f"{one.target.name}: MPI_Get_version says {says}, the mpi.h of the test binary {one.header}"
                found.append(f"{head}; {other:,} cases were left out for that" if other else head)
        return found

    def _wider_tiers(self) -> list[Callable[[Sequence[str]], list[str]]]:
        """What tells which cases some globs match in any tier, for each library and number of ranks of this run."""
        suites = {(one.binary, one.target.np): one.suite for one in self.ready.targets}
        return [partial(_cases_of_all_tiers, suite, np) for (_, np), suite in suites.items()]

    def _judge_again(self, one: Prepared, journal: Journal) -> None:
        """What is known may have changed since the verdicts of a run that is resumed."""
        if self.before is not None:
            for reason, count in self.before.reasons_of(one.target.name, "unsupported").items():
                one.lost.update(dict.fromkeys(_of_itself([reason]), count))
        if self.before is None:
            return
        name = one.target.name
        cases = [
            case
            for case, entry in self.before.cases.get(name, {}).items()
            if entry.status not in ("pass", *NOT_RUN) or self.known.expected(case, one.target)
        ]
        again = (self.known.again(record, one.target) for record in self.before.details(name, cases))
        if changed := [verdict for verdict in again if verdict is not None]:
            journal.append(changed)
            note = f"assay: {name}: {len(changed):,} verdicts changed by what is known now"
            self.console.print(note, highlight=False)

    def _one(self, one: Prepared, journal: Journal) -> None:
        """Run what is left of one target."""
        from runner.supervision.context import CaseFacts, Task
        from runner.supervision.supervise import supervise

        target, planned = one.target, one.plan
        known = journal.statuses.get(target.name, {})
        requirements = _requirements(planned)
        journal.append(
            [
                Verdict(case, target.name, "unsupported", extra={"reason": reason, "requirements": requirements(case)})
                for case, reason in planned.unsupported.items()
                if case not in known
            ]
        )
        one.lost += _of_itself(reason for case, reason in planned.unsupported.items() if case not in known)
        settled = sum(case in known for case in planned.cases)
        if settled == len(planned.cases):
            return
        counters = self.out / "transport" / target.slug
        if counts(target.transport):
            counters.mkdir(parents=True, exist_ok=True)
            target = launching.counting(target, counters.absolute())

        def hear(verdicts: Sequence[Verdict]) -> None:
            progress.verdicts(verdicts)
            one.lost += _of_itself(each.extra.get("reason") for each in verdicts if each.status == "unsupported")
            self._enough(verdicts)

        with RunProgress(self.console, target.name, len(planned.cases), settled) as progress:
            facts = CaseFacts(
                requirements=requirements,
                threaded=planned.threaded,
                alone=planned.alone,
                expected=lambda case: self.known.expected(case, target),
                damage=lambda case: self.known.damage(case, target),
                enough=lambda cases: self.known.enough(cases, target),
                repeat=lambda case: repeat_command(self.request, target, case),
                amend=lambda verdict: self.known.apply(verdict, target),
            )
            records = supervise(
                Task(
                    target=target,
                    plan=planned.cases,
                    out=self.out,
                    journal=journal,
                    options=self.request.options,
                    cases=facts,
                    on_verdicts=hear,
                    on_note=progress.note,
                    binary=one.binary,
                )
            )
        for record in records:
            job = asdict(record)
            if not job["trouble"]:
                del job["trouble"]
            hello = job.pop("hello", None)
            if hello and (hello.get("library") or not one.hello):  # jobs of one case do not ask the library
                one.hello = hello
            one.jobs.append(job)
        if counts(target.transport):
            one.counters = counted(counters)
            prove(parse(target.transport), one.counters, target.np)

    def _reports(self) -> list[str]:
        """Print the summary and write the reports; what could not be written."""
        from reports.html import write_html
        from reports.junit import write_junit
        from reports.matrix import print_matrix, write_matrix
        from reports.summary import print_summary

        console = Console(highlight=False)
        evidence = Evidence(self.out)
        if self.request.matrix:
            page = self.out / "matrix.html"
            wrong = self._attempt(lambda: write_matrix([evidence], page))
            print_matrix([evidence], page, console)
            return wrong
        print_summary(evidence, console)
        return [*self._attempt(lambda: write_junit(evidence)), *self._attempt(lambda: write_html(evidence))]

    def _write(self, journal: Journal, *, finished: bool) -> None:
        """Write run.json."""
        names = self.request.names()
        abouts = [self._about(one, journal) for one in self.ready.targets] + self._absent()
        abouts.sort(key=lambda about: names.index(about["name"]) if about["name"] in names else -1)
        record = {
            "format": FORMAT,
            "assay": version(),
            "started": self.started,
            "finished": finished,
            "seconds": round(self.seconds_before + time.monotonic() - self.begin, 3),
            **self.request.record(),
            "machine": self.machine,
            "targets": abouts,
            "cases": added(about["cases"] for about in abouts),
            "status": added(about["status"] for about in abouts),
            "warnings": self.warnings + self._troubles(),
        }
        write_file(self.out / "run.json", lambda file: file.write(json.dumps(record, indent=1) + "\n"))

    def _troubles(self) -> list[str]:
        """What went wrong after the cases of a job. No verdict tells of it, so that it would be lost."""
        return [
            f"{one.target.name}: {job['trouble']}; no case is charged for that, {job['directory']} has the logs"
            for one in self.ready.targets
            for job in one.jobs
            if job.get("trouble")
        ]

    def _about(self, one: Prepared, journal: Journal) -> dict[str, Any]:
        target = one.target
        status = Counter(journal.statuses.get(target.name, {}).values())
        ran = sum(number for name, number in status.items() if name not in NOT_RUN)
        return {
            "name": target.name,
            "mpi": target.mpi,
            "np": target.np,
            **({"transport": target.transport} if target.transport else {}),
            **({"counters": one.counters} if counts(target.transport) else {}),
            "library": one.hello.get("library") or "",
            "mpi_standard": one.hello.get("mpi") or "",
            "abi": one.key,
            "binary": one.binary,
            "settings": dict(target.settings),
            "oversubscription": target.oversubscription,
            "plan": one.hello.get("plan") or "",
            "cases": {
                "listed": one.plan.listed,
                "selected": len(one.plan.cases) + len(one.plan.unsupported),
                "ran": ran,
                "unsupported": status["unsupported"],
            },
            "status": dict(status),
            **({"known": self.known.about(target)} if self.known.entries else {}),
            **({"left_out": dict(one.plan.left_out)} if one.plan.left_out else {}),
            "jobs": one.jobs,
            **({"could_not_run": one.could_not_run} if one.could_not_run else {}),
        }

    def _absent(self) -> list[dict[str, Any]]:
        """The targets of libraries that are not there or cannot be built for."""
        return [
            {
                "name": launching.target_name(spec, transport, np),
                "mpi": spec,
                "np": np,
                "cases": {},
                "status": {},
                "could_not_run": reason,
            }
            for spec, reason in self.ready.absent.items()
            for transport in self.request.over()
            for np in dict.fromkeys(self.request.np)
        ]


def _requirements(planned: plan.Plan) -> Callable[[str], Sequence[str]]:
    return lambda case: planned.requirements.get(case.partition("/")[0], ())
