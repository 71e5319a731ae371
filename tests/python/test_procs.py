"""What a busy machine does to time budgets."""

import os

import pytest

from runner import procs


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
