"""assay test: the tests of Assay itself, step by step. A step is a line of STEPS and a function that raises Failed.

Ranks that wait for each other leave the cores idle much of the time. So what only computes (steps that are `aside`)
runs beside the other steps, at a priority at which it takes nothing from them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from rich.console import Console
from rich.text import Text

from runner.home import INSTALLED
from runner.libraries import build, targets
from runner.libraries.build import REPO
from runner.libraries.native import NATIVE
from runner.model import CannotRun, WrongUse
from runner.planning.plan import must_be_one_of

LOGS = REPO / "build" / "test"
SHOWN_LINES = 40  # of a failed step
TIDY = "clang-tidy-16"  # Debian's clang-tidy is 14, which does not know std::source_location
TIDY_SECONDS = 300.0  # of CPU, after which clang-tidy takes up no further file
RECENT = 30  # commits whose files clang-tidy looks at first
ROTATION = 40  # files that clang-tidy looks at in this time: the next commit's run goes on after them
# In a command of a compiler, with the name of what is compiled.
PRECOMPILED = re.compile(r"-Winvalid-pch -include \S+/([^/]+)\.dir/cmake_pch\.hxx")
SLOWEST = 10  # tests that are named at the end, with their time


class Failed(Exception):
    """A step did not pass; the message is one line, the log has the rest."""


@dataclass(frozen=True)
class Step:
    """One step of `assay test`."""

    name: str
    about: str
    run: Callable[[IO[str]], str]  # writes to the log; returns a remark
    aside: bool = False  # only computes: runs beside the others


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    passed: bool
    remark: str
    seconds: float


def ruff(log: IO[str]) -> str:
    """Lint and format of Python."""
    sources = _python_sources()
    _must(log, sys.executable, "-m", "ruff", "check", *sources)
    _must(log, sys.executable, "-m", "ruff", "format", "--check", *sources)
    return ""


def mypy(log: IO[str]) -> str:
    """Types of Python."""
    _must(log, sys.executable, "-m", "mypy", "--strict")
    return ""


def clang_format(log: IO[str]) -> str:
    """Format of C and C++."""
    sources = _sources(".cpp", ".hpp", ".c", ".h")
    _must(log, "clang-format", "--dry-run", "-Werror", *sources)
    return f"{len(sources)} files"


def unit(log: IO[str]) -> str:
    """C++ unit tests."""
    folder = _build(log)
    # Most of them wait for timers of transports.
    words = ("--parallel", "4", "--output-on-failure", "--no-tests=error", "--timeout", "600")
    _must(log, "ctest", "--test-dir", str(folder), *words, "--output-junit", str(_junit(log)))
    return ""


def python(log: IO[str]) -> str:
    """Python unit tests, with fake ranks."""
    return _pytest(log, "-n", "2", "tests/python")


def browser(log: IO[str]) -> str:
    """The report in a browser."""
    return _pytest(log, "tests/browser")


def e2e(log: IO[str]) -> str:
    """Real ranks: containment of 40 culprits among 2,000 cases, bad input, Keller's tables."""
    _build(log)
    # Ranks that wait leave the cores to another test.
    return _pytest(log, "-n", "2", "--dist", "loadgroup", "tests/e2e")


def smoke(log: IO[str]) -> str:
    """The smoke tier on real ranks, 2 and 4 of them."""
    return _suite_run(log, "smoke", "--np", "2,4")


def faults(log: IO[str]) -> str:
    """Every planted fault is caught, and every test catches one."""
    out = LOGS / "faults"
    shutil.rmtree(out, ignore_errors=True)
    _must(log, str(REPO / "assay"), "faults", "--out", str(out))
    return ""


def odd(log: IO[str]) -> str:
    """The smoke tier under all oddities that go together: no test may fail, and none of the oddities be idle."""
    out = LOGS / "odd"
    shutil.rmtree(out, ignore_errors=True)
    _must(log, str(REPO / "assay"), "faults", "--odd", "--together", "--out", str(out))
    return _last_line(log)


def sanitized_build(log: IO[str]) -> str:
    """The suite compiles with sanitizers."""
    library = targets.resolve(targets.known()["default"])
    build.build(library, "asan", note=_into(log), programs=(build.SUITE,))
    return ""


def sanitized(log: IO[str]) -> str:
    """The smoke tier with AddressSanitizer and UndefinedBehaviorSanitizer."""
    return _suite_run(log, "asan", "--preset", "asan", "--timeout-scale", "4")


