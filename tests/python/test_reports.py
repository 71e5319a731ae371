"""Reports are made from evidence on disk: read it back, and compare with what was written."""

from __future__ import annotations

import io
import json
import re
import shutil
import time
from collections import Counter
from html import unescape as html_text
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import junitparser
import pytest
from rich.console import Console
from sample_run import TARGETS, write_sample

from reports import html
from reports.advice import advised
from reports.evidence import Evidence, parse_case, printable
from reports.factors import common_factor
from reports.html import write_html
from reports.junit import write_junit
from reports.markdown import write_markdown
from reports.summary import print_summary, summary_line
from reports.tap import write_tap
from runner.model import CannotRun, Options, WrongUse
from runner.planning.plan import Selection
from runner.request import Request

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = '</script><img src=x onerror="window.hacked=1">{{ 7*7 }}\x1b[31m\x00'


def summary(out: Path) -> str:
    console = Console(file=io.StringIO(), width=100, no_color=True)
    print_summary(Evidence(out), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# --- evidence ---------------------------------------------------------------------------------------------------


def test_case_names_come_apart() -> None:
    assert parse_case("p2p.ring/comm=world/count=17") == ("p2p.ring", {"comm": "world", "count": "17"})
    assert parse_case("env.wtime") == ("env.wtime", {})


def test_counts_are_those_of_the_file(sample: Path) -> None:
    lines = [json.loads(line) for line in (sample / "cases.jsonl").read_text().splitlines()]
    evidence = Evidence(sample)
    assert evidence.targets == list(TARGETS)
    for target in TARGETS:
        expected = Counter(line["status"] for line in lines if line["target"] == target)
        assert evidence.counts(target) == expected and len(expected) >= 6
    assert evidence.counts().total() == len(lines)


def test_the_newest_line_wins(small: Path) -> None:
    evidence = Evidence(small)
    name = "p2p.ring/comm=world/type=int/count=1"
    assert evidence.cases["mpich@5.0.2/np4"][name].status == "pass"
    assert next(evidence.details("mpich@5.0.2/np4", [name]))["seconds"] == 0.0006
    assert evidence.counts()["fail"] == 2


def test_a_cut_off_last_line_is_a_warning(small: Path) -> None:
    whole = Evidence(small).counts()
    with (small / "cases.jsonl").open("a") as file:
        file.write('{"case":"p2p.ring/comm=se')
    evidence = Evidence(small)
    assert evidence.counts() == whole
    assert "the last line (17) is cut off" in evidence.warnings[-1]


def test_an_unfinished_run_says_so(small: Path) -> None:
    run = json.loads((small / "run.json").read_text())
    (small / "run.json").write_text(json.dumps({**run, "finished": False}))
    assert "the run has not finished" in summary(small)
    assert "not finished" in write_html(Evidence(small)).read_text()


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1]",
        "{}",
        '{"case":"a","target":"b","status":"wonderful"}',
        '{"case":1,"target":"b","status":"pass"}',
    ],
)
def test_a_foreign_line_is_wrong_use(small: Path, line: str) -> None:
    with (small / "cases.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(WrongUse, match="cases.jsonl, line 17: not a judged case"):
        Evidence(small)


def test_a_directory_without_a_run_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="holds no run"):
        write_html(Evidence(tmp_path))
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(WrongUse, match="is not JSON"):
        write_junit(Evidence(tmp_path))
    (tmp_path / "run.json").write_text('{"format":2}')
    with pytest.raises(WrongUse, match="format is 2; this version of assay reads format 1"):
        summary(tmp_path)


def test_a_run_without_cases_can_be_reported(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format":1,"finished":true,"targets":[{"name":"mpich@5.0.2/np2"}]}')
    assert summary(tmp_path).endswith(summary_line(Counter()) + "\n")
    assert "No case was judged" in write_html(Evidence(tmp_path)).read_text()
    assert junitparser.JUnitXml.fromfile(str(write_junit(Evidence(tmp_path)))).tests == 0


@pytest.mark.parametrize("write", [write_html, write_junit])
def test_a_full_disk_leaves_the_old_report(small: Path, write: Any) -> None:
    report = write(Evidence(small))
    before = report.read_bytes()
    part = report.with_name(report.name + ".part")
    part.symlink_to("/dev/full")
    with pytest.raises(CannotRun, match="No space left on device"):
        write(Evidence(small))
    assert report.read_bytes() == before and not part.is_symlink()


# --- what failures have in common -------------------------------------------------------------------------------


def names(types: str, counts: str) -> list[str]:
    return [f"p2p.ring/type={type_}/count={count}" for type_ in types.split() for count in counts.split()]


ALL = names("int char float double byte short long", "0 1 17 1021 65539")


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (names("int", "0 1 17 1021 65539"), "all 5 failures have type=int; every such case fails"),
        (names("int", "17 1021"), "both failures have type=int; 5 such cases ran"),
        (names("int char", "0 1 17 1021 65539"), "all 10 failures have type=char or int; every such case fails"),
        (
            names("int char float double byte short long", "1021 65539"),
            "all 14 failures have count=1021 or 65539; every such case fails",
        ),
        (
            names("int char float double byte short long", "1 17 1021 65539"),
            "all 28 failures have count≥1; every such case fails",
        ),
        (
            names("int char float double byte short long", "0 1 17"),
            "all 21 failures have count≤17; every such case fails",
        ),
        (names("int", "17"), ""),
        (names("int", "0") + names("char", "1"), ""),
        (ALL, "all 35 cases that ran fail"),
    ],
)
def test_common_factor(bad: list[str], expected: str) -> None:
    assert common_factor(bad, ALL) == expected


