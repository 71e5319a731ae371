"""Real ranks on a real MPI library: what ./assay does from the first argument to the exit code."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e_help import MPI, REPO, left_running
from installed import Installed

from runner.libraries import build, targets


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone: measures, so that no other test of tests/e2e may run at the same time")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Workers of pytest-xdist run tests at once, but for those that are `alone`."""
    (REPO / "build").mkdir(exist_ok=True)
    with (REPO / "build" / "e2e.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH)
        yield


@pytest.fixture(scope="session")
def library() -> targets.Library:
    return targets.resolve(MPI)


@pytest.fixture(scope="session")
def programs(library: targets.Library) -> Path:
    """The folder of a build with the tests of ourselves; ASSAY_E2E_PROGRAMS names one that is there."""
    if given := os.environ.get("ASSAY_E2E_PROGRAMS"):
        return Path(given)
    return build.build(library, options={"ASSAY_TESTS": "ON"})


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of a release, installed. Tests that use it are in the group `package` of pytest-xdist."""
    return Installed(tmp_path_factory.mktemp("package"))


@pytest.fixture
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Fails a test after which something that knows its folder is still running."""
    yield
    assert left_running(tmp_path) == []
