"""The simplest case that still fails as a given one does, and which values of its axes matter.

Candidates differ from the case in hand by one axis; what may be simplified alone is then tried together. The search
knows neither MPI nor launches: `Trials` runs cases (runner/explaining/trials.py) and counts what that costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reports.evidence import parse_case
from runner.explaining.order import Order, size_of, with_value

ROUNDS = 6  # of simplifying
PER_AXIS = 12  # values that are tried in place of a complex one
PER_AXIS_ENDING = 5  # where each failure ends its job
AROUND = 24  # values of an axis of which it is said whether they matter
REPEATS = 5


class Spent(Exception):
    """The number of cases or of launches that a search may take is used up."""


class Trials(Protocol):
    """Runs cases and says which of them fail as the wanted one does."""

    ending: bool  # whether a failure ends its job, which costs a launch each time

    def exists(self, cases: Iterable[str], np: int) -> set[str]:
        """The ones of these cases that can run with `np` ranks."""

    def fail(self, groups: Sequence[Sequence[str]], np: int, *, first: bool = False) -> dict[str, bool]:
        """Whether each case fails in the same way. `first`: of a group no more is needed than its first failure.

        Cases that were left out for that, or could not be judged, are missing. Raises Spent.
        """


@dataclass
class Smallest:
    """What a search found."""

    case: str
    np: int
    start: str
    start_np: int
    failures: int = 0  # of `runs` repetitions
    runs: int = 0
    around: dict[str, dict[str, bool]] = field(default_factory=dict)  # axis → value → whether it fails with it
    cases_run: int = 0
    launches: int = 0
    seconds: float = 0.0
    ended_early: bool = False  # because the budget was spent
    note: str = ""

    @property
    def flaky(self) -> bool:
        return 0 < self.failures < self.runs


def search(
    starts: Sequence[tuple[str, int]], orders: Mapping[str, Order], trials: Trials, nps: Sequence[int]
) -> Smallest:
    """The smallest case near one of the `starts` (case, ranks): the first of them that fails again.

    `orders` are by test. `nps`: numbers of ranks from which a smaller one may be taken.
    """
    made = Smallest(starts[0][0], starts[0][1], *starts[0])
    try:
        for case, np in starts:
            made.case, made.np, made.start, made.start_np = case, np, case, np
            if any(trials.fail([[case]], np).get(case) for _ in range(3)):
                break
        else:
            made.note = "it did not fail again by itself: in the run other cases came before it"
            return made
        _descend(made, orders, trials, nps)
        for _ in range(3 if trials.ending else REPEATS):
            made.failures += bool(trials.fail([[made.case]], made.np).get(made.case))
            made.runs += 1
        _look_around(made, orders, trials, nps)
    except Spent:
        made.ended_early = True
    return made


def _descend(made: Smallest, orders: Mapping[str, Order], trials: Trials, nps: Sequence[int]) -> None:
    order = orders[parse_case(made.case).test]
    for _ in range(ROUNDS):
        before = made.case, made.np
        for np in (np for np in nps if np < made.np):  # fewer ranks first: all that follows is faster
            if trials.exists([made.case], np) and trials.fail([[made.case]], np).get(made.case):
                made.np = np
                break
        most = PER_AXIS_ENDING if trials.ending else PER_AXIS
        wanted = {axis: _spread(cases, most) for axis, cases in order.simpler(made.case).items()}
        there = trials.exists([case for cases in wanted.values() for case in cases], made.np)
        groups = [[case for case in cases if case in there] for cases in wanted.values()]
        failing = trials.fail([group for group in groups if group], made.np, first=True)
        changes = {
            axis: next(case for case in cases if failing.get(case))
            for axis, cases in wanted.items()
            if any(failing.get(case) for case in cases)
        }
        _together(made, changes, trials)
        if (made.case, made.np) == before:
            return


def _spread(cases: Sequence[str], most: int) -> list[str]:
    """At most so many of the cases: the simplest ones, and some of the others."""
    if len(cases) <= most:
        return list(cases)
    head = most // 2
    rest = cases[head:]
    return [*cases[:head], *(rest[k * len(rest) // (most - head)] for k in range(most - head))]


def _together(made: Smallest, changes: Mapping[str, str], trials: Trials) -> None:
    """Take all the changes at once, or as many as still fail."""
    values = {axis: parse_case(case).axes[axis] for axis, case in changes.items()}
    if not values:
        return
    if len(values) > 1:
        case = made.case
        for axis, value in values.items():
            case = with_value(case, axis, value)
        if trials.exists([case], made.np) and trials.fail([[case]], made.np).get(case):
            made.case = case
            return
    for axis, value in values.items():  # the first was seen to fail; the others with it, or not
        case = with_value(made.case, axis, value)
        seen = case == next(iter(changes.values()))
        if seen or (trials.exists([case], made.np) and trials.fail([[case]], made.np).get(case)):
            made.case = case


def _look_around(made: Smallest, orders: Mapping[str, Order], trials: Trials, nps: Sequence[int]) -> None:
    order = orders[parse_case(made.case).test]
    most = PER_AXIS_ENDING if trials.ending else AROUND
    wanted = {axis: _spread(cases, most) for axis, cases in order.others(made.case).items()}
    there = trials.exists([case for cases in wanted.values() for case in cases], made.np)
    groups = {axis: [case for case in cases if case in there] for axis, cases in wanted.items()}
    own = parse_case(made.case).axes
    failing = trials.fail([group for group in groups.values() if group], made.np)
    for axis, cases in groups.items():
        told = {parse_case(case).axes[axis]: failing[case] for case in cases if case in failing}
        if told:
            made.around[axis] = {own[axis]: True, **told}
    ranks = {}
    for np in nps:
        if np != made.np and trials.exists([made.case], np):
            ranks[str(np)] = bool(trials.fail([[made.case]], np).get(made.case))
    if ranks:
        made.around["np"] = {str(made.np): True, **ranks}


def sentence(made: Smallest, orders: Mapping[str, Order]) -> str:
    """Which values matter: "for every comm and type, from count 2 on, only completion=waitall"."""
    order = orders.get(parse_case(made.case).test, Order({}))
    any_of, parts = [], []
    for axis, told in made.around.items():
        failing = [value for value, fails in told.items() if fails]
        passing = [value for value, fails in told.items() if not fails]
        if not passing:
            any_of.append(axis)
        elif text := _range(axis, failing, passing):
            parts.append(text)
        elif len(failing) == 1:
            parts.append(f"only {axis}={failing[0]}")
        elif len(failing) <= len(passing) or len(passing) > 3:
            parts.append(f"only {axis}={_some(axis, failing, order)}")
        else:
            parts.append(f"every {axis} but {_some(axis, passing, order)}")
    head = (
        [f"for every {' and '.join(filter(None, [', '.join(any_of[:-1]), any_of[-1]]))} that was tried"]
        if any_of
        else []
    )
    return ", ".join([*head, *parts]) or "no other values can be tried"


def _range(axis: str, failing: Sequence[str], passing: Sequence[str]) -> str:
    sizes = [[size_of(value) for value in values] for values in (failing, passing)]
    if any(size is None for values in sizes for size in values) or len(failing) + len(passing) < 3:
        return ""
    bad, good = ([float(size) for size in values if size is not None] for values in sizes)
    if min(bad) > max(good):
        return f"from {axis} {min(failing, key=lambda value: size_of(value) or 0)} on"
    if max(bad) < min(good):
        return f"up to {axis} {max(failing, key=lambda value: size_of(value) or 0)}"
    return ""


def _some(axis: str, values: Sequence[str], order: Order) -> str:
    ordered = sorted(values, key=lambda value: order.place(axis, value))
    return ",".join(ordered[:4]) + (f" and {len(ordered) - 4} more" if len(ordered) > 4 else "")
