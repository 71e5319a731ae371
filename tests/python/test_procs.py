"""What a busy machine does to time budgets, and to those who watch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.model import Launch
from runner.supervision import procs


@pytest.mark.parametrize(
    ("load_per_core", "oversubscription", "factor"),
    [(0.1, 1.0, 1.0), (0.1, 2.0, 2.0), (3.0, 2.0, 3.0), (120.0, 2.0, procs.MOST_LOAD)],
)
def test_budgets_grow_with_load_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, load_per_core: float, oversubscription: float, factor: float
) -> None:
    cores = os.cpu_count() or 1
    monkeypatch.setattr(os, "getloadavg", lambda: (load_per_core * cores, 0.0, 0.0))
    assert procs.busyness(oversubscription) == pytest.approx(factor)


def test_who_watches_goes_first_but_not_what_is_watched() -> None:
    before = os.sched_getscheduler(0)
    trial = [sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))"]
    permitted = subprocess.run(trial, capture_output=True, check=False).returncode == 0
    with procs.going_first():
        ask = [sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"]
        assert int(subprocess.run(ask, capture_output=True, text=True, check=True).stdout) == os.SCHED_OTHER
        now = os.sched_getscheduler(0)
    assert os.sched_getscheduler(0) == before
    assert now == (os.SCHED_RR | os.SCHED_RESET_ON_FORK if permitted else before)


def test_sleeps_of_what_is_watched_are_as_long_as_ever(tmp_path: Path) -> None:
    with procs.going_first():
        guarded = procs.Guarded(Launch(["cat", "/proc/self/timerslack_ns"], {}), tmp_path)
        try:
            assert procs.wait_for([guarded.fd], 60.0)
            guarded.listen()
        finally:
            guarded.end()
    assert guarded.ended == "exit 0"
    assert (tmp_path / "stdout").read_text() == "50000\n"


def test_nothing_changes_where_it_is_not_permitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    before = os.sched_getscheduler(0)
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with procs.going_first():
        assert os.sched_getscheduler(0) == before
