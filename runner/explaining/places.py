"""Where things are in a program: the names of its buffers, variables and files, and which handle a variable holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from runner.explaining.blocks import Block, find_blocks
from runner.explaining.recording import Argument, Call, Event, Recording
from runner.explaining.vocabulary import HANDLES, INTS, POLLS, CannotWrite, RankProgram, symbol


class Places:
    """The names of one rank's program. An address of a recording has one name, a handle the variable that holds it."""

    def __init__(self, right: Recording, events: Sequence[Event]) -> None:
        self.right, self.events = right, events
        self.made = RankProgram()
        self.constants = {kind: right.names(kind) for kind in right.constants}
        self.handles: dict[tuple[str, int], str] = {}  # (type, value) → where it is
        self.variables: dict[tuple[str, int], str] = {}  # (type, address) → name
        self.arrays: list[tuple[str, int, int, str]] = []  # of requests: (type, address, number, name)
        self.content: dict[str, tuple[str, int]] = {}  # variable → the handle that it holds
        self.counters: dict[str, int] = {}
        self.files: dict[str, str] = {}  # path → name
        self.blocks = find_blocks(self.events)
        self._name_blocks(self.blocks)

    def _name_blocks(self, blocks: list[Block]) -> None:
        uses: dict[int, set[str]] = {}
        kinds: dict[int, set[str]] = {}
        order: list[int] = []
        for call in (event for event in self.events if isinstance(event, Call)):
            types = [
                self.constants.get("MPI_Datatype", {}).get(one.value, "")
                for one in call.arguments
                if one.type == "MPI_Datatype" and one.value is not None
            ]
            for one in call.arguments:
                if one.type != "void" or not one.at:
                    continue
                found = next(
                    (k for k, block in enumerate(blocks) if block.begin <= one.at < max(block.end, block.begin + 1)),
                    None,
                )
                if found is None:
                    continue
                if found not in order:
                    order.append(found)
                if "Win_create" in call.name:
                    uses.setdefault(found, set()).add("window")
                uses.setdefault(found, set()).add("sent" if one.constant else "received")
                kinds.setdefault(found, set()).update(types or [""])
        for found in [*order, *(k for k in range(len(blocks)) if k not in order)]:
            block, used = blocks[found], uses.get(found, set())
            name = "window" if "window" in used or block.given else "data" if len(used) != 1 else next(iter(used))
            block.name = self._new(name)
            kind = kinds.get(found, set())
            size = block.end - block.begin
            if len(kind) == 1 and (element := INTS.get(next(iter(kind)))) and size % element[1] == 0:
                block.element = element
            if block.given:
                self.made.declared[block.name] = ("unsigned char*", 0)
            elif found in order:
                self.made.blocks[block.name] = (*block.element, size // block.element[1])

    def _block_at(self, address: int) -> Block | None:
        return next((one for one in self.blocks if one.begin <= address < one.end), None) or next(
            (one for one in self.blocks if one.end == address), None
        )

    def _place(self, address: int) -> str:
        block = self._block_at(address)
        if block is None:
            raise CannotWrite("a buffer lies where the recording does not say what is there")
        offset = address - block.begin
        if offset == 0:
            return block.name
        if offset % block.element[1] == 0:
            return f"{block.name} + {offset // block.element[1]}"
        return f"(char*){block.name} + {offset}"

    def _file_name(self, path: str) -> str:
        """A file of the case, as it is named in the program: where it runs."""
        if path not in self.files:
            self.files[path] = f"show{len(self.files) + 1 if self.files else ''}.data"
        return self.files[path]

    def symbol(self, name: str, value: int) -> int | str:
        return symbol(name, value, self.right)

    def _marker(self, one: Argument) -> str:
        """The constant that stands for an address here, such as MPI_IN_PLACE; several may have one value."""
        kinds: Mapping[str, Sequence[str]] = {
            "MPI_Status": ("MPI_STATUSES_IGNORE",) if one.name == "array_of_statuses" else ("MPI_STATUS_IGNORE",),
            "int": ("MPI_ERRCODES_IGNORE",) if "errcode" in one.name else ("MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"),
            "char": ("MPI_ARGV_NULL", "MPI_ARGVS_NULL"),
            "void": ("MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC", "MPI_BOTTOM"),
        }
        values = self.right.constants.get("pointer", {})
        names = [name for name in kinds.get(one.type, ()) if values.get(name) == one.at]
        return "" if not names or (names[0] == "MPI_BOTTOM" and one.at == 0) else names[0]

    def _function(self, handler: int) -> str:
        place = self.right.handlers.index(handler)
        return f"handle{place + 1}" if place else "handle"

    def _handle(self, kind: str, value: int, call: Call) -> str:
        if name := self.handles.get((kind, value)):
            return name
        if constant := self.constants.get(kind, {}).get(value):
            return constant
        raise CannotWrite(f"{call.name} is given a handle that the recording does not know ({kind})")

    def _hold(self, kind: str, place: str, value: int | None) -> None:
        """From now on this variable has this value; the object that it named before is gone, or has another name."""
        before = self.content.pop(place, None)
        if before is not None and before[1] != value and self.handles.get(before) == place:
            del self.handles[before]
            for other, held in self.content.items():
                if held == before:
                    self.handles[before] = other
        if value is not None:
            self.content[place] = (kind, value)
            if value not in self.constants.get(kind, {}):
                self.handles[(kind, value)] = place

    def _there(self, kind: str, address: int) -> str:
        """The variable that was made for this address, if there is one."""
        array, index = self._array_at(kind, address)
        return f"{array}[{index}]" if array else self.variables.get((kind, address), "")

    def _array_at(self, kind: str, address: int) -> tuple[str, int]:
        size = self.right.sizes.get(kind, 8)
        for known, begin, number, name in self.arrays:
            if known == kind and begin <= address < begin + number * size:
                return name, (address - begin) // size
        return "", 0

    def _variable(self, kind: str, address: int, call: Call) -> str:
        """The variable at this address, which is a place in an array where a later call takes it as one."""
        size = self.right.sizes.get(kind, 8)
        array, index = self._array_at(kind, address)
        if not array:
            for other in (event for event in self.events if isinstance(event, Call)):
                for one in other.arguments:
                    if (
                        one.type == kind
                        and one.at is not None
                        and len(one.values) > 1
                        and not one.constant
                        and one.at <= address < one.at + len(one.values) * size
                    ):
                        array = self._new(HANDLES[kind] + "s")
                        self.made.declared[array] = (kind, len(one.values))
                        self.arrays.append((kind, one.at, len(one.values), array))
                        return f"{array}[{(address - one.at) // size}]"
        if array:
            return f"{array}[{index}]"
        key = (kind, address)
        if key not in self.variables:
            self.variables[key] = self._new(HANDLES[kind])
            self.made.declared[self.variables[key]] = (kind, 0)
        elif any(name == self.variables[key] for name in self.handles.values()) and not POLLS.match(call.name):
            self.variables[key] = self._new(HANDLES[kind])  # the variable of another object that lives on
            self.made.declared[self.variables[key]] = (kind, 0)
        return self.variables[key]

    def _new(self, name: str) -> str:
        name = re.sub(r"^array_of_", "", name)
        self.counters[name] = self.counters.get(name, 0) + 1
        return name if self.counters[name] == 1 else f"{name}{self.counters[name]}"

    def _declare(self, name: str, kind: str, number: int) -> str:
        """A variable of this name for answers, as large as needed; it may serve several calls."""
        name = re.sub(r"^array_of_", "", name)
        if name == "rank":
            name = "own_rank"
        there = self.made.declared.get(name)
        while there is not None and (there[0] != kind or (there[1] == 0) != (number == 0)):
            name += "_"
            there = self.made.declared.get(name)
        self.made.declared[name] = (kind, max(number, there[1] if there else 0))
        return name
