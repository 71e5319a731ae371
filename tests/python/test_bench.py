"""assay bench harness: from rounds to microseconds."""

import pytest

from runner.commands import bench


def span(kind: str, cases: int, cpu: list[float], wall: list[float]) -> dict[str, object]:
    return {"kind": kind, "cases": cases, "cpu": cpu, "wall": wall}


def test_costs_are_microseconds_a_case_and_rank() -> None:
    measured = bench.costs(
        [
            span("empty", 1000, [0.003, 0.005], [0.006, 0.010]),
            span("self", 500, [0.004, 0.004], [0.005, 0.005]),
            span("bare_self", 500, [0.001, 0.001], [0.002, 0.001]),
            span("empty", 1000, [0.002, 0.002], [0.004, 0.004]),
            span("self", 500, [0.003, 0.003], [0.004, 0.004]),
            span("bare_self", 500, [0.001, 0.001], [0.001, 0.001]),
        ]
    )
    assert measured["empty"]["cpu"] == pytest.approx({"min": 2.0, "median": 3.0})
    assert measured["empty"]["wall"] == pytest.approx({"min": 4.0, "median": 7.0})
    assert measured["self beyond"]["cpu"] == pytest.approx({"min": 4.0, "median": 5.0})
    assert bench.cost(measured) == pytest.approx(5.0)
