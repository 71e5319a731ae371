"""From event logs to verdicts: what a finished case came to, and who is to blame when a job ended inside one.

Pure functions of what the ranks logged; runner.supervision.supervise watches the processes and calls them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runner.supervision.events import RankLog
from runner.supervision.stacks import readable

Entry = dict[str, Any]  # one element of "ranks", "advisory" or "waiting" in a line of cases.jsonl

_SHOWN = 20  # findings of one rank in one case that go into cases.jsonl; the event log has them all
_ORDERS = {"SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"}  # how launchers end ranks: says nothing about the rank
_DEFECTS = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"}  # no way to end a job in order
_NAMED = ("check", "requirements", "call", "where", "message", "thread")


@dataclass(frozen=True)
class Dead:
    """A rank that ended before it had done all its cases."""

    rank: int
    index: int  # the case it was in, -1: outside any
    time: int  # CLOCK_MONOTONIC in ns: of its X line, or of when the runner noticed
    first: bool  # noticed before any other death, and while the launcher was still there
    detail: Entry | None  # of its X line; None: it ended without a word


@dataclass(frozen=True)
class Blame:
    """The one case that is charged for the end of a job."""

    index: int
    status: str
    reason: str
    ranks: list[Entry]
    waiting: list[Entry] = field(default_factory=list)  # ranks that sat in the case without being to blame


class Merge:
    """Counts the ranks that ended each case of a job."""

    def __init__(self, cases: int, np: int) -> None:
        self.np = np
        self.missing = [np] * cases  # ranks that have not ended it
        self.longest = [0] * cases  # ns that the slowest rank so far spent in it

    def add(self, ended: Sequence[tuple[int, int]]) -> list[int]:
        """Add what RankLog.read gave; the cases that all ranks have now ended."""
        missing, longest = self.missing, self.longest
        complete = []
        for index, spent in ended:
            left = missing[index] - 1
            missing[index] = left
            if spent > longest[index]:
                longest[index] = spent
            if left == 0:
                complete.append(index)
        return complete


def findings(log: RankLog, index: int, strict: bool) -> tuple[list[Entry], list[Entry]]:
    """What a rank found in a case: (failures, advisories). A case that failed without a finding gives a bare entry."""
    failures: list[Entry] = []
    advisories: list[Entry] = []
    for finding in log.findings.get(index, ()):
        advisory = finding.get("level") == "advisory"
        entry: Entry = {"rank": log.rank, "status": "fail"}
        entry.update((name, finding[name]) for name in _NAMED if finding.get(name) not in (None, "", []))
        (advisories if advisory and not strict else failures).append(entry)
    for entries in (failures, advisories):
        if len(entries) > _SHOWN:
            message = f"{len(entries) - _SHOWN} more findings are in {log.path.name}"
            entries[_SHOWN:] = [{"rank": log.rank, "status": "fail", "message": message}]
    if log.outcomes.get(index) == "f" and not failures:
        failures.append({"rank": log.rank, "status": "fail"})
    return failures, advisories


def finished(logs: Iterable[RankLog], index: int, strict: bool) -> tuple[str, dict[str, Any]]:
    """Status and optional fields of a case that all ranks ended and of which some said something unusual."""
    failures: list[Entry] = []
    advisories: list[Entry] = []
    letters = set()
    reasons: dict[str, str] = {}
    for log in logs:
        some, more = findings(log, index, strict)
        failures += some
        advisories += more
        letter = log.outcomes.get(index, "p")
        letters.add(letter)
        reasons.setdefault(letter, log.reasons.get(index, ""))
    extra: dict[str, Any] = {}
    if failures:
        extra["ranks"] = failures
        extra["reason"] = summary(failures)
    if advisories:
        extra["advisory"] = advisories
    if failures:
        return "fail", extra
    if "u" in letters or "s" in letters:
        letter = "u" if "u" in letters else "s"
        extra["reason"] = reasons[letter]
        return ("unsupported" if letter == "u" else "skip"), extra
    if letters == {"-"}:
        extra["reason"] = "no rank is a member of the communicator"
        return "skip", extra
    return "pass", extra


def ended(logs: Sequence[RankLog], code: int | None, strict: bool) -> tuple[str, dict[str, Any]]:
    """Status and optional fields of a case that said that the job has to end, and all of whose processes are gone.

    `code` is what the launcher ended with, if it did so by itself: only advice says what it should be.
    """
    failures = [entry for log in logs for entry in findings(log, 0, strict)[0]]
    advisories = [entry for log in logs for entry in findings(log, 0, strict)[1]]
    entries: list[Entry] = [
        {"rank": log.rank, "status": "crash", **_with_readable_stack(log.death.detail)}
        for log in logs
        if log.death and log.death.detail.get("signal") in _DEFECTS
    ]
    if excused := traps(logs, entries, 0, strict):
        advisories += excused
    elif entries:
        return "crash", {"ranks": entries + failures, "reason": f"{_ends(entries)}, where the job had to end in order"}
    wanted = next((log for log in logs if log.exit_wanted is not None), None)
    if wanted and code is not None and code != wanted.exit_wanted:
        message = f"the launcher ended with exit code {code}, MPI_Abort was given {wanted.exit_wanted}"
        entry: Entry = {"rank": wanted.rank, "status": "fail", "check": "end", "message": message}
        (failures if strict else advisories).append(entry)
    extra: dict[str, Any] = {"ranks": failures, "reason": summary(failures)} if failures else {}
    if advisories:
        extra["advisory"] = advisories
    return "fail" if failures else "pass", extra


def charged(logs: Sequence[RankLog], blame: Blame, strict: bool) -> tuple[str, dict[str, Any]]:
    """Status and optional fields of the case that is charged for the end of a job."""
    if blame.status == "crash" and (excused := traps(logs, blame.ranks, blame.index, strict)):
        status, extra = finished(logs, blame.index, strict)
        return status, {**extra, "advisory": excused + extra.get("advisory", [])}
    extra = {"ranks": blame.ranks, "reason": blame.reason}
    if blame.waiting:
        extra["waiting"] = blame.waiting
    return blame.status, extra


def traps(logs: Iterable[RankLog], deaths: Sequence[Entry], index: int, strict: bool) -> list[Entry]:
    """The deaths of ranks in a case as advisories, if all are traps after calls that the case had called erroneous.

    A library may be unable to handle what generates a trap (MPI-5.0 section 9.3). What ends the process by exit() or
    abort() was noticed, and the error handler then says what comes of it.
    """
    told = {log.rank for log in logs if log.erroneous == index}
    if strict or not all(entry["rank"] in told and entry.get("signal") in _DEFECTS for entry in deaths):
        return []
    return [{**entry, "message": "a trap after an erroneous call, which need not be handled"} for entry in deaths]


def summary(failures: Sequence[Entry]) -> str:
    """One line about the first of some failures."""
    first = failures[0]
    lines = str(first.get("message", "")).splitlines()
    others = {entry["rank"] for entry in failures} - {first["rank"]}
    also = f" (also on {_ranks(others)})" if others else ""
    return f"rank {first['rank']}: {lines[0] if lines else 'failed'}{also}"


def crashed(
    dead: Sequence[Dead], np: int, launcher_killed_at: int | None, said: Sequence[tuple[int, int, str]] = ()
) -> Blame | None:
    """Who is to blame when ranks died; None when nobody is (the launcher was killed, or all died without a word).

    A rank with a signal of its own, or that exited, is a culprit; one that was ended by SIGTERM or SIGKILL or without
    a word was most likely ended by the launcher. Of several culprits those in the earliest case are to blame.
    `said` is what ranks wrote to standard error within their last case: (rank, case, text).
    """
    own = sorted((one for one in dead if _own_end(one)), key=lambda one: one.time)
    if own:
        own.insert(0, own.pop(own.index(_who_aborted(own, {rank for rank, _, _ in said}))))
    # Libraries answer the loss of a peer or of the launcher by exit or abort: who did so after that is a victim.
    culprits = [
        one
        for one in own
        if not _exit_or_abort(one) or (one is own[0] and (launcher_killed_at is None or one.time < launcher_killed_at))
    ]
    if not culprits and launcher_killed_at is None:
        # Killed from outside, or by the kernel for want of memory: the first to go while others went on.
        first = [one for one in dead if one.first]
        unasked = [one for one in first if one.detail is None or one.detail.get("signal") == "SIGKILL"] or first
        culprits = unasked if len(unasked) < np else []
    culprits = [one for one in culprits if one.index >= 0]
    if not culprits:
        return None
    index = min(one.index for one in culprits)
    entries = [_death_entry(one) for one in culprits if one.index == index]
    return Blame(index, "crash", _ends(entries), entries)


def last_speakers(dead: Sequence[Dead], said: Sequence[tuple[int, int, str]]) -> Blame | None:
    """Who is to blame when no culprit logged how it died, as the launcher killed all ranks at once, as some do when
    the library aborts: the ranks that wrote to standard error within their last case, if that is the same one. Who left
    by exit or abort in a later case, and wrote nothing, had been told to. `said` is (rank, case, text).
    """
    if len({index for _, index, _ in said}) != 1:
        return None
    if any(_own_end(one) and not (_exit_or_abort(one) and one.index > said[0][1]) for one in dead):
        return None
    entries: list[Entry] = [{"rank": rank, "status": "crash", "message": text} for rank, _, text in said]
    words = (f"rank {rank}: ended after it wrote: {text.splitlines()[-1].strip()}" for rank, _, text in said)
    return Blame(said[0][1], "crash", "; ".join(words), entries)


def death_words(entry: Entry) -> str:
    """How a rank died, in words."""
    call = f" in {entry['call']}" if entry.get("call") and entry.get("in_mpi", True) else ""
    if "signal" in entry:
        return f"{entry['signal']}{call}"
    if "exit" in entry:
        code = entry["exit"]  # None: seen from within, where exit() does not tell
        return f"exit({'' if code is None else code}){call}"
    return "ended without a word"


def _ends(entries: Iterable[Entry]) -> str:
    return "; ".join(f"rank {entry['rank']}: {death_words(entry)}" for entry in entries)


def stuck(logs: Sequence[RankLog], alive: Iterable[int], index: int, spent: str) -> Blame:
    """Who is to blame for a case that did not end: asked for their stacks, `alive` ranks answered or did not.

    First those that gave no answer (stopped), then those that are not in MPI, else all that have not ended the case.
    `spent` says how much time it took.
    """
    inside = [log for log in logs if log.rank in set(alive) and log.position == index and not log.done]
    silent = [log for log in inside if log.answer is None]
    outside = [log for log in inside if log.answer is not None and not log.answer.get("in_mpi", True)]
    blamed = silent or outside or inside
    entries = [_stack_entry(log, "timeout") for log in blamed]
    waiting = [_stack_entry(log, "") for log in logs if log not in blamed and log.answer is not None]
    words = []
    for log in blamed:
        if log.answer is None:
            words.append(f"rank {log.rank} gives no answer (stopped, or blocked in the kernel)")
        elif log.answer.get("call"):
            place = "in" if log.answer.get("in_mpi", True) else "after"
            words.append(f"rank {log.rank} is {place} {log.answer['call']}")
        else:
            words.append(f"rank {log.rank} is not in MPI")
    failures = [entry for log in logs for entry in findings(log, index, strict=False)[0]]
    return Blame(index, "timeout", f"no end after {spent}: {', '.join(words)}", entries + failures, waiting)


def refused(logs: Sequence[RankLog], index: int, strict: bool) -> Blame:
    """A case that some ranks ended with an error while others still sit in it."""
    failures = [entry for log in logs for entry in findings(log, index, strict)[0]]
    inside = [log for log in logs if log.position == index and not log.done]
    waiting = [_stack_entry(log, "") for log in inside]
    left = _ranks(log.rank for log in inside)
    return Blame(index, "fail", f"{summary(failures)}; {left} waited in vain", failures, waiting)


def _who_aborted(own: Sequence[Dead], spoke: set[int]) -> Dead:
    """The first to end, unless it left without a word and another left the same case with the same exit code and said
    why: a library that aborts may tell the other ranks before its own process ends.
    """
    first = own[0]
    if not first.detail or "exit" not in first.detail or first.rank in spoke:
        return first
    same = (first.index, first.detail["exit"])
    also = [one for one in own if one.rank in spoke and one.detail and (one.index, one.detail.get("exit")) == same]
    return also[0] if also else first


def _own_end(one: Dead) -> bool:
    return one.detail is not None and one.detail.get("signal") not in _ORDERS


def _exit_or_abort(one: Dead) -> bool:
    return one.detail is not None and ("exit" in one.detail or one.detail.get("signal") == "SIGABRT")


def _death_entry(one: Dead) -> Entry:
    detail = one.detail or {"message": "ended without a word while others ran on: killed, or out of memory"}
    return {"rank": one.rank, "status": "exit" if "exit" in detail else "crash", **_with_readable_stack(detail)}


def _stack_entry(log: RankLog, status: str) -> Entry:
    entry: Entry = {"rank": log.rank}
    if status:
        entry["status"] = status
    if log.answer is None:
        entry["message"] = "gave no answer to SIGUSR2: stopped, or blocked in the kernel"
    return entry | _with_readable_stack(log.answer or {})


def _with_readable_stack(said: Mapping[str, Any]) -> Entry:
    return {**said, "stack": readable(said["stack"])} if "stack" in said else dict(said)


def _ranks(ranks: Iterable[int]) -> str:
    numbers = sorted(ranks)
    return f"rank{'s' if len(numbers) != 1 else ''} {', '.join(map(str, numbers))}"
