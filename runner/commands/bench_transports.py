"""assay bench transports: latency and bandwidth of an MPI library over one transport beside others, in the same run.

Each transport is started once a round, in turns, so that a busy moment of the machine meets all of them; what counts is
the best of the rounds. `raw_tcp` is a plain connection without MPI (transports/tcp/raw.cpp): the limit for all that
use TCP. `raw_sctp` is a plain association of usrsctp. `ofi:PROVIDER` is a provider of libfabric without MPI.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.libraries import build, launching, targets
from runner.libraries.transports import (
    FABRIC,
    OURS,
    OWN,
    PROVIDERS,
    UCX,
    Transport,
    counted,
    parse,
    prove,
    provider_environment,
)
from runner.model import CannotRun, Launch, WrongUse

# What needs no MPI library, and the program that measures it: raw_tcp.
RAW = {name.replace("assay_", "raw_"): one.raw for name, one in OURS.items() if one.raw}
OFI = "ofi:"  # before the name of a provider: nor does this
# What our transports are held against, with MPI and without: the better of these.
RIVALS: dict[str, tuple[str, ...]] = {
    **{name: one.rivals for name, one in OURS.items()},
    **{OFI + name: tuple(r if r in RAW else OFI + r for r in one.rivals) for name, one in OURS.items()},
}
SHORT, LONG = 8, 1 << 20  # bytes: where latency and bandwidth are compared
SWITCH = 1.3  # six bytes more that take so much longer are another protocol
LIMIT_SECONDS = 300  # for one start


@dataclass(frozen=True)
class Request:
    """What to measure."""

    mpi: str
    transports: Sequence[str] = ()  # none: all that the library can be told to use
    rounds: int = 5
    largest: int = 4 << 20  # bytes
    preset: str = "release"
    wishes: launching.LaunchWishes = field(default_factory=launching.LaunchWishes)


@dataclass(frozen=True)
class Point:
    """One message size: bytes, microseconds of half a round trip, MB (10^6 bytes) a second."""

    size: int
    latency: float
    bandwidth: float


@dataclass
class Contender:
    """A transport with what starts it, and what came of it."""

    name: str
    start: Callable[[Path], Launch]  # writes its points to the file
    points: list[Point] = field(default_factory=list)
    reason: str = ""  # why there is nothing to measure
    transport: Transport | None = None  # of ours: has to prove that it was used
    counters: Path = Path()


def run(request: Request, out: Path, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure; {"mpi", "rounds", "transports": [{name, points, …} or {name, reason}], "ratios": […]}."""
    library = targets.resolve(request.mpi)
    out.mkdir(parents=True, exist_ok=True)
    contenders = _contenders(request, library, out, note)
    for turn in range(1, request.rounds + 1):
        for one in contenders:
            if one.reason:
                continue
            note(f"round {turn} of {request.rounds}: {one.name}")
            try:
                one.points = best(one.points, _measure(one, out / f"{_file_name(one.name)}-{turn}.txt"))
                if one.transport:
                    prove(one.transport, counted(one.counters), 2)
            except CannotRun as error:
                one.reason, one.points = str(error), []
                note(one.reason)
    measured = {one.name: one.points for one in contenders if one.points}
    if not measured:
        raise CannotRun(f"no transport of {request.mpi} could be measured: {contenders[0].reason}")
    return {
        "mpi": request.mpi,
        "rounds": request.rounds,
        "transports": [
            {"name": one.name, "points": [vars(point) for point in one.points], **derived(one.points)}
            if one.points
            else {"name": one.name, "reason": one.reason}
            for one in contenders
        ],
        "ratios": ratios(measured),
    }


def best(before: Sequence[Point], now: Sequence[Point]) -> list[Point]:
    """Size by size the lower latency and the higher bandwidth."""
    if not before:
        return list(now)
    return [
        Point(a.size, min(a.latency, b.latency), max(a.bandwidth, b.bandwidth))
        for a, b in zip(before, now, strict=True)
    ]


def derived(points: Sequence[Point]) -> dict[str, Any]:
    """What sums the points up.

    `latency` (µs at 8 bytes), `bandwidth` (MB/s at 1 MiB, 0 if not measured), `most` (MB/s at best), `half` (the
    smallest size in bytes with half of that), `switches` (powers of two around which six bytes more take much longer).
    """
    most = max(point.bandwidth for point in points)
    latency = {point.size: point.latency for point in points}
    return {
        "latency": latency.get(SHORT, points[0].latency),
        "bandwidth": next((point.bandwidth for point in points if point.size == LONG), 0.0),
        "most": most,
        "half": next(point.size for point in points if 2 * point.bandwidth >= most),
        "switches": [
            size
            for size in latency
            if {size - 3, size + 3} <= latency.keys() and latency[size + 3] > SWITCH * latency[size - 3]
        ],
    }


