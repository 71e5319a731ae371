"""What hatchling does in addition for the wheel: programs that were built before go into it.

Source: https://hatch.pypa.io/latest/plugins/build-hook/custom/
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MAN = "ASSAY_MAN"  # environment: folder of manual pages, for `man assay` where the environment is active
BINARIES = "ASSAY_PREBUILT"  # environment: folder of programs for libraries with the ABI of MPI-5.0; without it none


class Prebuilt(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the folder of $ASSAY_PREBUILT; the wheel is then one for this machine's architecture."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
        folder = os.environ.get(BINARIES)
        if self.target_name != "wheel" or not folder:
            return
        for program in sorted(Path(folder).iterdir()):
            build_data["force_include"][str(program)] = f"prebuilt/{program.name}"
        for page in sorted(Path(os.environ[MAN]).iterdir()) if MAN in os.environ else []:
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"
        # Manual pages are the environment's: the prefix that all files of the package get is not for them.
        config, plain = self.build_config, self.build_config.get_distribution_path
        config.get_distribution_path = lambda path: path if path.startswith("share/man/") else plain(path)
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
