"""Whether a program that was built for one library with the ABI of MPI-5.0 runs with another (section 20.3.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import InvalidVersion, Version

from runner.interface import elf
from runner.interface.checks import ABI_LIBRARY, ADVISORY, MUST, Check, Examined
from runner.interface.compiler import Units
from runner.libraries import launching, targets
from runner.libraries.identity import wrong_library
from runner.supervision.once import Said, run_once

RANKS = 2
PATIENCE = 20.0  # seconds, on an idle machine
PROGRAM = Path(__file__).with_name("pair.c")
CLAUSE = "20.3.6"


@dataclass(frozen=True)
class Pair:
    """What became of a program: `check` says what is wrong, if anything."""

    built_for: str  # SPEC
    runs_on: str  # SPEC
    check: Check


def at_hand() -> list[str]:
    """The libraries with the ABI that are installed: SPECs."""
    found = []
    for family in targets.families():
        since = targets.known()[family].get("abi_since")
        for path in (targets.cache_dir() / "mpi").glob(f"{family}-*[0-9]") if since else ():
            version = path.name.removeprefix(f"{family}-")
            try:
                if Version(version) >= Version(since):
                    found.append(f"{family}@{version}")
            except InvalidVersion:
                continue
    return sorted(found)


def build(examined: Examined, folder: Path) -> elf.Shared | None:
    """The program for this library, or None where there is nothing to build it with. Raises CannotRun."""
    if examined.compiler is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    exports = examined.exports
    names = "".join(f"    (void (*)(void)){name},\n" for name in examined.expected() if name in exports)
    (folder / "pair_procedures.h").write_text(names)
    return elf.read(Units(examined.compiler, folder).program("pair", PROGRAM.read_text()))


def run(built_for: str, program: elf.Shared, on: Examined, folder: Path) -> Pair:
    """Run the program with the library `on`; `folder` is for a link to it by another name."""
    library = on.library
    file = next(one for one in on.files if "MPI_Init" in one.functions)
    name = next((one for one in program.needed if one.startswith(ABI_LIBRARY)), ABI_LIBRARY)
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / name
    if not link.exists():
        link.symlink_to(file.path)
    # The linked file is found by no other name, and what it needs not beside the link.
    places = (folder, *library.library_dirs, *file.runpath)
    target = launching.make_target(replace(library, library_dirs=places), RANKS, program.path, launching.LaunchWishes())
    said = run_once(target, [], PATIENCE)
    differs, level = _wrong(said, library), MUST
    if not differs and name != file.soname:
        level = ADVISORY
        differs = f"it runs only where {file.soname} is linked as {name}, for which the program looks"
    words = [re.sub(r"[^a-z0-9_.+]", "_", spec.lower()) for spec in (built_for, library.spec)]
    if differs:
        differs = f"a program built for {built_for}, run with {library.spec}: {differs}"
    return Pair(built_for, library.spec, Check(f"abi.runs/built_for={words[0]}/on={words[1]}", level, CLAUSE, differs))


def _wrong(said: Said, library: targets.Library) -> str:
    """What is wrong with a run, or ""."""
    lines = said.out.splitlines()
    if missing := re.search(r"undefined symbol: (\w+)", said.err):
        return f"the library has no {missing[1]}"
    if found := [line.removeprefix("WRONG ") for line in lines if line.startswith("WRONG ")]:
        return f"this does not hold: {found[0]} ({PROGRAM.name})"
    if not said.ended:
        return f"it did not end within {PATIENCE:.0f} s"
    speaker = next((line.removeprefix("LIBRARY ") for line in lines if line.startswith("LIBRARY ")), "")
    if another := wrong_library(library, {"library": speaker}):
        return another
    if "OK" not in lines or said.ended != "exit 0":
        last = next((line for line in said.err.splitlines() if line.strip()), "it says nothing")
        return f"{said.ended}: {last.strip()}"
    return ""
