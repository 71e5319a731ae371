"""2,000 cases, 40 of which crash, hang, exit or refuse at random places: exactly those 40 are reported, with status and
rank; 1,960 pass. The same when the runner is killed by SIGKILL three times on the way. See tests/cpp/self_suite.cpp."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from e2e_help import MPI, assay, begin, left_running

CASES = 2000
NP = 4
# How many of each, and what is to be reported: the status of the case, and of the rank that did it.
KINDS = {
    "segv": (6, "crash", "crash"),
    "abort": (6, "crash", "crash"),
    "_exit": (5, "crash", "exit"),
    "exit": (5, "crash", "exit"),
    "mpi_abort": (3, "crash", "exit"),
    "refuse": (5, "fail", "fail"),
    "spin": (4, "timeout", "timeout"),
    "sleep": (3, "timeout", "timeout"),
    "stop": (3, "timeout", "timeout"),
}
# Libraries end a process of MPI_Abort in their own way: by exit or by abort.
MPI_ABORT = ("exit", "crash")


def draw(seed: int) -> dict[int, tuple[int, str]]:
    """Case → (rank, kind): 40 faults at random places."""
    dice = random.Random(seed)
    kinds = [kind for kind, (number, _, _) in KINDS.items() for _ in range(number)]
    places = dice.sample(range(CASES), len(kinds))
    return {place: (dice.randrange(NP), kind) for place, kind in zip(places, kinds, strict=True)}


def options(out: Path, faults: Path) -> list[str]:
    return [
        *("run", "--mpi", MPI, "--np", str(NP), "--suite", "self", "--tier", "smoke", "--out", str(out)),
        *("--timeout-scale", "0.1", "--env", f"ASSAY_SELF_FAULTS={faults}"),
    ]


def plant(faults: dict[int, tuple[int, str]], path: Path) -> None:
    path.write_text("".join(f"{case} {rank} {kind}\n" for case, (rank, kind) in faults.items()))


def check(out: Path, faults: dict[int, tuple[int, str]]) -> None:
    """Every case has one verdict; those of the planted faults name the right rank, all others passed."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    name = "self.ring/number={:04}/comm=world"
    verdicts = {line["case"]: line for line in lines}
    assert len(lines) == len(verdicts) == CASES
    wrong = []
    for case in range(CASES):
        line = verdicts[name.format(case)]
        if case not in faults:
            if line["status"] != "pass":
                wrong.append(f"{case} should pass: {line}")
            continue
        rank, kind = faults[case]
        _, status, of_rank = KINDS[kind]
        found = line.get("found", line["status"])  # found: where it is known
        blamed = {(entry["rank"], entry["status"]) for entry in line.get("ranks", ())}
        wanted = {(rank, word) for word in (MPI_ABORT if kind == "mpi_abort" else (of_rank,))}
        if found != status or len(blamed) != 1 or not blamed <= wanted:
            wrong.append(f"{case}, rank {rank}, {kind}: {line}")
            continue
        entry = line["ranks"][0]
        if kind in ("segv", "abort"):
            assert entry["signal"] == {"segv": "SIGSEGV", "abort": "SIGABRT"}[kind]
            assert any("misbehave" in frame or "self_ring" in frame for frame in entry["stack"]), entry
        if kind == "_exit":
            assert entry["exit"] == 0
        if kind == "mpi_abort":
            assert entry["call"] == "MPI_Abort"
        if kind == "refuse":
            assert entry["message"].startswith("MPI_Send returned")
        if kind in ("spin", "sleep"):
            assert any("misbehave" in frame or "self_ring" in frame for frame in entry["stack"]), entry
    assert wrong == []
    counted = Counter(line["status"] for line in lines)
    record = json.loads((out / "run.json").read_text())
    assert record["status"] == dict(counted) and counted["pass"] == CASES - len(faults)
    assert record["finished"]


@pytest.fixture
def environment(programs: Path) -> dict[str, str]:
    return {"ASSAY_SUITE": str(programs / "assay-suite-self")}


