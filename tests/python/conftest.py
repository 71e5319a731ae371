"""Runs for the tests of reports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sample_run import write_sample


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A copy of the run of a few cases whose reports are in golden/."""
    return Path(shutil.copytree(Path(__file__).parent / "golden" / "small", tmp_path / "small"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 5,000 cases."""
    out = tmp_path_factory.mktemp("sample")
    write_sample(out, 5_000)
    return out
