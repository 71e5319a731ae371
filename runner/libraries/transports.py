"""Transports: what ranks talk over, where that is not the library's own choice.

--transport names one: `own` is the library's choice; `assay_tcp` is a libfabric provider of transports/, and
`assay_tcp:no_rma+eager=1024` the same with switches; `tcp` or `shm` is a provider that comes with libfabric, `ucx` is
UCX. How a library is told to use one is data: libraries.toml. That it did use a provider of ours is proved afterwards
from what that has counted; others count nothing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from runner.model import CannotRun, WrongUse

OWN = "own"
UCX = "ucx"
# Of libfabric itself, which has a semicolon where we have a plus: that would end a word of the shell.
FABRIC = ("tcp", "tcp+ofi_rxm", "shm", "udp+ofi_rxd", "sockets")
# Switches of all providers (transports/core/settings.hpp), and the form of their values; "" for none.
SWITCHES = {
    "no_tagged": "",
    "no_rma": "",
    "no_atomic": "",
    "no_cq_data": "",
    "no_directed": "",
    "no_source": "",
    "no_multi_recv": "",
    "mr_virt_addr": "",
    "mr_prov_key": "",
    "mr_allocated": "",
    "mr_local": "",
    "eager": r"[0-9]+",
    "credit": r"[0-9]+",
    "inject": r"[0-9]+",
    "interface": r"[A-Za-z0-9_.-]+",
    "ip": r"[46]",
}


@dataclass(frozen=True)
class Provider:
    """What transports/NAME/transport.toml says of the provider assay_NAME."""

    switches: Mapping[str, str]  # as SWITCHES
    rivals: tuple[str, ...]  # transports that it is measured beside
    raw: str  # the program that measures the bare protocol; "" for none


def _providers(folder: Path) -> dict[str, Provider]:
    found = {}
    for file in sorted(folder.glob("*/transport.toml")):
        name = file.parent.name
        with file.open("rb") as text:
            about = tomllib.load(text)
        raw = f"assay-bench-{name}" if (file.parent / "raw.cpp").exists() else ""
        found[f"assay_{name}"] = Provider(about.get("switches", {}), tuple(about.get("rivals", ())), raw)
    return found


# Each folder of transports/ with a transport.toml is one.
OURS = _providers(Path(__file__).resolve().parents[2] / "transports")
PROVIDERS = tuple(OURS)
NAMES = (OWN, *PROVIDERS, *FABRIC, UCX)


@dataclass(frozen=True)
class Transport:
    """One that --transport names."""

    provider: str = ""  # "" is the library's own choice
    switches: Sequence[str] = ()

    @property
    def ours(self) -> bool:
        """Whether it is a provider of transports/."""
        return counts(self.provider)

    @property
    def name(self) -> str:
        """In names of targets: assay_tcp:no_rma; "" for the library's own choice."""
        return self.provider + (f":{'+'.join(self.switches)}" if self.switches else "")

    @property
    def spec(self) -> str:
        """For --transport."""
        return self.name or OWN

    @property
    def fabric(self) -> str:
        """As libfabric names the provider."""
        return self.provider.replace("+", ";")


def parse(spec: str) -> Transport:
    """What a SPEC names. Raises WrongUse, with the nearest name."""
    if spec == OWN:
        return Transport()
    provider, colon, words = spec.partition(":")
    if provider in (*FABRIC, UCX) and not colon:
        return Transport(provider)
    if provider not in PROVIDERS:
        raise WrongUse(f"--transport {spec}: unknown{_near(provider, NAMES)}; use {_forms()}")
    switches = words.split("+") if colon else []
    known = {**SWITCHES, **OURS[provider].switches}
    for word in switches:
        name, equal, value = word.partition("=")
        if name not in known:
            raise WrongUse(f"--transport {spec}: no switch {name!r}{_near(name, known)}; there are {', '.join(known)}")
        if not re.fullmatch(known[name], value) or bool(equal) != bool(known[name]):
            takes = f"takes a value like {name}={known[name]}" if known[name] else "takes no value"
            raise WrongUse(f"--transport {spec}: {name} {takes}")
    return Transport(provider, tuple(switches))


def _near(word: str, known: Sequence[str] | Mapping[str, str]) -> str:
    found = get_close_matches(word, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def _forms() -> str:
    return f"{', '.join(NAMES)}; those of ours take switches: {PROVIDERS[0]}:no_rma+eager=1024"


def environment(transport: Transport, about: Mapping[str, Any], folder: Path, spec: str) -> dict[str, str]:
    """For launcher and ranks: how the library (`about` in libraries.toml) is told; ours are in `folder`."""
    told = about.get("transport", {}).get("ucx" if transport.provider == UCX else "environment")
    if told is None:
        raise WrongUse(f"--transport {transport.spec}: it is not known how {spec} is told to use it")
    found = {key: value.replace("{provider}", transport.fabric) for key, value in told.items()}
    return found | provider_environment(transport, folder)


def provider_environment(transport: Transport, folder: Path) -> dict[str, str]:
    """For whoever opens the provider itself; ours are in `folder`."""
    found = {}
    if transport.ours:
        found["FI_PROVIDER_PATH"] = str(folder)
    if transport.switches:
        found["ASSAY_TRANSPORT"] = "+".join(transport.switches)
    return found


def unsupported(
    cases: Iterable[str], about: Mapping[str, Any], over_provider: bool, environment: Mapping[str, str]
) -> dict[str, str]:
    """Those of the cases that the library cannot run as it is started (`about` in libraries.toml), with the reason.

    `over_provider`: over another transport than its own choice; `environment` is that of mpiexec.
    """
    rules: dict[str, str] = dict(about.get("transport", {}).get("unsupported", {})) if over_provider else {}
    for lack in about.get("lacks", ()):
        if not any(word in environment.get(name, "") for name, words in lack["unless"].items() for word in words):
            rules |= dict.fromkeys(lack["cases"], lack["why"])
    found = {}
    for case in cases:
        for pattern, reason in rules.items():
            if fnmatchcase(case, pattern):
                found[case] = reason
    return found


def counts(name: str) -> bool:
    """Whether the transport of this name counts what it sends: those of ours do."""
    return name.partition(":")[0] in PROVIDERS


def counted(folder: Path) -> dict[str, int]:
    """The sums of what all endpoints of a run counted, and how many endpoints there were."""
    total: Counter[str] = Counter()
    for path in sorted(folder.glob("*.json")):
        try:
            entries = json.loads(path.read_text())
        except (OSError, ValueError):
            continue  # of a process that was killed while it wrote
        total["endpoints"] += 1
        total.update({name: value for name, value in entries.items() if type(value) is int})
    return dict(total)


def prove(transport: Transport, counters: Mapping[str, int], np: int) -> None:
    """Raises CannotRun when what was counted does not show that ranks talked over the transport."""
    if not counters.get("endpoints"):
        raise CannotRun(f"the library never opened {transport.provider}: its traffic went elsewhere")
    if np > 1 and not counters.get("remote"):
        raise CannotRun(f"nothing went over {transport.provider}: {counters['endpoints']} endpoints sent no frame")
