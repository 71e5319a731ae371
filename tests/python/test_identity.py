"""What runs is what --mpi named: the library that the ranks say they loaded, its version and its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from supervise_help import names, run

from runner.libraries import targets
from runner.libraries.identity import same_version, wrong_library
from runner.libraries.targets import Library
from runner.model import CannotRun, WrongUse

MPICH = "MPICH Version:      5.0.2"
OPEN_MPI = "Open MPI v5.0.11, package: Open MPI root@host"
INTEL = "Intel(R) MPI Library 2021.19 for Linux* OS"


def library(folder: Path, spec: str, family: str, version: str, mpicc: Path | None = None) -> Library:
    """A fake installation: bin/ and lib/libmpi_abi.so.1.0 with its links."""
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    (folder / "lib" / "libmpi_abi.so.1.0").touch()
    for name in ("libmpi_abi.so.1", "libmpi_abi.so"):
        if not (folder / "lib" / name).exists():
            (folder / "lib" / name).symlink_to("libmpi_abi.so.1.0")
    return Library(spec, family, version, folder, "", mpicc, (folder / "lib",))


def hello(said: str, path: Path | str = "") -> Mapping[str, object]:
    return {"rank": 0, "library": said, "library_path": str(path)}


@pytest.mark.parametrize(
    ("spec", "family", "version", "said"),
    [
        ("mpich@5.0.2", "mpich", "5.0.2", MPICH),
        ("mpich@5.0.2.post1", "mpich", "5.0.2.post1", MPICH),
        ("openmpi@5.0.11", "openmpi", "5.0.11", OPEN_MPI),
        ("impi@2021.19.0", "impi", "2021.19.0", INTEL),
        ("impi@2021.19.1", "impi", "2021.19.1", INTEL),  # Intel says less
        ("path:DIR", "mpich", "4.0", "MPICH Version: 4.0.0"),
        ("path:DIR", "mpich", "4.0", "MVAPICH Version: 4.0"),  # made from MPICH, with a name of its own
        ("path:DIR", "unknown", "", "Some MPI 7"),
        ("abi:DIR", "mpich", "4.3.2", MPICH),  # 4.3.2 is what mpiexec said
    ],
)
def test_the_library_that_was_named(tmp_path: Path, spec: str, family: str, version: str, said: str) -> None:
    one = library(tmp_path / "one", spec, family, version)
    assert wrong_library(one, hello(said, tmp_path / "one" / "lib" / "libmpi_abi.so.1.0")) == ""
    assert wrong_library(one, hello(said)) == ""  # the path is not known
    assert wrong_library(one, hello("")) == ""  # before MPI_Init


@pytest.mark.parametrize(
    ("spec", "family", "version", "said", "names_both"),
    [
        ("mpich@5.0.1", "mpich", "5.0.1", MPICH, "mpich@5.0.1 is version 5.0.1, but .* says: MPICH Version: 5.0.2"),
        ("impi@2021.18.0", "impi", "2021.18.0", INTEL, "is version 2021.18.0, but .*2021.19"),
        ("mpich@5.0.2", "mpich", "5.0.2", OPEN_MPI, "is MPICH, but .* Open MPI v5.0.11"),
        ("mpich@5.0.2", "mpich", "5.0.2", "Some MPI 7", "is MPICH, but .* Some MPI 7"),
        ("path:DIR", "openmpi", "5.0.8", OPEN_MPI, "is version 5.0.8 by its mpi.h, but .* v5.0.11"),
        ("path:DIR", "openmpi", "5.0.8", MPICH, "is Open MPI, but .* MPICH"),
        ("debian:mpich", "mpich", "4.0.2", MPICH, "is version 4.0.2, but .* 5.0.2"),
    ],
)
def test_another_version(tmp_path: Path, spec: str, family: str, version: str, said: str, names_both: str) -> None:
    one = library(tmp_path, spec, family, version)
    wrong = wrong_library(one, hello(said, tmp_path / "lib" / "libmpi_abi.so.1.0"))
    with pytest.raises(AssertionError, match=names_both):
        raise AssertionError(wrong)
    assert "\n" not in wrong


@pytest.mark.parametrize("spec", ["mpich@5.0.2", "path:DIR", "abi:DIR"])
def test_another_folder(tmp_path: Path, spec: str) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    library(two, "mpich@5.0.2", "mpich", "5.0.2")
    wrong = wrong_library(library(one, spec, "mpich", "5.0.2"), hello(MPICH, two / "lib" / "libmpi_abi.so.1.0"))
    place = one / "lib" if spec == "abi:DIR" else one
    assert f"--mpi {spec} is the library in {place}, but the ranks loaded {two}/lib/libmpi_abi.so.1.0" in wrong


def test_links_to_another_folder_are_no_other_library(tmp_path: Path) -> None:
    store = tmp_path / "store"
    library(store, "", "mpich", "5.0.2")
    view = tmp_path / "view"
    (view / "lib").mkdir(parents=True)
    (view / "lib" / "libmpi_abi.so.1").symlink_to(store / "lib" / "libmpi_abi.so.1.0")
    one = Library("path:view", "mpich", "5.0.2", view, "", None, (view / "lib",))
    assert wrong_library(one, hello(MPICH, store / "lib" / "libmpi_abi.so.1.0")) == ""
    (tmp_path / "link").symlink_to(store)
    one = Library("path:link", "mpich", "5.0.2", tmp_path / "link", "", None, (tmp_path / "link" / "lib",))
    assert wrong_library(one, hello(MPICH, store / "lib" / "libmpi_abi.so.1.0")) == ""


def test_a_wrapper_may_stand_anywhere(tmp_path: Path) -> None:
    one = Library("mpicc=/usr/local/bin/my-mpicc", "mpich", "5.0.2", Path("/usr/local"), "", Path("/x"), ())
    assert wrong_library(one, hello(MPICH, tmp_path / "lib" / "libmpi.so.12")) == ""


@pytest.mark.parametrize(
    ("said", "wanted", "same"),
    [
        ("2021.19", "2021.19.0", True),
        ("2021.19", "2021.19.3", True),
        ("2021.19.0", "2021.19", True),
        ("5.0.1", "5.0.1.post1", True),
        ("5.0.1", "5.0.10", False),
        ("5.0", "5.1", False),
        ("4.0.1", "4.0", False),
        ("10.0", "3.1", False),
        ("5.1.0a1", "5.1.0", True),
        ("git-2c4f", "5.1", True),
    ],
)
def test_versions(said: str, wanted: str, same: bool) -> None:
    assert same_version(said, wanted) == same


def test_a_run_on_another_library_ends_before_the_first_case(tmp_path: Path) -> None:
    one = library(tmp_path / "one", "mpich@5.0.1", "mpich", "5.0.1")
    with pytest.raises(CannotRun, match="5.0.1 is version 5.0.1, but the library that the ranks loaded says: MPICH V"):
        run(
            tmp_path / "out",
            names(3),
            {"start": {"library": MPICH, "library_path": str(one.root / "lib" / "libmpi_abi.so.1.0")}},
            wrong_library=lambda told: wrong_library(one, told),
        )


def test_a_wheel_with_an_earlier_name_of_the_abi_gets_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    lib = tmp_path / "mpi" / "mpich-5.0.1" / "lib"
    lib.mkdir(parents=True)
    for name in ("libmpi_abi.so", "libmpi_abi.so.0"):
        (lib / name).touch()
    for _ in range(2):
        found = targets.resolve("mpich@5.0.1")
        assert os.readlink(lib / "libmpi_abi.so.1") == "libmpi_abi.so.0"
        assert found.library_dirs == (lib,)


def test_a_folder_of_others_without_the_name_of_the_abi_is_refused(tmp_path: Path) -> None:
    for name in ("libmpi_abi.so", "libmpi_abi.so.0"):
        (tmp_path / name).touch()
    with pytest.raises(WrongUse, match=r"no libmpi_abi\.so\.1 in .*, the name by which programs look for it"):
        targets.resolve(f"abi:{tmp_path}")
