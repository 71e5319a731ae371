"""Who is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runner.supervision.events import RankLog
from runner.supervision.judge import Blame, Dead, Merge, charged, crashed, ended, finished, last_speakers, stuck

SEGV = {"signal": "SIGSEGV", "call": "MPI_Send", "in_mpi": True}
TERM = {"signal": "SIGTERM"}
EXIT = {"exit": 1}


def dead(rank: int, index: int, time: int, detail: dict[str, Any] | None, first: bool = True) -> Dead:
    return Dead(rank, index, time, first, detail)


def blamed(*deaths: Dead, np: int = 3, killed_at: int | None = None) -> tuple[int, list[int]] | None:
    blame = crashed(deaths, np, killed_at)
    return (blame.index, [entry["rank"] for entry in blame.ranks]) if blame else None


def test_signal_of_its_own_beats_those_that_were_ended() -> None:
    assert blamed(dead(0, 5, 1, TERM), dead(1, 7, 2, SEGV), dead(2, 6, 3, None)) == (7, [1])


def test_earliest_case_is_charged_with_all_its_culprits() -> None:
    assert blamed(dead(0, 7, 1, SEGV), dead(1, 5, 2, SEGV), dead(2, 5, 3, SEGV)) == (5, [1, 2])


def test_abort_after_the_loss_of_a_peer_is_a_consequence() -> None:
    assert blamed(dead(0, 5, 9, EXIT), dead(1, 7, 2, SEGV)) == (7, [1])
    assert blamed(dead(0, 5, 9, EXIT), dead(1, 7, 2, EXIT)) == (7, [1])
    assert blamed(dead(0, 5, 9, {"signal": "SIGABRT"}), dead(1, 7, 2, SEGV)) == (7, [1])
    assert blamed(dead(0, 5, 9, EXIT), dead(1, 5, 12, EXIT)) == (5, [0])


def test_who_says_why_it_leaves_is_blamed_before_who_is_told_to() -> None:
    def rank(*deaths: Dead, said: Sequence[tuple[int, int, str]]) -> int:
        blame = crashed(deaths, 3, None, said)
        assert blame
        return int(blame.ranks[0]["rank"])

    told, aborts = dead(2, 5, 1, {"exit": 19}), dead(0, 5, 2, {"exit": 19})
    words = [(0, 5, "Abort(19) on node 0")]
    assert rank(told, aborts, said=words) == 0
    assert rank(told, aborts, said=[]) == 2
    assert rank(told, aborts, said=[*words, (2, 5, "Abort(19) on node 2")]) == 2  # both say why: the first
    assert rank(dead(2, 5, 1, {"exit": 3}), aborts, said=words) == 2  # of another exit code: for a reason of its own
    assert rank(dead(2, 4, 1, {"exit": 19}), aborts, said=words) == 2
    assert rank(dead(2, 5, 1, SEGV), aborts, said=words) == 2


def test_first_silent_death_is_blamed_when_others_went_on() -> None:
    assert blamed(dead(1, 4, 1, None), dead(0, 4, 2, None, first=False)) == (4, [1])
    assert blamed(dead(1, 4, 1, None), dead(0, 4, 1, TERM)) == (4, [1])
    assert blamed(dead(1, 4, 1, TERM), dead(0, 4, 2, None, first=False)) == (4, [1])


def test_nobody_is_blamed() -> None:
    assert blamed(dead(0, 4, 1, None), dead(1, 4, 1, None), np=2) is None  # all at once
    assert blamed(dead(0, 4, 1, None, first=False)) is None  # after the launcher
    assert blamed(dead(1, 4, 1, None), killed_at=0) is None
    assert blamed(dead(1, 4, 5, EXIT), killed_at=3) is None  # for want of the launcher
    assert blamed(dead(1, -1, 5, SEGV)) is None  # outside any case
    assert blamed() is None


def test_own_end_before_that_of_the_launcher() -> None:
    assert blamed(dead(1, 4, 2, EXIT), killed_at=3) == (4, [1])
    assert blamed(dead(1, 4, 5, SEGV), killed_at=3) == (4, [1])


def test_who_spoke_last_is_blamed_when_all_spoke_of_one_case() -> None:
    deaths = [dead(0, 4, 1, None), dead(1, 4, 1, None)]
    one, other = (0, 4, "Fatal error\nAbort(19) on node 0\n"), (1, 4, "Abort(19) on node 1")
    blame = last_speakers(deaths, [one, other])
    assert blame is not None and blame.index == 4 and [entry["rank"] for entry in blame.ranks] == [0, 1]
    assert blame.reason == (
        "rank 0: ended after it wrote: Abort(19) on node 0; rank 1: ended after it wrote: Abort(19) on node 1"
    )
    assert last_speakers(deaths, [one, (1, 5, "Abort(19) on node 1")]) is None  # of which is the other a consequence?
    assert last_speakers(deaths, []) is None
    assert last_speakers([dead(0, 4, 1, SEGV), deaths[1]], [one]) is None  # that one has said how it died
    told = last_speakers([dead(0, 5, 1, EXIT), dead(1, 4, 2, None)], [other])  # the library passes an abort on
    assert told is not None and (told.index, [entry["rank"] for entry in told.ranks]) == (4, [1])
    assert last_speakers([dead(0, 5, 1, EXIT), dead(1, 4, 2, None)], [other, (0, 5, "Fatal error")]) is None
    assert last_speakers([dead(0, 4, 1, EXIT), dead(1, 4, 2, None)], [other]) is None
    assert last_speakers([dead(0, 5, 1, SEGV), dead(1, 4, 2, None)], [other]) is None


def logs(tmp_path: Path, *texts: str) -> list[RankLog]:
    unusual: set[int] = set()
    made = []
    for rank, text in enumerate(texts):
        (tmp_path / f"rank-{rank}.events").write_text(text)
        made.append(RankLog(tmp_path, rank, 10, unusual))
        made[-1].read()
        made[-1].close()
    return made


def test_stuck_blames_the_silent_then_those_outside_mpi_then_all(tmp_path: Path) -> None:
    inside = 'S 0 1\nQ 0 2 {"call":"MPI_Recv","in_mpi":true,"stack":[]}\n'
    outside = 'S 0 1\nQ 0 2 {"call":"MPI_Recv","in_mpi":false,"stack":[]}\n'
    ahead = 'S 0 1\nE 0 2 p\nS 1 3\nQ 1 4 {"call":"MPI_Send","in_mpi":false,"stack":[]}\n'

    def of(*texts: str) -> list[int]:
        blame = stuck(logs(tmp_path, *texts), range(len(texts)), 0, "9 s")
        assert blame.status == "timeout"
        assert {entry["status"] for entry in blame.ranks} == {"timeout"}
        return [entry["rank"] for entry in blame.ranks]

    assert of(inside, outside, "S 0 1\n", ahead) == [2]
    assert of(inside, outside, ahead) == [1]
    assert of(inside, inside, ahead) == [0, 1]


def test_finished_takes_the_worst_of_all_ranks(tmp_path: Path) -> None:
    must = 'F 0 {"level":"must","message":"bad","check":"data"}\n'
    advice = 'F 0 {"level":"advisory","message":"poor","check":"leftover"}\n'

    def of(*bodies: str, strict: bool = False) -> tuple[str, dict[str, Any]]:
        return finished(logs(tmp_path, *[f"S 0 1\n{body}\n" for body in bodies]), 0, strict)

    assert of("E 0 2 p", "E 0 2 -") == ("pass", {})
    assert of("E 0 2 -", "E 0 2 -")[0] == "skip"
    assert of("E 0 2 p", "E 0 2 u no memory") == ("unsupported", {"reason": "no memory"})
    assert of("E 0 2 s why", "E 0 2 p") == ("skip", {"reason": "why"})
    assert of("E 0 2 u no", "E 0 2 f") == (
        "fail", {"ranks": [{"rank": 1, "status": "fail"}], "reason": "rank 1: failed"},
    )  # fmt: skip
    assert of(must + "E 0 2 f", must + "E 0 2 f")[1]["reason"] == "rank 0: bad (also on rank 1)"
    assert of(must + "E 0 2 p", "E 0 2 p")[0] == "fail"  # a finding is never dropped
    status, extra = of(advice + "E 0 2 p", "E 0 2 p")
    assert (status, list(extra)) == ("pass", ["advisory"])
    assert of(advice + "E 0 2 f", "E 0 2 p", strict=True)[1]["ranks"][0]["message"] == "poor"
    many = of(must * 25 + "E 0 2 f", "E 0 2 p")[1]["ranks"]
    assert len(many) == 21
    assert many[-1]["message"] == "5 more findings are in rank-0.events"


def test_a_trap_behind_an_erroneous_call_is_advisory(tmp_path: Path) -> None:
    must = 'F 0 {"level":"must","message":"bad","check":"data"}\n'
    trap, left = {"rank": 0, "status": "crash", **SEGV}, {"rank": 0, "status": "exit", **EXIT}

    def of(first: str, *deaths: dict[str, Any], second: str = "", strict: bool = False) -> tuple[str, dict[str, Any]]:
        blame = Blame(0, "crash", "rank 0: SIGSEGV", list(deaths))
        return charged(logs(tmp_path, f"S 0 1\n{first}", f"S 0 1\n{second}"), blame, strict)

    status, extra = of("W 0\n", trap)
    assert (status, list(extra)) == ("pass", ["advisory"])
    assert extra["advisory"] == [{**trap, "message": "a trap after an erroneous call, which need not be handled"}]
    crash = {"ranks": [trap], "reason": "rank 0: SIGSEGV"}
    assert of("", trap) == ("crash", crash)
    assert of("W 0\n", trap, strict=True) == ("crash", crash)
    assert of("E 0 2 p\nS 1 3\nW 1\n", trap)[0] == "crash"  # that was said in another case
    assert of("", trap, second="W 0\n")[0] == "crash"  # and by another rank
    assert of("W 0\n", left)[0] == "crash"  # it was noticed
    assert of("W 0\n", trap, {**trap, "rank": 1})[0] == "crash"
    assert of("W 0\n", trap, {**trap, "rank": 1}, second="W 0\n")[0] == "pass"
    assert of("W 0\n", trap, second=must + "E 0 2 f\n")[0] == "fail"


def test_a_job_that_had_to_end_may_do_so_by_a_trap_behind_an_erroneous_call(tmp_path: Path) -> None:
    crash = 'A 2 {}\nX 0 3 {"signal":"SIGSEGV","call":"MPI_Init"}\n'
    assert ended(logs(tmp_path, "S 0 1\n" + crash), None, False)[0] == "crash"
    status, extra = ended(logs(tmp_path, "S 0 1\nW 0\n" + crash), None, False)
    assert (status, [entry["signal"] for entry in extra["advisory"]]) == ("pass", ["SIGSEGV"])
    assert ended(logs(tmp_path, "S 0 1\nW 0\n" + crash), None, True)[0] == "crash"


def test_merge_waits_for_all_ranks() -> None:
    merge = Merge(3, 2)
    assert merge.add([(0, 5), (1, 7)]) == []
    assert merge.add([(0, 9)]) == [0]
    assert merge.add([(1, 1), (2, 1)]) == [1]
    assert merge.longest == [9, 7, 1]
