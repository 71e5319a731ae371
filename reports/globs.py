"""Globs with braces, as known failures and --select write them: `{a,b}` is a or b, the rest is as in fnmatch."""

from __future__ import annotations

import fnmatch
import re


def translate(glob: str) -> str:
    """A regular expression for a whole name: as fnmatch, and `{a,b}` is a or b. "" when braces do not pair up."""
    made, depth = "", 0
    for piece in re.split(r"([{,}])", glob):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if depth < 0:
            return ""
        if piece == "," and depth:
            made += "|"
        elif piece in ("{", "}"):
            made += "(?:" if piece == "{" else ")"
        else:
            made += fnmatch.translate(piece)[len("(?s:") : -len(r")\Z")]
    return "" if depth else rf"(?s:{made})\Z"


def expand(glob: str) -> list[str]:
    """The globs without braces that it stands for: `x/{a,b}` → [x/a, x/b]. Raises ValueError for a lone brace."""
    found: list[str] = []
    waiting = [glob]
    while waiting:
        word = waiting.pop()
        if braces := re.search(r"\{([^{}]*)\}", word):
            before, after = word[: braces.start()], word[braces.end() :]
            waiting += [before + part + after for part in reversed(braces[1].split(","))]
        elif set("{}") & set(word):
            raise ValueError("braces that do not pair up; {a,b} is a or b")
        else:
            found.append(word)
    return found
