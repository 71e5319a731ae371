"""Processes, as the runner sees them: a guarded launcher, the CPU time and the end of a rank, how busy the machine is.

Linux only: /proc (proc(5)) and pidfd_open(2).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.model import CannotRun, Launch
from runner.supervision import guard

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
MOST_LOAD = 8.0  # per core: a machine that stood still for minutes reports a load beyond all measure


@dataclass(frozen=True)
class Sample:
    """One look at a process."""

    cpu: float  # seconds of user and system time of all its threads
    state: str  # R, S, D, T, Z… of its main thread


def sample(pid: int) -> Sample | None:
    """CPU time and state of a process of this host; None when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return Sample(cpu=(int(fields[11]) + int(fields[12])) * _TICK, state=fields[0].decode())  # utime, stime


def busyness(oversubscription: float) -> float:
    """By how much everything may take longer than on an idle machine with a core for each rank; at least 1."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return max(1.0, min(load, MOST_LOAD), oversubscription)


@contextmanager
def going_first() -> Iterator[None]:
    """`guard.go_first` for a while."""
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    guard.go_first()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, policy, priority)


class Rank:
    """The process of a rank, when it runs on this host; a recycled pid is never mistaken for it."""

    def __init__(self, pid: int, host: str) -> None:
        self.pid = pid
        self.fd = -1  # readable once the process has ended
        if host == os.uname().nodename:
            with contextlib.suppress(OSError):  # of another pid namespace, or gone: the log and the launcher must tell
                self.fd = os.pidfd_open(pid)

    def look(self) -> Sample | None:
        """CPU time and state, or None when it cannot be seen."""
        return sample(self.pid) if self.fd >= 0 else None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens when the process has ended or is on another host."""
        if self.fd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self.fd, number)

    def close(self) -> None:
        """Forget the process."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Guarded:
    """A launcher under guard.py. Its output goes to the files `stdout` and `stderr` in the job's directory."""

    def __init__(self, launch: Launch, directory: Path) -> None:
        """Start it. Raises CannotRun."""
        self.ended = ""  # "exit N" or "signal N" of the launcher, "guard died", or "" while the launcher runs
        self.ended_at = 0  # then, CLOCK_MONOTONIC in ns
        environment = {**launch.env, "ASSAY_RUNNER_PID": str(os.getpid())}
        scratch = ""
        try:
            if launch.local:  # a folder of this machine: the guard removes it with what a killed job left there
                scratch = environment["TMPDIR"] = environment["ASSAY_SCRATCH"] = tempfile.mkdtemp(prefix="assay-")
            order = {
                "argv": [os.fspath(word) for word in launch.argv],
                "env": environment,
                # What crashed processes drop where they are (core files, backtraces of libraries) belongs to their job.
                "folder": str(directory.absolute()) if launch.local else os.getcwd(),
                "stdout": str(directory / "stdout"),
                "stderr": str(directory / "stderr"),
                "runner": os.getpid(),
                "scratch": scratch,
            }
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C reaches the runner alone, which then ends the job in order
            )
            assert self._process.stdin and self._process.stdout
            self.fd = self._process.stdout.fileno()
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise CannotRun(f"cannot start a guard for the launcher {launch.argv[0]}: {error.strerror}") from error

    def note_shared_memory(self) -> None:
        """Have the guard note the segments that are in use now, to remove what is left of them at the end."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def listen(self) -> None:
        """Read what the guard says; call when `fd` is readable."""
        if not self.ended:
            kind, _, rest = os.read(self.fd, 4096).decode().partition(" ")
            number, _, when = rest.strip().partition(" ")
            self.ended = f"{kind} {number}" if when else "guard died"
            self.ended_at = int(when) if when else time.monotonic_ns()

    def end(self) -> None:
        """End the launcher and all below it; returns when they are gone (at most some ten seconds)."""
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(guard.TERM_GRACE + guard.KILL_GRACE + 5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if not self._process.stdout.closed:
            self.listen()
            self._process.stdout.close()


def wait_for(fds: Iterable[int], seconds: float) -> set[int]:
    """Sleep until one of the descriptors is readable, at most for `seconds`; those that are."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll(seconds * 1000)}
