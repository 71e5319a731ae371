"""report.html: one self-contained page about a run. It loads nothing, and everything from the evidence is escaped.

Passing cases enter as numbers only, so the page grows with the number of axis values and of failures, not of cases.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reports import page
from reports.advice import advised
from reports.evidence import (
    NOT_RUN,
    STATUSES,
    UNEXPECTED,
    WORST_FIRST,
    Evidence,
    objects,
    parse_case,
    value_order,
    write_file,
)
from reports.factors import common_factor, groups
from reports.requirements import cited

MAX_CASES = 2000  # non-passing cases told in detail
MAX_ADVISED = 500  # passing cases that carry advice, told in detail
MAX_TEXT = 4000  # characters of one message or stack
MAX_JOBS = 300
MAX_ROWS = 200  # of the tables of reasons
FIRST_AXES = ("comm", "type", "count")


def write_html(evidence: Evidence) -> Path:
    """Write report.html beside the evidence; the result is its path. Raises CannotRun."""
    text = _render(evidence)
    return write_file(evidence.out / "report.html", lambda file: file.write(text))


def _render(evidence: Evidence) -> str:
    found = groups(evidence)
    run = evidence.run
    return page.render(
        "report",
        {"shorten": _shorten},
        run=run,
        command=shlex.join(["./assay", *map(str, run.get("argv") or ())]),
        machine=run["machine"] if isinstance(run.get("machine"), dict) else {},
        options={key: value for key, value in (run.get("options") or {}).items() if value not in (None, False)},
        targets=[(name, evidence.about.get(name, {})) for name in evidence.targets],
        warnings=evidence.warnings,
        left_out=evidence.left_out,
        verdict=_verdict(evidence),
        good=not any(evidence.counts()[status] for status in UNEXPECTED) and bool(evidence.counts()),
        statuses=STATUSES,
        worst_first=WORST_FIRST,
        totals={name: evidence.counts(name or None) for name in ["", *evidence.targets]},
        groups=found[:MAX_ROWS],
        more_groups=len(found) - MAX_ROWS,
        **_cases(evidence),
        advice=advised(evidence),
        **_reasons(evidence),
        **_jobs(evidence),
        matrix=_matrix(evidence),
    )


def _verdict(evidence: Evidence) -> tuple[str, str]:
    """The headline, and a second sentence on what the failures share ("" when nothing)."""
    counts = evidence.counts()
    ran = sum(counts[status] for status in STATUSES if status not in NOT_RUN)
    bad = sum(counts[status] for status in UNEXPECTED)
    if not counts:
        return "No case was judged", ""
    if not ran:
        return "No case could run here", ""
    notes = [f"{counts['xfail']:,} failed as known"] if counts["xfail"] else []
    notes += [f"{counts['flaky']:,} passed only when repeated"] if counts["flaky"] else []
    if not bad:
        head = f"All {counts['pass']:,} cases passed" if not notes else f"{counts['pass']:,} of {ran:,} cases passed"
        return "; ".join([head, *notes]), ""
    head = f"{bad:,} of {ran:,} cases did not go as expected"
    shared = []
    for target, entries in evidence.cases.items():
        failing = [case for case, entry in entries.items() if entry.status in UNEXPECTED]
        if len({parse_case(case).test for case in failing}) > 1:
            factor = common_factor(failing, (case for case, entry in entries.items() if entry.status not in NOT_RUN))
            shared += [f"{target}: {factor}."] if factor else []
    return "; ".join([head, *notes]), " ".join(shared)


def _cases(evidence: Evidence) -> dict[str, Any]:
    """The non-passing cases, and the passing ones that carry advice, with what each has to tell."""

    def carries_advice(target: str, case: str) -> bool:
        return evidence.cases[target][case].status == "pass" and case in evidence.advisory.get(target, ())

    def did_not_pass(target: str, case: str) -> bool:
        return evidence.cases[target][case].status not in NOT_RUN | {"pass"}

    bad, more_bad = _told(evidence, did_not_pass, MAX_CASES)
    good, more_good = _told(evidence, carries_advice, MAX_ADVISED)
    return {"cases": bad, "more_cases": more_bad, "advised": good, "more_advised": more_good}


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
    for *_, target, _case in chosen:
        record = next(told[target])
        for name in ("ranks", "advisory"):
            record[name] = [{**entry, "cited": cited(entry.get("requirements"))} for entry in objects(record.get(name))]
        record["cited"] = cited(record.get("requirements"))
        record["test"], _, record["point"] = record["case"].partition("/")
        records.append(record)
    return records, total - len(records)


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
    names = [axis for axis in FIRST_AXES if axis in values] + [axis for axis in values if axis not in FIRST_AXES]
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
