"""junit.xml: the run as test suites that Jenkins, GitLab and others show.

A first testsuite names the suspected defects; then there is one for each target, with a testcase for each test: some
consumers refuse files over 10 MB or take no more than some thousand entries, and a quick run has 70,000 cases. Cases
that failed stand in the text of their test, in full. The file keeps to the schema of Jenkins' xUnit plugin
(junit-10.xsd), and the tests validate it and read it back with another library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from reports.defects import Defect, defects
from reports.evidence import Entry, Evidence, printable, write_file
from reports.summary import explain
from runner.model import STATUSES, UNEXPECTED, WORST_FIRST

# Bytes that the texts of all failing tests may take together, each an equal share, so that the file stays below 10 MB.
TEXTS = 8 << 20
HEAD = 500  # characters of a failure that stand in the attribute `message`
SHOWN_NOTES = 3  # cases of a test whose advice, or whose first failure before a pass, is quoted

# How JUnit, which knows only four outcomes, calls ours. xpass is a failure: the list of known failures is wrong.
OUTCOME = {
    "pass": "",
    "flaky": "",
    "fail": "failure",
    "xpass": "failure",
    "crash": "error",
    "timeout": "error",
    "lost": "error",
    "xfail": "skipped",
    "skip": "skipped",
    "unsupported": "skipped",
}


def write_junit(evidence: Evidence) -> Path:
    """Write junit.xml beside the evidence; the result is its path. Raises CannotRun."""
    found = defects(evidence)
    numbers = {(one.target, one.case): defect.number for defect in found for one in defect.found}
    tests = {target: _by_test(cases) for target, cases in evidence.cases.items()}
    every = [cases for named in tests.values() for cases in named.values()]
    failing = sum(any(entry.status in UNEXPECTED for entry in cases.values()) for cases in every)
    root = etree.Element("testsuites", {"name": "assay"})
    if found:
        root.append(_overview(found))
    for target, named in tests.items():
        root.append(_suite(evidence, target, named, numbers, TEXTS // max(1, failing)))
    for number in ("tests", "failures", "errors"):
        root.set(number, str(sum(int(suite.get(number, "0")) for suite in root)))
    root.set("time", _seconds(entry.seconds for cases in evidence.cases.values() for entry in cases.values()))
    etree.indent(root)
    text = etree.tostring(root, encoding="unicode")
    return write_file(
        evidence.out / "junit.xml", lambda file: file.write(f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n")
    )


def _by_test(cases: Mapping[str, Entry]) -> dict[str, dict[str, Entry]]:
    """The cases of each test, in the order of the tests' names."""
    found: dict[str, dict[str, Entry]] = {}
    for case, entry in cases.items():
        found.setdefault(case.partition("/")[0], {})[case] = entry
    return dict(sorted(found.items()))


def _overview(found: list[Defect]) -> etree._Element:
    """A test suite without tests, which stands first: its properties are the suspected defects."""
    suite = etree.Element("testsuite", {"name": "suspected defects", **_totals([]), "time": _seconds([])})
    lines = {}
    for one in found:
        clause = "; ".join(f"{section}: {text}" for section, text in one.cited)
        lines[f"defect {one.number}"] = (
            f"{one.what[:HEAD]} | {one.numbers()} of {', '.join(one.tests)} on {', '.join(one.targets)}"
            + (f" | {clause}" if clause else "")
        )
    _properties(suite, lines)
    return suite


def _suite(
    evidence: Evidence,
    target: str,
    tests: Mapping[str, Mapping[str, Entry]],
    defect: Mapping[tuple[str, str], int],
    share: int,
) -> etree._Element:
    """The testsuite of a target; `share`: bytes that the text of a failing test may take."""
    run, about = evidence.run, evidence.about.get(target, {})
    machine = run.get("machine")
    counts = evidence.counts(target)
    suite = etree.Element(
        "testsuite",
        {
            "name": printable(target),
            **_totals([_outcome(cases) for cases in tests.values()]),
            "time": _seconds(entry.seconds for cases in tests.values() for entry in cases.values()),
            "timestamp": printable(run.get("started", "")).rstrip("Z"),  # JUnit allows no time zone
            "hostname": printable(machine.get("host", "")) if isinstance(machine, dict) else "",
        },
    )
    advised = [case for case in evidence.advisory.get(target, ()) if evidence.cases[target][case].status == "pass"]
    _properties(
        suite,
        {
            "target": target,
            "mpi": about.get("mpi"),
            "library": about.get("library"),
            "np": about.get("np"),
            "seed": run.get("seed"),
            "tier": run.get("tier"),
            "cases": _counted(counts),
            "advised": len(advised) or None,  # passing cases that carry advice
        },
    )
    for test, cases in tests.items():
        # The target is part of the class: consumers tell tests apart by class and name alone.
        classname = printable(f"{target}.{test.partition('.')[0]}")
        time = _seconds(entry.seconds for entry in cases.values())
        testcase = etree.SubElement(suite, "testcase", {"classname": classname, "name": test, "time": time})
        _tell_outcome(testcase, evidence, target, cases, defect, share)
        if notes := [_counted(Counter(entry.status for entry in cases.values())), *_notes(evidence, target, cases)]:
            etree.SubElement(testcase, "system-out").text = printable("\n".join(notes))
    return suite


