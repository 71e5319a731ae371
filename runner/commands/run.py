"""assay run and assay matrix: targets → build → plan → supervise → reports (docs/formats.md, section 6)."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from reports.evidence import Evidence
from runner.commands.prepare import prepare, write_plans
from runner.commands.session import Session, load_known
from runner.libraries import launching
from runner.model import UNEXPECTED, CannotRun, WrongUse
from runner.planning import plan
from runner.request import Request

BASE = Path("assay-out")  # where runs go that name no folder


def run(request: Request, out: Path | None, console: Console, baseline: Path | None = None) -> int:
    """assay run. Returns the exit code; raises WrongUse and CannotRun before anything is written to `out`.

    With `baseline`, the folder of a run, what this one found is compared with it, and the exit code is that of the
    comparison.
    """
    for np in request.np:
        launching.check_np(np, request.wishes)
    plan.must_be_one_of("tier", request.selection.tier, plan.TIERS)
    request.over()
    amend = load_known(request)
    if out is not None:
        _check_free(out)
    ready = prepare(request, console)
    folder = _make_out(out)
    write_plans(folder, ready.targets, request.options.seed)
    code = Session(request, folder, ready, amend, console).run()
    point_latest(folder)
    if baseline is None:
        return code
    from runner.commands.compare import against

    return against(baseline, folder, Console(highlight=False))


def only_failed(folder: Path, given: Mapping[str, Any], chosen: Collection[str]) -> dict[str, Any] | None:
    """The options `given` to `assay run`, for the cases that did not go as expected in the run in `folder`.

    Libraries, numbers of ranks, seed and threads are those of that run, unless they are among the `chosen` options.
    None when everything went as expected there.
    """
    if "select" in chosen:
        raise WrongUse("--last-failed: it names the cases; leave --select out")
    before = Evidence(folder)
    failed = {
        target: [case for case, entry in entries.items() if entry.status in UNEXPECTED]
        for target, entries in before.cases.items()
    }
    about = [before.about.get(target, {}) for target, cases in failed.items() if cases]
    if not about:
        return None
    options = before.run.get("options") or {}
    there = {
        "mpi": [str(one["mpi"]) for one in about if one.get("mpi")],
        "np": [str(one["np"]) for one in about if one.get("np")],
        "seed": before.run.get("seed"),
        "threads": options.get("threads"),
        "transport": [str(one["transport"]) for one in about if one.get("transport")],
    }
    found = {**given, "select": list(dict.fromkeys(case for cases in failed.values() for case in cases))}
    return found | {name: value for name, value in there.items() if value and name not in chosen}


def point_latest(folder: Path) -> None:
    """Let assay-out/latest name the newest finished run there, when `folder` is one of them."""
    base = folder.absolute().parent
    if base != BASE.absolute() or folder.name not in (found := newest(base, finished=True)):
        return
    with suppress(OSError):
        link = base / f".latest-{os.getpid()}"
        link.symlink_to(found[0])
        link.replace(base / "latest")


def newest(base: Path, *, finished: bool) -> list[str]:
    """The names of the runs in a folder that have finished, or that have not, the newest first."""
    found = []
    for record in base.glob("*/run.json"):
        if record.parent.is_symlink():
            continue
        with suppress(OSError, ValueError):
            run = json.loads(record.read_bytes())
            if isinstance(run, dict) and bool(run.get("finished")) == finished:
                found.append((str(run.get("started")), record.parent.name))
    return [name for _, name in sorted(found, reverse=True)]


def _check_free(out: Path) -> None:
    """Raises WrongUse when a run cannot be written to `out`, before anything is built."""
    if (out / "run.json").exists():
        raise WrongUse(
            f"--out {out}: it already holds a run; `assay resume {out}` goes on with it, or name another folder"
        )
    if (out / "cases.jsonl").exists():
        raise WrongUse(f"--out {out}: it holds a cases.jsonl without a run.json; name another folder")
    place = out
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise WrongUse(f"--out {out}: {place} is a file; name a folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise WrongUse(f"--out {out}: {place} is not writable; name a folder of your own")


def _make_out(out: Path | None) -> Path:
    """The output folder; without a name one by date."""
    try:
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            return out
        base = BASE
        base.mkdir(exist_ok=True)
        stem = datetime.now().strftime("%Y-%m-%d-%H%M%S")
        for number in range(1, 1000):
            folder = base / (stem if number == 1 else f"{stem}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise CannotRun(
            f"{error.filename or out}: cannot be written: {error.strerror}; name a folder with --out"
        ) from None
    raise CannotRun("assay-out: no free name for this run; name a folder with --out")
