"""assay run and assay resume: targets → build → plan → supervise → reports (docs/formats.md, section 6)."""

from __future__ import annotations

import json
import os
import platform
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from reports.evidence import NOT_RUN, UNEXPECTED, Evidence, write_file
from runner.commands.progress import RunProgress
from runner.libraries import build, targets
from runner.libraries.transports import OWN, Transport, counted, counts, parse, prove, unsupported
from runner.model import CannotRun, Options, Target, Verdict, WrongUse
from runner.options import globs as without_braces
from runner.planning import plan
from runner.supervision.journal import Journal

FORMAT = 1
ALL_AS_EXPECTED, UNEXPECTED_RESULT, COULD_NOT_RUN, NOTHING_APPLICABLE = 0, 1, 3, 77  # exit codes


@dataclass(frozen=True)
class Request:
    """What the user asked for; stored in run.json, so that `assay resume` can go on with it."""

    mpi: Sequence[str]
    np: Sequence[int]
    selection: plan.Selection
    options: Options
    order: str = "listed"
    shard: str | None = None
    known: Sequence[str] = ()
    known_limit: int = 0  # cases of a test that a known failure ends before the rest is left out; 0: all run
    preset: str = "release"
    wishes: targets.LaunchWishes = field(default_factory=targets.LaunchWishes)
    argv: Sequence[str] = ()
    matrix: bool = False  # libraries side by side: one that cannot run does not stop the others
    transports: Sequence[str] = (OWN,)

    @property
    def part(self) -> bool:
        """Whether cases that known failures are about may have been left out by the user."""
        chosen = self.selection
        return (
            bool(chosen.suite or chosen.axis or chosen.select or chosen.profile or self.shard) or chosen.tier == "smoke"
        )

    def record(self) -> dict[str, Any]:
        """The part of run.json that says what was asked for."""
        options, wishes, chosen = self.options, self.wishes, self.selection
        return {
            "seed": options.seed,
            "tier": chosen.tier,
            "profile": chosen.profile,
            "argv": list(self.argv),
            "selection": {
                "suite": list(chosen.suite),
                "axis": {axis: list(values) for axis, values in chosen.axis.items()},
                "select": list(chosen.select),
            },
            "options": {
                **{name: value for name, value in asdict(options).items() if name != "seed"},
                "order": self.order,
                "shard": self.shard,
                "known": list(self.known),
                "known_limit": self.known_limit,
                "preset": self.preset,
                "launcher": wishes.launcher,
                "env": dict(wishes.env),
                "preload": [str(path) for path in wishes.preload],
                "defaults": wishes.defaults,
                "force_np": wishes.force_np,
                "matrix": self.matrix,
                "transports": list(self.transports),
            },
        }

    def names(self) -> list[str]:
        """Of the targets, in the order in which they run."""
        return [
            targets.target_name(spec, transport, np)
            for spec in dict.fromkeys(self.mpi)
            for transport in self.over()
            for np in dict.fromkeys(self.np)
        ]

    def over(self) -> list[Transport]:
        """The transports. Raises WrongUse for names of none."""
        return [parse(spec) for spec in dict.fromkeys(self.transports)]


@dataclass
class Prepared:
    """One target that is ready to run."""

    target: Target
    suite: plan.Suite
    plan: plan.Plan
    binary: str  # the hash that the suite prints
    key: str  # of the build
    jobs: list[dict[str, Any]] = field(default_factory=list)
    hello: dict[str, Any] = field(default_factory=dict)
    could_not_run: str = ""  # why it ended early
    counters: dict[str, int] = field(default_factory=dict)  # what the transport's provider counted


@dataclass
class Ready:
    """What is ready to run, and which libraries are not, by SPEC, with the reason."""

    targets: list[Prepared] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def run(request: Request, out: Path | None, console: Console) -> int:
    """assay run. Returns the exit code; raises WrongUse and CannotRun before anything is written to `out`."""
    for np in request.np:
        targets.check_np(np, request.wishes)
    plan.must_be_one_of("tier", request.selection.tier, plan.TIERS)
    request.over()
    amend = _load_known(request)
    if out is not None:
        _check_free(out)
    ready = _prepare(request, console)
    folder = _make_out(out)
    _write_plans(folder, ready.targets, request.options.seed)
    return _Session(request, folder, ready, amend, console).run()