# --- summary and JUnit: golden files ----------------------------------------------------------------------------


def test_summary_is_the_golden_one(small: Path) -> None:
    assert summary(small) == (GOLDEN / "summary.txt").read_text()


def test_summary_ends_with_the_line_for_scripts(sample: Path) -> None:
    counts = Evidence(sample).counts()
    words = summary(sample).splitlines()[-1].split()
    assert words[0] == "assay:" and len(words) == 21
    assert {status: int(number) for number, status in zip(words[1::2], words[2::2], strict=True)} == {
        status: counts[status] for status in words[2::2]
    }


def test_a_message_cannot_drive_the_terminal(small: Path) -> None:
    text = summary(small)
    assert "\\x1b[31m\\x00" in text and "\x1b" not in text and "\x00" not in text


# --- the page ---------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags, the text, the data of the matrix and everything that could make a browser load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.loads: list[str] = []
        self.states: Counter[tuple[str | None, str | None]] = Counter()
        self.links: list[str | None] = []
        self.handlers: list[str] = []
        self.text = ""
        self._script = ""
        self.feed(text)
        start = text.index('id="data">') + len('id="data">')
        self.matrix = json.loads(text[start : text.index("</script>", start)])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        found = dict(attrs)
        self.loads += [key for key in ("src", "srcset", "data", "action", "background") if key in found]
        self.handlers += [key for key in found if key.startswith("on")]
        if tag == "a":
            self.links.append(found.get("href"))
        elif "href" in found:
            self.loads.append("href")
        if "data-state" in found:
            self.states[found.get("data-target"), found["data-state"]] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_matrix_holds_what_the_evidence_holds(sample: Path) -> None:
    matrix = Page(write_html(Evidence(sample)).read_text()).matrix
    expected: Counter[tuple[str, str, str, str, str]] = Counter()
    for line in (sample / "cases.jsonl").read_text().splitlines():
        record = json.loads(line)
        test, axes = parse_case(record["case"])
        for axis, value in axes.items():
            expected[record["target"], axis, test, value, record["status"]] += 1
    found: Counter[tuple[str, str, str, str, str]] = Counter()
    for target, of_target in zip(matrix["targets"], matrix["cells"], strict=True):
        for (axis, values), of_axis in zip(matrix["axes"], of_target, strict=True):
            for test, of_test in zip(matrix["tests"], of_axis, strict=True):
                for value, cell in zip(values, of_test, strict=True):
                    for status, count in (cell if isinstance(cell, dict) else {"pass": cell}).items():
                        if count:
                            found[target, axis, test, value, status] += count
    assert found == expected
    assert [axis for axis, _ in matrix["axes"]] == ["comm", "type", "count"]
    assert matrix["axes"][2][1] == ["0", "1", "17", "1021", "65539"]


def test_the_page_tells_every_case_that_did_not_pass(sample: Path) -> None:
    page = Page(write_html(Evidence(sample)).read_text())
    told: Counter[tuple[str | None, str | None]] = Counter()
    for target in TARGETS:
        for status, count in Evidence(sample).counts(target).items():
            if status not in ("pass", "skip", "unsupported"):
                told[target, status] = count
    advised = {key: count for key, count in page.states.items() if key[1] == "pass"}
    assert page.states == told + Counter(advised) and sum(advised.values()) > 0
    assert "expected  00000100  3f 91 0c 4e" in page.text
    assert "MPIDI_POSIX_eager_recv_begin" in page.text


def advice(target: str, case: str, status: str = "pass") -> str:
    finding = {"rank": 0, "check": "status", "message": "MPI_ERROR was changed"}
    return json.dumps({"case": case, "target": target, "status": status, "advisory": [finding]}) + "\n"


