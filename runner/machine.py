"""This version of Assay, and the machine that it runs on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from runner.home import HOME
from runner.libraries import launching


def version() -> str:
    """Of assay, from pyproject.toml."""
    import tomllib

    with (HOME / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def machine() -> dict[str, Any]:
    """What this machine is."""
    cpu = ""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = platform.system()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "host": platform.node(),
        "cores": launching.cores(),
        "memory_gib": round(memory / 2**30),
        "kernel": platform.release(),
        "cpu": cpu,
        "os": system,
    }
