"""Tests ask for what they need by the names of procedures: not by the version that a library says it follows."""

from __future__ import annotations

import re
from pathlib import Path

REPO = Path(__file__).parents[2]
# Where a newer version of the standard says something else of the same call, and what.
OF_A_VERSION = {
    "suites/comm/hints.cpp": "MPI-4.0: duplicates of communicators do not inherit hints; before, they did",
    "suites/comm/names.cpp": "MPI-4.1: MPI_COMM_NULL has a name; before, to ask for it was erroneous",
    "suites/datatype/names.cpp": "MPI-4.1: MPI_DATATYPE_NULL has a name; before, to ask for it was erroneous",
    "suites/env/machine.cpp": "MPI-4.1: mpi_memory_alloc_kinds must be there, which has no procedure of its own",
    "suites/env/memory.cpp": "MPI-4.0: mpi_minimum_memory_alignment is a reserved key; others may be ignored",
    "suites/errors/raise.cpp": "MPI-4.0: errors of no object belong to MPI_COMM_SELF; before, to MPI_COMM_WORLD",
    "suites/rma/shared_query.cpp": "MPI-4.0: alignment as above; MPI-4.1: MPI_Win_shared_query of other windows",
    "suites/tool/misuse.cpp": "MPI-4.0: a bad index of an enumeration is INVALID_INDEX, no longer INVALID_ITEM",
    "suites/topology/dims.cpp": "MPI-4.0: MPI_Dims_create of no dimensions does nothing; before, that was not said",
}


def sources() -> dict[str, str]:
    """The sources of tests and catalogues, by path."""
    return {
        str(path.relative_to(REPO)): path.read_text()
        for folder in ("suites", "communicators", "datatypes")
        for path in sorted((REPO / folder).rglob("*.[ch]pp"))
    }


def test_that_a_procedure_is_missing_is_said_in_one_way() -> None:
    own_words = re.compile(r"has no MPI_[A-Z][a-z]|has no (\{\}|\")|needs MPI_[A-Z][a-z]|and its like, which")
    found = [
        path
        for path, text in sources().items()
        for line in text.splitlines()
        if own_words.search(line) and "has_procedure" in text
    ]
    assert not found, f"say it with needs_procedures or test_run::needs_procedure: {sorted(set(found))}"


def test_only_what_a_version_changed_depends_on_the_version() -> None:
    asking = {path for path, text in sources().items() if "followed_version()" in text}
    assert asking <= set(OF_A_VERSION), f"ask for a procedure, or add the reason: {sorted(asking - set(OF_A_VERSION))}"
    assert set(OF_A_VERSION) <= asking, "these ask no longer"
    assert not [
        path for path, text in sources().items() if "env::since" in text or re.search(r"#\s*if.*\bMPI_VERSION\b", text)
    ]
