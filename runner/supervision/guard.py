"""The process between the runner and a launcher: nothing that was started under it outlives it.

Started by procs.Guarded as `python -I -S guard.py`; imports the standard library only. It is a subreaper, so
every process below it stays below it, also one that called setsid or whose parent died. It ends them all (SIGTERM,
then SIGKILL, which also ends stopped processes) when the launcher has ended, when its standard input is closed (the
runner says so, or is gone), when the runner is gone, or on SIGTERM. Then it removes what a killed job leaves behind.

Standard input: one JSON line `{"argv":[…],"env":{…},"folder":PATH,"stdout":PATH,"stderr":PATH,"runner":PID,
"scratch":PATH}`, then open until the end; each line in between asks to note the shared memory that is in use now. The
launcher starts in `folder`. Standard output: one line `exit N TIME` or `signal N TIME` when the launcher has ended
(CLOCK_MONOTONIC, ns).
Linux only: prctl(2), pidfd_open(2), /proc.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PR_SET_TIMERSLACK = 29
PR_SET_CHILD_SUBREAPER = 36
TIMER_SLACK = 50_000  # ns: what normal processes begin with
TERM_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
KILL_GRACE = 10.0  # seconds in which the kernel has to take away what was killed
SHARED = "/dev/shm"  # where shm_open(3) puts segments


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def go_first() -> None:
    """Run before all normal processes from now on, but for the children, where the system permits it (sched(7)).

    A rank that hangs can keep all others from the cores for minutes: who has to end it must not wait for that.
    """
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def descendants(root: int) -> set[int]:
    """The processes below `root`, without zombies."""
    children: dict[int, list[tuple[int, bool]]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # proc(5): pid (comm) state ppid …; comm may hold blanks and parentheses
            stat = Path(f"/proc/{name}/stat").read_bytes()
            state, parent = stat.rpartition(b")")[2].split(None, 2)[:2]
        except (OSError, ValueError):
            continue  # it ended while we looked
        children.setdefault(int(parent), []).append((int(name), state not in (b"Z", b"X")))
    found: set[int] = set()
    todo = [root]
    while todo:
        for pid, alive in children.get(todo.pop(), ()):
            todo.append(pid)
            if alive:
                found.add(pid)
    return found


class Leftovers:
    """What a killed job cannot take away itself: its folder for temporary files, its segments of shared memory.

    A segment is the job's when it was not there before the job and a process of the job had it mapped.
    """

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch
        self.before = self._there()
        self.segments: set[str] = set()

    @staticmethod
    def _there() -> set[str]:
        try:
            return set(os.listdir(SHARED))
        except OSError:
            return set()

    def look(self) -> None:
        """Note the segments that the processes below this one have mapped."""
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):  # it ended while we looked
                for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
                    path = line.partition("/")[1] + line.partition("/")[2]  # proc(5): …, path, perhaps " (deleted)"
                    folder, _, name = path.rpartition("/")
                    if folder == SHARED and name not in self.before and not name.endswith(" (deleted)"):
                        self.segments.add(name)

    def remove(self) -> None:
        """Remove them; call when the job's processes are gone."""
        for name in self.segments & self._there():
            with contextlib.suppress(OSError):
                os.unlink(f"{SHARED}/{name}")
        if self.scratch:
            import shutil  # only here: the guard has to start quickly

            shutil.rmtree(self.scratch, ignore_errors=True)


class Reaper:
    """Starts one launcher and collects every process that ends below this one."""

    def __init__(self, order: dict[str, object]) -> None:
        self.leftovers = Leftovers(str(order.get("scratch", "")))
        self.status: int | None = None  # wait status of the launcher
        self.pid = os.fork()
        if self.pid == 0:
            _become(order)

    def reap(self) -> None:
        """Take all ended children; report the launcher's end once."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status
                killed = os.WIFSIGNALED(status)
                word = f"signal {os.WTERMSIG(status)}" if killed else f"exit {os.WEXITSTATUS(status)}"
                with contextlib.suppress(OSError):  # nobody may listen any more
                    os.write(1, f"{word} {time.monotonic_ns()}\n".encode())

    def end(self) -> None:
        """End everything below this process, and take away what it left."""
        self.leftovers.look()
        try:
            self._end()
        finally:
            self.leftovers.remove()

    def _end(self) -> None:
        for number, grace in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
            deadline = time.monotonic() + grace
            told: set[int] = set()
            while True:
                self.reap()
                found = descendants(os.getpid())
                if not found:
                    self.reap()
                    return
                for pid in found - told:  # each once: a second SIGTERM would interrupt an orderly end
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
                told |= found
                if time.monotonic() > deadline:
                    break
                time.sleep(0.01)


def _become(order: dict[str, object]) -> None:
    """In the child: turn into the launcher, in a session of its own. Does not return."""
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # should this guard be killed
        # Who goes first has none and hands that down: ranks that give way by nanosleep(2) of 1 ns
        # (framework/yielding) would not sleep at all, and 4 of them on 2 cores cause nothing but timer interrupts.
        prctl(PR_SET_TIMERSLACK, TIMER_SLACK)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(str(order["stderr"]), flags, 0o644), 2)
        os.dup2(os.open(str(order["stdout"]), flags, 0o644), 1)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(str(order["folder"]))
        argv, env = order["argv"], order["env"]
        assert isinstance(argv, list) and isinstance(env, dict)
        try:
            os.execvpe(argv[0], argv, env)
        except OSError as error:
            os.write(2, f"cannot start {argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def main() -> int:
    """Guard one launcher. The exit code says nothing."""
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(0, 65536)
        if not block:
            return 0  # the runner went away before it had said what to start
        line += block
    order = json.loads(line)
    go_first()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        runner = os.pidfd_open(order["runner"])
    except OSError:
        return 0  # gone already
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(waker)
    stop: list[int] = []
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, frame: stop.append(number))
    reaper = Reaper(order)
    poll = select.poll()
    for fd in (0, runner, wake):
        poll.register(fd, select.POLLIN)
    while reaper.status is None and not stop:
        ready = [fd for fd, _ in poll.poll()]
        if wake in ready:
            os.read(wake, 4096)
        reaper.reap()
        if runner in ready:
            break
        if 0 in ready:
            if not os.read(0, 4096):
                break
            reaper.leftovers.look()
    reaper.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
