"""What was seen when a case failed: the one form in which known failures, defects and explanations compare failures.

A signature reads as `WHAT in CALL`: `data in MPI_Recv`, `SIGSEGV in MPI_Put`, `hang in MPI_Win_fence`.
WHAT is a kind of finding (framework/check/record.hpp), a signal, or one of the words below. A death outside of MPI is
`SIGSEGV after MPI_Recv`. Where no call is known, WHAT stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reports.evidence import objects

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
