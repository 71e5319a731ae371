"""abi.html in a real browser: what it shows, by day and by night, and that hostile text does nothing."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_abi import sample
from test_report_page import CHROMIUM, HOSTILE, ask, chromium

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
    text = page.read_text()
    if dark:  # the preference of a headless browser cannot be set from outside
        assert text.count("@media (prefers-color-scheme: dark)") == 1
        text = text.replace("@media (prefers-color-scheme: dark)", "@media all")
    scheme = tmp_path / "scheme.html"
    scheme.write_text(text)
    answer = ask(
        scheme,
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
    frame = tmp_path / "frame.html"
    shutil.copy(write_page(sample(), {}, "./assay abi", tmp_path / "plain.html"), tmp_path / "abi.html")
    width = "document.querySelector('iframe').contentDocument.documentElement.scrollWidth"
    frame.write_text(
        "<iframe src=abi.html style='width:375px;height:800px;border:0'></iframe>"
        f"<script>onload = () => {{ document.title = 'width ' + {width}; }}</script>"
    )
    dom = chromium(tmp_path / "profile", "--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    assert "<title>width 375</title>" in dom
