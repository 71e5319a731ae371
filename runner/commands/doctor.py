"""assay doctor: what is there, what is missing, what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from runner.libraries import build, launching, targets

# Programs and headers that a build needs, with the Debian package that brings each.
_PROGRAMS = {
    "gcc": "gcc",
    "g++": "g++",
    "cmake": "cmake",
    "ninja": "ninja-build",
}
_HEADERS = {
    "gtest/gtest.h": "libgtest-dev",
    "fmt/core.h": "libfmt-dev",
    "CLI/CLI.hpp": "libcli11-dev",
    "nlohmann/json.hpp": "nlohmann-json3-dev",
    "xxhash.h": "libxxhash-dev",
    "libunwind.h": "libunwind-dev",
}
# Nice to have, programs and headers: what each is for.
_OPTIONAL = {
    "rdma/fi_domain.h": ("libfabric-dev", "more ranks than cores with MPI libraries that wait for libfabric"),
    "fi_info": ("libfabric-bin", "`assay test`"),
    "ccache": ("ccache", "faster builds"),
    "clang-format": ("clang-format", "`assay test`"),
    "clang-tidy-16": ("clang-tidy-16", "`assay test`"),
    "chromium": ("chromium", "the browser tests of `assay test`"),
    "tshark": ("tshark", "`assay test`; looking at what ASSAY_PCAP writes"),
    "gdb": ("gdb", "looking at a hanging case"),
}
_CMAKE = (3, 25)
_DISK_GIB = 2  # a build and a full run


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: str  # ok, missing, optional (missing, but only some commands want it)
    found: str
    todo: str = ""

    def record(self) -> dict[str, str]:
        """As JSON."""
        return asdict(self)


def examine() -> list[Finding]:
    """Everything that Assay needs on this machine."""
    return [
        Finding("Python", "ok", f"{sys.version.split()[0]}, {sys.prefix}"),
        *_to_build_with(),
        *(_optional(name, package, purpose) for name, (package, purpose) in _OPTIONAL.items()),
        _folder("build folder", build.root()),
        _folder("cache for MPI libraries", targets.cache_dir()),
        _machine(),
        *(Finding(f"MPI {line['mpi']}", line["health"], line["state"], line["todo"]) for line in libraries()),
    ]


def _to_build_with() -> list[Finding]:
    """What a build needs. Where the programs for the ABI of MPI-5.0 are there, only other libraries want one."""
    found = [*(_program(name, package) for name, package in _PROGRAMS.items()), *_headers()]
    if not build.any_prebuilt():
        return found
    other = "for libraries without the ABI of MPI-5.0"
    return [replace(one, state="optional", found=other) if one.state == "missing" else one for one in found]


def show(findings: list[Finding]) -> None:
    """Print a table, and what to do below it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "bold red", "optional": "yellow"}
    table = Table(box=None, pad_edge=False)
    for title in ("what", "state", "found"):
        table.add_column(title, overflow="fold")
    for finding in findings:
        table.add_row(Text(finding.what), Text(finding.state, style=styles[finding.state]), Text(finding.found))
    console = Console(highlight=False)
    console.print(table)
    todo = [finding for finding in findings if finding.todo and finding.state == "missing"]
    todo += [finding for finding in findings if finding.todo and finding.state == "optional"]
    for finding in todo:
        console.print(Text(f"{finding.what}: {finding.todo}"), soft_wrap=True)
    if not any(finding.state == "missing" for finding in findings):
        console.print("Everything that `assay run` needs is there.")


def libraries() -> list[dict[str, str]]:
    """The MPI libraries that can be named here: mpi (SPEC), state (words), health (ok or optional), todo."""
    lines = []
    for family in targets.families():
        about = targets.known()[family]
        cached = {
            path.name.removeprefix(f"{family}-") for path in (targets.cache_dir() / "mpi").glob(f"{family}-*[0-9]")
        }
        for version in dict.fromkeys([*about["tried"], *sorted(cached, reverse=True)]):
            state = "installed" if version in cached else "installed when first used"
            lines.append({"mpi": f"{family}@{version}", "state": state, "health": "ok", "todo": ""})
        if "debian" in about:
            there = shutil.which(f"mpicc.{family}")
            todo = "" if there else f"sudo apt-get install {' '.join(about['debian'])}"
            lines.append(
                {
                    "mpi": f"debian:{family}",
                    "state": there or "not installed",
                    "health": "ok" if there else "optional",
                    "todo": todo,
                }
            )
    if mpicc := shutil.which("mpicc"):
        lines.append({"mpi": f"mpicc={mpicc}", "state": "on the PATH", "health": "ok", "todo": ""})
    return lines


def _program(name: str, package: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "missing", "", f"sudo apt-get install {package}")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\d+(\.\d+)+", said)
    if name == "cmake" and version and tuple(map(int, version[0].split(".")[:2])) < _CMAKE:
        return Finding(name, "missing", version[0], f"cmake {_CMAKE[0]}.{_CMAKE[1]} or newer is needed")
    return Finding(name, "ok", f"{version[0] if version else ''} {path}".strip())


def _compiles(*headers: str) -> bool:
    """Whether the compiler finds all of them."""
    source = "".join(f"#if !__has_include(<{header}>)\n#error\n#endif\n" for header in headers)
    command = ["g++", "-E", "-x", "c++", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).returncode == 0


def _headers() -> list[Finding]:
    """What the compiler says of each header, asked in one go where all are there."""
    if shutil.which("g++") is None:
        return []
    everything = _compiles(*_HEADERS)
    return [
        Finding(package, "ok", header)
        if everything or _compiles(header)
        else Finding(package, "missing", "", f"sudo apt-get install {package}")
        for header, package in _HEADERS.items()
    ]


def _optional(name: str, package: str, purpose: str) -> Finding:
    if name.endswith(".h"):
        there = name if shutil.which("g++") and _compiles(name) else None
        name = package
    else:
        there = shutil.which(name)
    if there is None:
        return Finding(name, "optional", f"for {purpose}", f"sudo apt-get install {package}")
    return Finding(name, "ok", there)


def _folder(what: str, folder: Path) -> Finding:
    place = folder
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        return Finding(what, "missing", f"{folder} is not writable", f"make {place} writable, or use another place")
    free = shutil.disk_usage(place).free / 2**30
    if free < _DISK_GIB:
        return Finding(what, "missing", f"{folder}: {free:.1f} GiB free", f"make room: {_DISK_GIB} GiB are needed")
    return Finding(what, "ok", f"{folder}, {free:.0f} GiB free")


def _machine() -> Finding:
    size = shutil.disk_usage("/dev/shm") if Path("/dev/shm").exists() else None
    if size is not None and size.free < 256 * 2**20:
        return Finding(
            "shared memory",
            "optional",
            f"/dev/shm: {size.free / 2**20:.0f} MiB free",
            "make /dev/shm larger (containers: --shm-size=1g): libraries put messages there",
        )
    there = f"/dev/shm: {size.free / 2**30:.1f} GiB free" if size else "no /dev/shm"
    return Finding("machine", "ok", f"{launching.cores()} cores, {there}")
