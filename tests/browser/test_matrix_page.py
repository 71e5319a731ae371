"""matrix.html in a real browser: what its cells show, where they lead, its filters, a phone, the keyboard."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sample_matrix import ABSENT, LIBRARIES, NPS, write_matrix_sample
from test_report_page import CHROMIUM, HOSTILE, ask, chromium, in_scheme, width_on_a_phone, write_hostile

from reports.evidence import Evidence
from reports.matrix import Matrix, write_matrix

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("matrix")
    write_matrix_sample(out)
    return write_matrix([Evidence(out)], out / "matrix.html")


def test_cells_show_the_evidence_in_text_and_colour(page: Path, tmp_path: Path) -> None:
    answer = ask(
        page,
        tmp_path,
        """
        const grid = document.getElementById("grid");
        return {
            libraries: [...grid.querySelectorAll("th.library")].map((head) => [head.textContent, head.colSpan]),
            rows: [...grid.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim())),
            looks: [...grid.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) =>
                [cell.className, getComputedStyle(cell).backgroundColor])),
        };""",
    )
    matrix = Matrix([Evidence(page.parent)])
    assert answer["libraries"] == [[name, len(NPS)] for name in (*LIBRARIES, ABSENT)]
    assert [row[0] for row in answer["rows"]] == matrix.tests
    seen = set()
    for row, looks in zip(answer["rows"], answer["looks"], strict=True):
        for column, text, (look, colour) in zip(matrix.columns, row[1:], looks, strict=True):
            cell = matrix.cells[row[0]].get(column.number)
            if column.target.startswith(ABSENT):
                assert text == "could not run"
                continue
            assert cell is not None
            words = text.split()
            if not cell.ran:
                assert text == "– n/a"
            elif cell.passed == cell.ran:
                assert words == ["✓", str(cell.ran)]
            else:  # it must be told without colours: symbol, how many passed, what the others are
                assert words[:2] == [cell.symbol, f"{cell.passed}/{cell.ran}"] and words[0] != "✓"
                assert words[3] in ("fail", "crash", "timeout", "xpass", "known")
            seen.add((look.rpartition(" ")[2], colour))
    assert len({look for look, _ in seen}) == len({colour for _, colour in seen}) == 7  # xfail, n/a, pass, 4 bad ones


def test_a_cell_leads_to_what_failed_there(page: Path, tmp_path: Path) -> None:
    answer = ask(
        page,
        tmp_path,
        """
        const link = [...document.querySelectorAll("#grid a")].find((node) =>
            node.closest("td").title.startsWith("coll.reduce on openmpi@5.0.11/np4"));
        const place = document.getElementById(link.hash.slice(1));
        const before = place.checkVisibility();
        location.hash = link.hash;
        dispatchEvent(new Event("hashchange"));
        return { before, after: place.checkVisibility(), text: place.innerText, focus: document.activeElement === place,
                 example: place.querySelector("pre").checkVisibility(),
                 axes: place.closest("details").querySelector(".values").innerText,
                 copies: place.querySelectorAll(".copy").length,
                 dead: [...document.querySelectorAll("a[href^='#']")].filter((node) =>
                     !document.getElementById(node.hash.slice(1))).length };""",
    )
    assert not answer["before"] and answer["after"] and answer["focus"] and answer["example"]
    assert "SIGSEGV in MPI_Reduce" in answer["text"] and "comm=graph; every such case fails" in answer["text"]
    assert "./assay run --mpi openmpi@5.0.11 --np 4 --select" in answer["text"] and answer["copies"]
    assert re.search(r"graph\s+✓\s+✓\s+(\d+)/\1", answer["axes"])
    assert answer["dead"] == 0


def test_filters(page: Path, tmp_path: Path) -> None:
    answer = ask(
        page,
        tmp_path,
        """
        const shown = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
        const rows = () => shown("#grid tbody tr").map((row) => row.cells[0].textContent);
        const heads = () => [shown("#grid th.np").map((head) => head.textContent),
                             shown("#grid th.library").map((head) => head.colSpan)];
        const result = { all: rows(), heads: heads() };
        document.querySelector("[data-np='1']").click();
        result.four = heads();
        result.cells = shown("#grid tbody tr")[0].cells.length;
        result.seen = shown("#grid tbody tr:first-child td").length;
        document.querySelector("[data-np='']").click();
        result.again = heads();
        document.getElementById("unclean").click();
        result.unclean = rows();
        document.getElementById("unexpected").click();
        result.unexpected = rows();
        const search = document.getElementById("search");
        search.value = "proc";
        search.dispatchEvent(new Event("input"));
        result.found = rows();
        result.details = shown("#details > .test").map((node) => node.dataset.test);
        search.value = "no such test";
        search.dispatchEvent(new Event("input"));
        result.none = [rows().length, document.getElementById("none-left").checkVisibility()];
        return result;""",
    )
    libraries = len(LIBRARIES) + 1
    assert answer["heads"] == answer["again"] == [["np 2", "np 4"] * libraries, [2] * libraries]
    assert answer["four"] == [["np 4"] * libraries, [1] * libraries] and answer["seen"] == libraries
    assert answer["unclean"] == ["coll.reduce", "p2p.partner", "p2p.proc_null", "p2p.ring"]
    assert answer["unexpected"] == ["coll.reduce", "p2p.partner", "p2p.proc_null"]  # p2p.ring fails as known
    assert answer["found"] == answer["details"] == ["p2p.proc_null"]
    assert answer["none"] == [0, True]


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read_on_its_ground(page: Path, tmp_path: Path, dark: bool) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5, of 3 for bold text on the saturated colours of failures."""
    answer = ask(
        in_scheme(page, tmp_path, dark),
        tmp_path,
        """
        const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = (node) => { for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (!/, 0\\)$|transparent/.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
        document.querySelectorAll("details").forEach((node) => { node.open = true; });
        const poor = {};
        for (const node of document.querySelectorAll("main *, header *")) {
            if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
            if (!node.checkVisibility()) continue;
            const pair = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => b - a);
            const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
            const saturated = ".s-fail, .s-crash, .s-timeout, .s-lost, .s-xpass, .s-skip, .s-unsupported";
            if (ratio < (node.closest(saturated) ? 3 : 4.5)) poor[node.tagName + "." + node.className] = ratio;
        }
        return { poor, ground: getComputedStyle(document.body).backgroundColor };""",
    )
    assert answer["poor"] == {}
    assert answer["ground"] == ("rgb(19, 21, 24)" if dark else "rgb(251, 251, 250)")


