"""Before the first case of a run: libraries are found, suites built, plans made and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from reports.evidence import write_file
from runner.libraries import build, launching, targets
from runner.libraries.transports import unsupported
from runner.model import CannotRun, Target, WrongUse
from runner.planning import plan
from runner.request import Request


@dataclass
class Prepared:
    """One target that is ready to run."""

    target: Target
    suite: plan.Suite
    plan: plan.Plan
    binary: str  # the hash that the suite prints
    key: str  # of the build
    header: str = ""  # the version of MPI that the mpi.h of the build says
    jobs: list[dict[str, Any]] = field(default_factory=list)
    hello: dict[str, Any] = field(default_factory=dict)
    could_not_run: str = ""  # why it ended early
    counters: dict[str, int] = field(default_factory=dict)  # what the transport's provider counted
    # What the library says of itself for which cases were unsupported: how many.
    lost: Counter[str] = field(default_factory=Counter)


@dataclass
class Ready:
    """What is ready to run, and which libraries are not, by SPEC, with the reason."""

    targets: list[Prepared] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def prepare(request: Request, console: Console, out: Path | None = None) -> Ready:
    """Find the libraries, build, and plan each target; with `out` the plans are those of the run there.

    Raises WrongUse and CannotRun; in a matrix only when a SPEC is none, or when no library at all is ready.
    """
    ready = Ready()
    errors: list[CannotRun | WrongUse] = []

    @contextmanager
    def tolerating(spec: str) -> Iterator[None]:
        try:
            yield
        except (CannotRun, WrongUse) as error:
            if not request.matrix:
                raise
            errors.append(error)
            ready.absent[spec] = str(error)
            console.print(Text(f"assay: {spec} could not run: {error}", "bold red"), soft_wrap=True)

    specs = list(dict.fromkeys(request.mpi))
    for spec in specs:
        targets.check_spec(spec)
    libraries = []
    for spec in specs:
        with tolerating(spec):
            libraries.append(targets.resolve(spec))
    for library in libraries:
        with tolerating(library.spec):
            ready.targets += _prepare_library(request, library, console, out)
    if not ready.targets:
        raise errors[0]
    return ready


def _prepare_library(request: Request, library: targets.Library, console: Console, out: Path | None) -> list[Prepared]:
    def say(text: str) -> None:
        console.print(f"assay: {text}", highlight=False)

    suites = request.selection.suites_to_compile()
    folder = build.build(library, request.preset, note=say, programs=(build.SUITE,), suites=suites)
    ours = any(transport.ours for transport in request.over()) or (library.native and library.native.providers)
    providers = build.transports(request.preset, note=say) if ours else Path()
    binary = build.suite(folder, library)
    suite = plan.Suite(binary, launching.list_environment(library, providers))
    told = suite.ask("build", 1)
    digest = str(told[0].get("binary", "")) if told else ""
    header = str(told[0].get("mpi", "")) if told else ""
    prepared = []
    for transport in request.over():
        for np in dict.fromkeys(request.np):
            target = launching.make_target(library, np, binary, request.wishes, transport, providers)
            target = replace(target, threads=request.options.threads)
            made = plan.make(suite, np, request.selection, request.order, request.shard)
            for text in made.notes:
                say(text)
            about = targets.known().get(library.family, {})
            if out_of_reach := unsupported(made.cases, about, bool(transport.provider), target.launcher([]).env):
                made = replace(
                    made,
                    cases=[case for case in made.cases if case not in out_of_reach],
                    unsupported={**made.unsupported, **out_of_reach},
                )
            if out is not None and plan_path(out, target).exists():  # the sources may have changed since
                made = replace(made, cases=plan.read(plan_path(out, target)))
            prepared.append(Prepared(target, suite, made, digest, library.key, header))
    return prepared


def plan_path(out: Path, target: Target) -> Path:
    return out / "plans" / f"{target.slug}.txt"


def write_plans(out: Path, prepared: Sequence[Prepared], seed: int) -> None:
    try:
        (out / "plans").mkdir(exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{out}: cannot be written: {error.strerror}") from None
    for one in prepared:
        write_file(plan_path(out, one.target), partial(_write_text, one.plan.text(seed)))


def _write_text(text: str, file: TextIO) -> None:
    file.write(text)
