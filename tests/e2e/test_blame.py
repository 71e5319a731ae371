"""Findings and crashes name the call and the case that they are about: suite `blame` in tests/cpp/self_suite.cpp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from e2e_help import MPI, assay

pytestmark = pytest.mark.usefixtures("nothing_left")


def run(out: Path, programs: Path, *words: str) -> dict[str, dict[str, Any]]:
    """Lines of cases.jsonl by the name of the test."""
    asked = ("run", "--mpi", MPI, "--np", "2", "--tier", "smoke", "--out", str(out), *words)
    done = assay(*asked, env={"ASSAY_SUITE": str(programs / "assay-suite-self")})
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    return {line["case"].partition("/")[0]: line for line in lines}


def test_of_what_a_body_meets(tmp_path: Path, programs: Path) -> None:
    found = run(tmp_path / "out", programs, "--suite", "blame")
    assert {name: line["status"] for name, line in found.items()} == {
        "blame.constructor": "fail",
        "blame.error_text": "fail",
        "blame.late": "pass",
        "blame.made_by_the_catalogue": "pass",
        "blame.thread_unsupported": "unsupported",
        "blame.world": "fail",
    }
    # The error of a constructor ends the case with that error, on the rank that met it.
    (of_constructor,) = found["blame.constructor"]["ranks"]
    assert (of_constructor["rank"], of_constructor["check"]) == (1, "return")
    assert of_constructor["call"] == "MPI_Type_create_resized"
    assert of_constructor["message"].startswith("MPI_Type_create_resized returned ")
    # The text of an error is asked for by the framework: that call is not the one that failed.
    (of_send,) = found["blame.error_text"]["ranks"]
    assert of_send["call"] == "MPI_Send" and of_send["message"].startswith("MPI_Send returned ")
    # A message that comes when its receiver has ended the case is found later, with the name of its case.
    (left,) = found["blame.world"]["ranks"]
    assert (left["rank"], left["check"]) == (0, "leftover")
    assert "from rank 1" in left["message"] and "blame.late/comm=world" in left["message"]
    # A thread of a case may find that the library lacks something.
    assert found["blame.thread_unsupported"]["reason"] == "thread 1 finds nothing to do"


def test_of_a_crash_in_what_the_catalogue_calls(tmp_path: Path, programs: Path) -> None:
    layer = programs / "libassay-crash-in-create-group.so"
    words = ("--select", "blame.made_by_the_catalogue/*", "--env", f"LD_PRELOAD={layer}")
    line = run(tmp_path / "out", programs, *words)["blame.made_by_the_catalogue"]
    assert line["status"] == "crash"
    (dead,) = line["ranks"]
    assert (dead["rank"], dead["signal"]) == (1, "SIGSEGV")
    assert (dead["call"], dead["in_mpi"]) == ("MPI_Comm_create_group", True)
