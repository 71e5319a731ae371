"""The summary at the end of a run, on a terminal or in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.advice import advised
from reports.defects import Defect, defects
from reports.evidence import Evidence, objects, printable
from reports.requirements import cited
from runner.model import FAILED, STATUSES, UNEXPECTED

SHOWN_DEFECTS = 100  # in the table
DETAILED_DEFECTS = 20  # with cases
SHOWN_CASES = 3  # of each of these where there are few; of many defects each has one
MANY_DEFECTS = 5
SHORTEST = 8  # characters of a column that is cut
SHOWN_PLACES = 3  # tests of a defect of which it says where the failures lie
SHOWN_LINES = 12  # of each message
SHOWN_REASONS = 8  # why cases were unsupported
REASON_WIDTH = 140

STYLE = {
    "pass": "green",
    "fail": "bold red",
    "crash": "bold red",
    "timeout": "bold red",
    "lost": "bold red",
    "xpass": "bold magenta",
    "xfail": "magenta",
    "flaky": "yellow",
    "skip": "dim",
    "unsupported": "dim",
}


def widen(console: Console) -> None:
    """A log has no right edge: tables in it are not cut."""
    if not console.is_terminal:
        console.width = max(console.width, 160)


def summary_line(counts: Counter[str]) -> str:
    """`assay: 1234 pass 0 fail …`: every status in fixed order, for scripts."""
    return "assay: " + " ".join(f"{counts[status]} {status}" for status in STATUSES)


def print_summary(evidence: Evidence, console: Console) -> None:
    """Print what a run found: counts, suspected defects with cases of each, warnings, and the line for scripts last.

    Raises CannotRun.
    """

    def line(text: str, style: str = "", indent: int = 0) -> None:
        # Text, not markup: a message may hold brackets. Not wrapped: commands are to be copied.
        for row in printable(text).split("\n"):
            console.print(Text(" " * indent + row, style=style), soft_wrap=True)

    _print_counts(evidence, console)
    for text in _known(evidence):
        line(text)
    found = defects(evidence)
    if found:
        _print_defects(found, evidence, console)
    for one in found[:DETAILED_DEFECTS]:
        line("")
        _print_defect(one, evidence, SHOWN_CASES if len(found) <= MANY_DEFECTS else 1, line)
    if (left := len(found) - DETAILED_DEFECTS) > 0:
        line(f"\n… cases of {left:,} more, see report.html", "dim")
    notes = [*_advice(evidence), *_unsupported(evidence)]
    for text in [*([""] if notes else []), *notes]:
        line(text, "dim" if text.startswith(" ") else "yellow")
    if evidence.left_out:
        line(evidence.left_out, "dim")
    if evidence.warnings:
        line("")
    for warning in evidence.warnings:
        line(f"warning: {warning}", "yellow")
    line("")
    line(summary_line(evidence.counts()))


def _print_defects(found: list[Defect], evidence: Evidence, console: Console) -> None:
    """One line for each defect, so that all of them stand on a screen."""
    cases = sum(len(one.found) for one in found)
    several = len(evidence.targets) > 1
    head = f"{len(found):,} suspected defect{'s' if len(found) > 1 else ''} in {cases:,} cases"
    console.print(Text(f"\n{head}", style="bold red"))
    rows = [["", "cases", "clause", "what was seen", "tests", *(["targets"] if several else [])]]
    for one in found[:SHOWN_DEFECTS]:
        clause = " ".join(name for name, _ in one.cited[:1])
        where = [", ".join(one.tests), *([", ".join(one.targets)] if several else [])]
        rows.append([str(one.number), f"{len(one.found):,}", clause, one.what, *where])
    for number, text in enumerate(_aligned(rows, console.width)):
        console.print(Text(text, style="" if number else "dim"), soft_wrap=True)
    if (left := len(found) - SHOWN_DEFECTS) > 0:
        console.print(Text(f"… {left:,} more, see report.html", style="dim"))


def _aligned(rows: list[list[str]], room: int) -> Iterator[str]:
    """Lines of at most `room` characters: the widest columns are cut. The first two columns are numbers."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > SHORTEST:
        widths[widths.index(max(widths))] -= 1
    for row in rows:
        cells = [
            cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(row, widths, strict=True)
        ]
        numbers = [cell.rjust(width) for cell, width in zip(cells[:2], widths, strict=False)]
        yield "  ".join(
            [*numbers, *(cell.ljust(width) for cell, width in zip(cells[2:], widths[2:], strict=True))]
        ).rstrip()


def _print_defect(one: Defect, evidence: Evidence, most: int, line: Callable[..., None]) -> None:
    several = len(evidence.targets) > 1
    line(f"{one.number}  {one.what}", "bold red")
    line(f"{one.numbers()} of {_named(one.tests)}{f' on {_named(one.targets)}' if several else ''}", indent=3)
    for section, text in one.cited:
        line(f"MPI-5.0, {section}: {text}" if section[:1].isdecimal() else f"{section}: {text}", "dim", 3)
    for text in one.places(several)[:SHOWN_PLACES]:
        line(text, "bold", 3)
    for case in one.found[:most]:
        _print_case(next(evidence.details(case.target, [case.case])), line)
    if (left := len(one.found) - most) > 0:
        line(f"… {left:,} more", "dim", 3)


