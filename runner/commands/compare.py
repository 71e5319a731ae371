"""assay compare OLD NEW, and `assay run --baseline DIR`: what differs between two runs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from reports.compare import Comparison, compare, record
from reports.comparison import markdown, print_comparison
from reports.evidence import Evidence, write_file
from runner.model import ALL_AS_EXPECTED, UNEXPECTED_RESULT, CannotRun


def exit_code(found: Comparison) -> int:
    """1 only where something fails that did not fail before."""
    return ALL_AS_EXPECTED if found.good else UNEXPECTED_RESULT


def check_installed() -> None:
    """Raises CannotRun where the package that compares times is not there: an installed Assay may lack it."""
    if find_spec("scipy") is None:
        raise CannotRun("comparing runs needs the Python package scipy; install it with: pip install 'assay[compare]'")


def compare_runs(old: Path, new: Path, *, as_json: bool, as_markdown: bool) -> int:
    """Print what differs; the exit code. Raises WrongUse, CannotRun."""
    check_installed()
    found = compare(Evidence(old), Evidence(new))
    if as_json:
        print(json.dumps(record(found), indent=1))
    elif as_markdown:
        print(markdown(found), end="")
    else:
        print_comparison(found, Console(highlight=False))
    return exit_code(found)


def against(baseline: Path, out: Path, console: Console) -> int:
    """After a run in `out`: print what differs from `baseline`, write compare.md and compare.json; the exit code."""
    found = compare(Evidence(baseline), Evidence(out))
    print_comparison(found, console)
    write_file(out / "compare.md", lambda file: file.write(markdown(found)))
    write_file(out / "compare.json", lambda file: file.write(json.dumps(record(found), indent=1) + "\n"))
    return exit_code(found)
