"""assay matrix and assay known check on a real library, and beside it one that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_help import MPI, REPO, assay

from runner.libraries import targets

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_a_library_that_is_not_there_stops_no_other(tmp_path: Path, programs: Path) -> None:
    out = tmp_path / "out"
    words = ("--np", "2,3", "--tier", "smoke", "--select", "p2p.ring_sendrecv/*", "--out", out)
    environment = {"ASSAY_SUITE": str(programs / "assay-suite")}
    done = assay("matrix", "--mpi", f"path:{tmp_path / 'none'}", "--mpi", MPI, *words, env=environment)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "is not a program" in done.stderr.splitlines()[-1]
    record = json.loads((out / "run.json").read_text())
    assert ["could_not_run" in about for about in record["targets"]] == [True, True, False, False]
    assert not any(record["status"].get(status) for status in ("fail", "crash", "timeout", "lost", "xpass"))
    ran = sum(about["cases"].get("ran", 0) for about in record["targets"])
    count = record["status"]
    assert ran > 20 and ran == count["pass"] + count.get("xfail", 0)
    page = (out / "matrix.html").read_text()
    assert "could not run" in page and f"{MPI}/np3" in page
    assert done.stdout.splitlines()[-1] == (
        f"assay: {count['pass']} pass 0 fail 0 crash 0 timeout 0 lost {count.get('xfail', 0)} xfail 0 xpass 0 flaky "
        f"0 skip {count.get('unsupported', 0)} unsupported"
    )


def test_a_reproducer_is_built_and_run(tmp_path: Path) -> None:
    """With entries that speak of no library: whatever it says beyond OK is a disagreement."""
    folder = tmp_path / "known"
    (folder / "reproducers").mkdir(parents=True)
    (folder / "some.toml").write_text(
        '[[known]]\ncase="p2p.ring/*"\nlibrary="none"\nreason="r"\nlink="known/reproducers/mpich_hindexed_cxx.c"\n'
    )
    done = assay("known", "check", "hindexed_cxx", "--mpi", MPI, "--known", folder / "some.toml", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(done.stdout)["reproducers"][0]["results"]
    assert (result["mpi"], result["says"], result["agrees"]) == (MPI, "OK", True)
    assert targets.resolve(MPI).key in {path.name for path in (REPO / "build" / "known").iterdir()}
