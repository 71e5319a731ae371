"""assay known propose: what entries should say was seen comes from runs, and goes into the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reports.known import load
from reports.known_propose import joined, propose
from runner import cli

TEXT = """# A file of known failures.

[[known]]
case    = ["p2p.ring/type={int,long}/*", "p2p.line/*"]
library = "mpich"
version = "==5.0.2"
status  = ["fail", "crash"]
sometimes = true # by chance
reason  = "what it says (section 3.2)"
link    = "a.c"

# A remark.
[[known]]
case    = "p2p.ring/type=int/*"
library = "mpich"
seen    = ["tag in MPI_Recv"]
reason  = "another (section 3.2)"
link    = "b.c"

[[known]]
case    = "p2p.star/*"
library = "openmpi"
reason  = "never ran here (section 3.2)"
link    = "c.c"
"""


def run_of(folder: Path, cases: dict[str, tuple[str, list[dict[str, Any]]]]) -> Path:
    """A run on MPICH 5.0.2: by case its status and what its ranks say."""
    folder.mkdir()
    name = "mpich@5.0.2/np2"
    about = [{"name": name, "mpi": "mpich@5.0.2", "np": 2}]
    (folder / "run.json").write_text(json.dumps({"format": 1, "finished": True, "targets": about}))
    with (folder / "cases.jsonl").open("w") as file:
        for case, (status, ranks) in cases.items():
            file.write(json.dumps({"case": case, "target": name, "status": status, "ranks": ranks}) + "\n")
    return folder


def saw(check: str, call: str) -> dict[str, Any]:
    return {"rank": 1, "status": "fail", "check": check, "call": call}


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    dead = {"rank": 0, "status": "crash", "signal": "SIGSEGV", "call": "MPI_Wait"}
    return run_of(
        tmp_path / "run",
        {
            "p2p.ring/type=int/count=1": ("fail", [saw("data", "MPI_Wait"), saw("tag", "MPI_Recv")]),
            "p2p.ring/type=long/count=1": ("fail", [saw("data", "MPI_Wait")]),
            "p2p.ring/type=long/count=2": ("crash", [dead]),
            **{f"p2p.ring/type=long/count={number}/comm=self": ("pass", []) for number in range(3, 8)},
            "p2p.line/type=int/count=1": ("pass", []),
            "p2p.star/type=int/count=1": ("fail", [saw("data", "MPI_Wait")]),
        },
    )


def test_what_was_seen_is_counted_by_entry(tmp_path: Path, evidence: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(TEXT.replace('["fail", "crash"]', '["fail"]'))
    found = propose(load(file).entries, [evidence])
    first, second = found[f"{file}, entry 1"], found[f"{file}, entry 2"]
    # What the second one knows is not the first one's, and a crash is not what the first one is about.
    assert first.seen == {"data in MPI_Wait": 2}
    assert second.seen == {"tag in MPI_Recv": 1}
    assert f"{file}, entry 3" not in found
    assert len(first.failed) == 2 and len(first.passed) == 7
    assert first.unjustified() == [f"{file}, entry 1: of p2p.line/* 1 case ran and none failed so"]


def test_it_is_written_where_it_is_missing(tmp_path: Path, evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "known.toml"
    file.write_text(TEXT)
    assert cli.main(["known", "propose", str(evidence), "--known", str(file), "--write"]) == 0
    said = capsys.readouterr().out
    assert "entry 1: 3 of 9 cases failed as it says" in said and "1 entries have a field `seen` now" in said
    status, seen = 'status  = ["fail", "crash"]\n', 'seen    = ["{SIGSEGV,data} in MPI_Wait"]\n'
    chance = 'sometimes = { failed = 3, of = 9, why = "by chance" }\n'
    expected = TEXT.replace(status, "").replace("sometimes = true # by chance\n", chance)
    assert file.read_text() == expected.replace("reason", f"{seen}reason", 1)
    assert load(file).entries[0].status == {"fail", "crash"}
    assert cli.main(["known", "propose", str(evidence), "--known", str(file), "--write"]) == 0
    assert "0 entries have" in capsys.readouterr().out


def test_globs_are_proposed_that_fit_the_failures_more_closely(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text('[[known]]\ncase = "p2p.ring/*"\nsometimes = true\nreason = "r"\nlink = "x.c"\n')
    cases = {
        f"p2p.ring/mode={mode}/comm={comm}/type={kind}/count={count}": (
            ("fail", [saw("data", "MPI_Wait")]) if comm == "inter" and kind in ("pair", "mix") else ("pass", [])
        )
        for mode in ("send", "isend")
        for comm in ("world", "self", "inter")
        for kind in ("int", "long", "pair", "mix")
        for count in (0, 1, 17)
    }
    (proposal,) = propose(load(file).entries, [run_of(tmp_path / "run", cases)]).values()
    assert proposal.narrower() == ["p2p.ring/*/comm=inter/type={mix,pair}/* (12 of 12 failed)"]


def test_patterns_are_joined() -> None:
    texts = [f"{what} in MPI_{call}" for what in ("tag", "source") for call in ("Wait", "Test")]
    assert joined([*texts, "count in MPI_Get_count", "hang", "exit after MPI_Wait"]) == [
        "{source,tag} in MPI_{Test,Wait}",
        "count in MPI_Get_count",
        "exit after MPI_Wait",
        "hang",
    ]