def _properties(parent: etree._Element, values: dict[str, Any]) -> None:
    properties = etree.SubElement(parent, "properties")
    for name, value in values.items():
        if value not in (None, ""):
            etree.SubElement(properties, "property", {"name": printable(name), "value": printable(value)})


def _outcome(cases: Mapping[str, Entry]) -> str:
    """The outcome of a test by those of its cases: the worst, and skipped only where none ran to a pass."""
    outcomes = {OUTCOME[entry.status] for entry in cases.values()}
    return next(one for one in ("error", "failure", "", "skipped") if one in outcomes)


def _tell_outcome(
    testcase: etree._Element,
    evidence: Evidence,
    target: str,
    cases: Mapping[str, Entry],
    defect: Mapping[tuple[str, str], int],
    share: int,
) -> None:
    tag = _outcome(cases)
    counts = Counter(entry.status for entry in cases.values())
    if tag == "skipped":
        record = next(evidence.details(target, [next(iter(cases))]))
        why = str(record.get("known") or record.get("reason") or "")[:HEAD]
        message = f"{_counted(counts)}: {why}" if why else _counted(counts)
        worst = next(status for status in ("xfail", "skip", "unsupported") if counts[status])
        etree.SubElement(testcase, tag, {"message": printable(message), "type": worst})
    elif tag:
        bad = [case for case, entry in cases.items() if entry.status in UNEXPECTED]
        worst = next(status for status in WORST_FIRST if counts[status] and OUTCOME[status] == tag)
        first = next(evidence.details(target, [case for case in bad if cases[case].status == worst][:1]))
        head = str(first.get("reason") or explain(first).split("\n")[0])[:HEAD]
        how_many = f"{_counted(Counter(cases[case].status for case in bad))} of {len(cases):,} cases"
        message = f"{how_many}; {first['case']}: {head}"
        outcome = etree.SubElement(testcase, tag, {"message": printable(message), "type": worst})
        outcome.text = _text(evidence, target, _each_defect_first(target, bad, defect), defect, share)


def _each_defect_first(target: str, cases: list[str], defect: Mapping[tuple[str, str], int]) -> list[str]:
    """The cases in an order in which one of each defect comes before the second of any, in case the text is cut."""
    met: Counter[int] = Counter()
    order = []
    for case in cases:
        number = defect.get((target, case), 0)
        order.append((met[number], case))
        met[number] += 1
    return [case for _, case in sorted(order, key=lambda one: one[0])]


def _text(evidence: Evidence, target: str, cases: list[str], defect: Mapping[tuple[str, str], int], share: int) -> str:
    """All that is known of these failing cases, as long as it takes no more than `share` bytes."""
    parts: list[str] = []
    left = share
    for number, record in enumerate(evidence.details(target, cases)):
        lines = [f"{record['status']}: {record['case']}"]
        if (target, record["case"]) in defect:
            lines[0] += f" (defect {defect[target, record['case']]})"
        lines.append(explain(record))
        if record.get("repeat"):
            lines.append(f"repeat: {record['repeat']}")
        part = printable("\n".join(line for line in lines if line))
        size = len(escape(part).encode()) + 2
        if size > left and parts:
            parts.append(f"… {len(cases) - number:,} more failing cases are in report.html and cases.jsonl")
            break
        if size > left:
            part = f"{part[: left // 6]}\n… cut; report.html has all of it"  # a character takes at most 6 bytes
        parts.append(part)
        left -= size
    return "\n\n".join(parts)


def _notes(evidence: Evidence, target: str, cases: Mapping[str, Entry]) -> Iterator[str]:
    """What passing cases of a test have to say: advice, and failures before a later attempt passed."""
    flaky = [case for case, entry in cases.items() if entry.status == "flaky"]
    for record in evidence.details(target, flaky[:SHOWN_NOTES]):
        attempts = record.get("attempts", "several")
        yield f"flaky: {record['case']} passed after {attempts} attempts\n{explain(record)}"
    advised = [case for case in cases if case in evidence.advisory.get(target, ())]
    for record in evidence.details(target, advised[:SHOWN_NOTES]):
        yield f"advisory: {record['case']}\n{explain({'ranks': record['advisory']})}"
    for what, found in (("flaky", flaky), ("advisory", advised)):
        if (left := len(found) - SHOWN_NOTES) > 0:
            yield f"{what}: {left:,} more in report.html"


def _counted(counts: Mapping[str, int]) -> str:
    """`2 crash, 40 pass`: the statuses that there are."""
    return ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts.get(status))


def _totals(outcomes: list[str]) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
    }


def _seconds(values: Any) -> str:
    return f"{sum(values):.3f}"
