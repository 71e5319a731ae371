"""The suite compiles with the headers of libraries that have an ABI of their own, old ones above all.

The smoke run builds for one library only. Building for each takes minutes, so here one file of each suite stands
for the others.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runner.libraries import build, targets
from runner.libraries.output import first_error

FILES = (
    "framework/mpi/profiles.cpp",
    "suites/coll/neighborhood.cpp",
    "suites/datatype/contents.cpp",
    "suites/env/handles.cpp",
    "suites/errors/threads.cpp",
    "suites/io/view.cpp",
    "suites/p2p/partitioned.cpp",
    "suites/rma/epochs.cpp",
)


@pytest.mark.parametrize("spec", ["openmpi@4.1.8", "mpich@4.3.2"])
def test_the_suite_compiles_for(spec: str, tmp_path: Path) -> None:
    library = targets.resolve(spec)
    for file in FILES:
        assert (build.REPO / file).exists(), f"{file} is no longer there: take another one of its folder"
    subprocess.run(
        ["cmake", "--preset", "debug", "-B", tmp_path, f"-DMPI_C_COMPILER={build.mpicc(library)}"],
        cwd=build.REPO,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # `file^` is what ninja makes of a file.
    done = subprocess.run(
        ["ninja", "-C", tmp_path, *(f"{build.REPO / file}^" for file in FILES)], capture_output=True, text=True
    )
    assert done.returncode == 0, first_error(done.stdout)
