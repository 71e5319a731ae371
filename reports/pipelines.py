"""What pipelines show beside a change: annotations and the summary of a job at GitHub, code quality at GitLab."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from reports.defects import Defect, Found, defects
from reports.evidence import Evidence, printable, write_file
from reports.markdown import write_markdown
from runner.model import CannotRun

ANNOTATIONS = 10  # errors that GitHub shows of a step (docs.github.com: workflow commands, limits)
SUMMARY = 1_000_000  # bytes: GitHub takes no summary of a step that is larger than 1 MiB
HEAD = 1000  # characters of a message
# Of a code quality report: info, minor, major, critical, blocker.
SEVERITY = {"crash": "critical", "timeout": "critical", "lost": "blocker", "fail": "major", "xpass": "minor"}
_PLACE = re.compile(r"(suites/[\w/.-]+):(\d+)")


def write_github(evidence: Evidence) -> Path:
    """Print a workflow command for each suspected defect, and add report.md to the summary of the job.

    The result is the path of report.md. Outside of GitHub, where GITHUB_STEP_SUMMARY is not set, nothing is added.
    Raises CannotRun.
    """
    found = defects(evidence)
    shown = found if len(found) <= ANNOTATIONS else found[: ANNOTATIONS - 1]
    for one in shown:
        print(_command(f"Assay: {one.signature}", _sentence(one)))
    if len(found) > len(shown):
        print(_command("Assay", f"{len(found) - len(shown):,} more suspected defects are in the summary of this job"))
    report = write_markdown(evidence)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        text = report.read_bytes()
        cut = text if len(text) <= SUMMARY else text[:SUMMARY].rpartition(b"\n")[0] + b"\n\nThe rest is in report.md.\n"
        try:
            with Path(summary).open("ab") as file:
                file.write(cut)
        except OSError as error:
            raise CannotRun(f"GITHUB_STEP_SUMMARY={summary}: cannot be written: {error.strerror}") from None
    return report


def _sentence(one: Defect) -> str:
    where = f"{one.what[:HEAD]}\n{one.numbers()} of {', '.join(one.tests)} on {', '.join(one.targets)}"
    clause = "".join(f"\n{section}: {text}" for section, text in one.cited)
    return f"{where}{clause}\nfor example {one.found[0].case}"


def _command(title: str, message: str) -> str:
    """A workflow command, with what has a meaning in it escaped as actions/toolkit does."""
    escaped = printable(message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    head = printable(title).replace("%", "%25").replace("\n", " ").replace(":", "%3A").replace(",", "%2C")
    return f"::error title={head}::{escaped}"


def write_gitlab(evidence: Evidence) -> Path:
    """Write gl-code-quality-report.json beside the evidence; the result is its path. Raises CannotRun.

    It has an entry for each target, test and what was seen. Its fingerprint does not depend on which cases saw it, so
    that GitLab tells what a change has brought from what was there before.
    """
    entries = []
    for defect in defects(evidence):
        groups: dict[tuple[str, str, tuple[str, ...]], list[Found]] = defaultdict(list)
        for one in defect.found:
            groups[one.target, one.test, one.key].append(one)
        entries += [_entry(defect, target, test, key, some) for (target, test, key), some in groups.items()]
    text = json.dumps(entries, indent=1) + "\n"
    return write_file(evidence.out / "gl-code-quality-report.json", lambda file: file.write(text))


def _entry(defect: Defect, target: str, test: str, key: tuple[str, ...], some: list[Found]) -> dict[str, Any]:
    one = some[0]
    place = _PLACE.fullmatch(one.main.site)
    cases = f"{len(some):,} case{'s' if len(some) > 1 else ''}"
    first = f": {one.main.message.splitlines()[0][:HEAD]}" if one.main.message.strip() else ""
    clause = "".join(f"; {section}: {text}" for section, text in defect.cited)
    text = f"{one.main}{first} ({cases} of {test} on {target}; {one.case}{clause})"
    return {
        "description": printable(text),
        "check_name": one.main.requirement or test,
        "fingerprint": hashlib.sha256("\0".join((target, test, *key)).encode("utf-8", "replace")).hexdigest(),
        "severity": SEVERITY[one.status],
        # Of the test, not of the library: where there is no finding, as in a crash, its suite.
        "location": {
            "path": place[1] if place else f"suites/{test.partition('.')[0]}",
            "lines": {"begin": int(place[2]) if place else 1},
        },
    }
