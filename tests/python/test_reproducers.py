"""assay known check: what a reproducer says, what the entries say, what the suite found - and where they differ."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from test_cli import says

from reports import known
from reports.evidence import Evidence
from reports.known import load
from reports.known_entry import Entry
from runner import cli
from runner.commands import known as reproducers
from runner.commands.known import Found, Outcome
from runner.libraries import build, targets
from runner.libraries.native import NATIVE
from runner.model import WrongUse

REPO = Path(__file__).resolve().parents[2]
WITHOUT_SEEN = {
    "impi": 18,
    "libfabric": 25,
    "mpich": 72,
    "openmpi": 47,
    "ucx": 7,
}  # at most: tables that do not say what was seen
WITHOUT_RATE = {"impi": 5, "libfabric": 2, "mpich": 22, "openmpi": 25}  # at most: tables of chance without numbers

# A compiler wrapper that makes a shell script of the lines `// sh:` of a source; `// lacks MPI_X` does not compile.
_MPICC = """#!/bin/sh
for word; do case $word in *.c) source=$word;; esac; [ "$last" = -o ] && out=$word; last=$word; done
if grep -q '^// lacks' "$source"; then
    sed -n 's,// lacks \\(.*\\),error: \\1 undeclared,p' "$source" >&2
    exit 1
