"""Building the suite: what cmake is told, and when."""

from pathlib import Path

import pytest

from runner.libraries import build, targets
from runner.libraries.output import first_error
from runner.model import CannotRun
from runner.planning.plan import Selection


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that are run from now on; none really is."""
    run: list[list[str]] = []

    def remember(command: list[str], *_: object) -> None:
        run.append(command)
        if command[0] == "cmake":
            (Path(command[command.index("-B") + 1]) / "build.ninja").touch()

    monkeypatch.setattr(build, "_run", remember)
    monkeypatch.delenv(build.OWN_SUITE, raising=False)
    return run


class Tree:
    """A copy of what a build needs of the repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "CMakePresets.json").write_bytes((build.REPO / "CMakePresets.json").read_bytes())

    def build(self, *suites: str, **options: str) -> None:
        library = targets.Library("mpicc=/opt/cc", "mpich", "", Path("/opt"), "", Path("/opt/cc"))
        build.build(library, "release", options, repo=self.folder, suites=suites, note=lambda text: None)


def told(command: list[str]) -> list[str]:
    return [word for word in command if word.startswith(("-DASSAY", "--fresh"))]


def test_a_first_build_compiles_what_the_selection_needs(tmp_path: Path, commands: list[list[str]]) -> None:
    tree = Tree(tmp_path)
    tree.build("p2p", "env")
    tree.build("env")  # is there
    tree.build("coll")  # what was compiled stays
    tree.build()
    tree.build("p2p")  # all are there
    assert [told(command) for command in commands if command[0] == "cmake"] == [
        ["-DASSAY_SUITES=env;p2p", "--fresh"],
        ["-DASSAY_SUITES=coll;env;p2p"],
        ["-DASSAY_SUITES=all"],
    ]
    assert sum(command[0] == "ninja" for command in commands) == 5


def test_a_build_with_more_than_is_asked_for_stays_as_it_is(tmp_path: Path, commands: list[list[str]]) -> None:
    tree = Tree(tmp_path)
    tree.build(ASSAY_TESTS="ON")
    tree.build()
    tree.build("p2p")
    tree.build(ASSAY_TESTS="ON")
    assert [told(command) for command in commands if command[0] == "cmake"] == [["-DASSAY_TESTS=ON", "--fresh"]]


def test_options_that_an_earlier_build_lacks_are_told(tmp_path: Path, commands: list[list[str]]) -> None:
    tree = Tree(tmp_path)
    tree.build("p2p")
    tree.build(ASSAY_TESTS="ON")
    assert [told(command) for command in commands if command[0] == "cmake"][1:] == [["-DASSAY_TESTS=ON", "--fresh"]]


@pytest.mark.parametrize(
    ("selection", "suites"),
    [
        (Selection(), []),
        (Selection(suite=["p2p,env"]), ["env", "p2p"]),
        (Selection(suite=["^p2p"]), []),
        (Selection(suite=["p2q"]), []),  # the suite says what is near
        (Selection(select=["env.version"]), ["env"]),
        (Selection(select=["p2p.ring*", "^p2p.ring/*", "coll.*"]), ["coll", "p2p"]),
        (Selection(select=["*.ring"]), []),
        (Selection(select=["^p2p.*"]), []),
        (Selection(suite=["env"], axis={"mode": ["send"]}), []),  # which suite has this axis?
        (Selection(suite=["env"], profile="mpi-3.1"), []),
    ],
)
def test_the_suites_that_a_selection_needs(selection: Selection, suites: list[str]) -> None:
    assert selection.suites_to_compile() == suites


def test_a_failed_build_tells_its_first_error(tmp_path: Path) -> None:
    said = """[1/9] Building CXX object framework/check/error.cpp.o
FAILED: suites/p2p/ring.cpp.o
/usr/bin/c++ -Wno-error=foo -o suites/p2p/ring.cpp.o -c suites/p2p/ring.cpp
suites/p2p/ring.cpp:3:5: error: 'nonsense' does not name a type
suites/p2p/ring.cpp:9:1: error: another
ninja: build stopped: subcommand failed."""
    assert first_error(said) == "suites/p2p/ring.cpp:3:5: error: 'nonsense' does not name a type"
    program = tmp_path / "fails"
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{said}\nEOF\nexit 1\n")
    program.chmod(0o755)
    with (tmp_path / "log").open("w+") as log, pytest.raises(CannotRun, match="failed: suites/p2p/ring.cpp:3:5: error"):
        build._run([str(program)], log, "building for x", print, tmp_path)


def test_progress_of_a_build_tells_time_and_what_is_left() -> None:
    assert build.progress(120, 430, 40) == "120 of 430, 40 s, about 2 min left"
    assert build.progress(400, 430, 400) == "400 of 430, 400 s, about 30 s left"
    assert build.progress(430, 430, 410) == "430 of 430, 410 s"


def test_builds_go_where_they_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, cache = tmp_path / "repo", tmp_path / "cache"
    repo.mkdir()
    monkeypatch.setenv("ASSAY_CACHE", str(cache))
    monkeypatch.delenv(build.BUILD_DIR, raising=False)
    assert build.root(repo) == repo / "build"
    monkeypatch.setattr(
        build.os, "access", lambda path, mode: not Path(path).is_relative_to(repo)
    )  # root may write all
    assert build.root(repo).parent == cache / "build"
    monkeypatch.setenv(build.BUILD_DIR, str(tmp_path / "mine"))
    assert build.root(repo) == tmp_path / "mine"
