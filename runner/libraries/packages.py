"""Debian packages that only some commands need, installed when they are first needed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from runner.model import CannotRun


def install(packages: Sequence[str], purpose: str) -> None:
    """Install; `purpose` (`--mpi debian:mpich`) begins every message.

    Raises CannotRun with the command to give when that needs another user, and when it fails.
    """
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if shutil.which("apt-get") is None:
        raise CannotRun(f"{purpose}: needs what Debian calls {' '.join(packages)}, and this is not Debian")
    if os.geteuid() != 0:
        raise CannotRun(f"{purpose}: not installed; install it with: sudo {shlex.join(command)}")
    print(f"assay: installing Debian packages: {' '.join(packages)}", file=sys.stderr)
    for step in (["apt-get", "update", "-qq"], command):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            step, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise CannotRun(f"{purpose}: {shlex.join(step)} failed: {last}")
