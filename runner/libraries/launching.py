"""How the ranks of a library are started: the command, the environment, and what each library needs for that."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from runner.libraries import targets, transports
from runner.libraries.identity import wrong_library
from runner.model import CannotRun, Launch, Target, WrongUse

MOST_RANKS = 64  # that a machine is asked to run without --force-np, unless it has many cores
RANKS_PER_CORE = 16


@dataclass(frozen=True)
class RankLauncher:
    """Makes the command that starts the ranks of one job; a runner.model.Launcher."""

    command: Sequence[str]  # {np} and {command} are still in it
    np: int
    binary: Path
    environment: Mapping[str, str]  # of the launcher
    ranks: Mapping[str, str]  # of the ranks only, through env(1), so that the launcher does not see it
    local: bool = False  # starts all ranks on this machine

    def __call__(self, suite_args: Sequence[str]) -> Launch:
        assignments = [f"{name}={value}" for name, value in self.ranks.items()]
        program = [*(["env", *assignments] if assignments else []), str(self.binary), *suite_args]
        argv: list[str] = []
        for word in self.command:
            argv += program if word == "{command}" else [word.replace("{np}", str(self.np))]
        return Launch(argv, self.environment, self.local)


@dataclass(frozen=True)
class LaunchWishes:
    """What the user says about starting ranks."""

    launcher: str = "mpiexec"  # mpiexec, srun, or a template with {np} and {command}
    env: Mapping[str, str] = field(default_factory=dict)  # of the ranks
    preload: Sequence[Path] = ()  # libraries for LD_PRELOAD of the ranks
    defaults: bool = False  # leave the library's own settings alone
    force_np: bool = False


def check_np(np: int, wishes: LaunchWishes) -> None:
    """Raises WrongUse when a machine is asked for a senseless number of ranks."""
    if np < 1:
        raise WrongUse(f"--np {np}: a job has at least 1 rank")
    most = max(MOST_RANKS, RANKS_PER_CORE * cores())
    if np > most and wishes.launcher == "mpiexec" and not wishes.force_np:
        raise WrongUse(
            f"--np {np}: more than {most} ranks make no sense on {cores()} cores; --force-np runs them anyway"
        )


def make_target(
    library: targets.Library,
    np: int,
    binary: Path,
    wishes: LaunchWishes,
    transport: transports.Transport | None = None,
    providers: Path = Path(),
) -> Target:
    """A target: `library` with `np` ranks of `binary`, over a transport whose provider is in the folder `providers`.

    Over libfabric alone all its providers and those of that folder are tested.
    Raises WrongUse for a template without {command}, for one that starts a single process instead of `np`, and for a
    library that cannot be told to use a provider.
    """
    transport = transport or transports.Transport()
    local = wishes.launcher == "mpiexec"
    oversubscription = max(1.0, np / cores()) if local else 1.0
    rules = _rules(library, oversubscription > 1.0, wishes.defaults) if local else []
    arguments = [word for rule in rules for word in rule.get("arguments", ())]
    launcher = _environment(library, rules, "launcher")
    ranks = _environment(library, rules, "ranks")
    over: dict[str, str] = {}
    if transport.provider:
        over = transports.environment(transport, targets.known().get(library.family, {}), providers, library.spec)
        launcher.update(over)  # processes that a job spawns get it from there
    settings = {**launcher, **ranks, **({"mpiexec": shlex.join(arguments)} if arguments else {})}
    own: dict[str, str] = {}
    if library.native and library.native.providers:
        own.update(provider_path(providers))
    if library.library_dirs:
        outer = os.environ.get("LD_LIBRARY_PATH", "")
        own["LD_LIBRARY_PATH"] = ":".join([*map(str, library.library_dirs), *([outer] if outer else [])])
    if wishes.preload:
        own["LD_PRELOAD"] = ":".join(str(path.absolute()) for path in wishes.preload)
    return Target(
        name=target_name(library.spec, transport, np),
        mpi=library.spec,
        np=np,
        launcher=RankLauncher(
            _command(library, wishes.launcher, arguments, np),
            np,
            binary,
            {**os.environ, **launcher},
            {**own, **ranks, **over, **wishes.env},  # the user's word counts most
            local,
        ),
        oversubscription=oversubscription,
        settings={name: value for name, value in settings.items() if name not in wishes.env},
        family=library.family,
        version=library.version,
        transport=transport.name,
        wrong_library=partial(wrong_library, library),
    )


def target_name(spec: str, transport: transports.Transport, np: int) -> str:
    """mpich@5.0.2/np4, mpich@5.0.2+assay_tcp/np4."""
    return f"{spec}{'+' if transport.name else ''}{transport.name}/np{np}"


def counters_to(folder: Path) -> dict[str, str]:
    """Has a provider of ours write its counters to `folder`."""
    return {"ASSAY_COUNTERS": str(folder)}


def counting(target: Target, folder: Path) -> Target:
    """The target with a provider that writes its counters to `folder`."""
    launcher = target.launcher
    assert isinstance(launcher, RankLauncher)
    more = counters_to(folder)
    launcher = replace(launcher, environment={**launcher.environment, **more}, ranks={**launcher.ranks, **more})
    return replace(target, launcher=launcher)


def provider_path(providers: Path) -> dict[str, str]:
    """Adds a folder to those in which libfabric looks for providers."""
    outer = os.environ.get("FI_PROVIDER_PATH", "")
    return {"FI_PROVIDER_PATH": ":".join([str(providers), *([outer] if outer else [])])}


def list_environment(library: targets.Library, providers: Path = Path()) -> dict[str, str]:
    """The environment in which the test binary finds its library with --list."""
    if library.native and library.native.providers:
        return {**os.environ, **provider_path(providers)}
    if not library.library_dirs:
        return dict(os.environ)
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, library.library_dirs))}


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _command(library: targets.Library, launcher: str, arguments: Sequence[str], np: int) -> list[str]:
    if library.native:
        if launcher != "mpiexec":
            raise WrongUse(f"--launcher {launcher}: ranks without MPI start themselves, on this machine")
        return ["{command}", "--np={np}"]
    if launcher == "mpiexec":
        if not library.mpiexec:
            raise WrongUse(f"--mpi {library.spec}: it has no mpiexec; say how ranks are started with --launcher")
        return [library.mpiexec, "-n", "{np}", *arguments, "{command}"]
    if launcher == "srun":
        launcher = "srun -n {np} {command}"
    words = shlex.split(launcher)
    if "{command}" not in words:
        raise WrongUse(f"--launcher {launcher!r}: use mpiexec, srun or a template such as 'srun -n {{np}} {{command}}'")
    if words[0] == "{command}":  # a process without a launcher is a job of one rank (MPI-5.0 section 11.10.2)
        if np != 1:
            raise WrongUse(f"--launcher {launcher!r}: starts one process; say --np 1, or how {np} ranks are started")
    elif shutil.which(words[0]) is None:
        raise CannotRun(f"--launcher {launcher!r}: there is no program {words[0]}")
    return words


def _rules(library: targets.Library, oversubscribed: bool, defaults: bool) -> list[dict[str, Any]]:
    holds = {
        "oversubscribed": lambda: oversubscribed,
        "root": lambda: os.geteuid() == 0,
        "no-libfabric": lambda: not has_libfabric(library),
    }
    rules: list[dict[str, Any]] = targets.known().get(library.family, {}).get("rule", [])
    return [
        rule
        for rule in rules
        if not (defaults and rule.get("tuning"))
        and all(holds[word]() for word in rule.get("when", ()))
        and ("version" not in rule or _in_range(library.version, rule["version"]))
    ]


def _in_range(version: str, wanted: str) -> bool:
    try:
        return SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


def _environment(library: targets.Library, rules: Sequence[Mapping[str, Any]], kind: str) -> dict[str, str]:
    return {
        name: value.replace("{root}", str(library.root))
        for rule in rules
        for name, value in rule.get(kind, {}).items()
        if name not in os.environ or "{root}" in value  # what the user has set stays, unless it means another library
    }


def has_libfabric(library: targets.Library) -> bool:
    """Whether the dynamic linker finds a libfabric for this library."""
    places = [*library.library_dirs, *map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")))]
    if any((place / "libfabric.so.1").exists() for place in places):
        return True
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        said = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return False
    return "libfabric.so.1" in said
