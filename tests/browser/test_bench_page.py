"""transports.html in a real browser: lines in the frame, a legend of the same colours, nothing refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_report_page import CHROMIUM, ask

from reports.bench import write_page
from runner.commands.bench_transports import Point, derived

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium: apt-get install chromium")
SPEEDS = {"own": 1.0, "assay_tcp": 6.0, "raw_tcp": 4.0}


def test_each_transport_is_a_line_of_its_colour(tmp_path: Path) -> None:
    measured = []
    for name, slow in SPEEDS.items():
        points = [
            Point(8 << k, slow * (1 + (1 << k) / 1000), (8 << k) / (slow * (1 + (1 << k) / 1000))) for k in range(18)
        ]
        measured.append({"name": name, "points": [vars(point) for point in points], **derived(points)})
    found = {"mpi": "mpich@5.0.2", "rounds": 5, "transports": measured, "ratios": []}
    page = write_page(found, {"cores": 2}, "./assay bench transports", tmp_path / "transports.html")
    answer = ask(
        page,
        tmp_path,
        """
        const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
        return [...document.querySelectorAll("svg.plot")].map((plot) => ({
            inside: [...plot.querySelectorAll("polyline")].every((line) =>
                inside(line.getBoundingClientRect(), plot.getBoundingClientRect())),
            tall: [...plot.querySelectorAll("polyline")].every((line) => line.getBoundingClientRect().height > 20),
            colours: [...plot.querySelectorAll("polyline")].map((line) => getComputedStyle(line).stroke),
            legend: [...plot.nextElementSibling.querySelectorAll("span")].map((entry) =>
                [entry.innerText.trim(), getComputedStyle(entry.querySelector("i")).backgroundColor]),
        }));""",
    )
    assert len(answer) == 2
    for plot in answer:
        assert plot["inside"] and plot["tall"]
        assert len(set(plot["colours"])) == len(SPEEDS)
        assert plot["legend"] == [[name, colour] for name, colour in zip(SPEEDS, plot["colours"], strict=True)]
