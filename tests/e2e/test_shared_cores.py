"""Where there are more ranks than cores, each rank keeps to one core, and no core has two ranks more than another."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest
from e2e_help import MPI, begin

MOST = 8  # cores: beyond that there would be too many ranks for a test


def _ranks_on_cores(mark: bytes) -> list[set[int]]:
    """The cores that each rank with `mark` among its arguments may use."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"/assay-suite-self") and any(mark in word for word in words):
                found.append(os.sched_getaffinity(int(process.name)))
        except (OSError, ValueError):  # no process, or gone meanwhile
            continue
    return found


@pytest.mark.usefixtures("nothing_left")
def test_ranks_that_share_cores_keep_to_one_each(tmp_path: Path, programs: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    if cores > MOST:
        pytest.skip(f"needs more ranks than cores, of which there are {cores}")
    (tmp_path / "faults").write_text("1500 0 spin\n")  # so that they are there until somebody has looked
    words = ["run", "--mpi", MPI, "--np", str(cores + 1), "--suite", "self", "--tier", "smoke"]
    words += ["--timeout-scale", "0.2", "--out", str(tmp_path / "out"), "--env", f"ASSAY_SELF_FAULTS={tmp_path}/faults"]
    runner = begin(*words, env={"ASSAY_SUITE": str(programs / "assay-suite-self")})
    ranks: list[set[int]] = []
    try:
        while runner.poll() is None and not (len(ranks) == cores + 1 and all(len(may) == 1 for may in ranks)):
            time.sleep(0.02)
            ranks = _ranks_on_cores(os.fsencode(tmp_path)) or ranks
    finally:
        runner.terminate()
        runner.wait()
    assert len(ranks) == cores + 1
    assert all(len(may) == 1 for may in ranks), ranks
    assert sorted(Counter(core for may in ranks for core in may).values()) == [*[1] * (cores - 1), 2]
