"""What the package is made of, and that the files about it agree."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from runner.home import HOME, INSTALLED, PROGRAM
from runner.libraries import build, targets
from runner.libraries.native import NATIVE

PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())


def pins(python: str) -> dict[str, str]:
    """The versions of requirements.lock for a version of Python."""
    environment = {**default_environment(), "python_version": python[:4], "python_full_version": python}
    found = {}
    for line in (HOME / "requirements.lock").read_text().splitlines():
        if line and not line.lstrip().startswith("#"):
            one = Requirement(line)
            if one.marker is None or one.marker.evaluate(environment):
                (pin,) = one.specifier
                assert pin.operator == "==" and one.name not in found, line
                found[one.name] = pin.version
    return found


@pytest.mark.parametrize("python", ["3.11.0", "3.12.1", "3.13.0"])
def test_the_lock_file_pins_what_pyproject_wants(python: str) -> None:
    locked = pins(python)
    extras = PROJECT["project"]["optional-dependencies"].values()
    for text in (*PROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)):
        wanted = Requirement(text)
        if wanted.name == "pip":  # stays as each environment has it
            continue
        assert wanted.name.lower() in locked, f"{wanted.name} is not in requirements.lock; run package/lock"
        assert wanted.specifier.contains(locked[wanted.name.lower()]), text


def test_a_clone_is_no_installed_package() -> None:
    assert not INSTALLED and PROGRAM == "./assay"
    assert build.root() == HOME / "build" or "ASSAY_BUILD_DIR" in build.os.environ


def library(mpicc: Path | None) -> targets.Library:
    return targets.Library("abi:/opt/mpi/lib", "mpich", "5.0.2", Path("/opt/mpi"), "mpiexec", mpicc)


def test_programs_of_the_package_are_taken_only_where_they_fit(tmp_path: Path) -> None:
    (tmp_path / "assay-suite").touch()
    (tmp_path / "libassay_recording.so").touch()
    abi = library(None)
    assert build.prebuilt(abi, "release", ["assay-suite"], tmp_path)
    assert build.prebuilt(abi, "release", ["assay-suite", "assay_recording"], tmp_path)
    assert not build.prebuilt(abi, "release", ["assay-suite", "assay_faults"], tmp_path)
    assert not build.prebuilt(abi, "release", [], tmp_path)
    assert not build.prebuilt(abi, "asan", ["assay-suite"], tmp_path)
    assert not build.prebuilt(library(Path("/opt/mpi/bin/mpicc")), "release", ["assay-suite"], tmp_path)


def test_the_check_for_reframe_names_every_suite() -> None:
    text = (HOME / "pipelines" / "reframe_assay.py").read_text()
    (listed,) = re.findall(r"^SUITES = \((.*?)^\)$", text, re.MULTILINE | re.DOTALL)
    there = {path.name for path in (HOME / "suites").iterdir() if path.is_dir()} - {"common", *NATIVE}
    assert set(re.findall(r'"(\w+)"', listed)) == there, "change SUITES in pipelines/reframe_assay.py"


def test_the_recipe_for_spack_depends_on_what_pyproject_wants() -> None:
    found: dict[str, str] = {}
    versions: list[str] = []
    globals_ = {
        "PythonPackage": object,
        "license": lambda name: None,
        "variant": lambda *words, **more: None,
        "version": versions.append,
        "depends_on": lambda spec, type, when="": found.update([spec.partition("@")[::2]]),
    }
    source = (HOME / "pipelines" / "spack_package.py").read_text().replace("from spack.package import *", "")
    exec(compile(source, "spack_package.py", "exec"), globals_)
    project = PROJECT["project"]
    assert versions == [project["version"]]
    for text in (*project["dependencies"], *project["optional-dependencies"]["compare"]):
        wanted = Requirement(text)
        (least,) = wanted.specifier
        assert found.pop(f"py-{wanted.name}") == f"{least.version}:", text
    assert {name for name in found if name.startswith("py-")} == {"py-hatchling"}


# ---- releases ----


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", HOME / "package" / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that can be released."""
    for name in ("pyproject.toml", "CMakeLists.txt", "transports/CMakeLists.txt", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(HOME / name, tmp_path / name)
    log = tmp_path / "CHANGELOG.md"
    version = PROJECT["project"]["version"]
    log.write_text(re.sub(r"^## .*$", f"## {version} (2026-12-01)", log.read_text(), count=1, flags=re.MULTILINE))
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    return tmp_path


def test_a_tree_whose_versions_agree_can_be_released(release: ModuleType, tree: Path) -> None:
    assert release.faults(tree) == []


def test_what_keeps_a_tree_from_being_released(release: ModuleType, tree: Path) -> None:
    version = PROJECT["project"]["version"]
    for name, old, new in (
        ("CMakeLists.txt", f"VERSION {version}", "VERSION 9.9.9"),
        ("CHANGELOG.md", f"## {version} (2026-12-01)", f"## {version} (unreleased)"),
    ):
        path = tree / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
    assert release.faults(tree) == [
        f"CMakeLists.txt says version 9.9.9, pyproject.toml {version}",
        f"CHANGELOG.md gives {version} no date; write `## {version} (YYYY-MM-DD)`",
        "there are changes that are not committed; `git status` names them",
    ]


def test_the_newest_section_of_the_changelog_is_of_this_version() -> None:
    (newest, *_) = re.findall(r"^## (\S+) \(.*\)$", (HOME / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest == PROJECT["project"]["version"]
