"""assay faults: proof that each test can fail (faults/*.toml).

Every planted fault is run over the cases that are to catch it. A catch is a case that fails under the fault and passes
without it, in the same launch set-up; so a failure that the library has anyway never counts. The other way round, a
test that no fault makes fail is worth nothing, and is reported.
"""

from __future__ import annotations

import fnmatch
import shutil
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from reports.evidence import ENDS, FAILED
from runner.libraries import build, targets
from runner.libraries.build import REPO
from runner.model import CannotRun, Options, Target, Verdict, WrongUse
from runner.planning import plan
from runner.supervision.journal import Journal

CATALOGUES = REPO / "faults"
KINDS = ("fail", "crash", "timeout", "advisory")
Axis = tuple[tuple[str, str], ...]
WIDER = {"smoke": "quick", "quick": "standard"}  # where to look for a fault that the tier did not catch
MOST_CASES = 4000  # of the wider tier, for one fault
TURNS = 6  # cases of each test after which a fault that is caught needs no more
STUCK_SCALE = 0.02  # of the timeouts where something hangs on purpose


@dataclass(frozen=True)
class Fault:
    """One entry of faults/*.toml."""

    name: str
    note: str
    expect: tuple[str, ...]  # globs on case names, one of which has to catch it
    kind: tuple[str, ...]  # the statuses that count as catching it; "advisory": a finding that fails only a strict run
    np: int  # the fewest ranks
    axis: Axis = ()  # the wider tier is made over these values, where only few cases matter

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


@dataclass(frozen=True)
class Catch:
    """The first case of a test that caught a fault."""

    case: str
    status: str
    message: str

    @property
    def test(self) -> str:
        """Name of the test."""
        return test_of(self.case)


@dataclass
class Result:
    """What became of one fault."""

    fault: Fault
    np: int
    catches: dict[str, Catch] = field(default_factory=dict)  # by test, those of the right kind only
    other: Catch | None = None  # a case that failed with another status than the fault's kind
    cases: int = 0  # that were run
    seconds: float = 0.0
    unsupported: str = ""  # why this library cannot show it

    @property
    def fine(self) -> bool:
        """Caught, or nothing that this library could show."""
        return bool(self.catches) or bool(self.unsupported)


@dataclass
class Control:
    """What the cases do without a fault, for one number of ranks."""

    np: int
    cases: int = 0
    failed: dict[str, Catch] = field(default_factory=dict)  # beyond the known failures
    known: int = 0
    unfit: set[str] = field(default_factory=set)  # cases that do not pass without a fault, known or not


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
    wishes: targets.LaunchWishes = field(default_factory=targets.LaunchWishes)


def load(folder: Path = CATALOGUES) -> list[Fault]:
    """The faults of all catalogues of a folder. Raises WrongUse for what is missing, unknown or there twice."""
    faults = [fault for path in sorted(folder.glob("*.toml")) for fault in load_one(path)]
    names = [fault.name for fault in faults]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise WrongUse(f"{folder}: {', '.join(twice)}: there twice")
    return faults


