"""assay matrix DIR…: runs that are there, side by side. (Without folders `assay matrix` is an `assay run`.)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from reports.evidence import Evidence
from reports.matrix import print_matrix, write_matrix
from runner.model import WrongUse


def matrix_of(folders: Sequence[Path], out: Path | None) -> int:
    """Write matrix.html about the runs in `folders` and print it; the exit code. Raises WrongUse."""
    if out is None and len(folders) > 1:
        raise WrongUse("assay matrix: several runs; say with --out DIR where matrix.html goes")
    place = out if out is not None else folders[0]
    place.mkdir(parents=True, exist_ok=True)
    evidences = [Evidence(folder) for folder in folders]
    print_matrix(evidences, write_matrix(evidences, place / "matrix.html"), Console(highlight=False))
    return 0
