"""assay faults --odd: the catalogue, what goes together, and what counts as passing."""

import re
from pathlib import Path

import pytest

from runner.model import WrongUse
from runner.planting import odd
from runner.planting.results import Catch


def outcome(**other: object) -> odd.Outcome:
    values = {"name": "true_is_two", "note": "Two.", "clause": "2.6.3", "np": 2, "tier": "smoke"}
    return odd.Outcome(**{**values, **other})  # type: ignore[arg-type]


def test_each_catalogue_and_its_source_name_the_same_oddities() -> None:
    described = {path.stem: {one.name for one in odd.load_one(path)} for path in odd.CATALOGUES.glob("*.toml")}
    made = {
        path.stem: set(re.findall(r"^ODDITY\((\w+)\)", path.read_text(), re.MULTILINE))
        for path in odd.CATALOGUES.glob("*.cpp")
        if path.stem != "layers"
    }
    assert described == made


def test_there_are_at_least_40_and_each_says_what_it_does_and_which_clause_allows_it() -> None:
    oddities = odd.load()
    assert len(oddities) >= 40
    for one in oddities:
        assert one.note.endswith("."), one.name
        assert re.match(r"\d+(\.\d+)*\b", one.clause), one.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[oddity]]\nname = "a"\nnote = "A."\n', "oddity 1 .a.*look at clause"),
        ('[[oddity]]\nname = "a"\nnote = "A."\nclause = "somewhere"\n', "clause begins with the number"),
        ('[[oddity]]\nname = "a"\nnote = "A."\nclause = "3.4"\nexcludes = ["b"]\n', "a excludes b, which is not there"),
        ('[[oddity]]\nname = "a"\nnote = "A."\nclause = "3.4"\n' * 2, "a: there twice"),
    ],
)
def test_a_wrong_catalogue_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "some.toml").write_text(text)
    with pytest.raises(WrongUse, match=words):
        odd.load(tmp_path)


def test_of_those_that_exclude_each_other_the_first_goes_together_with_the_others() -> None:
    a = odd.Oddity("a", "A.", "3.4", excludes=("b",))
    b = odd.Oddity("b", "B.", "3.4")
    c = odd.Oddity("c", "C.", "3.4", alone="hides tests")
    d = odd.Oddity("d", "D.", "3.4")
    assert odd.together([a, b, c, d]) == [a, d]
    assert odd.together([b, a, d]) == [b, d]


def test_what_passed_where_nothing_was_odd_is_no_pass() -> None:
    assert outcome(cases=2, passed=2).word == "passed"
    assert outcome(cases=2, passed=1, failed=[Catch("p2p.ring", "fail", "wrong")]).word == "failed"
    assert outcome(cases=2, known=2).word == "not tried"
    assert outcome().word == "not tried"
    assert outcome(cases=2, passed=2, not_tried=("true_is_two",)).word == "not tried"
    assert "NOT TRIED: of 2 cases" in odd.print_line(outcome(cases=2, passed=2, not_tried=("true_is_two",)))
    several = outcome(name=odd.TOGETHER, cases=2, passed=2, not_tried=("a", "b"))
    assert several.word == "passed"
    assert odd.print_line(several).endswith("NOT TRIED: a, b")


def test_the_report_counts_what_was_not_tried_for_itself(capsys: pytest.CaptureFixture[str]) -> None:
    words = [{"word": word, "failed": []} for word in ("passed", "not tried", "passed")]
    odd.print_report({"seconds": 1.0, "oddities": words})
    assert "2 passed, 0 failed, 1 not tried; 0 cases failed" in capsys.readouterr().out


def test_under_an_oddity_run_the_tests_that_may_call_what_it_changes_and_a_case_of_each_other() -> None:
    cases = ["p2p.ring/n=1", "p2p.ring/n=2", "coll.bcast/n=1", "coll.bcast/n=2", "env.unknown/n=1"]
    called = {"p2p.ring": {"MPI_Send", "MPI_Recv"}, "coll.bcast": {"MPI_Bcast"}}
    assert odd.concerned(cases, called, {"MPI_Bcast"}) == [
        "p2p.ring/n=1",
        "coll.bcast/n=1",
        "coll.bcast/n=2",
        "env.unknown/n=1",
    ]
