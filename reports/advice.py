"""Passing cases that carry advice: what the standard only advises, and the library does otherwise. None fails a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reports.evidence import Evidence

SHOWN_TESTS = 8  # in one line


@dataclass
class Advised:
    """The passing cases of one target, and those of them that carry advice, by test, the most frequent test first."""

    target: str
    passed: int = 0
    tests: Counter[str] = field(default_factory=Counter)

    @property
    def cases(self) -> int:
        """How many passing cases carry advice."""
        return self.tests.total()

    def sentence(self) -> str:
        """`28 of 131 passing cases carry advice: p2p.x 12, p2p.y 9, …`."""
        named = [f"{test} {count:,}" for test, count in self.tests.most_common(SHOWN_TESTS)]
        left = len(self.tests) - len(named)
        named += [f"and {left:,} more test{'s' if left > 1 else ''}"] if left else []
        return f"{self.cases:,} of {self.passed:,} passing cases carry advice: {', '.join(named)}"


def advised(evidence: Evidence) -> list[Advised]:
    """One for each target with passing cases that carry advice, in the order of the targets."""
    found = []
    for target, entries in evidence.cases.items():
        one = Advised(target, sum(entry.status == "pass" for entry in entries.values()))
        with_advice = evidence.advisory.get(target, ())
        one.tests.update(sorted(case.partition("/")[0] for case in with_advice if entries[case].status == "pass"))
        if one.tests:
            found.append(one)
    return found
