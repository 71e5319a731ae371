"""Reads what libassay_recording.so wrote of a case (recording/README.md): the MPI calls of each rank, its buffers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

IS_FUNCTION = re.compile(r"_(function|fn|function_c|func)$")  # the type of a parameter
IS_OPERATION = re.compile(r"MPI_User_function(_c)?$")
IS_HANDLER = re.compile(r"_errhandler_(function|fn)$")


@dataclass(frozen=True)
class Argument:
    """One argument of a call, before it and after it."""

    name: str
    type: str  # without const and *: void, int, MPI_Request, …
    value: int | None = None  # of what is no pointer
    at: int | None = None  # of a pointer
    constant: bool = False  # what it points to is
    function: bool = False
    text: str | None = None
    values: Sequence[int] = ()  # that it points to, before the call
    low: int = 0  # where the bytes begin, relative to `at`
    bytes: str | None = None  # of a buffer, before the call, as hexadecimal digits
    values_after: Sequence[int] = ()
    bytes_after: str | None = None
    text_after: str | None = None
    statuses: Sequence[Mapping[str, Any]] = ()
    memory: int | None = None  # where memory begins that the call has given

    @property
    def pointer(self) -> bool:
        return self.at is not None


@dataclass(frozen=True)
class Memory:
    """A buffer of the case: what was put there, or (`expected`) what it had to hold, and did or did not."""

    at: int
    bytes: str
    expected: str | None = None

    @property
    def size(self) -> int:
        return len(self.bytes) // 2

    @property
    def wrong(self) -> bool:
        return self.expected is not None and self.expected != self.bytes


@dataclass
class Call:
    """One MPI call; `code` is None when it never returned."""

    name: str
    arguments: list[Argument]
    code: int | None = None
    error_class: int = 0
    memory: list[Memory] = field(default_factory=list)  # of earlier calls that this one has completed
    called: list[int] = field(default_factory=list)  # the error handlers that the library called in it, by address

    def argument(self, *names: str) -> Argument | None:
        """The first argument of one of these names."""
        return next((one for one in self.arguments if one.name in names), None)


@dataclass(frozen=True)
class Expected:
    """What the framework expects of a field of a status: source, tag, bytes, cancelled or error."""

    at: int
    part: str
    value: int


@dataclass(frozen=True)
class Finding:
    """A check of the case that did not hold."""

    text: str


@dataclass(frozen=True)
class Setting:
    """A control variable of the library gets a value."""

    name: str
    value: int


@dataclass(frozen=True)
class File:
    """A file: made with this content (None: it is not to be there), or (`expected`) looked at without MPI."""

    path: str
    bytes: str | None
    expected: str | None = None

    @property
    def wrong(self) -> bool:
        return self.expected is not None and self.expected != self.bytes


@dataclass(frozen=True)
class Limit:
    """No file of the process may become larger than this, in bytes; None: there is no limit any more."""

    size: int | None


@dataclass(frozen=True)
class Meet:
    """The processes of a communicator wait for each other."""

    comm: int


Event = Call | Memory | Expected | Finding | Setting | File | Limit | Meet


@dataclass
class Recording:
    """One rank's part of a case."""

    constants: dict[str, dict[str, int]] = field(default_factory=dict)  # type → name → value
    sizes: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    ended: bool = False  # whether the case came to its end
    threads: bool = False  # whether another thread than the first called MPI

    @property
    def handlers(self) -> list[int]:
        """The error handlers that calls are given, by address, in the order in which they first are."""
        given = (one.at for call in self.calls for one in call.arguments if IS_HANDLER.search(one.type))
        return list(dict.fromkeys(at for at in given if at))

    @property
    def calls(self) -> list[Call]:
        return [event for event in self.events if isinstance(event, Call)]

    def names(self, kind: str) -> dict[int, str]:
        """The constants of a type by value; of those that are the same the first."""
        found: dict[int, str] = {}
        for name, value in sorted(self.constants.get(kind, {}).items(), key=lambda one: _rank_of_name(one[0])):
            found.setdefault(value, name)
        return found


def _rank_of_name(name: str) -> tuple[bool, int, str]:
    """Of two names of one value the usual one comes first: null handles, then the short ones."""
    return not name.endswith("_NULL"), len(name), name


def read(path: Path) -> Recording:
    """The recording of one rank; what stands outside of the case (`case` to `end`) is left out."""
    made = Recording()
    inside = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            break  # the process died while it wrote this
        if "constants" in event:
            made.constants = {kind: dict(names) for kind, names in event["constants"].items()}
            made.sizes = dict(event["sizes"])
            continue
        what = event.get("event")
        if what == "case":
            inside = True
        elif what == "end":
            made.ended = True
            break
        if not inside:
            continue
        made.threads = made.threads or "thread" in event
        if "call" in event:
            made.events.append(Call(event["call"], [_argument(one) for one in event["arguments"]]))
        elif "returned" in event:
            _returned(made, event)
        elif what in ("content", "expected"):
            made.events.append(Memory(event["at"], event["bytes"], event.get("expected")))
        elif what == "status":
            part, value = event["text"].split()
            made.events.append(Expected(event["at"], part, int(value)))
        elif what == "finding":
            made.events.append(Finding(event["text"]))
        elif what == "setting":
            name, value = event["text"].split()
            made.events.append(Setting(name, int(value)))
        elif what == "file":
            made.events.append(File(event["text"], event.get("bytes"), event.get("expected")))
        elif what == "limit":
            made.events.append(Limit(None if event["text"] == "none" else int(event["text"])))
        elif what == "meet":
            made.events.append(
                Meet(int.from_bytes(bytes.fromhex(event["bytes"]), "little", signed=len(event["bytes"]) == 8))
            )
        elif what == "called" and made.calls and (call := made.calls[-1]).code is None:
            call.called.append(event["at"])
    return made


def _argument(one: Mapping[str, Any]) -> Argument:
    return Argument(
        one["name"],
        one["type"],
        one.get("value"),
        one.get("at"),
        bool(one.get("constant")),
        "function" in one,
        one.get("text"),
        one.get("values", ()),
        one.get("low", 0),
        one.get("bytes"),
    )


def _returned(made: Recording, event: Mapping[str, Any]) -> None:
    """Complete the newest call of this name that has not returned."""
    for call in reversed(made.events):
        if isinstance(call, Call) and call.name == event["returned"] and call.code is None:
            call.code, call.error_class = event["code"], event.get("class", 0)
            call.memory = [Memory(one["at"], one["bytes"]) for one in event.get("memory", ())]
            for k, one in enumerate(event["arguments"]):
                before = call.arguments[k]
                call.arguments[k] = Argument(
                    **{
                        **before.__dict__,
                        "values_after": one.get("values", ()),
                        "bytes_after": one.get("bytes"),
                        "text_after": one.get("text"),
                        "statuses": one.get("statuses", ()),
                        "memory": one.get("memory"),
                    }
                )
            return


def read_all(folder: Path, np: int) -> list[Recording]:
    """The recordings of all ranks, in order; an empty one for a rank that left none."""
    paths = [folder / f"rank-{rank}.recording" for rank in range(np)]
    return [read(path) if path.exists() else Recording() for path in paths]