def test_passing_cases_with_advice_are_counted_everywhere_and_no_failures(small: Path) -> None:
    target = "mpich@5.0.2/np4"
    passed = Evidence(small).counts(target)["pass"]
    with (small / "cases.jsonl").open("a") as file:
        for number in range(12):
            file.write(advice(target, f"p2p.x/n={number}"))
        file.write(advice(target, "p2p.y/n=1") + advice(target, "p2p.y/n=2", "xfail"))
        newer = {"case": "p2p.z/n=1", "target": target, "status": "pass"}
        file.write(advice(target, "p2p.z/n=1") + json.dumps(newer) + "\n")
    evidence = Evidence(small)
    found, other = advised(evidence)
    assert (other.target, other.cases, found.cases, found.passed) == ("impi@2021.19.0/np2", 1, 13, passed + 14)
    assert found.sentence() == f"13 of {passed + 14} passing cases carry advice: p2p.x 12, p2p.y 1"
    assert f"{target}: {found.sentence()}; report.html has what it says" in summary(small)
    assert "| mpich&#64;5.0.2/np4 | 13 | 18 | p2p.x 12, p2p.y 1 |" in write_markdown(evidence).read_text()
    xml = junitparser.JUnitXml.fromfile(str(write_junit(evidence)))
    properties = {suite.name: {item.name: item.value for item in suite.properties()} for suite in xml}
    assert properties[target]["advised"] == "13" and "advised" not in properties["suspected defects"]
    told = {case.name: case.system_out for suite in xml if suite.name == target for case in suite}
    assert "advisory: p2p.x/n=0\nrank 0: [status]\nMPI_ERROR was changed" in told["p2p.x"]
    assert told["p2p.x"].endswith("advisory: 9 more in report.html") and told["p2p.z"] == "1 pass"
    text = write_html(evidence).read_text()
    bad, _, rest = text.partition('<section id="advice-section">')
    assert 'data-state="pass"' not in bad and bad.count('data-test="p2p.y"') == 1  # the one that failed as known
    good = rest[: rest.index('<section id="matrix-section">')]
    assert good.count('data-state="pass"') == 14 and '<td class="nowrap">13 of 18</td>' in good


def test_the_summary_counts_unsupported_cases_by_reason(small: Path) -> None:
    target = "mpich@5.0.2/np4"
    with (small / "cases.jsonl").open("a") as file:
        for number in range(30):
            reason = "no MPI_Session_init" if number < 20 else f"reason {number}" + " word" * 40 * (number == 20)
            record = {"case": f"p2p.u/n={number}", "target": target, "status": "unsupported", "reason": reason}
            file.write(json.dumps(record) + "\n")
    lines = summary(small).splitlines()
    begin = lines.index(f"{target}: 31 unsupported:")
    assert lines[begin + 1] == "       20  no MPI_Session_init"
    assert lines[begin + 9] == "        4  for 4 more reasons, see report.html"
    assert max(map(len, lines[begin : begin + 10])) <= 160


def test_the_page_loads_nothing(sample: Path) -> None:
    text = write_html(Evidence(sample)).read_text()
    page = Page(text)
    assert page.loads == [] and page.handlers == []
    assert page.tags["script"] == 2 and "default-src 'none'" in text
    assert "@import" not in text and "url(" not in text
    # Ours lead to a place of the page or, of a job, to a folder beside it.
    ours = re.compile(r"#(case|defect)-\w+|#[a-z-]+-section|logs/[\w%.]+/job-\d+/")
    others = [link for link in page.links if not ours.fullmatch(str(link))]
    assert others and all(link and link.startswith("https://") for link in others)
    assert sum(str(link).startswith("logs/") for link in page.links) == 3


def test_the_page_shows_the_options_that_differ_from_the_defaults(small: Path) -> None:
    run = json.loads((small / "run.json").read_text())
    options = Request((), (), Selection(), Options()).record()["options"]
    options |= {"strict": True, "env": {"A": "b c"}, "known": ["my.toml"], "timeout_scale": 2.5, "transports": ["tcp"]}
    (small / "run.json").write_text(json.dumps({**run, "options": options}))
    text = write_html(Evidence(small)).read_text()
    shown = re.search(r"<dt>Options</dt><dd>(.*?)</dd>", text)
    assert shown and re.findall(r"<code>(.*?)</code>", html_text(shown[1])) == [
        "--env 'A=b c'",
        "--strict",
        "--timeout-scale 2.5",
        "--known my.toml",
        "--transport tcp",
    ]


