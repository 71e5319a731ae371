"""transports.html: what `assay bench transports` measured, as a table and two plots; and the same for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports import page
from reports.evidence import write_file

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 34  # of the frame, in pixels


def write_page(found: Mapping[str, Any], machine: Mapping[str, Any], command: str, path: Path) -> Path:
    """Write the page to `path`; the result is its path."""
    measured = [one for one in found["transports"] if "points" in one]
    text = page.render(
        "bench",
        {"size": size_name, "beside": beside},
        found=found,
        machine=machine,
        command=command,
        measured=measured,
        absent=[one for one in found["transports"] if "reason" in one],
        plots=[
            plot("Latency", "half a round trip, µs", measured, "latency"),
            plot("Bandwidth", "MB/s", measured, "bandwidth"),
        ],
    )
    return write_file(path, lambda file: file.write(text))


def plot(title: str, unit: str, measured: Sequence[Mapping[str, Any]], what: str) -> dict[str, Any]:
    """A plot with logarithmic axes: {title, unit, width, height, frame, x: [{at, text}], y, lines}."""
    every = [(point["size"], point[what]) for one in measured for point in one["points"] if point[what] > 0]
    low_x, high_x = _decades(min(x for x, _ in every), max(x for x, _ in every), 2)
    low_y, high_y = _decades(min(y for _, y in every), max(y for _, y in every), 10)

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * _share(value, low_x, high_x, 2)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(value, low_y, high_y, 10)

    return {
        "title": title,
        "unit": unit,
        "width": WIDTH,
        "height": HEIGHT,
        "frame": {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM},
        "x": [
            {"at": round(across(2.0**k), 1), "text": size_name(2**k)} for k in range(low_x, high_x + 1) if k % 3 == 0
        ],
        "y": [{"at": round(up(10.0**k), 1), "text": f"{10.0**k:,g}"} for k in range(low_y, high_y + 1)],
        "lines": [
            {
                "name": one["name"],
                "points": [
                    {
                        "x": round(across(point["size"]), 1),
                        "y": round(up(point[what]), 1),
                        "text": f"{one['name']}, {size_name(point['size'])}: {point[what]:,.4g} {unit.split(', ')[-1]}",
                    }
                    for point in one["points"]
                    if point[what] > 0
                ],
            }
            for one in measured
        ],
    }


def beside(ratio: Mapping[str, Any]) -> str:
    """A sentence about one of the ratios."""
    rivals = ratio["rivals"]
    whom = rivals[0] if len(rivals) == 1 else f"the better of {' and '.join(rivals)}"
    bandwidth = f", {ratio['bandwidth']:.2f} × its bandwidth at 1 MiB" if ratio["bandwidth"] else ""
    return f"beside {whom}: {ratio['latency']:.2f} × as fast at 8 B{bandwidth}"


def size_name(size: int) -> str:
    """65536 → 64 KiB, 65539 → 65,539 B."""
    for power, unit in ((20, "MiB"), (10, "KiB")):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power} {unit}"
    return f"{size:,} B"


def print_table(found: Mapping[str, Any]) -> None:
    """A table, what could not be measured, and our transports beside their rivals."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, title=f"{found['mpi']}, best of {found['rounds']}", title_justify="left")
    table.add_column("transport")
    for name in ("8 B µs", "1 MiB MB/s", "at best MB/s", "half of it at"):
        table.add_column(name, justify="right")
    table.add_column("protocol changes at")
    for one in found["transports"]:
        if "points" in one:
            table.add_row(
                one["name"],
                f"{one['latency']:.2f}",
                f"{one['bandwidth']:,.0f}" if one["bandwidth"] else "–",
                f"{one['most']:,.0f}",
                size_name(one["half"]),
                ", ".join(map(size_name, one["switches"])) or "–",
            )
    console.print(table)
    for one in found["transports"]:
        if "reason" in one:
            console.print(f"could not be measured: {one['reason']}", markup=False, soft_wrap=True)
    for one in found["ratios"]:
        console.print(f"{one['name']} {beside(one)}", soft_wrap=True)


def _decades(low: float, high: float, base: int) -> tuple[int, int]:
    return math.floor(math.log(low, base)), math.ceil(math.log(high, base) - 1e-9)


def _share(value: float, low: int, high: int, base: int) -> float:
    return (math.log(value, base) - low) / max(high - low, 1)
