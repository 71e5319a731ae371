"""What the standard says of names, prototypes, types and constants in C.

Names, sections and versions of procedures are in standard/procedures.toml, values of the ABI in standard/abi.toml. The
prototypes come from the Python package pympistandard, which holds what the MPI Forum makes the standard's bindings of.
Under which licence that data stands is not clear, so it is installed into the cache when it is first needed, and no
part of it is in this repository.
"""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from reports.requirements import FOLDER, procedures, section_order
from runner.libraries import targets
from runner.model import CannotRun

PACKAGE = "pympistandard==0.2.0"  # MPI-5.0
_MACROS = ("MPI_Aint_add", "MPI_Aint_diff")  # MPI-5.0 section 2.6.4
_MACROS_BEFORE_4_1 = (
    "MPI_Wtime",
    "MPI_Wtick",
)  # and conversions of handles: MPI-4.0 section 2.6.4, MPI-5.0 section 18.2.1
_CONVERSIONS = "19.3.4"


@dataclass(frozen=True)
class Constant:
    """A constant of the ABI: MPI_COMM_WORLD is 257 and of type MPI_Comm (annex A.1.1)."""

    name: str
    type: str
    value: int
    optional: bool = False


@dataclass(frozen=True)
class Outside:
    """Why a name is no part of the ABI, with the section that says so."""

    clause: str
    why: str


@cache
def abi() -> Mapping[str, Any]:
    """standard/abi.toml."""
    return tomllib.loads((FOLDER / "abi.toml").read_text(encoding="utf-8"))


@cache
def constants() -> list[Constant]:
    """The constants of the ABI that mpi.h defines."""
    optional = abi()["optional"]["names"]
    return [
        Constant(name, kind, value, name in optional)
        for kind, values in abi()["constants"].items()
        for name, value in values.items()
    ]


@cache
def outside_abi() -> dict[str, Outside]:
    """The procedures, types and constants of MPI-5.0 that the ABI leaves out."""
    found: dict[str, Outside] = {}
    for table in abi()["outside"]:
        names = [name for name, entry in procedures().items() if entry["section"] in table["sections"]]
        found |= {name: Outside(table["clause"], table["why"]) for name in [*names, *table["names"]]}
    return found


def in_version(since: str, version: str) -> bool:
    """Whether what came with MPI `since` is in `version`."""
    return section_order(since) <= section_order(version)


def prototype_since(name: str) -> str:
    """The version of MPI that gave the procedure the types that it has."""
    return str(abi()["prototypes"]["changed"].get(name, procedures()[name]["since"]))


def may_be_macro(name: str, version: str) -> bool:
    """Whether mpi.h of a library for this version of MPI may have the procedure as a macro alone."""
    if name in _MACROS:
        return True
    conversion = procedures()[name]["section"] == _CONVERSIONS
    return (name in _MACROS_BEFORE_4_1 or conversion) and not in_version("4.1", version)


@cache
def all_names() -> frozenset[str]:
    """Every name of the standard that a library may export: C names, and Fortran's in capital letters."""
    names = abi()["names"]
    in_c = {*procedures(), *(one.name for one in constants()), *names["removed"], *names["other"], *names["types"]}
    return frozenset(in_c | {name.upper() for name in procedures()})


def is_foreign(symbol: str) -> bool:
    """Whether a symbol has the prefix of MPI's names and is none of them: MPIX_Foo has another one."""
    found = re.fullmatch(r"P?(MPI_\w*?)_{0,2}", symbol)
    return bool(found) and found[1] not in all_names() if found else False


@cache
def prototypes() -> dict[str, str]:
    """The declaration in C of every procedure: `int MPI_Send(const void* buf, …)`. Raises CannotRun."""
    return {**dict(_bindings("PROCEDURES")), **abi()["prototypes"]["corrected"]}


@cache
def callbacks() -> dict[str, str]:
    """The typedef of every type of function: `typedef int MPI_Grequest_free_function(void* extra_state)`."""
    return dict(_bindings("CALLBACKS"))


def _bindings(what: str) -> Iterator[tuple[str, str]]:
    for one in getattr(_package(), what).values():
        in_c = one.express.iso_c
        large = one.express.embiggen.iso_c if in_c is not None and _has_large(one) else None
        for binding in (in_c, large):
            if binding is not None:
                # The data are written for LaTeX.
                yield str(binding.name), str(binding).replace(r"\ldots", "...")


def _has_large(one: Any) -> bool:
    return any(parameter["kind"].startswith("POLY") for parameter in one._parseset["parameters"])


@cache
def _package() -> Any:
    folder = targets.python_package(PACKAGE, "the prototypes of the standard")
    sys.path.insert(0, str(folder))
    try:
        package = importlib.import_module("pympistandard")
        package.use_api_version(1, force_bundled=True)
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise CannotRun(f"{folder}: holds no {PACKAGE} that can be read ({error}); remove this folder") from None
    finally:
        sys.path.remove(str(folder))
    return package
