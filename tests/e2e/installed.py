"""Assay as a wheel of a release, in an environment with nothing else: no compiler, no source tree."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from e2e_help import REPO

from runner.libraries import targets

DEFAULT = str(targets.known()["default"])
RING = "p2p.ring/mode=isend/receive=irecv/completion=wait/comm=world/type=int/count=17/placement=heap"
WRONG = "env.get_elements/type=dup_type_mix_lb_ub/count=1"  # known to fail on MPICH 5.0.2


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with nothing but the wheel and what it depends on. Returns the command `assay` in it."""
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-I", "-m", "pip", "--python", str(folder / "bin" / "python")]
    words = ["install", "-q", "--disable-pip-version-check", "-c", str(REPO / "requirements.lock"), str(wheel)]
    subprocess.run([*pip, *words], check=True)
    return folder / "bin" / "assay"


class Installed:
    """The installed command, started where no program is on the PATH but its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheel = release.wheel(folder / "dist", release.programs(folder / "programs"))
        self.command = install(self.wheel, folder / "venv")
        self.work = folder / "work"
        self.work.mkdir()
        (folder / "cache").mkdir()
        targets.resolve(DEFAULT)
        (folder / "cache" / "mpi").symlink_to(targets.cache_dir() / "mpi")  # a library need not come again
        tools = folder / "tools"
        tools.mkdir()
        (tools / "env").symlink_to(shutil.which("env") or "")  # ranks are started through it
        path = f"{folder / 'venv' / 'bin'}:{tools}"
        self.env = {"PATH": path, "ASSAY_CACHE": str(folder / "cache"), "HOME": str(self.work)}

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(self.command), *words],
            cwd=self.work,
            env=self.env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout + done.stderr


release = load(REPO / "package" / "release.py")
