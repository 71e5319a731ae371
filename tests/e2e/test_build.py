"""What is compiled where a run names suites."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runner.libraries import build, targets

USES = re.compile(r'^#include "(suites/\w+/\w+)\.hpp"', re.MULTILINE)


def of_suite(suite: str) -> set[str]:
    """The sources that a suite needs, as #include lines say: its own, and those of headers that it uses."""
    todo = {str(path.relative_to(build.REPO)) for path in (build.REPO / "suites" / suite).iterdir()}
    found: set[str] = set()
    while todo:
        found |= todo
        uses = {use for name in todo for use in USES.findall((build.REPO / name).read_text())}
        todo = {f"{use}{ending}" for use in uses for ending in (".hpp", ".cpp")} - found
        todo = {name for name in todo if (build.REPO / name).exists()}
    return {name for name in found if name.endswith(".cpp")}


@pytest.mark.parametrize("suite", ["topology", "rma"])
def test_only_what_the_suites_need_is_compiled(suite: str, library: targets.Library, tmp_path: Path) -> None:
    command = ["cmake", "--preset", "release", "-B", tmp_path, f"-DMPI_C_COMPILER={build.mpicc(library)}"]
    subprocess.run([*command, f"-DASSAY_SUITES={suite}"], cwd=build.REPO, check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run(
        ["ninja", "-C", tmp_path, "-t", "commands", build.SUITE], capture_output=True, text=True, check=True
    )
    compiled = set(re.findall(r" -c \S*/(suites/\w+/\w+\.cpp)", said.stdout))
    assert compiled == of_suite(suite)
    assert len(compiled) < len(list((build.REPO / "suites").glob("*/*.cpp"))) / 4


def symbols(objects: Path, *which: str) -> dict[str, set[str]]:
    """Source of a suite → the symbols that it defines, or that it lacks."""
    files = sorted(objects.glob("suites/*/*.o"))
    said = subprocess.run(["nm", "-A", *which, *files], capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = {}
    for line in said.splitlines():
        file, _, rest = line.partition(":")
        found.setdefault(str(Path(file).relative_to(objects)).removesuffix(".o"), set()).add(rest.split()[-1])
    return found


def test_each_suite_can_be_linked_with_what_is_compiled_for_it(programs: Path) -> None:
    objects = programs / "CMakeFiles" / "assay-suites.dir"
    defined, lacked = symbols(objects, "--defined-only"), symbols(objects, "--undefined-only")
    assert len(defined) > 100
    for suite in sorted({name.split("/")[1] for name in defined}):
        sources = of_suite(suite)
        there = set[str]().union(*(defined[name] for name in sources))
        of_others = set[str]().union(*(defined[name] for name in defined.keys() - sources))
        for name in sources:
            assert not (lacked.get(name, set()) & of_others) - there, f"{name} needs more of other suites"
