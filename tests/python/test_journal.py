"""cases.jsonl: whole lines or nothing."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from runner.model import CannotRun, Verdict, WrongUse
from runner.supervision.journal import Journal

LINE = b'{"case":"p2p.ring/n=1","target":"t/np2","status":"pass","seconds":0.000400}\n'


def test_lines_read_back(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    extra = {"requirements": ["a", "b"], "reason": 'rank 1: "ü"\nnext', "ranks": [{"rank": 1, "status": "fail"}]}
    with Journal(path) as journal:
        journal.append([Verdict("p2p.ring/n=1", "t/np2", "pass", 0.0004)])
        journal.append([
            Verdict("p2p.ring/n=2", "t/np2", "pass", 0.5, {"requirements": ["a", "b"]}),
            Verdict("p2p.ring/n=3", "t/np4", "fail", 2, extra),
        ])  # fmt: skip
    lines = path.read_bytes().splitlines(keepends=True)
    assert lines[0] == LINE
    assert json.loads(lines[1])["requirements"] == ["a", "b"]
    assert json.loads(lines[2]) == {
        "case": "p2p.ring/n=3", "target": "t/np4", "status": "fail", "seconds": 2.0, **extra,
    }  # fmt: skip
    with Journal(path) as journal:
        assert journal.judged == {"t/np2": {"p2p.ring/n=1", "p2p.ring/n=2"}, "t/np4": {"p2p.ring/n=3"}}
        assert journal.statuses["t/np4"] == {"p2p.ring/n=3": "fail"}
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("rest", [LINE[:-1], LINE[:20], LINE[:3], b"{"])
def test_unfinished_last_line_is_cut_off(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(LINE.replace(b"n=1", b"n=0") + rest)
    with Journal(path) as journal:
        assert journal.judged == {"t/np2": {"p2p.ring/n=0"}}
        journal.append([Verdict("p2p.ring/n=1", "t/np2", "pass", 0.0004)])
    assert path.read_bytes() == LINE.replace(b"n=1", b"n=0") + LINE


@pytest.mark.parametrize(
    ("content", "number"),
    [
        (b"hello", 1),
        (b"hello\n", 1),
        (b'{"case":"x"}\n', 1),
        (b"[1]\n", 1),
        (b'{"case":1,"target":"t","status":"pass"}\n', 1),
        (LINE + b"\0\0\0\0", 2),
        (LINE + b"\n" + LINE, 2),
        (b"\xff\xfe\n", 1),
    ],
)
def test_foreign_file_is_refused_and_left_alone(tmp_path: Path, content: bytes, number: int) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    with pytest.raises(WrongUse, match=f"cases.jsonl:{number}: not a verdict of assay"):
        Journal(path)
    assert path.read_bytes() == content


def test_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    with Journal(path), pytest.raises(CannotRun, match="another assay is writing this file"):
        Journal(path)
    Journal(path).close()


def test_unwritable(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="cases.jsonl: cannot be opened for writing: No such file or directory"):
        Journal(tmp_path / "missing" / "cases.jsonl")
    with pytest.raises(CannotRun, match="cannot be opened for writing: Is a directory"):
        Journal(tmp_path)


def test_full_disk_leaves_whole_batches(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: like a full one it first writes a part and then refuses."""
    path = tmp_path / "cases.jsonl"
    batch = [Verdict(f"p2p.ring/n={number}", "t/np2", "pass", 0.0004) for number in range(10)]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            journal = Journal(path)
            journal.append(batch)
            try:
                journal.append(batch)
            except CannotRun as error:
                code = 0 if "cannot be written: File too large" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_bytes().count(b"\n") == 10
    with Journal(path) as journal:
        assert len(journal.judged["t/np2"]) == 10
