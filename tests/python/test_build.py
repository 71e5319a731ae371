"""Building the suite: what cmake is told, and when."""

from pathlib import Path

import pytest

from runner.libraries import build, targets
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
