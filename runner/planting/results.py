"""What became of planted faults: which cases caught them, and what the same cases do without a fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from runner.model import FAILED, Verdict
from runner.planting.catalogue import Fault


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


def case_of(line: str) -> str:
    """The case of a line of a plan, which may go on with a fault."""
    return line.partition(" ")[0]


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


def record(result: Result) -> dict[str, Any]:
    return {
        "fault": result.fault.name,
        "note": result.fault.note,
        "np": result.np,
        "fine": result.fine,
        "cases": result.cases,
        "seconds": round(result.seconds, 2),
        "catches": [catch_record(catch) for catch in result.catches.values()],
        **({"other": catch_record(result.other)} if result.other else {}),
        **({"unsupported": result.unsupported} if result.unsupported else {}),
    }


def catch_record(catch: Catch) -> dict[str, str]:
    return {"case": catch.case, "status": catch.status, "message": catch.message}
