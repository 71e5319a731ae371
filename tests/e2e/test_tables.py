"""Every communicator, datatype and test that tests/tables/keller-2008.toml names is there, in enough combinations."""

from __future__ import annotations

import re
import tomllib
from fnmatch import translate
from pathlib import Path
from typing import Any

import pytest

from runner.libraries import launching, targets
from runner.planning import plan

TABLE = tomllib.loads((Path(__file__).parents[1] / "tables" / "keller-2008.toml").read_text())
AXES = {"comm": "communicators", "type": "datatypes"}
# The rows of each class in the thesis.
ROWS = {"environment": 2, "p2p": 25, "collective": 17, "one_sided": 9, "threaded": 5, "parallel_io": 38}
CLASSES = [name for name in ROWS if name in TABLE]
Row = tuple[str, str]  # class, name


@pytest.fixture(scope="module")
def suite(programs: Path, library: targets.Library) -> plan.Suite:
    return plan.Suite(programs / "assay-suite", launching.list_environment(library))


@pytest.fixture(scope="module")
def values(suite: plan.Suite) -> dict[str, dict[str, str]]:
    """Axis → name in the thesis → value here."""
    named: dict[str, dict[str, str]] = {}
    for line in suite.ask("axes", 4):
        if line["title"]:
            assert line["title"] not in named.setdefault(line["axis"], {}), "the same name twice"
            named[line["axis"]][line["title"]] = line["value"]
    return named


def test_the_tables_are_whole() -> None:
    assert [len(TABLE[name]) for name in ("communicators", "datatypes")] == [13, 31]
    assert {name: len(TABLE[name]) for name in CLASSES} == {name: ROWS[name] for name in CLASSES}


@pytest.mark.parametrize("axis", AXES)
def test_every_value_is_there_under_its_name_and_no_other_claims_to_be(axis: str, values: dict[str, Any]) -> None:
    assert set(values[axis]) == set(TABLE[AXES[axis]])


def test_every_test_has_cases_with_every_datatype(suite: plan.Suite, values: dict[str, dict[str, str]]) -> None:
    patterns: dict[str, list[tuple[Row, re.Pattern[str]]]] = {}  # by the first part of the case
    # A name may stand in two classes ("Alltoall").
    wanted = {(of, name): glob for of in CLASSES for name, glob in TABLE[of].items()}
    for name, glob in wanted.items():
        patterns.setdefault(glob.partition("/")[0], []).append((name, re.compile(translate(glob))))
    found: dict[Row, int] = dict.fromkeys(wanted, 0)
    types: dict[Row, set[str]] = {name: set() for name in wanted}
    cases = 0
    # One message length of the 19 is enough: already so there are more cases than in the thesis.
    lengths = [line["value"] for line in suite.ask("axes", 4) if line["axis"] == "count"]
    others = ",".join(f"^{length}" for length in lengths if length != "17")
    for line in suite.ask("cases", 4, ["--profile=keller-2008", "--tier=full", f"--axis=count={others}"]):
        case = line["case"]
        test, _, rest = case.partition("/")
        if "unsupported" in line:
            continue
        cases += test in patterns
        for name, pattern in patterns.get(test, ()):
            if pattern.match(case):
                found[name] += 1
                if at := re.search(r"type=([^/]*)", rest):
                    types[name].add(at[1])
    assert [name for name, number in found.items() if not number] == []
    assert cases >= TABLE["least_cases"]
    everything = set(values["type"].values())
    # Predefined operations are defined for few datatypes.
    of_all = [
        row for row, glob in wanted.items() if row[0] != "environment" and "/op=m" not in glob and "/op=sum" not in glob
    ]
    assert {row: everything - types[row] for row in of_all if everything != types[row]} == {}


def test_every_communicator_is_used(suite: plan.Suite, values: dict[str, dict[str, str]]) -> None:
    lines = suite.ask("cases", 8, ["--profile=keller-2008", "--tier=smoke"])  # the three-dimensional one needs 8 ranks
    used = {at[1] for line in lines if "unsupported" not in line and (at := re.search(r"comm=([^/]*)", line["case"]))}
    assert used == set(values["comm"].values())
