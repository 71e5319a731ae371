"""junit.xml: the run as test suites that Jenkins, GitLab and others show.

One testsuite for each target and test, one testcase for each case. Written as a stream: a tree of 200,000 cases made
with the junitparser library takes several times the memory, which also grows with the messages. The tests read the
file back with that library.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

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


def write_junit(out: Path) -> Path:
    """Write `out`/junit.xml; the result is its path. Raises WrongUse when `out` holds no run, else CannotRun."""
    evidence = Evidence(out)
    return write_file(out / "junit.xml", lambda file: _Writer(file, evidence).document())


class _Writer:
    def __init__(self, file: TextIOWrapper, evidence: Evidence) -> None:
        self.xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)
        self.evidence = evidence

    @contextmanager
    def element(self, tag: str, depth: int, /, **attributes: object) -> Iterator[None]:
        self.xml.ignorableWhitespace("\n" + "  " * depth)
        self.xml.startElement(tag, AttributesImpl({key: printable(value) for key, value in attributes.items()}))
        yield
        self.xml.endElement(tag)

    def text(self, text: str) -> None:
        self.xml.characters(printable(text))

    def properties(self, depth: int, values: dict[str, Any]) -> None:
        with self.element("properties", depth):
            for name, value in values.items():
                if value not in (None, ""):
                    with self.element("property", depth + 1, name=name, value=value):
                        pass

    def document(self) -> None:
        self.xml.startDocument()
        entries = [entry for cases in self.evidence.cases.values() for entry in cases.values()]
        with self.element("testsuites", 0, name="assay", **_totals(entries)):
            for target, cases in self.evidence.cases.items():
                tests: dict[str, list[str]] = {}
                for case in cases:
                    tests.setdefault(case.split("/", 1)[0], []).append(case)
                for test, names in sorted(tests.items()):
                    self.suite(target, test, names)
        self.xml.ignorableWhitespace("\n")
        self.xml.endDocument()

    def suite(self, target: str, test: str, cases: list[str]) -> None:
        run, about = self.evidence.run, self.evidence.about.get(target, {})
        machine = run.get("machine")
        entries = self.evidence.cases[target]
        told = [case for case in cases if entries[case].status != "pass" or case in self.evidence.advisory[target]]
        details = self.evidence.details(target, told)
        with self.element(
            "testsuite",
            1,
            name=f"{target} {test}",
            **_totals([entries[case] for case in cases]),
            timestamp=str(run.get("started", "")).rstrip("Z"),  # the schema of JUnit allows no time zone
            hostname=machine.get("host", "") if isinstance(machine, dict) else "",
        ):
            self.properties(
                2,
                {
                    "target": target,
                    "mpi": about.get("mpi"),
                    "library": about.get("library"),
                    "np": about.get("np"),
                    "seed": run.get("seed"),
                    "tier": run.get("tier"),
                },
            )
            is_told = set(told)
            for case in cases:
                # The target is part of the class: consumers tell tests apart by class and name alone.
                with self.element(
                    "testcase", 2, classname=f"{target}.{test}", name=case, time=f"{entries[case].seconds:.6f}"
                ):
                    if axes := parse_case(case).axes:
                        self.properties(3, axes)
                    if case in is_told:
                        self.outcome(next(details))

    def outcome(self, record: dict[str, Any]) -> None:
        status = record["status"]
        text, element = explain(record), OUTCOME[status]
        if element:
            message = f"{status}: {record.get('known') or record.get('reason') or text.split(chr(10))[0]}"
            with self.element(element, 3, message=message, type=status):
                if element != "skipped":
                    self.text(text + (f"\nrepeat: {record['repeat']}" if record.get("repeat") else ""))
        notes = []
        if status == "flaky":
            notes.append(f"flaky: passed after {record.get('attempts', 'several')} attempts\n{text}")
        if record.get("advisory"):
            notes.append("advisory: " + explain({"ranks": record["advisory"]}))
        if notes:
            with self.element("system-out", 3):
                self.text("\n".join(notes))


def _totals(entries: list[Entry]) -> dict[str, str]:
    outcomes = [OUTCOME[entry.status] for entry in entries]
    return {
        "tests": str(len(entries)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(entry.seconds for entry in entries):.6f}",
    }
