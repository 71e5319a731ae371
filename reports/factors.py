"""Which values of which axes decide whether cases fail: a value, a few values, a range, or several such regions.

A small search in the manner of a decision tree, of failing against passing cases. A condition (axis, values) counts
only where chance does not explain it: n failures that had nothing to do with an axis would all fall on k of its values
with a probability of at most binomial(values, k) * share**n, where share is the part of all cases with these values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from reports.evidence import parse_case, value_order

FEW = 3  # values that a sentence names; of more it says how many, or a range
CHANCE = 0.01  # conditions that chance explains together as well as this are none
TELLING = 0.2  # and a condition that chance explains as well as this adds nothing to the others
REGIONS = 3  # at most, of the failures of one test
PURE = 0.5  # of the cases in a region fail: it need not be split


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


class Table:
    """Some cases and the values of their axes. A set of cases is a number whose bit n stands for the n-th case."""

    def __init__(self, cases: Iterable[str]) -> None:
        self.bits: dict[str, int] = {}
        self.axes: dict[str, dict[str, int]] = {}
        for number, case in enumerate(dict.fromkeys(cases)):
            self.bits[case] = bit = 1 << number
            for axis, value in parse_case(case).axes.items():
                values = self.axes.setdefault(axis, {})
                values[value] = values.get(value, 0) | bit

    def regions(self, bad: Iterable[str]) -> list[Region]:
        """Where the cases `bad` lie among all; the region with the most failures first.

        A region without conditions says that no axis decides.
        """
        failing = sum(self.bits[case] for case in set(bad))
        passing = sum(self.bits.values()) & ~failing
        return sorted(self._split(failing, passing, REGIONS), key=lambda region: -region.failed)

    def _split(self, bad: int, good: int, most: int) -> list[Region]:
        whole = self._region(bad, good)
        if most < 2 or whole.failed < 4 or whole.failed >= PURE * whole.ran:
            return [whole]
        # Failures of two kinds: those with one value of an axis and the others are looked at apart, where that leaves
        # fewer cases that pass.
        best: tuple[int, list[Region]] | None = None
        for values in self.axes.values():
            part = max((bits & bad for bits in values.values()), key=int.bit_count)
            if not part or part == bad:
                continue
            split = [region for some in (part, bad & ~part) for region in self._split(some, good, most - 1)]
            left = sum(region.ran - region.failed for region in split)
            if len(split) <= most and (best is None or left < best[0]):
                best = left, split
        return best[1] if best is not None and best[0] * 4 < whole.ran - whole.failed else [whole]

    def _region(self, bad: int, good: int) -> Region:
        """The conditions that all of `bad` meet and few of `good`."""
        failures, everywhere = bad.bit_count(), bad | good
        conditions: list[Condition] = []
        candidates: dict[Condition, int] = {}
        for axis, values in self.axes.items():
            failing = [value for value, bits in values.items() if bits & bad]
            tried = [value for value, bits in values.items() if bits & everywhere]
            allowed = _union(values[value] for value in failing)
            if allowed & bad == bad and len(failing) < len(tried):
                candidates[Condition(axis, frozenset(failing), frozenset(tried))] = allowed
        inside, chance = good, 1.0
        while candidates and inside and failures > 1:
            chances = {one: _chance(one, failures, inside & bits, inside) for one, bits in candidates.items()}
            best = min(candidates, key=lambda one: (chances[one], len(one.values)))
            if chances[best] > TELLING:
                break
            conditions.append(best)
            inside &= candidates.pop(best)
            chance *= chances[best]
        if chance >= CHANCE:  # several conditions may say together what none of them says alone
            conditions, inside = [], good
        order = list(self.axes)
        conditions.sort(key=lambda one: order.index(one.axis))
        return Region(tuple(conditions), failures, failures + inside.bit_count())


def common_factor(bad: Iterable[str], ran: Iterable[str]) -> str:
    """A sentence on what decides that the cases `bad` of `ran` failed, or "" when nothing stands out."""
    bad, table = list(bad), Table(ran)
    if len(bad) < 2:
        return ""
    if len(bad) == len(table.bits):
        return f"all {len(bad):,} cases that ran fail"
    found = table.regions(bad)
    if not any(region.conditions for region in found):
        return ""
    if len(found) > 1:
        return f"{len(bad):,} failures: {'; '.join(map(str, found))}"
    (region,) = found
    share = "every such case fails" if region.failed == region.ran else f"{region.ran:,} such cases ran"
    who = "both" if len(bad) == 2 else f"all {len(bad):,}"
    return f"{who} failures have {', '.join(map(str, region.conditions))}; {share}"


def _union(some: Iterable[int]) -> int:
    whole = 0
    for bits in some:
        whole |= bits
    return whole


def _chance(one: Condition, failures: int, kept: int, before: int) -> float:
    """How probable it is that so many failures fall on so few values when the axis has no part in it; at most 1."""
    if len(one.values) == 1 and failures == 2:  # two of a kind: too few for statistics, and what a reader wants to know
        return 0.0
    share = (kept.bit_count() + failures) / (before.bit_count() + failures)
    return min(1.0, math.comb(len(one.tried), len(one.values)) * share**failures)
