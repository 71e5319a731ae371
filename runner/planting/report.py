"""What `assay faults` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.planting.results import Result, test_of


def print_line(result: Result) -> str:
    """One fault in one line."""
    if result.catches:
        first = next(iter(result.catches.values()))
        tests = len(result.catches)
        by = "1 test" if tests == 1 else f"{tests} tests"
        return f"{result.fault.name:<28} caught by {by} in {result.seconds:.1f} s: {first.case}"
    if result.unsupported:
        return f"{result.fault.name:<28} cannot be shown here: {result.unsupported}"
    why = f"; {result.other.case} was {result.other.status}" if result.other else ""
    return f"{result.fault.name:<28} NOT CAUGHT by {result.cases} cases in {result.seconds:.1f} s{why}"


def print_report(found: Mapping[str, Any]) -> None:
    """The table fault × caught by, the tests that caught nothing, and a last line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for name, style in (("fault", ""), ("np", "dim"), ("status", ""), ("first case", ""), ("message", "dim")):
        table.add_column(name, style=style, overflow="fold")
    table.add_column("caught by", overflow="fold")
    for one in found["faults"]:
        catches = one["catches"]
        tests = ", ".join(test_of(catch["case"]) for catch in catches)
        if catches:
            first = catches[0]
            cells = [first["status"], first["case"], first["message"][:120], tests]
        elif "unsupported" in one:
            cells = ["–", "", one["unsupported"], ""]
        else:
            other = one.get("other")
            seen = f"{other['case']} was {other['status']}, not what this fault makes" if other else one["note"]
            cells = ["NOT CAUGHT", "", seen, ""]
        table.add_row(one["fault"], str(one["np"]), *[Text(cell) for cell in cells])
    console.print(table)
    console.print("\nfaults that each test caught:")
    for test, names in found["tests"].items():
        console.print(Text(f"  {test:<28} {len(names)}"))
    for control in found["control"]:
        for catch in control["failed"]:
            words = f"without a fault, np {control['np']}: {catch['status']} {catch['case']}: {catch['message']}"
            console.print(Text(words), soft_wrap=True)
    if found["idle_tests"]:
        console.print(Text(f"no fault makes these tests fail: {', '.join(found['idle_tests'])}"), soft_wrap=True)
    if lost := [name for name, again in found["repeated"].items() if not again]:
        words = f"state of one fault reached another: not caught again in a launch of their own: {', '.join(lost)}"
        console.print(Text(words), soft_wrap=True)
    total, fine = len(found["faults"]), sum(one["fine"] for one in found["faults"])
    failed = sum(len(control["failed"]) for control in found["control"])
    console.print(
        Text(
            f"{fine} of {total} faults caught, {failed} failures without a fault, "
            f"{len(found['idle_tests'])} tests that nothing makes fail "
            f"({found['seconds']:.0f} s, {found['launches']} launches)"
        )
    )
