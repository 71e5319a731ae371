"""assay explain with made-up libraries: the search ends, finds the smallest case, and tells what matters."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reports.evidence import parse_case
from reports.globs import translate
from runner.commands.bisect import FAILS, PASSES, UNKNOWN, bisect
from runner.explaining.contents import pieces
from runner.explaining.layout import Header
from runner.explaining.order import Order, simplest_first
from runner.explaining.recording import Recording, read_all
from runner.explaining.report import globs
from runner.explaining.showing import write
from runner.explaining.smallest import Spent, search, sentence
from runner.explaining.vocabulary import CannotWrite

AXES = {
    "mode": ["ssend", "isend", "send"],
    "comm": ["reversed", "world", "self", "dup_world"],
    "type": ["vector_int", "double", "int", "struct_mix"],
    "count": ["0", "1", "2", "3", "17", "1000", "8kib"],
}
ORDERS = {"p2p.ring": Order(AXES)}


def case(**values: str) -> str:
    return "/".join(["p2p.ring", *(f"{axis}={values[axis]}" for axis in AXES)])


WORST = case(mode="ssend", comm="reversed", type="struct_mix", count="1000")


class Made:
    """A library whose failures are a predicate on axes and ranks."""

    def __init__(self, broken: Callable[[dict[str, str], int], bool], *, ending: bool = False, most: int = 600) -> None:
        self.broken, self.ending, self.most = broken, ending, most
        self.ran: list[tuple[str, int]] = []

    def exists(self, cases: Iterable[str], np: int) -> set[str]:
        return {one for one in cases if not (np == 1 and "comm=reversed" in one)}

    def fail(self, groups: Sequence[Sequence[str]], np: int, *, first: bool = False) -> dict[str, bool]:
        told: dict[str, bool] = {}
        for group in groups:
            for one in group:
                if len(self.ran) >= self.most:
                    raise Spent
                self.ran.append((one, np))
                told[one] = self.broken(parse_case(one).axes, np)
                if first and self.ending and told[one]:
                    break
        return told


@pytest.mark.parametrize("ending", [False, True])
def test_the_smallest_case_and_what_matters(ending: bool) -> None:
    made = Made(lambda axes, np: axes["mode"] == "ssend" and axes["count"] not in ("0", "1") and np > 1, ending=ending)
    found = search([(WORST, 4)], ORDERS, made, [1, 2, 3, 4])
    assert (found.case, found.np) == (case(mode="ssend", comm="world", type="int", count="2"), 2)
    assert (found.failures, found.runs) == ((3, 3) if ending else (5, 5)) and not found.flaky
    assert (
        sentence(found, ORDERS)
        == "for every comm and type that was tried, only mode=ssend, from count 2 on, from np 2 on"
    )


def test_two_axes_that_are_only_simpler_one_at_a_time() -> None:
    made = Made(lambda axes, np: axes["type"] != "int" or axes["comm"] != "world")
    found = search([(WORST, 2)], ORDERS, made, [1, 2])
    axes = parse_case(found.case).axes
    assert (axes["type"] == "int") != (axes["comm"] == "world") and found.np == 1
    assert made.broken(axes, found.np)


def test_the_search_ends_when_its_budget_is_spent() -> None:
    made = Made(lambda axes, np: True, most=7)
    found = search([(WORST, 4)], ORDERS, made, [1, 2, 3, 4])
    assert found.ended_early and len(made.ran) == 7 and made.broken(parse_case(found.case).axes, found.np)


def test_chance_is_counted() -> None:
    random.seed(1)
    made = Made(lambda axes, np: random.random() < 0.6)
    found = search([(WORST, 2)], ORDERS, made, [1, 2])
    assert found.runs == 5 and found.flaky == (0 < found.failures < 5)


def test_what_does_not_fail_again_is_said_and_the_next_start_taken() -> None:
    made = Made(lambda axes, np: axes["comm"] == "self")
    found = search([(WORST, 2), (case(mode="send", comm="self", type="int", count="1"), 2)], ORDERS, made, [1, 2])
    assert "comm=self" in found.case and not found.note
    found = search([(WORST, 2)], ORDERS, made, [1, 2])
    assert found.note and found.runs == 0


def test_simple_values_come_first() -> None:
    assert simplest_first("count", AXES["count"]) == ["1", "2", "3", "0", "17", "1000", "8kib"]
    assert simplest_first("comm", AXES["comm"]) == ["world", "self", "dup_world", "reversed"]


def test_globs_hold_the_failing_cases_and_no_other() -> None:
    failing = [
        case(mode="ssend", comm=comm, type="int", count=count) for comm in ("world", "self") for count in ("2", "3")
    ]
    others = [
        case(mode="send", comm="world", type="int", count="2"),
        case(mode="ssend", comm="world", type="int", count="1"),
    ]
    for bad, good in ((failing, others), ([failing[0], failing[3]], [*others, failing[1]])):
        made = globs(bad, good)
        matched = [
            [one for one in some if any(re.match(translate(glob), one) for glob in made)] for some in (bad, good)
        ]
        assert matched == [bad, []] and len(made) == 2


def test_contents_are_told_by_few_numbers() -> None:
    image = bytearray([0xA5] * 24)
    for k in range(8):
        image[k // 4 * 12 + k % 4] = (158 + k) % 160
    found = pieces(bytes(image))
    assert found is not None and len(found) == 1
    assert (found[0].elements, found[0].extent, found[0].at, found[0].first) == (2, 12, (0, 1, 2, 3), 158)
    assert pieces(bytes(range(200, 240))) is None


@pytest.mark.parametrize("first_bad", range(1, 9))
def test_bisect_finds_the_change(first_bad: int) -> None:
    order = [f"mpich@{k}" for k in range(9)]
    tried: list[str] = []

    def fails(spec: str) -> str:
        tried.append(spec)
        number = int(spec.partition("@")[2])
        return f"{UNKNOWN}: gone" if number == 4 and first_bad != 4 else FAILS if number >= first_bad else PASSES

    found = bisect(order, fails)
    assert tried[:2] == [order[0], order[-1]] and len(tried) == len(set(tried)) <= 7
    assert found.change is not None and found.change[1] == f"mpich@{first_bad}"
    assert found.sentence().startswith(f"since mpich@{first_bad};")


def test_bisect_without_a_change() -> None:
    found = bisect(["a", "b", "c"], lambda spec: FAILS)
    assert found.change is None and "fails at both ends" in found.sentence() and "b" not in found.tried
    assert bisect(["a", "b"], lambda spec: f"{UNKNOWN}: no").sentence() == "no version could be tried"


CONSTANTS = {
    "MPI_Comm": {"MPI_COMM_NULL": 0, "MPI_COMM_WORLD": 1},
    "MPI_Datatype": {"MPI_DATATYPE_NULL": 0, "MPI_INT": 4},
    "MPI_Request": {"MPI_REQUEST_NULL": 0},
    "int": {"MPI_ANY_TAG": -1, "MPI_PROC_NULL": -2, "MPI_ERR_TYPE": 3},
    "pointer": {"MPI_STATUS_IGNORE": 0},
}
SENT, RECEIVED, REQUEST, STATUS = 1000, 2000, 3000, 4000


def recording(rank: int, arrived: str, source: int) -> list[dict[str, Any]]:
    """Rank 0 sends 17 ints, rank 1 receives them with MPI_Irecv and MPI_Wait."""
    image = bytes((7 + k) % 160 for k in range(68)).hex()
    poison = "a5" * 68
    comm = {"name": "comm", "type": "MPI_Comm", "value": 1}
    kind = {"name": "datatype", "type": "MPI_Datatype", "value": 4}
    count = {"name": "count", "type": "int", "value": 17}
    tag = {"name": "tag", "type": "int", "value": 5}
    head: list[dict[str, Any]] = [
        {"constants": CONSTANTS, "sizes": {"MPI_Status": 24, "MPI_Request": 8}},
        {"event": "case", "text": "p2p.x"},
    ]
    if rank == 0:
        buffer = {"name": "buf", "type": "void", "at": SENT, "constant": True, "low": 0, "bytes": image}
        dest = {"name": "dest", "type": "int", "value": 1}
        return [
            *head,
            {"event": "content", "at": SENT, "bytes": image},
            {"call": "MPI_Send", "arguments": [buffer, count, kind, dest, tag, comm]},
            {"returned": "MPI_Send", "code": 0, "arguments": [{}] * 6},
            {"event": "end"},
        ]
    buffer = {"name": "buf", "type": "void", "at": RECEIVED, "constant": False, "low": 0, "bytes": poison}
    request = {"name": "request", "type": "MPI_Request", "at": REQUEST, "constant": False}
    status = {"name": "status", "type": "MPI_Status", "at": STATUS, "constant": False}
    told = {"source": source, "tag": 5, "error": 0, "bytes": 68, "cancelled": False}
    begun: list[dict[str, Any]] = [buffer, count, kind, {"name": "source", "type": "int", "value": 0}, tag, comm]
    return [
        *head,
        {"event": "content", "at": RECEIVED, "bytes": poison},
        {"call": "MPI_Irecv", "arguments": [*begun, {**request, "values": [0]}]},
        {"returned": "MPI_Irecv", "code": 0, "arguments": [*[{}] * 6, {"values": [99]}]},
        {"call": "MPI_Wait", "arguments": [{**request, "values": [99]}, status]},
        {"returned": "MPI_Wait", "code": 0, "arguments": [{"values": [0]}, {"statuses": [told]}]},
        {"event": "status", "at": STATUS, "text": "source 0"},
        {"event": "expected", "at": RECEIVED, "bytes": arrived, "expected": image},
        {"event": "end"},
    ]


def written(folder: Path, ranks: list[list[dict[str, Any]]]) -> list[Recording]:
    folder.mkdir()
    for rank, lines in enumerate(ranks):
        (folder / f"rank-{rank}.recording").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_all(folder, len(ranks))


def test_a_program_of_two_recordings(tmp_path: Path) -> None:
    image = bytes((7 + k) % 160 for k in range(68)).hex()
    right = written(tmp_path / "right", [recording(0, "", 0), recording(1, image, 0)])
    wrong = written(tmp_path / "wrong", [recording(0, "", 0), recording(1, image[:-2] + "a5", -2)])
    header = Header("MPICH 9: wrong data", ["MPI-5.0 section 3.2.4: …"], "", "", "./assay run", 2)
    text = write(right, wrong, header, "mpich_x")
    body = [line.strip() for line in text[text.index("int main") :].splitlines()]
    assert "// run: np=2 timeout=20" in text and len(text.splitlines()) < 70
    send, receive = body.index("MPI_Send(sent, 17, MPI_INT, 1, 5, MPI_COMM_WORLD);"), body.index("} else {")
    assert body.index("if (rank == 0) {") < send < receive
    after = body[receive:]
    assert after[1:5] == [
        "memset(received, 0xa5, 68);",
        "MPI_Irecv(received, 17, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);",
        "memset(&status, 0xa5, sizeof status);",
        "MPI_Wait(&request, &status);",
    ]
    assert 'expect("MPI_SOURCE in the status of MPI_Wait", status.MPI_SOURCE, 0);' in after
    assert 'expect_bytes("received", received, expected, 68);' in after
    with pytest.raises(CannotWrite, match="answered alike"):
        write(right, right, header, "mpich_x")


def test_a_program_of_a_call_that_never_returned(tmp_path: Path) -> None:
    lines = recording(1, "", 0)[:6]
    wrong = written(tmp_path / "wrong", [recording(0, "", 0), lines])
    assert wrong[1].calls[-1].name == "MPI_Wait" and wrong[1].calls[-1].code is None and not wrong[1].ended
    right = written(tmp_path / "right", [recording(0, "", 0), recording(1, "", 0)])
    header = Header("MPICH 9: SIGSEGV in MPI_Wait", [], "", "", "./assay run", 2, "MPI_Wait")
    text = write(right, wrong, header, "mpich_x")
    assert "BUG: the process ends in MPI_Wait" in text and "alarm(10)" in text and "&status" in text


def test_a_program_where_only_the_wrong_library_was_recorded(tmp_path: Path) -> None:
    lines = recording(1, bytes((7 + k) % 160 for k in range(68)).hex(), -2)
    said = {"event": "finding", "text": "a receive of the wrong type gives class 0, expected MPI_ERR_TYPE (3)"}
    ranks = [recording(0, "", 0), [*lines[:7], said, *lines[7:]]]
    wrong = written(tmp_path / "wrong", ranks)
    text = write(wrong, wrong, Header("MPICH 9: source", [], "", "", "./assay run", 2), "mpich_x")
    assert 'expect("MPI_SOURCE in the status of MPI_Wait", status.MPI_SOURCE, 0);' in text
    assert 'expect("error class of MPI_Wait", error_class, MPI_ERR_TYPE);' in text
    assert "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);" in text
