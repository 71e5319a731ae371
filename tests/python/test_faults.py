"""assay faults: the catalogue, and what counts as a catch."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from runner.model import Verdict, WrongUse
from runner.planting import catalogue, report, results, together
from runner.planting.session import Enough


def fault(**other: object) -> catalogue.Fault:
    values = {"name": "lost", "note": "…", "expect": ("p2p.ring*mode=send/*",), "kind": ("fail",), "np": 2}
    return catalogue.Fault(**{**values, **other})  # type: ignore[arg-type]


def verdict(status: str, case: str = "p2p.ring/mode=send/count=1", reason: str = "rank 0: wrong\nmore") -> Verdict:
    return Verdict(case, "mpich@5.0.2/np2", status, extra={"reason": reason} if status != "pass" else {})


def test_each_catalogue_has_a_source_that_plants_its_faults_and_no_other() -> None:
    catalogues = {
        path.stem: {one.name for one in catalogue.load_one(path)} for path in catalogue.CATALOGUES.glob("*.toml")
    }
    sources = {path.stem: path.read_text() for path in catalogue.CATALOGUES.glob("*.cpp")}
    assert catalogues.keys() == sources.keys()
    for name, source in sources.items():
        # Macros are given the bare name.
        assert catalogues[name] <= set(re.findall(r"\w+", source)), name
        parameters = {
            word for words in re.findall(r"#define \w+\(([^)]*)\)", source) for word in re.findall(r"\w+", words)
        }
        planted = set(re.findall(r"fault::(\w+)", source)) - {"none", "unset"} - parameters
        assert planted <= catalogue.controls().union(*catalogues.values()), name


def test_what_the_sources_of_faults_share_makes_none() -> None:
    shared = "".join(path.read_text() for path in (catalogue.CATALOGUES / "core").iterdir())
    assert set(re.findall(r"fault::(\w+)", shared)) <= {"none", "unset"}


def test_every_entry_of_the_catalogue_says_what_is_wrong_in_a_sentence() -> None:
    for one in catalogue.load():
        assert one.note.endswith(".") and one.np >= 2 and one.expect and one.kind, one.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[fault]]\nname = "a"\n', "fault 1 .a.*look at expect, kind, note, np"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=["*"]\nkind=["wrong"]\nnp=2\n', "kind is a list of fail, crash"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=[]\nkind=["fail"]\nnp=2\n', "expect must not be empty"),
        ('[[fault]]\nname="a"\nnote="n"\nexpect=["*"]\nkind=["fail"]\nnp=2\n' * 2, "a: there twice"),
        (
            '[[fault]]\nname="a"\nnote="n"\nexpect=["*"]\nkind=["fail"]\nnp=2\ncontrol="b"\n',
            "there is no .*control.* b",
        ),
        ("[[fault", "cannot be read"),
    ],
)
def test_a_wrong_catalogue_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "p2p.toml").write_text(text)
    with pytest.raises(WrongUse, match=words):
        catalogue.load(tmp_path)


def test_expectations_are_globs_on_case_names() -> None:
    assert fault().expects("p2p.ring/mode=send/count=1")
    assert not fault().expects("p2p.ring/mode=isend/count=1")
    assert fault(expect=("p2p.ring/call=a/*",)).about("p2p.ring")
    assert not fault(expect=("p2p.ring/call=a/*",)).about("p2p.ring_pack")


def test_the_first_failure_of_each_test_is_the_catch() -> None:
    result = results.Result(fault(), 2)
    assert not results.take(result, verdict("pass"))
    assert results.take(result, verdict("fail"))
    assert not results.take(result, verdict("fail", "p2p.ring/mode=send/count=2"))
    assert results.take(result, verdict("fail", "p2p.ring_pack/mode=send/count=2"))
    assert list(result.catches) == ["p2p.ring", "p2p.ring_pack"]
    assert result.catches["p2p.ring"] == results.Catch("p2p.ring/mode=send/count=1", "fail", "rank 0: wrong")
    assert result.fine


@pytest.mark.parametrize("status", ["crash", "timeout", "lost"])
def test_a_failure_of_another_kind_is_no_catch(status: str) -> None:
    result = results.Result(fault(kind=("fail",)), 2)
    assert not results.take(result, verdict(status))
    assert not result.fine and result.other is not None and result.other.status == status
    assert "NOT CAUGHT" in report.print_line(result)


@pytest.mark.parametrize("status", ["pass", "skip", "unsupported"])
def test_a_case_that_did_not_fail_is_no_catch(status: str) -> None:
    result = results.Result(fault(kind=("fail", "crash")), 2)
    assert not results.take(result, verdict(status))
    assert not result.fine and result.other is None


def test_a_fault_that_the_library_cannot_show_is_no_failure() -> None:
    result = results.Result(fault(), 2, unsupported="the library lacks MPI_Psend_init")
    assert result.fine and "cannot be shown here" in report.print_line(result)


def test_faults_of_a_test() -> None:
    one, other = results.Result(fault(name="one"), 2), results.Result(fault(name="other"), 2)
    results.take(one, verdict("fail"))
    results.take(other, verdict("fail", "p2p.ring_pack/mode=send/count=2"))
    caught = results.faults_of_tests(["p2p.ring", "p2p.ring_pack", "p2p.partner"], [one, other])
    assert caught == {"p2p.ring": ["one"], "p2p.ring_pack": ["other"], "p2p.partner": []}


def test_tests_take_turns() -> None:
    assert results.by_turns(["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"]) == ["a/1", "b/1", "c/1", "a/2", "c/2", "a/3"]


def test_lines_of_a_plan_say_which_fault_is_planted() -> None:
    assert together.entry("p2p.ring/mode=send", "lost", True) == "p2p.ring/mode=send lost"
    # Each fault has its own run of the case without any.
    assert together.entry("p2p.ring/mode=send", "lost", False) == "p2p.ring/mode=send none lost"
    # Or with what the fault needs to be there: a model in place of the library, in which nothing is wrong.
    assert together.entry("tool.cvar_info", "lost", False, "tool_model") == "tool.cvar_info tool_model lost"
    for planted, control in ((True, "none"), (False, "none"), (False, "tool_model")):
        line = together.entry("p2p.probe", "lost", planted, control)
        assert together.parts(line) == ("p2p.probe", "lost", planted)


def test_of_each_test_some_cases() -> None:
    cases = ["a/1", "b/1", "a/2", "b/2", "a/3"]
    assert together.turns(cases, 1, 1) == ["a/1", "b/1"]
    assert together.turns(cases, 2, 9) == ["a/2", "b/2", "a/3"]


class FakeSession:
    """Shared launches of cases whose behaviour is given: (case, fault or "none", whether damaged) → status."""

    def __init__(self, behaviour: Callable[[str, str, bool], str], damages: Sequence[str] = ()) -> None:
        self.request = SimpleNamespace(tier="smoke", seed=1)
        self.behaviour, self.damages = behaviour, damages
        self.launched: list[str] = []

    def candidates(self, fault: catalogue.Fault, np: int, tier: str) -> list[str]:
        return [f"p2p.ring/count={n}" for n in range(9)] if tier == "smoke" else []

    def alone(self, case: str) -> bool:
        return False

    def target(self, np: int, fault: str) -> str:
        return fault

    def run(
        self,
        name: str,
        target: str,
        plan: Sequence[str],
        on: Callable[[Verdict], None],
        strict: bool,
        hunting: bool,
        enough: Callable[[Sequence[str]], Mapping[str, str]] = lambda lines: {},
    ) -> bool:
        self.launched.append(name)
        damaged = False
        for line in plan:
            case, _, words = line.partition(" ")
            fault = words.split()[0] if words else target
            try:
                on(verdict(self.behaviour(case, fault, damaged), line))
            except Enough:
                return False
            damaged = damaged or fault in self.damages
        return True


def run_together(
    session: FakeSession, *names: str, control: str = "none"
) -> tuple[together.Together, list[results.Result]]:
    some = [results.Result(fault(name=name, expect=("p2p.ring/*",), control=control), 2) for name in names]
    shared = together.Together(session, some)  # type: ignore[arg-type]
    shared.run()
    return shared, some


def test_faults_share_a_launch_and_each_is_caught_by_what_passes_without_it() -> None:
    session = FakeSession(lambda case, fault, damaged: "pass" if fault == "none" else "fail")
    shared, some = run_together(session, "one", "other")
    assert [bool(result.catches) for result in some] == [True, True]
    assert shared.repeated == {"one": True, "other": True}
    assert session.launched[0] == "together-smoke-1" and sorted(session.launched[1:]) == ["again-one", "again-other"]


def test_a_case_that_fails_without_the_fault_catches_nothing() -> None:
    session = FakeSession(lambda case, fault, damaged: "fail")
    shared, some = run_together(session, "one")
    assert not some[0].catches and not shared.repeated


def test_a_fault_of_a_model_is_compared_with_the_model() -> None:
    status = {"none": "unsupported", "model": "pass", "broken_model": "fail", "one": "fail"}
    for control, caught in (("none", False), ("model", True), ("broken_model", False)):
        session = FakeSession(lambda case, fault, damaged: status[fault])
        assert bool(run_together(session, "one", control=control)[1][0].catches) == caught


def test_what_a_fault_has_damaged_is_no_catch_of_the_next() -> None:
    # After `one` everything fails in its launch: `other` has to be run in a new one, where nothing catches it.
    session = FakeSession(lambda case, fault, damaged: "fail" if damaged or fault == "one" else "pass", damages=["one"])
    shared, some = run_together(session, "one", "other")
    assert some[0].catches and not some[1].catches
    assert session.launched.count("together-smoke-1") == 2


def test_a_catch_that_does_not_come_again_in_a_launch_of_its_own_is_none() -> None:
    # What the first fault leaves is no damage that a case without a fault sees, but makes the next fault's case fail.
    session = FakeSession(
        lambda case, fault, damaged: "fail" if fault == "one" or (damaged and fault == "other") else "pass",
        damages=["one"],
    )
    shared, some = run_together(session, "one", "other")
    assert shared.repeated == {"one": True, "other": False}
    assert some[0].catches and not some[1].catches


def test_what_kills_the_process_is_for_a_launch_of_its_own() -> None:
    session = FakeSession(lambda case, fault, damaged: "pass" if fault == "none" else "crash")
    crash = results.Result(fault(name="one", expect=("p2p.ring/*",), kind=("crash",)), 2)
    together.Together(session, [crash]).run()  # type: ignore[arg-type]
    assert not crash.catches and not session.launched
