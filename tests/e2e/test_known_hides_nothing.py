"""A new defect does not hide where an old one is known: faults planted in cases that known failures cover are new."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from e2e_help import MPI

from reports.known import Matcher
from reports.signature import signatures
from runner.model import ENDS, FAILED, Target, Verdict
from runner.planting import catalogue
from runner.planting.session import Request, Session
from runner.planting.together import entry, parts

FAULTS = 60  # that are planted
CASES = 3  # of each fault, of tests that differ where there are several; most faults do nothing in most cases
ENOUGH = 20  # faults that show
NEW = 0.95  # of those


def _order(name: str) -> bytes:
    """The same in each run, and another for each name: neighbours in a list are alike."""
    return hashlib.sha256(name.encode()).digest()


def _known(session: Session, target: Target) -> Matcher:
    """The known failures of a target."""
    return Matcher(one for one in session.known.entries if one.fits(target))


def _pairs(session: Session) -> list[tuple[str, str]]:
    """Faults and cases that may show them, and that known failures cover without ending their job each time. Cases that
    are jobs of their own cannot share a launch.
    """
    target = session.target(2, None)
    known = _known(session, target)
    covered = []
    for case in session.cases("quick", 2):
        entries = [] if session.alone(case) else known.matching(case)
        if entries and all(one.seen for one in entries) and not session.known.always(case, target) & ENDS:
            covered.append(case)
    covered.sort(key=_order)
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    for fault in sorted(catalogue.load(), key=lambda one: _order(one.name)):
        if fault.kind == ("fail",) and fault.np <= 2 and len({name for name, _ in found}) < FAULTS:
            cases = [case for case in covered if case not in used and fault.expects(case)]
            several = {case.partition("/")[0]: case for case in reversed(cases)}
            some = [*dict.fromkeys([*several.values(), *cases])][:CASES]
            used.update(some)
            found += [(fault.name, case) for case in some]
    return found


@pytest.mark.skipif(not MPI.startswith("mpich@"), reason="is about the known failures of MPICH")
def test_a_planted_fault_is_new_where_a_failure_is_known(tmp_path: Path) -> None:
    session = Session(Request(MPI, 2), tmp_path / "faults", print)
    pairs = _pairs(session)
    target = session.target(2, "none")
    verdicts: dict[tuple[str, str, bool], Verdict] = {}

    def hear(verdict: Verdict) -> None:
        case, fault, planted = parts(verdict.case)
        verdicts[fault, case, planted] = Verdict(case, verdict.target, verdict.status, verdict.seconds, verdict.extra)

    session.run("known", target, [entry(case, fault, on) for fault, case in pairs for on in (False, True)], hear)

    def seen(fault: str, case: str, planted: bool) -> set[str]:
        one = verdicts[fault, case, planted]
        return {str(signature) for signature in signatures({**one.extra, "status": one.status})}

    def judged(fault: str, case: str, planted: bool) -> str:
        return session.known.apply(verdicts[fault, case, planted], target).status

    unknown = [(case, seen(fault, case, False)) for fault, case in pairs if judged(fault, case, False) in FAILED]
    assert not unknown
    known = _known(session, target)
    showing: dict[str, str] = {}  # by fault, the first case in which it is seen
    for fault, case in pairs:
        failed = verdicts[fault, case, True].status in FAILED
        new = failed and judged(fault, case, True) in FAILED
        # Where the known failure is a matter of chance it may be all that is seen: then the fault did not show.
        chance = any(one.sometimes for one in known.matching(case))
        if (new or not chance) and failed and seen(fault, case, True) - seen(fault, case, False):
            showing.setdefault(fault, case)
    hidden = [one for one in showing.items() if judged(*one, True) not in FAILED]
    assert len(showing) >= ENOUGH, showing
    assert len(hidden) <= (1 - NEW) * len(showing), [
        (*one, seen(*one, False), "with the fault", seen(*one, True)) for one in hidden
    ]
