"""SPECs, settings and launch commands: runner/libraries/targets.py and its data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runner.libraries import launching, targets
from runner.libraries.launching import LaunchWishes, make_target
from runner.libraries.targets import Library
from runner.model import CannotRun, WrongUse


def library(family: str = "mpich", version: str = "5.0.2", **more: object) -> Library:
    values: dict[str, object] = {
        "spec": f"{family}@{version}",
        "family": family,
        "version": version,
        "root": Path("/opt/lib rary"),
        "mpiexec": "/opt/mpi/bin/mpiexec",
        "mpicc": None,
        "library_dirs": (Path("/opt/mpi/lib"),),
    }
    return Library(**{**values, **more})  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def two_cores_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "cores", lambda: 2)
    monkeypatch.setattr(launching, "has_libfabric", lambda library: False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("LD_LIBRARY_PATH", "ASSAY_YIELD_POLLS", "I_MPI_ROOT", "I_MPI_FABRICS"):
        monkeypatch.delenv(name, raising=False)


def argv(made: targets.Target, *suite_args: str) -> list[str]:
    return list(made.launcher(suite_args).argv)


@pytest.mark.parametrize(
    ("spec", "near"),
    [
        ("mpch@5.0.2", "mpich@5.0.2"),
        ("openmip@5.0.11", "openmpi@5.0.11"),
        ("debian:mpic", "debian:mpich"),
        ("pth:/opt", "path:/opt"),
        ("mpicc:/opt/bin/mpicc", "mpicc=/opt/bin/mpicc"),
    ],
)
def test_unknown_spec_names_the_near_one(spec: str, near: str) -> None:
    with pytest.raises(WrongUse, match="did you mean") as error:
        targets.resolve(spec)
    assert f"did you mean {near}?" in str(error.value)


@pytest.mark.parametrize("spec", ["", "@", "5.0.2", "mpich", "mpich@", "impi", "path:", "mpich@abc", "Ω"])
def test_spec_that_is_not_whole_is_wrong_use(spec: str) -> None:
    with pytest.raises(WrongUse) as error:
        targets.resolve(spec)
    assert f"--mpi {spec}: " in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_wheel_names_the_versions_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))

    def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
        if arguments[0] == "install":
            return subprocess.CompletedProcess(
                arguments, 1, "", "ERROR: No matching distribution found for mpich==5.0.3"
            )
        return subprocess.CompletedProcess(arguments, 0, "mpich (5.0.2)\nAvailable versions: 5.0.2, 4.3.2\n", "")

    monkeypatch.setattr(targets, "_pip", pip)
    with pytest.raises(WrongUse, match=r"did you mean mpich@5\.0\.2\? There are 5\.0\.2, 4\.3\.2"):
        targets.resolve("mpich@5.0.3")
    assert not [path for path in (tmp_path / "mpi").iterdir() if path.is_dir()], "something half-installed is left"


def test_index_that_does_not_answer_is_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    failed = subprocess.CompletedProcess((), 1, "", "WARNING: retry\nERROR: no route to host\n")
    monkeypatch.setattr(targets, "_pip", lambda *arguments: failed)
    with pytest.raises(CannotRun, match="no route to host"):
        targets.resolve("mpich@5.0.2")


def test_an_index_that_cannot_be_reached_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # where nobody listens
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(CannotRun) as error:
        targets.resolve("mpich@5.0.2")
    assert str(error.value).startswith(
        "--mpi mpich@5.0.2: the package index http://127.0.0.1:9/simple cannot be reached (Connection refused); "
    )


def test_a_compiler_wrapper_that_fails_tells_its_first_error(tmp_path: Path) -> None:
    mpicc = tmp_path / "bin" / "mpicc"
    mpicc.parent.mkdir()
    mpicc.write_text(
        "#!/bin/sh\necho 'x.c:1:10: fatal error: mpi.h: No such file' >&2\necho 'compilation ended.' >&2\nexit 1\n"
    )
    mpicc.chmod(0o755)
    with pytest.raises(CannotRun, match=r"`#include <mpi.h>`: x.c:1:10: fatal error: mpi.h: No such file$"):
        targets.resolve(f"path:{tmp_path}")


def test_installed_wheel_is_not_installed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    installs = []

    def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
        installs.append(arguments)
        prefix = Path(arguments[arguments.index("--prefix") + 1])
        for name in ("bin/mpiexec", "lib/libmpi_abi.so"):
            (prefix / name).parent.mkdir(exist_ok=True)
            (prefix / name).touch()
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(targets, "_pip", pip)
    first, second = targets.resolve("mpich@5.0.2"), targets.resolve("mpich@5.0.2")
    assert len(installs) == 1
    assert first == second
    assert first.key == targets.ABI_KEY


def test_unwritable_cache_is_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(CannotRun, match="ASSAY_CACHE"):
        targets.resolve("mpich@5.0.2")


def test_mpicc_tells_family_and_version(tmp_path: Path) -> None:
    header = tmp_path / "include" / "mpi.h"
    header.parent.mkdir()
    header.write_text("#define OMPI_MAJOR_VERSION 5\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 3\n")
    mpicc = tmp_path / "bin" / "mpicc"
    mpicc.parent.mkdir()
    mpicc.write_text(f'#!/bin/sh\nexec cc -I{header.parent} "$@"\n')
    mpicc.chmod(0o755)
    for spec in (f"mpicc={mpicc}", f"path:{tmp_path}"):
        found = targets.resolve(spec)
        assert (found.family, found.version, found.mpiexec) == ("openmpi", "5.1.3", "")
        assert found.key.startswith("openmpi-5.1.3-")


def test_mpicc_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="not a program"):
        targets.resolve(f"path:{tmp_path}")
    with pytest.raises(CannotRun, match="does not compile"):
        targets.resolve("mpicc=/bin/false")
    with pytest.raises(WrongUse, match="no libmpi_abi.so"):
        targets.resolve(f"abi:{tmp_path}")


def test_environment_and_preload_reach_the_ranks_only() -> None:
    wishes = LaunchWishes(env={"FOO": "a=b c"}, preload=[Path("/x/layer.so")])
    made = make_target(library(), 2, Path("/b/assay-suite"), wishes)
    assert argv(made, "--seed=1") == [
        *("/opt/mpi/bin/mpiexec", "-n", "2", "env", "LD_LIBRARY_PATH=/opt/mpi/lib", "LD_PRELOAD=/x/layer.so"),
        *("FOO=a=b c", "/b/assay-suite", "--seed=1"),
    ]
    assert not {"FOO", "LD_PRELOAD"} & set(made.launcher(()).env)
    assert made.name == "mpich@5.0.2/np2"


@pytest.mark.parametrize(
    ("version", "np", "settings"),
    [
        ("5.0.2", 2, {}),
        ("5.0.2", 4, {"ASSAY_YIELD_POLLS": "5", "ASSAY_YIELD_EVERY": "4"}),
        ("4.0.3", 4, {"ASSAY_YIELD_POLLS": "5", "ASSAY_YIELD_EVERY": "4"}),
        ("", 4, {"ASSAY_YIELD_POLLS": "5", "ASSAY_YIELD_EVERY": "4"}),
    ],
)
def test_settings_of_mpich_for_busy_cores(version: str, np: int, settings: dict[str, str]) -> None:
    made = make_target(library(version=version), np, Path("/b/assay-suite"), LaunchWishes())
    assert dict(made.settings) == settings
    assert all(f"{name}={value}" in argv(made) for name, value in settings.items())
    assert dict(make_target(library(version=version), np, Path("/b"), LaunchWishes(defaults=True)).settings) == {}


def test_what_the_user_sets_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "ASSAY_YIELD_POLLS"
    made = make_target(library(), 4, Path("/b"), LaunchWishes(env={name: "7"}))
    assert f"{name}=7" in argv(made)
    assert name not in made.settings
    monkeypatch.setenv(name, "7")
    assert not any(name in word for word in argv(make_target(library(), 4, Path("/b"), LaunchWishes())))


def test_ranks_get_the_system_as_it_is_unless_the_table_says_so() -> None:
    for family, version in (("mpich", "5.0.2"), ("openmpi", "5.0.11"), ("impi", "2021.19.0")):
        for np, wishes in ((2, LaunchWishes()), (4, LaunchWishes(defaults=True))):
            made = make_target(library(family, version), np, Path("/b"), wishes)
            assert not any("ASSAY_YIELD" in word for word in [*argv(made), *made.settings])


def test_open_mpi_as_root_on_busy_cores() -> None:
    made = make_target(library("openmpi", "5.0.11"), 4, Path("/b"), LaunchWishes(defaults=True))
    assert argv(made)[:6] == ["/opt/mpi/bin/mpiexec", "-n", "4", "--oversubscribe", "--bind-to", "none"]
    assert made.launcher(()).env["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    assert made.settings["mpiexec"] == "--oversubscribe --bind-to none"
    assert made.oversubscription == 2.0


def test_intel_mpi_without_libfabric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I_MPI_ROOT", "/another/one")
    made = make_target(library("impi", "2021.19.0"), 2, Path("/b"), LaunchWishes())
    assert dict(made.settings) == {"I_MPI_ROOT": "/opt/lib rary", "I_MPI_FABRICS": "shm"}
    monkeypatch.setattr(launching, "has_libfabric", lambda library: True)
    assert "I_MPI_FABRICS" not in make_target(library("impi", "2021.19.0"), 2, Path("/b"), LaunchWishes()).settings


def test_launcher_template() -> None:
    wishes = LaunchWishes(launcher="sh -c{np} {command} --after")
    made = make_target(library("openmpi", "5.0.11"), 4, Path("/b"), wishes)
    assert argv(made, "--x") == ["sh", "-c4", "env", "LD_LIBRARY_PATH=/opt/mpi/lib", "/b", "--x", "--after"]
    assert dict(made.settings) == {}
    with pytest.raises(WrongUse, match="template"):
        make_target(library(), 2, Path("/b"), LaunchWishes(launcher="sh -c"))
    alone = make_target(library(), 1, Path("/b"), LaunchWishes(launcher="{command}"))
    assert argv(alone, "--x") == ["env", "LD_LIBRARY_PATH=/opt/mpi/lib", "/b", "--x"]
    with pytest.raises(WrongUse, match="starts one process; say --np 1"):
        make_target(library(), 2, Path("/b"), LaunchWishes(launcher="{command}"))
    with pytest.raises(CannotRun, match="no program"):
        make_target(library(), 2, Path("/b"), LaunchWishes(launcher="no-such-launcher {command}"))
    with pytest.raises(WrongUse, match="no mpiexec"):
        make_target(library(mpiexec=""), 2, Path("/b"), LaunchWishes())


def test_number_of_ranks() -> None:
    launching.check_np(64, LaunchWishes())
    launching.check_np(65, LaunchWishes(force_np=True))
    launching.check_np(65, LaunchWishes(launcher="srun"))
    for np in (65, 0):
        with pytest.raises(WrongUse):
            launching.check_np(np, LaunchWishes())


def test_defaults_in_the_data_exist() -> None:
    for name in ("default", "abi"):
        family, _, version = targets.known()[name].partition("@")
        assert version == targets.known()[family]["tried"][0]
