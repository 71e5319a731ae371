"""report.html: one self-contained page about a run. It loads nothing, and everything from the evidence is escaped.

Passing cases enter as numbers only, so the page grows with the number of axis values and of failures, not of cases.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xxhash

from reports import page
from reports.advice import advised
from reports.defects import Defect, defects
from reports.evidence import Evidence, objects, parse_case, printable, value_order, write_file
from reports.requirements import cited
from runner.home import PROGRAM
from runner.model import NOT_RUN, STATUSES, UNEXPECTED, WORST_FIRST
from runner.request import changed_options

MAX_CASES = 2000  # non-passing cases told in detail
MAX_KNOWN = 500  # cases that failed as known, told in detail
MAX_ADVISED = 500  # passing cases that carry advice, told in detail
MAX_LINE = 300  # characters of the message in a closed row
MAX_TEXT = 4000  # characters of one message or stack
MAX_JOBS = 300
MAX_TABS = 12  # axes that have a tab; the others are in a list
MAX_ROWS = 200  # of the tables of reasons
_FOLDER = re.compile(r"(?:[\w@.+-]+/)*logs/[\w@.+-]+/job-\d+")  # of a job: what else stands there is no link
FIRST_AXES = ("comm", "type", "count")


def write_html(evidence: Evidence) -> Path:
    """Write report.html beside the evidence; the result is its path. Raises CannotRun."""
    text = _render(evidence)
    return write_file(evidence.out / "report.html", lambda file: file.write(text))


def _render(evidence: Evidence) -> str:
    found = defects(evidence)
    run = evidence.run
    return page.render(
        "report",
        {"shorten": _shorten, "is_folder": lambda name: bool(_FOLDER.fullmatch(str(name)))},
        run=run,
        command=shlex.join([PROGRAM, *map(str, run.get("argv") or ())]),
        machine=run["machine"] if isinstance(run.get("machine"), dict) else {},
        options=changed_options(run),
        targets=[(name, evidence.about.get(name, {})) for name in evidence.targets],
        warnings=evidence.warnings,
        left_out=evidence.left_out,
        verdict=_verdict(evidence, len(found)),
        good=not any(evidence.counts()[status] for status in UNEXPECTED) and bool(evidence.counts()),
        statuses=STATUSES,
        worst_first=WORST_FIRST,
        totals={name: evidence.counts(name or None) for name in ["", *evidence.targets]},
        defects=found[:MAX_ROWS],
        more_defects=len(found) - MAX_ROWS,
        **_cases(evidence, found),
        advice=advised(evidence),
        **_reasons(evidence),
        **_jobs(evidence),
        matrix=_matrix(evidence),
    )


def _verdict(evidence: Evidence, defects_found: int) -> str:
    """The headline."""
    counts = evidence.counts()
    ran = sum(counts[status] for status in STATUSES if status not in NOT_RUN)
    bad = sum(counts[status] for status in UNEXPECTED)
    if not counts:
        return "No case was judged"
    if not ran:
        return "No case could run here"
    notes = [f"{counts['xfail']:,} failed as known"] if counts["xfail"] else []
    notes += [f"{counts['flaky']:,} passed only when repeated"] if counts["flaky"] else []
    if not bad:
        head = f"All {counts['pass']:,} cases passed" if not notes else f"{counts['pass']:,} of {ran:,} cases passed"
        return "; ".join([head, *notes])
    suspected = f"{defects_found:,} suspected defect{'s' if defects_found > 1 else ''}"
    return "; ".join([f"{suspected}: {bad:,} of {ran:,} cases did not go as expected", *notes])


def _cases(evidence: Evidence, found: Sequence[Defect]) -> dict[str, Any]:
    """The unexpected and flaky cases by suspected defect, those that failed as known by what is known, and the passing
    ones that carry advice by test, with what each has to tell.
    """

    def carries_advice(target: str, case: str) -> bool:
        return evidence.cases[target][case].status == "pass" and case in evidence.advisory.get(target, ())

    def did_not_pass(target: str, case: str) -> bool:
        return evidence.cases[target][case].status in UNEXPECTED | {"flaky"}

    def failed_as_known(target: str, case: str) -> bool:
        return evidence.cases[target][case].status == "xfail"

    bad, more_bad = _told(evidence, did_not_pass, MAX_CASES)
    known, more_known = _told(evidence, failed_as_known, MAX_KNOWN)
    good, more_good = _told(evidence, carries_advice, MAX_ADVISED)
    numbers = {(one.target, one.case): defect.number for defect in found for one in defect.found}
    titles = {f"{one.number}": one.what for one in found}
    for record in bad:
        record["defect"] = numbers.get((record["target"], record["case"]), 0)
    bad.sort(key=lambda record: (record["defect"] or len(found) + 1, WORST_FIRST.index(record["status"])))
    return {
        "groups": _grouped(bad, lambda one: str(one["defect"] or "Passed only when repeated"), titles),
        "more_cases": more_bad,
        "known_groups": _grouped(known, lambda one: str(one.get("known") or one["line"])),
        "more_known_cases": more_known,
        "advised": _grouped(good, lambda one: one["test"]),
        "more_advised": more_good,
    }


def _grouped(
    records: Sequence[dict[str, Any]], kind: Callable[[dict[str, Any]], str], titles: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The records by kind, in the order in which kinds come first; those with the same message stand together."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        kinds[kind(record)].append(record)
    titles = titles or {}
    return [
        {
            "defect": int(name) if name in titles else 0,
            "title": titles.get(name, name),
            "cases": sorted(some, key=lambda one: (WORST_FIRST.index(one["status"]), one["line"])),
        }
        for name, some in kinds.items()
    ]


def _told(evidence: Evidence, is_wanted: Callable[[str, str], bool], most: int) -> tuple[list[dict[str, Any]], int]:
    """The wanted cases, worst first, and how many are left out: of more than `most` a fair share of each test and
    status stays.
    """
    chosen: list[tuple[bool, int, int, str, str]] = []  # expected, how many like it before, badness, target, case
    like: Counter[tuple[str, str, str]] = Counter()
    for target, entries in evidence.cases.items():
        for case, entry in entries.items():
            if not is_wanted(target, case):
                continue
            kind = (target, case.split("/", 1)[0], entry.status)
            like[kind] += 1
            bad = WORST_FIRST.index(entry.status)
            chosen.append((entry.status not in UNEXPECTED, like[kind], bad, target, case))
    total = len(chosen)
    chosen = sorted(chosen)[:most]
    chosen.sort(key=lambda item: (item[2], evidence.targets.index(item[3]), item[4].split("/", 1)[0], item[1]))
    wanted: dict[str, list[str]] = defaultdict(list)
    for *_, target, case in chosen:
        wanted[target].append(case)
    told = {target: evidence.details(target, cases) for target, cases in wanted.items()}
    records = []
    for *_, target, case in chosen:
        record = next(told[target])
        for name in ("ranks", "advisory"):
            record[name] = [{**entry, "cited": cited(entry.get("requirements"))} for entry in objects(record.get(name))]
        record["cited"] = cited(record.get("requirements"))
        record["test"], _, record["point"] = record["case"].partition("/")
        record["id"] = f"case-{xxhash.xxh3_64_hexdigest(f'{target} {case}'.encode('utf-8', 'replace'))}"
        record["line"] = _line(record)
        records.append(record)
    return records, total - len(records)


def _line(record: Mapping[str, Any]) -> str:
    """What a closed row says of its case: the first line of what went wrong."""
    advice = next((str(one.get("message") or "") for one in objects(record.get("advisory"))), "")
    text = str(record.get("reason") or "") or next(
        (str(one.get("message") or one.get("call") or "") for one in objects(record.get("ranks"))), advice
    )
    return printable(text.split("\n")[0][:MAX_LINE])


def _reasons(evidence: Evidence) -> dict[str, Any]:
    """Known failures and cases that did not run, counted by target and reason, the most frequent first."""
    known: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    tests: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    not_run: Counter[tuple[str, str, str]] = Counter()
    for target, entries in evidence.cases.items():
        listed = [case for case, entry in entries.items() if entry.status in NOT_RUN | {"xfail", "xpass"}]
        for record in evidence.details(target, listed):
            status, reason = record["status"], str(record.get("reason") or "")
            if status in NOT_RUN:
                not_run[target, status, reason or "no reason given"] += 1
            else:
                key = (target, str(record.get("known") or reason), str(record.get("known_link") or ""))
                known[key][status] += 1
                tests[key].add(parse_case(record["case"]).test)
    rows = [
        {
            "target": target,
            "reason": reason,
            "link": link,
            "is_url": link.startswith(("https://", "http://")),
            "count": count,
            "tests": sorted(tests[target, reason, link]),
        }
        for (target, reason, link), count in sorted(
            known.items(), key=lambda item: (-item[1]["xpass"], -item[1].total())
        )
    ]
    return {
        "known": rows[:MAX_ROWS],
        "more_known": len(rows) - MAX_ROWS,
        "not_run": [(*key, count) for key, count in not_run.most_common(MAX_ROWS)],
        "more_not_run": len(not_run) - MAX_ROWS,
    }


def _jobs(evidence: Evidence) -> dict[str, Any]:
    jobs = [(target, job) for target, about in evidence.about.items() for job in objects(about.get("jobs"))]
    jobs.sort(key=lambda item: item[1].get("end") == "complete")  # stable: the others first
    return {"jobs": jobs[:MAX_JOBS], "more_jobs": len(jobs) - MAX_JOBS}


def _matrix(evidence: Evidence) -> dict[str, Any]:
    """What the page's script draws: cells[target][axis][test][value] is a number (of passing cases), an object
    (cases by status) or 0 (not tested), with targets, axes, tests and values as indices into the lists beside it."""
    cells: dict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)
    values: dict[str, set[str]] = {}
    tests: set[str] = set()
    for target, entries in evidence.cases.items():
        for name, entry in entries.items():
            case = parse_case(name)
            tests.add(case.test)
            for axis, value in case.axes.items():
                values.setdefault(axis, set()).add(value)
                cells[target, axis, case.test, value][entry.status] += 1
    worst: Counter[str] = Counter()  # cases that went wrong, by axis
    for (_, axis, _, _), count in cells.items():
        worst[axis] += sum(count[status] for status in UNEXPECTED)
    names = [axis for axis in FIRST_AXES if axis in values]
    names += sorted((axis for axis in values if axis not in FIRST_AXES), key=lambda axis: (-worst[axis], axis))
    axes = [(axis, sorted(values[axis], key=value_order)) for axis in names]

    def cell(*key: str) -> int | dict[str, int]:
        count = cells.get(key)  # type: ignore[arg-type]
        if count is None:
            return 0
        return count["pass"] if count.keys() == {"pass"} else dict(count)

    ordered = sorted(tests)
    return {
        "targets": evidence.targets,
        "tests": ordered,
        "axes": axes,
        "tabs": sum(axis in FIRST_AXES or worst[axis] > 0 for axis in names[:MAX_TABS]),
        "statuses": WORST_FIRST,
        "cells": [
            [[[cell(target, axis, test, value) for value in column] for test in ordered] for axis, column in axes]
            for target in evidence.targets
        ],
    }


def _shorten(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n… {len(text) - MAX_TEXT:,} more characters in cases.jsonl"