def resume(out: Path, console: Console) -> int:
    """assay resume: goes on with the cases of `out` that have no verdict yet. Returns the exit code."""
    before = Evidence(out)
    record = before.run
    request = _request_of(out, record)
    amend = _load_known(request)
    ready = _prepare(request, console, out)
    _write_plans(out, [one for one in ready.targets if not _plan_path(out, one.target).exists()], request.options.seed)
    warnings: list[str] = []
    known = {about["name"]: about for about in record.get("targets", ())}
    for one in ready.targets:
        about = known.get(one.target.name, {})
        one.jobs = list(about.get("jobs", ()))
        one.counters = dict(about.get("counters", {}))
        one.hello = {"library": about.get("library"), "mpi": about.get("mpi_standard"), "plan": about.get("plan")}
        if about.get("binary") not in (one.binary, None, ""):
            warnings.append(f"{one.target.name}: the suite was rebuilt from other sources since the run began")
    session = _Session(request, out, ready, amend, console)
    session.before = before
    session.started = str(record.get("started") or session.started)
    session.seconds_before = float(record.get("seconds") or 0.0)
    session.warnings = warnings
    return session.run()


def _request_of(out: Path, record: Mapping[str, Any]) -> Request:
    try:
        options, chosen = record["options"], record["selection"]
        return Request(
            mpi=list(dict.fromkeys(about["mpi"] for about in record["targets"])),
            np=list(dict.fromkeys(about["np"] for about in record["targets"])),
            selection=plan.Selection(
                record["tier"],
                record["seed"],
                record["profile"],
                chosen["suite"],
                chosen["axis"],
                chosen["select"],
                options["threads"],
            ),
            options=Options(
                record["seed"],
                options["threads"],
                options["repeat"],
                options["retries"],
                options["strict"],
                options["timeout_scale"],
            ),
            order=options["order"],
            shard=options["shard"],
            known=options["known"],
            known_limit=options.get("known_limit", 0),
            preset=options["preset"],
            wishes=targets.LaunchWishes(
                options["launcher"],
                options["env"],
                [Path(path) for path in options["preload"]],
                options["defaults"],
                options["force_np"],
            ),
            argv=record["argv"],
            matrix=options["matrix"],
            transports=options.get("transports", (OWN,)),
        )
    except (KeyError, TypeError) as error:
        raise WrongUse(
            f"{out / 'run.json'}: not written by this version of assay ({error} is missing); run again"
        ) from None


def _load_known(request: Request) -> Any:
    from reports import known

    return known.load(*map(Path, request.known), limit=request.known_limit)


def _prepare(request: Request, console: Console, out: Path | None = None) -> Ready:
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

    folder = build.build(library, request.preset, note=say, programs=(build.SUITE,))
    ours = any(transport.ours for transport in request.over()) or (library.native and library.native.providers)
    providers = build.transports(request.preset, note=say) if ours else Path()
    binary = build.suite(folder, library)
    suite = plan.Suite(binary, targets.list_environment(library, providers))
    told = suite.ask("build", 1)
    digest = str(told[0].get("binary", "")) if told else ""
    prepared = []
    for transport in request.over():
        for np in dict.fromkeys(request.np):
            target = targets.make_target(library, np, binary, request.wishes, transport, providers)
            target = replace(target, threads=request.options.threads)
            made = plan.make(suite, np, request.selection, request.order, request.shard)
            if transport.provider:
                out_of_reach = unsupported(made.cases, targets.known().get(library.family, {}))
                made = replace(
                    made,
                    cases=[case for case in made.cases if case not in out_of_reach],
                    unsupported={**made.unsupported, **out_of_reach},
                )
            if out is not None and _plan_path(out, target).exists():  # the sources may have changed since
                made = replace(made, cases=plan.read(_plan_path(out, target)))
            prepared.append(Prepared(target, suite, made, digest, library.key))
    return prepared


def _cases_of_all_tiers(suite: plan.Suite, np: int, globs: Sequence[str]) -> list[str]:
    arguments = [f"--tier={plan.TIERS[-1]}", *(f"--select={glob}" for glob in without_braces(globs))]
    try:
        lines = suite.ask("cases", np, arguments)
    except (CannotRun, WrongUse):
        return []  # the run is over: all that is lost is that globs are told of which are in order
    return [line["case"] for line in lines if "unsupported" not in line]


