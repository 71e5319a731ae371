"""assay test: the tests of Assay itself, step by step. A step is a line of STEPS and a function that raises Failed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

from runner.libraries import build, targets
from runner.libraries.build import REPO
from runner.model import CannotRun, WrongUse
from runner.planning.plan import must_be_one_of

LOGS = REPO / "build" / "test"
SHOWN_LINES = 40  # of a failed step
TIDY = "clang-tidy-16"  # Debian's clang-tidy is 14, which does not know std::source_location
TIDY_SECONDS = 240.0  # after that clang-tidy takes up no further file; what it found good it does not look at again


class Failed(Exception):
    """A step did not pass; the message is one line, the log has the rest."""


@dataclass(frozen=True)
class Step:
    """One step of `assay test`."""

    name: str
    about: str
    run: Callable[[IO[str]], str]  # writes to the log; returns a remark


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
    folder = _debug_build(log)
    _must(log, "ctest", "--test-dir", str(folder), "--output-on-failure", "--no-tests=error", "--timeout", "600")
    return ""


def python(log: IO[str]) -> str:
    """Python unit tests, with fake ranks."""
    _must(log, sys.executable, "-m", "pytest", "-n", "2", "tests/python")
    return _last_line(log)


def browser(log: IO[str]) -> str:
    """The report in a browser."""
    _must(log, sys.executable, "-m", "pytest", "tests/browser")
    return _last_line(log)


def e2e(log: IO[str]) -> str:
    """Real ranks: containment of 40 culprits among 2,000 cases, bad input, Keller's tables."""
    _debug_build(log)
    _must(log, sys.executable, "-m", "pytest", "tests/e2e")
    return _last_line(log)


def smoke(log: IO[str]) -> str:
    """The smoke tier on real ranks, 2 and 4 of them."""
    return _suite_run(log, "smoke", "--np", "2,4")


def faults(log: IO[str]) -> str:
    """Every planted fault is caught, and every test catches one."""
    out = LOGS / "faults"
    shutil.rmtree(out, ignore_errors=True)
    _must(log, str(REPO / "assay"), "faults", "--out", str(out))
    return ""


def sanitized(log: IO[str]) -> str:
    """The smoke tier with AddressSanitizer and UndefinedBehaviorSanitizer."""
    return _suite_run(log, "asan", "--preset", "asan", "--timeout-scale", "4")


def clang_tidy(log: IO[str]) -> str:
    """Static analysis of C++, last changed first; what was found good is looked at again only after a change."""
    if shutil.which(TIDY) is None:
        raise Failed(f"{TIDY} is not installed; `assay doctor` says what to do")
    database = _debug_build(log)
    headers = hashlib.sha256()
    for name in [".clang-tidy", *_sources(".hpp", ".h")]:
        headers.update((REPO / name).read_bytes())
    done = REPO / "build" / "clang-tidy"
    done.mkdir(parents=True, exist_ok=True)
    todo = []
    for name in _last_changed_first(_sources(".cpp")):
        if name.startswith("tests/"):
            continue
        stamp = done / hashlib.sha256(headers.digest() + name.encode() + (REPO / name).read_bytes()).hexdigest()
        if not stamp.exists():
            todo.append((name, stamp))
    deadline = time.monotonic() + TIDY_SECONDS

    def check(item: tuple[str, Path]) -> tuple[str, str] | None:
        name, stamp = item
        if time.monotonic() > deadline:
            return None
        command = [TIDY, "-p", str(database), "--quiet", name]
        done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            stamp.touch()
            return name, ""
        return name, done.stdout or done.stderr

    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(check, todo))
    bad = [result for result in results if result and result[1]]
    for name, output in bad:
        log.write(f"{name}\n{output}\n")
    if bad:
        raise Failed(f"{len(bad)} of {len(todo)} files: {', '.join(name for name, _ in bad)}")
    late = sum(result is None for result in results)
    return f"{len(todo) - late} files looked at" + (f", {late} left for the next time" if late else "")


STEPS = (
    Step("ruff", "lint and format of Python", ruff),
    Step("mypy", "types of Python", mypy),
    Step("clang-format", "format of C and C++", clang_format),
    Step("unit", "C++ unit tests", unit),
    Step("python", "Python unit tests, with fake ranks", python),
    Step("browser", "the report in a browser", browser),
    Step("e2e", "containment, bad input and Keller's tables, on real ranks", e2e),
    Step("smoke", "the smoke tier on real ranks, 2 and 4 of them", smoke),
    Step("faults", "every planted fault is caught, and every test catches one", faults),
    Step("asan", "the smoke tier with AddressSanitizer and UndefinedBehaviorSanitizer", sanitized),
    Step("clang-tidy", "static analysis of C++", clang_tidy),
)


def show() -> int:
    """Print the steps."""
    for step in STEPS:
        print(f"{step.name:<14} {step.about}")
    return 0


def run(names: Sequence[str]) -> int:
    """Run the named steps, or all; 0 when all passed. The last line is `N passed, N failed`."""
    for name in names:
        must_be_one_of("step", name, [step.name for step in STEPS])
    console = Console(highlight=False)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    failed = []
    chosen = [step for step in STEPS if not names or step.name in names]
    for step in chosen:
        start = time.monotonic()
        path = LOGS / f"{step.name}.log"
        with path.open("w+") as log:
            try:
                remark, passed = step.run(log), True
            except (Failed, CannotRun, WrongUse) as error:
                remark, passed = str(error), False
        word = Text("passed", "green") if passed else Text("failed", "bold red")
        seconds = f"{time.monotonic() - start:6.1f} s"
        console.print(Text.assemble(f"{step.name:<14} ", word, f" {seconds}  {remark}".rstrip()), soft_wrap=True)
        if not passed:
            failed.append(step.name)
            for line in path.read_text(errors="replace").splitlines()[-SHOWN_LINES:]:
                console.print(Text(f"    {line}"), soft_wrap=True)
    if failed:
        console.print(
            f"failed: {', '.join(failed)}; repeat with: ./assay test {' '.join(failed)} (logs in {LOGS})",
            soft_wrap=True,
        )
    console.print(f"{'together':<14} {'':<6} {time.monotonic() - begin:6.1f} s")
    console.print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _debug_build(log: IO[str]) -> Path:
    library = targets.resolve(targets.known()["default"])
    return build.build(library, "debug", {"ASSAY_TESTS": "ON"}, note=lambda text: print(text, file=log))


def _suite_run(log: IO[str], name: str, *options: str) -> str:
    """`assay run` of the smoke tier, into an empty folder."""
    out = LOGS / name
    shutil.rmtree(out, ignore_errors=True)
    known = [word for path in sorted((REPO / "known").glob("*.toml")) for word in ("--known", str(path))]
    _must(log, str(REPO / "assay"), "run", "--tier", "smoke", "--out", str(out), *known, *options)
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
    return [name for name in ("runner", "reports", "tests") if (REPO / name).exists()]


def _sources(*endings: str) -> list[str]:
    """Files of the repository, below it, without what was built."""
    return sorted(_below(endings))


def _last_changed_first(names: Sequence[str]) -> list[str]:
    command = ["git", "log", "--format=", "--name-only", "-n", "200"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    order = {name: at for at, name in reversed(list(enumerate(done.stdout.splitlines())))}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def _below(endings: Iterable[str]) -> Iterable[str]:
    for folder in (
        "framework",
        "communicators",
        "datatypes",
        "suites",
        "transports",
        "faults",
        "bench",
        "known",
        "tests",
    ):
        for path in (REPO / folder).rglob("*"):
            if path.suffix in endings:
                yield str(path.relative_to(REPO))
