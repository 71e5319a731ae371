"""junit.xml: one entry a test, valid by the schema of Jenkins' xUnit plugin, small, and with all that failed in it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import junitparser
from lxml import etree

from reports.evidence import Evidence
from reports.junit import OUTCOME, TEXTS, write_junit

GOLDEN = Path(__file__).parent / "golden"
# Of Jenkins' xUnit plugin: src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/ there.
SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "schemas" / "junit-10.xsd"))
LARGEST = 10_000_000  # bytes that GitLab, Azure and others take without complaint
TARGET = "mpich@5.0.2/np4"


def valid(out: Path) -> etree._ElementTree:
    tree = etree.parse(write_junit(Evidence(out)))
    assert SCHEMA.validate(tree), SCHEMA.error_log
    return tree


def add(out: Path, **record: object) -> None:
    with (out / "cases.jsonl").open("a") as file:
        file.write(json.dumps({"target": TARGET, **record}) + "\n")


def test_it_is_the_golden_one(small: Path) -> None:
    assert write_junit(Evidence(small)).read_text() == (GOLDEN / "junit.xml").read_text()
    valid(small)


def test_it_is_valid_by_the_schema_of_jenkins_and_read_back_by_junitparser(sample: Path) -> None:
    valid(sample)
    evidence = Evidence(sample)
    tests: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for target, cases in evidence.cases.items():
        for case, entry in cases.items():
            tests[target, case.partition("/")[0]][entry.status] += 1
    xml = junitparser.JUnitXml.fromfile(str(sample / "junit.xml"))
    entries = [(suite.name, case) for suite in xml for case in suite]
    assert sorted((target, case.name) for target, case in entries) == sorted(tests)
    seen: Counter[str] = Counter()
    for target, case in entries:
        counts = tests[target, case.name]
        outcomes = {OUTCOME[status] for status in counts}
        tags = [type(result).__name__.lower() for result in case.result]
        assert tags == ([] if outcomes & {""} and not outcomes & {"failure", "error"} else tags)
        assert bool(tags) == bool(outcomes & {"failure", "error"} or not outcomes & {""})
        assert ("error" in tags) == ("error" in outcomes)
        assert case.system_out.split("\n")[0] == ", ".join(f"{n:,} {s}" for s, n in in_order(counts))
        seen.update(tags)
    assert (xml.tests, xml.failures, xml.errors) == (len(tests), seen["failure"], seen["error"])
    assert all(seen[tag] for tag in ("failure", "error"))


def in_order(counts: Counter[str]) -> list[tuple[str, int]]:
    order = ("pass", "fail", "crash", "timeout", "lost", "xfail", "xpass", "flaky", "skip", "unsupported")
    return [(status, counts[status]) for status in order if counts[status]]


def test_every_case_that_failed_stands_in_the_text_of_its_test(sample: Path) -> None:
    text = {
        (suite.get("name"), case.get("name")): "".join(part.text or "" for part in case if part.tag != "system-out")
        for suite in valid(sample).getroot()
        for case in suite.iter("testcase")
    }
    failed = 0
    for line in (sample / "cases.jsonl").read_text().splitlines():
        record = json.loads(line)
        if OUTCOME[record["status"]] in ("failure", "error"):
            failed += 1
            told = text[record["target"], record["case"].partition("/")[0]]
            assert f"{record['status']}: {record['case']} (defect " in told
            assert f"repeat: {record['repeat']}" in told
    assert failed > 10


def test_many_long_failures_stay_below_what_consumers_take(small: Path) -> None:
    for test in range(4):
        for number in range(100):
            case = f"coll.t{test}/n={number}"
            message = f"<&> {number} " * 2_500
            add(small, case=case, status="fail", ranks=[{"rank": 0, "check": f"data{number % 3}", "message": message}])
    add(small, case="coll.huge/n=1", status="fail", ranks=[{"rank": 0, "message": "&" * TEXTS}])
    tree = valid(small)
    assert LARGEST / 2 < (small / "junit.xml").stat().st_size < LARGEST
    texts = [case.findtext("failure") or "" for case in tree.iter("testcase") if "coll.t" in case.get("name", "")]
    assert len(texts) == 4 and all("more failing cases are in report.html" in text.split("\n")[-1] for text in texts)
    (huge,) = (case for case in tree.iter("testcase") if case.get("name") == "coll.huge")
    assert (huge.findtext("failure") or "").endswith("… cut; report.html has all of it")


def test_one_case_of_each_defect_comes_before_the_second_of_any(small: Path) -> None:
    for number in range(30):
        add(small, case=f"coll.a/n={number}", status="fail", ranks=[{"rank": 0, "check": "data", "message": "bad"}])
    crash = {"rank": 0, "status": "crash", "signal": "SIGSEGV", "call": "MPI_Bcast"}
    add(small, case="coll.a/n=99", status="crash", ranks=[crash])
    (case,) = (case for case in valid(small).iter("testcase") if case.get("name") == "coll.a")
    heads = [line for line in (case.findtext("error") or "").split("\n") if line.startswith(("fail: ", "crash: "))]
    assert [head.partition(" (")[0] for head in heads[:2]] == ["fail: coll.a/n=0", "crash: coll.a/n=99"]
    assert len(heads) == 31


def test_a_test_is_skipped_only_where_nothing_passed(small: Path) -> None:
    add(small, case="coll.b/n=1", status="xfail", known="rounds the wrong way")
    add(small, case="coll.b/n=2", status="unsupported", reason="too few ranks")
    add(small, case="coll.c/n=1", status="xfail", known="rounds the wrong way")
    add(small, case="coll.c/n=2", status="pass")
    cases = {case.get("name"): case for case in valid(small).iter("testcase")}
    skipped = cases["coll.b"].find("skipped")
    assert skipped is not None
    assert dict(skipped.attrib) == {"message": "1 xfail, 1 unsupported: rounds the wrong way", "type": "xfail"}
    assert [part.tag for part in cases["coll.c"]] == ["system-out"]
    assert cases["coll.c"].findtext("system-out") == "1 pass, 1 xfail"
