"""The command line from the first argument to the exit code, with a fake library: fake_suite.py plays its ranks."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from reports import known
from runner import cli
from runner.commands import doctor, session
from runner.libraries import build, targets
from runner.model import Options
from runner.planning import plan
from runner.planning.plan import Selection
from runner.request import Request

REPO = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_suite.py")
CASES = [f"fake.case/n={number}" for number in range(20)]

_LISTER = """#!/usr/bin/env python3
import json, sys
what = sys.argv[1].removeprefix("--list=")
cases = [{{"case": case}} for case in {cases!r}] + {unsupported!r}
if "--tier=full" in sys.argv:  # asked for a case that only this tier has, it lists that
    cases += [{{"case": word[9:]}} for word in sys.argv if word.startswith("--select=fake.case/wide")]
lines = {{
    "tests": [{{"test": "fake.case", "requirements": ["fake.one"], "note": "a fake"}}],
    "axes": [{{"axis": "n", "value": str(n), "note": "", "lacks": ""}} for n in range(20)],
    "build": [{{"binary": ""}}],
    "left_out": [{{"test": "fake.newer"}}, {{"test": "fake.case", "axis": "n", "value": "98"}}],
    "cases": cases,
}}[what]
print("\\n".join(map(json.dumps, lines)))
"""
_MPIEXEC = """#!/bin/sh
np=$2
while [ "${{1##*/}}" != assay-suite ]; do shift; done
shift
exec {python} {fake} "$np" {faults} "$@"
"""


class World:
    """A fake library in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.faults = folder / "faults.json"
        library = targets.Library("mpich@9.9", "mpich", "9.9", folder, str(folder / "mpiexec"), None)
        monkeypatch.setattr(targets, "resolve", lambda spec: library)
        monkeypatch.setattr(build, "build", lambda *_, **__: folder)
        monkeypatch.chdir(folder)
        self.set()
        self.program("mpiexec", _MPIEXEC.format(python=sys.executable, fake=FAKE, faults=self.faults))

    def set(self, cases: list[str] | None = None, unsupported: list[str] = [], **faults: dict[str, Any]) -> None:  # noqa: B006
        """What the suite lists, and which case goes wrong how."""
        self.faults.write_text(json.dumps({"cases": faults}))
        lines = [{"case": case, "unsupported": "too few ranks"} for case in unsupported]
        self.program("assay-suite", _LISTER.format(cases=CASES if cases is None else cases, unsupported=lines))

    def program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads((self.out / "run.json").read_text())
        return record

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / "cases.jsonl").read_text().splitlines()]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def says(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on stderr."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_run_leaves_all_its_files(world: World) -> None:
    world.set(unsupported=["fake.case/n=99"])
    assert cli.main(["run", "--out", "out", "--np", "2,3", "--tier", "full"]) == 0
    assert {path.name for path in world.out.iterdir()} == {
        "run.json",
        "cases.jsonl",
        "junit.xml",
        "report.html",
        "plans",
        "logs",
    }
    record = world.record()
    assert record["finished"] is True
    assert record["tier"] == "full"
    assert [about["name"] for about in record["targets"]] == ["mpich@9.9/np2", "mpich@9.9/np3"]
    assert record["cases"] == {"listed": 42, "selected": 42, "ran": 40, "unsupported": 2}
    assert record["status"] == {"pass": 40, "unsupported": 2}
    assert [job["end"] for about in record["targets"] for job in about["jobs"]] == ["complete", "complete"]
    assert (world.out / "plans" / "mpich@9.9_np3.txt").read_text().startswith("assay-plan 1 seed=1 cases=20\n")
    lines = world.lines()
    assert {line["case"]: line.get("reason") for line in lines if line["status"] == "unsupported"} == {
        "fake.case/n=99": "too few ranks"
    }
    assert all(line["requirements"] == ["fake.one"] for line in lines)


def test_failure_exit_code_and_repeat_command(world: World) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    assert cli.main(["run", "--out", "out", "--seed", "8", "--env", "A=b c"]) == 1
    (failed,) = [line for line in world.lines() if line["status"] == "fail"]
    assert failed["case"] == CASES[3]
    assert failed["repeat"] == f"./assay run --mpi mpich@9.9 --np 2 --seed 8 --env 'A=b c' --select '{CASES[3]}'"


def test_the_repeat_command_keeps_what_the_run_needed(world: World) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    assert cli.main(["run", "--out", "out", "--force-np", "--timeout-scale", "2.5", "--strict"]) == 1
    (failed,) = [line for line in world.lines() if line["status"] == "fail"]
    words = "--mpi mpich@9.9 --np 2 --seed 1 --force-np --strict --timeout-scale 2.5"
    assert failed["repeat"] == f"./assay run {words} --select '{CASES[3]}'"


def test_known_failure_is_expected(world: World, tmp_path: Path) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    known = tmp_path / "known.toml"
    known.write_text(f'[[known]]\ncase = "{CASES[3]}"\nreason = "a bug"\nlink = "bug.c"\n')
    assert cli.main(["run", "--out", "out", "--known", str(known)]) == 0
    assert world.record()["status"] == {"pass": 19, "xfail": 1}


def test_what_is_known_of_a_library_is_expected_unless_told_otherwise(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}, CASES[5]: {"kind": "fail", "rank": 1}})
    own = tmp_path / "known"
    own.mkdir()
    entry = '[[known]]\ncase = "{}"\nversion = "{}"\nreason = "a bug"\nlink = "bug.c"\n'
    (own / "mpich.toml").write_text(entry.format(CASES[3], "==9.9") + entry.format("fake.gone/*", "==9.9"))
    monkeypatch.setattr(known, "FOLDER", own)
    more = tmp_path / "more.toml"
    more.write_text(entry.format(CASES[5], "==9.9"))

    assert cli.main(["run", "--out", "out", "--known", str(more)]) == 0
    assert world.record()["status"] == {"pass": 18, "xfail": 2}
    assert not [text for text in world.record()["warnings"] if "fake.gone" in text]  # nobody asked for that entry
    said = capsys.readouterr().out
    assert "mpich@9.9/np2: 0 new, 1 known defect in 2 cases (--no-known counts them as new)" in said
    assert cli.main(["run", "--out", "alone"]) == 1
    assert "mpich@9.9/np2: 1 new, 1 known defect in 1 case (" in capsys.readouterr().out
    assert cli.main(["run", "--out", "without", "--no-known"]) == 1
    said = capsys.readouterr().out
    assert "mpich@9.9/np2: 2 new\n" in said and "do not speak of" not in said
    assert "--seed 1 --no-known --select" in said

    (own / "mpich.toml").write_text(entry.format(CASES[3], "==9.8"))
    assert cli.main(["resume", "alone"]) == 1  # by what is known now
    said = capsys.readouterr().out
    assert "mpich@9.9/np2: 2 new\n" in said
    assert "mpich@9.9/np2: the known failures do not speak of this library or version" in said


