"""Two runs side by side: what fails now and did not, what is mended, what fails otherwise, what depends on chance, what
has become slower, and which cases are there in one run only (`assay compare`, docs/formats.md section 6).
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.defects import Defect, defects
from reports.evidence import Entry, Evidence
from reports.signature import Signature, main_signature
from runner.model import FAILED, NOT_RUN, WrongUse

FEWEST_PAIRS = 6  # cases of a test that passed in both runs: with fewer nothing is said of its time
SLOWER = 1.25  # times: less is not worth a line, whatever statistics say
DEVIATIONS = 5  # of the tests among themselves: what varies that much between these runs is no noise
FALSE_ALARMS = 0.01  # of the tests that are called slower, at most
SHORTEST = 20e-6  # seconds of a case that count: below that the clock of the ranks and their start decide
LONG, LONGER = 1.0, 10.0  # a single case has become slow when it takes so many seconds and so many times more

Case = tuple[str, str]  # target (of the newer run) and name


@dataclass(frozen=True)
class Slower:
    """A test, or a single case, that takes `ratio` times as long; `pairs` cases were compared."""

    target: str
    name: str
    ratio: float
    old_seconds: float
    new_seconds: float
    pairs: int


@dataclass
class Comparison:
    """What differs between two runs. Defects of `mended` are those of the older run, the others of the newer one."""

    old: Evidence
    new: Evidence
    targets: list[tuple[str, str]]  # the older and the newer one of each pair
    new_failures: list[Defect] = field(default_factory=list)
    mended: list[Defect] = field(default_factory=list)
    changed: list[Defect] = field(default_factory=list)
    before: dict[int, str] = field(default_factory=dict)  # what most cases of a changed defect saw in the older run
    flaky: Counter[tuple[str, str]] = field(default_factory=Counter)  # by target and test: differ by chance
    slower: list[Slower] = field(default_factory=list)
    pace: dict[str, float] = field(default_factory=dict)  # how many times as long the median test of a target takes
    added: Counter[tuple[str, str]] = field(default_factory=Counter)  # cases by target and test
    gone: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_run: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # ran before; by target, test and reason
    run_now: Counter[tuple[str, str]] = field(default_factory=Counter)  # did not run before

    @property
    def good(self) -> bool:
        """Whether nothing fails that did not fail before."""
        return not self.new_failures


def compare(old: Evidence, new: Evidence) -> Comparison:
    """Compare two runs. Raises WrongUse when they have no target in common, CannotRun when they cannot be read."""
    result = Comparison(old, new, _pairs(old, new))
    failed_now: dict[str, list[str]] = defaultdict(list)
    mended: dict[str, list[str]] = defaultdict(list)
    otherwise: dict[str, list[str]] = defaultdict(list)
    seen_before: dict[Case, Signature] = {}
    times: dict[Case, list[tuple[str, float, float]]] = defaultdict(list)  # by target and test: case, before, now
    for old_name, name in result.targets:
        before, now = old.cases[old_name], new.cases[name]
        both_failed = []
        chance = _by_chance(old, old_name) | _by_chance(new, name)
        for case, entry in now.items():
            test = case.partition("/")[0]
            earlier = before.get(case)
            if earlier is None:
                result.added[name, test] += 1
            elif earlier.status in NOT_RUN or entry.status in NOT_RUN:
                if earlier.status in NOT_RUN and entry.status not in NOT_RUN:
                    result.run_now[name, test] += 1
            elif earlier.status == entry.status == "pass":
                times[name, test].append((case, earlier.seconds, entry.seconds))
                continue
            fails, failed = _fails(entry), earlier is not None and _fails(earlier)
            if case in chance or "flaky" in (entry.status, earlier.status if earlier else ""):
                if earlier is not None and (fails != failed or entry.status != earlier.status):
                    result.flaky[name, test] += 1
            elif fails and failed:
                both_failed.append(case)
            elif fails:
                failed_now[name].append(case)
            elif failed and entry.status not in NOT_RUN:
                mended[old_name].append(case)
        result.gone.update((name, case.partition("/")[0]) for case in before.keys() - now.keys())
        _lost(result, old_name, name)
        pairs = zip(old.details(old_name, both_failed), new.details(name, both_failed), strict=True)
        for record, later in pairs:
            was, is_now = main_signature(record), main_signature(later)
            if was is not None and is_now is not None and not _alike(was, is_now):
                otherwise[name].append(later["case"])
                seen_before[name, later["case"]] = was
    result.new_failures = defects(new, only=failed_now)
    result.mended = defects(old, only=mended)
    result.changed = defects(new, only=otherwise)
    for defect in result.changed:
        often = Counter(str(seen_before[one.target, one.case]) for one in defect.found)
        result.before[defect.number] = often.most_common(1)[0][0]
    _measure(result, times)
    return result


def record(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON (docs/formats.md, section 6)."""

    def of_defect(one: Defect) -> dict[str, Any]:
        return {
            "what": one.what,
            "clauses": [section for section, _ in one.cited],
            "status": dict(one.status),
            "tests": dict(one.tests),
            "targets": dict(one.targets),
            "cases": [{"target": case.target, "case": case.case, "status": case.status} for case in one.found],
        }

    def by_test(counts: Mapping[Any, int]) -> list[dict[str, Any]]:
        keys = ("target", "test", "reason")
        return [{**dict(zip(keys, key, strict=False)), "cases": number} for key, number in counts.items()]

    return {
        "format": 1,
        "old": str(comparison.old.out),
        "new": str(comparison.new.out),
        "targets": [list(pair) for pair in comparison.targets],
        "good": comparison.good,
        "new_failures": [of_defect(one) for one in comparison.new_failures],
        "mended": [of_defect(one) for one in comparison.mended],
        "changed": [{**of_defect(one), "before": comparison.before[one.number]} for one in comparison.changed],
        "flaky": by_test(comparison.flaky),
        "slower": [vars(one) for one in comparison.slower],
        "pace": comparison.pace,
        "added": by_test(comparison.added),
        "gone": by_test(comparison.gone),
        "not_run": by_test(comparison.not_run),
        "run_now": by_test(comparison.run_now),
    }


