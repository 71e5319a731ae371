"""Signatures of failures, from the lines that judge.py writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reports.signature import CHECKS, Signature, main_signature, pattern, signatures

DATA = {
    "rank": 1,
    "status": "fail",
    "check": "data",
    "requirements": ["p2p.send.data", "p2p.recv.data"],
    "call": "MPI_Wait",
    "where": "suites/p2p/ring.cpp:31",
    "message": "byte 0 is 17",
}
DEAD = {
    "rank": 0,
    "status": "crash",
    "signal": "SIGSEGV",
    "call": "MPI_Put",
    "in_mpi": True,
    "stack": ["MPIDI_put+0x31", "MPI_Put+0x9"],
}
STUCK = {"rank": 2, "status": "timeout", "call": "MPI_Recv", "in_mpi": True, "stack": ["poll+0x4 0x7f"]}


@pytest.mark.parametrize(
    ("entry", "signature", "text"),
    [
        (
            DATA,
            Signature("fail", "data", "MPI_Wait", False, "p2p.send.data", "suites/p2p/ring.cpp:31"),
            "data in MPI_Wait",
        ),
        (DEAD, Signature("crash", "SIGSEGV", "MPI_Put", site="MPIDI_put"), "SIGSEGV in MPI_Put"),
        (
            {**DEAD, "in_mpi": False},
            Signature("crash", "SIGSEGV", "MPI_Put", True, site="MPIDI_put"),
            "SIGSEGV after MPI_Put",
        ),
        (STUCK, Signature("timeout", "hang", "MPI_Recv", site="poll"), "hang in MPI_Recv"),
        ({**STUCK, "in_mpi": False}, Signature("timeout", "hang", "MPI_Recv", site="poll"), "hang in MPI_Recv"),
        (
            {"status": "exit", "exit": None, "call": "MPI_Send"},
            Signature("crash", "exit", "MPI_Send"),
            "exit in MPI_Send",
        ),
        ({"status": "crash", "message": "PMPI_Abort: oh"}, Signature("crash", "killed"), "killed"),
        ({"status": "fail"}, Signature("fail", "fail"), "fail"),
    ],
)
def test_what_a_rank_saw(entry: dict[str, Any], signature: Signature, text: str) -> None:
    (made,) = signatures({"status": signature.status, "ranks": [entry]})
    assert (made, str(made), made.message) == (signature, text, entry.get("message", ""))


def test_each_is_given_once_and_a_death_says_most() -> None:
    rest = {"rank": 1, "status": "fail", "message": "7 more findings are in rank-1.events"}
    record = {"status": "xfail", "found": "crash", "ranks": [DATA, {**DATA, "rank": 3, "message": "other"}, rest, DEAD]}
    assert [str(one) for one in signatures(record)] == ["data in MPI_Wait", "SIGSEGV in MPI_Put"]
    assert str(main_signature(record)) == "SIGSEGV in MPI_Put"


def test_what_did_not_fail_has_none_and_what_names_no_rank_has_its_reason() -> None:
    assert signatures({"status": "pass", "ranks": [DATA]}) == [] and main_signature({"status": "unsupported"}) is None
    (lost,) = signatures({"status": "lost", "reason": "no rank began it"})
    assert (lost.status, lost.what, lost.message) == ("lost", "lost", "no rank began it")


def test_the_kinds_of_finding_are_those_of_the_suite() -> None:
    text = (Path(__file__).resolve().parents[2] / "framework" / "check" / "record.hpp").read_text()
    assert set(re.findall(r'^    F\(\w+, "(\w+)"', text, re.MULTILINE)) == CHECKS


@pytest.mark.parametrize(
    "text, call, fits",
    [
        ("hang in MPI_Wait", "MPI_Testsome", True),
        ("hang in MPI_{Recv,Test*}", "MPI_Parrived", True),
        ("hang in MPI_Recv", "MPI_Wait", False),
        ("hang in MPI_Wait", "MPI_Recv", False),
        ("data in MPI_Wait", "MPI_Testsome", False),
    ],
)
def test_in_which_call_a_rank_waits_for_requests_is_chance(text: str, call: str, fits: bool) -> None:
    what = text.split()[0]
    seen = Signature("timeout" if what == "hang" else "fail", what, call)
    assert pattern(text).fits(seen) is fits