@pytest.mark.usefixtures("nothing_left")
def test_forty_culprits_cost_forty_cases(tmp_path: Path, environment: dict[str, str]) -> None:
    faults = draw(seed=1)
    plant(faults, tmp_path / "faults")
    done = assay(*options(tmp_path / "out", tmp_path / "faults"), env=environment, seconds=1200)
    assert done.returncode == 1, done.stdout + done.stderr
    check(tmp_path / "out", faults)


@pytest.mark.usefixtures("nothing_left")
def test_the_same_where_they_are_known(tmp_path: Path, environment: dict[str, str]) -> None:
    """Jobs are launched ahead of need then, also for twenty cases that are known and pass."""
    faults = draw(seed=3)
    plant(faults, tmp_path / "faults")
    dice = random.Random(3)
    cases = [*faults, *dice.sample(sorted(set(range(CASES)) - set(faults)), 20)]
    names = ", ".join(f'"self.ring/number={case:04}/comm=world"' for case in cases)
    status = 'status = ["fail", "crash", "timeout"]\nsometimes = true'
    known = tmp_path / "known.toml"
    known.write_text(
        f'[[known]]\ncase = [{names}]\n{status}\nreason = "planted"\nlink = "https://example.org/planted"\n'
    )
    out = tmp_path / "out"
    done = assay(
        *options(out, tmp_path / "faults"), "--known", str(known), "--known-limit", "0", env=environment, seconds=1200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check(out, faults)
    begun = [int((job / "go").read_text()) for job in out.glob("logs/*/job-*")]
    assert any(begun), "no job left out what had been run while it waited"


@pytest.mark.usefixtures("nothing_left")
def test_a_known_failure_that_ended_five_cases_leaves_out_the_rest(tmp_path: Path, environment: dict[str, str]) -> None:
    """Only cases that it fits, each with the reason; jobs launched ahead may end some more than five."""
    faults = draw(seed=4)
    plant(faults, tmp_path / "faults")
    fitting = {f"self.ring/number={case:04}/comm=world" for case in faults}
    known = tmp_path / "known.toml"
    known.write_text(
        f"[[known]]\ncase = {json.dumps(sorted(fitting))}\n"
        'status = ["fail", "crash", "timeout"]\nreason = "planted"\nlink = "https://example.org/planted"\n'
    )
    out = tmp_path / "out"
    done = assay(
        *options(out, tmp_path / "faults"), "--known", str(known), "--known-limit", "5", env=environment, seconds=1200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    statuses = {line["case"]: line["status"] for line in lines}
    assert len(lines) == len(statuses) == CASES
    assert {case for case, status in statuses.items() if status != "pass"} == fitting
    ended = sum(line.get("found") in ("crash", "timeout") for line in lines)
    left_out = [line["reason"] for line in lines if line["status"] == "skip"]
    assert ended >= 5 and len(left_out) >= 10, Counter(statuses.values())
    assert all("ended their job by this: planted" in reason for reason in left_out)


@pytest.mark.usefixtures("nothing_left")
def test_the_same_with_the_runner_killed_three_times(tmp_path: Path, environment: dict[str, str]) -> None:
    faults = draw(seed=2)
    plant(faults, tmp_path / "faults")
    out = tmp_path / "out"
    words = options(out, tmp_path / "faults")
    for judged in (300, 900, 1500):
        runner = begin(*words, env=environment)
        deadline = time.monotonic() + 600
        while _lines(out) < judged:
            assert runner.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        assert left_running(tmp_path) == []  # neither ranks nor launcher survive the runner
        assert judged <= _lines(out) < CASES
        words = ["resume", str(out)]
    done = assay(*words, env=environment, seconds=1200)
    assert done.returncode == 1, done.stdout + done.stderr
    check(out, faults)


def _lines(out: Path) -> int:
    try:
        return (out / "cases.jsonl").read_bytes().count(b"\n")
    except OSError:
        return 0