def test_the_keyboard_reaches_everything(page: Path, tmp_path: Path) -> None:
    answer = ask(
        page,
        tmp_path,
        """
        const links = [...document.querySelectorAll("#grid a")];
        // The rule, not the look: a browser without a window shows no focus until it has one.
        const ring = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) =>
            rule.style && rule.style.boxShadow && rule.selectorText.includes(":focus-visible") &&
            links.every((link) => link.matches(rule.selectorText.replaceAll(":focus-visible", "")))).length;
        const closed = [...document.querySelectorAll("details")].filter((node) =>
            node.firstElementChild.tagName !== "SUMMARY").length;
        const regions = [...document.querySelectorAll(".scroll")].filter((node) =>
            node.tabIndex !== 0 || !node.getAttribute("aria-label")).length;
        const clickable = [...document.querySelectorAll("[onclick]")].length;
        return { links: links.length, tabs: links.every((link) => link.tabIndex === 0), ring, closed, regions,
                 clickable, pressed: document.querySelectorAll("#nps [aria-pressed=true]").length };""",
    )
    assert answer["links"] > 10 and answer["tabs"] and answer["ring"]
    assert (answer["closed"], answer["regions"], answer["clickable"], answer["pressed"]) == (0, 0, 0, 1)


def test_it_asks_the_network_for_nothing_and_runs_only_its_own_script(page: Path, tmp_path: Path) -> None:
    assert ask(page, tmp_path, 'return performance.getEntriesByType("resource").length') == 0
    text = page.read_text()
    assert not re.search(r"<link|<img|<iframe|@import|url\(|src=", text.partition('id="known"')[0])
    write_hostile(tmp_path)
    answer = ask(
        write_matrix([Evidence(tmp_path)], tmp_path / "matrix.html"),
        tmp_path,
        """
        document.querySelectorAll("button:not(.copy)").forEach((button) => button.click());
        document.querySelectorAll("details").forEach((node) => { node.open = true; });
        return { hacked: window.hacked === undefined ? "no" : "yes", images: document.images.length,
                 scripts: document.scripts.length, shown: document.body.textContent,
                 links: [...document.links].filter((link) => !link.getAttribute("href").startsWith("#")).length };""",
    )
    assert answer["hacked"] == "no"
    assert (answer["images"], answer["scripts"], answer["links"]) == (0, 2, 0)  # the page's, and this test's
    assert HOSTILE.split("\x1b")[0] in answer["shown"]


def test_it_fits_a_phone(page: Path, tmp_path: Path) -> None:
    opened = "inner.querySelectorAll('details').forEach((node) => { node.open = true; });"
    assert width_on_a_phone(page, tmp_path, opened) == 375


def test_without_its_script_the_page_still_tells_everything(page: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.html"
    bare.write_text(re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL))
    text = bare.read_text()
    assert "SIGSEGV in MPI_Reduce" in text and "<details" in text and 'href="#d-' in text
    png = tmp_path / "bare.png"
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run([*command, f"--screenshot={png}", bare.as_uri()], timeout=600, check=True, capture_output=True)
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_phone_shows_what_each_number_is(page: Path, tmp_path: Path) -> None:
    frame = tmp_path / "frame.html"  # chromium makes no window narrower than 500 px; a frame may be
    shutil.copy(page, tmp_path / "matrix.html")
    frame.write_text(
        "<iframe src=matrix.html style='width:420px;height:900px;border:0'></iframe><script>onload = () => {"
        "const inside = document.querySelector('iframe').contentDocument;"
        "const cells = [...inside.querySelectorAll('#libraries tbody tr')[0].querySelectorAll('td')];"
        "const label = (cell) => inside.defaultView.getComputedStyle(cell, '::before').content;"
        "document.title = cells.map(label).join('') + ' ' + inside.documentElement.scrollWidth; }</script>"
    )
    dom = chromium(tmp_path / "profile", "--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    title = re.search(r"<title>(.*?)</title>", dom)
    labels = "np ran passed unexpected known unsupported says 420"
    assert title and re.sub(r"[^a-z0-9]+", " ", html.unescape(title[1])).strip() == labels
