"""abi.html in a real browser: what it shows, by day and by night, and that hostile text does nothing."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from test_abi import sample
from test_report_page import CHROMIUM, HOSTILE, ask, in_scheme, width_on_a_phone

from reports.abi import write_page

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium: apt-get install chromium")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return write_page(sample(), {"host": "here", "cpu": "a processor"}, "./assay abi", tmp_path / "abi.html")


def test_differences_and_pairs(page: Path, tmp_path: Path) -> None:
    answer = ask(
        page,
        tmp_path,
        """
        const texts = (row) => [...row.children].map((cell) => cell.innerText.trim());
        const tables = [...document.querySelectorAll("table")].map((table) =>
            [...table.querySelectorAll("tbody tr")].map(texts));
        return { tables, dot: getComputedStyle(document.querySelector("h1"), "::before").backgroundColor,
                 failed: getComputedStyle(document.querySelector(".tag.s-fail")).backgroundColor };""",
    )
    differences, runs, told = answer["tables"]
    assert [row[0] for row in differences] == ["differs", "known", "advisory"]
    assert differences[0][1:] == ["3.2.1", "exported procedures", "MPI_Send is not in the library"]
    assert "a reason · known/reproducers/x.c" in differences[1][3]
    assert runs == [["impi@2021.19.0", "runs", "does not run"], ["mpich@5.0.2", "runs when renamed", ""]]
    assert [row[0] for row in told] == ["differs", "advisory"]
    assert answer["dot"] == answer["failed"]  # the title says at a glance that something differs


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read_on_its_ground(page: Path, tmp_path: Path, dark: bool) -> None:
    answer = ask(
        in_scheme(page, tmp_path, dark),
        tmp_path,
        """
        const light = (colour) => {
            const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
                .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (node) => {
            for (; node; node = node.parentElement) {
                const colour = getComputedStyle(node).backgroundColor;
                if (!/, 0\\)|transparent/.test(colour)) return colour;
            }
            return "rgb(255, 255, 255)";
        };
        const contrasts = [...document.querySelectorAll("main *, header *")]
            .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()))
            .map((node) => {
                const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
                return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.tagName, node.innerText];
            }).sort((a, b) => a[0] - b[0]);
        return { least: contrasts[0], number: contrasts.length, ground: ground(document.body) };""",
    )
    assert answer["ground"] == ("rgb(19, 21, 24)" if dark else "rgb(251, 251, 250)")
    assert answer["number"] > 40 and answer["least"][0] >= 3, answer["least"]


def test_hostile_text_does_nothing_and_it_fits_a_phone(tmp_path: Path) -> None:
    found: Any = copy.deepcopy(sample())
    library = found["libraries"][0]
    library.update(mpi=HOSTILE, header=HOSTILE, header_of=HOSTILE, not_checked=[HOSTILE])
    library["differences"] = [dict.fromkeys(one, HOSTILE) | {"status": one["status"]} for one in library["differences"]]
    found["pairs"] = [{"built_for": HOSTILE, "runs_on": HOSTILE, "differences": library["differences"][:1]}]
    page = write_page(found, {"host": HOSTILE}, HOSTILE, tmp_path / "abi.html")
    answer = ask(
        page,
        tmp_path,
        """return { hacked: window.hacked === undefined ? "no" : "yes", images: document.images.length,
                    links: document.links.length, asked: performance.getEntriesByType("resource").length };""",
    )
    assert answer == {"hacked": "no", "images": 0, "links": 0, "asked": 0}
    plain = write_page(sample(), {}, "./assay abi", tmp_path / "plain.html")
    assert width_on_a_phone(plain, tmp_path) == 375
