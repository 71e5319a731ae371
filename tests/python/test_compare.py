"""`assay compare`: planted differences between two runs are found, all of them and nothing else."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reports.compare import Comparison, compare, record
from reports.comparison import markdown
from reports.evidence import Evidence
from runner.cli import assay
from runner.model import WrongUse

TARGET = "mpich@5.0.2/np2"
Record = dict[str, Any]
Change = Callable[[str, Record], Record | None]  # None: the case is not there


def finding(check: str = "data", message: str = "data from rank 1: byte 3 is wrong", call: str = "MPI_Recv") -> Record:
    seen = {"rank": 0, "status": "fail", "check": check, "message": message, "call": call}
    return {"status": "fail", "reason": f"rank 0: {message}", "ranks": [{**seen, "requirements": ["p2p.send.data"]}]}


def a_run(
    out: Path, change: Change = lambda _, line: line, *, seed: int, target: str = TARGET, cases: int = 4000
) -> Path:
    """Cases of 40 tests that mostly pass, in times that vary by chance; those of test 7 fail in half of the cases."""
    chance = random.Random(seed)
    out.mkdir()
    lines = []
    for number in range(cases):
        test = number * 40 // cases
        name = f"p2p.t{test}/type=t{number % 10}/count={number}"
        seconds = 0.0001 * (1 + test % 5) * chance.lognormvariate(0, 0.3)
        line = {"case": name, "target": target, "status": "pass", "seconds": seconds}
        if test == 7 and number % 2:
            line |= finding()
        if (changed := change(name, line)) is not None:
            lines.append(json.dumps(changed) + "\n")
    about = {"name": target, "np": 2, "mpi": target.partition("/")[0]}
    (out / "run.json").write_text(json.dumps({"format": 1, "finished": True, "targets": [about]}))
    (out / "cases.jsonl").write_text("".join(lines))
    return out


def compared(old: Path, new: Path) -> Comparison:
    return compare(Evidence(old), Evidence(new))


def names(found: Comparison, kind: str) -> set[str]:
    return {one.case for defect in getattr(found, kind) for one in defect.found}


def test_two_runs_of_one_build_differ_in_nothing(tmp_path: Path) -> None:
    for seed in range(2, 6):
        found = compared(
            tmp_path / "old" if seed > 2 else a_run(tmp_path / "old", seed=1), a_run(tmp_path / f"{seed}", seed=seed)
        )
        assert found.good and not (found.mended or found.changed or found.flaky or found.slower)
        assert not (found.added or found.gone or found.not_run or found.run_now)


def test_what_tests_vary_among_themselves_is_no_news(tmp_path: Path) -> None:
    chance = random.Random(7)
    factors = {f"p2p.t{test}": chance.lognormvariate(0, 0.3) for test in range(40)}  # as on a machine that others use

    def now(name: str, line: Record) -> Record:
        return {**line, "seconds": line["seconds"] * factors[name.partition("/")[0]]}

    def slower(name: str, line: Record) -> Record:
        return {**line, "seconds": now(name, line)["seconds"] * (8 if name.startswith("p2p.t3/") else 1)}

    old = a_run(tmp_path / "old", seed=1)
    assert compared(old, a_run(tmp_path / "new", now, seed=2)).slower == []
    assert [one.name for one in compared(old, a_run(tmp_path / "slow", slower, seed=2)).slower] == ["p2p.t3"]


def test_twelve_planted_differences_are_found_and_nothing_else(tmp_path: Path) -> None:
    crash = {"rank": 1, "status": "crash", "signal": "SIGSEGV", "call": "MPI_Send", "in_mpi": True, "stack": ["f+0x1"]}
    died = {"status": "crash", "reason": "rank 1: SIGSEGV in MPI_Send", "ranks": [crash]}

    def later(name: str, line: Record) -> Record | None:
        test, type_ = name.split("/")[:2]
        if test == "p2p.t1" and type_ == "type=t3":
            return {**line, **finding(message="data from rank 0: byte 9 is wrong")}  # 1: new
        if test == "p2p.t2" and type_ == "type=t4":
            return {**line, **died}  # 2: new, otherwise
        if test == "p2p.t7" and type_ == "type=t1":
            return {**line, "status": "pass", "ranks": [], "reason": ""}  # 3: mended
        if test == "p2p.t7" and type_ == "type=t3":
            return {**line, **died}  # 4: changed
        if test == "p2p.t12" and type_ == "type=t5":
            return {**line, "status": "flaky"}  # 5: flaky
        if test == "p2p.t13":
            return {**line, "seconds": line["seconds"] * 2}  # 6: a test twice as slow
        if name.startswith("p2p.t20/type=t0/count=2000"):
            return {**line, "seconds": 30.0}  # 7: one case that has become slow
        if test == "p2p.t15":
            return None  # 8: gone
        if test == "p2p.t16":
            return {**line, "status": "unsupported", "reason": "the library has no MPI_X"}  # 9: not run any more
        if test == "p2p.t17" and type_ == "type=t0":
            return {**line, "case": name.replace("type=t0", "type=new")}  # 10: added (and as many gone)
        if test == "p2p.t18" and type_ == "type=t2":
            return {**line, **finding(), "status": "xfail", "found": "fail", "by_chance": True}  # 11: known, by chance
        if test == "p2p.t19" and type_ == "type=t6":
            return {
                **line,
                **finding(),
                "status": "xfail",
                "found": "fail",
                "known": "k",
            }  # 12: known, and new all the same
        return line

    found = compared(a_run(tmp_path / "old", seed=1), a_run(tmp_path / "new", later, seed=2))
    new = names(found, "new_failures")
    assert {name.rpartition("/")[0] for name in new} == {"p2p.t1/type=t3", "p2p.t2/type=t4", "p2p.t19/type=t6"}
    assert not found.good and len(new) == 30
    assert {name.rpartition("/")[0] for name in names(found, "mended")} == {"p2p.t7/type=t1"}
    assert {name.rpartition("/")[0] for name in names(found, "changed")} == {"p2p.t7/type=t3"}
    assert list(found.before.values()) == ["data in MPI_Recv"] and found.changed[0].what == "SIGSEGV in MPI_Send"
    assert found.flaky == {(TARGET, "p2p.t12"): 10, (TARGET, "p2p.t18"): 10}
    assert [one.name for one in found.slower] == ["p2p.t20/type=t0/count=2000", "p2p.t13"]
    assert 1.7 < found.slower[1].ratio < 2.3 and found.slower[1].pairs == 100
    assert found.gone == {(TARGET, "p2p.t15"): 100, (TARGET, "p2p.t17"): 10}
    assert found.added == {(TARGET, "p2p.t17"): 10} and not found.run_now
    assert found.not_run == {(TARGET, "p2p.t16", "the library has no MPI_X"): 100}


def test_a_machine_of_half_the_pace_makes_no_test_slower(tmp_path: Path) -> None:
    def slow(_: str, line: Record) -> Record:
        return {**line, "seconds": line["seconds"] * 2.1}

    found = compared(a_run(tmp_path / "old", seed=1), a_run(tmp_path / "new", slow, seed=2))
    assert found.slower == [] and 1.9 < found.pace[TARGET] < 2.3


def test_versions_of_a_library_are_compared_by_ranks(tmp_path: Path) -> None:
    old, new = a_run(tmp_path / "old", seed=1, target="mpich@4.3.2/np2"), a_run(tmp_path / "new", seed=2)
    assert compared(old, new).targets == [("mpich@4.3.2/np2", TARGET)]
    run = json.loads((old / "run.json").read_text())
    run["targets"][0]["np"] = 4
    (old / "run.json").write_text(json.dumps(run))
    with pytest.raises(WrongUse, match="no target of one goes with one of the other"):
        compared(old, new)


def test_70_000_cases_are_compared_in_seconds(tmp_path: Path) -> None:
    old, new = a_run(tmp_path / "old", seed=1, cases=70_000), a_run(tmp_path / "new", seed=2, cases=70_000)
    begin = time.process_time()
    compared(old, new)
    assert time.process_time() - begin < 12  # 2.5 s on an idle machine; 5 s is what it may take


def test_the_command_prints_three_forms_and_fails_only_for_what_is_new(tmp_path: Path) -> None:
    def worse(name: str, line: Record) -> Record:
        return {**line, **finding()} if name.startswith("p2p.t1/") else line

    old, new = a_run(tmp_path / "old", seed=1), a_run(tmp_path / "new", worse, seed=2)
    said = CliRunner().invoke(assay, ["compare", str(old), str(new)], standalone_mode=False)
    assert said.return_value == 1
    assert said.output.splitlines()[0] == "1 new suspected defect in 100 cases"
    assert said.output.splitlines()[-1] == "assay: 100 new 0 mended 0 changed 0 flaky 0 slower 0 added 0 gone"
    assert "3.2.4: " in said.output and "100 fail of p2p.t1 100" in said.output
    backwards = CliRunner().invoke(assay, ["compare", "--json", str(new), str(old)], standalone_mode=False)
    assert backwards.return_value == 0
    found = json.loads(backwards.output)
    assert found == record(compared(new, old)) and found["good"] and len(found["mended"][0]["cases"]) == 100
    text = CliRunner().invoke(assay, ["compare", "--markdown", str(old), str(new)], standalone_mode=False).output
    assert text == markdown(compared(old, new)) and "## New failures: 1 suspected defect in 100 cases" in text
    assert "| 1 | data: data from rank 1: byte 3 is wrong | 3.2.4: " in text
