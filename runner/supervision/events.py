"""Incremental reading of the event log of one rank (docs/formats.md, section 4).

Reading is on the path of every case of every rank, beside ranks that want the same cores: the two lines of a case that
passes are split, never parsed as JSON.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from operator import sub
from pathlib import Path
from typing import Any

_BLOCK = 1 << 17  # bytes read at once: some thousand cases, so that their verdicts live shortly


@dataclass(frozen=True)
class Death:
    """An `X` line: the process died inside case `index` (-1: outside any) at `time` (CLOCK_MONOTONIC, ns)."""

    index: int
    time: int
    detail: dict[str, Any]


class RankLog:
    """What one rank has said so far.

    `unusual` is shared by all ranks of a job: the indices of cases of which some rank said more than "began, passed".
    """

    def __init__(self, directory: Path, rank: int, cases: int, unusual: set[int]) -> None:
        self.rank = rank
        self.cases = cases  # in the plan
        self.path = directory / f"rank-{rank}.events"
        self.unusual = unusual
        self.hellos: list[dict[str, Any]] = []
        self.open = -1  # index of the case it is in
        self.opened = 0  # when it entered that case, ns
        self.last = -1  # index of the last case it ended
        self.events = 0  # number of lines seen
        self.malformed = 0  # of them not understood
        self.outcomes: dict[int, str] = {}  # letter of the cases it ended with another one than p
        self.reasons: dict[int, str] = {}  # of the outcomes u and s
        self.findings: dict[int, list[dict[str, Any]]] = {}
        self.erroneous = -1  # index of the newest case that told of its erroneous calls
        self.death: Death | None = None
        self.answer: dict[str, Any] | None = None  # the newest Q line
        self.end_announced = False  # this process has to end before its case does
        self.exit_wanted: int | None = None  # what the launcher should then end with
        self.done = False  # all cases done, in MPI_Finalize
        self.finished = False  # MPI_Finalize returned
        self.more = False  # the last read filled its block: there may be more
        self._fd = -1
        self._rest = b""

    @property
    def position(self) -> int:
        """Index of the case it is in, or of the one that comes next."""
        return self.open if self.open >= 0 else self.last + 1

    def close(self) -> None:
        """Close the file; reading again would open and repeat it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def read(self) -> list[tuple[int, int]]:
        """Read what was appended since the last call: (index, duration in ns) of each case that the rank ended."""
        if self._fd < 0:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return []
        block = os.read(self._fd, _BLOCK)
        self.more = len(block) == _BLOCK
        if not block:
            return []
        whole, newline, rest = block.rpartition(b"\n")
        if not newline:
            self._rest += block
            return []
        lines = (self._rest + whole).decode("utf-8", "replace").split("\n")
        self._rest = rest
        self.events += len(lines)
        # All but the case that it was in before and the one that it is in now are whole.
        begin = 1 if self.open >= 0 else 0
        end = begin + (len(lines) - begin) // 2 * 2
        ended = self._take(lines[:begin])
        plain = self._take_plain(lines[begin:end])
        ended += self._take(lines[begin:end]) if plain is None else plain
        return ended + self._take(lines[end:])

    def _take_plain(self, lines: list[str]) -> list[tuple[int, int]] | None:
        """What `_take` would, at once, if each case began after the one before and passed; None if one did not."""
        words = " ".join(lines).split(" ")
        number = len(lines) // 2
        indices = words[1::7]
        if not (
            len(words) == 7 * number
            and number > 0
            and words[0::7].count("S") == words[3::7].count("E") == words[6::7].count("p") == number
            and indices == words[4::7]
        ):
            return None
        try:
            first = int(indices[0])
            if not self.last < first <= self.cases - number or indices != [*map(str, range(first, first + number))]:
                return None
            spent = [*map(sub, map(int, words[5::7]), map(int, words[2::7]))]
        except ValueError:
            return None
        self.last = first + number - 1
        return [*zip(range(first, first + number), spent, strict=True)]

    def _take(self, lines: list[str]) -> list[tuple[int, int]]:
        ended: list[tuple[int, int]] = []
        cases = self.cases
        for line in lines:
            try:
                kind = line[:2]
                if kind == "S ":
                    _, index, time = line.split(" ")
                    number = int(index)
                    if not self.last < number < cases:
                        raise ValueError(line)
                    self.opened = int(time)
                    self.open = number
                elif kind == "E ":
                    _, index, time, outcome = line.split(" ", 3)
                    number = int(index)
                    if number != self.open:
                        raise ValueError(line)
                    ended.append((number, int(time) - self.opened))
                    self.open = -1
                    self.last = number
                    if outcome != "p":
                        self._ended_otherwise(number, outcome)
                else:
                    self._take_other(line)
            except (ValueError, KeyError, TypeError):
                self.malformed += 1
        return ended

    def _ended_otherwise(self, index: int, outcome: str) -> None:
        letter, _, reason = outcome.partition(" ")
        if letter not in ("f", "-", "u", "s"):
            raise ValueError(outcome)
        self.unusual.add(index)
        self.outcomes[index] = letter
        if reason:
            self.reasons[index] = reason

    def _take_other(self, line: str) -> None:
        kind, _, rest = line.partition(" ")
        if kind == "F":
            index, _, text = rest.partition(" ")
            finding = _object(text)
            self.unusual.add(int(index))
            self.findings.setdefault(int(index), []).append(finding)
        elif kind == "H":
            self.hellos.append(_object(rest))
        elif kind == "X":
            index, time, text = rest.split(" ", 2)
            if self.death is None:  # a second one is the death of a dying process
                self.death = Death(int(index), int(time), _object(text))
        elif kind == "Q":
            _, _, text = rest.split(" ", 2)
            self.answer = _object(text)
        elif kind == "W":
            self.erroneous = int(rest)
        elif kind == "A":
            wanted = _object(rest.partition(" ")[2]).get("exit")
            self.exit_wanted = None if wanted is None else int(wanted)
            self.end_announced = True
        elif kind == "D":
            self.done = True
        elif kind == "Z":
            self.finished = True
        else:
            raise ValueError(line)


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value
