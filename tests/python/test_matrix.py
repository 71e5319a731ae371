"""Libraries side by side: the page is made from the evidence, and one library that cannot run stops no other."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sample_matrix import ABSENT, KNOWN, LIBRARIES, write_matrix_sample
from test_cli import CASES, World, says, world  # noqa: F401
from test_reports import HOSTILE, write_hostile

from reports import known
from reports.evidence import Evidence
from reports.matrix import Matrix, percent, print_matrix, write_matrix
from runner import cli
from runner.libraries import build, targets
from runner.model import CannotRun


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("matrix")
    write_matrix_sample(out)
    return out


def printed(out: Path) -> str:
    console = Console(file=io.StringIO(), width=140, no_color=True)
    print_matrix([Evidence(out)], out / "matrix.html", console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_cells_count_the_cases_of_the_file(sample: Path) -> None:
    expected: dict[tuple[str, str], Counter[str]] = {}
    for line in (sample / "cases.jsonl").read_text().splitlines():
        record = json.loads(line)
        key = (record["case"].partition("/")[0], record["target"])
        expected.setdefault(key, Counter())[record["status"]] += 1
    matrix = Matrix([Evidence(sample)])
    shown = {
        (test, matrix.columns[number].target): cell.counts
        for test, cells in matrix.cells.items()
        for number, cell in cells.items()
    }
    assert shown == expected and len(expected) == 9 * 2 * len(LIBRARIES)
    suites = {suite for suite, _ in ((test.partition(".")[0], 0) for test, _ in expected)}
    assert matrix.suites.keys() == suites
    assert sum((column.total.counts for column in matrix.columns), Counter()) == sum(expected.values(), Counter())


@pytest.mark.parametrize(
    ("passed", "ran", "text"), [(3, 3, "100 %"), (99_999, 100_000, "99.9 %"), (0, 7, "0.0 %"), (0, 0, "n/a")]
)
def test_percentages_say_100_only_of_what_is_whole(passed: int, ran: int, text: str) -> None:
    assert percent(passed, ran) == text


def test_the_page_tells_what_did_not_pass(sample: Path) -> None:
    text = write_matrix([Evidence(sample)], sample / "matrix.html").read_text()
    for expected in (
        f"{ABSENT} could not run",
        "try openmpi@5.0.11",
        "SIGSEGV in MPI_Reduce",
        "failures have comm=graph; every such case fails",  # the axis value, as reports/factors.py finds it
        KNOWN[0],
        KNOWN[1],
        "int main(int argc",  # the reproducer itself
        "./assay run --mpi impi@2021.19.0 --np 4 --select",
        "p2p.probe is not here",
    ):
        assert expected in text, expected
    assert "not finished" in text
    assert len(text) < 300_000


def test_the_page_does_not_grow_with_the_cases(tmp_path: Path) -> None:
    sizes = []
    for each in (100, 1000):
        write_matrix_sample(tmp_path / str(each), each)
        sizes.append(write_matrix([Evidence(tmp_path / str(each))], tmp_path / "matrix.html").stat().st_size)
    assert sizes[1] < 1.6 * sizes[0]


def test_the_terminal_gets_a_table(sample: Path) -> None:
    lines = printed(sample).splitlines()
    assert lines[0].split() == ["library", "np", "coll", "env", "p2p", "unexpected", "known", "unsupported"]
    row = next(line for line in lines if line.startswith("debian:mpich"))
    assert row.split()[1] == "2" and "100 %" in row
    assert any(line.startswith(f"{ABSENT}/np4 could not run: there is no") for line in lines)
    assert any("coll.reduce on openmpi@5.0.11/np2:" in line and "crash" in line for line in lines)
    assert lines[-1].startswith("assay: ") and lines[-2].startswith("matrix: ")


def test_runs_of_several_folders_side_by_side(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_matrix_sample(tmp_path / name, 50)
    matrix = Matrix([Evidence(tmp_path / "first"), Evidence(tmp_path / "second")])
    assert [columns[0].mpi for columns in matrix.libraries][:2] == ["mpich@5.0.2", "mpich@4.3.2"]
    assert "mpich@5.0.2 (second)" in [columns[0].mpi for columns in matrix.libraries]
    assert len(matrix.columns) == 2 * 2 * (len(LIBRARIES) + 1)


def test_hostile_evidence_is_escaped(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    text = write_matrix([Evidence(tmp_path)], tmp_path / "matrix.html").read_text()
    assert HOSTILE not in text and "<img" not in text and "\x1b" not in text


# ---- assay matrix, with fake ranks ----


@pytest.fixture
def several(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Exception]:  # noqa: F811
    """Libraries by SPEC; those in the dictionary cannot be had."""
    missing: dict[str, Exception] = {}

    def resolve(spec: str) -> targets.Library:
        if spec in missing:
            raise missing[spec]
        version = spec.rpartition("@")[2]
        return targets.Library(spec, "mpich", version, world.folder, str(world.folder / "mpiexec"), None)

    monkeypatch.setattr(targets, "resolve", resolve)
    return missing


def test_one_library_that_cannot_be_had_stops_no_other(
    world: World,  # noqa: F811
    several: dict[str, Exception],
    capsys: pytest.CaptureFixture[str],
) -> None:
    several["mpich@9.1"] = CannotRun("the index does not answer")
    assert cli.main(["matrix", "--mpi", "mpich@9.9,mpich@9.1,mpich@9.8", "--np", "2,3", "--out", "out"]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == "assay: mpich@9.1: could not run: the index does not answer"
    record = world.record()
    assert [about["name"] for about in record["targets"]] == [
        f"mpich@{version}/np{np}" for version in ("9.9", "9.1", "9.8") for np in (2, 3)
    ]
    assert [about.get("could_not_run") for about in record["targets"]][2:4] == ["the index does not answer"] * 2
    assert record["finished"] is False and record["status"] == {"pass": 80}
    assert "the index does not answer" in (world.out / "matrix.html").read_text()
    several.clear()  # now it can be had: only what is missing runs
    assert cli.main(["resume", "out"]) == 0
    assert world.record()["status"] == {"pass": 120} and world.record()["finished"] is True
    assert (
        "could not run" not in (world.out / "matrix.html").read_text().partition("<main>")[2].partition("<script>")[0]
    )


def test_one_library_that_cannot_be_built_for_stops_no_other(
    world: World,  # noqa: F811
    several: dict[str, Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(library: targets.Library, *_: Any, **__: Any) -> Path:
        if library.version == "9.1":
            raise CannotRun("building for mpich@9.1 failed: error: no mpi.h")
        return world.folder

    monkeypatch.setattr(build, "build", failing)
    assert cli.main(["matrix", "--mpi", "mpich@9.1,mpich@9.9", "--out", "out"]) == 3
    assert world.record()["status"] == {"pass": 20}
    assert "no mpi.h" in (world.out / "matrix.html").read_text()


def test_no_library_at_all_is_an_error_and_leaves_nothing(
    world: World,  # noqa: F811
    several: dict[str, Exception],
    capsys: pytest.CaptureFixture[str],
) -> None:
    several["mpich@9.1"] = CannotRun("the index does not answer")
    assert cli.main(["matrix", "--mpi", "mpich@9.1", "--out", "out"]) == 3
    assert not world.out.exists()
    capsys.readouterr()
    assert cli.main(["matrix", "--mpi", "mpich@9.9,mpihc@1", "--out", "out"]) == 2  # a typing error costs no run
    assert "did you mean mpich@1" in says(capsys)


def test_known_failures_of_the_project_are_expected_unless_told_otherwise(
    world: World,  # noqa: F811
    several: dict[str, Exception],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "mpich.toml").write_text(
        f'[[known]]\ncase = "{CASES[3]}"\nversion = "==9.9"\nreason = "a bug"\nlink = "bug.c"\n'
    )
    monkeypatch.setattr(known, "FOLDER", tmp_path / "known")
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    assert cli.main(["matrix", "--mpi", "mpich@9.9", "--out", "out"]) == 0
    assert world.record()["status"] == {"pass": 19, "xfail": 1}
    assert cli.main(["matrix", "--mpi", "mpich@9.9", "--no-known", "--out", "other"]) == 1


def test_matrix_of_folders_runs_nothing(world: World, several: dict[str, Exception]) -> None:  # noqa: F811
    for name in ("a", "b"):
        assert cli.main(["run", "--mpi", "mpich@9.9", "--out", name]) == 0
    world.program("mpiexec", "#!/bin/sh\nexit 9\n")
    assert cli.main(["matrix", "a"]) == 0 and (world.folder / "a" / "matrix.html").exists()
    assert cli.main(["matrix", "a", "b"]) == 2
    assert cli.main(["matrix", "a", "b", "--out", "both"]) == 0
    assert "mpich@9.9 (b)" in (world.folder / "both" / "matrix.html").read_text()
