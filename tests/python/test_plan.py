"""Selections, orders and shards: runner/planning/plan.py, asked of a small program that plays assay-suite --list."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from runner.model import CannotRun, WrongUse
from runner.planning import plan
from runner.planning.plan import Selection, Suite

CASES = [f"p2p.ring/comm=world/count={n}" for n in range(10)]
LINES = {
    "tests": [{"test": "p2p.ring", "requirements": ["p2p.send.data"]}, {"test": "env.init", "requirements": []}],
    "axes": [{"axis": "comm", "value": value} for value in ("world", "reversed", "self")],
    "left_out": [{"test": "env.new"}, *({"test": "p2p.ring", "axis": "comm", "value": value} for value in "ab")],
    "cases": [{"case": case} for case in CASES]
    + [{"case": "p2p.ring/comm=cart3d", "unsupported": "comm=cart3d needs at least 8 ranks; this job has 2"}],
}


def fake(tmp_path: Path, *, code: int = 0, error: str = "", lines: object = LINES) -> Suite:
    """A program that prints `lines` of what --list asks for and keeps its arguments in the file `args`."""
    program = tmp_path / "assay-suite"
    program.write_text(
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"what = sys.argv[1].removeprefix('--list=')\nlines = json.loads({json.dumps(lines)!r})\n"
        f"open({str(tmp_path / 'args')!r}, 'w').write('\\n'.join(sys.argv[1:]))\n"
        "print('\\n'.join(json.dumps(line) for line in lines[what]))\n"
        f"print({error!r}, file=sys.stderr)\nsys.exit({code})\n"
    )
    program.chmod(0o755)
    return Suite(program, dict(os.environ))


def test_plan_holds_cases_reasons_and_requirements(tmp_path: Path) -> None:
    selection = Selection("full", 7, "keller-2008", ["p2p"], {"comm": ["world", "^self"]}, ["p2p.*", "^*=3"], 2)
    made = plan.make(fake(tmp_path), 2, selection)
    assert list(made.cases) == CASES
    assert dict(made.unsupported) == {"p2p.ring/comm=cart3d": "comm=cart3d needs at least 8 ranks; this job has 2"}
    assert made.requirements["p2p.ring"] == ["p2p.send.data"]
    assert made.listed == 11
    assert made.left_out == {"tests": 1, "values": 2}
    assert (tmp_path / "args").read_text().split("\n") == [
        *("--list=cases", "--np=2", "--tier=full", "--seed=7", "--threads=2", "--profile=keller-2008", "--suite=p2p"),
        *("--axis=comm=world,^self", "--select=p2p.*", "--select=^*=3"),
    ]
    path = tmp_path / "plan.txt"
    path.write_text(made.text(7))
    assert path.read_text().startswith("assay-plan 1 seed=7 cases=10\np2p.ring/comm=world/count=0\n")
    assert plan.read(path) == CASES


def test_shuffle_depends_on_the_seed_alone(tmp_path: Path) -> None:
    suite = fake(tmp_path)
    first, again = (plan.make(suite, 2, Selection(seed=5), "shuffle").cases for _ in range(2))
    other = plan.make(suite, 2, Selection(seed=6), "shuffle").cases
    assert first == again
    assert sorted(first) == sorted(other) == CASES
    assert len({tuple(first), tuple(other), tuple(CASES)}) == 3


@pytest.mark.parametrize("order", plan.ORDERS)
def test_shards_are_disjoint_and_whole(tmp_path: Path, order: str) -> None:
    shards = [plan.make(fake(tmp_path), 2, Selection(), order, f"{i}/3") for i in (1, 2, 3)]
    assert sorted(case for shard in shards for case in shard.cases) == CASES
    assert sum(len(shard.unsupported) for shard in shards) == 1
    assert max(len(shard.cases) for shard in shards) - min(len(shard.cases) for shard in shards) <= 1


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", ""])
def test_wrong_shard(shard: str) -> None:
    with pytest.raises(WrongUse, match=r"--shard"):
        plan.parse_shard(shard)


def test_selection_that_matches_nothing(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"nothing matches --suite p2p --select 'x\*' --tier quick"):
        plan.make(fake(tmp_path, lines={**LINES, "cases": []}), 2, Selection(suite=["p2p"], select=["x*"]))


def test_what_the_suite_says(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="^no such profile$"):
        fake(tmp_path, code=2, error="assay-suite: no such profile").ask("tests", 2)
    with pytest.raises(CannotRun, match="ended with 127: no libmpi"):
        fake(tmp_path, code=127, error="no libmpi").ask("tests", 2)
    with pytest.raises(CannotRun, match="cannot be started"):
        Suite(tmp_path / "nothing", {}).ask("tests", 2)


@pytest.mark.parametrize(
    "text", ["", "hello\n", "assay-plan 1 seed=1 cases=3\na\nb\n", "assay-plan 2 seed=1 cases=0\n"]
)
def test_file_that_is_no_plan(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.txt"
    path.write_text(text)
    with pytest.raises(WrongUse, match=r"not a (whole )?plan"):
        plan.read(path)
