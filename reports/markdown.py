"""report.md: the run in short, for the summary page of a CI job or a comment on a change."""

from __future__ import annotations

import re
from pathlib import Path

from reports.advice import advised
from reports.defects import defects
from reports.evidence import Evidence, printable, write_file
from runner.model import STATUSES

MAX_GROUPS = 100


def write_markdown(evidence: Evidence) -> Path:
    """Write report.md beside the evidence; the result is its path. Raises CannotRun."""
    text = _render(evidence)
    return write_file(evidence.out / "report.md", lambda file: file.write(text))


def _render(evidence: Evidence) -> str:
    present = [status for status in STATUSES if evidence.counts()[status]]
    lines = ["# Assay", "", row(["target", *present]), row(["---", *["---:"] * len(present)])]
    for target in evidence.targets:
        counts = evidence.counts(target)
        lines.append(row([plain(target), *(f"{counts[status]:,}" for status in present)]))
    found = defects(evidence)
    if found:
        cases = sum(len(one.found) for one in found)
        lines += ["", f"## {len(found):,} suspected defect{'s' if len(found) > 1 else ''} in {cases:,} cases", ""]
        lines += [row(["", "what was seen", "clause", "cases", "of tests", "on", "where", "one of them"])]
        lines.append(row(["---:", *["---"] * 7]))
    for one in found[:MAX_GROUPS]:
        where = "; ".join(one.places(len(evidence.targets) > 1)[:3])
        clause = "; ".join(f"{section}: {text}" for section, text in one.cited)
        cells = [str(one.number), one.what, clause, one.numbers(), ", ".join(one.tests), ", ".join(one.targets)]
        lines.append(row([plain(cell) for cell in (*cells, where, one.found[0].case)]))
    if len(found) > MAX_GROUPS:
        lines += ["", f"{len(found) - MAX_GROUPS:,} more are in report.html."]
    if told := advised(evidence):
        lines += ["", "## Passing cases that carry advice", "", row(["target", "cases", "of", "tests"])]
        lines.append(row(["---", "---:", "---:", "---"]))
    for each in told:
        tests = ", ".join(f"{test} {count:,}" for test, count in each.tests.most_common(MAX_GROUPS))
        lines.append(row([plain(each.target), f"{each.cases:,}", f"{each.passed:,}", plain(tests)]))
    if evidence.warnings:
        lines += ["", "## Warnings", "", *(f"- {plain(warning)}" for warning in evidence.warnings)]
    return "\n".join(lines) + "\n"


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text that Markdown shows as it is: on one line, with its marks escaped, `@name` included."""
    escaped = re.sub(r"([\\`*_{}\[\]<>()#+!|~&$])", r"\\\1", " ".join(printable(text).split()))
    return escaped.replace("@", "&#64;")
