"""Whether the MPI library that the ranks loaded is the one that --mpi names.

The dynamic linker may take another one without a word: by LD_LIBRARY_PATH, or by the RUNPATH of the test binary where
the named library has no file of the name that is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from runner.libraries import targets


def wrong_library(library: targets.Library, hello: Mapping[str, Any]) -> str:
    """What is wrong with the library that a rank runs, as a sentence, or "".

    `hello` is the rank's first line in its event log: `library` is what MPI_Get_library_version says (its first line),
    `library_path` the file that the rank loaded, with all links resolved; each is "" where that is not known.
    """
    path, said = str(hello.get("library_path") or ""), " ".join(str(hello.get("library") or "").split())
    if library.native:
        return ""
    if path and (place := _place(library)) and not _is_of(Path(path), library, place):
        return (
            f"--mpi {library.spec} is the library in {place}, but the ranks loaded {path}"
            f"{f' ({said})' if said else ''}: look at LD_LIBRARY_PATH, --env and --preload"
        )
    is_family, is_version = _speaker(said)
    named = library.spec.partition("@")[1] == "@" or library.spec.startswith("debian:")
    if said and (is_family and is_family != library.family or named and not is_family):
        return f"--mpi {library.spec} is {_title(library.family)}, but the library that the ranks loaded says: {said}"
    # The version of abi:DIR is that of the mpiexec beside it, or of any other on the PATH.
    comparable = is_version and library.version and not library.spec.startswith("abi:")
    if comparable and not same_version(is_version, library.version):
        return (
            f"--mpi {library.spec} is version {library.version}{'' if named else ' by its mpi.h'}, but the library "
            f"that the ranks loaded says: {said}{f' ({path})' if path else ''}"
        )
    return ""


def same_version(said: str, wanted: str) -> bool:
    """Whether a library that calls itself `said` may be version `wanted`: 2021.19 may be 2021.19.1, 5.0.1 5.0.1.post1.

    What is missing in `wanted` is 0. Anything is the same as what is no version.
    """
    try:
        parts, others = Version(said).release, Version(wanted).release
    except InvalidVersion:
        return True
    return all(one == other for one, other in zip_longest(parts, others[: len(parts)], fillvalue=0))


def _place(library: targets.Library) -> Path | None:
    """The folder that the library has to be in; None where the SPEC does not say."""
    if library.spec.startswith("mpicc="):
        return None  # a wrapper may stand anywhere
    return library.library_dirs[0] if library.spec.startswith("abi:") else library.root


def _is_of(path: Path, library: targets.Library, place: Path) -> bool:
    """Whether the file is in that folder, or is what links there name, as in a tree of links into other folders."""
    places = {place.resolve()} | ({library.mpicc.resolve().parent.parent} if library.mpicc else set())
    if any(path.is_relative_to(folder) for folder in places):
        return True
    return any(entry.resolve() == path for folder in library.library_dirs for entry in folder.glob("*mpi*.so*"))


def _speaker(said: str) -> tuple[str, str]:
    """Which library says this of itself: (family, version), or ("", "")."""
    for family in targets.families():
        pattern = targets.known()[family].get("says")
        if pattern and (found := re.search(pattern, said)):
            return family, found[1]
    return "", ""


def _title(family: str) -> str:
    return str(targets.known().get(family, {}).get("title", family))
