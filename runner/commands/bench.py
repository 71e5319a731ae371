"""assay bench harness: what a case costs beyond the MPI calls in it, and how many cases a second the suite runs.

The cost comes from assay-bench (bench/harness.cpp), which runs cases without a body and cases of 8 bytes through the
engine, the event log and the hooks of the suite, in turns with bare loops of the same MPI calls. CPU time is what
counts when other work shares the machine; wall time is meaningful on an idle one with a core for each rank.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runner.libraries import build, launching, targets
from runner.model import CannotRun, Options, Verdict
from runner.planning import plan
from runner.supervision.journal import Journal

TARGET_US = 10.0  # a case and rank may cost this much beyond its MPI calls
LIMIT_SECONDS = 300  # for one run of assay-bench
PAIRS = (("empty", None), ("self", "bare_self"), ("ping", "bare_ping"))  # kind of case, its bare loop
CLOCKS = ("cpu", "wall")


@dataclass(frozen=True)
class Request:
    """What to measure."""

    mpi: str
    np: Sequence[int] = (2, 4)
    empty: int = 20_000  # cases in a round
    ping: int = 10_000
    rounds: int = 7
    tier: str = ""  # of the p2p suite, for cases per second; "": not measured
    preset: str = "release"
    wishes: launching.LaunchWishes = field(default_factory=launching.LaunchWishes)


def costs(spans: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds a case and rank from the rounds that assay-bench wrote: {kind: {clock: {min, median}}}.

    CPU time is the mean of the ranks, wall time that of the slowest. For each kind with a bare loop there is also
    `<kind> beyond`: the difference to the loop of the same round.
    """
    rounds: dict[str, dict[str, list[float]]] = {}
    for span in spans:
        of_kind = rounds.setdefault(span["kind"], {clock: [] for clock in CLOCKS})
        of_kind["cpu"].append(1e6 * statistics.fmean(span["cpu"]) / span["cases"])
        of_kind["wall"].append(1e6 * max(span["wall"]) / span["cases"])
    for kind, bare in PAIRS:
        if bare and kind in rounds and bare in rounds:
            rounds[f"{kind} beyond"] = {
                clock: [a - b for a, b in zip(rounds[kind][clock], rounds[bare][clock], strict=True)]
                for clock in CLOCKS
            }
    return {
        kind: {clock: {"min": min(all_), "median": statistics.median(all_)} for clock, all_ in of_kind.items()}
        for kind, of_kind in rounds.items()
    }


