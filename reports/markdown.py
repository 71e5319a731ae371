"""report.md: the run in short, for the summary page of a CI job or a comment on a change."""

from __future__ import annotations

import re
from pathlib import Path

from reports.advice import advised
from reports.evidence import STATUSES, WORST_FIRST, Evidence, printable, write_file
from reports.factors import groups

MAX_GROUPS = 50


def write_markdown(evidence: Evidence) -> Path:
    """Write report.md beside the evidence; the result is its path. Raises CannotRun."""
    text = _render(evidence)
    return write_file(evidence.out / "report.md", lambda file: file.write(text))


def _render(evidence: Evidence) -> str:
    present = [status for status in STATUSES if evidence.counts()[status]]
    lines = ["# Assay", "", _row(["target", *present]), _row(["---", *["---:"] * len(present)])]
    for target in evidence.targets:
        counts = evidence.counts(target)
        lines.append(_row([_plain(target), *(f"{counts[status]:,}" for status in present)]))
    found = groups(evidence)
    if found:
        lines += ["", "## What failed", "", _row(["test", "target", "cases", "what they share", "one of them"])]
        lines.append(_row(["---"] * 5))
    for group in found[:MAX_GROUPS]:
        numbers = ", ".join(f"{group.status[status]:,} {status}" for status in WORST_FIRST if group.status[status])
        cells = [group.test, group.target, f"{numbers} of {group.ran:,}", group.factor, group.cases[0]]
        lines.append(_row([_plain(cell) for cell in cells]))
    if len(found) > MAX_GROUPS:
        lines += ["", f"{len(found) - MAX_GROUPS:,} more tests with failures are in cases.jsonl."]
    if told := advised(evidence):
        lines += ["", "## Passing cases that carry advice", "", _row(["target", "cases", "of", "tests"])]
        lines.append(_row(["---", "---:", "---:", "---"]))
    for one in told:
        tests = ", ".join(f"{test} {count:,}" for test, count in one.tests.most_common(MAX_GROUPS))
        lines.append(_row([_plain(one.target), f"{one.cases:,}", f"{one.passed:,}", _plain(tests)]))
    if evidence.warnings:
        lines += ["", "## Warnings", "", *(f"- {_plain(warning)}" for warning in evidence.warnings)]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: on one line, with its marks escaped, `@name` included."""
    escaped = re.sub(r"([\\`*_{}\[\]<>()#+!|~&$])", r"\\\1", " ".join(printable(text).split()))
    return escaped.replace("@", "&#64;")
