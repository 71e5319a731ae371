"""assay known check: do the reproducers of known failures say BUG on exactly the libraries that known/ names?

Each reproducer is built with the library's own compiler wrapper and run as the line `// run: …` in it says. With the
folder of a run, what the suite found there is compared, too: a listed failure is seen where its reproducer says BUG.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports import known, known_entry
from reports.evidence import Evidence, printable, read_run
from reports.known_propose import propose, target_of
from reports.summary import widen
from runner.libraries import build, launching, targets
from runner.libraries.native import NATIVE
from runner.libraries.output import first_error
from runner.libraries.transports import OWN, Transport, parse
from runner.model import NOT_RUN, UNEXPECTED, WrongUse
from runner.supervision.once import run_once

KNOWN_HANG = 0.3  # times the timeout where an entry lists a hang, when it runs beside others
AT_ONCE = 4  # processes of reproducers that run side by side (two programs at least): launchers mostly wait

BUG, OK, CRASH, HANG, NOT_APPLICABLE, BROKEN = "BUG", "OK", "crash", "hang", "n/a", "broken"
STYLE = {BUG: "magenta", OK: "green", CRASH: "bold red", HANG: "bold red", NOT_APPLICABLE: "dim", BROKEN: "bold red"}
_LACKS = re.compile(  # what compilers, linkers and loaders say of a procedure or constant that is not there
    r"(?:undefined reference to|unknown type name|implicit declaration of function|undefined symbol:)"
    r"[^A-Za-z\n]*(MPI_\w+)|(MPI_\w+)\W* undeclared"
)


@dataclass(frozen=True)
class Recipe:
    """How a reproducer is built and run."""

    path: Path
    np: int
    timeout: float  # seconds of one run, on an idle machine
    runs: int = 1  # how often it is run: BUG if one of them says so
    flags: Sequence[str] = ()  # of the compiler
    args: Sequence[str] = ()  # of the program
    transport: Transport = Transport()  # instead of the library's own choice
    framework: str = ""  # of a program without MPI: a key of native.NATIVE
    by: str = ""  # "processor", "timing": on what it depends whether it says BUG, so that it may also say OK


@dataclass
class Outcome:
    """What a reproducer says on a library: BUG, OK, crash, hang, n/a (lacks a procedure, or prints N/A) or broken."""

    says: str
    text: str = ""  # of its output, or of the compiler's
    seconds: float = 0.0
    expected: str = OK  # BUG or OK: what the entries say
    disagreement: str = ""


@dataclass
class Found:
    """What is known, what was measured, and where the two differ."""

    libraries: list[targets.Library]
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)  # by path and SPEC
    entries: list[dict[str, Any]] = field(default_factory=list)  # of the comparison with a run
    unjustified: list[str] = field(default_factory=list)  # globs of which that run saw no case fail
    disagreements: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "ok": not self.disagreements,
            "libraries": [{"mpi": one.spec, "family": one.family, "version": one.version} for one in self.libraries],
            "reproducers": [
                {
                    "file": name,
                    "results": [
                        {
                            "mpi": spec,
                            "says": one.says,
                            "expected": one.expected,
                            "agrees": not one.disagreement,
                            "seconds": round(one.seconds, 3),
                            "text": one.text,
                        }
                        for spec, one in outcomes.items()
                    ],
                }
                for name, outcomes in self.outcomes.items()
            ],
            "entries": self.entries,
            "unjustified": self.unjustified,
            "disagreements": self.disagreements,
            "notes": self.notes,
        }


def installed() -> list[str]:
    """The SPECs of the tried libraries that are on this machine."""
    from runner.commands.doctor import libraries

    tried = [f"{family}@{version}" for family in targets.families() for version in targets.known()[family]["tried"]]
    there = [line["mpi"] for line in libraries() if line["state"].startswith(("installed", "/"))]
    there = [spec for spec in there if spec in tried or spec.startswith("debian:")]
    return [
        spec
        for spec in there
        if spec.startswith("debian:") or (targets.cache_dir() / "mpi" / spec.replace("@", "-")).exists()
    ]


def recipe(path: Path) -> Recipe:
    """Reads `// run: np=2 timeout=20 [runs=N] [flags=…] [args=…] [transport=…] [framework=…] [by=…]`.

    Raises WrongUse.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("// run:")]
    except (OSError, ValueError) as error:
        raise WrongUse(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    sample = "// run: np=2 timeout=20"
    if len(lines) != 1:
        raise WrongUse(f"{path}: has {len(lines)} lines that begin with `// run:`; write one, such as `{sample}`")
    try:
        words = dict(word.split("=", 1) for word in shlex.split(lines[0].removeprefix("// run:")))
        if extra := words.keys() - {"np", "timeout", "runs", "flags", "args", "transport", "framework", "by"}:
            raise ValueError(f"{min(extra)} is not known")
        made = Recipe(
            path,
            int(words["np"]),
            float(words["timeout"]),
            int(words.get("runs", 1)),
            words.get("flags", "").split(),
            words.get("args", "").split(),
            parse(words.get("transport", OWN)),
            words.get("framework", ""),
            words.get("by", ""),
        )
        if made.by not in ("", "processor", "timing"):
            raise ValueError("whether it says BUG may depend on by=processor or by=timing")
        if made.transport.ours:
            raise ValueError("a reproducer must do without what is built here; name a transport of the library")
        if made.framework and (made.framework not in NATIVE or made.np != 1):
            raise ValueError(
                f"framework is one of {', '.join(NATIVE)}, with np=1: such a program starts what it needs itself"
            )
        if made.np < 1 or made.runs < 1 or not 0 < made.timeout <= 600:
            raise ValueError("np and runs are at least 1, timeout is in seconds, at most 600")
    except KeyError as error:
        raise WrongUse(f"{path}: `{lines[0]}` has no {error.args[0]}; write for example `{sample}`") from None
    except ValueError as error:
        raise WrongUse(f"{path}: `{lines[0]}`: {error}; write for example `{sample}`") from None
    return made


def compile_for(library: targets.Library, made: Recipe) -> tuple[Path | None, Outcome | None]:
    """The program, or what became of it instead: n/a when the library lacks what it calls, else broken."""
    folder = build.root() / "known" / library.key
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / made.path.stem
    mpicc = build.mpicc(library) if not library.native else Path(shutil.which("cc") or "/usr/bin/cc")
    libraries = ["-lm", *(f"-l{name}" for name in (library.native.libraries if library.native else ()))]
    command = [str(mpicc), "-std=gnu11", "-O1", "-g", *made.flags, str(made.path), "-o", str(program), *libraries]
    told = program.with_suffix(".command")
    newest = max(made.path.stat().st_mtime, mpicc.stat().st_mtime)
    if program.exists() and program.stat().st_mtime > newest and told.exists() and told.read_text() == str(command):
        return program, None
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        told.write_text(str(command))
        return program, None
    if lacks := _LACKS.search(done.stderr):
        return None, Outcome(NOT_APPLICABLE, f"there is no {lacks[1] or lacks[2]}")
    return None, Outcome(BROKEN, f"does not compile: {first_error(done.stderr)}")


def try_on(
    library: targets.Library,
    made: Recipe,
    stop: threading.Event | None = None,
    wishes: launching.LaunchWishes | None = None,
) -> Outcome:
    """Build and run a reproducer with a library, until a run says BUG; ends early once `stop` is set."""
    if made.framework != (library.native.name if library.native else ""):
        return Outcome(NOT_APPLICABLE, f"is about {NATIVE[made.framework].framework if made.framework else 'MPI'}")
    program, outcome = compile_for(library, made)
    if program is None:
        assert outcome
        return outcome
    try:
        target = launching.make_target(library, made.np, program, wishes or launching.LaunchWishes(), made.transport)
    except WrongUse as error:
        return Outcome(NOT_APPLICABLE, str(error))
    begin = time.monotonic()
    for _ in range(made.runs):
        said = run_once(target, made.args, made.timeout, stop)
        outcome = judge(said.out, said.err, said.ended)
        if outcome.says != OK:
            break
    assert outcome
    outcome.seconds = time.monotonic() - begin
    return outcome


def judge(out: str, err: str, ended: str) -> Outcome:
    """What a run says: `ended` is `exit N` or `signal N` of its launcher, or "" when it had to be ended."""
    lines = [line.strip() for line in out.splitlines()]
    if bugs := [line for line in lines if line.startswith("BUG")]:
        return Outcome(BUG, next((line for line in bugs if len(line) > 3), " ".join(lines[:4])))
    if lacks := re.search(r"undefined symbol: (MPI_\w+)", err):
        return Outcome(NOT_APPLICABLE, f"there is no {lacks[1]}")
    if cannot := [line for line in lines if line.startswith("N/A")]:
        return Outcome(NOT_APPLICABLE, cannot[0])
    last = next((line for line in reversed(err.splitlines()) if line.strip()), "")
    if not ended:
        return Outcome(HANG, "did not end in time")
    if ended != "exit 0":
        return Outcome(CRASH, f"{ended}: {_why(err) or last}")
    if any(line.startswith("OK") for line in lines):
        return Outcome(OK, next(line for line in lines if line.startswith("OK")))
    return Outcome(BROKEN, "said neither BUG nor OK")


def _why(err: str) -> str:
    found = re.search(r"^.*(?:Assertion failed|Fatal error|SIG[A-Z]+|signal \d+|MPI_ERR_\w+).*$", err, re.MULTILINE)
    return found[0].strip() if found else ""


def check(
    specs: Sequence[str],
    files: Sequence[Path],
    only: Sequence[str],
    evidence: Path | None,
    note: Callable[[str], None],
) -> Found:
    """Run the reproducers that the entries of `files` link to on the libraries, and compare.

    `only`: parts of file names of reproducers, none for all. `evidence` is read after them, so that the run may go on
    beside them. Raises WrongUse and CannotRun.
    """
    if evidence is not None:
        read_run(evidence / "run.json")  # what is no run is refused before the work
    entries = [one for one in known.load(*files).entries if not only or any(word in one.link for word in only)]
    recipes, notes = _recipes(files, entries, only)
    ranges = dict.fromkeys(filter(None, (known_entry.never_ran(entry, targets.seen()) for entry in entries)))
    found = Found([targets.resolve(spec) for spec in dict.fromkeys(specs)], notes=notes)
    found.disagreements += ranges
    stop = threading.Event()

    def tried(name: str, library: targets.Library, patient: bool = False) -> Outcome:
        made = recipes[name]
        linked = [entry for entry in entries if entry.link == name]
        fitting = [entry for entry in linked if entry.fits_library(library.family, library.version)]
        less = KNOWN_HANG if HANG in _ends(fitting) and not patient else 1.0
        outcome = try_on(library, replace(made, timeout=made.timeout * less), stop)
        compare(outcome, fitting, may_pass=bool(made.by))
        return outcome

    found.outcomes = {name: {} for name in recipes}
    for np in sorted({made.np for made in recipes.values()}):
        some = [name for name, made in recipes.items() if made.np == np]
        with ThreadPoolExecutor(max(2, AT_ONCE // np)) as pool:
            try:
                begun = {name: [pool.submit(tried, name, library) for library in found.libraries] for name in some}
                for name, row in begun.items():
                    said = [one.result() for one in row]
                    found.outcomes[name] = {one.spec: it for one, it in zip(found.libraries, said, strict=True)}
                    note(f"{name}: {', '.join(f'{spec} {one.says}' for spec, one in found.outcomes[name].items())}")
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
    _try_alone(found, tried, note)
    if evidence is not None:
        compare_run(found, entries, Evidence(evidence), whole=not only)
        for proposal in propose(entries, [evidence]).values():
            found.unjustified += proposal.unjustified()
    return found


def _try_alone(
    found: Found, tried: Callable[[str, targets.Library, bool], Outcome], note: Callable[[str], None]
) -> None:
    """What disagrees may do so because others ran beside it: it is tried once more by itself, and that is believed."""
    for name, outcomes in found.outcomes.items():
        for library in found.libraries:
            if not (disagreement := outcomes[library.spec].disagreement):
                continue
            outcome = outcomes[library.spec] = tried(name, library, True)
            if outcome.disagreement:
                found.disagreements.append(f"{name} on {library.spec}: {outcome.disagreement}")
            else:
                note(f"{name} on {library.spec}: {outcome.says} by itself; beside others it {disagreement}")


def _recipes(
    files: Sequence[Path], entries: Sequence[known_entry.Entry], only: Sequence[str]
) -> tuple[dict[str, Recipe], list[str]]:
    """The reproducers, by the link that names them, also those that no entry links to; and notes on other links."""
    links = dict.fromkeys(entry.link for entry in entries)
    notes = [f"{link} is no reproducer and is not checked" for link in links if re.match(r"https?://", link)]
    names = {link: _place(link) for link in links if not re.match(r"https?://", link)}
    for folder in dict.fromkeys(file.parent / "reproducers" for file in files):
        names |= {f"known/reproducers/{path.name}": path for path in folder.glob("*.c")}
    chosen = {link: path for link, path in sorted(names.items()) if not only or any(word in link for word in only)}
    if not chosen:
        raise WrongUse(f"no reproducer is named like {' or '.join(only)}" if only else "there are no reproducers")
    return {link: recipe(path) for link, path in chosen.items()}, notes


def _place(link: str) -> Path:
    return build.REPO / link


def _ends(fitting: Sequence[known_entry.Entry]) -> set[str]:
    """How a program may end instead of saying BUG: CRASH and HANG, as far as the entries list them."""
    ends = {"crash": CRASH, "timeout": HANG}
    return {ends[status] for entry in fitting for status in entry.status if status in ends}


def compare(outcome: Outcome, fitting: Sequence[known_entry.Entry], may_pass: bool = False) -> None:
    """Sets what was expected of a reproducer on a library that `fitting` entries speak of, and what disagrees.

    `may_pass`: whether it fails where they fit depends on more than the library.
    """
    outcome.expected = BUG if fitting else OK
    where = ", ".join(dict.fromkeys(Path(entry.where).name for entry in fitting))
    if outcome.says == BROKEN:
        outcome.disagreement = f"cannot be judged: {outcome.text}"
    elif fitting and outcome.says in (OK, NOT_APPLICABLE) and not (may_pass and outcome.says == OK):
        outcome.disagreement = f"says {outcome.says}, but {where} expects a failure ({outcome.text})"
    elif fitting and outcome.says in (CRASH, HANG) and outcome.says not in _ends(fitting):
        outcome.disagreement = f"ends in a {outcome.says}, which {where} does not list ({outcome.text})"
    elif not fitting and outcome.says not in (OK, NOT_APPLICABLE):
        outcome.disagreement = f"says {outcome.says}, but no entry speaks of this library ({outcome.text})"


def compare_run(found: Found, entries: Sequence[known_entry.Entry], evidence: Evidence, whole: bool = True) -> None:
    """Compare with what a run found: listed failures are seen exactly where the reproducers say BUG.

    `whole`: the entries are all there are, so that what none of them explains is a disagreement.
    """
    libraries = {library.spec: library for library in found.libraries}
    ran: dict[tuple[str, str], int] = Counter()  # by entry table and SPEC
    failed: dict[tuple[str, str], int] = Counter()
    tables: dict[tuple[str, str], list[known_entry.Entry]] = defaultdict(list)
    for name, cases in evidence.cases.items():
        about = evidence.about.get(name, {})
        library = libraries.get(str(about.get("mpi")))
        if library is None:
            found.notes.append(f"{name}: in {evidence.out}, but not among the libraries that are checked")
            continue
        target = target_of(name, about, evidence.run)
        fitting = [entry for entry in entries if entry.fits(target)]
        for entry in fitting:
            tables[entry.where, library.spec].append(entry)
        matcher = known.Matcher(fitting)
        for case, one in cases.items():
            if one.status not in NOT_RUN:
                for where in {entry.where for entry in matcher.matching(case)}:
                    ran[where, library.spec] += 1
        xfailed = [case for case, one in cases.items() if one.status == "xfail"]
        for record in evidence.details(name, xfailed):
            said = (record.get("known"), record.get("known_link"))
            for where in {one.where for one in matcher.matching(record["case"]) if (one.reason, one.link) == said}:
                failed[where, library.spec] += 1
        if unexplained := whole and sum(one.status in UNEXPECTED for one in cases.values()):
            found.disagreements.append(f"{name}: {unexplained:,} results that no entry explains")
    for (where, spec), listed in tables.items():
        entry = listed[0]
        outcome = found.outcomes.get(entry.link, {}).get(spec)
        if outcome is None:
            continue
        number, xfail = ran[where, spec], failed[where, spec]
        shows = outcome.says in (BUG, CRASH, HANG)
        verdict = "agrees" if bool(xfail) == shows else "disagrees"
        if not number:
            verdict = "not run"
        elif not xfail and shows and all(one.sometimes for one in listed):
            verdict = "not seen"
        found.entries.append(
            {
                "entry": where,
                "reproducer": entry.link,
                "mpi": spec,
                "cases": number,
                "xfail": xfail,
                "says": outcome.says,
                "verdict": verdict,
            }
        )
        if verdict == "disagrees":
            found.disagreements.append(
                f"{Path(where).name} on {spec}: {entry.link} says {outcome.says}, "
                f"but {xfail:,} of {number:,} cases failed as listed"
            )


def print_report(found: Found, console: Console) -> None:
    """A table of reproducers and libraries; then what disagrees, in sentences."""
    widen(console)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("reproducer", no_wrap=True)
    for library in found.libraries:
        table.add_column(re.sub("([@:])", "\\1\n", library.spec), justify="center", no_wrap=True)
    for name, outcomes in found.outcomes.items():
        cells = [outcomes[library.spec] for library in found.libraries]
        table.add_row(
            Path(name).stem, *(Text(f"{one.says}{' !' if one.disagreement else ''}", STYLE[one.says]) for one in cells)
        )
    console.print(table)

    def line(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style), soft_wrap=True)

    compared: Mapping[str, int] = Counter(one["verdict"] for one in found.entries)
    if found.entries:
        words = ", ".join(f"{number} {verdict}" for verdict, number in compared.items())
        line(f"entries of known failures and what the suite found: {words}")
        for one in found.entries:
            if one["verdict"] == "not seen":
                line(
                    f"  {Path(one['entry']).name} on {one['mpi']}: none of {one['cases']:,} cases failed this time",
                    "dim",
                )
    for text in found.unjustified:
        line(f"not justified by this run: {text}", "dim")
    for text in found.notes:
        line(f"note: {text}", "dim")
    for text in found.disagreements:
        line(f"disagrees: {text}", "bold red")
    said = Counter(one.says for outcomes in found.outcomes.values() for one in outcomes.values())
    line(f"assay: {' '.join(f'{said[word]} {word}' for word in STYLE)} {len(found.disagreements)} disagreements")
