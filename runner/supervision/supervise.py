"""Launch, watch, judge, blame, resume: runs the cases of one target and charges each trouble to exactly one case.

The ranks log what they do (docs/formats.md, sections 4 and 5); a job (job.py) reads along and looks at their
processes. Verdicts never depend on the launcher's exit code. A case that kills or blocks its job costs one more launch:
the next job takes up the cases that have no verdict yet.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xxhash

from runner.model import ENDS, FAILED, CannotRun, Verdict
from runner.supervision.context import JobRecord, Kind, Task
from runner.supervision.job import Job, NoStart, writing
from runner.supervision.procs import going_first
from runner.supervision.reader import Reader
from runner.supervision.spares import Spares

PLAN_CAP = 100_000  # cases in one job
ENDS_CAP = 50  # of them known to end their job now and then: each launch after one reads all that is left of the plan
_FINE = {"pass", "skip", "unsupported"}  # nothing to repeat


def supervise(task: Task) -> list[JobRecord]:
    """Run the cases of a task, in order; what became of the jobs.

    Cases that are `threaded` come last, in launches of their own. A case that is known to fail (`expected`) is given
    less time. Cases that are known to leave a damaged process come after the others, too: each defect in launches of
    its own, so that no other case suffers. Cases that are `alone` come last. Where cases are known to end their job,
    the jobs that follow are launched ahead of need (on this machine only).

    Raises CannotRun (launch failed twice, ranks that disagree, full disk), and whatever interrupts it, for example
    KeyboardInterrupt; the job is ended and the journal valid in every case.
    """
    run = Run(task)
    target, options, about = task.target, task.options, task.cases
    known = task.journal.statuses.get(target.name, {})
    todo = [case for case in dict.fromkeys(task.plan) if case not in known]
    several = options.threads == 1  # else every launch has MPI_THREAD_MULTIPLE
    kinds = {
        case: (case if about.alone(case) else "", several and about.threaded(case), about.damage(case)) for case in todo
    }
    todo.sort(key=kinds.__getitem__)
    for kind, some in itertools.groupby(todo, kinds.__getitem__):
        part = cases = ends = 0
        for case in some:
            if cases == PLAN_CAP or ends == ENDS_CAP:
                part, cases, ends = part + 1, 0, 0
            run.kinds[case] = (*kind, part)
            cases += 1
            if run.ends_its_job(case):
                run.ending.add(case)
                ends += 1
    if todo and task.binary:
        run.recover(set(todo))
    with going_first():
        for attempt in range(1, options.retries + 2):
            run.attempt = attempt
            if attempt > 1:
                todo = list(run.again)
                run.settled.clear()
            run.jobs(todo)
    return run.records


class Run:
    """All jobs of one target."""

    def __init__(self, task: Task) -> None:
        self.target, self.out, self.journal, self.options = task.target, task.out, task.journal, task.options
        self.binary, self.on_verdicts, self.on_note = task.binary, task.on_verdicts, task.on_note
        self.cases, self.expected = task.cases, task.cases.expected
        longest = task.options.case_timeout
        # What the user names is not stretched, neither for what may be slow nor by the time before the first look.
        self.patience = replace(task.patience, cpu=longest, doubts=0, unseen=0.0) if longest else task.patience
        self.kinds: dict[str, Kind] = {}  # cases of one kind may share a launch
        self.ending: set[str] = set()  # those that are known to end their job, at least now and then
        self.attempt = 1
        self.records: list[JobRecord] = []
        self.settled: set[str] = set()  # judged in this attempt
        self.again: dict[str, Verdict] = {}  # failed so far, may pass when retried
        self.hung = 0  # cases in a row that were thought to be slow and did not end
        self.folder = task.out / "logs" / task.target.slug
        self.spares = Spares(self)

    def suite_args(self) -> list[str]:
        """The options of the suite that do not differ between jobs."""
        options = self.options
        args = [f"--seed={options.seed}"]
        args += [f"--threads={options.threads}"] if options.threads != 1 else []
        args += [f"--repeat={options.repeat}"] if options.repeat != 1 else []
        args += ["--strict"] if options.strict else []
        return args

    def jobs(self, todo: Sequence[str]) -> None:
        """Run jobs until each of these cases is settled."""
        try:
            self._jobs(todo)
        finally:
            self.spares.discard()

    def _jobs(self, todo: Sequence[str]) -> None:
        fruitless = failed_launches = 0
        while todo := [case for case in todo if case not in self.settled]:
            if left_out := self.cases.enough(todo):
                self.judge([self.verdict(case, "skip", 0.0, {"reason": why}) for case, why in left_out.items()])
                continue
            before = len(self.settled)
            kind, some = self.batch(todo, 0)
            job = self.spares.take(some) or Job(self, some, own=bool(kind[0]))
            self.spares.expect(todo)
            try:
                why = job.run()
            except NoStart as error:
                self._check_disk()
                failed_launches += 1
                if failed_launches == self.patience.launches:
                    raise CannotRun(f"the launch failed: {error}") from None
                self.on_note(f"the launch failed and is tried once more: {error}")
                continue
            failed_launches = 0
            fruitless = fruitless + 1 if len(self.settled) == before else 0
            if why:
                self._check_disk()
            if fruitless == (1 if "lost" in self.expected(todo[0]) else self.patience.idle_jobs):
                jobs = "1 job" if fruitless == 1 else f"{fruitless} jobs"
                reason = f"{jobs} that began with this case gave no verdict: {why or 'complete'}"
                self.judge([self.verdict(todo[0], "lost", 0.0, {"reason": reason})])
                fruitless = 0

    def prepare(self, done: int) -> None:
        """Launch what will be needed next; the running job has done so many cases."""
        self.spares.prepare(done)

    def batch(self, todo: Sequence[str], begin: int) -> tuple[Kind, list[str]]:
        """The cases from `begin` on that may share a launch, and of which kind they are."""
        kind, some = next(itertools.groupby(itertools.islice(todo, begin, None), key=self.kinds.__getitem__))
        return kind, list(some)

    def ends_its_job(self, case: str) -> bool:
        """Whether this is known of it, at least now and then."""
        kind = self.kinds[case]
        return bool(kind[0] or kind[2]) or not ENDS.isdisjoint(self.expected(case))

    def damaged_by(self, case: str) -> str:
        """The defect by which this case and those that share its launch may damage processes, or ""."""
        return self.kinds[case][2]

    def verdict(self, case: str, status: str, seconds: float, extra: dict[str, Any]) -> Verdict:
        """A verdict with the fields that every line has."""
        required = self.cases.requirements(case)
        fields: dict[str, Any] = {"requirements": required, **extra} if required else extra
        return Verdict(case, self.target.name, status, seconds, fields)

    def judge(self, verdicts: list[Verdict]) -> None:
        """Write verdicts and tell of them, save those that are to be retried."""
        self.settled.update([verdict.case for verdict in verdicts])
        if self.attempt > 1:
            for verdict in verdicts:
                self._retried(verdict)
        final = verdicts
        if self.options.retries >= self.attempt:
            self.again.update((verdict.case, verdict) for verdict in verdicts if verdict.status in FAILED)
            final = [verdict for verdict in verdicts if verdict.status not in FAILED]
        if self.cases.repeat:
            for verdict in final:
                if verdict.status not in _FINE:
                    verdict.extra["repeat"] = self.cases.repeat(verdict.case)
        if self.cases.amend:
            final = [self.cases.amend(verdict) for verdict in final]
        if final:
            self.journal.append(final)
            self.on_verdicts(final)

    def _retried(self, verdict: Verdict) -> None:
        verdict.extra["attempts"] = self.attempt
        earlier = self.again.pop(verdict.case, None)
        if verdict.status == "pass" and earlier:
            verdict.status = "flaky"
            verdict.extra["ranks"] = earlier.extra.get("ranks", [])
            before = f"{earlier.status}: {earlier.extra.get('reason', 'no reason')}"
            verdict.extra["reason"] = f"passed on attempt {self.attempt}; before that {before}"

    def folders(self) -> list[Path]:
        """The directories of the jobs so far, oldest first."""
        return sorted(self.folder.glob("job-*"), key=lambda path: int(path.name[4:]))

    def new_folder(self) -> Path:
        """Make the directory of the next job."""
        folders = self.folders()
        path = self.folder / f"job-{int(folders[-1].name[4:]) + 1 if folders else 1:04}"
        with writing(path):
            path.mkdir(parents=True)
        return path

    def recover(self, wanted: set[str]) -> None:
        """Judge what the last job of a killed runner had finished and not yet written."""
        folders = [folder for folder in self.folders() if (folder / "go").exists()]  # others never ran a case
        if not folders:
            return
        last = folders[-1]
        try:
            job = json.loads((last / "job.json").read_bytes())
            plan = (last / "plan.txt").read_bytes()
        except (OSError, ValueError):
            return  # somebody has been there
        if job != {"target": self.target.name, "args": self.suite_args(), "attempt": 1}:
            return
        names = plan.decode("utf-8", "replace").splitlines()[1:]
        reader = Reader(self, last, names)
        try:
            recovered = 0
            for batch in reader.batches():
                if not reader.greeted() or reader.disagreement(xxhash.xxh3_64_hexdigest(plan)):
                    return
                verdicts = [verdict for verdict in batch if verdict.case in wanted]
                recovered += len(verdicts)
                self.judge(verdicts)
            if recovered:
                self.on_note(f"{recovered} verdicts recovered from {last.name}")
        finally:
            reader.close()

    def _check_disk(self) -> None:
        """After a job that nobody is to blame for: ranks that cannot log end themselves. Raises CannotRun."""
        free = os.statvfs(self.folder)
        if free.f_bavail * free.f_frsize < 64 * 1024:
            raise CannotRun(f"{self.folder}: the disk is full; make room, then `assay resume` goes on")
