"""What runs is what --mpi named: MPICH 5.0.1, whose wheel has no file libmpi_abi.so.1, and 5.0.2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_help import MPI, assay

from runner.libraries import targets

OTHER = "mpich@5.0.1"


@pytest.mark.parametrize("test", ["env.version", "env.start"])  # in a job with others, and in a job of its own
def test_each_version_runs_itself(tmp_path: Path, test: str) -> None:
    done = assay("run", "--mpi", OTHER, "--tier", "smoke", "--select", f"{test}*", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (about,) = json.loads((tmp_path / "out" / "run.json").read_text())["targets"]
    (hello, *_) = (tmp_path / "out" / about["jobs"][0]["directory"] / "rank-0.events").read_text().splitlines()
    told = json.loads(hello.removeprefix("H "))
    assert Path(told["library_path"]).is_relative_to(targets.resolve(OTHER).root.resolve())
    if test == "env.version":
        assert about["library"].endswith("5.0.1")


@pytest.mark.parametrize("test", ["env.version", "env.start"])
def test_another_library_on_the_path_is_named(tmp_path: Path, test: str) -> None:
    named, loaded = targets.resolve(MPI), targets.resolve(OTHER)
    words = ["--tier", "smoke", "--select", f"{test}*", "--out", tmp_path / "out"]
    done = assay("run", "--mpi", MPI, "--env", f"LD_LIBRARY_PATH={loaded.library_dirs[0]}", *words)
    assert done.returncode == 3
    assert f"--mpi {MPI} is the library in {named.root}, but the ranks loaded {loaded.root}/" in done.stderr
