"""Suites about frameworks under MPI, which need no MPI library: their program starts its ranks (framework/native).

The name of such a suite is also the SPEC for --mpi and the family of its library: `assay run --suite ofi` means
`--mpi ofi --suite ofi`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Native:
    """One framework and its suite."""

    name: str  # suites/<name>, assay-<name>, standard/<name>.toml
    framework: str  # for people
    section: str  # form of a section in standard/<name>.toml
    prefix: str  # of its functions
    package: str  # of Debian, with its headers
    header: Path  # of that package
    version: tuple[Path, str]  # a header and the macros that are the parts of its version
    libraries: tuple[str, ...]  # that its programs are linked with
    providers: bool = False  # those of transports/ are tested, too

    def version_there(self) -> str:
        """The version of the framework on this machine."""
        path, macros = self.version
        return ".".join(re.findall(rf"^#define\s+(?:{macros})\s+(\d+)", path.read_text(), re.MULTILINE))


_ALL = (
    Native(
        "ofi",
        "libfabric",
        r"fi_\w+\(3\)",
        "fi_",
        "libfabric-dev",
        Path("/usr/include/rdma/providers/fi_prov.h"),
        (Path("/usr/include/rdma/fabric.h"), "FI_MAJOR_VERSION|FI_MINOR_VERSION|FI_REVISION_VERSION"),
        ("fabric",),
        providers=True,
    ),
    Native(
        "ucx",
        "UCX",
        r"ucp_\w+",
        "ucp_",
        "libucx-dev",
        Path("/usr/include/ucp/api/ucp.h"),
        (Path("/usr/include/ucp/api/ucp_version.h"), "UCP_API_MAJOR|UCP_API_MINOR"),
        ("ucp", "ucs"),
    ),
)
NATIVE = {one.name: one for one in _ALL}
