"""Which values of which axes decide whether cases fail: a value, a few values, a range, or several such regions.

A small search in the manner of a decision tree, of failing against passing cases. A condition (axis, values) counts
only where chance does not explain it: n failures that had nothing to do with an axis would all fall on k of its values
with a probability of at most binomial(values, k) * share**n, where share is the part of all cases with these values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.evidence import parse_case, value_order

FEW = 3  # values that a sentence names; of more it says how many, or a range
CHANCE = 0.01  # conditions that chance explains together as well as this are none
TELLING = 0.2  # and a condition that chance explains as well as this adds nothing to the others
REGIONS = 3  # at most, of the failures of one test
PURE = 0.5  # of the cases in a region fail: it need not be split

Axes = Mapping[str, str]


@dataclass(frozen=True)
class Condition:
    """`axis` has one of these `values`, which are some of those that were `tried`."""

    axis: str
    values: frozenset[str]
    tried: frozenset[str]

    def __str__(self) -> str:
        if len(self.values) > 1 and all(value.isdecimal() for value in self.tried):
            numbers, failing = sorted(map(int, self.tried)), sorted(map(int, self.values))
            if len(failing) > FEW or len(failing) * 2 >= len(numbers):
                low, high = failing[0], failing[-1]
                bounds = [f"{self.axis}≥{low}"] if low > numbers[0] else []
                bounds += [f"{self.axis}≤{high}"] if high < numbers[-1] else []
                return " and ".join(bounds)
        others = self.tried - self.values
        if len(others) == 1 and len(self.values) > 2:
            return f"{self.axis}≠{min(others)}"
        if len(self.values) <= FEW:
            return f"{self.axis}={' or '.join(sorted(self.values, key=value_order))}"
        shown = sorted(self.values, key=value_order)[:FEW]
        return f"{self.axis}={' or '.join(shown)} or {len(self.values) - FEW} more of {len(self.tried)}"


@dataclass(frozen=True)
class Region:
    """Cases that meet all `conditions`: so many `failed` of those that `ran`."""

    conditions: tuple[Condition, ...]
    failed: int
    ran: int

    def __str__(self) -> str:
        where = ", ".join(map(str, self.conditions)) or "any values"
        return f"{where} ({'all' if self.failed == self.ran else f'{self.failed:,} of'} {self.ran:,})"


def common_factor(bad: Iterable[str], ran: Iterable[str]) -> str:
    """A sentence on what decides that the cases `bad` of `ran` failed, or "" when nothing stands out."""
    bad, ran = list(bad), list(ran)
    if len(bad) < 2:
        return ""
    if len(bad) == len(ran):
        return f"all {len(bad):,} cases that ran fail"
    found = regions(bad, ran)
    if not any(region.conditions for region in found):
        return ""
    if len(found) > 1:
        return f"{len(bad):,} failures: {'; '.join(map(str, found))}"
    (region,) = found
    share = "every such case fails" if region.failed == region.ran else f"{region.ran:,} such cases ran"
    who = "both" if len(bad) == 2 else f"all {len(bad):,}"
    return f"{who} failures have {', '.join(map(str, region.conditions))}; {share}"


def regions(bad: Iterable[str], ran: Iterable[str]) -> list[Region]:
    """Where the cases `bad` of `ran`, of one test or of several, lie; the region with the most failures first.

    `bad` is part of `ran`. A region without conditions says that no axis decides.
    """
    failing = set(bad)
    taken = [(parse_case(case).axes, case in failing) for case in ran]
    found = _regions([axes for axes, fails in taken if fails], [axes for axes, fails in taken if not fails], REGIONS)
    return sorted(found, key=lambda region: -region.failed)


def _regions(bad: Sequence[Axes], good: Sequence[Axes], most: int) -> list[Region]:
    whole, inside = _region(bad, good)
    if most < 2 or len(bad) < 4 or whole.failed >= PURE * whole.ran:
        return [whole]
    # Failures of two kinds: those with one value of an axis and the others are looked at apart, where that leaves
    # fewer cases that pass.
    best: tuple[int, list[Region]] | None = None
    for axis in bad[0]:
        values = Counter(axes.get(axis, "") for axes in bad)
        if len(values) < 2:
            continue
        value = values.most_common(1)[0][0]
        parts = [([one for one in bad if (one.get(axis) == value) is is_it]) for is_it in (True, False)]
        split = [region for part in parts for region in _regions(part, good, most - 1)]
        left = sum(region.ran - region.failed for region in split)
        if len(split) <= most and (best is None or left < best[0]):
            best = left, split
    return best[1] if best is not None and best[0] * 4 < len(inside) else [whole]


def _region(bad: Sequence[Axes], good: Sequence[Axes]) -> tuple[Region, Sequence[Axes]]:
    """The conditions that all of `bad` meet and few of `good`, and those of `good` that meet them, too."""
    conditions: list[Condition] = []
    candidates = []
    for axis in bad[0] if bad else ():
        failing = {axes.get(axis, "") for axes in bad}
        tried = failing | {axes[axis] for axes in good if axis in axes}
        if "" not in failing and len(failing) < len(tried):
            candidates.append(Condition(axis, frozenset(failing), frozenset(tried)))
    inside, chance = good, 1.0
    while candidates and inside and len(bad) > 1:
        kept = {one: [axes for axes in inside if axes.get(one.axis) in one.values] for one in candidates}
        chances = {one: _chance(one, len(bad), kept[one], inside) for one in candidates}
        best = min(candidates, key=lambda one: (chances[one], len(one.values)))
        if chances[best] > TELLING:
            break
        conditions.append(best)
        candidates.remove(best)
        inside, chance = kept[best], chance * chances[best]
    if chance >= CHANCE:  # several conditions may say together what none of them says alone
        conditions, inside = [], good
    order = list(bad[0]) if bad else []
    conditions.sort(key=lambda one: order.index(one.axis))
    return Region(tuple(conditions), len(bad), len(bad) + len(inside)), inside


def _chance(one: Condition, failures: int, kept: Sequence[Axes], before: Sequence[Axes]) -> float:
    """How probable it is that so many failures fall on so few values when the axis has no part in it; at most 1."""
    share = (len(kept) + failures) / (len(before) + failures)
    if len(one.values) == 1 and failures == 2:  # two of a kind: too few for statistics, and what a reader wants to know
        return 0.0
    return min(1.0, math.comb(len(one.tried), len(one.values)) * share**failures)