def clang_tidy(log: IO[str]) -> str:
    """Static analysis of C++: what changed last, then others in turn. What was found good is not looked at again."""
    if shutil.which(TIDY) is None:
        raise Failed(f"{TIDY} is not installed; `assay doctor` says what to do")
    database = _without_precompiled_headers(_build(log), *_native_builds(log))
    headers = hashlib.sha256()
    for name in [".clang-tidy", *_sources(".hpp", ".h")]:
        headers.update((REPO / name).read_bytes())
    done = REPO / "build" / "clang-tidy"
    done.mkdir(parents=True, exist_ok=True)
    todo = []
    changed = _git("log", "--format=", "--name-only", "-n", str(RECENT))
    commits = sum(map(int, _git("rev-list", "--count", "HEAD")))
    sources = [name for name in _sources(".cpp") if not name.startswith("tests/")]
    for name in last_changed_first(sources, changed, commits):
        stamp = done / hashlib.sha256(headers.digest() + name.encode() + (REPO / name).read_bytes()).hexdigest()
        if not stamp.exists():
            todo.append((name, stamp))
    spent: list[float] = []  # CPU time of each file: how many there are to be does not depend on what else runs

    def check(item: tuple[str, Path]) -> tuple[str, str] | None:
        name, stamp = item
        if sum(spent) > TIDY_SECONDS:
            return None
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [TIDY, "-p", str(database.parent), "--quiet", name], cwd=REPO, stdout=output, stderr=subprocess.STDOUT
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            spent.append(usage.ru_utime + usage.ru_stime)
            if process.returncode == 0:
                stamp.touch()
                return name, ""
            output.seek(0)
            return name, output.read() or f"{TIDY} ended with {process.returncode}"

    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(check, todo))
    bad = [result for result in results if result and result[1]]
    for name, output in bad:
        log.write(f"{name}\n{output}\n")
    if bad:
        raise Failed(f"{len(bad)} of {len(todo)} files: {', '.join(name for name, _ in bad)}")
    late = sum(result is None for result in results)
    return f"{len(todo) - late} files looked at" + (f", {late} left for the next time" if late else "")


def everything(log: IO[str]) -> str:
    """What the other steps use: the suite, faults, oddities, transports, suites without MPI, our own tests."""
    _build(log)
    _native_builds(log)
    build.transports(note=_into(log))
    return ""


STEPS = (
    Step("ruff", "lint and format of Python", ruff),
    Step("mypy", "types of Python", mypy),
    Step("clang-format", "format of C and C++", clang_format),
    Step("asan-build", "the suite compiles with sanitizers", sanitized_build, aside=True),
    Step("clang-tidy", "static analysis of C++", clang_tidy, aside=True),
    Step("build", "everything compiles that the other steps use", everything),
    Step("unit", "C++ unit tests", unit),
    Step("python", "Python unit tests, with fake ranks", python),
    Step("browser", "the report in a browser", browser),
    Step("e2e", "containment, bad input and Keller's tables, on real ranks", e2e),
    Step("smoke", "the smoke tier on real ranks, 2 and 4 of them", smoke),
    Step("faults", "every planted fault is caught, and every test catches one", faults),
    Step("odd", "the smoke tier where the library does what MPI allows and no library does", odd),
    Step("asan", "the smoke tier with AddressSanitizer and UndefinedBehaviorSanitizer", sanitized),
)


def show() -> int:
    """Print the steps."""
    for step in STEPS:
        print(f"{step.name:<14} {step.about}")
    return 0


def run(names: Sequence[str]) -> int:
    """Run the named steps, or all; 0 when all passed. The last line is `N passed, N failed`."""
    if INSTALLED:
        raise WrongUse("assay test: an installed package has no tests of Assay itself; use a clone of its repository")
    for name in names:
        must_be_one_of("step", name, [step.name for step in STEPS])
    console = Console(highlight=False)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    chosen = [step for step in STEPS if not names or step.name in names]
    for step in chosen:
        (LOGS / f"{step.name}.xml").unlink(missing_ok=True)
    outcomes = []
    with ThreadPoolExecutor(1, initializer=_give_way) as beside:
        asides = [beside.submit(_run_step, step) for step in chosen if step.aside]
        for step in chosen:
            if step.aside:
                continue
            outcomes.append(_run_step(step))
            _print_outcome(console, outcomes[-1])
            for aside in [one for one in asides if one.done()]:
                asides.remove(aside)
                outcomes.append(aside.result())
                _print_outcome(console, outcomes[-1])
        for aside in asides:
            outcomes.append(aside.result())
            _print_outcome(console, outcomes[-1])
    failed = [one.step.name for one in outcomes if not one.passed]
    if slowest := sorted(_times(chosen), reverse=True)[:SLOWEST]:
        console.print("the slowest tests:")
        for seconds, test in slowest:
            console.print(Text(f"{'':<14} {'':<6} {seconds:6.1f} s  {test}"), soft_wrap=True)
    if failed:
        console.print(
            f"failed: {', '.join(failed)}; repeat with: ./assay test {' '.join(failed)} (logs in {LOGS})",
            soft_wrap=True,
        )
    console.print(f"{'together':<14} {'':<6} {time.monotonic() - begin:6.1f} s")
    console.print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _run_step(step: Step) -> Outcome:
    start = time.monotonic()
    with (LOGS / f"{step.name}.log").open("w+") as log:
        try:
            remark, passed = step.run(log), True
        except (Failed, CannotRun, WrongUse) as error:
            remark, passed = str(error), False
    return Outcome(step, passed, remark, time.monotonic() - start)


