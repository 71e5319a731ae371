"""Bad input, with the real suite and real ranks: one clear sentence, exit code 2 or 3, nothing half-written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e_help import MPI, assay

from runner.libraries import targets

pytestmark = pytest.mark.usefixtures("nothing_left")
FEW = ("run", "--mpi", MPI, "--np", "2", "--tier", "smoke", "--select", "p2p.ring_sendrecv/*count=17/*")


@pytest.fixture
def environment(programs: Path) -> dict[str, str]:
    return {"ASSAY_SUITE": str(programs / "assay-suite")}


@pytest.fixture
def finished(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The folder of a small run that passed."""
    out = tmp_path / "out"
    done = assay(*FEW, "--out", out, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB: room for the plan of the smoke tier, not for its results."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "assay-test", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def sentence(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The one line on standard error of a command that ended with `code`."""
    assert done.returncode == code, done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("assay: "), done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--type", "vectr_int"), "unknown type 'vectr_int'; did you mean vector_int"),
        (("--comm", "wrld"), "unknown comm 'wrld'; did you mean world"),
        (("--axis", "mod=send"), "unknown axis 'mod'; did you mean mode"),
        (("--suite", "p2q"), "unknown suite 'p2q'; did you mean p2p"),
        (("--tier", "quik"), "unknown tier 'quik'; did you mean quick"),
        (("--axis", "root=z*"), "unknown root 'z*'; there are "),
        (("--profile", "keller"), "unknown profile 'keller'; there are keller-2008"),
        (("--select", "p2p.rin/*"), "nothing matches --select 'p2p.rin/*' --tier quick"),
        (("--select", "p2p.rin/mode=send"), 'there is no test "p2p.rin"; did you mean p2p.ring'),
        (("--np", "1000"), "--np 1000: more than 64 ranks make no sense"),
        (("--np", "0"), "--np 0"),
        (("--mpi", "mpihc@5.0.2"), "--mpi mpihc@5.0.2: unknown (did you mean mpich@5.0.2?)"),
        (("--mpi", "path:/no/such/mpi"), "/no/such/mpi/bin/mpicc is not a program"),
        (("--known", "/no/such/file.toml"), "/no/such/file.toml"),
    ],
)
def test_what_does_not_exist_is_named_with_what_is_near(
    tmp_path: Path, environment: dict[str, str], words: tuple[str, ...], part: str
) -> None:
    out = tmp_path / "out"
    mpi = () if "--mpi" in words else ("--mpi", MPI)
    assert part in sentence(assay("run", *mpi, *words, "--out", out, env=environment), 2)
    assert not out.exists()


def test_an_output_folder_that_is_a_file(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "file").write_text("mine\n")
    said = sentence(assay(*FEW, "--out", tmp_path / "file", env=environment), 2)
    assert f"{tmp_path / 'file'} is a file; name a folder" in said
    assert (tmp_path / "file").read_text() == "mine\n"


def test_an_output_folder_that_cannot_be_made(environment: dict[str, str]) -> None:
    assert "/proc/assay-out: cannot be written" in sentence(assay(*FEW, "--out", "/proc/assay-out", env=environment), 3)


def test_an_output_folder_that_holds_a_run(finished: Path, environment: dict[str, str]) -> None:
    before = (finished / "cases.jsonl").read_bytes()
    said = sentence(assay(*FEW, "--out", finished, env=environment), 2)
    assert f"`assay resume {finished}` goes on with it" in said
    assert (finished / "cases.jsonl").read_bytes() == before


def test_a_disk_that_fills_up_says_so_and_loses_nothing(tiny_disk: Path, environment: dict[str, str]) -> None:
    out = tiny_disk / "out"
    done = assay("run", "--mpi", MPI, "--np", "2", "--suite", "p2p", "--tier", "smoke", "--out", out, env=environment)
    assert done.returncode == 3, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("assay: ") and ("full" in last or "No space left" in last), done.stderr
    journal = (out / "cases.jsonl").read_bytes()
    lines = journal[: journal.rfind(b"\n") + 1].splitlines()
    assert len({json.loads(line)["case"] for line in lines}) == len(lines)  # what was written are whole verdicts


def test_a_journal_whose_last_line_was_cut_off_is_mended(finished: Path, environment: dict[str, str]) -> None:
    journal = finished / "cases.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    done = assay("resume", finished, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = [json.loads(line)["case"] for line in journal.read_text().splitlines()]
    assert sorted(cases) == sorted(json.loads(line)["case"] for line in whole.splitlines())


def test_a_foreign_journal_is_left_alone(finished: Path, environment: dict[str, str]) -> None:
    journal = finished / "cases.jsonl"
    for foreign in ('{"something": "else"}\n', "no JSON\n"):
        journal.write_text(foreign)
        said = sentence(assay("resume", finished, env=environment), 2)
        assert str(journal) in said
        assert journal.read_text() == foreign


def test_a_journal_without_a_run(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "cases.jsonl").write_text("")
    assert "it holds a cases.jsonl without a run.json" in sentence(assay(*FEW, "--out", tmp_path, env=environment), 2)
    assert "there is no run.json" in sentence(assay("resume", tmp_path, env=environment), 2)


def test_a_library_whose_mpiexec_fails(tmp_path: Path, library: targets.Library, environment: dict[str, str]) -> None:
    broken = tmp_path / "mpi"
    (broken / "bin").mkdir(parents=True)
    (broken / "lib").symlink_to(library.root / "lib")
    for name, text in (
        ("mpicc", f'exec {library.root}/bin/mpicc "$@"'),
        ("mpiexec", "echo 'mpiexec: out of order' >&2; exit 9"),
    ):
        program = broken / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    out = tmp_path / "out"
    done = assay(*FEW[:1], "--mpi", f"path:{broken}", *FEW[3:], "--out", out, env=environment)
    assert done.returncode == 3, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    assert "the launch failed: the launcher ended (exit 9), 0 of 2 ranks said hello" in last
    assert "mpiexec: out of order" in last
    assert (out / "cases.jsonl").read_text() == ""  # no verdict was made up
    assert not json.loads((out / "run.json").read_text())["finished"]


def test_a_suite_that_is_not_there(tmp_path: Path) -> None:
    done = assay(*FEW, "--out", tmp_path / "out", env={"ASSAY_SUITE": "/no/such/suite"})
    assert "ASSAY_SUITE=/no/such/suite: there is no such program" in sentence(done, 3)
