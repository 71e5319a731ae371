"""What a compiler, cmake or pip says, cut down to the line that says what is wrong."""

from __future__ import annotations

import re

_ERROR = re.compile(
    r"(?:^|[:\s])(?:fatal |internal compiler )?error: |CMake Error|undefined reference|\bNo such file", re.IGNORECASE
)
_BROKEN = re.compile(r"^.*connection broken by (.*)$", re.MULTILINE)
_WHY = re.compile(r"\[Errno -?\d+\] ([^'\"()]+)|(timed out|certificate verify failed)", re.IGNORECASE)


def first_error(output: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    for line in output.splitlines():
        if _ERROR.search(line):
            following = output[output.index(line) + len(line) :].strip().splitlines()
            # cmake puts the message on the lines after "CMake Error at …:"
            return f"{line} {following[0].strip()}" if line.startswith("CMake Error") and following else line.strip()
    return (output.strip() or "no output").splitlines()[-1]


def unreachable(output: str) -> str:
    """Why pip did not reach its index, or "" when it did."""
    found = _BROKEN.search(output)
    why = _WHY.search(found[1]) if found else None
    return (why[1] or why[2] if why else "no connection") if found else ""
