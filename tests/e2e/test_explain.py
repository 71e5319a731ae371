"""assay explain on a planted fault: the smallest case, and a program that says BUG under it and OK without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_help import MPI, assay


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("fault", "shows"), [("last_byte_lost", "received[0] is not"), ("status_sendrecv_tag", "MPI_TAG")]
)
def test_a_planted_fault_becomes_a_program(fault: str, shows: str, programs: Path, tmp_path: Path) -> None:
    environment = {"ASSAY_SUITE": str(programs / "assay-suite")}
    out = tmp_path / "out"
    words = ["--mpi", MPI, "--np", "2", "--no-known", "--tier", "smoke", "--out", str(out)]
    words += ["--preload", str(programs / "libassay_faults.so"), "--env", f"ASSAY_FAULT={fault}"]
    select = {"last_byte_lost": "p2p.ring/*/count={2,17}/*", "status_sendrecv_tag": "p2p.ring_sendrecv/call=sendrecv/*"}
    done = assay("run", *words, "--select", select[fault], env=environment)
    assert done.returncode == 1, done.stderr
    done = assay("explain", out, "--defect", "1", "--report", "--json", env=environment)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    program = found["program"]
    assert program["shows"] and program["says"] == {MPI: "BUG", f"{MPI} without what was preloaded": "OK"}, found
    assert program["lines"] <= 75 and found["failures"] == found["runs"]
    assert "type=int" in found["case"] and "comm=world" in found["case"] and "placement=heap" in found["case"]
    folder = Path(program["file"]).parent
    assert shows in (folder / "report.md").read_text().splitlines()[0]
    assert (folder / "known.toml").read_text().startswith("[[known]]")
