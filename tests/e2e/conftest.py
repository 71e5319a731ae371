"""Real ranks on a real MPI library: what ./assay does from the first argument to the exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e_help import MPI, left_running

from runner.libraries import build, targets


@pytest.fixture(scope="session")
def library() -> targets.Library:
    return targets.resolve(MPI)


@pytest.fixture(scope="session")
def programs(library: targets.Library) -> Path:
    """The folder of a debug build with the tests of ourselves; ASSAY_E2E_PROGRAMS names one that is there."""
    if given := os.environ.get("ASSAY_E2E_PROGRAMS"):
        return Path(given)
    return build.build(library, "debug", {"ASSAY_TESTS": "ON"})


@pytest.fixture
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Fails a test after which something that knows its folder is still running."""
    yield
    assert left_running(tmp_path) == []
