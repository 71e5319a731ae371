"""Builds assay-suite for a library: cmake and ninja in build/<preset>/<key>, only when something changed.

An installed package may bring the programs for libraries with the ABI of MPI-5.0: then these are taken as they are.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from runner.home import HOME, INSTALLED, PREBUILT
from runner.libraries import packages, targets
from runner.libraries.output import first_error
from runner.model import CannotRun, WrongUse

REPO = HOME
# What the transports are made with: a header of each package.
TRANSPORT_PACKAGES = {
    "libfabric-dev": Path("/usr/include/rdma/providers/fi_prov.h"),
    "libusrsctp-dev": Path("/usr/include/usrsctp.h"),
    "libisal-dev": Path("/usr/include/isa-l/crc.h"),
}
OWN_SUITE = "ASSAY_SUITE"  # environment: a test binary built elsewhere, to be run instead of building one
BUILD_DIR = "ASSAY_BUILD_DIR"  # environment: the folder of all builds
SUITE = "assay-suite"  # the test binary for MPI
_SUITES = "-DASSAY_SUITES="
QUIET_SECONDS = 2.0  # a build shorter than this says nothing

Note = Callable[[str], None]


def presets(repo: Path = REPO) -> list[str]:
    """The names in CMakePresets.json."""
    return [preset["name"] for preset in _presets(repo)]


def _presets(repo: Path) -> list[dict[str, Any]]:
    with (repo / "CMakePresets.json").open() as file:
        found = json.load(file)["configurePresets"]
    return [preset for preset in found if not preset.get("hidden")]


def _preset_variables(name: str, repo: Path) -> dict[str, str]:
    """What a preset has cmake set."""
    for preset in _presets(repo):
        if preset["name"] == name:
            return dict(preset.get("cacheVariables", {}))
    raise WrongUse(f"--preset {name}: unknown; use one of {', '.join(presets(repo))}")


def root(repo: Path = REPO) -> Path:
    """The folder of all builds: $ASSAY_BUILD_DIR, else build/ of the repository, else a folder of the cache.

    An installation that several share may be read-only: then each user has builds of their own. An installed package is
    left as it was installed.
    """
    if named := os.environ.get(BUILD_DIR):
        return Path(named).absolute()
    own = repo / "build"
    if not INSTALLED and os.access(own if own.exists() else repo, os.W_OK):
        return own
    return targets.cache_dir() / "build" / hashlib.sha256(str(repo).encode()).hexdigest()[:8]


def prebuilt(library: targets.Library, preset: str, programs: Sequence[str], folder: Path = PREBUILT) -> bool:
    """Whether `folder` holds all these `programs` (targets of CMakeLists.txt), built for a library like this one."""
    fits = library.key == targets.ABI_KEY and preset == "release" and bool(programs)
    return fits and all((folder / name).exists() or (folder / f"lib{name}.so").exists() for name in programs)


def any_prebuilt() -> bool:
    """Whether libraries with the ABI of MPI-5.0 can be tested without a compiler."""
    return (PREBUILT / SUITE).exists()


def directory(library: targets.Library, preset: str = "release", repo: Path = REPO) -> Path:
    """Where the build for a library stands."""
    return root(repo) / preset / library.key


def build(
    library: targets.Library,
    preset: str = "release",
    options: Mapping[str, str] | None = None,
    note: Note = print,
    repo: Path = REPO,
    programs: Sequence[str] = (),
    suites: Collection[str] = (),
) -> Path:
    """Bring the build for `library` up to date; `options` are cache variables of cmake. Returns the build directory.

    Where `programs` (targets of CMakeLists.txt) are named, only these are built. Where `suites` are named, others are
    compiled only if an earlier build had them. Raises CannotRun with the first error of the compiler; all output is in
    build.log there.
    """
    _preset_variables(preset, repo)  # there is such a one
    if own := os.environ.get(OWN_SUITE):
        if not os.access(own, os.X_OK):
            raise CannotRun(f"{OWN_SUITE}={own}: there is no such program")
        return Path(own).absolute().parent
    if not options and prebuilt(library, preset, programs):
        return PREBUILT
    folder = directory(library, preset, repo)
    if library.native:
        return _project(f"suites/{library.family}", folder, library.native.framework, preset, note, repo)
    wanted = ["cmake", "--preset", preset, "-S", str(repo), "-B", str(folder), f"-DMPI_C_COMPILER={mpicc(library)}"]
    wanted += [f"-D{name}={value}" for name, value in (options or {}).items()]
    _bring_up_to_date(folder, wanted, library.spec, note, repo, programs, suites)
    return folder


def _bring_up_to_date(
    folder: Path,
    wanted: list[str],
    what: str,
    note: Note,
    repo: Path,
    programs: Sequence[str] = (),
    suites: Collection[str] = (),
) -> None:
    """Run `wanted`, a command of cmake, unless it was told all that when it last ran, and then ninja."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise CannotRun(f"{folder}: cannot be written: {error.strerror}") from None
    with lock, (folder / "build.log").open("w+") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "configured.json"  # what cmake was last told; ninja itself sees changes to CMakeLists.txt
        told = _told(done) if done.exists() and (folder / "build.ninja").exists() else set()
        known = set(wanted) <= told
        compiled = _suites_in(told)
        suites = sorted({*suites, *compiled}) if suites and (compiled or not known) else []
        words = [f"{_SUITES}{';'.join(suites)}"] if suites else []
        if not known:
            _run([*wanted, *words, "--fresh"], log, f"configuring for {what}", note, repo)
            done.write_text(json.dumps([*wanted, *words]))
        elif suites != sorted(compiled):  # what is compiled already stays
            _run([*wanted, *(words or [f"{_SUITES}all"])], log, f"configuring for {what}", note, repo)
            done.write_text(json.dumps([*(word for word in told if not word.startswith(_SUITES)), *words]))
        _run(["ninja", "-C", str(folder), *programs], log, f"building for {what}", note, repo)