class _Session:
    """One start of a run: everything from the first line of cases.jsonl to the exit code."""

    def __init__(self, request: Request, out: Path, ready: Ready, known: Any, console: Console) -> None:
        self.request = request
        self.out = out
        self.ready = ready
        self.before: Evidence | None = None  # what a run that is resumed has found so far
        self.known = known
        self.console = console
        self.started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.seconds_before = 0.0
        self.begin = time.monotonic()
        self.warnings: list[str] = []
        self.machine = machine()

    def run(self) -> int:
        with Journal(self.out / "cases.jsonl") as journal:
            self._write(journal, finished=False)
            try:
                for one in self.ready.targets:
                    self._judge_again(one, journal)
                self.before = None  # some 100 bytes a case
                for one in self.ready.targets:
                    try:
                        self._one(one, journal)
                    except CannotRun as error:
                        one.could_not_run = str(error)
                if self.request.known:
                    with self.console.status("looking through wider tiers for what known failures match"):
                        self.warnings += self.known.unused(part=self.request.part, wider=self._wider_tiers())
            except KeyboardInterrupt:
                self._write(journal, finished=False)
                raise KeyboardInterrupt(f"`./assay resume {shlex.quote(str(self.out))}` goes on") from None
            except BaseException:
                self._write(journal, finished=False)
                raise
            failed = [
                *(f"{spec}: could not run: {reason}" for spec, reason in self.ready.absent.items()),
                *(
                    f"{one.target.name}: could not run: {one.could_not_run}"
                    for one in self.ready.targets
                    if one.could_not_run
                ),
            ]
            self.warnings = [*failed, *self.warnings]
            self._write(journal, finished=not failed)
            statuses = Counter(status for cases in journal.statuses.values() for status in cases.values())
        self._reports()
        if failed:
            raise CannotRun("; ".join(failed))
        if any(statuses[status] for status in UNEXPECTED):
            return UNEXPECTED_RESULT
        return ALL_AS_EXPECTED if any(status not in NOT_RUN for status in statuses) else NOTHING_APPLICABLE

    def _wider_tiers(self) -> list[Callable[[Sequence[str]], list[str]]]:
        """What tells which cases some globs match in any tier, for each library and number of ranks of this run."""
        suites = {(one.binary, one.target.np): one.suite for one in self.ready.targets}
        return [partial(_cases_of_all_tiers, suite, np) for (_, np), suite in suites.items()]

    def _judge_again(self, one: Prepared, journal: Journal) -> None:
        """What is known may have changed since the verdicts of a run that is resumed."""
        if self.before is None or not self.request.known:
            return
        name = one.target.name
        cases = [
            case
            for case, entry in self.before.cases.get(name, {}).items()
            if entry.status not in ("pass", *NOT_RUN) or self.known.expected(case, one.target)
        ]
        again = (self.known.again(record, one.target) for record in self.before.details(name, cases))
        if changed := [verdict for verdict in again if verdict is not None]:
            journal.append(changed)
            note = f"assay: {name}: {len(changed):,} verdicts changed by what is known now"
            self.console.print(note, highlight=False)

    def _one(self, one: Prepared, journal: Journal) -> None:
        """Run what is left of one target."""
        from runner.supervision.supervise import supervise

        target, planned = one.target, one.plan
        known = journal.statuses.get(target.name, {})
        requirements = _requirements(planned)
        journal.append(
            [
                Verdict(case, target.name, "unsupported", extra={"reason": reason, "requirements": requirements(case)})
                for case, reason in planned.unsupported.items()
                if case not in known
            ]
        )
        settled = sum(case in known for case in planned.cases)
        if settled == len(planned.cases):
            return
        counters = self.out / "transport" / target.slug
        if counts(target.transport):
            counters.mkdir(parents=True, exist_ok=True)
            target = targets.counting(target, counters.absolute())
        with RunProgress(self.console, target.name, len(planned.cases), settled) as progress:
            records = supervise(
                target,
                planned.cases,
                requirements,
                self.out,
                journal,
                self.request.options,
                progress.verdicts,
                progress.note,
                repeat=lambda case: repeat_command(self.request, target, case),
                amend=lambda verdict: self.known.apply(verdict, target),
                binary=one.binary,
                threaded=planned.threaded,
                alone=planned.alone,
                expected=lambda case: self.known.expected(case, target),
                damage=lambda case: self.known.damage(case, target),
                enough=lambda cases: self.known.enough(cases, target),
            )
        for record in records:
            job = asdict(record)
            if not job["trouble"]:
                del job["trouble"]
            hello = job.pop("hello", None)
            if hello and (hello.get("library") or not one.hello):  # jobs of one case do not ask the library
                one.hello = hello
            one.jobs.append(job)
        if counts(target.transport):
            one.counters = counted(counters)
            prove(parse(target.transport), one.counters, target.np)

    def _reports(self) -> None:
        from reports.html import write_html
        from reports.junit import write_junit
        from reports.matrix import print_matrix, write_matrix
        from reports.summary import print_summary

        console = Console(highlight=False)
        evidence = Evidence(self.out)
        if self.request.matrix:
            page = write_matrix([evidence], self.out / "matrix.html")
            print_matrix([evidence], page, console)
        else:
            write_junit(evidence)
            write_html(evidence)
            print_summary(evidence, console)

    def _write(self, journal: Journal, *, finished: bool) -> None:
        """Write run.json."""
        names = self.request.names()
        abouts = [self._about(one, journal) for one in self.ready.targets] + self._absent()
        abouts.sort(key=lambda about: names.index(about["name"]) if about["name"] in names else -1)
        record = {
            "format": FORMAT,
            "assay": version(),
            "started": self.started,
            "finished": finished,
            "seconds": round(self.seconds_before + time.monotonic() - self.begin, 3),
            **self.request.record(),
            "machine": self.machine,
            "targets": abouts,
            "cases": _sum(about["cases"] for about in abouts),
            "status": _sum(about["status"] for about in abouts),
            "warnings": self.warnings + self._troubles(),
        }
        write_file(self.out / "run.json", lambda file: file.write(json.dumps(record, indent=1) + "\n"))

    def _troubles(self) -> list[str]:
        """What went wrong behind the cases of a job. No verdict tells of it, so that it would be lost."""
        return [
            f"{one.target.name}: {job['trouble']}; no case is charged for that, {job['directory']} has the logs"
            for one in self.ready.targets
            for job in one.jobs
            if job.get("trouble")
        ]

    def _about(self, one: Prepared, journal: Journal) -> dict[str, Any]:
        target = one.target
        status = Counter(journal.statuses.get(target.name, {}).values())
        ran = sum(number for name, number in status.items() if name not in NOT_RUN)
        return {
            "name": target.name,
            "mpi": target.mpi,
            "np": target.np,
            **({"transport": target.transport} if target.transport else {}),
            **({"counters": one.counters} if counts(target.transport) else {}),
            "library": one.hello.get("library") or "",
            "mpi_standard": one.hello.get("mpi") or "",
            "abi": one.key,
            "binary": one.binary,
            "settings": dict(target.settings),
            "oversubscription": target.oversubscription,
            "plan": one.hello.get("plan") or "",
            "cases": {
                "listed": one.plan.listed,
                "selected": len(one.plan.cases) + len(one.plan.unsupported),
                "ran": ran,
                "unsupported": status["unsupported"],
            },
            "status": dict(status),
            **({"left_out": dict(one.plan.left_out)} if one.plan.left_out else {}),
            "jobs": one.jobs,
            **({"could_not_run": one.could_not_run} if one.could_not_run else {}),
        }

    def _absent(self) -> list[dict[str, Any]]:
        """The targets of libraries that are not there or cannot be built for."""
        return [
            {
                "name": targets.target_name(spec, transport, np),
                "mpi": spec,
                "np": np,
                "cases": {},
                "status": {},
                "could_not_run": reason,
            }
            for spec, reason in self.ready.absent.items()
            for transport in self.request.over()
            for np in dict.fromkeys(self.request.np)
        ]


