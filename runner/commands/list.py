"""assay list: what there is to run, or to run it with."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from runner.commands import standard
from runner.commands.doctor import libraries
from runner.libraries import build, launching, targets
from runner.model import WrongUse
from runner.options import mpis_of, nps_of, selection_of, wishes_of
from runner.planning.plan import Suite, comma_list, describe, must_be_one_of

LISTS = (
    *("tests", "cases", "communicators", "datatypes", "counts", "axes", "profiles", "mpis"),
    *("requirements", "procedures"),
)
_AXIS_OF = {"communicators": "comm", "datatypes": "type", "counts": "count"}


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What `assay list` was asked for; `given` has the values of target_options and selection_options."""

    what: str
    chapters: Sequence[str]
    untested: bool
    as_json: bool
    given: Mapping[str, Any]


def show(wish: Wish) -> int:
    """Print a list; the exit code. Raises WrongUse, CannotRun."""
    what, as_json = wish.what, wish.as_json
    must_be_one_of("list", what, LISTS)
    if what in ("requirements", "procedures"):
        return _list_standard(wish)
    if wish.chapters or wish.untested:
        raise WrongUse("--chapter and --untested go with `assay list requirements` and `assay list procedures`")
    if what == "mpis":
        return print_lines(libraries(), as_json, lambda line: f"{line['mpi']:<20} {line['state']}")
    suite, np = _suite(wish.given)
    selection = selection_of(wish.given)
    if what == "cases":
        lines = suite.ask("cases", np, selection.arguments())
        if not lines:
            raise WrongUse(f"nothing matches {describe(selection)}")
        return print_lines(lines, as_json, _case_line)
    if what == "tests":
        lines = suite.ask("tests", np, selection.profile_arguments())
        return print_lines(lines, as_json, lambda line: f"{line['test']:<32} {line.get('note', '')}")
    if what == "profiles":
        lines = suite.ask("profiles", np)
        return print_lines(lines, as_json, lambda line: f"{line['profile']:<12} {line['note']}")
    lines = suite.ask("axes", np)
    if what in _AXIS_OF:
        lines = [line for line in lines if line["axis"] == _AXIS_OF[what]]
        return print_lines(lines, as_json, _value_line)
    return print_lines(lines, as_json, lambda line: f"{line['axis']:<10} {_value_line(line)}")


def print_lines(lines: Sequence[Mapping[str, Any]], as_json: bool, text: Callable[[Mapping[str, Any]], str]) -> int:
    """Print each line as `text` writes it, or all as one JSON array; returns 0."""
    if as_json:
        print("[" + ",\n ".join(json.dumps(line) for line in lines) + "]")
    else:
        print("\n".join(text(line) for line in lines))
    return 0


def _suite(given: Mapping[str, Any]) -> tuple[Suite, int]:
    """The test binary for the one library that is named, built if need be, and the number of ranks."""
    mpis, nps = mpis_of(given["mpi"], given["suite"]), nps_of(given["np"])
    if len(mpis) > 1 or len(nps) > 1:
        raise WrongUse("assay list: name one --mpi and one --np")
    launching.check_np(nps[0], wishes_of(given))
    library = targets.resolve(mpis[0])

    def note(text: str) -> None:
        print(f"assay: {text}", file=sys.stderr)

    folder = build.build(library, given["preset"], note=note, programs=(build.SUITE,))
    ours = library.native and library.native.providers
    providers = build.transports(given["preset"], note=note) if ours else Path()
    about = library.family if library.native else "mpi"
    return Suite(build.suite(folder, library), launching.list_environment(library, providers), about), nps[0]


def _list_standard(wish: Wish) -> int:
    selection_of(wish.given)  # says what is wrong with it before anything is built
    of_requirements = wish.what == "requirements"
    there = standard.chapters_with_requirements() if of_requirements else standard.chapters_with_procedures()
    chapters = standard.chapters(comma_list(wish.chapters), there)
    suite, np = _suite(wish.given)
    list_lines = standard.requirements if of_requirements else standard.procedures
    lines = list_lines(suite, np, standard.Wish(chapters, wish.untested, wish.given["profile"]))
    if wish.as_json:
        return print_lines(lines, True, str)
    if wish.untested and not lines:
        print("assay: no requirement is untested" if of_requirements else "assay: tests call every procedure")
    elif of_requirements:
        standard.print_requirements(lines, Console(highlight=False))
    else:
        standard.print_procedures(lines, Console(highlight=False))
    return 0


def _case_line(line: Mapping[str, Any]) -> str:
    return f"{line['case']}  (unsupported: {line['unsupported']})" if "unsupported" in line else str(line["case"])


def _value_line(line: Mapping[str, Any]) -> str:
    note = f"({line['lacks']}) " if line.get("lacks") else ""
    return f"{line['value']:<24} {note}{line.get('note', '')}".rstrip()
