"""Many troubles in one run, a runner that is killed, a guard that is killed, a disk that fills up: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from supervise_help import left_over, lines_of, names, run

from runner.model import CannotRun, Options
from runner.supervision.events import RankLog
from runner.supervision.journal import Journal

PLAN = names(300)
STATUS = {
    "segv": "crash",
    "exit": "crash",
    "abort": "crash",
    "silent": "crash",
    "spin": "timeout",
    "sleep": "timeout",
    "stop": "timeout",
    "escape": "timeout",
    "refuse": "fail",
    "fail": "fail",
}


def storm(seed: int, each: int) -> tuple[dict[str, Any], dict[str, tuple[str, list[int]]]]:
    """Faults at random places, `each` of every kind, and what must be reported."""
    dice = random.Random(seed)
    kinds = [*STATUS] * each
    sick = dice.sample(PLAN, len(kinds))
    faults = {case: {"kind": kind, "rank": dice.randrange(2)} for case, kind in zip(sick, kinds, strict=True)}
    expected = {case: (STATUS[str(fault["kind"])], [int(str(fault["rank"]))]) for case, fault in faults.items()}
    return {"cases": faults}, expected


def test_exactly_the_planted_faults_are_reported(tmp_path: Path) -> None:
    faults, expected = storm(1, each=2)
    outcome = run(tmp_path, PLAN, faults)
    assert outcome.failed() == expected
    assert sorted(line["case"] for line in outcome.lines) == sorted(PLAN)
    assert len(outcome.records) <= 20  # those that only fail need no job of their own


RUNNER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from supervise_help import QUICK, fake_target, names
from runner.supervision.journal import Journal
from runner.supervision.context import CaseFacts, Task
from runner.supervision.supervise import supervise
out = Path(sys.argv[1])
with Journal(out / "cases.jsonl") as journal:
    supervise(Task(target=fake_target(out / "faults.json"), plan=names(300), out=out, journal=journal,
                   cases=CaseFacts(requirements=lambda case: ["fake.data"]), patience=QUICK, binary="feedfeedfeedfeed"))
"""


def start_runner(out: Path) -> subprocess.Popen[bytes]:
    here = Path(__file__).parent
    return subprocess.Popen([sys.executable, "-c", RUNNER, str(out), str(here), str(here.parent.parent)])


def wait_until_nothing_is_left(out: Path, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while left := left_over(out):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_runner_killed_three_times(tmp_path: Path) -> None:
    faults, expected = storm(2, each=1)
    (tmp_path / "faults.json").write_text(json.dumps(faults | {"pace": 0.002}))
    file = tmp_path / "cases.jsonl"
    for share in (0.2, 0.5, 0.8):
        runner = start_runner(tmp_path)
        while not file.exists() or file.read_bytes().count(b"\n") < share * len(PLAN):
            assert runner.poll() is None
            time.sleep(0.02)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        wait_until_nothing_is_left(tmp_path)
    runner = start_runner(tmp_path)
    assert runner.wait() == 0
    assert left_over(tmp_path) == []
    lines = lines_of(tmp_path)
    assert sorted(line["case"] for line in lines) == sorted(PLAN)
    found = {
        line["case"]: (line["status"], sorted({entry["rank"] for entry in line["ranks"]}))
        for line in lines
        if line["status"] != "pass"
    }
    assert found == expected


@pytest.mark.parametrize("kind", ["stop", "escape"])
def test_nothing_outlives_a_killed_runner(tmp_path: Path, kind: str) -> None:
    (tmp_path / "faults.json").write_text(json.dumps({"cases": {PLAN[0]: {"kind": kind}}}))
    runner = start_runner(tmp_path)
    log = RankLog(tmp_path / "logs/fake@1.0_np2/job-0001", 1, len(PLAN), set())
    while log.open != 0:
        assert runner.poll() is None
        log.read()
        time.sleep(0.02)
    time.sleep(0.1)  # to do what it is going to do
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    wait_until_nothing_is_left(tmp_path)
    log.close()


def test_nothing_outlives_a_killed_guard(tmp_path: Path) -> None:
    def guard() -> int:
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(entry.read_text().rpartition(")")[2].split()[1])
                words = (entry.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == os.getpid() and b"guard.py" in words:
                return int(entry.parent.name)
        raise AssertionError("no guard")

    killed: list[int] = []

    def kill_once(_: object) -> None:
        if not killed:
            killed.append(guard())
            os.kill(killed[0], signal.SIGKILL)

    outcome = run(tmp_path, names(50), {"pace": 0.01}, on_verdicts=kill_once)
    assert outcome.ends == ["launcher died", "complete"]
    assert outcome.failed() == {}
    assert sorted(line["case"] for line in outcome.lines) == sorted(names(50))


def test_verdicts_that_were_not_written_are_recovered(tmp_path: Path) -> None:
    run(tmp_path, names(50), {"cases": {names(50)[7]: {"kind": "fail"}}})
    file = tmp_path / "cases.jsonl"
    complete = file.read_bytes()
    file.write_bytes(b"".join(complete.splitlines(keepends=True)[:5]) + b'{"case":"fake.case/n=5","tar')
    outcome = run(tmp_path, names(50), {}, binary="feedfeedfeedfeed")
    assert outcome.records == []
    assert file.read_bytes() == complete
    assert outcome.notes == ["45 verdicts recovered from job-0001"]


@pytest.mark.parametrize("change", ["binary", "args"])
def test_nothing_is_recovered_from_another_suite(tmp_path: Path, change: str) -> None:
    run(tmp_path, names(5), {"cases": {names(5)[2]: {"kind": "fail"}}})
    (tmp_path / "cases.jsonl").write_bytes(b"")
    log = tmp_path / "logs/fake@1.0_np2/job-0001/rank-1.events"
    if change == "binary":
        log.write_text(log.read_text().replace("feedfeedfeedfeed", "0123012301230123"))
    options = Options(strict=change == "args")
    outcome = run(tmp_path, names(5), {}, binary="feedfeedfeedfeed", options=options)
    assert [record.cases for record in outcome.records] == [5]
    assert outcome.failed() == {}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"this container may not mount: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_full_disk(small_disk: Path) -> None:
    plan = names(1500)
    run(small_disk, plan[:100], {})
    with pytest.raises(CannotRun, match="No space left|the disk is full") as caught:
        run(small_disk, plan, {})
    assert "\n" not in str(caught.value)
    content = (small_disk / "cases.jsonl").read_bytes()
    assert content.endswith(b"\n")
    judged = len(lines_of(small_disk))
    assert 100 <= judged < 1500
    with Journal(small_disk / "cases.jsonl") as journal:
        assert len(journal.judged["fake@1.0/np2"]) == judged
        subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    run(small_disk, plan, {})
    assert [line["case"] for line in lines_of(small_disk)] == plan
