"""Suspected defects: planted ones are found again, apart where they are different and together where they are one."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from sample_run import TARGETS, write_sample

from reports.defects import Defect, defects
from reports.evidence import Evidence
from reports.factors import Table

COMMS, TYPES, COUNTS = ("world", "dup", "inter"), ("int", "double", "short_int", "vector_int"), ("0", "1", "17", "1021")
Record = dict[str, Any]


def a_run(out: Path, judge: Callable[[str, dict[str, str]], Record | None], tests: tuple[str, ...]) -> Evidence:
    """A run of `tests` at each point of three axes; `judge` gives the fields of a case that does not pass."""
    lines = []
    for test, comm, type_, count in product(tests, COMMS, TYPES, COUNTS):
        point = {"comm": comm, "type": type_, "count": count}
        name = "/".join([test, *(f"{axis}={value}" for axis, value in point.items())])
        lines.append({"case": name, "target": "mpich@5.0.2/np2", "status": "pass", **(judge(test, point) or {})})
    out.mkdir(exist_ok=True)
    (out / "run.json").write_text('{"format":1,"finished":true,"targets":[{"name":"mpich@5.0.2/np2"}]}')
    (out / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Evidence(out)


def failed(check: str, message: str, *requirements: str, call: str = "MPI_Get_count") -> Record:
    finding = {"rank": 0, "status": "fail", "check": check, "message": message, "requirements": [*requirements]}
    return {"status": "fail", "ranks": [{**finding, "call": call}]}


def died(call: str, *stack: str, signal: str = "SIGSEGV") -> Record:
    return {
        "status": "crash",
        "ranks": [{"rank": 1, "status": "crash", "signal": signal, "call": call, "in_mpi": True, "stack": [*stack]}],
    }


def cases_of(found: list[Defect]) -> list[tuple[int, list[str]]]:
    return [(len(one.found), sorted(one.tests)) for one in found]


def test_two_defects_of_one_test_stay_apart(tmp_path: Path) -> None:
    def judge(test: str, at: dict[str, str]) -> Record | None:
        if at["type"] == "short_int":
            return failed("data", f"data from rank 1: byte {at['count']} is wrong", "p2p.send.data")
        return died("MPI_Send", "f+0x1", "MPI_Send+0x2") if at["comm"] == "inter" and at["count"] == "0" else None

    found = defects(a_run(tmp_path, judge, ("p2p.a",)))
    assert [one.what for one in found] == ["data: data from rank 1: byte 0 is wrong", "SIGSEGV in MPI_Send"]
    assert [len(one.found) for one in found] == [12, 3] and [one.number for one in found] == [1, 2]
    assert [str(region) for region in found[0].where["mpich@5.0.2/np2", "p2p.a"]] == ["type=short_int (all 12)"]
    assert [str(region) for region in found[1].where["mpich@5.0.2/np2", "p2p.a"]] == ["comm=inter, count=0 (3 of 4)"]
    ((section, words),) = found[0].cited
    assert section == "3.2.4" and words


def test_a_crash_at_one_place_of_the_library_is_one_defect_whatever_the_call(tmp_path: Path) -> None:
    calls = {"p2p.a": "MPI_Send", "p2p.b": "MPI_Isend", "p2p.c": "MPI_Ssend"}

    def judge(test: str, at: dict[str, str]) -> Record | None:
        place = "progress+0x7" if test != "p2p.c" else "progress+0x99"
        return died(calls[test], "memcpy+0x3", place, f"{calls[test]}+0x4") if at["count"] == "17" else None

    assert cases_of(defects(a_run(tmp_path, judge, (*calls,)))) == [(24, ["p2p.a", "p2p.b"]), (12, ["p2p.c"])]


def test_exits_are_told_apart_by_the_step_before_the_way_that_all_go(tmp_path: Path) -> None:
    steps = {
        "p2p.a": "unpack+0x1",
        "p2p.b": "unpack+0x1",
        "p2p.c": "parse+0x2",
        "p2p.d": "check+0x3",
        "p2p.e": "free+0x4",
    }

    def judge(test: str, at: dict[str, str]) -> Record | None:
        stack = ["assay::watch()+0x1", "exit+0x1", "abort_all+0x5", "handler+0x6", steps[test], f"MPI_{test[-1]}+0x7"]
        found = died(f"MPI_Wait_{test[-1]}", *stack)
        found["ranks"][0] |= {"status": "exit", "exit": 1, "signal": None}
        return found if at["count"] == "17" else None

    found = cases_of(defects(a_run(tmp_path, judge, (*steps,))))
    assert found == [(24, ["p2p.a", "p2p.b"]), (12, ["p2p.c"]), (12, ["p2p.d"]), (12, ["p2p.e"])]


def test_the_same_words_on_requirements_of_one_section_are_one_defect(tmp_path: Path) -> None:
    rests_on = {"p2p.a": "p2p.status.fields", "p2p.b": "p2p.status.count", "p2p.c": "coll.in_place"}

    def judge(test: str, at: dict[str, str]) -> Record | None:
        message = f"status.MPI_TAG is {at['count']}, expected 7"
        return failed("tag", message, rests_on[test]) if at["comm"] == "dup" and at["type"] in "int double" else None

    def without_values(test: str, at: dict[str, str]) -> Record | None:
        return failed("tag", "status.MPI_TAG is 1, expected 7", rests_on[test])

    (whole,) = defects(a_run(tmp_path / "values", judge, ("p2p.a", "p2p.c")))  # the values that decide are the same
    assert whole.tests == {"p2p.a": 8, "p2p.c": 8}
    found = defects(a_run(tmp_path / "words", without_values, ("p2p.a", "p2p.c")))
    assert cases_of(found) == [(48, ["p2p.a"]), (48, ["p2p.c"])]  # two sections, and no value says more


def test_names_of_values_in_a_message_do_not_part_a_defect(tmp_path: Path) -> None:
    def judge(test: str, at: dict[str, str]) -> Record | None:
        return failed("value", f"datatype {at['type']} is damaged: MPI_Type_size gives 7", "p2p.send.data")

    assert cases_of(defects(a_run(tmp_path, judge, ("p2p.a",)))) == [(48, ["p2p.a"])]


def test_what_one_case_saw_together_is_one_defect(tmp_path: Path) -> None:
    def judge(test: str, at: dict[str, str]) -> Record | None:
        if at["type"] != "int":
            return None
        both = failed("source", "status.MPI_SOURCE is 9, expected 1", "p2p.proc_null")
        other = failed("tag", "status.MPI_TAG is 9, expected 1", "p2p.proc_null")
        if at["count"] == "0":
            return {**both, "ranks": both["ranks"] + other["ranks"]}
        return other if at["count"] == "1" else None

    assert cases_of(defects(a_run(tmp_path, judge, ("p2p.a",)))) == [(6, ["p2p.a"])]


def test_failures_in_two_places_are_told_as_two_regions(tmp_path: Path) -> None:
    def bad(at: dict[str, str]) -> bool:
        return (at["type"] == "short_int" and at["comm"] == "dup") or (at["comm"] == "inter" and at["count"] == "1021")

    evidence = a_run(tmp_path, lambda _, at: failed("data", "x", "p2p.send.data") if bad(at) else None, ("p2p.a",))
    (one,) = defects(evidence)
    said = [str(region) for region in one.where["mpich@5.0.2/np2", "p2p.a"]]
    assert said == ["comm=dup, type=short_int (all 4)", "comm=inter, count=1021 (all 4)"]


def test_chance_is_no_reason() -> None:
    ran = [f"p2p.a/x={x}/y={y}" for x in range(20) for y in range(20)]
    scattered = [f"p2p.a/x={x}/y={x * 7 % 20}" for x in range(0, 20, 3)]  # 7 of 400, on 7 of 20 values of each axis
    (region,) = Table(ran).regions(scattered)
    assert region.conditions == () and (region.failed, region.ran) == (7, 400)
    ran = [f"p2p.a/x={x}/y={y}" for x in range(4) for y in range(20)]
    alike = [f"p2p.a/x=0/y={y}" for y in (3, 9, 14)]  # with 1 chance in 16 three cases have one of four values
    (region,) = Table(ran).regions(alike)
    assert region.conditions == () and (region.failed, region.ran) == (3, 80)
    (region,) = Table(ran).regions([*alike, "p2p.a/x=0/y=15"])  # with 1 in 64; with another, 1 in 256
    assert region.conditions == ()
    (region,) = Table(ran).regions([*alike, "p2p.a/x=0/y=15", "p2p.a/x=0/y=16"])
    assert [str(one) for one in region.conditions] == ["x=0"]


def test_targets_are_one_defect_and_known_failures_none(tmp_path: Path) -> None:
    write_sample(tmp_path, 5_000)
    found = defects(Evidence(tmp_path))
    assert [one.what for one in found[:2]] == [
        "data: data differs at element 16 of 17 (byte offset 256, member long double): 1 byte",
        "SIGSEGV in MPI_Recv",
    ]
    assert set(found[2].targets) == set(TARGETS) and found[2].what.startswith("passed, though known to fail: dup of")
    assert sum(len(one.found) for one in found) == 16  # no xfail, no flaky case
    everything = defects(Evidence(tmp_path), lambda entry: entry.status in ("fail", "crash", "xpass", "xfail"))
    assert len(everything) == len(found) + 1


def test_a_hundred_defects_in_ten_thousand_failures_take_seconds(tmp_path: Path) -> None:
    import time

    lines = []
    for number in range(60_000):
        record = {"case": f"p2p.t{number % 100}/a={number % 7}/b={number // 100}", "target": "t", "status": "pass"}
        lines.append(record if number % 6 else {**record, **failed("data", f"x{number % 100}: y", "p2p.send.data")})
    (tmp_path / "run.json").write_text('{"format":1,"finished":true,"targets":[{"name":"t"}]}')
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    evidence = Evidence(tmp_path)
    begin = time.process_time()
    found = defects(evidence)
    assert time.process_time() - begin < 15  # 2 s on an idle machine
    assert sum(len(one.found) for one in found) == 10_000
