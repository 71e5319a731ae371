"""assay reproduce: from lines to verdicts, the entries, and the command with programs that only say numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.reproduce import number
from runner import cli
from runner.commands import reproduce
from runner.commands.network import Network, Unsupported
from runner.commands.reproduce import HOLDS, HOLDS_NOT, Claim, Entry
from runner.libraries import build
from runner.model import CannotRun, WrongUse

REPO = Path(__file__).resolve().parents[2]
TIMES = Claim("tuned", "slow", 9.0, over="fast", least=5, most=20)


def entry(*claims: Claim, name: str = "one-entry", program: str = "experiment") -> Entry:
    return Entry(name, "A. Nonymous, 1999", "what it is", program, claims or (TIMES,))


def test_ratios_are_made_within_a_round_and_the_median_counts() -> None:
    rounds = [{"slow": 90.0, "fast": 10.0}, {"slow": 20.0, "fast": 2.0}, {"slow": 1.0, "fast": 100.0}]
    assert TIMES.ours(rounds) == 9.0
    assert Claim("alone", "slow", 1.0, "ms", least=1).ours(rounds) == 20.0


@pytest.mark.parametrize(
    ("least", "most", "ours", "verdict", "criterion"),
    [
        (5, None, 5.0, HOLDS, "at least 5"),
        (5, None, 4.9, HOLDS_NOT, "at least 5"),
        (None, 1.5, 1.5, HOLDS, "at most 1.5"),
        (None, 1.5, 1.6, HOLDS_NOT, "at most 1.5"),
        (38, 52, 44.0, HOLDS, "38 to 52"),
        (38, 52, 37.0, HOLDS_NOT, "38 to 52"),
        (38, 52, 53.0, HOLDS_NOT, "38 to 52"),
        (0, 1, -0.1, HOLDS_NOT, "0 to 1"),
    ],
)
def test_a_claim_holds_between_its_bounds(
    least: float | None, most: float | None, ours: float, verdict: str, criterion: str
) -> None:
    claim = Claim("it", "value", 1.0, least=least, most=most)
    assert (claim.verdict(ours), claim.criterion) == (verdict, criterion)


def test_an_entry_holds_when_all_its_claims_do() -> None:
    rounds = [{"slow": 10.0, "fast": 1.0}]
    too_much = Claim("too much", "slow", 1.0, "ms", most=3)
    assert reproduce.judge(entry(), rounds)["verdict"] == HOLDS
    found = reproduce.judge(entry(TIMES, too_much), rounds)
    assert found["verdict"] == HOLDS_NOT
    assert [claim["verdict"] for claim in found["claims"]] == [HOLDS, HOLDS_NOT]
    assert found["claims"][0]["ours"] == 10.0
    assert found["values"] == {"slow": 10.0, "fast": 1.0}


def test_a_number_that_is_missing_is_no_verdict() -> None:
    with pytest.raises(CannotRun, match="no number 'fast'.*tuned"):
        reproduce.judge(entry(), [{"slow": 1.0}])
    with pytest.raises(CannotRun, match="fast was measured as 0"):
        reproduce.judge(entry(), [{"slow": 1.0, "fast": 0.0}])


def test_entries_name_programs_that_are_built_and_criteria(tmp_path: Path) -> None:
    built = (REPO / "transports" / "CMakeLists.txt").read_text()
    names = [one.name for one in reproduce.entries()]
    assert {"struck-stalls", "struck-bulk", "struck-framing", "struck-framing-tcp", "keller-streams"} <= set(names)
    for one in reproduce.entries():
        experiment = one.program.removeprefix("assay-reproduce-")
        assert (REPO / "bench" / "reproduce" / f"{experiment}.cpp").is_file(), one.name
        assert experiment in built, one.name
        assert one.claims and one.source, one.name
    empty = tmp_path / "entries.toml"
    empty.write_text('[x]\nsource="s"\nabout="a"\nprogram="p"\n[[x.claim]]\ntext="t"\nvalue="v"\ntheirs=1\n')
    with pytest.raises(ValueError, match="neither least nor most"):
        reproduce.entries(empty)


def test_globs_choose_entries() -> None:
    all_ = [entry(name="struck-stalls"), entry(name="struck-bulk"), entry(name="other")]
    assert [one.name for one in reproduce.chosen((), all_)] == ["struck-stalls", "struck-bulk", "other"]
    assert [one.name for one in reproduce.chosen(("struck-*",), all_)] == ["struck-stalls", "struck-bulk"]
    with pytest.raises(WrongUse, match="did you mean struck-bulk"):
        reproduce.chosen(("other", "struck-bluk"), all_)


def test_a_network_is_told_to_the_program() -> None:
    made = Network("here", "there", 2)
    assert made.environment["ASSAY_HERE"] == "10.231.0.1,10.231.1.1"
    assert made.environment["ASSAY_THERE"] == "10.231.0.2,10.231.1.2"
    assert made.inside(["program", "word"]) == ["ip", "netns", "exec", "here", "program", "word"]


class Experiments:
    """Programs that say what they are told to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setattr(build, "transports", lambda *_, **__: folder)

    def program(self, script: str) -> None:
        path = self.folder / "experiment"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiments:
    monkeypatch.setattr(reproduce, "entries", lambda: [entry()])
    return Experiments(tmp_path, monkeypatch)


