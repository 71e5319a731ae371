"""What is compiled where a run names suites."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runner.libraries import build, targets


def of_suites(includes: str) -> set[str]:
    """The suites whose headers files of a suite use, itself included, as their #include lines say."""
    found: set[str] = set()
    todo = {includes}
    while todo:
        found |= todo
        sources = [path.read_text() for suite in todo for path in (build.REPO / "suites" / suite).iterdir()]
        todo = {name for text in sources for name in re.findall(r'^#include "suites/(\w+)/', text, re.M)} - found
    return found


@pytest.mark.parametrize("suite", ["topology", "rma"])
def test_only_what_the_suites_need_is_compiled(suite: str, library: targets.Library, tmp_path: Path) -> None:
    command = ["cmake", "--preset", "release", "-B", tmp_path, f"-DMPI_C_COMPILER={build.mpicc(library)}"]
    subprocess.run([*command, f"-DASSAY_SUITES={suite}"], cwd=build.REPO, check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run(
        ["ninja", "-C", tmp_path, "-t", "commands", build.SUITE], capture_output=True, text=True, check=True
    )
    compiled = set(re.findall(r" -c \S*/suites/(\w+)/", said.stdout))
    assert compiled == of_suites(suite)
