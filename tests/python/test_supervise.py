"""Supervision of single troubles: each is charged to one case and one rank, and the others are judged all the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from supervise_help import QUICK, Outcome, fake_target, names, run

import runner.supervision.supervise
from runner.model import CannotRun, Launch, Options, Verdict
from runner.planning import plan
from runner.supervision.context import Task
from runner.supervision.journal import Journal
from runner.supervision.patience import Budget, Patience
from runner.supervision.procs import Rank
from runner.supervision.stall import Stall
from runner.supervision.supervise import supervise

PLAN = names(6)
SICK = PLAN[3]


def one_fault(out: Path, kind: str, rank: int = 1, np: int = 2, **fault: object) -> Outcome:
    outcome = run(out, PLAN, {"cases": {SICK: {"kind": kind, "rank": rank, **fault}}}, np)
    assert {line["case"] for line in outcome.lines} == set(PLAN)
    assert len(outcome.lines) == len(PLAN)
    return outcome


def test_all_pass(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {})
    assert outcome.ends == ["complete"]
    assert [line["case"] for line in outcome.lines] == PLAN
    assert outcome.lines[0] | {"seconds": 0} == {
        "case": PLAN[0],
        "target": "fake@1.0/np2",
        "status": "pass",
        "seconds": 0,
        "requirements": ["fake.data"],
    }
    assert [verdict.case for verdict in outcome.told] == PLAN
    assert outcome.records[0].directory == "logs/fake@1.0_np2/job-0001"
    assert outcome.records[0].cases == 6
    assert outcome.records[0].hello["library"] == "MPICH Version: 9"
    assert outcome.notes == []


@pytest.mark.parametrize(
    ("kind", "reason", "status"),
    [
        ("segv", "rank 1: SIGSEGV in MPI_Recv", "crash"),
        ("exit", "rank 1: exit(3)", "exit"),
        ("abort", "rank 1: exit(1) in MPI_Abort", "exit"),
        ("silent", "rank 1: ended without a word", "crash"),
        ("quiet_exit", "rank 1: ended without a word", "crash"),
    ],
)
def test_death_of_a_rank(tmp_path: Path, kind: str, reason: str, status: str) -> None:
    outcome = one_fault(tmp_path, kind)
    assert outcome.failed() == {SICK: ("crash", [1])}
    line = outcome.line(SICK)
    assert line["reason"] == reason
    assert line["ranks"][0]["status"] == status
    assert outcome.ends == ["crash", "complete"]
    assert [record.cases for record in outcome.records] == [4, 2]


def test_a_trap_behind_an_erroneous_call_costs_a_launch_but_no_failure(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "segv", erroneous=True)
    assert outcome.failed() == {}
    assert outcome.line(SICK)["status"] == "pass"
    assert [(entry["rank"], entry["signal"]) for entry in outcome.line(SICK)["advisory"]] == [(1, "SIGSEGV")]
    assert outcome.ends == ["crash", "complete"]


def test_what_a_crash_drops_where_it_happens_stays_with_the_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = one_fault(Path("out"), "segv")
    assert outcome.failed() == {SICK: ("crash", [1])}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / outcome.records[0].directory / "core").exists()


@pytest.mark.parametrize("kind", ["spin", "sleep", "stop", "escape"])
def test_hang_of_a_rank(tmp_path: Path, kind: str) -> None:
    outcome = one_fault(tmp_path, kind, rank=0, np=3)
    assert outcome.failed() == {SICK: ("timeout", [0])}
    line = outcome.line(SICK)
    assert line["reason"].startswith("no end after ")
    assert {entry["rank"] for entry in line["waiting"]} == {1, 2}
    assert all(entry["stack"] for entry in line["waiting"])
    assert ("no answer" in line["reason"]) == (kind == "stop")
    assert ("in which a rank was stopped" in line["reason"]) == (kind == "stop")
    assert outcome.ends == ["timeout", "complete"]


def test_refusal_is_blamed_on_the_rank_that_left(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "refuse", rank=1, np=3)
    assert outcome.failed() == {SICK: ("fail", [1])}
    line = outcome.line(SICK)
    assert line["reason"] == "rank 1: byte 3; ranks 0, 2 waited in vain"
    assert [entry["rank"] for entry in line["waiting"]] == [0, 2]
    assert line["ranks"][0]["message"] == "byte 3\ndiffers"
    assert outcome.ends == ["refused", "complete"]


def test_failure_needs_no_second_job(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"cases": {SICK: {"kind": "fail"}}}, repeat=lambda case: f"assay run {case}")
    assert outcome.failed() == {SICK: ("fail", [1])}
    line = outcome.line(SICK)
    assert line["ranks"][0] | {"thread": 0} == {
        "rank": 1,
        "status": "fail",
        "check": "data",
        "message": "byte 3\ndiffers",
        "where": "x.cpp:1",
        "thread": 0,
    }
    assert line["repeat"] == f"assay run {SICK}"
    assert outcome.ends == ["complete"]


@pytest.mark.parametrize("kind", ["unsupported", "skip"])
def test_not_applicable(tmp_path: Path, kind: str) -> None:
    outcome = one_fault(tmp_path, kind)
    assert outcome.failed() == {SICK: (kind, [])}
    assert outcome.line(SICK)["reason"] == "needs more than a fake"


def test_advisory_finding_passes(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "advisory")
    assert outcome.failed() == {}
    assert outcome.line(SICK)["advisory"][0]["rank"] == 1


@pytest.mark.parametrize("kind", ["slow", "burn"])
def test_slow_is_not_stuck(tmp_path: Path, kind: str) -> None:
    patience = replace(QUICK, cpu=1.5)
    outcome = run(tmp_path, PLAN, {"cases": {SICK: {"kind": kind}}}, patience=patience)
    assert outcome.failed() == {}
    assert outcome.line(SICK)["seconds"] > 0.6
    assert outcome.ends == ["complete"]


def test_the_user_says_how_long_a_case_may_take(tmp_path: Path) -> None:
    faults = {"cases": {SICK: {"kind": "burn"}}}  # 0.7 s of CPU time
    short = run(tmp_path / "short", PLAN, faults, patience=Patience(), options=Options(case_timeout=0.3))
    assert short.failed() == {SICK: ("timeout", [1])} and "no end after 0." in short.line(SICK)["reason"]
    assert run(tmp_path / "long", PLAN, faults, options=Options(case_timeout=30.0)).failed() == {}
    assert SICK in run(tmp_path / "usual", PLAN, faults).failed()


def test_launcher_that_hangs_after_an_abort_is_ended(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "abort_hang")
    assert outcome.failed() == {SICK: ("crash", [1])}
    assert outcome.ends == ["crash", "complete"]


def test_launcher_that_stays_is_ended(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"start": {"kind": "stay"}})
    assert outcome.failed() == {}
    assert outcome.ends == ["complete"]
    assert "launcher did not end" in outcome.notes[0]


def test_killed_launcher_blames_nobody(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "kill_launcher", once=True)
    # The second time the fault only hangs, for the same reason in every job.
    assert outcome.ends[0] == "launcher died"
    assert outcome.failed() == {SICK: ("timeout", [1])}


def test_case_that_ends_every_job_without_a_culprit_is_lost(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "kill_launcher")
    assert outcome.failed() == {SICK: ("lost", [])}
    assert "the launcher ended early (signal 9)" in outcome.line(SICK)["reason"]
    assert "3 jobs that began with this case gave no verdict" in outcome.line(SICK)["reason"]
    assert outcome.ends == ["launcher died"] * 4 + ["complete"]  # the first one judged three cases


def test_what_is_known_to_be_lost_is_given_up_at_once(tmp_path: Path) -> None:
    fault = {"cases": {SICK: {"kind": "kill_launcher"}}}
    outcome = run(tmp_path, PLAN, fault, expected=lambda case: ["lost"] if case == SICK else [])
    assert outcome.failed() == {SICK: ("lost", [])}
    assert "1 job that began with this case gave no verdict" in outcome.line(SICK)["reason"]
    assert outcome.ends == ["launcher died"] * 2 + ["complete"]


def jobs_of(out: Path) -> dict[str, str]:
    """The folders of jobs, and the index of the case that each began with."""
    return {path.name: (path / "go").read_text().strip() for path in sorted(out.glob("logs/*/job-*"))}


def test_jobs_behind_known_ends_are_launched_ahead(tmp_path: Path) -> None:
    sick = {PLAN[1], PLAN[2], PLAN[4]}
    faults = {"pace": 0.1, "cases": {case: {"kind": "segv"} for case in sick}}
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case in sick else [])
    assert set(outcome.failed()) == sick
    assert [line["case"] for line in outcome.lines] == PLAN
    assert outcome.ends == ["crash", "crash", "crash", "complete"]
    # Each for what is left behind the end that was expected, so that none leaves out a case.
    assert jobs_of(tmp_path) == {f"job-{number:04}": "0" for number in (1, 2, 3, 4)}
    plans = [(tmp_path / record.directory / "plan.txt").read_text().splitlines()[1:] for record in outcome.records]
    assert plans == [PLAN, PLAN[2:], PLAN[3:], PLAN[5:]]
    first, second = (tmp_path / record.directory for record in outcome.records[:2])
    assert (second / "plan.txt").stat().st_mtime_ns <= (first / "go").stat().st_mtime_ns


def test_cases_that_cannot_share_the_launch_have_theirs_ahead(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"pace": 0.1}, threaded=lambda case: case in PLAN[3:])
    assert outcome.ends == ["complete", "complete"]
    first, second = (tmp_path / record.directory for record in outcome.records)
    assert (second / "plan.txt").stat().st_mtime_ns < (first / "rank-0.events").stat().st_mtime_ns


def test_what_is_known_well_enough_is_left_out(tmp_path: Path) -> None:
    sick = [PLAN[1], PLAN[2], PLAN[4], PLAN[5]]
    faults = {"pace": 0.1, "cases": {case: {"kind": "segv"} for case in sick}}
    ended: list[str] = []

    def amend(verdict: Verdict) -> Verdict:
        ended.extend([verdict.case] if verdict.status == "crash" else [])
        return verdict

    def enough(cases: Sequence[str]) -> dict[str, str]:
        return {case: "seen often enough" for case in cases if case in sick and len(ended) >= 2}

    def expected(case: str) -> list[str]:
        return ["crash"] if case in sick else []

    outcome = run(tmp_path, PLAN, faults, expected=expected, amend=amend, enough=enough)
    assert ended == sick[:2]
    assert {line["case"]: line["status"] for line in outcome.lines} == {
        case: "crash" if case in ended else "skip" if case in sick else "pass" for case in PLAN
    }
    assert {outcome.line(case)["reason"] for case in sick[2:]} == {"seen often enough"}


def test_what_was_launched_ahead_leaves_out_what_did_not_end_its_job(tmp_path: Path) -> None:
    faults = {"pace": 0.2, "cases": {PLAN[3]: {"kind": "segv"}}}
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case == PLAN[0] else [])
    assert set(outcome.failed()) == {PLAN[3]}
    assert [line["case"] for line in outcome.lines] == PLAN
    assert outcome.ends == ["crash", "complete"]
    assert jobs_of(tmp_path) == {"job-0001": "0", "job-0002": "3"}


def test_what_hangs_before_its_first_case_is_charged_to_that_case(tmp_path: Path) -> None:
    """Also in a job that leaves out cases."""
    faults = {
        "pace": 0.2,
        "cases": {PLAN[2]: {"kind": "segv"}},
        "start": {"kind": "second_waits", "rank": 1},
    }
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case == PLAN[0] else [])
    assert outcome.failed() == {PLAN[2]: ("crash", [1]), PLAN[3]: ("timeout", [1])}
    assert jobs_of(tmp_path)["job-0002"] == "2"


def test_what_was_launched_ahead_for_other_cases_is_ended(tmp_path: Path) -> None:
    faults = {"pace": 0.2, "cases": {PLAN[1]: {"kind": "segv"}}}
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case in (PLAN[3], PLAN[4]) else [])
    assert set(outcome.failed()) == {PLAN[1]}
    assert [line["case"] for line in outcome.lines] == PLAN
    assert outcome.ends == ["crash", "complete"]
    assert set(jobs_of(tmp_path)) == {Path(record.directory).name for record in outcome.records}


def test_what_died_before_its_turn_is_launched_again(tmp_path: Path) -> None:
    faults = {"pace": 0.3, "cases": {PLAN[1]: {"kind": "segv"}}, "start": {"kind": "second_dies", "rank": 1}}
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case == PLAN[1] else [])
    assert set(outcome.failed()) == {PLAN[1]}
    assert outcome.ends == ["crash", "complete"]
    assert outcome.notes == []


def test_all_ranks_die_without_a_word(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "all_silent")
    # Which of them was the first cannot be known; when the runner sees one die before the others, that one is blamed.
    assert outcome.failed()[SICK][0] in ("lost", "crash")
    assert outcome.ends[-1] == "complete"


def test_all_ranks_die_without_a_word_but_one_wrote_why(tmp_path: Path) -> None:
    outcome = one_fault(tmp_path, "library_abort")
    assert outcome.failed() == {SICK: ("crash", [1])}
    assert outcome.line(SICK)["reason"] == "rank 1: ended after it wrote: Fatal error in internal_Recv: Other MPI error"
    assert outcome.ends == ["crash", "complete"]


def test_finalize_hang_is_a_note(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"start": {"kind": "finalize_hang"}})
    assert outcome.failed() == {}
    assert outcome.ends == ["finalize hung"]
    assert "rank 1: not back from MPI_Finalize" in outcome.notes[0]


def test_finalize_crash_is_a_note(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"start": {"kind": "finalize_crash"}})
    assert outcome.failed() == {}
    assert outcome.ends == ["finalize crash"]
    trouble = "finalize crash after the last case (rank 1: SIGSEGV in MPI_Finalize)"
    assert outcome.notes == [trouble]
    assert [record.trouble for record in outcome.records] == [trouble]


def test_trouble_may_be_known_damage(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"start": {"kind": "finalize_crash"}}, damage=lambda case: "bug.c")
    (trouble,) = [record.trouble for record in outcome.records]
    assert trouble.endswith("in MPI_Finalize), as its cases may have damaged the processes (bug.c)")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("seed", "the seed of rank 1 is 2, that of the runner is 1"),
        ("plan", "the plan of rank 1 is 0000000000000000, that of the runner is "),
        ("size", "rank 1 finds itself in a job of 3 ranks, not 2"),
        ("twice", "2 processes are rank 0"),
    ],
)
def test_hellos_must_agree(tmp_path: Path, kind: str, words: str) -> None:
    with pytest.raises(CannotRun, match=words):
        run(tmp_path, PLAN, {"start": {"kind": kind}})
    assert (tmp_path / "cases.jsonl").read_text() == ""


def test_binary_must_be_the_listed_one(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="the binary of rank [01] is feedfeedfeedfeed, that of the runner is 0123"):
        run(tmp_path, PLAN, {}, binary="0123")


def test_launcher_that_fails_is_tried_twice(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"the launcher ended \(exit 7\), 0 of 2 .*no such host: nowhere$") as caught:
        run(tmp_path, PLAN, {"start": {"kind": "launcher_fails"}})
    assert "\n" not in str(caught.value)
    assert len(list((tmp_path / "logs/fake@1.0_np2").glob("job-*"))) == 2


def test_launcher_that_is_missing(tmp_path: Path) -> None:
    target = replace(fake_target(tmp_path), launcher=lambda args: Launch(["/nowhere/mpiexec", *args], {}))
    with (
        Journal(tmp_path / "cases.jsonl") as journal,
        pytest.raises(CannotRun, match="cannot start /nowhere/mpiexec: No such file or directory"),
    ):
        supervise(Task(target=target, plan=PLAN, out=tmp_path, journal=journal))


def test_no_hello_in_time(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="1 of 2 ranks said hello within"):
        run(tmp_path, PLAN, {"start": {"kind": "no_hello"}}, patience=replace(QUICK, hello=0.3))


def test_second_launch_may_succeed(tmp_path: Path) -> None:
    outcome = run(tmp_path, PLAN, {"start": {"kind": "die_before_hello"}})
    assert outcome.ends == ["no start", "complete"]
    assert outcome.failed() == {}
    assert "rank 1 died before the first case: SIGSEGV in MPI_Init_thread" in outcome.notes[0]


def test_retry_tells_flaky_from_failed(tmp_path: Path) -> None:
    faults = {"cases": {PLAN[1]: {"kind": "fail"}, SICK: {"kind": "fail", "once": True}}}
    outcome = run(tmp_path, PLAN, faults, options=Options(retries=2))
    assert outcome.failed() == {PLAN[1]: ("fail", [1]), SICK: ("flaky", [1])}
    assert outcome.line(PLAN[1])["attempts"] == 3
    assert outcome.line(SICK)["attempts"] == 2
    assert outcome.line(SICK)["reason"] == "passed on attempt 2; before that fail: rank 1: byte 3"
    assert [record.cases for record in outcome.records] == [6, 2, 1]


def test_judged_cases_are_not_run_again(tmp_path: Path) -> None:
    run(tmp_path, PLAN[:4], {})
    outcome = run(tmp_path, PLAN, {})
    assert [record.cases for record in outcome.records] == [2]
    assert [line["case"] for line in outcome.lines] == PLAN
    assert run(tmp_path, PLAN, {}).records == []


def test_long_plan_is_cut_into_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.supervision.supervise, "PLAN_CAP", 4)
    outcome = run(tmp_path, PLAN, {})
    assert [record.cases for record in outcome.records] == [4, 2]
    assert (tmp_path / "logs/fake@1.0_np2/job-0001/plan.txt").read_text().startswith("assay-plan 1 seed=1 cases=4\n")


def test_plan_is_cut_behind_what_may_end_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.supervision.supervise, "ENDS_CAP", 2)
    crashes = {PLAN[0], PLAN[2], PLAN[3]}
    faults = {"cases": {PLAN[2]: {"kind": "segv"}}}
    outcome = run(tmp_path, PLAN, faults, expected=lambda case: ["crash"] if case in crashes else [])
    assert [record.cases for record in outcome.records] == [3, 3]
    assert (tmp_path / "logs/fake@1.0_np2/job-0001/plan.txt").read_text().startswith("assay-plan 1 seed=1 cases=3\n")
    assert outcome.failed() == {PLAN[2]: ("crash", [1])}


def test_threaded_cases_have_launches_of_their_own_behind_the_others(tmp_path: Path) -> None:
    def threaded(case: str) -> bool:
        return case in PLAN[1:4]

    faults = {"cases": {PLAN[2]: {"kind": "segv"}}}
    outcome = run(tmp_path / "out", PLAN, faults, threaded=threaded)
    plans = [plan.read(path / "plan.txt") for path in sorted((tmp_path / "out/logs/fake@1.0_np2").glob("job-*"))]
    assert plans == [[*PLAN[:1], *PLAN[4:]], PLAN[1:4], PLAN[3:4]]
    assert outcome.failed() == {PLAN[2]: ("crash", [1])}
    alone = run(tmp_path / "all", PLAN, {}, options=Options(threads=2), threaded=threaded)
    assert len(alone.records) == 1  # --threads: every launch has MPI_THREAD_MULTIPLE


def test_what_damages_the_process_runs_behind_the_others(tmp_path: Path) -> None:
    defects = {PLAN[0]: "b.c", PLAN[2]: "a.c", PLAN[3]: "b.c"}
    run(tmp_path, PLAN, {}, damage=lambda case: defects.get(case, ""))
    plans = [plan.read(path / "plan.txt") for path in sorted((tmp_path / "logs/fake@1.0_np2").glob("job-*"))]
    assert plans == [[PLAN[1], *PLAN[4:]], [PLAN[2]], [PLAN[0], PLAN[3]]]


def test_a_case_that_is_known_to_hang_is_given_less_time(tmp_path: Path) -> None:
    patience = replace(QUICK, cpu=60.0, known=0.01, unseen=0.1)
    outcome = run(
        tmp_path,
        PLAN,
        {"cases": {SICK: {"kind": "spin"}}},
        patience=patience,
        expected=lambda case: ["timeout"] if case == SICK else [],
    )
    assert outcome.failed()[SICK][0] == "timeout"
    assert outcome.line(SICK)["seconds"] < 30


def test_what_is_slow_is_not_hung(tmp_path: Path) -> None:
    faults = {"cases": {SICK: {"kind": "burn"}}}
    outcome = run(tmp_path, PLAN, faults, patience=replace(QUICK, cpu=0.05, slow=40.0, doubts=1))
    assert outcome.failed() == {}
    assert outcome.ends == ["complete"]
    assert outcome.line(SICK)["reason"].startswith("slow: it had not ended after 0.")
    assert [note for note in outcome.notes if "slow, or hung?" in note]


def test_time_in_which_the_runner_was_stopped_counts_as_one_second() -> None:
    child = subprocess.Popen(["sleep", "60"])
    rank = Rank(child.pid, os.uname().nodename)
    try:
        while (found := rank.look()) and found.state != "S":
            time.sleep(0.01)
        stall, ranks, budget = Stall(), [rank], Budget(cpu=1.0, idle=3.0, unseen=0.0)
        assert stall.look(100.0, 0, ranks, budget) == ""
        assert stall.look(200.0, 0, ranks, budget) == ""
        assert stall.look(201.0, 0, ranks, budget) == ""
        assert stall.look(202.0, 0, ranks, budget) == "3.0 s in which no rank used the CPU"
    finally:
        rank.close()
        child.kill()
        child.wait()


def test_a_stopped_rank_is_not_slow_while_others_spin_for_it() -> None:
    children = [subprocess.Popen(["sleep", "60"]), subprocess.Popen(["sh", "-c", "while :; do :; done"])]
    ranks = [Rank(child.pid, os.uname().nodename) for child in children]

    def look(now: float) -> str:
        return stall.look(now, 0, ranks, Budget(cpu=3.0, idle=30.0, unseen=0.0))

    def signalled(number: signal.Signals, state: str) -> None:
        ranks[0].send(number)
        while (found := ranks[0].look()) and found.state != state:
            time.sleep(0.01)

    try:
        stall = Stall()
        signalled(signal.SIGSTOP, "T")
        assert [look(100.0), look(101.0), look(102.0)] == ["", "", ""]
        signalled(signal.SIGCONT, "S")
        assert look(103.0) == ""
        signalled(signal.SIGSTOP, "T")
        assert [look(104.0), look(105.0)] == ["", ""]
        assert look(106.0) == "3.0 s in which a rank was stopped"
        assert not stall.slow
    finally:
        for rank, child in zip(ranks, children, strict=True):
            rank.close()
            child.kill()
            child.wait()


@pytest.mark.parametrize(("hang", "what"), [("spin", "of CPU time"), ("sleep", "in which no rank used the CPU")])
def test_a_hang_costs_no_more_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hang: str, what: str
) -> None:
    cores = os.cpu_count() or 1
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0 * cores, 0.0, 0.0))
    patience = replace(QUICK, cpu=0.4, idle=1.0, slow=2.0, doubts=1)
    outcome = run(tmp_path, PLAN, {"cases": {SICK: {"kind": hang}}}, patience=patience)
    assert outcome.failed()[SICK][0] == "timeout"
    found = re.search(rf"no end after ([\d.]+) s {what}", outcome.line(SICK)["reason"])
    assert found and float(found[1]) < 1.5  # 0.8, and what it is more when it is looked at; at 8 times the load 6.4


def test_budgets() -> None:
    patience = Patience()
    usual = patience.budget(1.0, 1.0, known=False, slow=False)
    assert usual == Budget(cpu=2.0, idle=16.0, unseen=0.5)
    assert patience.budget(1.0, 8.0, known=False, slow=False) == Budget(cpu=2.0, idle=32.0, unseen=0.5)
    assert patience.budget(1.0, 8.0, known=False, slow=True).cpu == 8.0
    assert patience.budget(1.0, 8.0, known=True, slow=True) == patience.budget(1.0, 8.0, known=True, slow=False)
    assert patience.budget(4.0, 1.0, known=False, slow=False).cpu == 8.0


def test_where_much_hangs_nothing_is_thought_to_be_slow(tmp_path: Path) -> None:
    faults = {"cases": {case: {"kind": "spin"} for case in PLAN[1:5]}}
    outcome = run(tmp_path, PLAN, faults, patience=replace(QUICK, slow=2.0, doubts=2))
    assert outcome.failed() == {case: ("timeout", [1]) for case in PLAN[1:5]}
    assert outcome.ends == ["timeout"] * 4 + ["complete"]
    assert len([note for note in outcome.notes if "slow, or hung?" in note]) == 2


def test_the_others_are_not_waited_for_where_a_case_is_known_to_fail(tmp_path: Path) -> None:
    patience = replace(QUICK, refusal=60.0, known=0.01)
    fault = {"cases": {SICK: {"kind": "refuse", "rank": 1}}}
    outcome = run(tmp_path, PLAN, fault, patience=patience, expected=lambda case: ["fail"] if case == SICK else [])
    assert outcome.ends == ["refused", "complete"]
    assert outcome.line(SICK)["seconds"] < 30


def test_amend_changes_what_is_written(tmp_path: Path) -> None:
    def known(verdict: Verdict) -> Verdict:
        if verdict.status == "fail":
            verdict.status = "xfail"
        return verdict

    outcome = run(tmp_path, PLAN, {"cases": {SICK: {"kind": "fail"}}}, amend=known)
    assert outcome.line(SICK)["status"] == "xfail"
    assert [verdict.status for verdict in outcome.told].count("xfail") == 1


def test_interrupt_ends_the_job_and_keeps_the_journal(tmp_path: Path) -> None:
    def interrupt(verdicts: Sequence[Verdict]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, PLAN, {"cases": {SICK: {"kind": "sleep"}}}, on_verdicts=interrupt)
    outcome = run(tmp_path, PLAN, {})
    assert sorted(line["case"] for line in outcome.lines) == PLAN
