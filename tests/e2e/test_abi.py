"""assay abi on real libraries: MPICH is as the standard says, and its programs run with itself and with Intel MPI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_help import assay

from runner.libraries import targets

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_mpich(tmp_path: Path) -> None:
    mpich = str(targets.known()["abi"])
    done = assay("abi", "--mpi", mpich, "--against", mpich, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out" / "abi.json").read_text())
    assert found["ok"] and found["status"]["fail"] == found["status"]["xfail"] == 0
    (library,) = found["libraries"]
    assert library["abi"] and library["mpi_standard"] == "5.0" and not library["not_checked"]
    assert library["checks"]["prototype"] > 660 and library["checks"]["constant"] > 350
    assert [(one["built_for"], one["runs_on"], one["differences"]) for one in found["pairs"]] == [(mpich, mpich, [])]
    assert (tmp_path / "out" / "abi.html").read_text().startswith("<!DOCTYPE html>")


def test_a_library_without_a_procedure(tmp_path: Path) -> None:
    """A copy of MPICH in which one name is spelt otherwise: programs of MPICH do not start with it."""
    mpich = targets.resolve(str(targets.known()["abi"]))
    library = (mpich.library_dirs[0] / targets.ABI_NAME).resolve()
    text = library.read_bytes()
    assert b"MPI_Comm_toint\0" in text
    for name in ("bin", "include"):
        (tmp_path / name).symlink_to(mpich.root / name)
    (tmp_path / "lib").mkdir()
    for place in mpich.library_dirs[0].iterdir():  # what the library needs is beside it
        if not place.name.startswith("libmpi_abi"):
            (tmp_path / "lib" / place.name).symlink_to(place)
    (tmp_path / "lib" / targets.ABI_NAME).write_bytes(text.replace(b"MPI_Comm_toint\0", b"MPI_Comm_toink\0"))
    (tmp_path / "lib" / "libmpi_abi.so").symlink_to(targets.ABI_NAME)
    spec = f"abi:{tmp_path / 'lib'}"
    done = assay("abi", "--mpi", spec, "--against", mpich.spec, "--out", tmp_path / "out", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    (one,) = found["libraries"]
    failed = [known["check"] for known in one["differences"] if known["status"] == "fail"]
    assert failed == ["abi.symbol/name=mpi_comm_toint"]
    foreign = [known["check"] for known in one["differences"] if known["check"].startswith("abi.foreign/")]
    assert foreign == ["abi.foreign/name=mpi_comm_toink", "abi.foreign/name=pmpi_comm_toink"]
    assert "undefined reference to `MPI_Comm_toint'" in one["not_checked"][0]
    runs = {(pair["built_for"], pair["runs_on"]): pair["differences"] for pair in found["pairs"]}
    assert "the library has no MPI_Comm_toint" in runs[mpich.spec, spec][0]["text"]
