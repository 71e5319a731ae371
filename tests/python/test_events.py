"""Event logs are read while they grow, cut off anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.supervision.events import Death, RankLog

TEXT = (
    'H {"rank":0,"size":1}\nS 0 100\nE 0 350 p\nS 1 400\nF 1 {"check":"data","level":"must","message":"ü\\n"}\n'
    "E 1 500 f\nS 2 600\nE 2 700 u needs 3 ranks\nS 3 800\nE 3 900 -\nS 4 1000\nW 4\n"
    'Q 4 1100 {"call":"MPI_Recv","in_mpi":true}\nX 4 1200 {"signal":"SIGSEGV"}\n'
)


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_reading_in_pieces(tmp_path: Path, step: int) -> None:
    unusual: set[int] = set()
    log = RankLog(tmp_path, 0, 5, unusual)
    assert log.read() == []  # no file yet
    data = TEXT.encode()
    ended = []
    with (tmp_path / "rank-0.events").open("ab", buffering=0) as file:
        for begin in range(0, len(data), step):
            file.write(data[begin : begin + step])
            ended += log.read()
    assert ended == [(0, 250), (1, 100), (2, 100), (3, 100)]
    assert log.hellos == [{"rank": 0, "size": 1}]
    assert unusual == {1, 2, 3}
    assert log.outcomes == {1: "f", 2: "u", 3: "-"}
    assert log.reasons == {2: "needs 3 ranks"}
    assert log.findings[1][0]["message"] == "ü\n"
    assert (log.open, log.last, log.position) == (4, 3, 4)
    assert log.answer == {"call": "MPI_Recv", "in_mpi": True}
    assert log.death == Death(4, 1200, {"signal": "SIGSEGV"})
    assert log.erroneous == 4
    assert not log.done
    assert log.malformed == 0
    log.close()


def test_lines_that_are_no_events_are_counted_and_left_out(tmp_path: Path) -> None:
    wrong = ["", "S 9 1", "S x 1", "E 0 5 p", "F 0 [1]", "X 0 1 {", "V 1", "W x", "S 0 1", "E 0 2 z", "E 1 2 p", "H 3"]
    lines = ["S 0 10", "E 0 20 p", *wrong, "D 30", "Z 40"]
    (tmp_path / "rank-0.events").write_text("".join(f"{line}\n" for line in lines))
    log = RankLog(tmp_path, 0, 2, set())
    assert log.read() == [(0, 10)]
    assert log.malformed == len(wrong)
    assert log.done
    assert log.finished
    assert log.death is None
    log.close()


def test_position_between_cases(tmp_path: Path) -> None:
    log = RankLog(tmp_path, 0, 2, set())
    assert log.position == 0
    (tmp_path / "rank-0.events").write_text("S 0 10\nE 0 20 p\n")
    log.read()
    assert (log.open, log.position) == (-1, 1)
    log.close()


PASSED = [line for index in range(40) for line in (f"S {index} {100 * index}", f"E {index} {101 * index} p")]


@pytest.mark.parametrize(
    ("odd", "cases"),
    [
        ({}, 40),
        ({7: "S 3 0"}, 39),
        ({7: "E 3 303 -"}, 40),
        ({6: "S 4 300", 7: "E 4 303 p"}, 39),  # case 4 twice, and no case 3
        ({7: "E 5 303 p"}, 39),  # of another case than it began
        ({6: "S 3 3x"}, 39),
        ({6: "S 3 300 p", 7: "E 3 303"}, 39),
        ({6: "E 3 303 p", 7: "S 3 300"}, 39),
        ({6: "S 03 300", 7: "E 03 303 p"}, 40),
        ({78: "S 40 3900", 79: "E 40 3939 p"}, 39),  # there are 40
    ],
)
def test_what_passed_is_read_at_once_and_as_line_by_line(tmp_path: Path, odd: dict[int, str], cases: int) -> None:
    lines = [odd.get(number, line) for number, line in enumerate(PASSED)]
    found = []
    for step in (1, 3, 40, 80):
        unusual: set[int] = set()
        log = RankLog(tmp_path / str(step), 0, 40, unusual)
        log.path.parent.mkdir()
        ended = []
        with log.path.open("a") as file:
            for begin in range(0, len(lines), step):
                file.write("".join(f"{line}\n" for line in lines[begin : begin + step]))
                file.flush()
                ended += log.read()
        found.append((ended, unusual, log.outcomes, log.open, log.last, log.malformed, log.events))
        log.close()
    assert found[1:] == found[:1] * 3
    assert len(found[0][0]) == cases
