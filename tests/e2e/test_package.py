"""The wheel of a release, installed where there is nothing else: no compiler, no source tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from e2e_help import REPO
from installed import DEFAULT, RING, WRONG, Installed

pytestmark = pytest.mark.xdist_group("package")  # the tests share what is installed


def test_the_wheel_qualifies_a_library_without_a_compiler(installed: Installed) -> None:
    said = installed("run", "--mpi", DEFAULT, "--np", "2", "--select", RING, "--out", "out")
    assert "1 pass 0 fail" in said
    run = json.loads((installed.work / "out" / "run.json").read_text())
    assert run["targets"][0]["library"].startswith("MPICH") and run["assay"] in installed.wheel.name
    assert (installed.folder / "venv" / "share" / "man" / "man1" / "assay-run.1").exists()
    (site,) = (installed.folder / "venv" / "lib").glob("python*/site-packages")
    # Nothing was built or left in the installed package, and nothing of this tree was used.
    assert not (site / "assay" / "build").exists() and not (installed.folder / "cache" / "build").exists()
    assert str(REPO) not in (installed.work / "out" / "run.json").read_text()
    assert {path.name for path in (site / "assay.libs").iterdir()}, "the libraries that the programs need are not there"
    assert [path.name for path in site.iterdir() if path.name in ("runner", "reports")] == []


def test_commands_that_need_no_source_tree_work_from_the_wheel(installed: Installed) -> None:
    for name in ("a", "b"):
        installed("run", "--mpi", DEFAULT, "--select", RING, "--out", name)
    installed("report", "a", "--html", "--junit", "--tap", "--markdown")
    assert {"report.html", "junit.xml", "results.tap", "report.md"} <= {
        path.name for path in (installed.work / "a").iterdir()
    }
    assert "<code>assay run" in (installed.work / "a" / "report.html").read_text()
    assert "pip install 'assay[compare]'" in installed("compare", "a", "b", code=3)
    installed("matrix", "a", "b", "--out", "matrix")
    assert "p2p.ring" in installed("list", "tests")
    assert "p2p.send" in installed("list", "requirements", "--chapter", "3")
    assert "Everything that `assay run` needs is there." in installed("doctor")
    # A known defect of MPICH 5.0.2, in full: what its ranks called is recorded by a library that the wheel brings.
    installed("run", "--mpi", DEFAULT, "--no-known", "--select", WRONG, "--out", "wrong", code=1)
    said = installed("explain", "wrong", "--c")
    assert " in MPI_Get_elements (1 cases of env.get_elements)" in said
    (program,) = (installed.work / "wrong" / "explained").glob("*/*.c")
    assert "MPI_Get_elements" in program.read_text()


def test_what_needs_more_than_the_wheel_says_so_in_one_sentence(installed: Installed) -> None:
    assert "use a clone of its repository" in installed("test", "ruff", code=2)
    assert "readelf is not installed; it comes with binutils" in installed(
        "list", "procedures", "--chapter", "3", code=3
    )
    said = installed("faults", "--fault", "send_*", code=3)
    assert said.splitlines()[-1] == "assay: cmake is not installed; `assay doctor` says what to do"


def test_pip_install_of_the_tree_works(tmp_path: Path) -> None:
    words = ["-I", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(REPO)]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([sys.executable, *words], check=True, env=env)
    (made,) = tmp_path.glob("*.whl")
    assert made.name.endswith(
        "-py3-none-any.whl"
    )  # no programs: this needs no compiler, and a run builds what it needs


def test_the_last_stage_of_the_container_installs_a_command_that_works(installed: Installed, tmp_path: Path) -> None:
    """Its commands, in folders of this machine; Debian's packages are there already."""
    text = (REPO / "package" / "Containerfile").read_text().rpartition("\nFROM ")[2]
    wheel, home = tmp_path / "wheel", tmp_path / "assay"
    wheel.mkdir()
    for path in (installed.wheel, REPO / "requirements.lock"):
        shutil.copy(path, wheel)
    commands = [line.removeprefix("RUN ") for line in text.splitlines() if line.startswith("RUN ")]
    assert len(commands) == 3 and commands[0].startswith("apt-get update && ")
    for command in commands[1:]:
        here = command.replace("/wheel/", f"{wheel}/").replace("/opt/assay", str(home)).replace("--no-cache-dir", "")
        here = here.replace("[compare]", "")
        subprocess.run(["sh", "-c", here], check=True)
    said = subprocess.run([str(home / "bin" / "assay"), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] in installed.wheel.name
    # Left out above, since it takes long: what makes two runs comparable.
    with zipfile.ZipFile(installed.wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        assert "Provides-Extra: compare\n" in archive.read(metadata).decode()