def repeat_command(request: Request, target: Target, case: str) -> str:
    """The command that repeats one case."""
    words = ["./assay", "run", "--mpi", target.mpi, "--np", str(target.np), "--seed", str(request.options.seed)]
    words += ["--threads", str(request.options.threads)] if request.options.threads > 1 else []
    words += ["--strict"] if request.options.strict else []
    words += ["--transport", target.transport] if target.transport else []
    wishes = request.wishes
    words += ["--launcher", wishes.launcher] if wishes.launcher != "mpiexec" else []
    words += ["--defaults"] if wishes.defaults else []
    words += ["--preset", request.preset] if request.preset != "release" else []
    for name, value in wishes.env.items():
        words += ["--env", f"{name}={value}"]
    for path in wishes.preload:
        words += ["--preload", str(path)]
    return f"{shlex.join([*words, '--select'])} '{case}'"


def version() -> str:
    """Of assay, from pyproject.toml."""
    import tomllib

    with (build.REPO / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def machine() -> dict[str, Any]:
    """What this machine is."""
    cpu = ""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = platform.system()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "host": platform.node(),
        "cores": targets.cores(),
        "memory_gib": round(memory / 2**30),
        "kernel": platform.release(),
        "cpu": cpu,
        "os": system,
    }


def _requirements(planned: plan.Plan) -> Callable[[str], Sequence[str]]:
    return lambda case: planned.requirements.get(case.partition("/")[0], ())


def _sum(counts: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)


def _plan_path(out: Path, target: Target) -> Path:
    return out / "plans" / f"{target.slug}.txt"


def _write_plans(out: Path, prepared: Sequence[Prepared], seed: int) -> None:
    try:
        (out / "plans").mkdir(exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{out}: cannot be written: {error.strerror}") from None
    for one in prepared:
        write_file(_plan_path(out, one.target), partial(_write_text, one.plan.text(seed)))


def _write_text(text: str, file: TextIO) -> None:
    file.write(text)


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
