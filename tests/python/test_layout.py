"""Modules of the runner and the reports import each other in one direction only, also inside functions, and C++ files
include what they use, also where a precompiled header has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
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


# For folders whose files are compiled with precompiled headers (CMakeLists.txt), what is in the text of a file that
# uses one of these headers. mpi_calls.hpp is included by the build everywhere.
PRECOMPILED = {
    "suites/*": {
        "framework/mpi/run.hpp": r"\b(test_run|status_check|ASSAY_TEST\w*)\b",
        "fmt/format.h": r"\bfmt::",
        "algorithm": r"\bstd::(ranges::|(all_of|any_of|binary_search|clamp|copy(_if|_n)?|count(_if)?|equal|fill(_n)?"
        r"|find(_if(_not)?)?|for_each|generate(_n)?|is_sorted|lower_bound|max(_element)?|min(_element)?|minmax|mismatch"
        r"|next_permutation|none_of|partition|remove(_if)?|replace|reverse|rotate|shuffle|sort|stable_sort|transform"
        r"|unique|upper_bound)\()",
    },
    "suites/ofi": {"framework/native/run.hpp": r"\b(native_run|(OFI|UCX)_TEST)\b"},
    "suites/ucx": {"framework/native/run.hpp": r"\b(native_run|(OFI|UCX)_TEST)\b"},
    "tests/cpp/**": {"gtest/gtest.h": r"\b(TEST(_[FP])?|EXPECT_\w+|ASSERT_\w+)\("},
}


def lacking(repo: Path, folder: Path, headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """(file, header) where a file uses a precompiled header that neither it nor what it includes of ours includes."""
    found = []
    for path in sorted(folder.glob("*.[ch]pp")):
        reached: set[str] = set()
        todo = {str(path.relative_to(repo))}
        while todo:
            reached |= todo
            ours = [(repo / name).read_text() for name in todo if (repo / name).is_file()]
            todo = {name for text in ours for name in re.findall(r'^#include ["<](\S+)[">]', text, re.M)} - reached
        text = path.read_text()
        uses = [header for header, words in headers.items() if re.search(words, text)]
        found += [(str(path.relative_to(repo)), header) for header in uses if header not in reached]
    return found


def test_files_include_what_they_use_of_precompiled_headers() -> None:
    # The last pattern that fits is that of a folder.
    headers = {
        folder: uses for pattern, uses in PRECOMPILED.items() for folder in REPO.glob(pattern) if folder.is_dir()
    }
    assert len(headers) > 15
    assert [one for folder, uses in headers.items() for one in lacking(REPO, folder, uses)] == []


def test_a_lacking_include_is_found(tmp_path: Path) -> None:
    (tmp_path / "own.hpp").write_text("#include <fmt/format.h>\n")
    (tmp_path / "a.cpp").write_text('#include "own.hpp"\nvoid f() { fmt::print("1"); }\n')
    (tmp_path / "b.cpp").write_text("int f(int a) { return std::max(a, 1); }\nvoid g(test_run& mpi);\n")
    found = lacking(tmp_path, tmp_path, PRECOMPILED["suites/*"])
    assert found == [("b.cpp", "framework/mpi/run.hpp"), ("b.cpp", "algorithm")]
