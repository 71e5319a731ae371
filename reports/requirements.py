"""What MPI-5.0, libfabric's manual pages and UCX's header say, as far as cases rest on it: standard/*.toml."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from runner.libraries.native import NATIVE

FOLDER = Path(__file__).parent.parent / "standard"

CHAPTERS = {
    0: "Frameworks under MPI",
    2: "MPI Terms and Conventions",
    3: "Point-to-Point Communication",
    4: "Partitioned Point-to-Point Communication",
    5: "Datatypes",
    6: "Collective Communication",
    7: "Groups, Contexts, Communicators, and Caching",
    8: "Virtual Topologies for MPI Processes",
    9: "MPI Environmental Management",
    10: "The Info Object",
    11: "Process Initialization, Creation, and Management",
    12: "One-Sided Communications",
    13: "External Interfaces",
    14: "I/O",
    15: "Tool Support",
    16: "Deprecated Interfaces",
    19: "Language Bindings",
    20: "Application Binary Interface (ABI)",
}


@lru_cache
def catalogue(about: str = "mpi") -> dict[str, dict[str, Any]]:
    """Every requirement by its id, with section, level, since, procedures and text; in the order of the standard.

    `about`: mpi, or a framework of runner/libraries/native.py, whose sections are manual pages (ofi) or functions
    (ucx).
    """
    found: dict[str, dict[str, Any]] = {}
    for path, entries in files(about).items():
        for entry in entries:
            if entry["id"] in found:
                raise ValueError(f"{path}: the requirement {entry['id']} stands twice")
            found[entry["id"]] = entry
    return found


@lru_cache
def files(about: str = "mpi") -> dict[Path, list[dict[str, Any]]]:
    """The requirements of each file; one file a chapter."""
    return {
        path: tomllib.loads(path.read_text(encoding="utf-8"))["requirement"]
        for path in sorted(FOLDER.glob("[0-9]*.toml" if about == "mpi" else f"{about}.toml"))
    }


@lru_cache(maxsize=1)
def procedures() -> dict[str, dict[str, str]]:
    """Every C procedure of MPI-5.0 with its section and the version that brought it, in the standard's order."""
    return tomllib.loads((FOLDER / "procedures.toml").read_text(encoding="utf-8"))


def chapter(section: str) -> int:
    """`3.2.4` → 3, `fi_msg(3)` → 0."""
    first = section.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def section_order(section: str) -> list[int]:
    """Sort key of section numbers; manual pages stay in their order."""
    return [int(part) for part in section.split(".")] if chapter(section) else [0]


def is_in(profile: str | None, since: str) -> bool:
    """Whether something that came with MPI `since` can be in a profile; mpi-3.1 ends with that version."""
    found = re.fullmatch(r"mpi-(\d+\.\d+)", profile or "")
    return not found or section_order(since) <= section_order(found[1])


@lru_cache(maxsize=1)
def everything() -> dict[str, dict[str, Any]]:
    """The requirements of MPI and of all frameworks, by id."""
    return {name: entry for about in ("mpi", *NATIVE) for name, entry in catalogue(about).items()}


_ERROR = re.compile(r"\bMPI_ERR_(?!LASTCODE)|\berroneous\b|\braise[sd]?\b|\breturns? an error\b")


def wants_an_error(ids: object) -> bool:
    """Whether one of these requirements is about an error that has to be raised."""
    return any(_ERROR.search(text) for _, text in cited(ids))


def cited(ids: object) -> list[tuple[str, str]]:
    """(section, text) of the requirements of a case or finding; an id that the catalogue does not know is left out."""
    known = everything()
    names = [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []
    return [(known[name]["section"], known[name]["text"]) for name in names if name in known]
