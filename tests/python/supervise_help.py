"""What the tests of supervision share: a target that is played by fake_suite.py, and a run of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runner.model import Launch, Options, Target, Verdict
from runner.supervision.context import CaseFacts, JobRecord, Task
from runner.supervision.journal import Journal
from runner.supervision.patience import Patience
from runner.supervision.supervise import supervise

FAKE = Path(__file__).with_name("fake_suite.py")
# The fakes are fast, and what is slow among them hangs.
QUICK = Patience(cpu=0.1, doubts=0, idle=2.0, unseen=0.1, answer=0.5, refusal=0.15, finalize=0.3, leave=0.2, hello=5.0)


def names(count: int) -> list[str]:
    return [f"fake.case/n={number}" for number in range(count)]


def fake_target(faults: Path, np: int = 2) -> Target:
    def launcher(suite_args: Sequence[str]) -> Launch:
        argv = [sys.executable, str(FAKE), str(np), str(faults.absolute()), *suite_args]
        return Launch(argv, dict(os.environ), local=True)

    return Target(name=f"fake@1.0/np{np}", mpi="fake@1.0", np=np, launcher=launcher)


@dataclass
class Outcome:
    """What a run came to."""

    records: list[JobRecord]
    lines: list[dict[str, Any]]  # of cases.jsonl
    notes: list[str]
    told: list[Verdict] = field(default_factory=list)  # to on_verdicts

    @property
    def ends(self) -> list[str]:
        return [record.end for record in self.records]

    def line(self, case: str) -> dict[str, Any]:
        (found,) = [line for line in self.lines if line["case"] == case]
        return found

    def failed(self) -> dict[str, tuple[str, list[int]]]:
        """Status and blamed ranks of the cases that did not pass."""
        return {
            line["case"]: (line["status"], sorted({entry["rank"] for entry in line.get("ranks", [])}))
            for line in self.lines
            if line["status"] != "pass"
        }


def run(
    out: Path,
    plan: Sequence[str],
    faults: dict[str, Any],
    np: int = 2,
    options: Options | None = None,
    patience: Patience = QUICK,
    on_verdicts: Callable[[Sequence[Verdict]], None] | None = None,
    wrong_library: Callable[[Mapping[str, Any]], str] = lambda hello: "",
    **more: Any,
) -> Outcome:
    """Run a plan under faults in `out`; checks that nothing of it is left over."""
    out.mkdir(exist_ok=True)
    file = out / "faults.json"
    file.write_text(json.dumps(faults))
    notes: list[str] = []
    told: list[Verdict] = []

    def hear(verdicts: Sequence[Verdict]) -> None:
        told.extend(verdicts)
        if on_verdicts:
            on_verdicts(verdicts)

    try:
        with Journal(out / "cases.jsonl") as journal:
            target = replace(fake_target(file, np), wrong_library=wrong_library)
            facts = {name: more.pop(name) for name in [*more] if name in CaseFacts.__dataclass_fields__}
            task = Task(
                target=target,
                plan=plan,
                out=out,
                journal=journal,
                options=options or Options(),
                cases=CaseFacts(requirements=lambda case: ["fake.data"], **facts),
                on_verdicts=hear,
                on_note=notes.append,
                patience=patience,
                **more,
            )
            records = supervise(task)
    finally:
        assert left_over(out) == []
    return Outcome(records, lines_of(out), notes, told)


def lines_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]


def left_over(out: Path) -> list[str]:
    """The processes whose command line names this output directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(out) in words and "fake_suite.py" in words:
                found.append(f"{entry.name} {words}")
    return found
