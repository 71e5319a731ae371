"""assay run and assay matrix: targets → build → plan → supervise → reports (docs/formats.md, section 6)."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from rich.console import Console

from runner.commands.prepare import prepare, write_plans
from runner.commands.session import Session, load_known
from runner.libraries import launching
from runner.model import CannotRun, WrongUse
from runner.planning import plan
from runner.request import Request


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
    if baseline is None:
        return code
    from runner.commands.compare import against

    return against(baseline, folder, Console(highlight=False))


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
    """The output folder; without a name one by date, to which assay-out/latest then points."""
    try:
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            return out
        base = Path("assay-out")
        base.mkdir(exist_ok=True)
        stem = datetime.now().strftime("%Y-%m-%d-%H%M%S")
        for number in range(1, 1000):
            folder = base / (stem if number == 1 else f"{stem}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            link = base / f".latest-{os.getpid()}"
            link.symlink_to(folder.name)
            link.replace(base / "latest")
            return folder
    except OSError as error:
        raise CannotRun(
            f"{error.filename or out}: cannot be written: {error.strerror}; name a folder with --out"
        ) from None
    raise CannotRun("assay-out: no free name for this run; name a folder with --out")
