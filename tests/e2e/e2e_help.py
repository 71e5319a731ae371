"""Starting ./assay, and seeing what it left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from runner.libraries import build, targets

REPO = Path(__file__).resolve().parents[2]
# The library to test with; another one by hand: ASSAY_E2E_MPI=openmpi@5.0.11 pytest tests/e2e
MPI = os.environ.get("ASSAY_E2E_MPI") or str(targets.known()["default"])


def assay(
    *words: str | Path, env: dict[str, str] | None = None, seconds: float = 600
) -> subprocess.CompletedProcess[str]:
    """Run ./assay to its end; no terminal, so that lines are plain."""
    return subprocess.run(
        [str(REPO / "assay"), *map(str, words)],
        env={**os.environ, "COLUMNS": "400", **(env or {})},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )


def begin(*words: str | Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start ./assay and say nothing of what it prints."""
    return subprocess.Popen(
        [str(REPO / "assay"), *map(str, words)],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def processes_of(folder: Path) -> list[str]:
    """The command lines of processes that have something to do with `folder`: in their arguments or environment."""
    mark = str(folder).encode()
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            command = (process / "cmdline").read_bytes()
            known = mark in command or mark in (process / "environ").read_bytes()
        except OSError:  # gone meanwhile
            continue
        if known and command:
            found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def left_running(folder: Path, seconds: float = 10.0) -> list[str]:
    """processes_of once it is empty, or after `seconds`."""
    deadline = time.monotonic() + seconds
    while (found := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def free_port() -> int:
    """A port of this machine to which nobody is bound."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def pingpong(
    provider: str, *words: str, environment: Mapping[str, str] | None = None, kill_after: float | None = None
) -> str:
    """libfabric's ping-pong between two processes. What its client says; "" if both are killed."""
    env = {"PATH": "/usr/bin:/bin", "FI_PROVIDER_PATH": str(build.transports()), **(environment or {})}
    command = ["fi_pingpong", "-p", provider, "-e", "rdm", "-c", *words]
    port = str(free_port())

    def start(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*command, *more], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    server = start("-B", port)
    client = None
    try:
        for _ in range(20):  # the server needs a moment to listen
            time.sleep(0.2)
            client = start("-P", port, "127.0.0.1")
            try:
                said, _ = client.communicate(timeout=kill_after or 600)
            except subprocess.TimeoutExpired:
                if kill_after:
                    return ""
                raise
            if client.returncode == 0:
                break
        assert client is not None and client.returncode == 0, said
        assert server.wait(60) == 0
        return said
    finally:
        for one in (server, client):
            if one is not None:
                one.kill()
                one.communicate()
