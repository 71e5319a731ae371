"""The memory of a case: which stretches of it are handed to MPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.explaining.recording import Call, Event, Memory

UNKNOWN = 64  # bytes of memory of which only the address is known


@dataclass
class Block:
    """A stretch of memory that the case hands to MPI."""

    begin: int
    end: int
    name: str = ""
    element: tuple[str, int] = ("unsigned char", 1)
    given: bool = False  # by MPI_Alloc_mem and the like


def find_blocks(events: Sequence[Event]) -> list[Block]:
    """The stretches of memory that the case hands to MPI or fills, by address."""
    spans: list[tuple[int, int, bool]] = []
    for event in events:
        if isinstance(event, Memory):
            spans.append((event.at, event.at + max(event.size, 1), False))
            continue
        if not isinstance(event, Call):
            continue
        for one in event.arguments:
            if one.memory:
                size = event.argument("size")
                spans.append((one.memory, one.memory + max(1, (size.value if size else 1) or 1), True))
            elif one.type == "void" and one.at and one.bytes is not None:
                begin = one.at + min(one.low, 0)
                spans.append((begin, one.at + one.low + len(one.bytes) // 2, False))
            elif one.type == "void" and one.at and one.name.endswith("buf"):  # its datatype does not say how much it is
                spans.append((one.at, one.at + UNKNOWN, False))
    merged: list[Block] = []
    for begin, end, given in sorted(spans):
        if merged and begin < merged[-1].end:
            merged[-1].end = max(merged[-1].end, end)
            merged[-1].given = merged[-1].given or given
        else:
            merged.append(Block(begin, end, given=given))
    return merged
