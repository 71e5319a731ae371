"""What standard/ and the lists say, against a real library."""

from __future__ import annotations

import json
import re

import pytest
from e2e_help import MPI, assay

from reports.requirements import procedures
from runner.libraries import targets

# The header of MPICH 5 still declares them.
REMOVED = {
    *("MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent"),
    *("MPI_Type_hindexed", "MPI_Type_hvector", "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub"),
}
DECLARATION = re.compile(r"^\s*(?:int|double|MPI_\w+) (MPI_(?:[A-Z][a-z]|T_)\w*)\s*\(", re.MULTILINE)


def test_the_procedures_are_those_that_the_header_of_mpich_declares() -> None:
    library = targets.resolve("mpich@5.0.2")
    headers = [library.root / "include" / name for name in ("mpi.h", "mpi_proto.h")]
    declared = {name for header in headers for name in DECLARATION.findall(header.read_text())}
    assert declared - REMOVED == set(procedures())


def test_calls_are_counted_in_the_real_suite() -> None:
    done = assay("list", "procedures", "--mpi", MPI, "--json", seconds=2400)
    assert done.returncode == 0, done.stderr
    tests = {line["procedure"]: line["tests"] for line in json.loads(done.stdout)}
    of_version = {name for name, callers in tests.items() if "env.version" in callers}
    assert of_version == {"MPI_Get_version", "MPI_Get_library_version"}
    of_bcast = {name for name, callers in tests.items() if "coll.bcast" in callers}
    assert {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init", "MPI_Start", "MPI_Wait", "MPI_Test"} <= of_bcast
    assert not {"MPI_Gather", "MPI_Comm_split", "MPI_Init_thread"} & of_bcast


@pytest.mark.parametrize(("profile", "later"), [("mpi-3.1", "p2p.ring_partitioned"), ("mpi-5.0", "")])
def test_a_profile_leaves_out_what_came_later(profile: str, later: str) -> None:
    done = assay("list", "tests", "--mpi", MPI, "--profile", profile, "--json", seconds=2400)
    assert done.returncode == 0, done.stderr
    tests = {line["test"] for line in json.loads(done.stdout)}
    assert {"p2p.ring", "coll.bcast"} <= tests
    assert ("p2p.ring_partitioned" in tests) == (not later)
