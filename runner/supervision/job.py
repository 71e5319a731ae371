"""One launch of the suite, from its first process to its last.

Reads what the ranks log, looks at their processes, and says how the job ended and which case is to blame for that.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import xxhash

from runner.model import CannotRun
from runner.supervision import judge
from runner.supervision.context import JobContext, JobRecord
from runner.supervision.events import RankLog
from runner.supervision.procs import Guarded, Rank, busyness, wait_for
from runner.supervision.reader import Reader
from runner.supervision.stall import Stall

_POLL = 0.02  # seconds between two readings of the logs
_TICK = 10_000_000  # ns: a file's time is that of the last tick of the system's clock before it was written


class NoStart(Exception):
    """A launch that did not come to the first case."""


class Job:
    """One launch."""

    def __init__(self, run: JobContext, names: Sequence[str], own: bool) -> None:
        """Start it; with `own` for the one case, which may say that the job has to end."""
        self._run, self.names = run, names
        self.directory = directory = run.new_folder()
        self.first = 0  # index of the case that it begins with
        self.np = run.target.np
        # A case with a job of its own holds MPI_Init and MPI_Finalize, which take their time however impatient one is.
        self.scale = max(run.options.timeout_scale, 0.25 if own else 0.0)
        self.started = 0.0  # when it was its turn
        self.judged = 0
        self.ranks: dict[int, Rank] = {}
        self.dead: dict[int, judge.Dead] = {}
        self.gone: set[int] = set()  # ranks whose process has ended
        self.ended_at = 0  # when this job was told to end or its launcher had ended, ns; 0 while it runs
        self.trouble = ""  # that no case is charged for
        text = f"assay-plan 1 seed={run.options.seed} cases={len(names)}\n" + "".join(f"{name}\n" for name in names)
        self.plan = xxhash.xxh3_64_hexdigest(text.encode())
        args = run.suite_args()
        with writing(directory):
            (directory / "plan.txt").write_text(text)
            job = {"target": run.target.name, "args": args, "attempt": run.attempt}
            (directory / "job.json").write_text(json.dumps(job))
        self.reader = Reader(run, directory, names)
        self.logs = self.reader.logs
        words = [f"--own-job={names[0]}", f"--np={self.np}"] if own else []
        there = directory.absolute()
        words += [f"--plan={there}/plan.txt", f"--job={there}", *args]
        launch = run.target.launcher(words)
        self.local = launch.local
        self.guard = Guarded(launch, directory)

    def begin_with(self, names: Sequence[str]) -> bool:
        """Leave out all but these cases; whether they are the last ones that it was started for."""
        self.first = len(self.names) - len(names)
        return self.first >= 0 and self.names[self.first :] == names

    def lives(self) -> bool:
        """Whether nothing has ended yet."""
        self._listen(0.0)
        self._collect()
        return not self.guard.ended and not any(log.death for log in self.logs)

    def discard(self) -> None:
        """End it before its turn, as if it had never been."""
        self._end()
        self.reader.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self) -> str:
        """Run to its end; why it ended, in words, when no case is to be charged for that, else "".

        Raises NoStart, CannotRun.
        """
        self.started = time.monotonic()
        end, why = "no start", ""
        try:
            self._greet()
            end, blame = self._watch()
            self._end()
            self._collect()
            if blame is None:
                if self._had_to_end():
                    end = "complete" if all(log.finished for log in self.logs) else "ended"
                else:
                    end, why, blame = self._post_mortem(end)
            if blame is not None:
                self._charge(blame)
        finally:
            self._end()
            if bad := sum(log.malformed for log in self.logs):
                self._run.on_note(f"{self.directory}: {bad} lines of the event logs were not understood")
            for rank in self.ranks.values():
                rank.close()
            self.reader.close()
            seconds = round(time.monotonic() - self.started, 3)
            hello = next((log.hellos[0] for log in self.logs if log.hellos), {})
            where = str(self.directory.relative_to(self._run.out))
            self._run.records.append(JobRecord(where, self.judged, end, seconds, hello, self.trouble))
        return why

    # ---- from the launch to the first case

    def _greet(self) -> None:
        """Wait until all ranks said the same hello, then let them go. Raises NoStart, CannotRun."""
        run = self._run
        while True:
            self._listen()
            self._collect()
            self._prepare(0)
            if problem := self.reader.disagreement(self.plan):
                raise CannotRun(f"the ranks of one job disagree: {problem}")
            if wrong := self.reader.wrong_library():
                raise CannotRun(wrong)
            for log in self.logs:
                if log.hellos and log.rank not in self.ranks:
                    self.ranks[log.rank] = Rank(int(log.hellos[0]["pid"]), str(log.hellos[0]["host"]))
            if len(self.ranks) == self.np and not self.guard.ended:
                break
            told = f"{len(self.ranks)} of {self.np} ranks said hello"
            limit = run.patience.hello * max(1.0, run.options.timeout_scale) * self._busyness()
            dying = [log for log in self.logs if log.death]
            if self.guard.ended or dying or time.monotonic() - self.started > limit:
                self._end()
                self._collect()
                words = [
                    f"rank {log.rank} died before the first case: {judge.death_words(log.death.detail)}"
                    for log in self.logs
                    if log.death
                ]
                if not words and self.ended_early:
                    words = [f"the launcher ended ({self.guard.ended}), {told}"]
                raise NoStart("; ".join(words or [f"{told} within {limit:.0f} s"]) + self._last_words())
        self.guard.note_shared_memory()  # MPI_Init has made most of it
        for log in self.logs:
            log.last = self.first - 1
        go = self.directory / "go"
        with writing(go):
            unfinished = go.with_suffix(".new")  # ranks look for the file, and read it at once
            unfinished.write_text(f"{self.first}\n")
            unfinished.rename(go)

    @property
    def ended_early(self) -> bool:
        """Whether the launcher ended by itself."""
        return self.ended_at >= self.guard.ended_at > 0

    def _last_words(self) -> str:
        """The last lines of standard error of the launcher and, failing that, of the ranks."""
        here = self.directory
        for path in (here / "stderr", *sorted(here.glob("rank-*.stderr")), here / "stdout"):
            try:
                text = path.read_bytes()[-4096:].decode("utf-8", "replace")
            except OSError:
                continue
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            if lines:
                return f"; its last words ({path}): {' | '.join(lines[-5:])[-600:]}"
        return f"; it wrote nothing ({self.directory})"

    # ---- while it runs

    def _watch(self) -> tuple[str, judge.Blame | None]:
        """Read along until the job is over or has to be ended; how it ended, and who is to blame if that is known."""
        run, patience = self._run, self._run.patience
        stall = Stall()
        active = quiet = died = time.monotonic()  # last event; since when a refused case is quiet; first death
        events = 0
        refusal = (-1, 0)  # case that a rank ended with an error, events of those still in it
        while True:
            self._listen()
            self._collect()
            self._prepare(min(log.position for log in self.logs) - self.first)
            if any(log.end_announced for log in self.logs):
                return self._watch_end()
            now = time.monotonic()
            had_died = bool(self.dead)
            self._notice()
            if self.guard.ended:
                return "launcher died", None
            if self.dead and not had_died:
                died = now
            if (total := sum(log.events for log in self.logs)) != events:
                events, active = total, now
            busy = self._busyness()
            scaled = busy * self.scale
            living = [log for log in self.logs if not (log.finished or log.rank in self.dead or log.rank in self.gone)]
            if not living:
                if now - active > patience.leave * busy and now - died > patience.leave * busy:
                    self._note_trouble("the launcher did not end after its ranks and was ended")
                    return "", None
                continue
            if self.dead:
                inside = [one.index for one in self.dead.values() if one.index >= 0]
                behind = any(log.position < min(inside) for log in living) if inside else False
                if now - died > (10 * patience.refusal if behind else patience.death) * busy or (
                    now - active > patience.refusal * busy
                ):
                    return "ranks died", None
                continue
            working = [log for log in living if not log.done and log.position < len(self.names)]
            if not working:
                if now - active > patience.finalize * scaled:
                    return "finalize hung", None
                continue
            index = min(log.position for log in working)
            if any(log.outcomes.get(index) == "f" for log in self.logs):
                state = (index, sum(log.events for log in working if log.position == index))
                if state != refusal:
                    refusal, quiet = state, now
                known = patience.known if run.expected(self.names[index]) else 1.0
                if now - quiet > patience.refusal * known * scaled and self._ask(index):
                    return "refused", judge.refused(self.logs, index, run.options.strict)
                continue
            known, slow = "timeout" in run.expected(self.names[index]), index in self.reader.slow
            scale = self.scale * run.options.threads * run.options.repeat
            budget = patience.budget(scale, busy, known=known, slow=slow)
            spent = stall.look(now, index, [self.ranks[log.rank] for log in living], budget)
            if spent and stall.slow and not (known or slow) and run.hung < patience.doubts:
                self.reader.slow[index] = spent
                run.on_note(f"{self.names[index]} takes long and is given more time: slow, or hung?")
            elif spent and self._ask(index):
                run.hung += slow
                return "timeout", judge.stuck(self.logs, [log.rank for log in living], index, spent)

    def _watch_end(self) -> tuple[str, judge.Blame | None]:
        """A process has said that the job has to end now: wait for that, and for the launcher."""
        patience = self._run.patience
        begin = quiet = time.monotonic()
        events = 0
        while True:
            self._listen()
            self._collect()
            now = time.monotonic()
            there = [
                log
                for log in self.logs
                if not (log.finished or log.rank in self.gone or (self.guard.ended and self.ranks[log.rank].fd < 0))
            ]
            if (total := sum(log.events for log in self.logs) - len(there)) != events:
                events, quiet = total, now
            if not there:
                if self.guard.ended or now - quiet > patience.leave * self._busyness():
                    return "ended", None
                continue
            limit = patience.finalize * max(1.0, self._run.options.timeout_scale) * self._busyness()
            if any(log.outcomes.get(0) == "f" for log in self.logs) and now - quiet > patience.refusal:
                return "refused", judge.refused(self.logs, 0, self._run.options.strict)
            if now - begin > limit:
                self._ask(0)
                spent = f"{limit:.1f} s, within which the job had to end"
                return "timeout", judge.stuck(self.logs, [log.rank for log in there], 0, spent)

    def _had_to_end(self) -> bool:
        """Whether a process said that the job has to end, and it did: judges the case."""
        if not any(log.end_announced for log in self.logs):
            return False
        case = self.names[0]
        if case not in self._run.settled:
            said = self.guard.ended if self.ended_early else ""
            code = int(said.removeprefix("exit ")) if said.startswith("exit ") else None
            status, extra = judge.ended(self.logs, code, self._run.options.strict)
            opened = [log.opened for log in self.logs if log.opened]
            seconds = max(0.0, (self.ended_at - min(opened, default=self.ended_at)) * 1e-9)
            self.judged += 1
            self._run.judge([self._run.verdict(case, status, seconds, extra)])
        return True

    def _prepare(self, done: int) -> None:
        """Launch what will be needed next; this job has done so many cases."""
        if self.local:  # elsewhere ranks are on machines that others have asked for, too
            self._run.prepare(done)

    def _busyness(self) -> float:
        return busyness(self._run.target.oversubscription)

    def _listen(self, seconds: float = _POLL) -> None:
        """Sleep a little; wake up when the launcher or a rank ends."""
        fds = {rank.fd: number for number, rank in self.ranks.items() if rank.fd >= 0 and number not in self.gone}
        ready = wait_for([*fds, *([] if self.guard.ended else [self.guard.fd])], seconds)
        if self.guard.fd in ready and not self.guard.ended:
            self.guard.listen()
            self.ended_at = self.ended_at or time.monotonic_ns()
        self.gone |= {number for fd, number in fds.items() if fd in ready}

    def _collect(self) -> None:
        """Read the logs and judge what all ranks have ended."""
        for verdicts in self.reader.batches():
            self.judged += len(verdicts)
            self._run.judge(verdicts)

    def _notice(self) -> None:
        """Take down the ranks that died since the last call."""
        first = not self.dead and not self.guard.ended
        now = time.monotonic_ns()
        for log in self.logs:
            if log.rank in self.dead or log.finished or (log.death is None and log.rank not in self.gone):
                continue
            if log.death is None:
                self.dead[log.rank] = judge.Dead(log.rank, log.open, now, first, None)
            else:
                self.dead[log.rank] = judge.Dead(log.rank, log.death.index, log.death.time, first, log.death.detail)

    def _ask(self, index: int) -> bool:
        """Ask all ranks for their stacks. Whether `index` still is the earliest unfinished case afterwards."""
        for log in self.logs:
            log.answer = None
        asked = [log for log in self.logs if log.rank not in self.gone and not log.finished]
        for log in asked:
            self.ranks[log.rank].send(signal.SIGUSR2)
        deadline = time.monotonic() + self._run.patience.answer * self._busyness()
        while (
            time.monotonic() < deadline
            and any("stack" not in (log.answer or {}) for log in asked)
            and not self.guard.ended
        ):
            self._listen()
            self._collect()
        self._notice()
        if self.dead or self.guard.ended:
            return False  # it ended by itself meanwhile
        return min((log.position for log in asked if not log.done), default=-1) == index

    # ---- afterwards

    def _end(self) -> None:
        """End everything that this job started."""
        self.ended_at = self.ended_at or time.monotonic_ns()
        self.guard.end()
        for rank in self.ranks.values():
            rank.send(signal.SIGKILL)  # should the guard have been killed, or the launcher have left it behind

    def _post_mortem(self, end: str) -> tuple[str, str, judge.Blame | None]:
        """After a job that was not ended for a known culprit: how it ended, why if nobody is to blame, and who is."""
        if all(log.done for log in self.logs):
            if all(log.finished for log in self.logs):
                return "complete", "", None
            if end != "finalize hung":
                end = "finalize crash"
            late = [log for log in self.logs if log.death] or [log for log in self.logs if not log.finished]
            words = "; ".join(f"rank {log.rank}: {self._end_words(log)}" for log in late)
            self._note_trouble(f"{end} after the last case ({words})")
            return end, "", None
        for log in self.logs:  # last words that came while the job was being ended
            death = log.death
            if death and death.time < self.ended_at and not log.finished:
                known = self.dead.get(log.rank)
                first = known.first if known else False
                self.dead[log.rank] = judge.Dead(log.rank, death.index, death.time, first, death.detail)
        killed = self.guard.ended.startswith(("signal", "guard")) and self.ended_early
        dead = list(self.dead.values())
        said = self._said()
        blame = None if killed else judge.last_speakers(dead, said)
        blame = blame or judge.crashed(dead, self.np, self.guard.ended_at if killed else None, said)
        if blame:
            return "crash", "", blame
        if killed or not self.dead:
            return "launcher died", f"the launcher ended early ({self.guard.ended})" + self._last_words(), None
        words = "; ".join(
            f"rank {one.rank}: {judge.death_words(one.detail or {})}"
            + (" outside any case" if one.index < 0 else f" in case {self.names[one.index]}")
            for one in self.dead.values()
        )
        return "ranks died", words + self._last_words(), None

    def _said(self) -> list[tuple[int, int, str]]:
        """What ranks wrote to standard error within the case in which they died: (rank, case, text)."""
        said = []
        to_monotonic = time.monotonic_ns() - time.time_ns()
        for log in self.logs:
            path = self.directory / f"rank-{log.rank}.stderr"
            if log.open < 0 or log.finished:
                continue
            with contextlib.suppress(OSError):
                written = path.stat().st_mtime_ns + to_monotonic
                text = path.read_bytes()[-2000:].decode("utf-8", "replace").strip()
                if text and written + _TICK >= log.opened:
                    said.append((log.rank, log.open, text))
        return said

    def _note_trouble(self, text: str) -> None:
        if damaged_by := self._run.damaged_by(self.names[0]):
            text += f", as its cases may have damaged the processes ({damaged_by})"
        self.trouble = "; ".join(filter(None, (self.trouble, text)))
        self._run.on_note(text)

    def _end_words(self, log: RankLog) -> str:
        return judge.death_words(log.death.detail) if log.death else "not back from MPI_Finalize"

    def _charge(self, blame: judge.Blame) -> None:
        """Give the culprit case its verdict, unless all ranks ended it after all."""
        case = self.names[blame.index]
        if case in self._run.settled:
            return
        opened = [log.opened for log in self.logs if log.open == blame.index]
        seconds = (self.ended_at - min(opened)) * 1e-9 if opened else 0.0
        status, extra = judge.charged(self.logs, blame, self._run.options.strict)
        self.judged += 1
        self._run.judge([self._run.verdict(case, status, max(0.0, seconds), extra)])


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while `path` is made into CannotRun."""
    try:
        yield
    except OSError as error:
        raise CannotRun(f"{path}: cannot be written: {error.strerror}") from error
