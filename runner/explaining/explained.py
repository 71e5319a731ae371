"""What is known of one suspected defect in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runner.explaining.showing import Shown
from runner.explaining.smallest import Smallest
from runner.explaining.suspects import Suspect


@dataclass
class Explained:
    """What is now known of one suspected defect."""

    suspect: Suspect
    found: Smallest
    sentence: str
    command: str  # that repeats the smallest case
    title: str = ""
    message: str = ""
    shown: Shown | None = None
    since: str = ""
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """As JSON."""
        found, shown = self.found, self.shown
        return {
            "defect": self.suspect.number,
            "signature": str(self.suspect.signature),
            "status": self.suspect.signature.status,
            "target": self.suspect.target,
            "cases": len(self.suspect.all_cases),
            "tests": self.suspect.tests,
            "known": self.suspect.link,
            "case": found.case,
            "np": found.np,
            "start": found.start,
            "failures": found.failures,
            "runs": found.runs,
            "around": found.around,
            "matters": self.sentence,
            "note": found.note,
            "ended_early": found.ended_early,
            "cases_run": found.cases_run,
            "launches": found.launches,
            "seconds": round(self.seconds, 1),
            "program": None
            if shown is None
            else {
                "file": str(shown.path) if shown.path else None,
                "lines": shown.lines,
                "says": shown.says,
                "shows": shown.works,
                "why_not": shown.why_not,
            },
            "since": self.since,
            "repeat": self.command,
        }
