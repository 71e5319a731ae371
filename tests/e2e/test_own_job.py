"""Real jobs of one case: some have to end, some must not. See suite `lone` of tests/cpp/self_suite.cpp."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from e2e_help import MPI, assay

from runner.libraries import launching, targets

STATUS = {
    "in_peace": "pass",
    "aborts": "pass",
    "ignores": "fail",
    "crashes": "crash",
    "crashes_early": "crash",
    "hangs": "timeout",
}


@pytest.mark.usefixtures("nothing_left")
def test_each_ends_as_it_should_or_is_told(tmp_path: Path, programs: Path) -> None:
    out = tmp_path / "out"
    words = ("run", "--mpi", MPI, "--np", "2", "--suite", "lone", "--tier", "smoke", "--out", out)
    done = assay(*words, env={"ASSAY_SUITE": str(programs / "assay-suite-self")}, seconds=1200)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    assert {line["case"].partition("=")[2]: line["status"] for line in lines} == STATUS
    jobs = json.loads((out / "run.json").read_text())["targets"][0]["jobs"]
    assert len(jobs) == len(STATUS)
    assert [job["end"] for job in jobs].count("ended") == 2  # aborts, crashes


def test_by_hand(tmp_path: Path, programs: Path) -> None:
    suite = programs / "assay-suite-self"
    library = targets.resolve(MPI)

    def run(case: str) -> subprocess.CompletedProcess[str]:
        target = launching.make_target(library, 2, suite, launching.LaunchWishes())
        launch = target.launcher([f"--own-job=lone.job/ending={case}", "--np=2"])
        return subprocess.run(
            list(map(str, launch.argv)), env=launch.env, capture_output=True, text=True, timeout=600, check=False
        )

    peace = run("in_peace")
    assert peace.returncode == 0, peace.stdout + peace.stderr
    assert peace.stdout.count("passed") == 2
    ignored = run("ignores")
    assert ignored.returncode != 0
    assert "the process goes on" in ignored.stdout + ignored.stderr
