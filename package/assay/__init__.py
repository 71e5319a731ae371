"""Assay as an installed package: conformance tests of MPI libraries. This folder is laid out as the source tree is."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    """The command `assay`. Raises SystemExit with its exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))  # `runner` and `reports` are found here first
    runpy.run_module("runner", run_name="__main__", alter_sys=False)
