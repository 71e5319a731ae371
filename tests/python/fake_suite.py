"""Plays mpiexec and its ranks: follows the job protocol of docs/formats.md and misbehaves on demand.

    fake_suite.py NP FAULTS --plan=FILE --job=DIR --seed=N …

FAULTS is a JSON file: `{"cases":{CASE:{"kind":K,"rank":R,"once":bool}},"start":{"kind":K,"rank":R},"pace":SECONDS}`.
In a case with a fault the other ranks wait for the culprit, as they would in a collective call.

Kinds in a case: segv, exit, abort, silent, quiet_exit, spin, sleep, stop, escape (own session, deaf to SIGTERM),
refuse, fail, advisory, unsupported, skip, slow, burn, abort_hang (the launcher hangs), kill_launcher, all_silent,
library_abort (all are killed, one wrote to standard error before). In a case that has a job of its own: ends (the job
has to end with exit code 1, and does), ends_otherwise (with another exit code than announced), ends_not, goes_on,
ends_by_crash.
Kinds at the start: no_hello, die_before_hello, second_dies (before its hello, in the second job), second_waits (there,
before its first case), launcher_fails, seed, plan, size, twice, finalize_hang, finalize_crash, stay (the launcher does
not end).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import xxhash

STACK = ["#0 somewhere", "#1 main"]


class FakeRank:
    """One rank."""

    def __init__(self, rank: int, np: int, faults: dict[str, Any], plan: Path, job: Path, seed: int) -> None:
        self.rank, self.np, self.faults, self.plan, self.job, self.seed = rank, np, faults, plan, job, seed
        self.start = faults.get("start", {})
        self.here = self.start.get("rank", 1) == rank  # whether the fault at the start is this rank's
        self.file = job / f"rank-{0 if self.start.get('kind') == 'twice' else rank}.events"
        self.fd = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.index = -1
        self.first = 0  # case of the plan
        self.in_mpi = True
        self.runner = int(os.environ["ASSAY_RUNNER_PID"])

    def say(self, line: str) -> None:
        """Append one event; a rank that cannot log ends with code 4."""
        try:
            os.write(self.fd, line.encode() + b"\n")
        except OSError:
            os._exit(4)

    def now(self) -> int:
        return time.monotonic_ns()

    def answer(self, number: int, frame: FrameType | None) -> None:
        detail = {"call": "MPI_Recv", "in_mpi": self.in_mpi, "stack": STACK}
        self.say(f"Q {self.index} {self.now()} {json.dumps(detail)}")

    def dying(self, **detail: Any) -> None:
        self.say(f"X {self.index} {self.now()} {json.dumps(detail)}")

    def hello(self) -> None:
        kind = self.start.get("kind") if self.here else None
        if kind == "no_hello":
            self.wait()
        second = kind == "second_dies" and self.job.name != "job-0001"
        if (kind == "die_before_hello" or second) and self.first_time("start"):
            self.dying(signal="SIGSEGV", call="MPI_Init_thread", in_mpi=True)
            os.kill(os.getpid(), signal.SIGKILL)
        text = self.plan.read_bytes()
        hello = {
            "rank": 0 if self.start.get("kind") == "twice" else self.rank,
            "size": self.np + 1 if kind == "size" else self.np,
            "pid": os.getpid(),
            "host": os.uname().nodename,
            "plan": "0" * 16 if kind == "plan" else xxhash.xxh3_64_hexdigest(text),
            "seed": self.seed + (kind == "seed"),
            "binary": "feedfeedfeedfeed",
            "library": self.start.get("library", "MPICH Version: 9"),
            "library_path": self.start.get("library_path", ""),
            "mpi": "5.0",
            "thread_level": 3,
        }
        self.say(f"H {json.dumps(hello)}")
        while not (self.job / "go").exists():
            self.check_runner()
            time.sleep(0.002)
        self.first = int((self.job / "go").read_text())
        if kind == "second_waits" and self.job.name != "job-0001" and self.first_time("start"):
            self.wait()

    def check_runner(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.runner, 0)
            return
        os._exit(9)

    def wait(self) -> NoReturn:
        while True:
            time.sleep(1)

    def meet(self) -> None:
        """Wait until all ranks are in this case: what they ended before is in their logs."""
        for rank in range(self.np):
            while f"S {self.index} " not in (self.job / f"rank-{rank}.events").read_text():
                self.check_runner()
                time.sleep(0.002)

    def first_time(self, what: str) -> bool:
        """Whether a fault that happens once happens now; its memory lies beside the job directories."""
        try:
            os.close(os.open(self.job.parent / f"fired.{what.replace('/', '_')}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def run(self) -> NoReturn:
        signal.signal(signal.SIGUSR2, self.answer)
        self.hello()
        pace = self.faults.get("pace", 0)
        for index, case in enumerate(self.plan.read_text().splitlines()[1:]):
            if index < self.first:
                continue
            self.index = index
            self.say(f"S {self.index} {self.now()}")
            outcome = "p"
            if fault := self.faults.get("cases", {}).get(case):
                outcome = self.misbehave(case, fault)
            if pace:
                time.sleep(pace)
            self.say(f"E {self.index} {self.now()} {outcome}")
        self.index = -1
        self.finish()

    def finish(self) -> NoReturn:
        self.say(f"D {self.now()}")
        if self.here and self.start.get("kind") == "finalize_hang":
            self.wait()
        if self.here and self.start.get("kind") == "finalize_crash":
            self.dying(signal="SIGSEGV", call="MPI_Finalize", in_mpi=True)
            os.kill(os.getpid(), signal.SIGKILL)
        (self.job / f"finalize.{self.rank}").touch()
        while any(not (self.job / f"finalize.{rank}").exists() for rank in range(self.np)):  # it is collective
            self.check_runner()
            time.sleep(0.002)
        self.say(f"Z {self.now()}")
        os._exit(0)

    def find(self, level: str) -> None:
        finding = {"check": "data", "level": level, "thread": 0, "message": "byte 3\ndiffers", "where": "x.cpp:1"}
        self.say(f"F {self.index} {json.dumps(finding)}")

    def misbehave(self, case: str, fault: dict[str, Any]) -> str:
        """Do it, if this is the rank; otherwise wait for the rank that does. The outcome of the case, if it ends."""
        kind, culprit = fault["kind"], fault.get("rank", 1) == self.rank
        if kind.startswith("ends") or kind == "goes_on":
            self.say(f"A {self.now()} {json.dumps({'exit': 7 if kind == 'ends_otherwise' else 1})}")
        if kind in ("fail", "advisory", "unsupported", "skip", "slow", "burn"):
            return self.end_in_peace(case, kind, fault) if culprit else "-" if kind == "advisory" else "p"
        if kind == "library_abort" and culprit:
            (self.job / f"rank-{self.rank}.stderr").write_text("Fatal error in internal_Recv: Other MPI error\n")
        if not culprit and kind not in ("all_silent", "library_abort"):
            self.wait()
        self.in_mpi = False
        if fault.get("erroneous"):
            self.say(f"W {self.index}")
        if kind in ("segv", "abort_hang"):
            Path("core").write_text("as the kernel and some libraries leave it where a process crashed\n")
            self.dying(signal="SIGSEGV", call="MPI_Recv", in_mpi=True, stack=STACK)
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        elif kind in ("abort", "ends", "ends_otherwise"):
            self.dying(exit=1, call="MPI_Abort", in_mpi=True, stack=STACK)
            os._exit(1)
        elif kind == "ends_not":
            self.wait()
        elif kind == "goes_on":
            self.find("must")
            return "f"
        elif kind == "ends_by_crash":
            self.dying(signal="SIGSEGV", call="MPI_Abort", in_mpi=True, stack=STACK)
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        elif kind == "exit":
            self.dying(exit=3, call="MPI_Send", in_mpi=False, stack=STACK)
            os._exit(3)
        elif kind == "quiet_exit":
            os._exit(0)
        elif kind in ("silent", "all_silent", "library_abort"):
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        elif kind == "spin":
            while True:
                pass
        elif kind == "sleep":
            self.wait()
        elif kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif kind == "escape":
            with contextlib.suppress(PermissionError):  # it leads a process group already
                os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self.wait()
        elif kind == "kill_launcher":
            if not fault.get("once") or self.first_time(case):
                self.meet()
                os.kill(os.getppid(), signal.SIGKILL)
            self.wait()
        elif kind == "refuse":
            self.find("must")
            return "f"
        raise ValueError(kind)

    def end_in_peace(self, case: str, kind: str, fault: dict[str, Any]) -> str:
        if fault.get("once") and not self.first_time(case):
            return "p"
        if kind == "slow":
            time.sleep(1.5)
        elif kind == "burn":
            end = time.thread_time() + 0.7
            while time.thread_time() < end:
                pass
        elif kind in ("unsupported", "skip"):
            return f"{kind[0]} needs more than a fake"
        else:
            self.find("must" if kind == "fail" else "advisory")
        return "f" if kind == "fail" else "p"


def launch(np: int, faults: dict[str, Any], plan: Path, job: Path, seed: int) -> int:
    """Start the ranks and, like mpiexec, end all of them when one ends badly."""
    start = faults.get("start", {}).get("kind")
    if start == "launcher_fails":
        print("no such host: nowhere", file=sys.stderr)
        return 7
    pids = set()
    for rank in range(np):
        pid = os.fork()
        if pid == 0:
            try:
                FakeRank(rank, np, faults, plan, job, seed).run()
            except BaseException as error:
                os.write(2, f"rank {rank}: {error!r}\n".encode())
                os._exit(5)
        pids.add(pid)
    code = 0
    while pids:
        pid, status = os.wait()
        pids.discard(pid)
        if status != 0 and code == 0:
            code = 1
            if any(fault["kind"] == "abort_hang" for fault in faults.get("cases", {}).values()):
                time.sleep(1000)
            time.sleep(0.1)  # the daemons between have to hear of it
            for other in pids:
                os.kill(other, signal.SIGKILL)
    if start == "stay":
        time.sleep(1000)
    return code


def main(argv: list[str]) -> int:
    """Entry point."""
    options = dict(word[2:].split("=", 1) for word in argv[2:] if "=" in word)
    faults = json.loads(Path(argv[1]).read_text())
    return launch(int(argv[0]), faults, Path(options["plan"]), Path(options["job"]), int(options["seed"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
