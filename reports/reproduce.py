"""What `assay reproduce` found, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

STYLE = {"holds": "green", "does not hold": "bold red", "unsupported": "yellow"}


def number(value: float | None, unit: str) -> str:
    """Three figures and the unit: 44.0 ms, 228 ×, 5,177 MB/s; – where there is none."""
    if value is None:
        return "–"
    size = abs(value)
    text = f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    return f"{text} {unit}"


def print_list(entries: Sequence[Any]) -> None:
    """Name and sentence of each entry, with its criteria."""
    for one in entries:
        print(f"{one.name:<20} {one.about}")
        print(f"{'':<20} {one.source}")
        for claim in one.claims:
            print(
                f"{'':<20} - {claim.text}: {claim.criterion} {claim.unit} (theirs {number(claim.theirs, claim.unit)})"
            )


def print_table(found: Mapping[str, Any]) -> None:
    """A table an entry, or why there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for one in found["entries"]:
        console.print(Text.assemble((one["name"], "bold"), ": ", one["about"]), soft_wrap=True)
        console.print(Text(one["source"]), soft_wrap=True)
        if "reason" in one:
            console.print(
                Text.assemble((one["verdict"], STYLE[one["verdict"]]), f": {one['reason']}\n"), soft_wrap=True
            )
            continue
        table = Table(box=None, pad_edge=False)
        table.add_column("")
        for name in ("theirs", "here", "holds when"):
            table.add_column(name, justify="right")
        table.add_column("")
        for claim in one["claims"]:
            table.add_row(
                Text(claim["text"]),
                number(claim["theirs"], claim["unit"]),
                number(claim["ours"], claim["unit"]),
                claim["criterion"],
                Text(claim["verdict"], STYLE[claim["verdict"]]),
            )
        console.print(table)
        console.print(Text.assemble("the shape ", (one["verdict"], STYLE[one["verdict"]]), "\n"))
