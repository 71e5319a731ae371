"""Which of two values of an axis is simpler, and which cases lie near another one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reports.evidence import parse_case

# What a reader knows best comes first; all others follow in the order of their catalogue.
FIRST: Mapping[str, Sequence[str]] = {
    "comm": ("world", "self", "dup_world"),
    "type": (
        *("int", "byte", "char", "double", "short", "long", "float", "long_double", "double_int", "float_int", "2int"),
        *("contiguous_int", "vector_int", "indexed_int", "hindexed_int", "hvector_int", "struct_int", "short_int"),
        *("resized_contiguous_int", "resized_int_lb_positive", "contiguous_double_int", "vector_double_int"),
    ),
    "placement": ("heap",),
    "mode": ("send", "isend"),
    "receive": ("recv", "irecv"),
    "completion": ("wait", "waitall", "waitany", "waitsome"),
    "call": ("wait", "waitall", "waitany", "waitsome"),  # of tests of completion; others have none of these
    "binding": ("int",),
    "query": ("plain",),
    "op": ("sum", "max"),
    "form": ("plain",),
    "start": ("blocking", "nonblocking"),
    "contiguous": ("no",),
    "in_place": ("no",),
}
_UNITS = {"": 1.0, "b": 1.0, "kib": 1024.0, "k": 1024.0, "mib": 1048576.0, "m": 1048576.0}


def size_of(value: str) -> float | None:
    """A number, perhaps with a unit (`8kib`), as far as it is one."""
    found = re.fullmatch(r"(\d+)(b|kib|mib|k|m|)", value)
    return float(found[1]) * _UNITS[found[2]] if found else None


def _key(axis: str, value: str, place: int) -> tuple[int, float, int]:
    first = FIRST.get(axis, ())
    if value in first:
        return 0, float(first.index(value)), place
    if axis in ("count", "np"):
        size = size_of(value)
        # One element, then more; none at all is a matter of its own. A size in bytes is an odd number of elements.
        return (1, 3.5 if size == 0 else size, 1 if value.endswith("b") else 0) if size is not None else (2, 0.0, place)
    return 1, 0.0, place


def simplest_first(axis: str, values: Sequence[str]) -> list[str]:
    """The values of an axis from simple to complex; `values` are in the order of the catalogue."""
    return sorted(values, key=lambda value: _key(axis, value, values.index(value)))


def with_value(case: str, axis: str, value: str) -> str:
    """The case with another value of one axis."""
    return "/".join(f"{axis}={value}" if part.startswith(f"{axis}=") else part for part in case.split("/"))


class Order:
    """The values of the axes of one test, simplest first."""

    def __init__(self, axes: Mapping[str, Sequence[str]]) -> None:
        self.axes = {axis: simplest_first(axis, list(values)) for axis, values in axes.items()}

    def place(self, axis: str, value: str) -> int:
        """How far a value is from the simplest; one that the catalogue does not list comes last."""
        values = self.axes.get(axis, [])
        return values.index(value) if value in values else len(values)

    def complexity(self, case: str) -> tuple[int, float, str]:
        """Sort key: how many axes are not at their simplest value, and how far they are from it."""
        places = [
            (self.place(axis, value), max(len(self.axes.get(axis, ())), 1))
            for axis, value in parse_case(case).axes.items()
        ]
        return sum(place > 0 for place, _ in places), sum(place / count for place, count in places), case

    def simpler(self, case: str) -> dict[str, list[str]]:
        """For each axis the cases with a simpler value of it alone, simplest first."""
        found = {}
        for axis, value in parse_case(case).axes.items():
            before = self.axes.get(axis, [])[: self.place(axis, value)]
            if before:
                found[axis] = [with_value(case, axis, one) for one in before]
        return found

    def others(self, case: str) -> dict[str, list[str]]:
        """For each axis the cases with another value of it alone."""
        return {
            axis: [with_value(case, axis, one) for one in self.axes.get(axis, []) if one != value]
            for axis, value in parse_case(case).axes.items()
        }
