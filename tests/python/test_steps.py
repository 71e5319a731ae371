"""assay test: how its steps are run, and what is said of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from runner.commands import test as steps

Work = Callable[[IO[str]], str]


def fails(log: IO[str]) -> str:
    print("what went wrong", file=log)
    raise steps.Failed("it did not work")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Runs these steps instead of ours, in a folder of their own."""

    def run(*chosen: steps.Step) -> int:
        monkeypatch.setattr(steps, "STEPS", chosen)
        return steps.run([])

    monkeypatch.setattr(steps, "LOGS", tmp_path)
    return run


def test_a_step_that_failed_is_named_with_its_last_words(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(steps.Step("good", "", lambda log: "all well"), steps.Step("bad", "", fails)) == 1
    said = capsys.readouterr().out
    assert "good           passed" in said and "all well" in said
    assert "bad            failed" in said and "it did not work" in said and "    what went wrong" in said
    assert said.splitlines()[-1] == "1 passed, 1 failed"


def test_what_only_computes_runs_beside_the_others_and_gives_way(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    waiting, policies = threading.Event(), {}

    def aside(log: IO[str]) -> str:
        policies["aside"] = os.sched_getscheduler(0)
        assert waiting.wait(60)  # which the other step lets go: both run at once
        return ""

    def ahead(log: IO[str]) -> str:
        policies["ahead"] = os.sched_getscheduler(0)
        waiting.set()
        return ""

    assert run(steps.Step("aside", "", aside, aside=True), steps.Step("ahead", "", ahead)) == 0
    assert policies == {"aside": os.SCHED_IDLE, "ahead": os.sched_getscheduler(0)}
    assert "beside the others" in capsys.readouterr().out


def test_a_failure_beside_the_others_counts(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(steps.Step("aside", "", fails, aside=True), steps.Step("ahead", "", lambda log: "")) == 1
    assert "failed: aside; repeat with: ./assay test aside" in capsys.readouterr().out


def test_the_slowest_tests_are_named_at_the_end(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def timed(log: IO[str]) -> str:
        cases = "".join(f'<testcase classname="tests.a" name="test_{n}" time="{n}.5"/>' for n in range(12))
        Path(log.name).with_suffix(".xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        return ""

    (tmp_path / "timed.xml").write_text("<testsuite><testcase name='of_an_earlier_run' time='99'/></testsuite>")
    assert run(steps.Step("timed", "", timed)) == 0
    said = capsys.readouterr().out.splitlines()
    first = said.index("the slowest tests:") + 1
    assert [line.split()[-1] for line in said[first : first + steps.SLOWEST]] == [
        f"tests.a::test_{n}" for n in range(11, 1, -1)
    ]
    assert "11.5 s  timed: tests.a::test_11" in said[first]


def test_what_changed_is_looked_at_first_and_the_rest_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ROTATION", 2)
    names = [f"{letter}.cpp" for letter in "abcdefg"]
    assert steps.last_changed_first(names, ["e.cpp", "gone.cpp", "b.cpp", "e.cpp"], 0) == [
        *("e.cpp", "b.cpp", "a.cpp", "c.cpp", "d.cpp", "f.cpp", "g.cpp")
    ]
    begins = [steps.last_changed_first(names, ["e.cpp", "b.cpp"], commits)[2] for commits in range(4)]
    assert begins == ["a.cpp", "d.cpp", "g.cpp", "c.cpp"]
    assert steps.last_changed_first([], ["e.cpp"], 7) == []


def test_clang_is_asked_for_no_precompiled_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(steps, "REPO", tmp_path)
    commands = [
        "c++ -O1 -Winvalid-pch -include /b/CMakeFiles/assay-suites.dir/cmake_pch.hxx -c ring.cpp",
        "c++ -Winvalid-pch -include /b/CMakeFiles/assay-ofi.dir/cmake_pch.hxx -c rma.cpp",
        "c++ -include mpi_calls.hpp -c engine.cpp",
    ]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, some in zip(folders, (commands[:2], commands[2:]), strict=True):
        folder.mkdir()
        (folder / "compile_commands.json").write_text(json.dumps([{"command": command} for command in some]))
    database = steps._without_precompiled_headers(*folders)
    assert database.name == "compile_commands.json"
    assert [entry["command"] for entry in json.loads(database.read_text())] == [
        "c++ -O1 -include mpi_calls.hpp -c ring.cpp",
        "c++  -c rma.cpp",
        "c++ -include mpi_calls.hpp -c engine.cpp",
    ]
