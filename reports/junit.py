"""junit.xml: the run as test suites that Jenkins, GitLab and others show.

A first testsuite names the suspected defects; then there is one for each target and test, with a testcase for each
case. Written test by test: a tree of 200,000 cases takes several times the memory, which also grows with the messages.
The tests read the file back with another library.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from lxml import etree

from reports.defects import Defect, defects
from reports.evidence import Entry, Evidence, parse_case, printable, write_file
from reports.summary import explain

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

    def write(file: TextIOWrapper) -> None:
        with etree.xmlfile(file.buffer, encoding="utf-8") as xml:
            xml.write_declaration()
            entries = [entry for cases in evidence.cases.values() for entry in cases.values()]
            with xml.element("testsuites", name="assay", **_totals(entries)):
                if found:
                    xml.write("\n", _overview(found), pretty_print=True)
                for target, cases in evidence.cases.items():
                    tests: dict[str, list[str]] = {}
                    for case in cases:
                        tests.setdefault(case.split("/", 1)[0], []).append(case)
                    for test, names in sorted(tests.items()):
                        xml.write("\n", _suite(evidence, target, test, names, numbers), pretty_print=True)
        file.write("\n")

    return write_file(evidence.out / "junit.xml", write)


def _overview(found: list[Defect]) -> etree._Element:
    """A test suite without tests, which stands first: its properties are the suspected defects."""
    suite = etree.Element("testsuite", {"name": "suspected defects", **_totals([])})
    lines = {}
    for one in found:
        clause = "; ".join(f"{section}: {text}" for section, text in one.cited)
        lines[f"defect {one.number}"] = (
            f"{one.what} | {one.numbers()} of {', '.join(one.tests)} on {', '.join(one.targets)}"
            + (f" | {clause}" if clause else "")
        )
    _properties(suite, lines)
    return suite


def _suite(
    evidence: Evidence, target: str, test: str, cases: list[str], defect: Mapping[tuple[str, str], int]
) -> etree._Element:
    run, about = evidence.run, evidence.about.get(target, {})
    machine = run.get("machine")
    entries = evidence.cases[target]
    told = [case for case in cases if entries[case].status != "pass" or case in evidence.advisory[target]]
    details = evidence.details(target, told)
    suite = etree.Element(
        "testsuite",
        {
            "name": printable(f"{target} {test}"),
            **_totals([entries[case] for case in cases]),
            "timestamp": printable(run.get("started", "")).rstrip("Z"),  # the schema of JUnit allows no time zone
            "hostname": printable(machine.get("host", "")) if isinstance(machine, dict) else "",
        },
    )
    _properties(
        suite,
        {
            "target": target,
            "mpi": about.get("mpi"),
            "library": about.get("library"),
            "np": about.get("np"),
            "seed": run.get("seed"),
            "tier": run.get("tier"),
            # Passing cases that carry advice: each has it in its system-out.
            "advised": sum(entries[case].status == "pass" for case in told) or None,
        },
    )
    is_told = set(told)
    # The target is part of the class: consumers tell tests apart by class and name alone.
    classname = printable(f"{target}.{test}")
    for case in cases:
        testcase = etree.SubElement(
            suite, "testcase", {"classname": classname, "name": case, "time": f"{entries[case].seconds:.6f}"}
        )
        number = {"defect": defect[target, case]} if (target, case) in defect else {}
        if about_case := {**parse_case(case).axes, **number}:
            _properties(testcase, about_case)
        if case in is_told:
            _outcome(testcase, next(details))
    return suite


def _properties(parent: etree._Element, values: dict[str, Any]) -> None:
    properties = etree.SubElement(parent, "properties")
    for name, value in values.items():
        if value not in (None, ""):
            etree.SubElement(properties, "property", {"name": printable(name), "value": printable(value)})


def _outcome(testcase: etree._Element, record: dict[str, Any]) -> None:
    status = record["status"]
    text, tag = explain(record), OUTCOME[status]
    if tag:
        message = f"{status}: {record.get('known') or record.get('reason') or text.split(chr(10))[0]}"
        outcome = etree.SubElement(testcase, tag, {"message": printable(message), "type": status})
        if tag != "skipped":
            outcome.text = printable(text + (f"\nrepeat: {record['repeat']}" if record.get("repeat") else ""))
    notes = []
    if status == "flaky":
        notes.append(f"flaky: passed after {record.get('attempts', 'several')} attempts\n{text}")
    if record.get("advisory"):
        notes.append("advisory: " + explain({"ranks": record["advisory"]}))
    if notes:
        etree.SubElement(testcase, "system-out").text = printable("\n".join(notes))


def _totals(entries: list[Entry]) -> dict[str, str]:
    outcomes = [OUTCOME[entry.status] for entry in entries]
    return {
        "tests": str(len(entries)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(entry.seconds for entry in entries):.6f}",
    }