def load_one(path: Path) -> list[Fault]:
    """The faults of one catalogue. Raises WrongUse."""
    try:
        with path.open("rb") as file:
            entries = tomllib.load(file).get("fault", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    faults = []
    for number, entry in enumerate(entries, 1):
        where = f"{path}, fault {number} ({entry.get('name', 'without a name')})"
        if odd := sorted({"name", "note", "expect", "kind", "np"} ^ (set(entry) - {"axis"})):
            raise WrongUse(f"{where}: each entry has name, note, expect, kind, np; look at {', '.join(odd)}")
        if not entry["expect"] or not entry["kind"] or not set(entry["kind"]) <= set(KINDS):
            raise WrongUse(f"{where}: kind is a list of {', '.join(KINDS)}, and expect must not be empty")
        axis = tuple(sorted(entry.get("axis", {}).items()))
        expect, kind = tuple(entry["expect"]), tuple(entry["kind"])
        faults.append(Fault(entry["name"], entry["note"], expect, kind, int(entry["np"]), axis))
    return faults


def test_of(case: str) -> str:
    """`p2p.ring/mode=send` → `p2p.ring`."""
    return case.partition("/")[0]


def by_turns(cases: Iterable[str]) -> list[str]:
    """One case of each test in turn, so that every test gets its chance early."""
    of_test: dict[str, list[str]] = {}
    for case in cases:
        of_test.setdefault(test_of(case), []).append(case)
    return [case for turn in zip_longest(*of_test.values()) for case in turn if case is not None]


def message_of(verdict: Verdict) -> str:
    """The first line of what a failed case says."""
    text = str(verdict.extra.get("reason", "")) or "no reason given"
    return text.splitlines()[0]


def take(result: Result, verdict: Verdict) -> bool:
    """Enter a verdict under the fault; whether it is a new catch by a test that had none."""
    if verdict.status not in FAILED:
        return False
    catch = Catch(verdict.case, verdict.status, message_of(verdict))
    if verdict.status not in result.fault.statuses:
        result.other = result.other or catch
        return False
    if catch.test in result.catches:
        return False
    result.catches[catch.test] = catch
    return True


def faults_of_tests(tests: Iterable[str], results: Sequence[Result]) -> dict[str, list[str]]:
    """For each test the faults that it caught."""
    return {test: [one.fault.name for one in results if test in one.catches] for test in tests}


class _Enough(Exception):
    """The rest of a run would tell nothing new."""


class _Session:
    """All runs of one `assay faults`."""

    def __init__(self, request: Request, out: Path, note: Callable[[str], None]) -> None:
        self.request, self.out, self.note = request, out, note
        self.library = targets.resolve(request.mpi)
        folder = build.build(self.library, request.preset, note=note, programs=(build.SUITE, "assay_faults"))
        out.mkdir(parents=True, exist_ok=True)
        # Copies: all runs have the same binary, whatever is built meanwhile.
        self.binary = _copy(build.suite(folder, self.library), out)
        self.shim = _copy(folder / "libassay_faults.so", out)
        self.suite = plan.Suite(self.binary, targets.list_environment(self.library))
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
        env = {**wishes.env, **({"ASSAY_FAULT": fault} if fault is not None else {})}
        wishes = replace(wishes, env=env, preload=[*wishes.preload, self.shim])
        return targets.make_target(self.library, np, self.binary, wishes)

    def run(
        self,
        name: str,
        target: Target,
        cases: Sequence[str],
        on: Callable[[Verdict], None],
        strict: bool = False,
        hunting: bool = False,
    ) -> None:
        """Run cases into a folder of their own until `on` raises _Enough.

        `hunting`: under a fault things hang, and slow or not is no matter. Without one a slow machine must not
        look like a library that hangs: what is not known to hang has all the time that any run gives it.
        """
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
        with Journal(folder / "cases.jsonl") as journal, suppress(_Enough):
            supervise(
                target,
                cases,
                lambda case: (),
                folder,
                journal,
                options,
                verdicts,
                lambda text: None,
                threaded=self.threaded,
                alone=self.alone,
                expected=lambda case: () if hunting else self.known.expected(case, target),
                damage=lambda case: self.known.damage(case, target),
                patience=Patience(doubts=0) if hunting else Patience(),
            )

    def control(self, np: int) -> Control:
        """The whole tier, once with the shim idle (ASSAY_FAULT unset) and once with its bookkeeping (none)."""
        if np in self.controls:
            return self.controls[np]
        control = self.controls[np] = Control(np)
        passed: dict[str, set[str]] = {}
        for fault in (None, "none"):
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

            self.run(f"control-{fault or 'unset'}", target, self.cases(self.request.tier, np), judge)
        self.passing[np] = passed[""] & passed["none"]
        return control

    def passes(self, case: str, np: int, strict: bool = False) -> bool:
        """Whether a case passes without a fault: looked up, or tried now. The control runs are not strict."""
        statuses: list[str] = []
        note = lambda verdict: statuses.append(verdict.status)  # noqa: E731
        if strict:
            self.run("control-strict", self.target(np, "none"), [case], note, strict=True)
            return statuses == ["pass"]
        if case in self.passing[np]:
            return True
        control = self.controls[np]
        if case not in control.unfit:
            self.run("control-one", self.target(np, "none"), [case], note)
            (self.passing[np] if statuses == ["pass"] else control.unfit).add(case)
        return case in self.passing[np]

    def judge(self, fault: Fault) -> Result:
        """Run one fault until it is clear what catches it."""
        np = max(self.request.np, fault.np)
        control = self.control(np)
        result = Result(fault, np)
        begin = time.monotonic()
        tier = self.request.tier
        self.hunt(result, [case for case in self.passing[np] if fault.expects(case)], tier)
        if not result.catches and tier in WIDER:
            wider = self.cases(WIDER[tier], np, fault.axis)
            wider = [case for case in wider if fault.expects(case) and case not in control.unfit]
            self.hunt(result, wider, WIDER[tier], one_is_enough=True)
        if not result.cases:
            result.unsupported = next(
                (why for case, why in self.unsupported(np).items() if fault.about(test_of(case))), ""
            )
        result.seconds = time.monotonic() - begin
        return result

    def hunt(self, result: Result, cases: Sequence[str], where: str, one_is_enough: bool = False) -> None:
        """Run cases under the fault until all their tests have caught it, or as many as come cheaply."""
        todo = by_turns(sorted(cases))[:MOST_CASES]
        if not todo:
            return
        tests = {test_of(case) for case in todo}

        def judge(verdict: Verdict) -> None:
            result.cases += 1
            if verdict.status in FAILED and not self.passes(verdict.case, result.np, result.fault.strict):
                return
            take(result, verdict)
            if not result.catches:
                return
            # A crash or a timeout ended the job: looking for more would cost a launch each time.
            patient = not one_is_enough and result.cases < TURNS * len(tests) and not tests <= set(result.catches)
            if not patient or verdict.status in ENDS:
                raise _Enough

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
            unfit = self.control(result.np).unfit
            cases = [case for case in self.cases(tier, result.np) if test_of(case) == test and fault.expects(case)]
            before = dict(result.catches)
            alone = Result(fault, result.np)
            self.hunt(alone, [case for case in cases if case not in unfit], f"{tier}-{test}", one_is_enough=True)
            result.catches = {**before, **alone.catches}
            if alone.catches:
                return


def run(request: Request, out: Path, note: Callable[[str], None], told: Callable[[Result], None]) -> dict[str, Any]:
    """Run every fault that matches; what was found, as the object that --json prints.

    {"mpi", "seconds", "ok", "control": [{np, cases, known, failed}], "faults": [{fault, note, np, fine, catches…}],
    "tests": {test: [fault, …]}, "idle_tests": […]}. `told` gets each fault's result as it comes.
    """
    begin = time.monotonic()
    faults = [fault for fault in load() if fnmatch.fnmatchcase(fault.name, request.glob)]
    if not faults:
        plan.must_be_one_of("fault", request.glob, [fault.name for fault in load()])
    plan.must_be_one_of("tier", request.tier, plan.TIERS)
    session = _Session(request, out, note)
    tests = {test_of(case) for case in session.cases(request.tier, request.np)}
    whole = request.glob == "*"
    if request.suite:
        faults = [fault for fault in faults if any(fault.about(test) for test in tests)]
    note(f"{len(faults)} faults, {len(tests)} tests on {request.mpi}; first without any fault")
    for np in sorted({max(request.np, fault.np) for fault in faults}):
        control = session.control(np)
        note(f"np {np}: {control.cases} cases without a fault: {len(control.failed)} failed, {control.known} known")
    results = []
    for fault in faults:
        results.append(session.judge(fault))
        told(results[-1])
    if whole:
        for test in sorted(tests):
            if not any(test in result.catches for result in results):
                session.try_test(test, results)
    caught = faults_of_tests(sorted(tests), results)
    controls = list(session.controls.values())
    idle: list[str] = []
    if whole:
        # One that a defect of the library fails, here or, as the known failures say, sometimes, has shown that it can.
        failing = {test_of(case) for one in controls for case in one.unfit} | {
            test_of(case)
            for case in session.cases(request.tier, request.np)
            if session.known.expected(case, session.target(request.np, None))
        }
        idle = [test for test, names in caught.items() if not names and test not in failing]
    return {
        "mpi": request.mpi,
        "seconds": round(time.monotonic() - begin, 1),
        "ok": not idle and all(result.fine for result in results) and not any(one.failed for one in controls),
        "control": [
            {
                "np": one.np,
                "cases": one.cases,
                "known": one.known,
                "failed": [_catch_record(catch) for catch in one.failed.values()],
            }
            for one in controls
        ],
        "faults": [_record(result) for result in results],
        "tests": caught,
        "idle_tests": idle,
    }


def _record(result: Result) -> dict[str, Any]:
    return {
        "fault": result.fault.name,
        "note": result.fault.note,
        "np": result.np,
        "fine": result.fine,
        "cases": result.cases,
        "seconds": round(result.seconds, 2),
        "catches": [_catch_record(catch) for catch in result.catches.values()],
        **({"other": _catch_record(result.other)} if result.other else {}),
        **({"unsupported": result.unsupported} if result.unsupported else {}),
    }


def _catch_record(catch: Catch) -> dict[str, str]:
    return {"case": catch.case, "status": catch.status, "message": catch.message}


def _copy(path: Path, folder: Path) -> Path:
    try:
        return Path(shutil.copy2(path, folder))
    except OSError as error:
        raise CannotRun(f"{error.filename or path}: {error.strerror}") from None


def _known_failures() -> Any:
    from reports import known

    return known.load(*sorted((REPO / "known").glob("*.toml")))


def print_line(result: Result) -> str:
    """One fault in one line."""
    if result.catches:
        first = next(iter(result.catches.values()))
        tests = len(result.catches)
        by = "1 test" if tests == 1 else f"{tests} tests"
        return f"{result.fault.name:<28} caught by {by} in {result.seconds:.1f} s: {first.case}"
    if result.unsupported:
        return f"{result.fault.name:<28} cannot be shown here: {result.unsupported}"
    why = f"; {result.other.case} was {result.other.status}" if result.other else ""
    return f"{result.fault.name:<28} NOT CAUGHT by {result.cases} cases in {result.seconds:.1f} s{why}"


def print_report(found: Mapping[str, Any]) -> None:
    """The table fault × caught by, the tests that caught nothing, and a last line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for name, style in (("fault", ""), ("np", "dim"), ("status", ""), ("first case", ""), ("message", "dim")):
        table.add_column(name, style=style, overflow="fold")
    table.add_column("caught by", overflow="fold")
    for one in found["faults"]:
        catches = one["catches"]
        tests = ", ".join(test_of(catch["case"]) for catch in catches)
        if catches:
            first = catches[0]
            cells = [first["status"], first["case"], first["message"][:120], tests]
        elif "unsupported" in one:
            cells = ["–", "", one["unsupported"], ""]
        else:
            other = one.get("other")
            seen = f"{other['case']} was {other['status']}, not what this fault makes" if other else one["note"]
            cells = ["NOT CAUGHT", "", seen, ""]
        table.add_row(one["fault"], str(one["np"]), *[Text(cell) for cell in cells])
    console.print(table)
    console.print("\nfaults that each test caught:")
    for test, names in found["tests"].items():
        console.print(Text(f"  {test:<28} {len(names)}"))
    for control in found["control"]:
        for catch in control["failed"]:
            words = f"without a fault, np {control['np']}: {catch['status']} {catch['case']}: {catch['message']}"
            console.print(Text(words), soft_wrap=True)
    if found["idle_tests"]:
        console.print(Text(f"no fault makes these tests fail: {', '.join(found['idle_tests'])}"), soft_wrap=True)
    total, fine = len(found["faults"]), sum(one["fine"] for one in found["faults"])
    failed = sum(len(control["failed"]) for control in found["control"])
    console.print(
        Text(
            f"{fine} of {total} faults caught, {failed} failures without a fault, "
            f"{len(found['idle_tests'])} tests that nothing makes fail ({found['seconds']:.0f} s)"
        )
    )
