"""Writes a stand-alone C program from the recordings of a case: what each rank calls, and what it has to see.

Two recordings of the same case are read: one of a library on which it passes (what is right), and one of the library
that is wrong (what is to be shown). Where all libraries are wrong, the second serves as both, with what the framework
itself expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from runner.explaining.answers import NOT, Answers
from runner.explaining.blocks import Block, find_blocks
from runner.explaining.recording import Argument, Call, Event, Finding, Memory, Recording
from runner.explaining.vocabulary import (
    ASKS,
    CONSUMES,
    HANDLES,
    INTS,
    NONBLOCKING,
    OUT_OF_REACH,
    POLLS,
    SETS_HANDLER,
    CannotWrite,
    Part,
    RankProgram,
    Slot,
    Statement,
    symbol,
)


class Writer:
    """Turns the events of one rank into statements."""

    def __init__(self, right: Recording, wrong: Recording, rank: int) -> None:
        self.right, self.wrong, self.rank = right, wrong, rank
        self.made = RankProgram()
        self.handles: dict[tuple[str, int], str] = {}  # (type, value) → where it is
        self.constants = {kind: right.names(kind) for kind in right.constants}
        self.numbers = right.constants.get("int", {})
        self.variables: dict[tuple[str, int], str] = {}  # (type, address) → name
        self.counters: dict[str, int] = {}
        self.arrays: list[tuple[str, int, int, str]] = []  # of requests: (type, address, number, name)
        self.positions: dict[str, int] = {}
        self.content: dict[str, tuple[str, int]] = {}  # variable → the handle that it holds
        self.answers = Answers(right, wrong)
        self.events, self.seen = self.answers.events, self.answers.seen
        self.errors_matter = any(
            (call.code or 0) != 0 for call in [*right.calls, *wrong.calls] if not ASKS.match(call.name)
        ) or any(isinstance(event, Finding) and "expected MPI_ERR_" in event.text for event in wrong.events)
        self.blocks = find_blocks(self.events)
        self._name_blocks(self.blocks)
        self.blamed = self.answers.blamed()
        self.skipped: set[int] = set()
        self.set_images: dict[str, bytes] = {}

    # -- blocks --

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

    # -- statements --

    def write(self) -> RankProgram:
        self.skipped = self.answers.unused_questions()
        for k, event in enumerate(self.events):
            if k in self.skipped:
                continue
            if isinstance(event, Memory):
                self._memory(event, self.seen.get(k))
            elif isinstance(event, Call):
                self._call(event, self.seen.get(k))
        return self.made

    def symbol(self, name: str, value: int) -> int | str:
        return symbol(name, value, self.right)

    # -- memory --

    def _memory(self, event: Memory, seen: Event | None) -> None:
        block = self._block_at(event.at)
        if block is None or (block.name not in self.made.blocks and not block.given):
            return  # never handed to MPI
        if event.expected is None:
            self._fill(block, event)
        elif (isinstance(seen, Memory) and seen.wrong) or event.wrong:
            self._expect_bytes(block, event.at, bytes.fromhex(event.expected), event is seen or event.wrong)

    def _fill(self, block: Block, event: Memory) -> None:
        # Poison comes first and is not worth a statement where content follows at once.
        image = bytes.fromhex(event.bytes)
        if not image or self.set_images.get(block.name) == image:
            return
        self.set_images[block.name] = image
        offset = event.at - block.begin
        last = self.made.statements[-1] if self.made.statements else ()
        if last and last[0] == "\0fill" and isinstance(last[1], Slot) and isinstance(last[1].value, tuple):
            name, before, text = last[1].value
            if (name, before) == (block.name, offset) and len(str(text)) <= len(event.bytes):
                self.made.statements.pop()  # poison that is overwritten at once
        self.made.statements.append(("\0fill", Slot((block.name, offset, event.bytes))))

    def _expect_bytes(self, block: Block, at: int, image: bytes, own: bool) -> None:
        self.made.statements.append(("\0expect", Slot((block.name, at - block.begin, image.hex()))))
        self.made.checks += 1
        self.set_images.pop(block.name, None)

    # -- calls --

    def _call(self, call: Call, seen: Event | None) -> None:
        if call.name in OUT_OF_REACH:
            raise CannotWrite(OUT_OF_REACH[call.name])
        if SETS_HANDLER.match(call.name) and not self.errors_matter:
            return
        differences = self.answers.differences(call, seen)
        for one in call.arguments:
            if one.type == "void" and one.at and (one.bytes or one.memory) and not one.function:
                self._prepare(one, call)
        parts: list[Part] = [f"{call.name}("]
        before: list[Statement] = []
        after: list[Statement] = []
        outs: dict[str, str] = {}
        for k, one in enumerate(call.arguments):
            if k:
                parts.append(", ")
            parts += self._argument(call, one, differences, before, outs)
        parts.append(")")
        statement = tuple(parts)
        flag = call.argument("flag", "outcount")
        polled = POLLS.match(call.name) and flag
        self.made.statements += before
        if ("", "", 0) in differences:
            expected = str(self.answers.claims.get((id(call), "", "", 0), self.answers.class_of(call, self.right)))
            if expected == "MPI_SUCCESS":
                self._check(after, f"code of {call.name}", "{}", expected, statement)
                statement = ()
                if polled and flag:  # it may be the answer to a later question that is wrong
                    after[-1] = (
                        f"for ({(name := outs.get(flag.name, flag.name))} = 0; !{name} && !broken;) ",
                        *after[-1],
                    )
            else:
                self.made.declared["error_class"] = ("int", 0)
                statement = ("MPI_Error_class(", *statement, ", &error_class);")
                self._check(after, f"error class of {call.name}", "error_class", expected)
        elif polled and flag and call.code == 0 and any(flag.values_after) and not self._at_once(call):
            name = outs.get(flag.name, flag.name)
            statement = (f"for ({name} = 0; {name} == 0;) ", *statement, ";")
        else:
            statement = (*statement, ";")
        if statement:
            self.made.statements.append(statement)
        for name, part, index in differences:
            if name:
                self._expect_answer(call, name, part, index, outs, after)
        self.made.statements += after
        for one in call.arguments:
            if one.type == "void" and not one.constant and one.at and (block := self._block_at(one.at)):
                self.set_images.pop(block.name, None)

    def _at_once(self, call: Call) -> bool:
        """Whether a question is about no request at all, so that the first answer is the last."""
        requests = [value for one in call.arguments if one.type == "MPI_Request" for value in one.values]
        requests += [one.value for one in call.arguments if one.type == "MPI_Request" and one.value is not None]
        nulls = self.constants.get("MPI_Request", {})
        return bool(requests) and all(value in nulls for value in requests)

    def _check(
        self, after: list[Statement], what: str, expression: str, expected: int | str, call: Statement = ()
    ) -> None:
        self.made.checks += 1
        head: Statement = (f'expect("{what}", ', *call, ", ") if call else (f'expect("{what}", {expression}, ',)
        after.append((*head, Slot(expected), ");"))

    def _expect_answer(
        self, call: Call, name: str, part: str, index: int, outs: Mapping[str, str], after: list[Statement]
    ) -> None:
        one = call.argument(name)
        assert one is not None
        claim = self.answers.claims.get((id(call), name, part, index))
        where = outs.get(name, name)
        many = len(one.values_after) > 1
        what = f"{name.replace('array_of_', '')}{f'[{index}]' if many else ''} of {call.name}"
        if one.type == "MPI_Status":
            place = f"{where}[{index}]" if len(one.statuses) > 1 else where
            status = one.statuses[index]
            if part == "bytes":
                self.made.declared["bytes"] = ("int", 0)
                after.append((f"MPI_Get_count(&{place}, MPI_BYTE, &bytes);",))
                self._check(after, f"bytes in the status of {call.name}", "bytes", claim or int(status["bytes"]))
            elif part == "cancelled":
                self.made.declared["cancelled"] = ("int", 0)
                after.append((f"MPI_Test_cancelled(&{place}, &cancelled);",))
                self._check(after, f"cancelled in the status of {call.name}", "cancelled", int(status["cancelled"]))
            else:
                member = {"source": "MPI_SOURCE", "tag": "MPI_TAG", "error": "MPI_ERROR"}[part]
                value = self.symbol(part, int(status[part])) if claim is None else claim
                self._check(after, f"{member} in the status of {call.name}", f"{place}.{member}", value)
        elif part == "handle":
            place = f"{where}[{index}]" if many else where
            nulls = {value: name_ for name_, value in self.right.constants[one.type].items() if "NULL" in name_}
            value_, null = one.values_after[index], next(iter(nulls.values()))
            is_null = value_ in nulls
            name_ = nulls.get(value_, null)
            self._check(
                after,
                f"{what} {'is' if is_null else 'is not'} {name_}",
                f"{place} {'==' if is_null else '!='} {name_}",
                1,
            )
        elif part == "text":
            after.append((f'expect("{what}", strcmp({where}, "{_c_text(one.text_after or "")}"), 0);',))
            self.made.checks += 1
        elif part == "bytes":
            assert one.at is not None and one.bytes_after is not None
            block = self._block_at(one.at)
            if block is not None:
                self._expect_bytes(block, one.at + one.low, bytes.fromhex(one.bytes_after), False)
        elif isinstance(claim, str) and claim.startswith(NOT):
            place, value = f"{where}[{index}]" if many else where, claim.removeprefix(NOT)
            self._check(after, f"{what} is {value}", f"{place} == {value}", 0)
        else:
            place = f"{where}[{index}]" if many else where
            if "flag" in name:
                self._check(
                    after, what, f"{place} != 0", int(bool(one.values_after[index])) if claim is None else claim
                )
            else:
                value = self.symbol(name, one.values_after[index]) if claim is None else claim
                self._check(after, what, place, value)

    def _prepare(self, one: Argument, call: Call) -> None:
        """Content of memory that the test does not keep in a buffer of the framework."""
        assert one.at is not None
        block = self._block_at(one.at)
        if block is None or one.bytes is None or block.given or self.answers.checked(one) or "attach" in call.name:
            return
        if not one.constant and block.end - block.begin > 4096:
            return  # where something is received: what was there before hardly matters
        if any(isinstance(event, Memory) and self._block_at(event.at) is block for event in self.events):
            return
        self._fill(block, Memory(one.at + one.low, one.bytes))

    def _argument(
        self,
        call: Call,
        one: Argument,
        differences: Sequence[tuple[str, str, int]],
        before: list[Statement],
        outs: dict[str, str],
    ) -> list[Part]:
        if one.function:
            raise CannotWrite(f"{call.name} is given a function of the test's own")
        if not one.pointer:
            assert one.value is not None
            if one.type in HANDLES:
                return [self._handle(one.type, one.value, call)]
            return [Slot(self.symbol(one.name, one.value))]
        assert one.at is not None
        if marker := self._marker(one):
            return [marker]
        if one.at == 0:
            return ["NULL"]
        if one.type == "void":
            if one.name == "baseptr":
                block = self._block_at(one.memory or 0)
                return [f"&{block.name}" if block else "NULL"]
            if one.bytes is None and self._block_at(one.at) is None:
                raise CannotWrite(f"{call.name} is given memory that is no buffer ({one.name})")
            return [self._place(one.at)]
        if one.type == "char":
            if one.text is not None:
                return [f'"{_c_text(one.text)}"']
            name = self._declare(one.name, "char", 8192)
            outs[one.name] = name
            return [name]
        if one.type == "MPI_Status":
            return [self._status(call, one, differences, before, outs)]
        if one.type in HANDLES:
            return [self._handles(call, one, before, outs)]
        if one.constant or one.name == "ranges":
            return self._numbers(call, one, before)
        array = len(one.values) > 1 or one.name in (
            "dims",
            "coords",
            "periods",
            "indices",
            "array_of_indices",
            "ranks2",
            "neighbors",
        )
        kind = one.type
        name = self._declare(one.name, kind, len(one.values) if array else 0)
        outs[one.name] = name
        if one.name == "position" and self.positions.get(name) != one.values[0]:
            before.append((f"{name} = ", Slot(one.values[0]), ";"))
        if one.name == "position":
            self.positions[name] = one.values_after[0] if one.values_after else -1
        if one.name == "dims" and array:
            before += [(f"{name}[{k}] = ", Slot(value), ";") for k, value in enumerate(one.values)]
        return [name if array else f"&{name}"]

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

    def _numbers(self, call: Call, one: Argument, before: list[Statement]) -> list[Part]:
        values = tuple(self.symbol(one.name, value) for value in one.values)
        kind = one.type
        if not values:
            return [f"({kind}[1]){{0}}"]
        if one.name == "ranges":
            return ["(int[][3]){", Slot(values), "}"]
        if NONBLOCKING.match(call.name):
            name = self._new(one.name)
            self.made.declared[name] = (kind, len(values))
            before += [(f"{name}[{k}] = ", Slot(value), ";") for k, value in enumerate(values)]
            return [name]
        return [f"({kind}[]){{", Slot(values), "}"]

    def _handle(self, kind: str, value: int, call: Call) -> str:
        if name := self.handles.get((kind, value)):
            return name
        if constant := self.constants.get(kind, {}).get(value):
            return constant
        raise CannotWrite(f"{call.name} is given a handle that the recording does not know ({kind})")

    def _handles(self, call: Call, one: Argument, before: list[Statement], outs: dict[str, str]) -> str:
        assert one.at is not None
        n = max(len(one.values), len(one.values_after))
        in_out = bool(CONSUMES.match(call.name))
        many = one.name.startswith("array_of") or (one.constant and n > 1) or one.name in ("sendtypes", "recvtypes")
        if one.constant:
            return f"({one.type}[]){{{', '.join(self._handle(one.type, value, call) for value in one.values)}}}"
        if not in_out:
            name = self._variable(one.type, one.at, call)
            self._hold(one.type, name, one.values_after[0] if one.values_after else None)
            outs[one.name] = name
            return f"&{name}"
        if not many:
            value = one.values[0]
            name = self._there(one.type, one.at)
            if not name or self.content.get(name) != (one.type, value):
                name = self.handles.get((one.type, value), "")
            if not name:
                name = self._variable(one.type, one.at, call)
                before.append((f"{name} = {self._handle(one.type, value, call)};",))
            outs[one.name] = name
            self._hold(one.type, name, one.values_after[0] if one.values_after else None)
            return f"&{name}"
        array, first = self._array_at(one.type, one.at)
        if not array:
            array, first = self._new(HANDLES[one.type] + "s"), 0
            self.made.declared[array] = (one.type, len(one.values))
            self.arrays.append((one.type, one.at, len(one.values), array))
        for k, value in enumerate(one.values):
            place = f"{array}[{first + k}]"
            if self.content.get(place) != (one.type, value):
                before.append((f"{place} = {self._handle(one.type, value, call)};",))
        outs[one.name] = f"({array} + {first})" if first else array
        for k, value in enumerate(one.values_after):
            self._hold(one.type, f"{array}[{first + k}]", value)
        return f"{array} + {first}" if first else array

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

    def _status(
        self,
        call: Call,
        one: Argument,
        differences: Sequence[tuple[str, str, int]],
        before: list[Statement],
        outs: dict[str, str],
    ) -> str:
        assert one.at is not None
        many = one.name == "array_of_statuses"
        wanted = any(name == one.name for name, _, _ in differences) or call.name in self.blamed
        if one.constant or call.name.startswith(("MPI_Get_", "MPI_Test_cancelled", "MPI_Status_")):
            array, index = self._array_at("MPI_Status", one.at)
            if array:
                return f"&{array}[{index}]"
            name = self.variables.get(("MPI_Status", one.at))
            if name is None:
                name = self.variables[("MPI_Status", one.at)] = self._declare("status", "MPI_Status", 0)
            return f"&{name}"
        requests = call.argument("array_of_requests")
        number = max(len(one.statuses), len(requests.values) if requests else 1, 1) if many else 0
        size = max(number, 1) * self.right.sizes["MPI_Status"]
        used_later = any(
            other.at is not None
            and one.at <= other.at < one.at + size
            and (other.constant or event.name.startswith(("MPI_Get_", "MPI_Test_cancelled")))
            for k, event in enumerate(self.events)
            if isinstance(event, Call) and event is not call and k not in self.skipped
            for other in event.arguments
            if other.type == "MPI_Status"
        )
        if not wanted and not used_later:
            return "MPI_STATUSES_IGNORE" if many else "MPI_STATUS_IGNORE"
        name = self._declare("statuses" if many else "status", "MPI_Status", number)
        if many:
            self.arrays.append(("MPI_Status", one.at, number, name))
        else:
            self.variables[("MPI_Status", one.at)] = name
        if any(part == "error" for _, part, _ in differences):
            before.append((f"memset({'' if many else '&'}{name}, 0xa5, sizeof {name});",))
        outs[one.name] = name
        return name if many else f"&{name}"

    # -- names --

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


def _c_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