def test_the_command_prints_a_table_and_ends_with_0(
    experiments: Experiments, capsys: pytest.CaptureFixture[str]
) -> None:
    experiments.program("echo slow 100; echo fast 10")
    assert cli.main(["reproduce", "--rounds", "2"]) == 0
    out = capsys.readouterr().out
    assert "A. Nonymous, 1999" in out and "5 to 20" in out and "9.00 ×" in out and "10.0 ×" in out
    assert "the shape holds" in out
    experiments.program("echo slow 100; echo fast 100")
    assert cli.main(["reproduce", "one-*"]) == 0
    assert "the shape does not hold" in capsys.readouterr().out


def test_the_command_prints_json(experiments: Experiments, capsys: pytest.CaptureFixture[str]) -> None:
    experiments.program("echo slow 100; echo fast 10")
    assert cli.main(["reproduce", "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] == 1
    assert found["entries"][0]["claims"] == [
        {
            "text": "tuned",
            "unit": "×",
            "theirs": 9.0,
            "ours": 10.0,
            "criterion": "5 to 20",
            "verdict": HOLDS,
        }
    ]


def test_what_the_machine_cannot_do_is_unsupported(
    experiments: Experiments, capsys: pytest.CaptureFixture[str]
) -> None:
    experiments.program("echo experiment: there is no provider sockets >&2; exit 77")
    assert cli.main(["reproduce"]) == 77
    assert "unsupported: experiment: there is no provider sockets" in capsys.readouterr().out


def test_a_program_that_fails_is_no_verdict(experiments: Experiments, capsys: pytest.CaptureFixture[str]) -> None:
    experiments.program("echo slow 1; echo broken >&2; exit 1")
    assert cli.main(["reproduce"]) == 3
    assert "one-entry: experiment ended with 1: broken" in capsys.readouterr().err
    experiments.program("echo slow one")
    assert cli.main(["reproduce"]) == 3
    assert "no lines of a name and a number" in capsys.readouterr().err


def test_bad_input_is_2(experiments: Experiments, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "one-entri"]) == 2
    assert "did you mean one-entry" in capsys.readouterr().err
    assert cli.main(["reproduce", "two-*"]) == 2
    assert cli.main(["reproduce", "--rounds", "0"]) == 2


def test_the_list_has_the_criteria(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--list", "struck-*"]) == 0
    out = capsys.readouterr().out
    assert "struck-stalls" in out and "38 to 52 ms (theirs 44.0 ms)" in out
    assert cli.main(["reproduce", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["claims"][0]["least"] == 38


def test_numbers_have_their_unit() -> None:
    assert [number(value, "ms") for value in (5176.99, 44.0, 0.994)] == ["5,177 ms", "44.0 ms", "0.99 ms"]
    assert number(None, "ms") == "–"


def test_a_network_without_root_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.commands import network

    monkeypatch.setattr(network.os, "geteuid", lambda: 1000)
    with pytest.raises(Unsupported, match="needs root"), network.network(network.Shape()):
        pass
