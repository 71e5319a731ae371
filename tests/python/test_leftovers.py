"""A job that is killed leaves no segment of shared memory and no temporary file behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from runner.model import Launch
from runner.supervision.guard import SHARED
from runner.supervision.procs import Guarded

# Maps segments of shared memory (named by the arguments), writes a temporary file, says so, and waits.
PROGRAM = """
import mmap, os, sys, time
kept = []
for name in sys.argv[2:]:
    file = open(name, "a+b")
    file.truncate(4096)
    kept.append(mmap.mmap(file.fileno(), 4096))
    file.close()
open(os.environ["TMPDIR"] + "/session", "w").close()
open(sys.argv[1], "w").write(f"{os.getpid()} {os.environ['TMPDIR']}")
time.sleep(60)
"""


def start(folder: Path, *segments: Path) -> tuple[Guarded, int, Path]:
    """A job that has everything in place: its guard, its process, its folder for temporary files."""
    said = folder / "said"
    argv = [sys.executable, "-c", PROGRAM, str(said), *map(str, segments)]
    guarded = Guarded(Launch(argv, dict(os.environ), local=True), folder)
    deadline = time.monotonic() + 30
    while not (said.exists() and said.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pid, scratch = said.read_text().split(maxsplit=1)
    return guarded, int(pid), Path(scratch)


@pytest.mark.parametrize("crash", [False, True], ids=["ended", "crashed"])
def test_a_killed_job_leaves_nothing(tmp_path: Path, crash: bool) -> None:
    own, foreign = (Path(SHARED) / f"assay-test-{os.getpid()}-{kind}" for kind in ("own", "foreign"))
    foreign.touch()
    try:
        guarded, pid, scratch = start(tmp_path, own, foreign)
        assert own.exists()
        assert (scratch / "session").exists()
        if crash:  # nobody is left to look at
            guarded.note_shared_memory()
            time.sleep(0.5)
            os.kill(pid, signal.SIGKILL)
        guarded.end()
        assert not own.exists()
        assert not scratch.exists()
        assert foreign.exists(), "it was there before the job"
    finally:
        own.unlink(missing_ok=True)
        foreign.unlink(missing_ok=True)
