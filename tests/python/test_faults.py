"""assay faults: the catalogue, and what counts as a catch."""

import re
from pathlib import Path

import pytest

from runner.commands import faults
from runner.model import Verdict, WrongUse


def fault(**other: object) -> faults.Fault:
    values = {"name": "lost", "note": "…", "expect": ("p2p.ring*mode=send/*",), "kind": ("fail",), "np": 2}
    return faults.Fault(**{**values, **other})  # type: ignore[arg-type]


def verdict(status: str, case: str = "p2p.ring/mode=send/count=1", reason: str = "rank 0: wrong\nmore") -> Verdict:
    return Verdict(case, "mpich@5.0.2/np2", status, extra={"reason": reason} if status != "pass" else {})


def test_each_catalogue_has_a_source_that_plants_its_faults_and_no_other() -> None:
    catalogues = {path.stem: {one.name for one in faults.load_one(path)} for path in faults.CATALOGUES.glob("*.toml")}
    sources = {path.stem: path.read_text() for path in faults.CATALOGUES.glob("*.cpp")}
    assert catalogues.keys() == sources.keys()
    for name, source in sources.items():
        # Macros are given the bare name.
        assert catalogues[name] <= set(re.findall(r"\w+", source)), name
        parameters = {
            word for words in re.findall(r"#define \w+\(([^)]*)\)", source) for word in re.findall(r"\w+", words)
        }
        planted = set(re.findall(r"fault::(\w+)", source)) - {"none", "unset"} - parameters
        assert planted <= set().union(*catalogues.values()), name


def test_what_the_sources_of_faults_share_makes_none() -> None:
    shared = "".join(path.read_text() for path in (faults.CATALOGUES / "core").iterdir())
    assert set(re.findall(r"fault::(\w+)", shared)) <= {"none", "unset"}


def test_every_entry_of_the_catalogue_says_what_is_wrong_in_a_sentence() -> None:
    for one in faults.load():
        assert one.note.endswith(".") and one.np >= 2 and one.expect and one.kind, one.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[fault]]\nname = "a"\n', "fault 1 .a.*look at expect, kind, note, np"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=["*"]\nkind=["wrong"]\nnp=2\n', "kind is a list of fail, crash"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=[]\nkind=["fail"]\nnp=2\n', "expect must not be empty"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=["*"]\nkind=["fail"]\nnp=2\n' * 2, "a: there twice"),
        ("[[fault", "cannot be read"),
    ],
)
def test_a_wrong_catalogue_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "p2p.toml").write_text(text)
    with pytest.raises(WrongUse, match=words):
        faults.load(tmp_path)


def test_expectations_are_globs_on_case_names() -> None:
    assert fault().expects("p2p.ring/mode=send/count=1")
    assert not fault().expects("p2p.ring/mode=isend/count=1")
    assert fault(expect=("p2p.ring/call=a/*",)).about("p2p.ring")
    assert not fault(expect=("p2p.ring/call=a/*",)).about("p2p.ring_pack")


def test_the_first_failure_of_each_test_is_the_catch() -> None:
    result = faults.Result(fault(), 2)
    assert not faults.take(result, verdict("pass"))
    assert faults.take(result, verdict("fail"))
    assert not faults.take(result, verdict("fail", "p2p.ring/mode=send/count=2"))
    assert faults.take(result, verdict("fail", "p2p.ring_pack/mode=send/count=2"))
    assert list(result.catches) == ["p2p.ring", "p2p.ring_pack"]
    assert result.catches["p2p.ring"] == faults.Catch("p2p.ring/mode=send/count=1", "fail", "rank 0: wrong")
    assert result.fine


@pytest.mark.parametrize("status", ["crash", "timeout", "lost"])
def test_a_failure_of_another_kind_is_no_catch(status: str) -> None:
    result = faults.Result(fault(kind=("fail",)), 2)
    assert not faults.take(result, verdict(status))
    assert not result.fine and result.other is not None and result.other.status == status
    assert "NOT CAUGHT" in faults.print_line(result)


@pytest.mark.parametrize("status", ["pass", "skip", "unsupported"])
def test_a_case_that_did_not_fail_is_no_catch(status: str) -> None:
    result = faults.Result(fault(kind=("fail", "crash")), 2)
    assert not faults.take(result, verdict(status))
    assert not result.fine and result.other is None


def test_a_fault_that_the_library_cannot_show_is_no_failure() -> None:
    result = faults.Result(fault(), 2, unsupported="the library lacks MPI_Psend_init")
    assert result.fine and "cannot be shown here" in faults.print_line(result)


def test_faults_of_a_test() -> None:
    one, other = faults.Result(fault(name="one"), 2), faults.Result(fault(name="other"), 2)
    faults.take(one, verdict("fail"))
    faults.take(other, verdict("fail", "p2p.ring_pack/mode=send/count=2"))
    caught = faults.faults_of_tests(["p2p.ring", "p2p.ring_pack", "p2p.partner"], [one, other])
    assert caught == {"p2p.ring": ["one"], "p2p.ring_pack": ["other"], "p2p.partner": []}


def test_tests_take_turns() -> None:
    assert faults.by_turns(["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"]) == ["a/1", "b/1", "c/1", "a/2", "c/2", "a/3"]
