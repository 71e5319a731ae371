"""What `assay compare` says, on a terminal and in Markdown, for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from reports.compare import Comparison
from reports.defects import Defect
from reports.evidence import printable
from reports.markdown import plain, row

SHOWN_DEFECTS = 50  # of each kind
SHOWN_CASES = 2  # of each of them
SHOWN_TESTS = 12  # in a line

TITLES = {
    "new_failures": "New failures",
    "changed": "Failures that look different now",
    "mended": "Mended",
}


def print_comparison(found: Comparison, console: Console) -> None:
    """Print it; the last line is for scripts."""

    def line(text: str, style: str = "", indent: int = 0) -> None:
        console.print(Text(" " * indent + printable(text), style=style), soft_wrap=True)

    line(headline(found), "bold green" if found.good else "bold red")
    for old, new in found.targets:
        line(new if old == new else f"{old} → {new}", "dim", 2)
    for kind, title in TITLES.items():
        some: Sequence[Defect] = getattr(found, kind)
        if some:
            line(f"\n{title}: {_amount(some)}", "bold")
        for one in some[:SHOWN_DEFECTS]:
            line(f"{one.number}  {_what(found, kind, one)}", "red" if kind == "new_failures" else "", 2)
            for section, text in one.cited:
                line(f"{section}: {text}", "dim", 5)
            line(f"{one.numbers()} of {_named(one.tests)}", indent=5)
            for case in one.found[:SHOWN_CASES]:
                line(f"{case.target} {case.case}", "dim", 5)
        if len(some) > SHOWN_DEFECTS:
            line(f"… {len(some) - SHOWN_DEFECTS:,} more", "dim", 2)
    for text in notes(found):
        line(text)
    line(
        f"assay: {_cases(found.new_failures)} new {_cases(found.mended)} mended {_cases(found.changed)} changed "
        f"{found.flaky.total()} flaky {len(found.slower)} slower {found.added.total()} added {found.gone.total()} gone"
    )


def markdown(found: Comparison) -> str:
    """The comparison as Markdown."""
    pairs = ", ".join(plain(new if old == new else f"{old} → {new}") for old, new in found.targets)
    lines = ["# Assay: two runs compared", "", f"**{plain(headline(found))}**", "", pairs]
    for kind, title in TITLES.items():
        some: Sequence[Defect] = getattr(found, kind)
        if not some:
            continue
        lines += ["", f"## {title}: {_amount(some)}", ""]
        lines += [row(["", "what was seen", "clause", "cases", "of tests", "one of them"]), row(["---"] * 6)]
        for one in some[:SHOWN_DEFECTS]:
            clause = "; ".join(f"{section}: {text}" for section, text in one.cited)
            cells = [str(one.number), _what(found, kind, one), clause, one.numbers(), _named(one.tests)]
            lines.append(row([plain(cell) for cell in (*cells, f"{one.found[0].target} {one.found[0].case}")]))
        if len(some) > SHOWN_DEFECTS:
            lines += ["", f"… {len(some) - SHOWN_DEFECTS:,} more"]
    lines += ["", *(f"- {plain(text)}" for text in notes(found))]
    return "\n".join(lines) + "\n"


def headline(found: Comparison) -> str:
    """`2 new suspected defects in 12 cases; 1 mended in 4 cases`, or `Nothing differs`."""
    kinds = {"new_failures": "new", "changed": "changed", "mended": "mended"}
    said: list[str] = []
    for kind, word in kinds.items():
        if some := getattr(found, kind):
            defects = f"{len(some):,} {word}" + ("" if said else f" suspected defect{'s' if len(some) > 1 else ''}")
            said.append(f"{defects} in {_count(_cases(some))}")
    said += [f"{len(found.slower):,} slower"] if found.slower else []
    return "; ".join(said) or "No failure is new, mended or changed"


def notes(found: Comparison) -> Iterator[str]:
    """What else differs, a line each."""
    for one in found.slower:
        of = "" if one.pairs == 1 else f", over {one.pairs:,} cases"
        seconds = f"{one.old_seconds:.3g} s → {one.new_seconds:.3g} s"
        yield f"slower: {one.name} on {one.target}: {one.ratio:g} times{of} ({seconds})"
    for target, pace in found.pace.items():
        if not 0.8 < pace < 1.25:
            yield f"{target}: the median test takes {pace:g} times as long; tests are compared with that"
    for title, counts in (
        ("differ by chance", found.flaky),
        ("are new", found.added),
        ("are gone", found.gone),
        ("ran now and not before", found.run_now),
    ):
        if counts:
            yield f"{_count(counts.total())} {title}: {_named(_of_tests(counts))}"
    reasons: Counter[str] = Counter()
    for (_, _, reason), number in found.not_run.items():
        reasons[reason] += number
    for reason, number in reasons.most_common(SHOWN_TESTS):
        yield f"{_count(number)} ran before and not now: {reason}"


def _what(found: Comparison, kind: str, one: Defect) -> str:
    return one.what + (f" (before: {found.before[one.number]})" if kind == "changed" else "")


def _cases(some: Sequence[Defect]) -> int:
    return sum(len(one.found) for one in some)


def _amount(some: Sequence[Defect]) -> str:
    return f"{len(some):,} suspected defect{'s' if len(some) > 1 else ''} in {_count(_cases(some))}"


def _count(cases: int) -> str:
    return f"{cases:,} case{'s' if cases != 1 else ''}"


def _of_tests(counts: Mapping[tuple[str, str], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, test), number in counts.items():
        found[test] += number
    return found


def _named(tests: Counter[str]) -> str:
    named = [f"{test} {count:,}" for test, count in tests.most_common(SHOWN_TESTS)]
    left = len(tests) - len(named)
    return ", ".join([*named, *([f"and {left:,} more"] if left else [])])