def transports(preset: str = "release", note: Note = print, repo: Path = REPO) -> Path:
    """Bring the libfabric providers of transports/ up to date. Returns the folder that they are in.

    Raises CannotRun as build() does, and when headers they need are missing and cannot be installed.
    """
    if missing := [package for package, header in TRANSPORT_PACKAGES.items() if not header.exists()]:
        packages.install(missing, "--transport")
    return _project("transports", root(repo) / preset / "transports", "the transports", preset, note, repo)


def _project(source: str, folder: Path, what: str, preset: str, note: Note, repo: Path) -> Path:
    """Bring a project that needs no MPI library up to date, in `folder`."""
    wanted = ["cmake", "-G", "Ninja", "-S", str(repo / source), "-B", str(folder)]
    wanted += [f"-D{name}={value}" for name, value in _preset_variables(preset, repo).items()]
    _bring_up_to_date(folder, wanted, what, note, repo)
    return folder


def suite(folder: Path, library: targets.Library) -> Path:
    """The test binary in a build directory."""
    return folder / Path(os.environ.get(OWN_SUITE) or (f"assay-{library.family}" if library.native else SUITE)).name


def mpicc(library: targets.Library) -> Path:
    """The compiler wrapper that builds for a library."""
    if library.mpicc is not None:
        return library.mpicc
    compiler = targets.resolve(targets.known()["abi"])
    return compiler.root / "bin" / "mpicc_abi"


def _suites_in(told: Collection[str]) -> list[str]:
    """The suites to which a build was restricted; none if it has all."""
    return [suite for word in told if word.startswith(_SUITES) for suite in word.removeprefix(_SUITES).split(";")]


def _told(done: Path) -> set[str]:
    """What cmake was told when it was last run. It may be more than a command needs: the tests of ourselves, too."""
    try:
        return set(json.loads(done.read_text()))
    except ValueError:
        return set()


def _run(command: list[str], log: IO[str], doing: str, note: Note, repo: Path) -> None:
    """Run with all output in `log`; after QUIET_SECONDS say what goes on and how far it is."""
    start = log.tell()
    try:
        process = subprocess.Popen(
            command, cwd=repo, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except FileNotFoundError:
        raise CannotRun(f"{command[0]} is not installed; `assay doctor` says what to do") from None
    assert process.stdout is not None
    begin = last_said = time.monotonic()
    try:
        for line in process.stdout:
            log.write(line)
            if time.monotonic() - last_said > QUIET_SECONDS:
                step = re.match(r"\[(\d+)/(\d+)\]", line)
                spent = last_said - begin + QUIET_SECONDS
                note(f"{doing}: {progress(int(step[1]), int(step[2]), spent)}" if step else doing)
                last_said = time.monotonic()
    except BaseException:  # Ctrl-C: do not leave a compiler behind
        process.terminate()
        raise
    finally:
        process.wait()
    if process.returncode != 0:
        log.flush()
        log.seek(start)
        raise CannotRun(f"{doing} failed: {first_error(log.read())} (all output: {log.name})")


def progress(done: int, steps: int, seconds: float) -> str:
    """`120 of 430, 40 s, about 2 min left`: how far a build is, how long it has taken, and what that lets expect."""
    spent = f"{done:,} of {steps:,}, {seconds:.0f} s"
    if not 0 < done < steps:
        return spent
    left = seconds * (steps - done) / done
    return f"{spent}, about {f'{left / 60:.0f} min' if left > 90 else f'{left:.0f} s'} left"