def ratios(measured: Mapping[str, Sequence[Point]]) -> list[dict[str, Any]]:
    """Our transports beside their rivals: below 1 it is slower; bandwidth 0: not measured."""
    found = []
    for name, points in measured.items():
        names = RIVALS.get(_without_switches(name), ())
        rivals = [derived(measured[rival]) for rival in names if rival in measured]
        if not rivals:
            continue
        mine, most = derived(points), max(rival["bandwidth"] for rival in rivals)
        found.append(
            {
                "name": name,
                "rivals": list(names),
                "latency": min(rival["latency"] for rival in rivals) / mine["latency"],
                "bandwidth": mine["bandwidth"] / most if most else 0,
            }
        )
    return found


def read_points(text: str) -> list[Point]:
    """The lines of bench/transports: bytes, nanoseconds, bytes a second."""
    rows = [line.split() for line in text.splitlines()]
    return [Point(int(size), float(nanoseconds) / 1e3, float(rate) / 1e6) for size, nanoseconds, rate in rows]


def _contenders(request: Request, library: targets.Library, out: Path, note: Callable[[str], None]) -> list[Contender]:
    told = targets.known().get(library.family, {}).get("transport", {})
    names = list(request.transports) or [
        OWN,
        *((*PROVIDERS, *FABRIC) if "environment" in told else ()),
        *([UCX] if "ucx" in told else []),
        # Where no rival uses MPI, the fair comparison is without it.
        *(OFI + name for name, one in OURS.items() if one.rivals and set(one.rivals) <= set(RAW)),
        *RAW,
    ]
    over = {name: parse(name.removeprefix(OFI)) for name in names if name not in RAW}
    providers = build.transports(request.preset, note=note)
    with_mpi = any(name not in RAW and not name.startswith(OFI) for name in names)
    binary = Path()
    if with_mpi:
        program = "assay-bench-mpi"
        binary = build.build(library, request.preset, note=note, programs=(program,)) / program
    environment = launching.list_environment(library)

    def raw(program: str) -> Callable[[Path], Launch]:
        return lambda file: Launch([str(providers / program), str(file), str(request.largest)], environment)

    def mpi(target: Any) -> Callable[[Path], Launch]:
        return lambda file: target.launcher([str(file), str(request.largest)])

    found = []
    for name in names:
        if name in RAW:
            found.append(Contender(name, raw(RAW[name])))
            continue
        counters = out / "counters" / _file_name(name)
        if over[name].ours:
            counters.mkdir(parents=True, exist_ok=True)
            for old in counters.glob("*.json"):  # of an earlier run: they prove nothing
                old.unlink()
        if name.startswith(OFI):
            start = _without_mpi(over[name], request, providers, counters.absolute())
        else:
            target = launching.make_target(library, 2, binary, request.wishes, over[name], providers)
            start = mpi(launching.counting(target, counters.absolute()) if over[name].ours else target)
        found.append(Contender(name, start, transport=over[name] if over[name].ours else None, counters=counters))
    return found


def _without_mpi(transport: Transport, request: Request, providers: Path, counters: Path) -> Callable[[Path], Launch]:
    """Starts what measures a provider by itself: in the system's libfabric, not in one that the MPI library brings."""
    environment = {
        **os.environ,
        **provider_environment(transport, providers),
        **(launching.counters_to(counters) if transport.ours else {}),
        **request.wishes.env,
    }
    program = str(providers / "assay-bench-fabric")
    return lambda file: Launch([program, str(file), transport.fabric, str(request.largest)], environment)


def check_names(names: Iterable[str]) -> None:
    """Raises WrongUse for a transport that nobody knows."""
    for name in names:
        if name in RAW:
            continue
        try:
            provider = parse(name.removeprefix(OFI)).provider
        except WrongUse as error:
            raise WrongUse(f"{error}; or {', '.join(RAW)}, {OFI}PROVIDER") from None
        if name.startswith(OFI) and provider in ("", UCX):
            raise WrongUse(f"--transport {name}: no provider of libfabric; use {', '.join((*PROVIDERS, *FABRIC))}")


def _measure(one: Contender, file: Path) -> list[Point]:
    launch = one.start(file)
    try:
        done = subprocess.run(
            launch.argv,
            env=dict(launch.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{one.name}: did not end within {LIMIT_SECONDS} s") from None
    if done.returncode != 0 or not file.exists():
        words = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[0]
        raise CannotRun(f"{one.name}: ended with {done.returncode}: {words}")
    return read_points(file.read_text())


def _without_switches(name: str) -> str:
    """ofi:assay_tcp:cork → ofi:assay_tcp."""
    provider = name.removeprefix(OFI).partition(":")[0]
    return OFI + provider if name.startswith(OFI) else provider


def _file_name(name: str) -> str:
    return name.replace(":", "_").replace("=", "_")