def _pairs(old: Evidence, new: Evidence) -> list[tuple[str, str]]:
    """The targets that are compared: those of one name, else those with as many ranks and the same transport."""
    same = [(name, name) for name in new.targets if name in old.cases]
    if same:
        return same

    def kind(evidence: Evidence, name: str) -> tuple[Any, Any]:
        about = evidence.about.get(name, {})
        return about.get("np"), about.get("transport")

    pairs = []
    for name in new.targets:
        alike = [other for other in old.targets if kind(old, other) == kind(new, name)]
        if len(alike) == 1 and sum(kind(new, other) == kind(new, name) for other in new.targets) == 1:
            pairs.append((alike[0], name))
    if not pairs:
        raise WrongUse(
            f"{old.out} has {', '.join(old.targets) or 'no target'}, {new.out} {', '.join(new.targets) or 'none'}: "
            "no target of one goes with one of the other; compare runs with as many ranks"
        )
    return pairs


def _fails(entry: Entry) -> bool:
    return entry.status in FAILED or entry.status == "xfail"


def _by_chance(evidence: Evidence, target: str) -> set[str]:
    """The cases that failed as known failures that happen only sometimes."""
    cases = [case for case, entry in evidence.cases[target].items() if entry.status == "xfail"]
    return {line["case"] for line in evidence.details(target, cases) if line.get("by_chance")}


def _alike(was: Signature, is_now: Signature) -> bool:
    return (was.status, was.what, was.call) == (is_now.status, is_now.what, is_now.call)


def _lost(result: Comparison, old_name: str, name: str) -> None:
    """Count the cases that ran in the older run only, with the reasons."""
    before, now = result.old.cases[old_name], result.new.cases[name]
    lost = [
        case
        for case, entry in now.items()
        if entry.status in NOT_RUN and case in before and before[case].status not in NOT_RUN
    ]
    for line in result.new.details(name, lost):
        result.not_run[name, line["case"].partition("/")[0], str(line.get("reason") or "no reason given")] += 1


def _measure(result: Comparison, times: Mapping[Case, Sequence[tuple[str, float, float]]]) -> None:
    """Which tests and cases have become slower, beyond what varies between these two runs anyway.

    Cases are compared in pairs, by the logarithm of how many times as long they take. What all tests of a target have
    in common, as on another or a busier machine, is no news of a test: it is taken off.
    """
    from scipy.stats import false_discovery_control, wilcoxon  # type: ignore[import-untyped]

    for _, target in result.targets:
        shifts: dict[str, list[float]] = {}
        for (of_target, test), pairs in times.items():
            if of_target == target and len(pairs) >= FEWEST_PAIRS:
                shifts[test] = [math.log(max(now, SHORTEST) / max(before, SHORTEST)) for _, before, now in pairs]
        if not shifts:
            continue
        medians = {test: statistics.median(some) for test, some in shifts.items()}
        common = statistics.median(medians.values())
        spread = 1.4826 * statistics.median(abs(median - common) for median in medians.values())
        result.pace[target] = round(math.exp(common), 3)
        least = max(math.log(SLOWER), DEVIATIONS * spread)
        suspects = {test: some for test, some in shifts.items() if medians[test] - common > least}
        tested = [
            float(wilcoxon([one - common for one in some], alternative="greater").pvalue) for some in suspects.values()
        ]
        for test, chance in zip(suspects, false_discovery_control(tested) if tested else [], strict=True):
            if chance < FALSE_ALARMS:
                pairs = times[target, test]
                ratio = math.exp(medians[test] - common)
                before, now = sum(pair[1] for pair in pairs), sum(pair[2] for pair in pairs)
                result.slower.append(Slower(target, test, round(ratio, 2), before, now, len(pairs)))
        slow_tests = {one.name for one in result.slower if one.target == target}
        for (of_target, test), pairs in times.items():
            for case, before, now in pairs if of_target == target and test not in slow_tests else ():
                if now - before > LONG and now > LONGER * max(before, SHORTEST) * max(1.0, math.exp(common)):
                    ratio = round(now / max(before, SHORTEST), 2)
                    result.slower.append(Slower(target, case, ratio, before, now, 1))
    result.slower.sort(key=lambda one: -(one.new_seconds - one.old_seconds))
