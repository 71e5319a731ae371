"""All runs of one `assay faults`: without a fault, and with one fault in a launch."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runner.libraries import build, launching, targets
from runner.model import ENDS, FAILED, CannotRun, Options, Target, Verdict
from runner.planning import plan
from runner.planting.catalogue import NO_FAULT, Axis, Fault
from runner.planting.results import Catch, Control, Result, by_turns, case_of, message_of, take, test_of
from runner.supervision.journal import Journal

WIDER = {"smoke": "quick", "quick": "standard"}  # where to look for a fault that the tier did not catch
MOST_CASES = 4000  # of the wider tier, for one fault
TURNS = 6  # cases of each test after which a fault that is caught needs no more
STUCK_SCALE = 0.1  # of the timeouts where something hangs on purpose


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    mpi: str
    np: int
    glob: str = "*"  # on fault names
    suite: Sequence[str] = ()
    tier: str = "smoke"
    seed: int = 1
    preset: str = "release"
    wishes: launching.LaunchWishes = field(default_factory=launching.LaunchWishes)


class Enough(Exception):
    """The rest of a run would tell nothing new."""


class Session:
    """All runs of one `assay faults`."""

    LAYER = "assay_faults"  # the library that is preloaded, and what tells it what to do
    VARIABLE = "ASSAY_FAULT"

    def __init__(self, request: Request, out: Path, note: Callable[[str], None]) -> None:
        self.request, self.out, self.note = request, out, note
        self.library = targets.resolve(request.mpi)
        folder = build.build(self.library, request.preset, note=note, programs=(build.SUITE, self.LAYER))
        out.mkdir(parents=True, exist_ok=True)
        # Copies: all runs have the same binary, whatever is built meanwhile.
        self.binary = _copy(build.suite(folder, self.library), out)
        self.shim = _copy(folder / f"lib{self.LAYER}.so", out)
        self.suite = plan.Suite(self.binary, launching.list_environment(self.library))
        self.plans: dict[tuple[str, int, Axis], tuple[list[str], dict[str, str]]] = {}
        self.controls: dict[int, Control] = {}
        self.passing: dict[int, set[str]] = {}  # cases known to pass without a fault, by number of ranks
        self.known = _known_failures()
        self.threaded: Callable[[str], bool] = lambda case: False
        self.alone: Callable[[str], bool] = lambda case: False
        self.runs = 0

    def cases(self, tier: str, np: int, axis: Axis = ()) -> list[str]:
        """The cases of a tier, made over these values of the axes."""
        return self._plan(tier, np, axis)[0]

    def unsupported(self, np: int) -> dict[str, str]:
        """What this library cannot run, and why."""
        return self._plan(self.request.tier, np)[1]

    def _plan(self, tier: str, np: int, axis: Axis = ()) -> tuple[list[str], dict[str, str]]:
        key = tier, np, axis
        if key not in self.plans:
            values = {name: [value] for name, value in axis}
            selection = plan.Selection(tier, self.request.seed, suite=self.request.suite, axis=values)
            made = plan.make(self.suite, np, selection)
            self.plans[key] = list(made.cases), dict(made.unsupported)
            self.threaded, self.alone = made.threaded, made.alone
        return self.plans[key]

    def target(self, np: int, fault: str | None) -> Target:
        """`np` ranks with a fault planted, or, with None, without the shim's being asked for any."""
        wishes = self.request.wishes
        env = {**wishes.env, **({self.VARIABLE: fault} if fault is not None else {})}
        wishes = replace(wishes, env=env, preload=[self.shim, *wishes.preload])
        return launching.make_target(self.library, np, self.binary, wishes)

    def run(
        self,
        name: str,
        target: Target,
        cases: Sequence[str],
        on: Callable[[Verdict], None],
        strict: bool = False,
        hunting: bool = False,
        enough: Callable[[Sequence[str]], Mapping[str, str]] = lambda cases: {},
    ) -> bool:
        """Run lines of a plan, which begin with a case, into a folder of their own. False: `on` raised Enough.

        Before each launch `enough` says which of those that are left need not run, and why.
        `hunting`: under a fault things hang, and slow or not is no matter. Without one a slow machine must not
        look like a library that hangs: what is not known to hang has all the time that any run gives it.
        """
        from runner.supervision.context import CaseFacts, Task
        from runner.supervision.patience import Patience
        from runner.supervision.supervise import supervise

        self.runs += 1
        folder = self.out / f"{self.runs:03}-{name}-np{target.np}"
        folder.mkdir(parents=True, exist_ok=True)

        def verdicts(some: Sequence[Verdict]) -> None:
            for verdict in some:
                on(verdict)

        scale = STUCK_SCALE if hunting else 1.0
        options = Options(seed=self.request.seed, timeout_scale=scale, strict=strict)
        with Journal(folder / "cases.jsonl") as journal, suppress(Enough):
            facts = CaseFacts(
                threaded=lambda line: self.threaded(case_of(line)),
                alone=lambda line: self.alone(case_of(line)),
                expected=lambda line: () if hunting else self.known.expected(case_of(line), target),
                damage=lambda line: self.known.damage(case_of(line), target),
                enough=enough,
            )
            supervise(
                Task(
                    target=target,
                    plan=cases,
                    out=folder,
                    journal=journal,
                    options=options,
                    cases=facts,
                    on_verdicts=verdicts,
                    patience=Patience(doubts=0) if hunting else Patience(),
                )
            )
            return True
        return False

    def launches(self) -> int:
        """How many there were so far."""
        return sum(1 for _ in self.out.glob("*/logs/*/job-*"))

    def control(self, np: int, faults: Sequence[Fault]) -> Control:
        """The tier, once with the shim idle (ASSAY_FAULT unset) and once with its bookkeeping (none).

        The whole tier when all faults are to run, at the number of ranks that was asked for; otherwise what the faults
        at that number of ranks expect. Cases that are known to end their job each time are not run: they could catch
        nothing.
        """
        control = self.controls[np] = Control(np)
        cases = self.cases(self.request.tier, np)
        if np != self.request.np or self.request.glob != "*":
            needing = [fault for fault in faults if max(fault.np, self.request.np) == np]
            cases = [case for case in cases if any(fault.expects(case) for fault in needing)]
        plain = self.target(np, None)
        control.unfit |= {case for case in cases if self.known.always(case, plain) & ENDS}
        control.known = len(control.unfit)
        cases = [case for case in cases if case not in control.unfit]
        passed: dict[str, set[str]] = {}
        for fault in (None, NO_FAULT):
            target = self.target(np, fault)
            passing = passed.setdefault(fault or "", set())

            def judge(verdict: Verdict, target: Target = target, passing: set[str] = passing) -> None:
                control.cases += 1
                if verdict.status in FAILED:
                    control.unfit.add(verdict.case)
                    final = self.known.apply(verdict, target)
                    if final.status in FAILED:
                        control.failed.setdefault(
                            verdict.case, Catch(verdict.case, verdict.status, message_of(verdict))
                        )
                    else:
                        control.known += 1
                elif verdict.status == "pass":
                    passing.add(verdict.case)

            self.run(f"control-{fault or 'unset'}", target, cases, judge)
        self.passing[np] = passed[""] & passed[NO_FAULT]
        return control

    def candidates(self, fault: Fault, np: int, tier: str) -> list[str]:
        """The cases of a tier that may catch a fault."""
        if fault.control != NO_FAULT:  # what fails without the model may pass with it
            cases: Iterable[str] = self.cases(tier, np, fault.axis)
        elif tier == self.request.tier:
            cases = self.passing[np]
        else:
            cases = set(self.cases(tier, np, fault.axis)) - self.controls[np].unfit
        return [case for case in cases if fault.expects(case)]

    def passes(self, case: str, np: int, strict: bool = False, control: str = NO_FAULT) -> bool:
        """Whether a case passes without a fault: looked up, or tried now. The control runs are not strict."""
        statuses: list[str] = []
        note = lambda verdict: statuses.append(verdict.status)  # noqa: E731
        if strict or control != NO_FAULT:
            self.run(
                "control-strict" if strict else "control-one", self.target(np, control), [case], note, strict=strict
            )
            return statuses == ["pass"]
        if case in self.passing[np]:
            return True
        unfit = self.controls[np].unfit
        if case not in unfit:
            self.run("control-one", self.target(np, NO_FAULT), [case], note)
            (self.passing[np] if statuses == ["pass"] else unfit).add(case)
        return case in self.passing[np]

    def judge(self, result: Result) -> None:
        """Run one fault, in launches of its own, until it is clear what catches it."""
        fault, np, tier = result.fault, result.np, self.request.tier
        begin = time.monotonic()
        self.hunt(result, self.candidates(fault, np, tier), tier)
        if not result.catches and tier in WIDER:
            self.hunt(result, self.candidates(fault, np, WIDER[tier]), WIDER[tier], one_is_enough=True)
        if not result.cases:
            result.unsupported = next(
                (why for case, why in self.unsupported(np).items() if fault.about(test_of(case))), ""
            )
        result.seconds += time.monotonic() - begin

    def hunt(self, result: Result, cases: Sequence[str], where: str, one_is_enough: bool = False) -> None:
        """Run cases under the fault until all their tests have caught it, or as many as come cheaply."""
        todo = by_turns(sorted(cases))[:MOST_CASES]
        if not todo:
            return
        tests = {test_of(case) for case in todo}

        def judge(verdict: Verdict) -> None:
            result.cases += 1
            if verdict.status in FAILED and not self.passes(
                verdict.case, result.np, result.fault.strict, result.fault.control
            ):
                return
            take(result, verdict)
            if not result.catches:
                return
            # A crash or a timeout ended the job: looking for more would cost a launch each time.
            patient = not one_is_enough and result.cases < TURNS * len(tests) and not tests <= set(result.catches)
            if not patient or verdict.status in ENDS:
                raise Enough

        fault = result.fault
        target = self.target(result.np, fault.name)
        self.run(f"{fault.name}-{where}", target, todo, judge, strict=fault.strict, hunting=True)

    def try_test(self, test: str, results: Sequence[Result]) -> None:
        """A test that has caught nothing yet: give it the wider tier under the faults that name it."""
        tier = WIDER.get(self.request.tier, self.request.tier)
        # Those that name few tests first: they are meant for this one.
        for result in sorted(results, key=lambda one: sum(glob.count("*") for glob in one.fault.expect)):
            fault = result.fault
            if not fault.about(test):
                continue
            unfit = self.controls[result.np].unfit
            cases = [case for case in self.cases(tier, result.np) if test_of(case) == test and fault.expects(case)]
            before = dict(result.catches)
            alone = Result(fault, result.np)
            self.hunt(alone, [case for case in cases if case not in unfit], f"{tier}-{test}", one_is_enough=True)
            result.catches = {**before, **alone.catches}
            if alone.catches:
                return


def _copy(path: Path, folder: Path) -> Path:
    try:
        return Path(shutil.copy2(path, folder))
    except OSError as error:
        raise CannotRun(f"{error.filename or path}: {error.strerror}") from None


def _known_failures() -> Any:
    from reports import known

    return known.load(*known.shipped())
