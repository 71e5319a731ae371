"""report.html in a real browser (Debian's chromium, headless): what it draws, how its filters act, that it asks the
network for nothing and that hostile evidence does nothing.

The script of a test is added to a copy of the page, allowed by its own hash beside that of the page's script, and
leaves its answer as JSON in the document that `--dump-dom` prints.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sample_run import TARGETS, write_sample
from test_reports import HOSTILE, write_hostile

from reports.evidence import Evidence, parse_case
from reports.html import write_html
from runner.model import NOT_RUN

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium: apt-get install chromium")
SWITCHES = str.split(
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --hide-scrollbars"
)


def chromium(profile: Path, *arguments: str) -> str:
    command = [str(CHROMIUM), *SWITCHES, f"--user-data-dir={profile}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


def ask(page: Path, tmp_path: Path, script: str) -> Any:
    """The value that the body `script` of a function returns in the browser, as JSON."""
    code = f"""
    let answer;
    try {{ answer = (() => {{ {script} }})(); }} catch (error) {{ answer = {{ error: String(error) }}; }}
    const node = document.createElement("output");
    node.id = "answer";
    node.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(answer))));
    document.body.append(node);"""
    allowed = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    text = page.read_text()
    assert text.count("script-src 'sha256-") == 1
    text = text.replace("script-src 'sha256-", f"script-src 'sha256-{allowed}' 'sha256-")
    copy = tmp_path / "asked.html"
    copy.write_text(text.replace("</body>", f"<script>{code}</script></body>"))
    dom = chromium(tmp_path / "profile", "--dump-dom", copy.as_uri())
    found = re.search(r'<output id="answer">([^<]*)</output>', dom)
    assert found, "the script of the test did not run to its end"
    answer = json.loads(base64.b64decode(html.unescape(found[1])))
    assert not (isinstance(answer, dict) and "error" in answer), answer
    return answer


def in_scheme(page: Path, tmp_path: Path, dark: bool) -> Path:
    """A copy that has the colours of one scheme: the preference of a headless browser cannot be set from outside."""
    text = page.read_text()
    if dark:
        assert text.count("@media (prefers-color-scheme: dark)") == 1
        text = text.replace("@media (prefers-color-scheme: dark)", "@media all")
    copy = tmp_path / "scheme.html"
    copy.write_text(text)
    return copy


def width_on_a_phone(page: Path, tmp_path: Path, prepare: str = "") -> int:
    """How wide, in pixels, the page is in a window of 375; `prepare` is a script that may open parts (`inner`)."""
    shutil.copy(page, tmp_path / "framed.html")
    frame = tmp_path / "frame.html"  # chromium makes no window narrower than 500 px; a frame may be
    script = f"""
        const inner = document.querySelector('iframe').contentDocument;
        {prepare}
        document.title = 'width ' + inner.documentElement.scrollWidth;"""
    frame.write_text(
        "<iframe src=framed.html style='width:375px;height:800px;border:0'></iframe>"
        f"<script>onload = () => {{ {script} }}</script>"
    )
    dom = chromium(tmp_path / "profile", "--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    found = re.search(r"<title>width (\d+)</title>", dom)
    assert found, "the frame was not measured"
    return int(found[1])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample")
    write_sample(out, 10_000)
    write_html(Evidence(out))
    return out


READ_CELLS = """
    const read = () => [...document.querySelectorAll("#matrix tbody tr")].flatMap((row) =>
        [...row.querySelectorAll("td")].map((td, column) => [
            row.querySelector("th").textContent,
            document.querySelectorAll("#matrix thead th")[column + 1].textContent,
            td.textContent, td.className]));
