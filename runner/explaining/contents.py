"""What a buffer holds, as C: numbers where they are few, else a small function that makes them.

While a case is recorded, byte k of a message is (first + k) % 160 and all else is 0xa5 (framework/check/data.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

POISON = 0xA5
MODULUS = 160
FEW_BYTES = 32  # that a reader takes in as numbers
MOST_BYTES = 512
MOST_PIECES = 8


@dataclass(frozen=True)
class Piece:
    """A stretch of a buffer with consecutive bytes of one message: `elements` of an extent, data bytes at `at`."""

    offset: int  # of the first element
    elements: int
    extent: int
    at: tuple[int, ...]
    first: int  # the value of the first byte


def pieces(image: bytes) -> list[Piece] | None:
    """The image as few pieces; None when it holds something else."""
    places = [k for k, byte in enumerate(image) if byte != POISON]
    found: list[Piece] = []
    begin = 0
    for end in range(1, len(places) + 1):
        if end < len(places) and image[places[end]] == (image[places[end - 1]] + 1) % MODULUS:
            continue
        found.append(_piece(places[begin:end], image[places[begin]]))
        begin = end
    return found if len(found) <= MOST_PIECES and all(byte < MODULUS or byte == POISON for byte in image) else None


def _piece(places: Sequence[int], first: int) -> Piece:
    offset = places[0]
    for n in range(1, min(len(places), 64) + 1):
        if len(places) % n:
            continue
        extent = places[n] - offset if n < len(places) else places[-1] + 1 - offset
        if all(places[k] + extent == places[k + n] for k in range(len(places) - n)):
            return Piece(offset, len(places) // n, extent, tuple(place - offset for place in places[:n]), first)
    return Piece(offset, 1, places[-1] + 1 - offset, tuple(place - offset for place in places), first)


def runs(places: Sequence[int]) -> tuple[list[int], int]:
    """Where stretches of bytes begin that are all of one length, and this length: (0,1,2,3, 8,9,10,11) → [0, 8], 4."""
    ends = [k for k in range(1, len(places) + 1) if k == len(places) or places[k] != places[k - 1] + 1]
    size = gcd(*(end - begin for begin, end in zip([0, *ends], ends, strict=False)))
    return list(places[::size]), size


def literal(image: bytes, element: int = 1) -> str:
    """The image as an initializer of elements of so many bytes; what is not a whole number of them is left out."""
    numbers = [
        int.from_bytes(image[k : k + element], "little") for k in range(0, len(image) // element * element, element)
    ]
    digits = 2 * element
    return ", ".join(f"0x{number:0{digits}x}" for number in numbers)
