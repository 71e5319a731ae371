"""abi.html: what `assay abi` found; and the same for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports import page
from reports.evidence import printable, write_file

WORDS = {"fail": "differs", "xfail": "known", "xpass": "does not differ any more", "advisory": "advisory"}
STYLE = {"fail": "bold red", "xpass": "bold magenta", "xfail": "magenta", "advisory": "dim"}
KINDS = {
    "symbol": "exported procedures",
    "profiling": "twins with PMPI_",
    "foreign": "foreign names",
    "declaration": "declarations",
    "prototype": "prototypes",
    "type": "types",
    "constant": "constants",
    "left_out": "names that the ABI leaves out",
    "library": "names and needs of the file",
    "runs": "programs built for other libraries",
}


def write_page(found: Mapping[str, Any], machine: Mapping[str, Any], command: str, path: Path) -> Path:
    """Write the page to `path`; the result is its path."""
    text = page.render(
        "abi",
        {"word": WORDS.get, "kind": kind, "sentence": sentence},
        found=found,
        machine=machine,
        command=command,
        grid=grid(found["pairs"]),
    )
    return write_file(path, lambda file: file.write(text))


def kind(check: str) -> str:
    """abi.symbol/name=mpi_send → exported procedures; symbol gives the same."""
    name = check.partition("/")[0].removeprefix("abi.")
    return KINDS.get(name, name)


def sentence(found: Mapping[str, Any]) -> str:
    """`3 differences, 8 known, 12 advisory`."""
    status = found["status"]
    parts = [
        f"{status['fail'] or 'no'} unexplained {'difference' if status['fail'] == 1 else 'differences'}",
        f"{status['xfail']} known",
        f"{status['advisory']} advisory",
    ]
    if status["xpass"]:
        parts.insert(1, f"{status['xpass']} that known/ expects and that are not there")
    return ", ".join(parts)


def grid(pairs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The pairs as a table: `on`, the heads of the columns, and `rows` of a name and a cell for each column.

    A cell is None where that pair was not run, else {status, word}.
    """
    on = list(dict.fromkeys(one["runs_on"] for one in pairs))
    cells = {(one["built_for"], one["runs_on"]): _cell(one["differences"]) for one in pairs}
    built = dict.fromkeys(one["built_for"] for one in pairs)
    return {"on": on, "rows": [(name, [cells.get((name, other)) for other in on]) for name in built]}


def _cell(differences: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if not differences:
        return {"status": "pass", "word": "runs"}
    status = differences[0]["status"]
    words = {"advisory": "runs when renamed", "xpass": "runs now", "xfail": "known"}
    return {"status": status, "word": words.get(status, "does not run")}


def print_found(found: Mapping[str, Any]) -> None:
    """A line for each difference, a table of pairs, and the line for scripts last."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from reports.summary import widen

    console = Console(highlight=False)
    widen(console)
    for library in found["libraries"]:
        said = f"MPI-{library['mpi_standard']}{', the standard ABI' if library['abi'] else ''}"
        number = sum(library["checks"].values())
        console.print(Text.assemble((library["mpi"], "bold"), f": {said}, {number:,} checks"), soft_wrap=True)
        for name in library["not_checked"]:
            console.print(Text(f"  not checked: {printable(name)}", "yellow"), soft_wrap=True)
        if missing := library["not_provided"]:
            console.print(f"  not provided: {len(missing)} procedures of later versions of MPI")
        for line, style in _lines(library["differences"]):
            console.print(Text(line, style), soft_wrap=True)
    if found["pairs"]:
        laid = grid(found["pairs"])
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("program built for, run with", no_wrap=True)
        for name in laid["on"]:
            table.add_column(name, no_wrap=True)
        for name, cells in laid["rows"]:
            table.add_row(name, *(Text(one["word"], STYLE.get(one["status"], "green")) if one else "" for one in cells))
        console.print(table)
        for one in found["pairs"]:
            for line, style in _lines(one["differences"]):
                console.print(Text(line, style), soft_wrap=True)
    console.print(f"assay: {sentence(found)}", markup=False, soft_wrap=True)


def _lines(differences: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for one in sorted(differences, key=lambda one: list(STYLE).index(one["status"])):
        known = f" [known: {one['known']}]" if one["status"] == "xfail" else ""
        yield f"  {WORDS[one['status']]} ({one['clause']}): {printable(one['text'])}{known}", STYLE[one["status"]]
