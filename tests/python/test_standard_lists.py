"""assay list requirements and assay list procedures, with a binary that says what is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from reports import requirements as standard
from runner import cli
from runner.commands import standard as lists
from runner.libraries import build, targets

# Every requirement of chapter 13 but the last has a test; profile mpi-3.1 has no test of threads.
HAVE = [name for name, entry in standard.catalogue().items() if entry["section"].startswith("13.")]
LISTER = """#!/usr/bin/env python3
import json, sys
what, profile = sys.argv[1].removeprefix("--list="), "--profile=mpi-3.1" in sys.argv
tests = [{{"test": "env.statuses", "requirements": {have!r}}}]
tests += [{{"test": "p2p.ring", "requirements": ["p2p.send.data"]}}]
procedures = [{{"procedure": "MPI_Send", "library": True}}, {{"procedure": "MPI_Grequest_start", "library": False}}]
lines = {{"tests": tests[: 1 if profile else 2], "procedures": procedures}}[what]
print("\\n".join(map(json.dumps, lines)))
"""


@pytest.fixture
def binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "assay-suite"
    path.write_text(LISTER.format(have=HAVE[:-1]).replace("/usr/bin/env python3", sys.executable))
    path.chmod(0o755)
    library = targets.Library("mpich@9.9", "mpich", "9.9", tmp_path, "mpiexec", None)
    monkeypatch.setattr(targets, "resolve", lambda spec: library)
    monkeypatch.setattr(build, "build", lambda *_, **__: tmp_path)
    calls = {"env.statuses": {"MPI_Status_set_tag"}, "p2p.ring": {"MPI_Send", "MPI_Recv"}}
    everything = {"MPI_Send", "MPI_Recv", "MPI_Status_set_tag", "MPI_Grequest_start"}
    monkeypatch.setattr(
        lists, "procedures_of_tests", lambda binary, tests: ({test: calls[test] for test in tests}, everything)
    )
    return path


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert cli.main(["list", *words, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_requirements_have_the_tests_that_name_them(binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, "requirements", "--chapter", "13")
    assert {line["id"] for line in lines} == set(HAVE)
    assert {line["id"]: line["tests"] for line in lines} == {**dict.fromkeys(HAVE, ["env.statuses"]), HAVE[-1]: []}
    assert {line["chapter"] for line in lines} == {13}
    assert set(lines[0]) == {"id", "chapter", "section", "level", "since", "procedures", "text", "tests"}
    assert len(listed(capsys, "requirements")) == len(standard.catalogue())
    several = {line["chapter"] for line in listed(capsys, "requirements", "--chapter", "13,3", "--chapter", "6")}
    assert several == {3, 6, 13}


def test_a_requirement_without_a_test_is_untested(binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [line["id"] for line in listed(capsys, "requirements", "--chapter", "13", "--untested")] == [HAVE[-1]]
    untested = {line["id"] for line in listed(capsys, "requirements", "--untested")}
    everywhere = {name for name, entry in standard.catalogue().items() if entry.get("everywhere")}
    assert everywhere and untested == set(standard.catalogue()) - set(HAVE[:-1]) - {"p2p.send.data"} - everywhere


def test_a_profile_has_older_requirements_and_their_tests(binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, "requirements", "--profile", "mpi-3.1")
    assert {line["id"] for line in lines} == {
        name for name, entry in standard.catalogue().items() if entry["since"] <= "3.1"
    }
    assert [line["tests"] for line in lines if line["id"] == "p2p.send.data"] == [[]]


def test_procedures_have_the_tests_that_call_them(binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {line["procedure"]: line for line in listed(capsys, "procedures")}
    assert list(lines) == list(standard.procedures())
    assert lines["MPI_Send"] == {
        **{"procedure": "MPI_Send", "chapter": 3, "section": "3.2.1", "since": "1.0"},
        **{"library": True, "framework": False, "tests": ["p2p.ring"]},
    }
    assert lines["MPI_Status_set_tag"]["tests"] == ["env.statuses"]
    framework = lines["MPI_Grequest_start"]
    assert (framework["tests"], framework["framework"], framework["library"]) == ([], True, False)
    untested = {line["procedure"] for line in listed(capsys, "procedures", "--untested", "--chapter", "3")}
    assert "MPI_Probe" in untested and not untested & {"MPI_Send", "MPI_Recv", "MPI_Status_set_tag"}
    # Under a profile neither its tests nor its procedures are newer.
    old = {line["procedure"]: line for line in listed(capsys, "procedures", "--profile", "mpi-3.1")}
    assert old["MPI_Send"]["tests"] == [] and "MPI_Send_c" not in old


def test_only_what_is_untested_has_no_counts_of_the_rest(
    binary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["list", "requirements", "--chapter", "13", "--untested"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "assay: 1 untested requirements"
    monkeypatch.setattr(lists, "requirements", lambda *_: [])
    assert cli.main(["list", "requirements", "--untested"]) == 0
    assert capsys.readouterr().out == "assay: no requirement is untested\n"


def test_tables_have_counts(binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "requirements", "--chapter", "13"]) == 0
    out = capsys.readouterr().out
    counts = f"{len(HAVE)} requirements, {len(HAVE) - 1} tested, 1 untested"
    assert out.splitlines()[0] == f"Chapter 13: External Interfaces: {counts}"
    assert out.splitlines()[-1] == f"assay: {counts}"
    assert cli.main(["list", "procedures", "--chapter", "13"]) == 0
    out = capsys.readouterr().out
    assert "8 procedures, 1 tested, 7 untested (1 of them called by the framework only)" in out
    assert "the library lacks it" in next(line for line in out.splitlines() if "MPI_Grequest_start" in line)


def test_many_tests_are_shortened_on_a_line_of_text(capsys: pytest.CaptureFixture[str]) -> None:
    line = {"chapter": 3, "section": "3.1", "id": "x.y", "since": "1.0", "level": "advisory", "text": "T."}
    lists.print_requirements([{**line, "tests": ["a.b", "a.c", "a.d", "a.e", "a.f"]}], Console())
    assert "a.b, a.c, a.d and 2 more" in capsys.readouterr().out
