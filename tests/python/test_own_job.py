"""Cases that need a job of their own: one launch each, after the others, and some of them have to end it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from supervise_help import QUICK, Outcome, fake_target, names, run

from runner.model import Launch
from runner.supervision.context import CaseFacts, Task
from runner.supervision.journal import Journal
from runner.supervision.supervise import supervise

PLAN = names(6)
LONE = {PLAN[1], PLAN[3]}


def run_one(out: Path, kind: str) -> Outcome:
    """Six cases of which the second has this fault, and a job of its own as the fourth."""
    return run(out, PLAN, {"cases": {PLAN[1]: {"kind": kind}}}, alone=LONE.__contains__)


def plan_of(out: Path, job: str) -> list[str]:
    return (out / job / "plan.txt").read_text().splitlines()[1:]


def test_each_has_a_launch_of_its_own_behind_the_others(tmp_path: Path) -> None:
    done = run(tmp_path, PLAN, {}, alone=LONE.__contains__)
    assert done.failed() == {}
    jobs = [plan_of(tmp_path, record.directory) for record in done.records]
    assert jobs == [[case for case in PLAN if case not in LONE], [PLAN[1]], [PLAN[3]]]
    assert done.ends == ["complete"] * 3


def test_the_suite_is_told_which_case_it_is(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text("{}")
    target = fake_target(tmp_path / "faults.json")
    given: list[Sequence[str]] = []

    def launcher(suite_args: Sequence[str]) -> Launch:
        given.append(suite_args)
        return target.launcher(suite_args)

    noting = replace(target, launcher=launcher)
    with Journal(tmp_path / "cases.jsonl") as journal:
        facts = CaseFacts(alone=LONE.__contains__)
        supervise(Task(target=noting, plan=PLAN[:2], out=tmp_path, journal=journal, cases=facts, patience=QUICK))
    assert not any(word.startswith("--own-job") for word in given[0])
    assert list(given[1][:2]) == [f"--own-job={PLAN[1]}", "--np=2"]


def test_an_end_that_was_announced_is_a_pass(tmp_path: Path) -> None:
    done = run_one(tmp_path, "ends")
    assert done.failed() == {}
    assert done.ends == ["complete", "ended", "complete"]
    assert "advisory" not in done.line(PLAN[1])


def test_another_exit_code_is_advisory(tmp_path: Path) -> None:
    done = run_one(tmp_path, "ends_otherwise")
    assert done.failed() == {}
    (finding,) = done.line(PLAN[1])["advisory"]
    assert finding["message"] == "the launcher ended with exit code 1, MPI_Abort was given 7"


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("ends_not", "timeout", "within which the job had to end"),
        ("goes_on", "fail", "waited in vain"),
        ("ends_by_crash", "crash", "SIGSEGV in MPI_Abort"),
    ],
)
def test_what_does_not_end_in_order_fails(tmp_path: Path, kind: str, status: str, words: str) -> None:
    done = run_one(tmp_path, kind)
    assert {case: found[0] for case, found in done.failed().items()} == {PLAN[1]: status}
    assert words in done.line(PLAN[1])["reason"]
    assert done.line(PLAN[3])["status"] == "pass"


def test_an_end_that_was_not_announced_is_a_crash(tmp_path: Path) -> None:
    done = run_one(tmp_path, "exit")
    assert done.failed() == {PLAN[1]: ("crash", [1])}
