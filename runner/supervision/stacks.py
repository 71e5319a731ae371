"""Stacks as a person reads them: demangled, without the frames of the handler that wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cxxfilt  # type: ignore[import-untyped]

_LONGEST = 160  # characters of one name; templates of the C++ library fill pages
_HANDLER = ("assay::(anonymous namespace)::", "_exit", "exit", "__run_exit_handlers")
_HARNESS = "assay::engine::run_once"  # what lies below is the same in every stack


def readable(stack: Sequence[str]) -> list[str]:
    """Frames `name+0xoffset 0xaddress` of the event log become `name+0xoffset`; innermost first."""
    frames = [_name(frame) for frame in stack]
    first = next((i for i, frame in enumerate(frames) if not _is_handler(frame)), 0)
    last = next((i for i, frame in enumerate(frames) if frame.startswith(_HARNESS)), len(frames))
    return frames[first:last] if first < last else frames


def _is_handler(frame: str) -> bool:
    return any(frame.startswith(name) for name in _HANDLER[:1]) or frame.partition("+")[0] in _HANDLER[1:]


@lru_cache(maxsize=4096)
def _name(frame: str) -> str:
    mangled, plus, offset = frame.partition(" ")[0].rpartition("+")
    if not plus:
        return frame
    try:
        name = str(cxxfilt.demangle(mangled))
    except cxxfilt.InvalidName:
        name = mangled
    if len(name) > _LONGEST:
        name = name[: _LONGEST - 1] + "…"
    return f"{name}+{offset}"
