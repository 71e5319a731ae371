"""assay merge DIR…: the shards of a run become one run, with one target for each that they share and each case once."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from reports.evidence import Evidence, objects, write_file
from reports.html import write_html
from reports.junit import write_junit
from reports.summary import print_summary
from runner.model import NOT_RUN, CannotRun, WrongUse, added, exit_code

SAME = ("assay", "seed", "tier", "profile")  # of run.json, in all shards


def merge(folders: Sequence[Path], out: Path, note: Callable[[str], None]) -> int:
    """Write the whole run into `out`, with its reports; the exit code that it would have had.

    A case that several shards have counts by the run that began last. Raises WrongUse when the folders are no parts of
    one run, CannotRun when `out` cannot be written.
    """
    if (out / "run.json").exists() or (out / "cases.jsonl").exists():
        raise WrongUse(f"--out {out}: it already holds a run; name another folder")
    shards = sorted(map(Evidence, folders), key=lambda one: str(one.run.get("started")))
    first = shards[0]
    for other in shards[1:]:
        for name in SAME:
            if other.run.get(name) != first.run.get(name):
                raise WrongUse(
                    f"{other.out}: {name} is {other.run.get(name)!r}, in {first.out} it is {first.run.get(name)!r}; "
                    "merge shards of one run"
                )
    owner: dict[tuple[str, str], int] = {}
    for number, shard in enumerate(shards):
        owner.update(((target, case), number) for target, cases in shard.cases.items() for case in cases)
    total = sum(len(cases) for shard in shards for cases in shard.cases.values())
    if twice := total - len(owner):
        note(f"{twice:,} cases stand in several of these runs; the verdict of the newest counts")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{out}: cannot be written: {error.strerror}; name another folder") from None

    def write_cases(file: Any) -> None:
        for number, shard in enumerate(shards):
            for target, cases in shard.cases.items():
                for record in shard.details(target, [case for case in cases if owner[target, case] == number]):
                    file.write(json.dumps(record, separators=(",", ":")) + "\n")

    write_file(out / "cases.jsonl", write_cases)
    _write_run(shards, owner, out)
    whole = Evidence(out)
    print_summary(whole, Console(highlight=False))
    write_junit(whole)
    write_html(whole)
    return exit_code(whole.counts())


def _write_run(shards: Sequence[Evidence], owner: dict[tuple[str, str], int], out: Path) -> None:
    """run.json of the whole: that of the first shard, with the targets, times and warnings of all."""
    targets: dict[str, dict[str, Any]] = {}
    statuses: dict[str, Counter[str]] = {}
    for (target, case), number in owner.items():
        statuses.setdefault(target, Counter())[shards[number].cases[target][case].status] += 1
    for shard in shards:
        place = os.path.relpath(shard.out.resolve(), out.resolve())
        for name, about in shard.about.items():
            jobs = [{**job, "directory": f"{place}/{job.get('directory')}"} for job in objects(about.get("jobs"))]
            targets[name] = {**about, "jobs": [*targets.get(name, {}).get("jobs", ()), *jobs]}
    for name, about in targets.items():
        status = statuses.get(name, Counter())
        ran = sum(number for one, number in status.items() if one not in NOT_RUN)
        listed = max(shard.about.get(name, {}).get("cases", {}).get("listed", 0) for shard in shards)
        counted = {"listed": listed, "selected": status.total(), "ran": ran, "unsupported": status["unsupported"]}
        about.update(status=dict(status), cases=counted)
    first = shards[0].run
    options = {**(first.get("options") or {}), "shard": None}
    record = {
        **first,
        "finished": all(shard.run.get("finished") for shard in shards),
        "seconds": round(sum(float(shard.run.get("seconds") or 0.0) for shard in shards), 3),
        "options": options,
        "targets": list(targets.values()),
        "cases": added(about["cases"] for about in targets.values()),
        "status": added(about["status"] for about in targets.values()),
        "warnings": list(dict.fromkeys(text for shard in shards for text in shard.run.get("warnings") or ())),
    }
    write_file(out / "run.json", lambda file: file.write(json.dumps(record, indent=1) + "\n"))
