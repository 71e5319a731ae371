"""assay resume: goes on with a run that was stopped."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from reports.evidence import Evidence
from runner.commands.prepare import plan_path, prepare, write_plans
from runner.commands.run import BASE, newest, point_latest
from runner.commands.session import Session, load_known
from runner.model import WrongUse
from runner.request import request_of_run


def resume(out: Path, console: Console) -> int:
    """assay resume: goes on with the cases of `out` that have no verdict yet. Returns the exit code."""
    before = Evidence(out)
    record = before.run
    request = request_of_run(out, record)
    amend = load_known(request)
    ready = prepare(request, console, out)
    write_plans(out, [one for one in ready.targets if not plan_path(out, one.target).exists()], request.options.seed)
    warnings: list[str] = []
    known = {about["name"]: about for about in record.get("targets", ())}
    for one in ready.targets:
        about = known.get(one.target.name, {})
        one.jobs = list(about.get("jobs", ()))
        one.counters = dict(about.get("counters", {}))
        one.hello = {"library": about.get("library"), "mpi": about.get("mpi_standard"), "plan": about.get("plan")}
        if about.get("binary") not in (one.binary, None, ""):
            warnings.append(f"{one.target.name}: the suite was rebuilt from other sources since the run began")
    session = Session(request, out, ready, amend, console)
    session.before = before
    session.started = str(record.get("started") or session.started)
    session.seconds_before = float(record.get("seconds") or 0.0)
    session.warnings = warnings
    code = session.run()
    point_latest(out.resolve())
    return code


def stopped() -> Path:
    """The newest run in assay-out that has not finished. Raises WrongUse when there is none."""
    if not (names := newest(BASE, finished=False)):
        raise WrongUse(f"{BASE}: holds no run that was stopped; name the folder of a run")
    return BASE / names[0]
