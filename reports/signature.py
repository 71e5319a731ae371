"""What was seen when a case failed: the one form in which known failures, defects and explanations compare failures.

A signature reads as `WHAT in CALL`: `data in MPI_Recv`, `SIGSEGV in MPI_Put`, `hang in MPI_Win_fence`.
WHAT is a kind of finding (framework/check/record.hpp), a signal, or one of the words below. A death outside of MPI is
`SIGSEGV after MPI_Recv`. Where no call is known, WHAT stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from reports.evidence import objects
from reports.globs import expand, translate

HANG = "hang"  # no end in time
EXIT = "exit"  # the process called exit
KILLED = "killed"  # it ended without a word, as when a launcher ends all ranks at once
LOST = "lost"  # the case could not be judged
FAIL = "fail"  # it failed without a finding
_MORE = re.compile(r"\d+ more findings are in ")  # runner.supervision.judge: what did not go into cases.jsonl
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


@dataclass(frozen=True, order=True)
class Signature:
    """What one rank saw. Two signatures are the same when all but the message is.

    `status` is how the case ends by it: fail, crash, timeout or lost. `requirement` is the first that a finding rests
    on. `site` is the place in the suite where a check failed, or the innermost function of a dead or stuck rank.
    """

    status: str
    what: str
    call: str = ""  # the MPI procedure, "" where none is known
    outside: bool = False  # a death after that call had returned
    requirement: str = ""
    site: str = ""
    message: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.what} {'after' if self.outside else 'in'} {self.call}" if self.call else self.what


def signatures(record: Mapping[str, Any]) -> list[Signature]:
    """What the ranks of a failed case saw: each signature once, with the message of the first rank that has it.

    `record` is a line of cases.jsonl, or its fields `status`, `ranks`, `reason` and, where known failures have changed
    the status, `found`. A case that passed, was skipped or is unsupported has none.
    """
    status = str(record.get("found") or record.get("status"))
    if status not in ("fail", "crash", "timeout", "lost"):
        return []
    seen = dict.fromkeys(_of_rank(entry) for entry in objects(record.get("ranks")) if not _is_rest(entry))
    return [*seen] or [Signature(status, LOST if status == "lost" else FAIL, message=str(record.get("reason") or ""))]


def main_signature(record: Mapping[str, Any]) -> Signature | None:
    """The one that says most about a failed case: a death before a hang before a finding; None where nothing failed.

    Of several the first: findings of a rank stand in the order in which it made them.
    """
    order = ("crash", "timeout", "fail", "lost")
    return min(signatures(record), key=lambda one: order.index(one.status), default=None)


def innermost(stack: object) -> str:
    """The function of the innermost frame of a stack, without its offset; "" without a stack."""
    frames = [str(frame) for frame in stack] if isinstance(stack, list) else []
    return _OFFSET.sub("", frames[0].partition(" ")[0]) if frames else ""


def _is_rest(entry: Mapping[str, Any]) -> bool:
    return "check" not in entry and bool(_MORE.match(str(entry.get("message", ""))))


def _of_rank(entry: Mapping[str, Any]) -> Signature:
    kind, call, message = entry.get("status"), str(entry.get("call") or ""), str(entry.get("message") or "")
    if kind == "timeout":
        return Signature("timeout", HANG, call, site=innermost(entry.get("stack")), message=message)
    if kind in ("crash", "exit"):
        what = str(entry.get("signal") or "") or (EXIT if kind == "exit" else KILLED)
        outside = not entry.get("in_mpi", True)
        return Signature("crash", what, call, outside, site=innermost(entry.get("stack")), message=message)
    requirement = next(iter(_texts(entry.get("requirements"))), "")
    check, where = str(entry.get("check") or FAIL), str(entry.get("where") or "")
    return Signature("fail", check, call, False, requirement, where, message)


def _texts(value: object) -> Iterable[str]:
    return map(str, value) if isinstance(value, list) else ()


# The kinds of finding, as framework/check/record.hpp lists them; a test compares the two.
CHECKS = frozenset(
    str.split(
        "data gap guard source tag count cancelled error return request order value info window file position leftover "
        "fd stderr end"
    )
)
_SIGNAL = re.compile(r"SIG[A-Z0-9]+")
# The calls by which a program waits for requests. In which of them a rank is found that waits for ever is a matter of
# the moment and of the way of waiting that the case names, not of the defect.
_WAITING = tuple(
    str.split(
        "MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome "
        "MPI_Request_get_status MPI_Request_get_status_all MPI_Request_get_status_any MPI_Request_get_status_some "
        "MPI_Parrived"
    )
)
_PATTERN = re.compile(r"(?P<what>\S+?)(?: (?P<place>in|after) (?P<call>\S+?))?(?:: (?P<message>.+))?")


@dataclass(frozen=True)
class Pattern:
    """What a known failure looks like: `{data,gap} in MPI_Wait*`, `SIGSEGV in MPI_Put`, `error in MPI_Recv: class 15`.

    WHAT and CALL are globs with braces, and fit as a whole; the message is a glob that some part of a message fits.
    A hang in one call that waits for requests is a hang in any of them.
    """

    text: str
    what: str
    call: str
    outside: bool
    message: str

    @property
    def statuses(self) -> frozenset[str]:
        """How a case ends that looks so."""
        return frozenset(map(_status_of, expand(self.what)))

    def fits(self, signature: Signature) -> bool:
        """Whether a rank that saw this saw what is known."""
        return (
            self.outside == signature.outside
            and bool(_compiled(self.what).match(signature.what))
            and any(_compiled(self.call).match(call) for call in _same_calls(signature))
            and (not self.message or bool(_compiled(f"*{self.message}*").match(signature.message)))
        )


def pattern(text: str) -> Pattern:
    """Reads a pattern. Raises ValueError with what is wrong."""
    found = _PATTERN.fullmatch(text)
    if not found:
        raise ValueError("write WHAT in CALL, or WHAT in CALL: MESSAGE")
    for word in expand(found["what"]):
        if not (word in CHECKS or word in (HANG, EXIT, KILLED, LOST, FAIL) or _SIGNAL.fullmatch(word)):
            raise ValueError(
                f"{word!r} is no kind of finding ({' '.join(sorted(CHECKS))}), no signal, "
                f"and none of {HANG} {EXIT} {KILLED} {LOST} {FAIL}"
            )
    call = found["call"] or ""
    if call and not (translate(call) and all(re.match(r"MPI_|fi_|ucp_", word) for word in expand(call))):
        raise ValueError(f"{call!r} can be no call; a call begins with MPI_, fi_ or ucp_")
    return Pattern(text, found["what"], call, found["place"] == "after", found["message"] or "")


def _same_calls(signature: Signature) -> tuple[str, ...]:
    """The call of a signature, and those that say the same."""
    return _WAITING if signature.what == HANG and signature.call in _WAITING else (signature.call,)


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def _status_of(what: str) -> str:
    if what in (HANG, LOST):
        return {HANG: "timeout", LOST: "lost"}[what]
    return "crash" if what in (EXIT, KILLED) or _SIGNAL.fullmatch(what) else "fail"
