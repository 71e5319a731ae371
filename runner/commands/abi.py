"""assay abi: does a library offer the names, prototypes, types and values of the standard?

And do programs that were built for other libraries of the ABI run with it?
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports import known
from reports.evidence import write_file
from reports.requirements import procedures
from runner.interface import checks, pairs
from runner.interface.checks import ADVISORY, Check, Examined, examine
from runner.libraries import targets
from runner.model import CannotRun, Launch, Target, Verdict, WrongUse

FORMAT = 1


def run(
    named: Sequence[str], against: Sequence[str] | None, entries: known.Known, note: Callable[[str], None]
) -> dict[str, Any]:
    """Examine the libraries `named`, and run programs between those of the ABI and those of `against`.

    `against`: None for those that are installed, as far as they can be examined.
    The result is what docs/formats.md calls abi.json. Raises WrongUse and CannotRun.
    """
    if shutil.which("cc") is None:
        raise CannotRun("assay abi: needs a C compiler; on Debian: apt-get install gcc")
    with tempfile.TemporaryDirectory(prefix="assay-abi-") as name:
        folder = Path(name)
        examined = {spec: _examined(f"--mpi {spec}", spec, folder, note) for spec in dict.fromkeys(named)}
        of_abi = {spec: one for spec, one in examined.items() if one.abi}
        others = _others(against, [*examined], folder, note) if of_abi or against else {}
        ran = _pairs({**of_abi, **others}, of_abi.keys(), folder, note)
    return _record([*examined.values()], ran, {**examined, **others}, entries)


def _others(
    against: Sequence[str] | None, named: Collection[str], folder: Path, note: Callable[[str], None]
) -> dict[str, Examined]:
    """The further libraries of the pairs."""
    found = {}
    for spec in dict.fromkeys(pairs.at_hand() if against is None else against):
        if spec in named:
            continue
        try:
            found[spec] = _examined(f"--against {spec}", spec, folder, note)
        except CannotRun as error:
            if against is not None:
                raise
            note(f"{spec} is left out: {error}")
            continue
        if not found[spec].abi:
            raise WrongUse(f"--against {spec}: is no library with the ABI of MPI-5.0 ({checks.ABI_LIBRARY})")
    return found


def made(folder: Path) -> Path:
    """The folder for what is written, made where there is none. Raises WrongUse."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--out {folder}: cannot be made ({error.strerror}); name another folder") from None
    return folder


def write(found: Mapping[str, Any], path: Path) -> Path:
    """Write abi.json. Raises CannotRun."""
    return write_file(path, lambda file: json.dump(found, file, indent=1))


def _examined(option: str, spec: str, folder: Path, note: Callable[[str], None]) -> Examined:
    library = targets.resolve(spec)
    if library.native:
        raise WrongUse(f"{option}: names no MPI library")
    note(f"examining {spec}")
    place = folder / f"library-{len(list(folder.iterdir()))}"
    place.mkdir()
    return examine(library, place)


def _pairs(
    every: Mapping[str, Examined], named: Collection[str], folder: Path, note: Callable[[str], None]
) -> list[pairs.Pair]:
    """What becomes of the program of each library with each other, where one of the two was named."""
    found = []
    for number, (spec, one) in enumerate(every.items()):
        partners = {other: it for other, it in every.items() if spec in named or other in named}
        try:
            program = pairs.build(one, folder / f"program-{number}")
        except CannotRun as error:  # what it lacks is told already
            one.not_checked.append(f"whether its programs run with other libraries: {error}")
            program = None
        if program is None:
            continue
        note(f"running a program built for {spec} with {', '.join(partners)}")
        found += [
            pairs.run(spec, program, it, folder / f"links-{number}-{k}") for k, it in enumerate(partners.values())
        ]
    return found


def _record(
    named: Sequence[Examined], ran: Sequence[pairs.Pair], every: Mapping[str, Examined], entries: known.Known
) -> dict[str, Any]:
    libraries = [
        {
            "mpi": one.library.spec,
            "family": one.library.family,
            "version": one.library.version,
            "mpi_standard": one.version,
            "abi": one.abi,
            "files": [
                {"path": str(file.path), "soname": file.soname, "needed": list(file.needed)} for file in one.files
            ],
            "header": one.header,
            "header_of": one.compiler.header_of if one.compiler else "",
            "checks": checks.counts(one.checks),
            "differences": _told(one.checks, [one.library], entries),
            "not_provided": [{"procedure": name, "since": procedures()[name]["since"]} for name in one.not_provided],
            "not_checked": one.not_checked,
        }
        for one in named
    ]
    runs = [
        {
            "built_for": pair.built_for,
            "runs_on": pair.runs_on,
            "differences": _told(
                [pair.check], [every[spec].library for spec in (pair.built_for, pair.runs_on)], entries
            ),
        }
        for pair in ran
    ]
    status: dict[str, int] = {"fail": 0, "xpass": 0, "xfail": 0, ADVISORY: 0}
    told: list[Mapping[str, Any]] = [*libraries, *runs]
    for difference in (one for item in told for one in item["differences"]):
        status[difference["status"]] += 1
    return {
        "format": FORMAT,
        "ok": not (status["fail"] or status["xpass"]),
        "status": status,
        "libraries": libraries,
        "pairs": runs,
    }


def _told(found: Sequence[Check], libraries: Sequence[targets.Library], entries: known.Known) -> list[dict[str, Any]]:
    """What is to be reported of some checks: differences, and what passed although known/ says that it differs."""
    told = []
    for check in found:
        status, extra = _status(check, libraries, entries)
        if status != "pass":
            one = {"check": check.name, "status": status, "level": check.level, "clause": check.clause}
            told.append({**one, "text": check.differs or extra.pop("reason", ""), **extra})
    return told


def _status(check: Check, libraries: Sequence[targets.Library], entries: known.Known) -> tuple[str, dict[str, str]]:
    """pass, fail, xfail, xpass or advisory; with what is known of it. An entry of any of the libraries may know it."""
    if check.level == ADVISORY:
        return (ADVISORY if check.differs else "pass"), {}
    status, reason = ("fail", {"reason": check.differs}) if check.differs else ("pass", {})
    for library in dict.fromkeys(libraries):
        verdict = Verdict(check.name, library.spec, status, 0.0, dict(reason))
        told = entries.apply(verdict, _target(library))
        if told.status != status:
            names = ("known", "known_link", *(["reason"] if told.status == "xpass" else []))
            return told.status, {name: str(told.extra[name]) for name in names if name in told.extra}
    return status, {}


def _target(library: targets.Library) -> Target:
    """For entries of known failures: nothing is launched, so there is one rank."""
    return Target(library.spec, library.spec, 1, _nothing, family=library.family, version=library.version)


def _nothing(suite_args: Sequence[str]) -> Launch:
    raise AssertionError("a comparison launches nothing")
