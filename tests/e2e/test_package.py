"""The wheel of a release, installed where there is nothing else: no compiler, no source tree."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e_help import REPO

from runner.libraries import targets

CASE = "p2p.ring/mode=isend/receive=irecv/completion=wait/comm=world/type=int/count=17/placement=heap"
WRONG = "env.get_elements/type=dup_type_mix_lb_ub/count=1"
DEFAULT = str(targets.known()["default"])


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with nothing but the wheel and what it depends on. Returns the command `assay` in it."""
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-I", "-m", "pip", "--python", str(folder / "bin" / "python")]
    words = ["install", "-q", "--disable-pip-version-check", "-c", str(REPO / "requirements.lock"), str(wheel)]
    subprocess.run([*pip, *words], check=True)
    return folder / "bin" / "assay"


class Installed:
    """The installed command, started where no program is on the PATH but its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheel = release.wheel(folder / "dist", release.programs(folder / "programs"))
        self.command = install(self.wheel, folder / "venv")
        self.work = folder / "work"
        self.work.mkdir()
        (folder / "cache").mkdir()
        targets.resolve(DEFAULT)
        (folder / "cache" / "mpi").symlink_to(targets.cache_dir() / "mpi")  # a library need not come again
        tools = folder / "tools"
        tools.mkdir()
        (tools / "env").symlink_to(shutil.which("env") or "")  # ranks are started through it
        path = f"{folder / 'venv' / 'bin'}:{tools}"
        self.env = {"PATH": path, "ASSAY_CACHE": str(folder / "cache"), "HOME": str(self.work)}

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(self.command), *words],
            cwd=self.work,
            env=self.env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout + done.stderr


pytestmark = pytest.mark.xdist_group("package")  # the tests share what is installed
release = load(REPO / "package" / "release.py")


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("package"))


def test_the_wheel_qualifies_a_library_without_a_compiler(assay: Installed) -> None:
    said = assay("run", "--mpi", DEFAULT, "--np", "2", "--select", CASE, "--out", "out")
    assert "1 pass 0 fail" in said
    run = json.loads((assay.work / "out" / "run.json").read_text())
    assert run["targets"][0]["library"].startswith("MPICH") and run["assay"] in assay.wheel.name
    (site,) = (assay.folder / "venv" / "lib").glob("python*/site-packages")
    # Nothing was built or left in the installed package, and nothing of this tree was used.
    assert not (site / "assay" / "build").exists() and not (assay.folder / "cache" / "build").exists()
    assert str(REPO) not in (assay.work / "out" / "run.json").read_text()
    assert {path.name for path in (site / "assay.libs").iterdir()}, "the libraries that the programs need are not there"
    assert [path.name for path in site.iterdir() if path.name in ("runner", "reports")] == []


def test_commands_that_need_no_source_tree_work_from_the_wheel(assay: Installed) -> None:
    for name in ("a", "b"):
        assay("run", "--mpi", DEFAULT, "--select", CASE, "--out", name)
    assay("report", "a", "--html", "--junit", "--tap", "--markdown")
    assert {"report.html", "junit.xml", "results.tap", "report.md"} <= {
        path.name for path in (assay.work / "a").iterdir()
    }
    assert "<code>assay run" in (assay.work / "a" / "report.html").read_text()
    assert "pip install 'assay[compare]'" in assay("compare", "a", "b", code=3)
    assay("matrix", "a", "b", "--out", "matrix")
    assert "p2p.ring" in assay("list", "tests")
    assert "p2p.send" in assay("list", "requirements", "--chapter", "3")
    assert "Everything that `assay run` needs is there." in assay("doctor")
    # A known defect of MPICH 5.0.2, in full: what its ranks called is recorded by a library that the wheel brings.
    assay("run", "--mpi", DEFAULT, "--no-known", "--select", WRONG, "--out", "wrong", code=1)
    said = assay("explain", "wrong", "--c")
    assert " in MPI_Get_elements (1 cases of env.get_elements)" in said
    (program,) = (assay.work / "wrong" / "explained").glob("*/*.c")
    assert "MPI_Get_elements" in program.read_text()


def test_what_needs_more_than_the_wheel_says_so_in_one_sentence(assay: Installed) -> None:
    assert "use a clone of its repository" in assay("test", "ruff", code=2)
    assert "readelf is not installed; it comes with binutils" in assay("list", "procedures", "--chapter", "3", code=3)
    said = assay("faults", "--fault", "send_*", code=3)
    assert said.splitlines()[-1] == "assay: cmake is not installed; `assay doctor` says what to do"


def test_pip_install_of_the_tree_works(tmp_path: Path) -> None:
    words = ["-I", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(REPO)]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([sys.executable, *words], check=True, env=env)
    (made,) = tmp_path.glob("*.whl")
    assert made.name.endswith(
        "-py3-none-any.whl"
    )  # no programs: this needs no compiler, and a run builds what it needs
