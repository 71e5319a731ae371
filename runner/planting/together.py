"""Many planted faults in one launch: the plan says for each case which fault is planted while it runs.

A launch takes as long as a hundred cases, so each fault gets some cases in a launch that all share (docs/formats.md
section 3 has how one fault takes the place of another). What has to be the same as in a launch of its own:

- Directly before a fault its cases run without any, in the same processes: only those that pass can catch it.
- A case that fails there shows that an earlier fault has damaged the processes: the launch ends, and the others get a
  new one.
- Failures and hangs count here. What kills processes is for launches of one fault, as is what nothing has caught.
- A sample of the catches is repeated, each in a launch of its own: it has to fail there, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from runner.model import ENDS, FAILED, Verdict
from runner.planting.catalogue import NO_FAULT
from runner.planting.results import Result, by_turns, take, test_of
from runner.planting.session import TURNS, WIDER, Enough, Session

ENTRIES = 1500  # of a plan: each launch that follows a case that ended its job reads all that is left
LAUNCHES_FOR_ALL = 30  # of those that end for damage; whatever is left then gets launches of its own
MOST_OF_ONE = 200  # cases for one fault; a launch of its own runs all
MOST_ENDS = 3  # launches that a fault may end
SAMPLE = 24  # catches that are repeated
HERE = {"fail", "timeout"}  # what a case that catches a fault may come to in a shared launch


def entry(case: str, fault: str, planted: bool, control: str = NO_FAULT) -> str:
    """A line of the plan. Without the fault its name is there all the same: each fault has its own run of the case."""
    return f"{case} {fault}" if planted else f"{case} {control} {fault}"


def parts(line: str) -> tuple[str, str, bool]:
    """(case, fault, planted): what entry() was made of."""
    case, *words = line.split()
    return case, words[-1], len(words) == 1


class Together:
    """Runs faults in shared launches; what it does not settle is left as it is."""

    def __init__(self, session: Session, results: Sequence[Result]) -> None:
        self.session, self.results = session, results
        self.repeated: dict[str, bool] = {}  # fault of the sample → whether its catch came again
        self.ends: Counter[str] = Counter()  # fault → launches that it ended
        self.led_to: dict[str, list[str]] = {}  # fault → cases that ran under it, up to the one that caught it first

    def run(self) -> None:
        """Run the faults that may be caught by a failing case, more and more cases of those that nothing caught yet."""
        tier = self.session.request.tier
        for first, last in ((1, 1), (2, TURNS), (TURNS + 1, MOST_OF_ONE)):
            some = [(result, turns(self._cases(result, tier), first, last)) for result in self._open()]
            self._share(f"{tier}-{first}", some)
        if tier in WIDER:
            some = [(result, turns(self._cases(result, WIDER[tier]), 1, TURNS)) for result in self._open()]
            self._share(WIDER[tier], some)
        self._repeat_sample()

    def try_tests(self, tests: Iterable[str]) -> None:
        """Give cases of tests that have caught nothing yet to all faults that name them."""
        wanted = []
        for result in self.results:
            if not self._fits(result):
                continue
            cases = [case for case in self._cases(result, self.session.request.tier) if test_of(case) in tests]
            wanted.append((result, turns(cases, 1, TURNS)))
        self._share("tests", wanted, also_caught=True)

    def _open(self) -> list[Result]:
        return [one for one in self.results if not one.catches and self._fits(one)]

    def _fits(self, result: Result) -> bool:
        return not HERE.isdisjoint(result.fault.statuses) and self.ends[result.fault.name] < MOST_ENDS

    def _cases(self, result: Result, tier: str) -> list[str]:
        """The cases that may catch a fault, one of each test in turn."""
        session, fault, np = self.session, result.fault, result.np
        return by_turns(sorted(case for case in session.candidates(fault, np, tier) if not session.alone(case)))

    def _share(self, name: str, wanted: Iterable[tuple[Result, list[str]]], also_caught: bool = False) -> None:
        """Run these cases under their faults, all that have the same set-up in as few launches as there can be."""

        def set_up(one: tuple[Result, list[str]]) -> tuple[int, bool]:
            return one[0].np, one[0].fault.strict

        for (np, strict), some in groupby(sorted((one for one in wanted if one[1]), key=set_up), set_up):
            for part in _in_parts(some):
                todo = {result.fault.name: (result, cases) for result, cases in part}
                for _ in range(LAUNCHES_FOR_ALL):
                    if not todo:
                        break
                    todo = self._launch(f"{name}{'-strict' if strict else ''}", np, strict, todo, also_caught)

    def _launch(
        self,
        name: str,
        np: int,
        strict: bool,
        todo: Mapping[str, tuple[Result, list[str]]],
        also_caught: bool,
    ) -> dict[str, tuple[Result, list[str]]]:
        """One plan; what is to be run in another one, as the processes were found to be damaged."""
        fit: set[tuple[str, str]] = set()  # (case, fault) that passed before the fault was planted
        done: set[tuple[str, str]] = set()  # that need no further launch
        clean = True  # no fault has been planted in this launch yet

        def judge(verdict: Verdict) -> None:
            nonlocal clean
            case, fault, planted = parts(verdict.case)
            result = todo[fault][0]
            if not planted:
                if verdict.status == "pass":
                    fit.add((case, fault))
                elif verdict.status not in FAILED or clean:
                    done.add((case, fault))
                if verdict.status in FAILED:
                    raise Enough
                return
            clean = False
            done.add((case, fault))
            result.cases += 1
            result.seconds += verdict.seconds
            if not result.catches:
                self.led_to.setdefault(fault, []).append(case)
            if verdict.status in ENDS:
                self.ends[fault] += 1
            if (case, fault) in fit and verdict.status in HERE:
                take(result, Verdict(case, verdict.target, verdict.status, verdict.seconds, verdict.extra))

        def enough(lines: Sequence[str]) -> dict[str, str]:
            """Before each further launch of the plan: what it need not run."""
            over = {}
            for line in lines:
                case, fault, planted = parts(line)
                if todo[fault][0].catches and not also_caught:
                    over[line] = "caught already"
                elif self.ends[fault] >= MOST_ENDS:
                    over[line] = "ended too many launches"
                elif planted and (case, fault) not in fit and (case, fault) in done:
                    over[line] = "did not pass without the fault"
            return over

        plan = [
            entry(case, fault, planted, result.fault.control)
            for fault, (result, cases) in todo.items()
            for planted in (False, True)
            for case in cases
        ]
        complete = self.session.run(
            f"together-{name}", self.session.target(np, "none"), plan, judge, strict, hunting=True, enough=enough
        )
        if complete:
            return {}
        left = {
            fault: (result, [case for case in cases if (case, fault) not in done])
            for fault, (result, cases) in todo.items()
            if also_caught or not result.catches
        }
        return {fault: some for fault, some in left.items() if some[1]}

    def _repeat_sample(self) -> None:
        """Repeat some catches, each in a launch of its own. What does not fail there was no catch.

        A fault may need what the cases before have called: these are repeated, too.
        """
        caught = [result for result in self.results if result.catches]
        for result in random.Random(self.session.request.seed).sample(caught, min(SAMPLE, len(caught))):
            first = next(iter(result.catches.values()))
            again: dict[str, str] = {}
            name = result.fault.name
            self.session.run(
                f"again-{name}",
                self.session.target(result.np, name),
                self.led_to[name],
                lambda verdict, again=again: again.update({verdict.case: verdict.status}),  # type: ignore[misc]
                result.fault.strict,
                hunting=True,
            )
            self.repeated[name] = again.get(first.case) == first.status
            if not self.repeated[name]:
                result.catches.clear()


def turns(cases: Iterable[str], first: int, last: int) -> list[str]:
    """Of each test the cases from number `first` to number `last`, at most MOST_OF_ONE."""
    count: Counter[str] = Counter()
    some = []
    for case in cases:
        count[test_of(case)] += 1
        if first <= count[test_of(case)] <= last:
            some.append(case)
    return some[:MOST_OF_ONE]


def _in_parts(some: Iterable[tuple[Result, list[str]]]) -> Iterator[list[tuple[Result, list[str]]]]:
    """Plans of about ENTRIES lines."""
    part: list[tuple[Result, list[str]]] = []
    lines = 0
    for one in some:
        part.append(one)
        lines += 2 * len(one[1])
        if lines >= ENTRIES:
            yield part
            part, lines = [], 0
    if part:
        yield part