def _print_outcome(console: Console, outcome: Outcome) -> None:
    word = Text("passed", "green") if outcome.passed else Text("failed", "bold red")
    beside = "beside the others; " if outcome.step.aside else ""
    line = f" {outcome.seconds:6.1f} s  {beside}{outcome.remark}".rstrip("; ")
    console.print(Text.assemble(f"{outcome.step.name:<14} ", word, line), soft_wrap=True)
    if not outcome.passed:
        path = LOGS / f"{outcome.step.name}.log"
        for text in path.read_text(errors="replace").splitlines()[-SHOWN_LINES:]:
            console.print(Text(f"    {text}"), soft_wrap=True)


def _give_way() -> None:
    """Let this thread, and what it starts, have only the time that nothing else wants."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _times(steps: Iterable[Step]) -> Iterable[tuple[float, str]]:
    """(seconds, name) of each test of these steps, from the JUnit files that pytest and ctest have written."""
    for step in steps:
        path = LOGS / f"{step.name}.xml"
        if path.exists():
            for case in ElementTree.parse(path).iter("testcase"):
                name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
                yield float(case.get("time") or 0), f"{step.name}: {name}"


def _junit(log: IO[str]) -> Path:
    """Where a step puts the times of its tests: beside its log."""
    return Path(log.name).with_suffix(".xml")


def _into(log: IO[str]) -> build.Note:
    return lambda text: print(text, file=log)


def _build(log: IO[str]) -> Path:
    """The one build that the steps share: what runs use, and the tests of ourselves."""
    library = targets.resolve(targets.known()["default"])
    return build.build(library, options={"ASSAY_TESTS": "ON"}, note=_into(log))


def _native_builds(log: IO[str]) -> list[Path]:
    """The builds of suites that need no MPI library."""
    return [build.build(targets.resolve(name), note=_into(log)) for name in NATIVE]


def _without_precompiled_headers(*folders: Path) -> Path:
    """A database for clang, which cannot read those of GCC; so it also notices where a file lacks an #include."""
    commands = [entry for folder in folders for entry in json.loads((folder / "compile_commands.json").read_text())]
    for entry in commands:
        entry["command"] = PRECOMPILED.sub(_include_of, entry["command"])
    database = REPO / "build" / "clang-tidy" / "compile_commands.json"
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_text(json.dumps(commands))
    return database


def _include_of(precompiled: re.Match[str]) -> str:
    """What of the precompiled headers of a target its files do not include by themselves (CMakeLists.txt)."""
    return "-include mpi_calls.hpp" if precompiled[1] in ("assay-suites", "assay-tests") else ""


def _pytest(log: IO[str], *words: str) -> str:
    _must(log, sys.executable, "-m", "pytest", f"--junitxml={_junit(log)}", *words)
    return _last_line(log)


def _suite_run(log: IO[str], name: str, *options: str) -> str:
    """`assay run` of the smoke tier, into an empty folder."""
    out = LOGS / name
    shutil.rmtree(out, ignore_errors=True)
    _must(log, str(REPO / "assay"), "run", "--tier", "smoke", "--out", str(out), *options)
    return _last_line(log)


def _must(log: IO[str], *command: str) -> None:
    """Run in the repository with all output in the log. Raises Failed."""
    log.write(f"$ {textwrap.shorten(' '.join(command), 400)}\n")  # some name every file
    log.flush()
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    try:
        done = subprocess.run(
            command, cwd=REPO, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
        )
    except FileNotFoundError:
        raise Failed(f"{command[0]} is not installed; `assay doctor` says what to do") from None
    if done.returncode != 0:
        raise Failed(f"{Path(command[0]).name} ended with {done.returncode}")


def _last_line(log: IO[str]) -> str:
    log.flush()
    lines = [line for line in Path(log.name).read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip("= ") if lines else ""


def _python_sources() -> list[str]:
    return [name for name in ("runner", "reports", "package", "pipelines", "tests") if (REPO / name).exists()]


def _sources(*endings: str) -> list[str]:
    """Files of the repository, below it, without what was built."""
    return sorted(_below(endings))


def last_changed_first(names: Sequence[str], changed: Sequence[str], commits: int) -> list[str]:
    """Those of `changed` first, in its order, then the others, which begin at another place after each commit.

    So each has its turn, even where time is short and nothing is kept from one run to the next.
    """
    recent = [name for name in dict.fromkeys(changed) if name in set(names)]
    others = [name for name in names if name not in set(recent)]
    begin = commits * ROTATION % max(1, len(others))
    return [*recent, *others[begin:], *others[:begin]]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=REPO, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _below(endings: Iterable[str]) -> Iterable[str]:
    for folder in (
        "framework",
        "communicators",
        "datatypes",
        "suites",
        "transports",
        "faults",
        "oddities",
        "recording",
        "preload",
        "bench",
        "known",
        "tests",
    ):
        for path in (REPO / folder).rglob("*"):
            if path.suffix in endings:
                yield str(path.relative_to(REPO))
