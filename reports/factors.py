"""What the failing cases of a test have in common: the value, the few values or the range of an axis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from reports.evidence import NOT_RUN, UNEXPECTED, WORST_FIRST, Evidence, parse_case, value_order

FEW = 3  # more values than this are no factor a reader could use


@dataclass
class Group:
    """The unexpected cases of one test on one target. `factor` is a sentence, or "" when nothing stands out."""

    target: str
    test: str
    cases: list[str] = field(default_factory=list)  # worst first
    status: Counter[str] = field(default_factory=Counter)
    ran: int = 0
    factor: str = ""


def groups(evidence: Evidence) -> list[Group]:
    """One group for each target and test with unexpected cases, in the order of the targets, the largest first."""
    result: list[Group] = []
    for target, entries in evidence.cases.items():
        by_test: dict[str, list[str]] = defaultdict(list)
        bad_tests = {parse_case(case).test for case, entry in entries.items() if entry.status in UNEXPECTED}
        if not bad_tests:
            continue
        for case, entry in entries.items():
            if entry.status not in NOT_RUN and (test := case.split("/", 1)[0]) in bad_tests:
                by_test[test].append(case)
        found = []
        for test, ran in by_test.items():
            bad = [case for case in ran if entries[case].status in UNEXPECTED]
            bad.sort(key=lambda case: WORST_FIRST.index(entries[case].status))
            status = Counter(entries[case].status for case in bad)
            found.append(Group(target, test, bad, status, len(ran), common_factor(bad, ran)))
        result += sorted(found, key=lambda group: (-len(group.cases), group.test))
    return result


def common_factor(bad: Iterable[str], ran: Iterable[str]) -> str:
    """A sentence on what the cases `bad` share and the other cases of `ran` mostly do not, or "".

    For each axis that was tried with more than one value: one value, at most three values, or a range of numbers.
    """
    bad_cases = [parse_case(case).axes for case in bad]
    all_cases = [parse_case(case).axes for case in ran]
    if len(bad_cases) < 2:
        return ""
    parts: list[str] = []
    allowed: dict[str, set[str]] = {}
    for axis in bad_cases[0]:
        tried = {axes[axis] for axes in all_cases if axis in axes}
        failing = {axes.get(axis, "") for axes in bad_cases}
        if "" in failing or len(failing) == len(tried):
            continue
        # Two values shared by three failures say nothing: it takes several failures a value to be no chance.
        enough = len(bad_cases) >= 3 * len(failing)
        if len(failing) == 1 or (enough and len(failing) <= FEW and 2 * len(failing) < len(tried)):
            parts.append(f"{axis}={' or '.join(sorted(failing, key=value_order))}")
        elif enough and all(value.isdecimal() for value in tried):
            numbers = sorted(map(int, tried))
            low, high = min(map(int, failing)), max(map(int, failing))
            failing = {value for value in tried if low <= int(value) <= high}
            if len(failing) == len(tried):
                continue
            bounds = [f"{axis}≥{low}"] if low > numbers[0] else []
            bounds += [f"{axis}≤{high}"] if high < numbers[-1] else []
            parts.append(" and ".join(bounds))
        else:
            continue
        allowed[axis] = failing
    if not parts:
        return "" if len(bad_cases) < len(all_cases) else f"all {len(bad_cases)} cases that ran fail"
    such = sum(all(axes.get(axis) in values for axis, values in allowed.items()) for axes in all_cases)
    share = "every such case fails" if such == len(bad_cases) else f"{such:,} such cases ran"
    who = "both" if len(bad_cases) == 2 else f"all {len(bad_cases):,}"
    return f"{who} failures have {', '.join(parts)}; {share}"
