"""A library with the ABI of MPI-5.0 that does nothing, and its header: what `assay abi` examines in the tests.

Everything is made of standard/. Each procedure takes one int, and `prototypes` says so, in place of the standard.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from reports.requirements import procedures
from runner.interface import standard
from runner.libraries import targets

FUNCTIONS = [name for name in procedures() if name not in standard.outside_abi()]
_CALLBACKS = [kind.removesuffix("*") for kind in standard.abi()["constants"] if kind.endswith(("function*", "_c*"))]


def prototypes() -> dict[str, str]:
    return {name: f"int {name}(int n)" for name in procedures()}


def header() -> str:
    """mpi.h as it should be."""
    lines = ["#include <stdint.h>", "#define MPI_VERSION 5", "#define MPI_SUBVERSION 0"]
    lines += [f"typedef {kind} {name};" for name, kind in standard.abi()["types"].items()]
    lines += ["typedef struct { int MPI_SOURCE; int MPI_TAG; int MPI_ERROR; int MPI_internal[5]; } MPI_Status;"]
    lines += [f"typedef struct one_{name}* {name};" for name in standard.abi()["names"]["types"] if "_T_" in name]
    lines += [f"typedef int {name}(int n);" for name in _CALLBACKS]
    lines += [f"#define {one.name} (({one.type}){one.value})" for one in standard.constants()]
    lines += [f"int {name}(int n);\nint P{name}(int n);" for name in FUNCTIONS]
    return "\n".join(lines) + "\n"


def source() -> str:
    """The library as it should be."""
    return "".join(f"int {name}(int n) {{ return n; }}\nint P{name}(int n) {{ return n; }}\n" for name in FUNCTIONS)


class Fake:
    """The library in a folder; `cut` and `put` change its texts before it is made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.header = header()
        self.source = source()
        self.soname = "libmpi_abi.so.1"
        monkeypatch.setattr(standard, "prototypes", prototypes)
        monkeypatch.setattr(standard, "callbacks", lambda: {name: f"typedef int {name}(int n)" for name in _CALLBACKS})

    def library(self) -> targets.Library:
        """It is compiled when it is asked for."""
        lib, include = self.folder / "lib", self.folder / "include"
        for place in (lib, include):
            place.mkdir(exist_ok=True)
        (include / "mpi.h").write_text(self.header)
        (self.folder / "library.c").write_text(self.source)
        file = lib / self.soname
        command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{self.soname}", "-o", str(file)]
        subprocess.run([*command, str(self.folder / "library.c")], check=True)
        for name in ("libmpi_abi.so", "libmpi_abi.so.1"):
            if not (lib / name).exists():
                (lib / name).symlink_to(self.soname)
        return targets.Library("impi@2021.19.0", "impi", "2021.19.0", self.folder, "", None, (lib,))

    def in_source(self, old: str, new: str) -> None:
        """Replace what a pattern matches, once."""
        self.source = _replaced(self.source, old, new)

    def in_header(self, old: str, new: str) -> None:
        """Replace what a pattern matches, once."""
        self.header = _replaced(self.header, old, new)


def _replaced(text: str, old: str, new: str) -> str:
    changed, number = re.subn(old, new, text, count=1, flags=re.MULTILINE)
    assert number == 1, f"{old} matches nothing"
    return changed
