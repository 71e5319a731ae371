"""What the wrong library answered otherwise than it should have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from runner.explaining.recording import Argument, Call, Event, Expected, Finding, Memory, Recording
from runner.explaining.vocabulary import ASKS, HANDLES, NONBLOCKING, POLLS, SETS_HANDLER, symbol

NOT = "!"  # before a value that an answer must not have, where nothing says which it must have
Answer = tuple[str, str, int]  # parameter ("": the code that the call returned), part of it, index in an array


class Answers:
    """Compares two recordings of one rank: `right` says what should be. It may be the wrong one itself."""

    def __init__(self, right: Recording, wrong: Recording, memory: bool = False) -> None:
        """`memory`: also of what calls have completed, where no check of the case is about it."""
        self.right, self.wrong, self.memory = right, wrong, memory
        self.events = _polled(right.events)
        self.seen = _seen(_polled(wrong.events), self.events)  # index of an event → the same of the wrong library
        self.claims: dict[tuple[int, str, str, int], int | str] = {}  # what is right, by call and answer
        self._told = _told(self.events, right) if right is wrong else {}  # what findings say of answers, by call
        self._compared: dict[int, list[Answer]] = {}
        self._of_statuses = _of_statuses(self.events, right.sizes.get("MPI_Status", 24))

    def differences(self, right: Call, wrong: Event | None) -> list[Answer]:
        if id(right) not in self._compared:
            self._compared[id(right)] = self._compare(right, wrong)
        return self._compared[id(right)]

    def _compare(self, right: Call, wrong: Event | None) -> list[Answer]:
        """What the wrong library answered otherwise: (name of the argument, of its part, index), "" for the code."""
        if self.right is self.wrong:
            return [*self._wrong_statuses(right, right), *self._claimed(right)]
        if not isinstance(wrong, Call):
            return []
        found: list[Answer] = []
        if wrong.code is not None and self.class_of(right, self.right) != self.class_of(wrong, self.wrong):
            found.append(("", "", 0))
        called, by_wrong = _called(right, self.right), _called(wrong, self.wrong)
        found += [("", "called", k) for k in sorted(called | by_wrong) if called[k] != by_wrong[k]]
        if right.code != 0 or wrong.code != 0:
            return found
        found += self._wrong_statuses(right, wrong)
        if self.memory:
            pairs = enumerate(zip(right.memory, wrong.memory, strict=False))
            found += [
                ("", "memory", k) for k, (one, other) in pairs if one.bytes != other.bytes and one.size == other.size
            ]
        is_full = _is_full(right)
        for one, other in zip(right.arguments, wrong.arguments, strict=False):
            if one.constant or not one.pointer:
                continue
            if one.type in ("int", "MPI_Count", "MPI_Aint", "MPI_Offset"):
                for index, (ours, theirs) in enumerate(zip(one.values_after, other.values_after, strict=False)):
                    if symbol(one.name, ours, self.right) != symbol(one.name, theirs, self.wrong):
                        found.append((one.name, "", index))
            elif one.type in HANDLES:
                nulls = [name for name in self.right.constants.get(one.type, {}) if "NULL" in name or "NO_PROC" in name]
                for index, (ours, theirs) in enumerate(zip(one.values_after, other.values_after, strict=False)):
                    named = [
                        next((name for name in nulls if made.constants[one.type].get(name) == value), "")
                        for value, made in ((ours, self.right), (theirs, self.wrong))
                    ]
                    if named[0] != named[1]:
                        found.append((one.name, "handle", index))
            elif one.type == "char" and one.text_after != other.text_after:
                found.append((one.name, "text", 0))
            elif one.type == "void" and one.bytes_after != other.bytes_after and is_full and not self.checked(one):
                found.append((one.name, "bytes", 0))
        return found

    def _wrong_statuses(self, right: Call, wrong: Call) -> list[Answer]:
        found: list[Answer] = []
        for name, index, part, value in self._of_statuses.get(id(right), ()):
            one = wrong.argument(name)
            if one is None or index >= len(one.statuses):
                continue
            expected = str(symbol(part, value, self.right))
            if str(symbol(part, int(one.statuses[index][part]), self.wrong)) != expected:
                found.append((name, part, index))
                self.claims[(id(right), name, part, index)] = symbol(part, value, self.right)
        return list(dict.fromkeys(found))

    def _claimed(self, call: Call) -> list[Answer]:
        """The same where there is only the wrong library: what findings say of the answers of this call."""
        found = self._told.get(id(call), [])
        self.claims.update({(id(call), *place): right for place, right in found})
        return list(dict.fromkeys(place for place, _ in found))

    def checked(self, one: Argument) -> bool:
        """Whether the framework itself says what this buffer has to hold."""
        return any(
            isinstance(event, Memory)
            and event.expected is not None
            and one.at is not None
            and event.at <= one.at < event.at + max(event.size, 1)
            for event in self.events
        )

    def class_of(self, call: Call, made: Recording) -> str:
        if not call.code:
            return "MPI_SUCCESS"
        errors = {value: name for name, value in made.constants.get("int", {}).items() if name.startswith("MPI_ERR_")}
        return errors.get(call.error_class, str(call.error_class))

    def blamed(self) -> set[str]:
        """The calls that the findings are about: the ones before them in the recording of the wrong library."""
        names: set[str] = set()
        last: Call | None = None
        for event in self.wrong.events:
            if isinstance(event, Call):
                last = event
                if event.code is None:
                    names.add(event.name)
            elif isinstance(event, Finding) and last is not None:
                names.add(last.name)
        return names

    def unused_questions(self) -> set[int]:
        """Questions on whose answers nothing depends, and that the wrong library answers no differently."""
        unused: set[int] = set()
        needed: set[tuple[str, int]] = set()
        for k in range(len(self.events) - 1, -1, -1):
            event = self.events[k]
            if not isinstance(event, Call):
                continue
            made = {(one.type, value) for one in event.arguments for value in one.values_after if one.type in HANDLES}
            seen = self.seen.get(k)
            died = isinstance(seen, Call) and seen.code is None  # in this call
            if ASKS.match(event.name) and not (died or made & needed or self.differences(event, seen)):
                unused.add(k)
                continue
            needed |= {
                (one.type, one.value) for one in event.arguments if one.type in HANDLES and one.value is not None
            }
            needed |= {(one.type, value) for one in event.arguments if one.type in HANDLES for value in one.values}
        return unused


def _is_full(call: Call) -> bool:
    """Whether what a call receives is there when it returns."""
    return not (NONBLOCKING.match(call.name) or call.argument("win") or "attach" in call.name)


def _called(call: Call, made: Recording) -> Counter[int]:
    """How often a call called each error handler, by its place among them."""
    if not call.called:
        return Counter()
    handlers = made.handlers
    return Counter(handlers.index(at) for at in call.called if at in handlers)


def _of_statuses(events: Sequence[Event], size: int) -> dict[int, list[tuple[str, int, str, int]]]:
    """For each call what is expected of its statuses: (parameter, index, field, value)."""
    found: dict[int, list[tuple[str, int, str, int]]] = {}
    calls: list[Call] = []
    for event in events:
        if isinstance(event, Call):
            calls.append(event)
        elif isinstance(event, Expected):
            for call in reversed(calls):
                place = _status_at(call, event.at, size)
                if place is not None:
                    found.setdefault(id(call), []).append((*place, event.part, event.value))
                    break
    return found


def _status_at(call: Call, address: int, size: int) -> tuple[str, int] | None:
    """Which status of a call lies at this address."""
    for one in call.arguments:
        if one.type == "MPI_Status" and one.at and not one.constant and one.statuses and address >= one.at:
            index, rest = divmod(address - one.at, size)
            if rest == 0 and index < len(one.statuses):
                return one.name, index
    return None


_OF_CLASS = re.compile(r"\bclass (\d+), expected (MPI_ERR_\w+|MPI_SUCCESS)")
_SAYS = re.compile(
    r"(?:gives?|is|are|says?|was set to|returned|became)\s(?:\w+\s)?(-?\d+|MPI_\w+)\b.*?"
    r"expected (?:\w+ )?(-?\d+|MPI_\w+)"
)


def _claim(text: str, call: Call, symbol: Callable[[str, int], str]) -> tuple[tuple[str, str, int] | None, int | str]:
    """Which answer of a call a finding is about, and what is right: "index is 1, expected 0"."""
    text = text.split("\n")[0]
    if text.startswith(f"{call.name} returned ") and call.code:
        return ("", "", 0), "MPI_SUCCESS"
    if of_class := _OF_CLASS.search(text):
        fits = int(of_class[1]) == (call.error_class if call.code else 0)
        about = fits and not ASKS.match(call.name) and not SETS_HANDLER.match(call.name)
        return (("", "", 0), of_class[2]) if about else (None, 0)
    named = re.findall(r"\bMPI_[A-Z][a-z]\w*", text)
    if named and not {call.name, call.name.removesuffix("_c")} & set(named):
        return None, 0
    if found := _SAYS.search(text):
        says, claimed = (word if word.startswith("MPI_") else int(word) for word in found.groups())
        for one in call.arguments:
            if one.constant or one.type not in ("int", "MPI_Count", "MPI_Aint", "MPI_Offset"):
                continue
            if not named and one.name not in text and one.name != "flag":
                continue
            for index, value in enumerate(one.values_after):
                if says in (value, symbol(one.name, value)):
                    return (one.name, "", index), symbol(one.name, claimed) if isinstance(claimed, int) else claimed
    elif "expected" not in text:  # it only says that a number is wrong
        words = re.findall(r"-?\b\d+\b|\bMPI_[A-Z_]+\b", text)
        for one in call.arguments:
            if one.constant or one.type != "int" or (not named and "flag" in one.name):
                continue
            for index, value in enumerate(one.values_after):
                if {str(value), symbol(one.name, value)} & set(words):
                    return (one.name, "", index), f"{NOT}{symbol(one.name, value)}"
    return None, 0


def _told(events: Sequence[Event], right: Recording) -> dict[int, list[tuple[Answer, int | str]]]:
    """For each call the answers that findings are about, and what is right. A finding is about the latest that fits."""
    found: dict[int, list[tuple[Answer, int | str]]] = {}
    last: list[Call] = []
    for event in events:
        if isinstance(event, Call):
            last = [*last, event][-8:]
        elif isinstance(event, Finding):
            for call in reversed(last):
                place, value = _claim(event.text, call, lambda name, number: str(symbol(name, number, right)))
                if place is not None:
                    found.setdefault(id(call), []).append((place, value))
                    break
    return found


def _polled(events: Sequence[Event]) -> list[Event]:
    """A question that is asked again and again counts once: with its last answer."""
    found: list[Event] = []
    for event in events:
        before = found[-1] if found else None
        if (
            isinstance(event, Call)
            and isinstance(before, Call)
            and POLLS.match(event.name)
            and event.name == before.name
            and (flag := before.argument("flag", "outcount"))
            and not any(flag.values_after)
            and [one.values for one in event.arguments if one.type == "MPI_Request"]
            == [one.values for one in before.arguments if one.type == "MPI_Request"]
        ):
            found[-1] = event
        else:
            found.append(event)
    return found


def _seen(wrong: Sequence[Event], right: Sequence[Event]) -> dict[int, Event]:
    """For each event of the right recording the one of the wrong recording, as far as both do the same."""
    found: dict[int, Event] = {}
    others = iter([event for event in wrong if not isinstance(event, Finding)])
    for k, event in enumerate(right):
        if isinstance(event, Finding):
            continue
        other = next(others, None)
        if other is None or type(other) is not type(event):
            break
        if isinstance(event, Call) and isinstance(other, Call) and event.name != other.name:
            break
        found[k] = other
    return found
