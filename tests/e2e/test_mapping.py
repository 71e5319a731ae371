"""What docs/from-mpi-test-suite.md names exists: every pattern has cases, each communicator and datatype is a value."""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from e2e_help import MPI, assay

from runner.libraries import launching, targets
from runner.planning import plan

PAGE = (Path(__file__).parents[2] / "docs" / "from-mpi-test-suite.md").read_text()
TESTS = {"Environment": 4, "P2P": 26, "Collective": 19, "Dynamic": 3, "One-sided": 12, "IO": 41, "Threaded": 7}


def rows(title: str) -> list[tuple[str, str]]:
    """The first two columns of the table under a heading: (name there, name here)."""
    text = re.split(rf"^#+ {title}$", PAGE, flags=re.MULTILINE)[1].split("\n#")[0]
    return re.findall(r"^\| ([^|]+) \| `([^`|]+)` \|", text, re.MULTILINE)


@pytest.fixture(scope="module")
def suite(programs: Path, library: targets.Library) -> plan.Suite:
    return plan.Suite(programs / "assay-suite", launching.list_environment(library))


@pytest.fixture(scope="module")
def tests(suite: plan.Suite) -> dict[str, dict[str, list[str]]]:
    """Test → axis → values."""
    return {
        line["test"]: {axis["axis"]: axis["values"] for axis in line["axes"]}
        for line in suite.ask("tests", 4)  # what exists does not depend on the number of ranks
    }


@pytest.mark.parametrize(("title", "count"), TESTS.items())
def test_every_test_of_the_original_is_there_once(title: str, count: int) -> None:
    names = [name for name, _ in rows(title)]
    assert len(names) == len(set(names)) == count


@pytest.mark.parametrize("pattern", sorted({pattern for title in TESTS for _, pattern in rows(title)}))
def test_every_pattern_has_cases(pattern: str, suite: plan.Suite, tests: dict[str, Any]) -> None:
    test, *parts = pattern.split("/")
    assert test in tests
    # The smallest plan over what the pattern leaves: the full product would be millions of cases.
    arguments = ["--tier=smoke", f"--suite={test.partition('.')[0]}", f"--select={pattern}"]
    for axis, _, wanted in (part.partition("=") for part in parts if part != "*"):
        values = [value for value in tests[test][axis] if fnmatchcase(value, wanted)]
        assert values, f"{axis} has no value {wanted}"
        arguments.append(f"--axis={axis}={','.join(values)}")
    assert [line for line in suite.ask("cases", 4, arguments) if "unsupported" not in line]


@pytest.mark.parametrize(("title", "axis", "least"), [("Communicators", "comm", 14), ("Datatypes", "type", 31)])
def test_values_exist(title: str, axis: str, least: int, suite: plan.Suite) -> None:
    there = {line["value"] for line in suite.ask("axes", 4) if line["axis"] == axis}
    named = [here for _, here in rows(title)]
    assert set(named) <= there
    assert len(named) == len(set(named)) == least
    # The classes below the tables list values, too.
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0].split("Classes:")[1]
    lists = re.findall(r"`([a-z0-9_,]+)`", text)
    assert lists
    assert {value for words in lists for value in words.split(",")} <= there


def test_every_option_that_is_named_exists() -> None:
    from runner.cli import assay

    known = {option for command in assay.commands.values() for param in command.params for option in param.opts}
    text = PAGE.split("## Options\n")[1].split("\n## ")[0]
    ours = "".join(line.split("|", 2)[2] for line in text.splitlines() if line.startswith("| `-"))
    assert set(re.findall(r"--[a-z-]+", ours)) <= known


def test_the_command_of_the_page_selects_what_it_names(programs: Path) -> None:
    (words,) = re.findall(r"^ +\./assay run (.*)$", PAGE, re.MULTILINE)
    done = assay("list", "cases", "--mpi", MPI, *shlex.split(words), env={"ASSAY_SUITE": str(programs / "assay-suite")})
    assert done.returncode == 0, done.stderr
    cases = done.stdout.splitlines()
    assert {case.split("/count=")[1].split("/")[0] for case in cases} == {"1000"}
    found = {(case.split("/")[0], case.split("/comm=")[1].split("/")[0]) for case in cases}
    assert found == {(test, comm) for test in ("p2p.many_to_one", "p2p.alltoall") for comm in ("world", "inter_halved")}
