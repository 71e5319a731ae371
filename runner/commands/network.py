"""A network of its own for an experiment: two namespaces and links of a given rate between them.

Only root can make one, and the kernel must have what it is made of. Where it cannot be made, Unsupported says why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class Unsupported(Exception):
    """This machine cannot do it; the message says what is missing."""


@dataclass(frozen=True)
class Shape:
    """Links between the two sides, all alike."""

    links: int = 1
    rate: str = "1gbit"  # of tc: in each direction
    burst: str = "64kb"  # that passes at once
    queue: str = "25ms"  # what waits longer is dropped


@dataclass(frozen=True)
class Network:
    """One that is there."""

    here: str  # the namespace in which to start programs
    there: str
    links: int

    def inside(self, command: list[str]) -> list[str]:
        """The command that runs `command` on this side."""
        return ["ip", "netns", "exec", self.here, *command]

    @property
    def environment(self) -> Mapping[str, str]:
        """What bench/reproduce/sides.hpp reads."""
        return {
            "ASSAY_HERE": ",".join(_address(link, 1) for link in range(self.links)),
            "ASSAY_THERE": ",".join(_address(link, 2) for link in range(self.links)),
            "ASSAY_THERE_NAMESPACE": f"/run/netns/{self.there}",
        }

    def cut(self, link: int) -> None:
        """Nothing gets through this link any more."""
        self._set(link, "down")

    def mend(self, link: int) -> None:
        """It does again."""
        self._set(link, "up")

    def _set(self, link: int, state: str) -> None:
        # The far end: this side sees no carrier lost but by that, as when a switch fails.
        _run("ip", "-n", self.there, "link", "set", f"link{link}", state)


@contextmanager
def network(shape: Shape) -> Iterator[Network]:
    """Make it, and remove it afterwards. Raises Unsupported."""
    if os.geteuid() != 0:
        raise Unsupported("a network of its own needs root")
    if missing := [program for program in ("ip", "tc") if not shutil.which(program)]:
        raise Unsupported(f"a network of its own needs {' and '.join(missing)} (Debian: iproute2)")
    made = Network(f"assay-{os.getpid()}-here", f"assay-{os.getpid()}-there", shape.links)
    try:
        for name in (made.here, made.there):
            _run("ip", "netns", "add", name)
            _run("ip", "-n", name, "link", "set", "lo", "up")
        for link in range(shape.links):
            _run(
                "ip",
                "-n",
                made.here,
                "link",
                "add",
                f"link{link}",
                "type",
                "veth",
                "peer",
                f"link{link}",
                "netns",
                made.there,
            )
            for end, name in enumerate((made.here, made.there), 1):
                _run("ip", "-n", name, "address", "add", f"{_address(link, end)}/24", "dev", f"link{link}")
                _run("ip", "-n", name, "link", "set", f"link{link}", "up")
                _run(
                    "tc",
                    "-n",
                    name,
                    "qdisc",
                    "add",
                    "dev",
                    f"link{link}",
                    "root",
                    "tbf",
                    "rate",
                    shape.rate,
                    "burst",
                    shape.burst,
                    "latency",
                    shape.queue,
                )
        yield made
    finally:
        for name in (made.here, made.there):
            if Path(f"/run/netns/{name}").exists():
                subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def _address(link: int, end: int) -> str:
    return f"10.231.{link}.{end}"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or f"it ended with {done.returncode}").splitlines()[-1]
        raise Unsupported(f"a network of its own: {' '.join(command)}: {said}")
