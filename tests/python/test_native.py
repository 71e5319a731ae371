"""The table of suites about frameworks without MPI."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner import cli
from runner.libraries.native import NATIVE
from runner.libraries.targets import Library

REPO = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", NATIVE)
def test_each_has_its_parts(name: str) -> None:
    for part in (f"suites/{name}/CMakeLists.txt", f"faults/{name}/{name}_faults.cpp", f"standard/{name}.toml"):
        assert (REPO / part).is_file(), part
    assert NATIVE[name].package in (REPO / "assay").read_text()  # `assay test` installs it
    assert Library(name, name, "1.0", Path("/usr"), "", None).key == name


def test_the_version_stands_in_a_header(tmp_path: Path) -> None:
    header = tmp_path / "version.h"
    header.write_text("#define UCP_VERSION(_major)  1\n#define UCP_API_MAJOR    1\n#define UCP_API_MINOR    13\n")
    assert replace(NATIVE["ucx"], version=(header, "UCP_API_MAJOR|UCP_API_MINOR")).version_there() == "1.13"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--mpi", "ofi,ucx"], "name it alone"),
        (["run", "--suite", "ucx", "--transport", "own"], "UCX has no choice"),
        (["run", "--suite", "ofi", "--threads", "4"], "one thread a rank"),
        (["faults", "--mpi", "ucx"], "--mpi ucx names no MPI library"),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
