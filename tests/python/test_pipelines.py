"""What pipelines show: annotations and a summary at GitHub, a code quality report at GitLab."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sample_run import write_sample

from reports import pipelines
from reports.defects import defects
from reports.evidence import Evidence
from reports.pipelines import ANNOTATIONS, SEVERITY, write_github, write_gitlab

TARGET = "mpich@5.0.2/np4"


def add(out: Path, **record: object) -> None:
    with (out / "cases.jsonl").open("a") as file:
        file.write(json.dumps({"target": TARGET, "status": "fail", **record}) + "\n")


def annotations(out: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """(title, message) of each workflow command, as GitHub reads it: one a line."""
    write_github(Evidence(out))
    found = []
    for line in capsys.readouterr().out.splitlines():
        command = re.fullmatch(r"::error title=([^:,]*)::(.*)", line)
        assert command, line
        texts = [text.replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",") for text in command.groups()]
        found.append((texts[0].replace("%25", "%"), texts[1].replace("%25", "%")))
    return found


def test_each_defect_is_an_annotation(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finding = {"rank": 0, "check": "data", "call": "MPI_Bcast", "message": "50% of it,\nand: more"}
    add(small, case="coll.a/n=1", ranks=[finding])
    found = annotations(small, capsys)
    titles = [title for title, _ in found]
    assert len(found) == len(defects(Evidence(small))) == 6
    assert {"Assay: SIGSEGV in MPI_Recv", "Assay: hang in MPI_Wait", "Assay: data in MPI_Bcast"} <= set(titles)
    text = dict(found)["Assay: data in MPI_Bcast"]
    assert text == f"data: 50% of it,\n1 fail of coll.a on {TARGET}\nfor example coll.a/n=1"


def test_github_shows_ten_annotations_so_the_last_counts_the_rest(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        words = "".join(chr(97 + (number * 7 + each) % 26) for each in range(12))
        add(
            small,
            case=f"c{number}.a/n=1",
            ranks=[{"rank": 0, "check": "data", "call": f"MPI_{words}", "message": words}],
        )
    found = annotations(small, capsys)
    every = len(defects(Evidence(small)))
    assert len(found) == ANNOTATIONS and every > ANNOTATIONS
    assert found[-1][1].startswith(f"{every - ANNOTATIONS + 1} more suspected defects")


def test_the_summary_of_the_job_is_added_to_and_kept_below_the_limit(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = small / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    report = write_github(Evidence(small)).read_text()
    assert summary.read_text() == "before\n" + report
    monkeypatch.setattr(pipelines, "SUMMARY", 300)
    summary.write_text("")
    write_github(Evidence(small))
    assert summary.read_text().endswith("\n\nThe rest is in report.md.\n") and summary.stat().st_size < 350


def quality(out: Path) -> list[dict[str, object]]:
    """Checked for what GitLab demands of each entry (docs.gitlab.com, ci/testing/code_quality)."""
    entries = json.loads(write_gitlab(Evidence(out)).read_text())
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["lines"]["begin"] >= 1
        path = Path(entry["location"]["path"])
        assert not path.is_absolute() and ".." not in path.parts
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    return list(entries)


def test_code_quality_names_place_and_severity(small: Path) -> None:
    found = {str(entry["description"]).partition(" (")[0]: entry for entry in quality(small)}
    assert len(found) == 5
    data = found["data: data differs at element 16 of 17"]
    assert data["location"] == {"path": "suites/p2p/ring.cpp", "lines": {"begin": 31}} and data["severity"] == "major"
    crash = found["SIGSEGV in MPI_Recv"]
    assert crash["location"] == {"path": "suites/p2p", "lines": {"begin": 1}} and crash["severity"] == "critical"
    assert set(SEVERITY) == {"crash", "timeout", "lost", "fail", "xpass"}


def test_a_fingerprint_does_not_depend_on_which_cases_failed(small: Path) -> None:
    finding = {"rank": 0, "check": "data", "call": "MPI_Bcast", "where": "suites/coll/a.cpp:1"}
    before = {entry["fingerprint"] for entry in quality(small)}
    add(small, case="coll.a/n=1", ranks=[{**finding, "message": "3 of 7 bytes differ"}])
    first = {entry["fingerprint"] for entry in quality(small)}
    add(small, case="coll.a/n=2", ranks=[{**finding, "message": "5 of 9 bytes differ"}])
    assert {entry["fingerprint"] for entry in quality(small)} == first and len(first - before) == 1
    add(small, case="coll.b/n=2", ranks=[{**finding, "message": "5 of 9 bytes differ"}])
    assert len({entry["fingerprint"] for entry in quality(small)}) == len(first) + 1


def test_a_whole_sample_is_accepted(tmp_path: Path) -> None:
    write_sample(tmp_path, 2_000)
    assert quality(tmp_path)
