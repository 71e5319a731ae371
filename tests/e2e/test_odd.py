"""What the standard does not allow is caught while all oddities that go together are on: they hide nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_help import MPI, assay

from runner.libraries import build, targets
from runner.planting import odd

TOGETHER = ",".join(one.name for one in odd.together(odd.load()))
RING = "p2p.ring/mode=*send/receive=irecv/completion=*/comm=world/type=int/count=17/placement=heap"


@pytest.fixture(scope="module")
def layers() -> tuple[Path, Path]:
    library = targets.resolve(MPI)
    folder = build.build(library, programs=(build.SUITE, "assay_oddities", "assay_faults"))
    return folder / "libassay_oddities.so", folder / "libassay_faults.so"


def ring(layers: tuple[Path, Path], out: Path, fault: str, oddities: str = TOGETHER) -> int:
    """The exit code of a few cases under these oddities and, unless it is empty, under a planted fault."""
    preload = [word for layer in layers for word in ("--preload", layer)]
    env = ["--env", f"ASSAY_ODD={oddities}", *(["--env", f"ASSAY_FAULT={fault}"] if fault else [])]
    words = ("--mpi", MPI, "--np", "2", "--tier", "full", "--select", RING)
    return assay("run", *words, "--out", out, *preload, *env).returncode


def test_without_a_fault_all_pass(layers: tuple[Path, Path], tmp_path: Path) -> None:
    assert ring(layers, tmp_path / "out", "") == 0


@pytest.mark.parametrize(
    "fault",
    [
        "status_count_plus_one",
        "last_byte_lost",
        "wait_keeps_request",  # a completed request becomes MPI_REQUEST_NULL, however it completes
    ],
)
def test_a_fault_is_caught_all_the_same(layers: tuple[Path, Path], tmp_path: Path, fault: str) -> None:
    assert ring(layers, tmp_path / "out", fault) == 1


def test_a_misspelt_oddity_does_not_look_like_a_pass(layers: tuple[Path, Path], tmp_path: Path) -> None:
    assert ring(layers, tmp_path / "out", "", "true_is_twoo") not in (0, 1)


def test_faults_odd_fails_where_a_case_fails_and_says_which_oddities_no_case_has_reached(
    layers: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("--mpi", MPI, "--suite", "topology", "--odd", "--together", "--out", out)
    done = assay("faults", *words, "--preload", layers[1], "--env", "ASSAY_FAULT=topo_test_none")
    assert done.returncode == 1, done.stdout
    (found,) = json.loads((out / "odd.json").read_text())["oddities"]
    assert found["word"] == "failed"
    assert "grids_reordered" not in found["not_tried"]
    assert "file_hints_more" in found["not_tried"]