fi
{ echo '#!/bin/sh'; sed -n 's,^// sh: ,,p' "$source"; } > "$out"
chmod +x "$out"
"""
_MPIEXEC = (
    '#!/bin/sh\nshift 2\nwhile [ "$1" = env ] || case $1 in *=*) true;; *) false;; esac; do shift; done\nexec "$@"\n'
)


class World:
    """A repository with reproducers and entries, and two libraries: fake@1.0 and fake@2.0."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.known = folder / "known" / "fake.toml"
        (folder / "known" / "reproducers").mkdir(parents=True)
        self.known.touch()
        for name, text in (("mpicc", _MPICC), ("mpiexec", _MPIEXEC)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        monkeypatch.setattr(build, "REPO", folder)
        monkeypatch.setattr(known, "FOLDER", folder / "known")
        monkeypatch.setattr(targets, "resolve", self.library)
        monkeypatch.setattr(reproducers, "installed", lambda: ["fake@1.0", "fake@2.0"])
        monkeypatch.chdir(folder)

    def library(self, spec: str) -> targets.Library:
        family, _, version = spec.partition("@")
        return targets.Library(spec, family, version, self.folder, str(self.folder / "mpiexec"), self.folder / "mpicc")

    def reproducer(self, name: str, *shell: str, run: str = "np=1 timeout=10", lacks: str = "") -> None:
        lines = [f"// run: {run}", *(f"// sh: {line}" for line in shell), *([f"// lacks {lacks}"] if lacks else [])]
        (self.folder / "known" / "reproducers" / f"{name}.c").write_text("\n".join(lines) + "\n")

    def entry(self, name: str, version: str = "", status: str = "fail", case: str = "a.b/*", more: str = "") -> None:
        with self.known.open("a") as file:
            file.write(
                f'[[known]]\ncase="{case}"\nlibrary="fake"\nstatus=["{status}"]\nreason="{name}"\n'
                f'link="known/reproducers/{name}.c"\n' + (f'version="{version}"\n' if version else "") + more + "\n"
            )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


BUG_BEFORE_2 = 'case $0 in *1.0*) echo "BUG: it is wrong"; exit 1;; *) echo OK;; esac'


def test_agreement(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.reproducer("old", BUG_BEFORE_2)
    world.reproducer("dies", "kill -SEGV $$")
    world.reproducer("absent", lacks="MPI_New")
    world.entry("old", "<2")
    world.entry("dies", status="crash")
    assert cli.main(["known", "check"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split() for line in out[2:5]] == [
        ["absent", "n/a", "n/a"],
        ["dies", "crash", "crash"],
        ["old", "BUG", "OK"],
    ]
    assert out[-1] == "assay: 1 BUG 1 OK 2 crash 0 hang 2 n/a 0 broken 0 disagreements"


@pytest.mark.parametrize(
    ("shell", "version", "status", "sentence"),
    [
        (BUG_BEFORE_2, "==1.0,<3", "fail", ""),
        (BUG_BEFORE_2, ">=1", "fail", "x.c on fake@2.0: says OK, but fake.toml, entry 1 expects a failure (OK)"),
        (BUG_BEFORE_2, "==2.0", "fail", "x.c on fake@1.0: says BUG, but no entry speaks of this library"),
        ("exit 3", "", "fail", "x.c on fake@1.0: ends in a crash, which fake.toml, entry 1 does not list (exit 3: )"),
        ("exit 3", "", "crash", ""),
        ("sleep 60", "", "timeout", ""),
        ("sleep 60", "", "crash", "x.c on fake@1.0: ends in a hang, which fake.toml, entry 1 does not list"),
        ("true", "", "fail", "x.c on fake@1.0: cannot be judged: said neither BUG nor OK"),
    ],
)
def test_disagreement(
    world: World, capsys: pytest.CaptureFixture[str], shell: str, version: str, status: str, sentence: str
) -> None:
    world.reproducer("x", shell, run="np=1 timeout=0.5")
    world.entry("x", version, status)
    assert cli.main(["known", "check", "--json"]) == (1 if sentence else 0)
    record = json.loads(capsys.readouterr().out)
    assert record["ok"] is not bool(sentence)
    assert any(sentence in text for text in record["disagreements"]) or not sentence


def test_a_reproducer_is_repeated_until_it_says_bug(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    third = f'echo >> {world.folder}/times; [ $(wc -l < {world.folder}/times) -lt 3 ] && echo OK || echo "BUG at last"'
    world.reproducer("rare", third, run="np=1 timeout=10 runs=5")
    world.entry("rare")
    assert cli.main(["known", "check", "--mpi", "fake@1.0", "rare"]) == 0
    assert (world.folder / "times").read_text() == "\n" * 3


def test_what_depends_on_more_than_the_library_may_say_ok(world: World) -> None:
    world.reproducer("elsewhere", "echo OK", run="np=1 timeout=10 by=processor")
    world.entry("elsewhere")
    assert cli.main(["known", "check"]) == 0
    world.reproducer("elsewhere", "exit 3", run="np=1 timeout=10 by=processor")  # but no other failure than the listed
    assert cli.main(["known", "check"]) == 1
    world.reproducer("elsewhere", "echo OK", run="np=1 timeout=10 by=night")
    with pytest.raises(WrongUse, match="by=processor or by=timing"):
        reproducers.recipe(world.folder / "known" / "reproducers" / "elsewhere.c")


def test_what_disagrees_beside_others_is_tried_by_itself(world: World) -> None:
    # The first two runs wait for each other and say BUG once both are there; those after them are alone.
    here = f"{world.folder}/here"
    world.reproducer(
        "crowded",
        f"mkdir -p {here}; touch {here}/$$; echo >> {here}.runs",
        f"while [ $(wc -l < {here}.runs) -le 2 ] && [ $(ls {here} | wc -l) -lt 2 ]; do sleep 0.05; done",
        f"n=$(ls {here} | wc -l); sleep 0.3; rm {here}/$$",
        '[ $n -gt 1 ] && echo "BUG: not alone" || echo OK',
        run="np=1 timeout=60",
    )
    said: list[str] = []
    found = reproducers.check(["fake@1.0", "fake@2.0"], [world.known], [], None, said.append)
    name = "known/reproducers/crowded.c"
    assert said[0] == f"{name}: fake@1.0 BUG, fake@2.0 BUG"  # so they ran side by side
    assert said[1].startswith(f"{name} on fake@1.0: OK by itself; beside others it says BUG")
    assert {one.says for one in found.outcomes[name].values()} == {"OK"} and not found.disagreements


def test_a_listed_hang_is_given_less_time(world: World) -> None:
    world.reproducer("endless", "sleep 600", run="np=1 timeout=4")
    world.entry("endless", "==1.0", status="timeout")
    found = reproducers.check(["fake@1.0", "fake@2.0"], [world.known], [], None, lambda text: None)
    outcomes = found.outcomes["known/reproducers/endless.c"]
    assert [one.says for one in outcomes.values()] == ["hang", "hang"] and len(found.disagreements) == 1
    assert outcomes["fake@1.0"].seconds < outcomes["fake@2.0"].seconds / 2


def test_an_interrupted_check_leaves_no_program(world: World) -> None:
    pids_file = world.folder / "pids"
    world.reproducer("endless", f"echo $$ >> {pids_file}; sleep 600", run="np=1 timeout=600")
    begun = f'[ "$(cat {pids_file} 2> /dev/null | wc -l)" -eq 2 ]'
    world.reproducer("a_first", f"until {begun}; do sleep 0.05; done; echo OK", run="np=1 timeout=60")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        reproducers.check(["fake@1.0", "fake@2.0"], [world.known], ["first", "endless"], None, interrupt)
    assert time.monotonic() - begin < 300
    pids = [int(line) for line in pids_file.read_text().splitlines()]
    assert len(pids) == 2 and not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_reproducer_may_ask_for_a_transport(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.reproducer(
        "over", '[ "$OVER" = tcp ] && echo "BUG: over tcp" || echo OK', run="np=1 timeout=10 transport=tcp"
    )
    world.entry("over", "==0", more='transport="{tcp,shm}"')  # a reproducer needs an entry
    assert cli.main(["known", "check", "--json"]) == 0  # nobody knows how this library is told
    assert {one["says"] for one in json.loads(capsys.readouterr().out)["reproducers"][0]["results"]} == {"n/a"}
    about = {"fake": {"title": "Fake", "transport": {"environment": {"OVER": "{provider}"}}}}
    monkeypatch.setattr(targets, "known", lambda: about)
    world.entry("over", more='transport="{tcp,shm}"')
    assert cli.main(["known", "check", "--json"]) == 0
    assert {one["says"] for one in json.loads(capsys.readouterr().out)["reproducers"][0]["results"]} == {"BUG"}
    for wrong, sentence in (("tpc", "--transport tpc: unknown"), ("assay_tcp", "must do without what is built here")):
        world.reproducer("over", "echo OK", run=f"np=1 timeout=10 transport={wrong}")
        assert cli.main(["known", "check"]) == 2
        assert sentence in capsys.readouterr().err


def _write_run(folder: Path, statuses: dict[str, str], threads: int = 1) -> Path:
    out = folder / "run"
    out.mkdir()
    about = [{"name": f"fake@{version}/np2", "mpi": f"fake@{version}", "np": 2} for version in ("1.0", "2.0")]
    run = {"format": 1, "finished": True, "targets": about, "options": {"threads": threads}}
    (out / "run.json").write_text(json.dumps(run))
    with (out / "cases.jsonl").open("w") as file:
        for place, status in statuses.items():
            version, _, case = place.partition(" ")
            known = (
                {"known": "old", "known_link": "known/reproducers/old.c", "found": "fail"}
                if status.startswith("x")
                else {}
            )
            line = {"case": case, "target": f"fake@{version}/np2", "status": status, **known}
            file.write(json.dumps(line) + "\n")
    return out


@pytest.mark.parametrize(
    ("statuses", "more", "verdicts", "sentence"),
    [
        ({"1.0 a.b/x=1": "xfail", "2.0 a.b/x=1": "pass"}, "", ["agrees"], ""),
        ({"1.0 a.b/x=1": "pass", "2.0 a.b/x=1": "pass"}, "", ["disagrees"], "says BUG, but 0 of 1 cases failed as"),
        ({"1.0 a.b/x=1": "pass", "2.0 a.b/x=1": "pass"}, "sometimes=true", ["not seen"], ""),
        ({"1.0 a.c/x=1": "pass"}, "", ["not run"], ""),
        ({"1.0 a.b/x=1": "unsupported"}, "", ["not run"], ""),
        ({"1.0 a.b/x=1": "xfail", "2.0 a.c/x=1": "fail"}, "", ["agrees"], "2.0/np2: 1 results that no entry explains"),
        ({"1.0 a.b/x=1": "xfail"}, "np=[2]", ["agrees"], ""),
        ({"1.0 a.b/x=1": "pass"}, "np=[3]", [], ""),
        ({"1.0 a.b/x=1": "pass"}, "threads=[4]", [], ""),
    ],
)
def test_comparison_with_a_run(
    world: World,
    capsys: pytest.CaptureFixture[str],
    statuses: dict[str, str],
    more: str,
    verdicts: list[str],
    sentence: str,
) -> None:
    world.reproducer("old", BUG_BEFORE_2)
    world.entry("old", "<2", more=more)
    out = _write_run(world.folder, statuses)
    assert cli.main(["known", "check", "--evidence", str(out), "--json"]) == (1 if sentence else 0)
    record = json.loads(capsys.readouterr().out)
    assert [entry["verdict"] for entry in record["entries"]] == verdicts
    assert any(sentence in text for text in record["disagreements"]) or not sentence


def test_what_no_failure_justifies_is_told_and_a_name_is_all_that_is_spoken_of(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.reproducer("old", BUG_BEFORE_2)
    world.entry("old", "<2")
    world.reproducer("other", "echo OK")
    world.entry("other", "<9")  # wrong: it is OK everywhere
    text = world.known.read_text()
    world.known.write_text(text.replace('case="a.b/*"', 'case=["a.b/*", "a.c/*", "a.d/*"]', 1))
    out = _write_run(world.folder, {"1.0 a.b/x=1": "xfail", "1.0 a.c/x=1": "pass", "1.0 a.e/x=2": "fail"})
    assert cli.main(["known", "check", "old", "--evidence", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert "other" not in json.dumps(record) and record["disagreements"] == []
    assert record["unjustified"] == [f"{world.known}, entry 1: of a.c/* 1 case ran and none failed so"]
    assert cli.main(["known", "check", "--evidence", str(out)]) == 1


def test_failures_where_the_reproducer_says_ok_disagree(world: World) -> None:
    """The entry is wide: the suite sees failures on 2.0, too, of another cause."""
    world.entry("old", ">=1")
    out = _write_run(world.folder, {"1.0 a.b/x=1": "xfail", "2.0 a.b/x=1": "xfail"})
    found = Found([world.library("fake@1.0"), world.library("fake@2.0")])
    found.outcomes["known/reproducers/old.c"] = {"fake@1.0": Outcome("BUG"), "fake@2.0": Outcome("OK")}
    reproducers.compare_run(found, load(world.known).entries, Evidence(out))
    assert [entry["verdict"] for entry in found.entries] == ["agrees", "disagrees"]
    assert "says OK, but 1 of 1 cases failed as listed" in found.disagreements[0]


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ("np=2", "has no timeout; write for example"),
        ("timeout=20", "has no np"),
        ("np=two timeout=20", "invalid literal"),
        ("np=0 timeout=20", "at least 1"),
        ("np=2 timeout=20 times=3", "times is not known"),
        ("np=1 timeout=20 framework=efa", "framework is one of ofi, ucx"),
        ("np=2 timeout=20 framework=ofi", "with np=1"),
    ],
)
def test_a_bad_run_line_is_one_sentence(
    world: World, capsys: pytest.CaptureFixture[str], run: str, sentence: str
) -> None:
    world.reproducer("x", run=run)
    assert cli.main(["known", "check"]) == 2
    assert sentence in says(capsys)


def test_without_or_with_two_run_lines(world: World) -> None:
    path = world.folder / "x.c"
    for text in ("int main;\n", "// run: np=1 timeout=1\n// run: np=1 timeout=1\n"):
        path.write_text(text)
        with pytest.raises(WrongUse, match="lines that begin with `// run:`"):
            reproducers.recipe(path)


@pytest.mark.parametrize(
    ("out", "err", "ended", "verdict"),
    [
        ("BUG: wrong\n", "", "exit 1", "BUG"),
        ("BUG: wrong\n", "", "", "BUG"),
        ("BUG: wrong\nOK\n", "", "exit 0", "BUG"),
        ("OK\n", "", "exit 0", "OK"),
        ("OK\n", "", "exit 1", "crash"),
        ("", "Assertion failed in file x.c", "exit 134", "crash"),
        ("", "./x: symbol lookup error: ./x: undefined symbol: MPI_Psend_init", "exit 127", "n/a"),
        ("N/A: no process can be spawned\n", "", "exit 0", "n/a"),
        ("", "", "", "hang"),
        ("", "", "exit 0", "broken"),
    ],
)
def test_what_a_run_says(out: str, err: str, ended: str, verdict: str) -> None:
    assert reproducers.judge(out, err, ended).says == verdict


def test_framework_is_another_library(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of a framework is not tried with MPI, nor the other way round; its compiler is the system's."""
    world.reproducer("of_mpi", "echo OK")
    world.reproducer("of_ofi", "echo OK", run="np=1 timeout=10 framework=ofi")
    (world.folder / "cc").symlink_to(world.folder / "mpicc")
    monkeypatch.setenv("PATH", f"{world.folder}:/usr/bin:/bin")
    monkeypatch.setattr(build, "transports", lambda *_: world.folder)
    mpi, ofi = world.library("fake@1.0"), targets.Library("ofi", "ofi", "1.17.0", world.folder, "", None)
    made = {
        name: reproducers.recipe(world.folder / "known" / "reproducers" / f"{name}.c") for name in ("of_mpi", "of_ofi")
    }
    says = {
        (name, library.family): reproducers.try_on(library, one).says
        for name, one in made.items()
        for library in (mpi, ofi)
    }
    assert says == {
        ("of_mpi", "fake"): "OK",
        ("of_mpi", "ofi"): "n/a",
        ("of_ofi", "fake"): "n/a",
        ("of_ofi", "ofi"): "OK",
    }


def test_the_known_failures_of_the_project_are_in_order() -> None:
    """Each link is a reproducer that is there and can be run; each reproducer is linked to, and short."""
    entries: list[Entry] = load(*sorted((REPO / "known").glob("*.toml"))).entries
    files = {f"known/reproducers/{path.name}" for path in (REPO / "known" / "reproducers").glob("*.c")}
    assert {entry.link for entry in entries if not entry.link.startswith("http")} == files
    for name in files:
        reproducers.recipe(REPO / name)
        assert len((REPO / name).read_text().splitlines()) <= 80, name
    for entry in entries:  # what it rests on: of MPI a section of the standard, else a manual page or a function
        native = NATIVE.get(entry.library)
        assert re.search(native.section if native else "section", entry.reason), entry.where


def test_what_entries_do_not_say_yet_becomes_less() -> None:
    """Whoever writes `seen` or a rate where there was none lowers the number; nobody raises one."""
    silent: dict[str, set[str]] = {}
    uncounted: dict[str, set[str]] = {}
    for entry in load(*sorted((REPO / "known").glob("*.toml"))).entries:
        family = Path(entry.where.partition(",")[0]).stem
        if not entry.seen:
            silent.setdefault(family, set()).add(entry.where)
        if entry.sometimes and entry.rate is None:
            uncounted.setdefault(family, set()).add(entry.where)
    for there, most in ((silent, WITHOUT_SEEN), (uncounted, WITHOUT_RATE)):
        more = {family: len(tables) for family, tables in there.items() if len(tables) > most.get(family, 0)}
        assert not more, f"of {most}"
