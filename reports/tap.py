"""results.tap: the run in the Test Anything Protocol, version 14 (https://testanything.org), for `prove` and others."""

from __future__ import annotations

from io import TextIOWrapper
from pathlib import Path

from reports.evidence import Evidence, printable, write_file
from reports.summary import explain
from runner.model import NOT_RUN, UNEXPECTED


def write_tap(evidence: Evidence) -> Path:
    """Write results.tap beside the evidence; the result is its path. Raises CannotRun.

    xfail is `not ok … # TODO`, which does not fail a run; xpass is `not ok`, for it does. Messages follow as comments.
    """
    return write_file(evidence.out / "results.tap", lambda file: _write(evidence, file))


def _write(evidence: Evidence, file: TextIOWrapper) -> None:
    file.write(f"TAP version 14\n1..{evidence.counts().total()}\n")
    number = 0
    for target, cases in evidence.cases.items():
        details = evidence.details(target, [case for case, entry in cases.items() if entry.status != "pass"])
        for case, entry in cases.items():
            number += 1
            bad = entry.status in UNEXPECTED or entry.status == "xfail"
            line = f"{'not ok' if bad else 'ok'} {number} - {_one_line(f'{target} {case}')}"
            if entry.status == "pass":
                file.write(line + "\n")
                continue
            record = next(details)
            if entry.status in NOT_RUN:
                line += f" # SKIP {entry.status}: {_one_line(str(record.get('reason') or ''))}"
            elif entry.status == "xfail":
                line += f" # TODO {_one_line(str(record.get('known') or ''))}"
            file.write(line + "\n")
            if entry.status not in NOT_RUN:
                text = f"{entry.status}\n{explain(record)}"
                text += f"\nrepeat: {record['repeat']}" if record.get("repeat") else ""
                file.writelines(f"# {printable(row)}\n" for row in text.split("\n"))


def _one_line(text: str) -> str:
    """As a description: on one line, and without a `#` that would begin a directive."""
    return " ".join(printable(text).split()).replace("#", "\\#")
