"""One launch of a small program of MPI that says on standard output what it found."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.model import Launch, Target
from runner.supervision.procs import Guarded, busyness, wait_for

MOST_PATIENCE = 4.0  # times the timeout, on a busy machine: some programs are there to hang


@dataclass(frozen=True)
class Said:
    """What a launch left. `ended` is `exit N` or `signal N` of the launcher, or "" when it had to be ended."""

    out: str
    err: str
    ended: str


def run_once(target: Target, args: Sequence[str], timeout: float, stop: threading.Event | None = None) -> Said:
    """Start the ranks of a target and wait; `timeout` is in seconds on an idle machine, `stop` ends it earlier."""
    with tempfile.TemporaryDirectory(prefix="assay-once-") as name:
        folder = Path(name)
        launch = target.launcher(args)
        guarded = Guarded(Launch(launch.argv, launch.env, launch.local), folder)
        try:
            guarded.note_shared_memory()
            deadline = time.monotonic() + timeout * min(busyness(target.oversubscription), MOST_PATIENCE)
            while not guarded.ended and time.monotonic() < deadline and not (stop and stop.is_set()):
                if guarded.fd in wait_for([guarded.fd], 0.5):
                    guarded.listen()
            ended = guarded.ended
        finally:
            guarded.end()
        out, err = ((folder / kind).read_text(errors="replace") for kind in ("stdout", "stderr"))
    return Said(out, err, ended)
