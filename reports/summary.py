"""The summary at the end of a run, on a terminal or in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.advice import advised
from reports.evidence import FAILED, STATUSES, UNEXPECTED, WORST_FIRST, Evidence, objects, printable
from reports.factors import groups
from reports.requirements import cited

SHOWN_CASES = 3  # of each group of failures
SHOWN_GROUPS = 20
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
    """Print what a run found: counts, failures by test, warnings, and the line for scripts last. Raises CannotRun."""

    def line(text: str, style: str = "", indent: int = 0) -> None:
        # Text, not markup: a message may hold brackets. Not wrapped: commands are to be copied.
        for row in printable(text).split("\n"):
            console.print(Text(" " * indent + row, style=style), soft_wrap=True)

    _print_counts(evidence, console)
    for text in _known(evidence):
        line(text)
    found = groups(evidence)
    for group in found[:SHOWN_GROUPS]:
        numbers = ", ".join(f"{group.status[status]:,} {status}" for status in WORST_FIRST if group.status[status])
        line("")
        line(f"{group.test} on {group.target}: {numbers} of {group.ran:,} that ran", "bold red")
        if group.factor:
            line(group.factor, "bold", 2)
        for record in evidence.details(group.target, group.cases[:SHOWN_CASES]):
            line(f"{record['status']:<8}{record['case']}", indent=2)
            message = explain(record).split("\n")
            line("\n".join(message[:SHOWN_LINES]), "dim", 10)
            if len(message) > SHOWN_LINES:
                line(f"… {len(message) - SHOWN_LINES} more lines in report.html", "dim", 10)
            if record.get("repeat"):
                line(f"repeat: {record['repeat']}", "cyan", 10)
        if len(group.cases) > SHOWN_CASES:
            line(f"… {len(group.cases) - SHOWN_CASES:,} more", "dim", 2)
    if len(found) > SHOWN_GROUPS:
        line(f"\n… {len(found) - SHOWN_GROUPS:,} more tests with failures, see report.html", "dim")
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
