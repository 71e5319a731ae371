"""Makes long programs short: variables of one kind become an array, and lines that repeat a loop."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

FEW = 4  # variables of one kind, or repetitions, that a reader takes in one by one
LONGEST = 6  # lines in a loop
Line = tuple[str, int]  # text, depth
_INTEGER = re.compile(r"(?<![\w.\"])\d+(?![\w.])")


def arrays(declared: Mapping[str, tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """name → (array, index): for `received`, `received2` … that are of one type and length."""
    kinds: dict[tuple[str, str, int], list[tuple[int, str]]] = defaultdict(list)
    for name, (kind, length) in declared.items():
        base, number = re.fullmatch(r"(\w*?)(\d*)", name).groups()  # type: ignore[union-attr]
        kinds[base, kind, length].append((int(number or 1), name))
    found: dict[str, tuple[str, int]] = {}
    for (base, _, _), members in kinds.items():
        if len(members) > FEW:
            found |= {name: (f"all_{base}", index) for index, (_, name) in enumerate(sorted(members))}
    return found


def renamed(text: str, names: Mapping[str, tuple[str, int]]) -> str:
    """The text with the elements of arrays in place of variables."""
    return re.sub(r"[A-Za-z_]\w*", lambda one: "{}[{}]".format(*names[one[0]]) if one[0] in names else one[0], text)


def folded(lines: Sequence[Line]) -> list[Line]:
    """The lines with loops in place of those that repeat with other numbers."""
    found: list[Line] = []
    k = 0
    while k < len(lines):
        period, times = max(
            ((period, _times(lines, k, period)) for period in range(1, LONGEST + 1)),
            key=lambda one: (one[0] * one[1] if one[1] > FEW else 0, -one[0]),
        )
        if times <= FEW:
            found.append(lines[k])
            k += 1
            continue
        body = [_counted(lines[k + q], lines[k + period + q]) for q in range(period)]
        depth = lines[k][1]
        head = f"for (int k = 0; k < {times}; ++k)"
        if period == 1:
            found.append((f"{head} {body[0]}", depth))
        else:
            found += [(f"{head} {{", depth), *((line, depth + 1) for line in body), ("}", depth)]
        k += period * times
    return found


def _times(lines: Sequence[Line], begin: int, period: int) -> int:
    """How often the `period` lines from `begin` on repeat, with numbers that grow evenly."""
    times = 1
    while begin + (times + 1) * period <= len(lines):
        for q in range(period):
            first, second = lines[begin + q], lines[begin + min(period, len(lines) - begin - 1) + q]
            this = lines[begin + times * period + q]
            if this[1] != lines[begin][1] or this[0].endswith("{") or this[0].startswith("}"):
                return times
            if _template(this[0]) != _template(first[0]) or this[0].startswith("for "):
                return times
            steps = [b - a for a, b in zip(_numbers(first[0]), _numbers(second[0]), strict=False)]
            wanted = [a + times * step for a, step in zip(_numbers(first[0]), steps, strict=True)]
            if len(steps) != len(_numbers(this[0])) or _numbers(this[0]) != wanted:
                return times
        times += 1
    return times


def _template(text: str) -> str:
    """A line without its numbers; those in texts stay, since no loop can write them."""
    return "".join(part if part.startswith('"') else _INTEGER.sub("#", part) for part in _parts(text))


def _parts(text: str) -> list[str]:
    return re.findall(r'"(?:\\.|[^"\\])*"|[^"]+', text)


def _numbers(text: str) -> list[int]:
    return [int(one) for part in _parts(text) if not part.startswith('"') for one in _INTEGER.findall(part)]


def _counted(first: Line, second: Line) -> str:
    """The line with k in its numbers, as the first two repetitions have them."""
    following = iter(_numbers(second[0]))

    def number(one: re.Match[str]) -> str:
        start, step = int(one[0]), next(following) - int(one[0])
        if step == 0:
            return one[0]
        times = "k" if step == 1 else f"{step} * k"
        text = times if start == 0 else f"{start} - k" if step == -1 else f"{times} + {start}"
        around = (one.string[: one.start()].rstrip()[-1:], one.string[one.end() :].lstrip()[:1])
        return f"({text})" if text != "k" and any(sign and sign in "+-*/%" for sign in around) else text

    return "".join(part if part.startswith('"') else _INTEGER.sub(number, part) for part in _parts(first[0]))