def cost(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> float:
    """The number to hold against TARGET_US: median CPU microseconds of the dearer of empty and `self beyond`."""
    return max(measured[kind]["cpu"]["median"] for kind in ("empty", "self beyond"))


def run(request: Request, out: Path, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure; {"mpi", "target_us", "ok", "cost": [{np, us, …}], "rate": [{np, settings, cases, seconds, rate}]}."""
    for np in request.np:
        launching.check_np(np, request.wishes)
    if request.tier:
        plan.must_be_one_of("tier", request.tier, plan.TIERS)
    library = targets.resolve(request.mpi)
    folder = build.build(library, request.preset, note=note, programs=(build.SUITE, "assay-bench"))
    measured: list[dict[str, Any]] = []
    for np in request.np:
        note(f"np {np}: {request.rounds} rounds of {request.empty:,} empty and {request.ping:,} 8-byte cases")
        spans = _spans(library, folder / "assay-bench", request, np, out / f"cost-np{np}")
        of_np = costs(spans)
        measured.append({"np": np, "us": round(cost(of_np), 2), "kinds": of_np})
    rates: list[dict[str, Any]] = []
    if request.tier:
        for np in request.np:
            for defaults in (False, True):
                wishes = replace(request.wishes, defaults=defaults)
                target = launching.make_target(library, np, build.suite(folder, library), wishes)
                name = "the library's defaults" if defaults else "settings for busy cores"
                note(f"np {np}, {name}: p2p, {request.tier} tier")
                suite = plan.Suite(build.suite(folder, library), launching.list_environment(library))
                made = plan.make(suite, np, plan.Selection(request.tier, suite=["p2p"]))
                rates.append(
                    {"np": np, "settings": name} | _rate(target, made.cases, out / f"rate-np{np}-{defaults:d}")
                )
    return {
        "mpi": request.mpi,
        "target_us": TARGET_US,
        "ok": all(one["us"] <= TARGET_US for one in measured),
        "cost": measured,
        "rate": rates,
    }


def _spans(library: targets.Library, binary: Path, request: Request, np: int, folder: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    target = launching.make_target(library, np, binary, request.wishes)
    # Ranks that wait for each other on too few cores take milliseconds for a message: fewer of them say as much.
    ping = request.ping if target.oversubscription <= 1 else max(request.ping // 5, 1)
    launch = target.launcher(
        [f"--job={folder}", f"--empty={request.empty}", f"--ping={ping}", f"--rounds={request.rounds}"]
    )
    try:
        done = subprocess.run(
            launch.argv,
            env=launch.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"assay-bench with {np} ranks did not end within {LIMIT_SECONDS} s") from None
    try:
        return list(json.loads((folder / "bench.json").read_text()))
    except (OSError, ValueError):
        words = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise CannotRun(f"assay-bench with {np} ranks ended with {done.returncode}: {words}") from None


def _rate(target: Any, cases: Sequence[str], folder: Path) -> dict[str, Any]:
    """Cases per second of the jobs, launches included."""
    from runner.supervision.context import Task
    from runner.supervision.supervise import supervise

    folder.mkdir(parents=True, exist_ok=True)
    bad = 0

    def verdicts(some: Sequence[Verdict]) -> None:
        nonlocal bad
        bad += sum(verdict.status != "pass" for verdict in some)

    with Journal(folder / "cases.jsonl") as journal:
        options = Options(timeout_scale=0.5)
        jobs = supervise(
            Task(target=target, plan=cases, out=folder, journal=journal, options=options, on_verdicts=verdicts)
        )
    seconds, ran = sum(job.seconds for job in jobs), sum(job.cases for job in jobs)
    return {
        "cases": ran,
        "seconds": round(seconds, 2),
        "rate": round(ran / seconds, 1) if seconds else 0.0,
        "jobs": len(jobs),
        "not_passed": bad,
    }


def print_report(found: Mapping[str, Any]) -> None:
    """Tables of both measurements, and a last line."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, title="microseconds a case and rank", title_justify="left")
    for name in ("np", "kind"):
        table.add_column(name)
    for name in ("CPU min", "CPU median", "wall min", "wall median"):
        table.add_column(name, justify="right")
    for one in found["cost"]:
        for kind, clocks in one["kinds"].items():
            numbers = [clocks[clock][which] for clock in CLOCKS for which in ("min", "median")]
            table.add_row(str(one["np"]), kind.replace("_", " "), *[f"{number:.2f}" for number in numbers])
    console.print(table)
    if found["rate"]:
        table = Table(box=None, pad_edge=False, title="\ncases per second, p2p", title_justify="left")
        for name in ("np", "settings", "cases", "seconds", "cases/s", "launches"):
            table.add_column(name, justify="left" if name == "settings" else "right")
        for one in found["rate"]:
            table.add_row(
                str(one["np"]),
                one["settings"],
                f"{one['cases']:,}",
                f"{one['seconds']:.1f}",
                f"{one['rate']:,.0f}",
                str(one["jobs"]),
            )
        console.print(table)
    for one in found["cost"]:
        verdict = "within" if one["us"] <= found["target_us"] else "BEYOND"
        console.print(f"np {one['np']}: {one['us']:.2f} µs a case and rank, {verdict} the {found['target_us']:.0f} µs")
