"""What there is to explain in a run: its suspected defects (reports/defects.py), or one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.defects import defects
from reports.evidence import Evidence, parse_case
from reports.signature import Signature, main_signature
from runner.model import FAILED

OF_A_RUN = frozenset({*FAILED, "xfail"})


@dataclass
class Suspect:
    """A suspected defect, on the library on which most of its cases failed."""

    number: int  # in the summary of the run; 0 for a case that was named
    signature: Signature
    target: str
    cases: list[tuple[str, int]] = field(default_factory=list)  # with their number of ranks; those of `signature`
    all_cases: list[str] = field(default_factory=list)  # also those that saw something else of it
    link: str = ""  # of the known failure that explains it
    sample: Mapping[str, Any] = field(default_factory=dict)  # the record of its first case

    @property
    def tests(self) -> list[str]:
        return list(dict.fromkeys(parse_case(case).test for case in self.all_cases))


def suspects(evidence: Evidence, with_known: bool) -> list[Suspect]:
    """The suspected defects of a run, with the numbers of its summary. `with_known`: also what is explained."""
    found: list[Suspect] = []
    groups = defects(evidence, lambda entry: entry.status in OF_A_RUN) if with_known else defects(evidence)
    for group in groups:
        mpis = Counter(str(evidence.about.get(one.target, {}).get("mpi")) for one in group.found)
        mpi = mpis.most_common(1)[0][0]
        here = [one for one in group.found if str(evidence.about.get(one.target, {}).get("mpi")) == mpi]
        first = next((one for one in here if one.main.status in FAILED), None)
        if first is None:
            continue  # of cases that passed although they are known to fail
        alike = [one for one in here if same(one.main, first.main)]
        record = next(evidence.details(first.target, [first.case]))
        found.append(
            Suspect(
                group.number,
                first.main,
                first.target,
                [(one.case, int(evidence.about[one.target].get("np") or 0)) for one in alike],
                [one.case for one in here],
                str(record.get("known_link") or ""),
                record,
            )
        )
    return found


def same(one: Signature, other: Signature) -> bool:
    """Whether two ranks saw the same: a death in the same call, or a finding of the same kind on the same requirement.

    The place in the suite may differ, and for a finding the call: it is the last one before the check, which other
    values of an axis put in its place.
    """
    if one.status == "fail":
        return (one.status, one.what, one.requirement) == (other.status, other.what, other.requirement)
    return (one.status, one.what, one.call) == (other.status, other.what, other.call)


def suspect_of(evidence: Evidence, case: str) -> Suspect | None:
    """What one case of a run shows; None when it did not fail there."""
    for target, entries in evidence.cases.items():
        if case not in entries or entries[case].status not in OF_A_RUN:
            continue
        record = next(evidence.details(target, [case]))
        if signature := main_signature(record):
            np = int(evidence.about.get(target, {}).get("np") or 0)
            link = str(record.get("known_link") or "")
            return Suspect(0, signature, target, [(case, np)], [case], link, record)
    return None


def starts(suspect: Suspect, complexity: Callable[[str], Any], most: int = 3) -> Sequence[tuple[str, int]]:
    """The simplest of its failing cases, fewest ranks first: of different tests where it has several."""
    ordered = sorted(suspect.cases, key=lambda one: (one[1], complexity(one[0])))
    tests: set[str] = set()
    best: list[tuple[str, int]] = []
    for one in ordered:
        if (test := parse_case(one[0]).test) not in tests:
            tests.add(test)
            best.append(one)
    return [*best, *(one for one in ordered if one not in best)][:most]