def test_hostile_evidence_stays_text(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    page = Page(write_html(Evidence(tmp_path)).read_text())
    assert page.tags["img"] == 0 and page.tags["script"] == 2 and page.handlers == []
    assert all(link and link.startswith("#") for link in page.links)  # the link was a javascript: one
    assert page.text.count('<img src=x onerror="window.hacked=1">{{ 7*7 }}\\x1b[31m\\x00') >= 10
    assert "\x1b" not in summary(tmp_path)
    assert junitparser.JUnitXml.fromfile(str(write_junit(Evidence(tmp_path)))).tests == 3


def write_hostile(out: Path) -> None:
    """Evidence whose every text is hostile."""
    target = f"mpich{HOSTILE}"
    finding = {"rank": 1, "status": HOSTILE, "message": HOSTILE, "stack": [HOSTILE], "call": HOSTILE, "where": HOSTILE}
    cases = [
        {"case": f"p2p.{HOSTILE}/comm={HOSTILE}", "status": "fail", "reason": HOSTILE, "ranks": [finding, "no object"]},
        {"case": "p2p.x/comm=a", "status": "xfail", "known": HOSTILE, "known_link": f"javascript:{HOSTILE}"},
        {"case": "p2p.y/comm=\ud800", "status": "crash", "known_link": "https://\ud800"},
        {"case": "p2p.x/comm=\ud800", "status": "unsupported", "reason": HOSTILE, "seconds": None},
    ]
    lines = [json.dumps({"target": target, "repeat": HOSTILE, **case}) + "\n" for case in cases]
    (out / "cases.jsonl").write_text("".join(lines))
    about = {
        "name": target,
        "library": HOSTILE,
        "settings": {HOSTILE: HOSTILE},
        "jobs": [{"end": HOSTILE, "directory": HOSTILE}],
    }
    run = {"format": 1, "targets": [about], "argv": [HOSTILE], "machine": {"host": HOSTILE}, "warnings": [HOSTILE]}
    (out / "run.json").write_text(json.dumps(run))


def test_too_many_failures_are_cut_fairly(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = Path(shutil.copytree(sample, tmp_path / "out"))
    whole = Page(write_html(Evidence(out)).read_text()).states
    monkeypatch.setattr(html, "MAX_CASES", 12)
    page = Page(write_html(Evidence(out)).read_text())
    bad, all_bad = (
        sum(count for (_, state), count in one.items() if state not in ("pass", "xfail"))
        for one in (page.states, whole)
    )
    assert bad == 12
    assert f"{all_bad - 12} more are in cases.jsonl" in page.text
    # Every status that fails the run is still there.
    assert {status for _, status in page.states} >= {status for _, status in whole} & {
        "fail",
        "crash",
        "timeout",
        "xpass",
    }


def test_long_messages_are_cut(small: Path) -> None:
    line = {"case": "p2p.a", "target": "t", "status": "fail", "ranks": [{"rank": 0, "message": "x" * 1_000_000}]}
    with (small / "cases.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    page = write_html(Evidence(small))
    assert "996,000 more characters in cases.jsonl" in page.read_text() and page.stat().st_size < 100_000


def test_100_000_passing_cases_make_a_small_page(tmp_path: Path) -> None:
    write_sample(tmp_path, 50_000, failures=False)
    begin = time.process_time()
    page = write_html(Evidence(tmp_path))
    assert time.process_time() - begin < 20  # 1.5 s on an idle machine
    assert Evidence(tmp_path).counts()["pass"] == 100_000
    assert page.stat().st_size < 1_000_000
    assert "All 100,000 cases passed" in page.read_text()


def test_printable_keeps_lines() -> None:
    assert printable("a\n\tb\x07\ud800") == "a\n\tb\\x07\\xd800"


# --- TAP and Markdown -------------------------------------------------------------------------------------------


def test_tap_is_the_golden_one(small: Path) -> None:
    assert write_tap(Evidence(small)).read_text() == (GOLDEN / "results.tap").read_text()


def test_markdown_is_the_golden_one(small: Path) -> None:
    assert write_markdown(Evidence(small)).read_text() == (GOLDEN / "report.md").read_text()


def test_hostile_evidence_makes_no_tap_lines_and_no_markup(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    with (tmp_path / "cases.jsonl").open("a") as file:
        record = {"case": "p2p.z/a=# SKIP\nok 9", "target": "t|<b>", "status": "fail", "reason": "x\nok 10 - forged"}
        file.write(json.dumps(record) + "\n")
    lines = write_tap(Evidence(tmp_path)).read_text().splitlines()
    assert lines[1] == "1..5"
    assert [line.split(" - ")[0] for line in lines[2:] if not line.startswith("#")] == [
        "not ok 1",
        "not ok 2",
        "not ok 3",
        "ok 4",
        "not ok 5",
    ]
    assert "not ok 5 - t|<b> p2p.z/a=\\# SKIP ok 9" in lines
    text = write_markdown(Evidence(tmp_path)).read_text()
    assert "<img" not in text.replace("\\<", "") and "t\\|\\<b\\>" in text