def test_only_globs_without_a_case_in_any_tier_are_told_of(world: World, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    entry = '[[known]]\ncase = "{}"\nreason = "a bug"\nlink = "bug.c"\n'
    known.write_text(entry.format("fake.case/{wide,n=98}") + entry.format("fake.caes/*"))
    assert cli.main(["run", "--out", "out", "--known", str(known)]) == 0
    assert world.record()["warnings"] == [
        f"{known}, entry 2: fake.caes/* matched no case; correct the glob or remove the entry"
    ]


def test_trouble_that_no_case_is_charged_for_stays_in_the_report(world: World) -> None:
    world.faults.write_text(json.dumps({"start": {"kind": "finalize_crash"}}))
    assert cli.main(["run", "--out", "out"]) == 0
    trouble = "finalize crash after the last case (rank 1: SIGSEGV in MPI_Finalize)"
    told = f"mpich@9.9/np2: {trouble}; no case is charged for that, logs/mpich@9.9_np2/job-0001 has the logs"
    record = world.record()
    assert record["targets"][0]["jobs"][0]["trouble"] == trouble
    assert record["warnings"] == [told]
    assert trouble in (world.out / "report.html").read_text()
    assert cli.main(["resume", "out"]) == 0
    assert world.record()["warnings"] == [told]


def test_a_profile_says_what_it_leaves_out(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--out", "out", "--np", "2,3", "--profile", "mpi-3.1"]) == 0
    assert [about["left_out"] for about in world.record()["targets"]] == [{"tests": 1, "values": 1}] * 2
    told = [line for line in capsys.readouterr().out.splitlines() if "leaves out" in line]
    assert told == ["profile mpi-3.1 leaves out 1 tests, and 1 values of the axes of others"]
    assert "profile mpi-3.1 leaves out 1 tests" in (world.out / "report.html").read_text()


def test_nothing_applicable(world: World) -> None:
    world.set(cases=[], unsupported=["fake.case/n=99"])
    assert cli.main(["run", "--out", "out"]) == 77


def test_selection_that_matches_nothing_writes_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.set(cases=[])
    assert cli.main(["run", "--out", "out", "--select", "x*"]) == 2
    assert "nothing matches --select 'x*'" in says(capsys)
    assert not world.out.exists()


@pytest.mark.parametrize(
    ("given", "globs"),
    [
        (["a/x=1,b/*", "^c/*"], ["a/x=1", "b/*", "^c/*"]),
        (["a/x={1,2}/y={p,q}"], ["a/x=1/y=p", "a/x=1/y=q", "a/x=2/y=p", "a/x=2/y=q"]),
        (["^a/{x,y{1,2}},b"], ["^a/x", "b", "^a/y1", "^a/y2"]),
        (["a/x={1,}"], ["a/x=1", "a/x="]),
    ],
)
def test_globs_of_cases_may_have_braces(given: list[str], globs: list[str]) -> None:
    assert sorted(plan.globs(given)) == sorted(globs)


def test_a_glob_of_other_tiers_says_where_it_matches(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The fake suite lists fake.case/wide… only when it is asked for the full tier."""
    assert cli.main(["run", "--out", "out", "--select", CASES[3], "--select", "fake.case/wide{r,s}*"]) == 0
    said = "".join(capsys.readouterr().err.split())
    sentence = (
        "--select 'fake.case/wide{r,s}*' matches no case of tier quick, but 22 cases of all combinations: "
        "--tier full --select 'fake.case/wide{r,s}*' runs them"
    )
    assert "".join(sentence.split()) in said
    world.set(cases=[])
    assert cli.main(["run", "--out", "other", "--tier", "smoke", "--select", "fake.case/{wide,wider}"]) == 2
    assert says(capsys) == (
        "assay: nothing matches --select 'fake.case/{wide,wider}' --tier smoke; --select 'fake.case/{wide,wider}' "
        "matches no case of tier smoke, but 2 cases of all combinations: "
        "--tier full --select 'fake.case/{wide,wider}' runs them"
    )
    assert cli.main(["run", "--out", "other", "--select", "fake.caes/{a,b}"]) == 2
    assert says(capsys) == (
        "assay: nothing matches --select 'fake.caes/{a,b}' --tier quick; `assay list cases` shows what there is"
    )


def test_resume_runs_what_is_left(world: World) -> None:
    assert cli.main(["run", "--out", "out", "--order", "shuffle"]) == 0
    journal, record = world.out / "cases.jsonl", world.record()
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:12]) + lines[12][:20])  # killed while it wrote
    (world.out / "run.json").write_text(json.dumps({**record, "finished": False}))
    assert cli.main(["resume", "out"]) == 0
    assert sorted(line["case"] for line in world.lines()) == sorted(CASES)
    resumed = world.record()
    assert resumed["finished"] is True
    assert [job["cases"] for job in resumed["targets"][0]["jobs"]] == [20, 8]
    assert resumed["options"] == record["options"]
    assert resumed["started"] == record["started"]


def test_resume_after_the_end_runs_nothing(world: World) -> None:
    assert cli.main(["run", "--out", "out"]) == 0
    before = (world.out / "cases.jsonl").read_bytes()
    assert cli.main(["resume", "out"]) == 0
    assert (world.out / "cases.jsonl").read_bytes() == before


def test_resume_judges_by_what_is_known_now(world: World, tmp_path: Path) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}, CASES[5]: {"kind": "fail", "rank": 1}})
    known = tmp_path / "known.toml"
    entry = '[[known]]\ncase = "{}"\nreason = "{}"\nlink = "bug.c"\n'
    known.write_text(entry.format(CASES[3], "a bug") + entry.format(CASES[4], "a bug"))
    assert cli.main(["run", "--out", "out", "--known", str(known)]) == 1

    def statuses() -> dict[str, str]:
        return {line["case"]: line["status"] for line in world.lines() if line["status"] != "pass"}

    assert statuses() == {CASES[3]: "xfail", CASES[4]: "xpass", CASES[5]: "fail"}
    known.write_text(entry.format(CASES[3], "another reason") + entry.format(CASES[5], "a bug"))
    assert cli.main(["resume", "out"]) == 0
    last = {line["case"]: line for line in world.lines()}
    assert (last[CASES[3]]["status"], last[CASES[3]]["known"]) == ("xfail", "another reason")
    assert (last[CASES[4]]["status"], "known" in last[CASES[4]], "reason" in last[CASES[4]]) == ("pass", False, False)
    assert (last[CASES[5]]["status"], last[CASES[5]]["found"]) == ("xfail", "fail")
    known.write_text("")
    assert cli.main(["resume", "out"]) == 1
    last = {line["case"]: line for line in world.lines()}
    assert [last[CASES[i]]["status"] for i in (3, 4, 5)] == ["fail", "pass", "fail"]
    size = (world.out / "cases.jsonl").stat().st_size
    assert cli.main(["resume", "out"]) == 1
    assert (world.out / "cases.jsonl").stat().st_size == size


def test_launcher_that_fails(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.program("mpiexec", "#!/bin/sh\necho no such host >&2\nexit 5\n")
    assert cli.main(["run", "--out", "out"]) == 3
    assert "mpich@9.9/np2: could not run" in capsys.readouterr().err
    assert world.record()["finished"] is False


def test_default_folder_and_latest(world: World) -> None:
    assert cli.main(["run"]) == 0
    assert cli.main(["run"]) == 0
    folders = [path for path in (world.folder / "assay-out").iterdir() if not path.is_symlink()]
    assert len(folders) == 2
    assert (world.folder / "assay-out" / "latest").resolve() == max(folders)


def test_folder_that_holds_a_run(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.out.mkdir()
    (world.out / "run.json").write_text("{}")
    assert cli.main(["run", "--out", "out"]) == 2
    assert "assay resume out" in says(capsys)
    (world.out / "run.json").rename(world.out / "cases.jsonl")
    assert cli.main(["run", "--out", "out"]) == 2
    assert "without a run.json" in says(capsys)
    assert cli.main(["run", "--out", "faults.json"]) == 2
    assert "is a file" in says(capsys)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rnu"], "unknown command 'rnu'; did you mean run?"),
        (["run", "--teir", "full"], "No such option '--teir'"),
        (["run", "--tier", "ful"], "unknown tier 'ful'; did you mean full?"),
        (["run", "--order", "listd"], "unknown order 'listd'; did you mean listed?"),
        (["run", "--np", "two"], "--np two: not a number of ranks"),
        (["run", "--np", "100000"], "--force-np"),
        (["run", "--shard", "3/2"], "--shard 3/2: use i/n"),
        (["run", "--axis", "comm"], "--axis comm: use NAME=LIST"),
        (["run", "--select", "fake.case/n={1,2"], "--select fake.case/n={1,2: braces that do not pair up"),
        (["run", "--env", "A"], "--env A: use NAME=VALUE"),
        (["run", "--preload", "/no/lib.so"], "there is no such library"),
        (["run", "--known", "/no/file.toml"], "cannot read /no/file.toml"),
        (["run", "--seed", "x"], "--seed"),
        (["run", "--preset", "fast"], "--preset"),
        (["list", "requirements", "--chapter", "99"], "unknown chapter '99'"),
        (["list", "procedures", "--chapter", "two"], "--chapter two: not the number of a chapter"),
        (["list", "cases", "--untested"], "--chapter and --untested go with"),
        (["list", "casses"], "unknown list 'casses'; did you mean cases"),
        (["resume", "/no/where"], "holds no run"),
        (["report", "/no/where"], "holds no run"),
        (["report"], "Missing argument"),
    ],
)
def test_wrong_use_is_one_sentence(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    if "--preset" in words:
        monkeypatch.undo()
    assert cli.main(words) == 2
    said = says(capsys)
    assert said.startswith("assay: ")
    assert sentence in said
    assert not world.out.exists()


def test_list(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.set(unsupported=["fake.case/n=99"])
    assert cli.main(["list", "cases", "--json"]) == 0
    assert [line["case"] for line in json.loads(capsys.readouterr().out)] == [*CASES, "fake.case/n=99"]
    assert cli.main(["list", "cases"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "fake.case/n=99  (unsupported: too few ranks)"
    assert cli.main(["list", "tests"]) == 0
    assert capsys.readouterr().out.split() == ["fake.case", "a", "fake"]
    assert cli.main(["list", "axes", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 20
    assert cli.main(["list", "mpis"]) == 0
    assert "impi@2021.19.0" in capsys.readouterr().out


def test_report_writes_what_is_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--out", "out"]) == 0
    (world.out / "report.html").unlink()
    (world.out / "junit.xml").unlink()
    assert cli.main(["report", "out", "--junit"]) == 0
    assert (world.out / "junit.xml").exists()
    assert not (world.out / "report.html").exists()
    assert "assay: 20 pass 0 fail" in capsys.readouterr().out
    (world.out / "junit.xml").unlink()
    assert cli.main(["report", "out", "--tap", "--markdown"]) == 0
    assert (world.out / "results.tap").read_text().startswith("TAP version 14")
    assert (world.out / "report.md").read_text().startswith("# Assay")
    assert not (world.out / "junit.xml").exists()
    assert cli.main(["report", "out"]) == 0
    assert (world.out / "report.html").exists() and (world.out / "junit.xml").exists()


def test_doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    found = {line["what"]: line for line in json.loads(capsys.readouterr().out)}
    assert found["cmake"]["state"] == "ok"
    monkeypatch.setitem(doctor._PROGRAMS, "no-such-program", "its-package")
    monkeypatch.setitem(doctor._HEADERS, "no/such.h", "libnosuch-dev")
    monkeypatch.setitem(doctor._OPTIONAL, "no/need.h", ("libnoneed-dev", "nothing"))
    assert cli.main(["doctor"]) == 3
    said = capsys.readouterr().out
    assert "no-such-program: sudo apt-get install its-package" in said
    assert "libnosuch-dev: sudo apt-get install libnosuch-dev" in said
    assert "libnoneed-dev: sudo apt-get install libnoneed-dev" in said


def test_run_record_without_targets_cannot_be_resumed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.out.mkdir()
    record = Request(["mpich@9.9"], [2], Selection(), Options()).record()
    (world.out / "run.json").write_text(json.dumps({"format": 1, **record, "finished": False}))
    assert cli.main(["resume", "out"]) == 2
    assert "run again" in says(capsys)


def test_launcher_script_from_anywhere(tmp_path: Path) -> None:
    """Through a symlink, from another folder, with a folder `runner` and a pyenv shim in the way."""
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "__main__.py").write_text("print('the wrong runner')")
    link = tmp_path / "a link"
    link.symlink_to(REPO / "assay")
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 9\n")
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([link, "--help"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "assay run" in done.stdout


def test_interrupted_run_says_how_to_go_on(world: World) -> None:
    world.set(**{CASES[5]: {"kind": "sleep", "rank": 0}})
    code = "import sys, test_cli; from pathlib import Path; sys.exit(test_cli.run_for_signal(Path('.')))"
    environment = {**os.environ, "PYTHONPATH": f"{REPO}:{REPO / 'tests' / 'python'}"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    journal = world.out / "cases.jsonl"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (not journal.exists() or journal.read_bytes().count(b"\n") < 5):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 143
    assert said.splitlines()[-1] == "assay: interrupted; `./assay resume out` goes on"
    assert {"report.html", "junit.xml"} <= {path.name for path in world.out.iterdir()}
    assert world.record()["finished"] is False
    assert len(world.lines()) == 5


def test_maxfail_and_max_time_stop_a_run_that_resume_finishes(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = {case: {"kind": "fail", "rank": 1} for case in CASES[4:]}
    world.set(**{**failing, CASES[9]: {"kind": "slow", "rank": 0}})
    assert cli.main(["run", "--out", "out", "--maxfail", "2", "--case-timeout", "60"]) == 1
    record, judged = world.record(), len(world.lines())
    assert 6 <= judged < 20 and record["finished"] is False and record["options"]["case_timeout"] == 60
    assert (
        f"stopped at --maxfail 2: {20 - judged} cases were not run; `./assay resume out` goes on" in record["warnings"]
    )
    assert (world.out / "report.html").exists() and "stopped at --maxfail" in capsys.readouterr().out

    world.set(**{CASES[9]: {"kind": "slow", "rank": 0}})
    assert cli.main(["run", "--out", "timed", "--max-time", "0.001s"]) == 0
    there = json.loads((world.folder / "timed" / "run.json").read_text())
    assert not there["finished"] and any("stopped at --max-time 0.001s" in text for text in there["warnings"])
    monkeypatch.setattr(session.Session, "_enough", lambda *_: None)
    assert cli.main(["resume", "timed"]) == 0
    there = json.loads((world.folder / "timed" / "run.json").read_text())
    assert there["finished"] and there["status"] == {"pass": 20}
    assert cli.main(["run", "--max-time", "soon"]) == 2


def test_last_failed_runs_what_did_not_go_as_expected(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    assert cli.main(["run", "--out", "out", "--seed", "7", "--np", "3", "--repeat", "2"]) == 1
    world.set([CASES[3]])
    assert cli.main(["run", "--out", "again", "--last-failed", "out"]) == 0
    record = json.loads((world.folder / "again" / "run.json").read_text())
    assert record["selection"]["select"] == [CASES[3]] and record["seed"] == 7
    assert [about["name"] for about in record["targets"]] == ["mpich@9.9/np3"]
    assert cli.main(["run", "--last-failed", "out", "--select", "x"]) == 2
    capsys.readouterr()
    assert cli.main(["run", "--out", "no", "--last-failed", "again"]) == 77
    assert says(capsys) == "assay: again: every case went as expected; there is nothing to repeat"


def test_a_repeat_command_repeats_as_it_is_printed(world: World) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    (world.folder / "layer.so").write_text("")
    (world.folder / "more.toml").write_text("")
    given = "--force-np --strict --timeout-scale 2.5 --case-timeout 3 --repeat 2 --threads 2 --defaults --no-known"
    more = ["--env", "A=b c", "--preload", "layer.so", "--known", "more.toml", "--seed", "9", "--np", "3"]
    assert cli.main(["run", "--out", "out", *given.split(), *more]) == 1
    (failed,) = [line for line in world.lines() if line["status"] == "fail"]
    words = shlex.split(failed["repeat"])
    assert words[:2] == ["./assay", "run"]
    world.set([CASES[3]], **{CASES[3]: {"kind": "fail", "rank": 1}})
    assert cli.main([*words[1:], "--out", "again"]) == 1
    before, after = world.record(), json.loads((world.folder / "again" / "run.json").read_text())
    assert after["options"] == before["options"] and after["seed"] == before["seed"]
    assert [about["name"] for about in after["targets"]] == [about["name"] for about in before["targets"]]
    assert after["selection"]["select"] == [CASES[3]] and after["status"] == {"fail": 1}


def test_latest_is_the_newest_finished_run(world: World) -> None:
    assert cli.main(["run"]) == 0
    first = (world.folder / "assay-out" / "latest").resolve()
    assert first.parent == world.folder / "assay-out"
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}, CASES[9]: {"kind": "slow", "rank": 0}})
    time.sleep(1.1)  # run.json tells seconds
    assert cli.main(["run", "--maxfail", "1"]) == 1
    assert (world.folder / "assay-out" / "latest").resolve() == first
    (stopped,) = {path.parent for path in (world.folder / "assay-out").glob("20*/run.json")} - {first}
    record = json.loads((stopped / "run.json").read_text())
    record["options"]["maxfail"] = None
    (stopped / "run.json").write_text(json.dumps(record))
    assert cli.main(["resume"]) == 1  # the newest that has not finished
    assert (world.folder / "assay-out" / "latest").resolve() == stopped
    assert cli.main(["resume"]) == 2


def test_shards_merge_into_one_run(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.set(**{CASES[3]: {"kind": "fail", "rank": 1}})
    for shard in (1, 2, 3):
        assert cli.main(["run", "--out", f"s{shard}", "--shard", f"{shard}/3"]) == (shard == 1)
    capsys.readouterr()
    assert cli.main(["merge", "s1", "s2", "s3", "--out", "out"]) == 1
    record = world.record()
    assert [about["name"] for about in record["targets"]] == ["mpich@9.9/np2"]
    assert record["status"] == {"pass": 19, "fail": 1} and record["finished"] and record["options"]["shard"] is None
    assert record["cases"] == {"listed": 20, "selected": 20, "ran": 20, "unsupported": 0}
    assert sorted(line["case"] for line in world.lines()) == sorted(CASES)
    assert all((world.out / job["directory"]).is_dir() for job in record["targets"][0]["jobs"])
    assert capsys.readouterr().out.splitlines()[-1].startswith("assay: 19 pass 1 fail")
    assert cli.main(["merge", "s1", "out", "--out", "twice"]) == 1
    assert "7 cases stand in several of these runs" in capsys.readouterr().err
    assert cli.main(["merge", "s1", "s2", "--out", "out"]) == 2
    assert cli.main(["run", "--out", "seed", "--seed", "2"]) == 1
    assert cli.main(["merge", "s1", "seed", "--out", "new"]) == 2


def test_a_disk_that_is_full_at_the_end_does_not_take_the_summary(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.set(**{CASES[10]: {"kind": "slow", "rank": 0}})
    write = session.Session._write

    def full(self: session.Session, journal: Any, *, finished: bool) -> None:
        if finished:
            (self.out / "run.json.part").symlink_to("/dev/full")
        write(self, journal, finished=finished)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session.Session, "_write", full)
        assert cli.main(["run", "--out", "out"]) == 3
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].startswith("assay: 20 pass")
    assert "run.json: No space left on device" in told.err


def test_an_early_interrupt_leaves_one_line() -> None:
    code = (
        "import runpy, sys\n"
        "class Interrupted:\n"
        "    def __getattr__(self, name):\n"
        "        raise KeyboardInterrupt\n"
        "sys.modules['runner.cli'] = Interrupted()\n"
        "runpy.run_module('runner', run_name='__main__')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "assay: interrupted\n")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("runuser"), reason="only root can become another user")
def test_a_shared_installation_without_a_place_of_ones_own_says_so() -> None:
    command = ["runuser", "-u", "nobody", "--", "env", "ASSAY_CACHE=/proc/none", str(REPO / "assay"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (126, 127):
        pytest.skip("another user cannot read this folder")
    assert done.returncode == 3 and done.stdout == ""
    assert f"neither {REPO} nor /proc/none/venv can be written" in done.stderr


def test_build_dir_is_where_builds_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(build.BUILD_DIR, "unset afterwards")
    assert cli.main(["--build-dir", "builds", "run", "--out", "out"]) == 0
    assert build.root() == world.folder / "builds"


def run_for_signal(folder: Path) -> int:
    """`assay run` in a process of its own, which a test ends."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        library = targets.Library("mpich@9.9", "mpich", "9.9", folder, str(folder.absolute() / "mpiexec"), None)
        monkeypatch.setattr(targets, "resolve", lambda spec: library)
        monkeypatch.setattr(build, "build", lambda *_, **__: folder.absolute())
        return cli.main(["run", "--out", "out"])


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert len(capsys.readouterr().err.splitlines()) > 10  # the help, as it is laid out
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("assay 0.")


@pytest.mark.parametrize("option", ["--select", "--suite", "--comm"])
def test_an_empty_variable_of_a_script_does_not_run_everything(
    world: World, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert cli.main(["run", "--out", "out", option, ""]) == 2
    assert f"{option} '': names nothing; leave it out for all" in says(capsys)


def test_a_report_that_cannot_be_written_does_not_take_the_summary(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.out.mkdir()
    (world.out / "report.html.part").symlink_to("/dev/full")
    assert cli.main(["run", "--out", "out"]) == 3
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].startswith("assay: 20 pass")
    assert "No space left on device" in told.err


def test_a_target_is_named_once(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.program("mpiexec", "#!/bin/sh\nexit 5\n")
    assert cli.main(["run", "--out", "out"]) == 3
    lines = [line for line in capsys.readouterr().err.splitlines() if "launch failed" in line]
    assert len(lines) == 2 and all(line.count("mpich@9.9/np2") == 1 for line in lines[:1])
    assert lines[-1].startswith("assay: mpich@9.9/np2: could not run: the launch failed")


def test_what_a_library_says_of_itself_is_judged_once(world: World) -> None:
    program = world.folder / "assay-suite"
    program.write_text(program.read_text().replace('{"binary": ""}', '{"binary": "", "mpi": "5.1"}'))
    lines = [
        ("fake.case/n=97", "holds since MPI 5.1; this library is of MPI 5.0"),
        ("fake.case/n=98", "needs MPI_THREAD_MULTIPLE; the MPI library provides MPI_THREAD_SERIALIZED"),
        ("fake.case/n=99", "too few ranks"),
    ]
    more = [{"case": case, "unsupported": reason} for case, reason in lines]
    program.write_text(program.read_text().replace("lines = {", f"cases += {more!r}\nlines = {{"))
    assert cli.main(["run", "--out", "out"]) == 0
    told = [
        "mpich@9.9/np2: 1 cases were left out: the MPI library provides MPI_THREAD_SERIALIZED",
        "mpich@9.9/np2: MPI_Get_version says 5.0, the mpi.h of the test binary 5.1; 1 cases were left out for that",
    ]
    assert world.record()["warnings"] == told
    assert cli.main(["resume", "out"]) == 0
    assert world.record()["warnings"] == told