"""


def cells(evidence: Evidence, axis: str, targets: tuple[str, ...]) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for target in targets:
        for name, entry in evidence.cases[target].items():
            case = parse_case(name)
            if axis in case.axes:
                found.setdefault((case.test, case.axes[axis]), Counter())[entry.status] += 1
    return found


def test_cells_show_the_evidence(sample: Path, tmp_path: Path) -> None:
    answer = ask(
        sample / "report.html",
        tmp_path,
        READ_CELLS
        + """
        const tabs = () => [...document.querySelectorAll("#axes button")];
        const result = {};
        for (const target of ["", ...data.targets]) {
            document.querySelector(`[data-switch="${target}"]`).click();
            for (const name of tabs().map((tab) => tab.textContent)) {
                tabs().find((tab) => tab.textContent === name).click();
                result[target + " " + name] = read();
            }
        }
        return result;""",
    )
    evidence = Evidence(sample)
    compared = 0
    first = answer[f"{TARGETS[0]} type"][0]  # worst first: the timeout of p2p.waitany with char
    assert first[:2] == ["p2p.waitany", "char"] and first[3] == "s-timeout"
    for target in ("", *TARGETS):
        for axis in ("comm", "type", "count"):
            expected = cells(evidence, axis, (target,) if target else TARGETS)
            shown = {(test, value): (text, look) for test, value, text, look in answer[f"{target} {axis}"]}
            assert {pair for pair, (_, look) in shown.items() if look != "none"} == expected.keys()
            for pair, (text, look) in shown.items():
                counts = expected.get(pair, Counter())
                ran = sum(count for status, count in counts.items() if status not in NOT_RUN)
                passed = counts["pass"] + counts["flaky"]
                assert text == (f"{passed}/{ran}" if ran else "n/a" if counts else "")
                # Green if and only if something ran and nothing but passes came of it.
                assert (look == "s-pass") == (ran > 0 and counts["pass"] == ran)
                compared += 1
    assert compared > 2_000


def test_a_click_on_a_cell_lists_its_cases(sample: Path, tmp_path: Path) -> None:
    answer = ask(
        sample / "report.html",
        tmp_path,
        """
        const shown = () => [...document.querySelectorAll(".case")].filter((node) => node.checkVisibility())
            .map((node) => [node.dataset.target, node.dataset.state, node.dataset.test, node.dataset.point]);
        const buttons = () => [...document.querySelectorAll("#matrix td button")];
        const click = (text) => buttons().find((button) => button.title.startsWith(text)).click();
        const result = { all: shown() };
        click("p2p.cancel comm=cart2d:");
        result.bad = shown();
        result.address = decodeURIComponent(location.hash);
        result.marked = document.querySelector("#matrix td.on button").title;
        result.chip = document.getElementById("chips").textContent;
        click("p2p.cancel comm=world:");
        result.clean = shown();
        result.nothing = document.getElementById("nothing").checkVisibility();
        document.querySelector("#chips button").click();
        result.again = shown();
        document.querySelector('[data-view=""] [data-status="timeout"]').click();
        result.timeout = shown();
        document.querySelector('[data-view=""] [data-status="timeout"]').click();
        const search = document.getElementById("search");
        search.value = "mpidi_posix CANCEL";
        search.dispatchEvent(new Event("input"));
        result.found = shown();
        result.searched = location.hash;
        return result;""",
    )
    evidence = Evidence(sample)
    counts = evidence.counts()
    crashes = [
        [target, "crash", "p2p.cancel", "/" + name.partition("/")[2] + "/"]
        for target, entries in evidence.cases.items()
        for name, entry in entries.items()
        if entry.status == "crash" and "/comm=cart2d/" in name
    ]
    assert sorted(answer["bad"]) == sorted(crashes) and crashes
    assert answer["marked"].startswith("p2p.cancel comm=cart2d") and "p2p.cancel · comm=cart2d" in answer["chip"]
    assert answer["address"] == "#test=p2p.cancel&axis=comm&value=cart2d"
    assert answer["searched"] == "#q=mpidi_posix+CANCEL"
    assert answer["clean"] == [] and answer["nothing"]
    assert answer["again"] == answer["all"]
    assert len(answer["timeout"]) == counts["timeout"] > 0
    assert sorted(answer["found"]) == sorted(crashes)  # only they hold this frame


def test_the_switch_shows_one_target_only(sample: Path, tmp_path: Path) -> None:
    answer = ask(
        sample / "report.html",
        tmp_path,
        """
        document.querySelector(`[data-switch="${data.targets[1]}"]`).click();
        const seen = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
        return {
            of: [...new Set(seen("[data-target]").map((node) => node.dataset.target))],
            legend: seen(".legend button").map((node) => node.textContent),
        };""",
    )
    assert answer["of"] == [TARGETS[1]]
    counts = Evidence(sample).counts(TARGETS[1])
    assert sorted(answer["legend"]) == sorted(f"{count:,} {status}" for status, count in counts.items())


def test_the_page_asks_the_network_for_nothing(sample: Path, tmp_path: Path) -> None:
    log = tmp_path / "net.json"
    chromium(tmp_path / "profile", f"--log-net-log={log}", "--dump-dom", (sample / "report.html").as_uri())
    # A log that was not closed misses its end: look at the text. A request names its address as "url".
    asked = set(re.findall(r'"url":\s*"((?:https?|wss?)://[^"]*)', log.read_text()))
    # What this chromium asks by itself, on an empty page too, is not the page's.
    chromium(tmp_path / "profile", f"--log-net-log={log}", "--dump-dom", "about:blank")
    own = set(re.findall(r'"url":\s*"((?:https?|wss?)://[^"]*)', log.read_text()))
    assert {address.split("/")[2] for address in asked} <= {address.split("/")[2] for address in own}
    assert ask(sample / "report.html", tmp_path, 'return performance.getEntriesByType("resource").length') == 0


def test_hostile_evidence_does_nothing(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    answer = ask(
        write_html(Evidence(tmp_path)),
        tmp_path,
        """
        document.querySelectorAll("button:not(.copy)").forEach((button) => button.click());
        return { hacked: window.hacked === undefined ? "no" : "yes", images: document.images.length,
                 scripts: document.scripts.length, links: [...document.links].map((link) => link.getAttribute("href")),
                 shown: document.body.textContent };""",
    )
    assert answer["hacked"] == "no"
    assert (answer["images"], answer["scripts"]) == (0, 3)  # two of the page, one of this test
    assert all(link.startswith("#") for link in answer["links"])
    assert HOSTILE.split("\x1b")[0] in answer["shown"]


def test_it_fits_a_phone(sample: Path, tmp_path: Path) -> None:
    chromium(
        tmp_path / "profile",
        "--window-size=500,900",
        f"--screenshot={tmp_path / 'phone.png'}",
        (sample / "report.html").as_uri(),
    )
    assert (tmp_path / "phone.png").read_bytes().startswith(b"\x89PNG")
    assert width_on_a_phone(sample / "report.html", tmp_path) == 375


def test_an_address_with_a_filter_or_a_case_leads_there(sample: Path, tmp_path: Path) -> None:
    answer = ask(
        sample / "report.html",
        tmp_path,
        """
        const shown = () => [...document.querySelectorAll(".case")].filter((node) => node.checkVisibility());
        const go = (hash) => { history.replaceState(null, "", hash); dispatchEvent(new Event("hashchange")); };
        const result = {};
        go(`#q=mpidi_posix&target=${encodeURIComponent(data.targets[1])}`);
        result.found = shown().map((node) => [node.dataset.target, node.dataset.state]);
        result.words = document.getElementById("search").value;
        const other = document.querySelector('.case[data-state="xpass"]');
        go(`#${other.id}`);
        result.opened = other.open && other.checkVisibility()
            && document.activeElement === other.querySelector("summary");
        go("#defect=2");
        result.defect = [...new Set(shown().map((node) => node.dataset.defect))];
        result.groups = [...document.querySelectorAll(".group")].filter((node) => node.checkVisibility()).length;
        result.ids = new Set([...document.querySelectorAll(".case")].map((node) => node.id)).size;
        result.cases = document.querySelectorAll(".case").length;
        result.dead = [...document.querySelectorAll("a[href^='#']")].filter((node) =>
            !document.getElementById(node.hash.slice(1))).map((node) => node.hash);
        return result;""",
    )
    assert answer["found"] == [[TARGETS[1], "crash"]] * len(answer["found"]) and answer["found"]
    assert answer["words"] == "mpidi_posix" and answer["opened"]
    assert answer["defect"] == ["2"] and answer["groups"] == 1
    assert answer["ids"] == answer["cases"] and answer["dead"] == []


def test_the_first_failure_is_near_and_closed_rows_tell_the_message(sample: Path, tmp_path: Path) -> None:
    answer = ask(
        sample / "report.html",
        tmp_path,
        """
        const focusable = [...document.querySelectorAll("a[href], button, summary, input, select")]
            .filter((node) => node.checkVisibility() && node.tabIndex >= 0);
        const first = document.querySelector("#cases .case");
        const closed = [...document.querySelectorAll("#cases .case:not([open])")][0];
        return {
            skip: focusable[0].hash, before: focusable.indexOf(first.querySelector("summary")),
            away: first.getBoundingClientRect().top, line: closed.querySelector(".line").innerText,
            seen: closed.querySelector(".line").checkVisibility(),
            headings: [...document.querySelectorAll("h2")].map((node) => node.textContent),
            folders: [...document.querySelectorAll("#jobs-section a")].map((node) => node.getAttribute("href")),
            states: [...new Set([...document.querySelectorAll("#cases .case")].map((node) => node.dataset.state))],
        };""",
    )
    assert answer["skip"] == "#defects-section" and answer["before"] < 40 and answer["away"] < 1500
    assert answer["line"] == "rank 2: data differs" and answer["seen"]
    assert answer["headings"][:5] == [
        "Warnings",
        "Suspected defects",
        "Cases that did not pass",
        "Known failures",
        "Passing cases that carry advice",
    ]
    assert all(re.fullmatch(r"logs/[^/]+/job-\d+/", link) for link in answer["folders"]) and answer["folders"]
    assert not {"pass", "xfail"} & {*answer["states"]}  # they have sections of their own


def test_arrows_go_through_the_axes_and_few_of_many_have_a_tab(tmp_path: Path) -> None:
    write_sample(tmp_path / "run", 200)
    with (tmp_path / "run" / "cases.jsonl").open("a") as file:
        for number in range(150):
            case = f"p2p.many/axis{number}=a/comm=world"
            status = "fail" if number in (77, 78) else "pass"
            file.write(json.dumps({"case": case, "target": TARGETS[0], "status": status}) + "\n")
    answer = ask(
        write_html(Evidence(tmp_path / "run")),
        tmp_path,
        """
        const tabs = () => [...document.querySelectorAll("#axes [role=tab]")];
        const chosen = () => tabs().find((tab) => tab.getAttribute("aria-selected") === "true").textContent;
        const press = (key) =>
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        const result = { tabs: tabs().map((tab) => tab.textContent),
                         reachable: tabs().filter((tab) => tab.tabIndex >= 0).length };
        tabs()[0].focus();
        press("ArrowRight");
        result.right = chosen();
        tabs().find((tab) => tab.tabIndex === 0).focus();
        press("End");
        result.end = chosen();
        const list = document.querySelector("#more-axes select");
        result.others = list.options.length - 1;
        list.value = [...list.options].find((option) => option.textContent === "axis5").value;
        list.dispatchEvent(new Event("change"));
        result.picked = chosen();
        return result;""",
    )
    assert answer["tabs"] == ["comm", "type", "count", "axis77", "axis78"] and answer["reachable"] == 1
    assert (answer["right"], answer["end"], answer["picked"]) == ("type", "axis78", "axis5")
    assert answer["others"] == 148
