"""assay ctest: a folder in which `ctest` runs slices, a suite at a target each, and sends results to CDash.

CTest reads CTestTestfile.cmake, which cmake writes elsewhere, and for `ctest -T Test` and `ctest -T Submit`
DartConfiguration.tcl (both: cmake.org, manual of ctest(1)). The exit codes of `assay run` are CTest's: 77 is a skip.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from reports.evidence import write_file
from runner.home import HOME, INSTALLED
from runner.libraries import build, launching, targets
from runner.libraries.transports import parse
from runner.machine import machine
from runner.model import NOTHING_APPLICABLE, CannotRun, WrongUse
from runner.options import mpis_of, nps_of, selection_of, wishes_of
from runner.planning.plan import Suite, comma_list, describe, globs

# Seconds: the runner ends cases that hang, and CTest's own limit of 1500 s would end whole slices.
NO_LIMIT = 10**7
_OURS = ("mpi", "np", "suite", "select", "out", "transport", "cdash")  # options that a slice has of its own


@dataclass(frozen=True)
class Slice:
    """One test of CTest."""

    name: str  # mpich@5.0.2/np2/p2p
    command: list[str]
    np: int
    cases: int  # that can run: CTest begins with what takes longest
    labels: list[str]
    report: Path  # of its newest run

    def text(self) -> str:
        """As CTestTestfile.cmake has it."""
        properties = {
            "PROCESSORS": str(self.np),
            "LABELS": ";".join(self.labels),
            "SKIP_RETURN_CODE": str(NOTHING_APPLICABLE),
            "COST": str(self.cases),
            "TIMEOUT": str(NO_LIMIT),
            "WORKING_DIRECTORY": str(Path.cwd()),
            "ATTACHED_FILES_ON_FAIL": str(self.report),
        }
        words = " ".join(map(_quoted, self.command))
        settings = " ".join(f"{key} {_quoted(value)}" for key, value in properties.items())
        name = _quoted(self.name)
        return f"add_test({name} {words})\nset_tests_properties({name} PROPERTIES {settings})\n"


def write(given: Mapping[str, Any], out: Path, url: str | None, note: build.Note) -> list[Slice]:
    """Write the folder `out`, with CDash's address `url` if there is one; the slices. Raises WrongUse, CannotRun."""
    given_words = _given_words(click.get_current_context())
    selection = selection_of(given)
    slices = []
    for spec in dict.fromkeys(mpis_of(given["mpi"], given["suite"])):
        library = targets.resolve(spec)
        folder = build.build(library, given["preset"], note=note, programs=(build.SUITE,))
        ours = library.native and library.native.providers
        providers = build.transports(given["preset"], note=note) if ours else Path()
        suite = Suite(build.suite(folder, library), launching.list_environment(library, providers))
        for np in dict.fromkeys(nps_of(given["np"])):
            launching.check_np(np, wishes_of(given))
            there: Counter[str] = Counter()
            for line in suite.ask("cases", np, selection.arguments()):
                there[line["case"].partition(".")[0]] += "unsupported" not in line
            for transport in comma_list(given["transport"]) or ["own"]:
                target = launching.target_name(spec, parse("own" if library.native else transport), np)
                over = [] if transport == "own" else ["--transport", transport]
                words = ["--mpi", spec, "--np", str(np), *over, *given_words]
                for name in sorted(there):
                    chosen = [*words, *_select(given["select"], name)]
                    slices.append(_slice(target, name, np, there[name], chosen, selection.tier, out))
    if not slices:
        raise WrongUse(f"nothing matches {describe(selection)}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{out}: cannot be written: {error.strerror}") from None
    text = "".join(one.text() for one in slices)
    write_file(out / "CTestTestfile.cmake", lambda file: file.write(f"# {_command()}\n{text}"))
    write_file(out / "DartConfiguration.tcl", lambda file: file.write(_dart(out, url)))
    return slices


def _slice(target: str, suite: str, np: int, cases: int, words: Sequence[str], tier: str, out: Path) -> Slice:
    name = f"{target}/{suite}"
    results = out.absolute() / "results" / re.sub(r"[^\w.@+-]", "_", name)
    program = str(Path(sys.executable).with_name("assay") if INSTALLED else HOME / "assay")
    command = [program, "run", *words, "--suite", suite, "--out", str(results)]
    # What the slice left before goes away: `assay run` writes into no folder that holds a run.
    again = ["sh", "-c", 'rm -rf -- "$0" && exec "$@"', str(results), *command]
    labels = [suite, target.rpartition("/")[0], f"np{np}", tier]
    return Slice(name, again, np, cases, labels, results / "report.html")


def _given_words(context: click.Context) -> list[str]:
    """The options that the user gave, but for those that each slice has of its own."""
    words = []
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in _OURS or source is not click.core.ParameterSource.COMMANDLINE:
            continue
        word = max(option.opts, key=len)
        value = context.params[option.name or ""]
        if value is True:
            words.append(word)
        else:
            words += [part for one in (value if isinstance(value, tuple) else [value]) for part in (word, str(one))]
    return words


def _select(given: Sequence[str], suite: str) -> list[str]:
    """--select for one suite, without the full names of cases of others: those are run whatever --suite says."""
    wanted = [glob for glob in globs(given) if set("*?[^") & set(glob) or glob.partition(".")[0] == suite]
    return [word for glob in wanted for word in ("--select", glob)]


def _quoted(text: str) -> str:
    """A bracket argument of cmake, in which nothing has a meaning."""
    marks = "=" * next(n for n in range(1, 10) if f"]{'=' * n}]" not in text)
    return f"[{marks}[{text}]{marks}]"


def _command() -> str:
    return shlex.join(["assay", *sys.argv[1:]]).replace("\n", " ")


def _dart(out: Path, url: str | None) -> str:
    """DartConfiguration.tcl: what CTest tells CDash of this machine, and where that is."""
    here = machine()
    lines = {
        "SourceDirectory": str(out.absolute()),
        "BuildDirectory": str(out.absolute()),
        "Site": str(here["host"]),
        "BuildName": f"assay {here['os']}",
        "TimeOut": str(NO_LIMIT),
        "NightlyStartTime": "00:00:00 UTC",
        **({"SubmitURL": url} if url else {}),
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())