def _print_case(record: dict[str, object], line: Callable[..., None]) -> None:
    line(f"{record['status']:<8}{record['case']}", indent=3)
    message = explain(record).split("\n")
    line("\n".join(message[:SHOWN_LINES]), "dim", 11)
    if len(message) > SHOWN_LINES:
        line(f"… {len(message) - SHOWN_LINES} more lines in report.html", "dim", 11)
    if record.get("repeat"):
        line(f"repeat: {record['repeat']}", "cyan", 11)


def _named(counts: Counter[str]) -> str:
    """`p2p.ring`, or `p2p.ring 12, p2p.probe 3`."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common())


def explain(record: dict[str, object]) -> str:
    """Why the case of this line of cases.jsonl did not pass, in plain text; may have many lines."""
    parts = [str(record["reason"])] if record.get("reason") else []
    if record.get("known"):
        parts.append(f"known: {record['known']}" + (f" ({record['known_link']})" if record.get("known_link") else ""))
    for rank in objects(record.get("ranks")):
        head = f"rank {rank.get('rank')}:" + (f" {rank['status']}" if rank.get("status") else "")
        head += f" {rank['signal']}" if rank.get("signal") else ""
        head += f" exit {rank['exit']}" if rank.get("exit") is not None else ""
        head += f" [{rank['check']}]" if rank.get("check") else ""
        head += f" in {rank['call']}" if rank.get("call") else ""
        head += f" at {rank['where']}" if rank.get("where") else ""
        stack = rank.get("stack")
        body = [str(rank["message"])] if rank.get("message") else []
        body += [f"rests on {section}: {text}" for section, text in cited(rank.get("requirements"))]
        body += [str(frame) for frame in stack] if isinstance(stack, list) else []
        parts += [head, *body]
    return "\n".join(parts)


def _known(evidence: Evidence) -> Iterator[str]:
    """What is new and what is known, one line a target. Entries with the same link are about one defect."""
    for target, about in evidence.about.items():
        counts = evidence.counts(target)
        if not counts:
            continue
        words = [f"{sum(counts[status] for status in FAILED):,} new"]
        if counts["xpass"]:
            words.append(f"{counts['xpass']:,} passed that were known to fail")
        if number := counts["xfail"]:
            cases = [case for case, entry in evidence.cases[target].items() if entry.status == "xfail"]
            defects = len({record.get("known_link") for record in evidence.details(target, cases)})
            words.append(
                f"{defects:,} known defect{'s' if defects > 1 else ''} in {number:,} case{'s' if number > 1 else ''} "
                "(--no-known counts them as new)"
            )
        yield f"{target}: {', '.join(words)}"
        if about.get("known") == 0:
            yield f"{target}: the known failures do not speak of this library or version: all that fails is new"


def _advice(evidence: Evidence) -> Iterator[str]:
    """How many passing cases carry advice, one line a target."""
    for one in advised(evidence):
        yield f"{_of(one.target, evidence)}{one.sentence()}; report.html has what it says, --strict fails them"


def _unsupported(evidence: Evidence) -> Iterator[str]:
    """How many cases were unsupported for which reason."""
    for target in evidence.targets:
        reasons = evidence.reasons_of(target, "unsupported")
        if not reasons:
            continue
        yield f"{_of(target, evidence)}{reasons.total():,} unsupported:"
        for reason, count in reasons.most_common(SHOWN_REASONS):
            cut = reason if len(reason) <= REASON_WIDTH else f"{reason[: REASON_WIDTH - 1]}…"
            yield f"  {count:>7,}  {cut}"
        if (left := len(reasons) - SHOWN_REASONS) > 0:
            others = sum(sorted(reasons.values())[:left])
            yield f"  {others:>7,}  for {left:,} more reason{'s' if left > 1 else ''}, see report.html"


def _of(target: str, evidence: Evidence) -> str:
    return f"{target}: " if len(evidence.targets) > 1 else ""


def _print_counts(evidence: Evidence, console: Console) -> None:
    if not evidence.targets:
        return
    present = [status for status in STATUSES if any(evidence.counts(target)[status] for target in evidence.targets)]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("target", no_wrap=True)
    for status in present:
        table.add_column(status, justify="right", no_wrap=True)
    for target in evidence.targets:
        counts = evidence.counts(target)
        bad = any(counts[status] for status in UNEXPECTED)
        numbers = [Text(f"{counts[status]:,}", STYLE[status] if counts[status] else "dim") for status in present]
        table.add_row(Text(printable(target), "bold red" if bad else "bold"), *numbers)
    console.print(table)
