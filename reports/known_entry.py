"""Entries of known failures: what one says, and how they are read (docs/formats.md, section 7)."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from reports.globs import translate
from reports.signature import Pattern, Signature, pattern
from runner.model import FAILED, Target, WrongUse

KEYS = (
    "case",
    "library",
    "version",
    "transport",
    "np",
    "threads",
    "seen",
    "follows",
    "status",
    "sometimes",
    "seldom",
    "damages",
    "reason",
    "link",
    "tracker",
)
FLAGS = ("sometimes", "seldom", "damages")
_CASE_GLOB = re.compile(r"[a-z0-9_.+=/*?\[\]!{,}-]+")


@dataclass(frozen=True)
class Entry:
    """One [[known]] table: which cases of which targets fail, how, and why."""

    where: str  # "known/mpich.toml, entry 3"
    case: str
    reason: str
    link: str
    library: str = "*"
    version: str = ""
    transport: str = "*"
    np: frozenset[int] = frozenset()  # empty: any number of ranks
    threads: frozenset[int] = frozenset()  # of a rank; empty: any
    seen: tuple[Pattern, ...] = ()  # what was seen; empty: anything that ends in one of `status`
    follows: tuple[Pattern, ...] = ()  # what may be seen, too, in a case that shows one of `seen`
    status: frozenset[str] = frozenset({"fail"})  # how a case ends by it
    sometimes: bool = False  # whether a case fails depends on timing or on more than its name says: it may also pass
    rate: tuple[int, int] | None = (
        None  # (cases that failed, runs of cases that the entry fits), where that was counted
    )
    why: str = ""  # why that is chance
    seldom: bool = False  # it nearly always passes: nobody prepares for its failure; implies `sometimes`
    damages: bool = False  # the process may be damaged afterwards, so that later cases fail
    tracker: str = ""  # issues of the library's tracker (links), or "none found" and the date of the search
    ours: bool = False  # it came with Assay: nobody asked for it, so that a glob without a case is no news

    def explains(self, signature: Signature, status: str, beside: Sequence[Signature] = ()) -> bool:
        """Whether the entry knows what a rank saw in a case of this status, `beside` what others or it saw there."""
        if not self.seen:
            return status in self.status
        return any(one.fits(signature) for one in self.seen) or (
            any(one.fits(signature) for one in self.follows)
            and any(one.fits(other) for one in self.seen for other in beside)
        )

    def fits(self, target: Target) -> bool:
        """Whether the entry speaks of this target. A version range fits no target whose version is unknown."""
        if not fnmatch.fnmatchcase(target.family, self.library):
            return False
        if not re.match(translate(self.transport), target.transport):
            return False
        if self.np and target.np not in self.np:
            return False
        if self.threads and target.threads not in self.threads:
            return False
        return self.fits_version(target.version)

    def fits_library(self, family: str, version: str) -> bool:
        """Whether the entry speaks of this library, whatever the number of ranks, threads and the transport."""
        return fnmatch.fnmatchcase(family, self.library) and self.fits_version(version)

    def fits_version(self, version: str) -> bool:
        """Whether the range holds `version`; no range holds one that is no version."""
        if not self.version:
            return True
        try:
            return SpecifierSet(self.version).contains(Version(version), prereleases=True)
        except InvalidVersion:
            return False

    def bounds(self) -> list[str]:
        """The versions that the range names, in order: `>=4.0.2,<=5.0.2` → [4.0.2, 5.0.2]."""
        return sorted({one.version for one in SpecifierSet(self.version)}, key=Version)


def never_ran(entry: Entry, seen: Mapping[str, Collection[str]]) -> str:
    """What is wrong with the range of an entry, if it names a version of a library (`seen`, by family) that was never
    run: such a range claims what nobody has seen. Otherwise "".
    """
    families = [family for family, ran in seen.items() if ran and fnmatch.fnmatchcase(family, entry.library)]
    there = {version for family in families for version in seen[family]}
    if unknown := [version for version in entry.bounds() if families and version not in there]:
        ran = ", ".join(sorted(there, key=Version))
        return f"{entry.where}: its range names {unknown[0]}, which was never run; name one of {ran}"
    return ""


def read(path: Path) -> list[Entry]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"cannot read {path}: {error.strerror}; --known takes a TOML file of known failures") from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise WrongUse(f"{path} is not TOML: {error}") from error
    if extra := sorted(document.keys() - {"known"}):
        raise WrongUse(f"{path}: {extra[0]!r} is not known here; each known failure is a [[known]] table")
    tables = document.get("known", [])
    if not isinstance(tables, list):
        raise WrongUse(f"{path}: known is not a list of tables; begin each known failure with [[known]]")
    return [entry for number, table in enumerate(tables, 1) for entry in _entries(f"{path}, entry {number}", table)]


def _entries(where: str, table: Any) -> list[Entry]:
    """One for each glob of a table."""
    if not isinstance(table, dict):
        raise WrongUse(f"{where} is not a table; begin each known failure with [[known]]")
    for key in table:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(KEYS)}"
            raise WrongUse(f"{where}: {key!r} is not a key of a known failure; {hint}")
    for key in ("case", "reason", "link"):
        if key not in table:
            raise WrongUse(f"{where} has no {key}; case, reason and link are required")
    for key in KEYS:
        if (
            key not in ("case", "seen", "follows", "status", "np", "threads", *FLAGS)
            and key in table
            and not (isinstance(table[key], str) and table[key].strip())
        ):
            raise WrongUse(f"{where}: {key} is {table[key]!r}; it must be a text that is not empty")

    globs = [table["case"]] if isinstance(table["case"], str) else table["case"]
    if not isinstance(globs, list) or not globs:
        raise WrongUse(f"{where}: case is {table['case']!r}; it must be a glob, or a list of globs")
    for glob in globs:
        if not isinstance(glob, str) or not _CASE_GLOB.fullmatch(glob) or not translate(glob):
            raise WrongUse(
                f"{where}: case {glob!r} can match no case name; "
                "names consist of a-z 0-9 _ . + = / (and * ? [ ] ! - { , } for a glob)"
            )
    if not translate(table.get("transport", "*")):
        raise WrongUse(f"{where}: transport {table['transport']!r} has braces that do not pair up")
    if re.match(r"(?!https?://)[a-zA-Z][a-zA-Z0-9+.-]*:", table["link"]):
        raise WrongUse(f"{where}: link {table['link']!r} is neither http(s)://… nor the path of a reproducer")
    tracker = table.get("tracker", "none found 2026-11-30")
    if not re.fullmatch(r"https?://\S+( https?://\S+)*|none found \d{4}-\d\d-\d\d", tracker):
        raise WrongUse(
            f'{where}: tracker {tracker!r} is neither links nor, with the date of the search, "none found 2026-11-30"'
        )
    version = table.get("version", "")
    try:
        SpecifierSet(version)
    except InvalidSpecifier:
        raise WrongUse(f'{where}: version {version!r} is not a range; write for example ">=4.0,<4.3"') from None
    if "seen" in table and "status" in table:
        raise WrongUse(f"{where}: has both seen and status; how a case ends follows from seen, so leave status out")
    seen = _patterns(where, "seen", table["seen"]) if "seen" in table else ()
    follows = _patterns(where, "follows", table["follows"]) if "follows" in table else ()
    if follows and not seen:
        raise WrongUse(f"{where}: has follows and no seen; write what it follows into seen")
    status = table.get("status", ["fail"])
    status = [status] if isinstance(status, str) else status
    if not isinstance(status, list) or not status or not all(one in FAILED for one in status):
        raise WrongUse(f"{where}: status is {table['status']!r}; it must be one of, or a list of, {' '.join(FAILED)}")
    chance = _chance(where, table.get("sometimes", False))
    for key in FLAGS[1:]:
        if not isinstance(table.get(key, False), bool):
            raise WrongUse(f"{where}: {key} is {table[key]!r}; it must be true or false")
    numbers = {}
    for key, what in (("np", "ranks"), ("threads", "threads")):
        given = table.get(key, [])
        if not isinstance(given, list) or not all(type(one) is int and one > 0 for one in given):
            raise WrongUse(f"{where}: {key} is {given!r}; it must be a list of numbers of {what}, for example [2, 3]")
        numbers[key] = frozenset(given)
    statuses = frozenset(status) if not seen else frozenset().union(*(one.statuses for one in (*seen, *follows)))
    common = {**table, "where": where, "seen": seen, "follows": follows, "status": statuses, **numbers, **chance}
    common["sometimes"] = chance["sometimes"] or table.get("seldom", False)
    return [Entry(**{**common, "case": glob}) for glob in globs]


def _patterns(where: str, key: str, given: object) -> tuple[Pattern, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise WrongUse(
            f'{where}: {key} is {given!r}; it must be a list such as ["data in MPI_Recv", "hang in MPI_Wait"]'
        )
    try:
        return tuple(map(pattern, texts))
    except ValueError as error:
        raise WrongUse(f"{where}: {key}: {error}") from None


def _chance(where: str, given: object) -> dict[str, Any]:
    """The fields that `sometimes` gives: true, or how many of how many runs failed and why that is chance."""
    if isinstance(given, bool):
        return {"sometimes": given}
    keys = {"failed", "of", "why"}
    if isinstance(given, dict) and given.keys() == keys:
        failed, of, why = given["failed"], given["of"], given["why"]
        if type(failed) is int and type(of) is int and 0 < failed <= of and isinstance(why, str) and why.strip():
            return {"sometimes": True, "rate": (failed, of), "why": why}
    raise WrongUse(
        f"{where}: sometimes is {given!r}; it must be true, or say how many of how many runs failed and why that is "
        'chance: { failed = 3, of = 20, why = "…" }'
    )
