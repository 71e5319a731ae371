"""Modules of the runner and the reports import each other in one direction only, also inside functions."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


def imports(folder: Path, packages: tuple[str, ...] = ("runner", "reports")) -> dict[str, set[str]]:
    """Module → the modules of the same packages that it imports anywhere."""
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for package in packages
        for path in (folder / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        found[module] = names & files.keys()
    return found


def test_no_circle_of_imports() -> None:
    TopologicalSorter(imports(REPO)).prepare()


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "one.py").write_text("from runner import two\n")
    (tmp_path / "runner" / "two.py").write_text("def f():\n    from runner.one import g\n")
    with pytest.raises(CycleError):
        TopologicalSorter(imports(tmp_path)).prepare()
