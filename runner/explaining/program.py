"""Writes a stand-alone C program from the recordings of a case: what each rank calls, and what it has to see.

Two recordings of the same case are read: one of a library on which it passes (what is right), and one of the library
that is wrong (what is to be shown). Where all libraries are wrong, the second serves as both, with what the framework
itself expected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from runner.explaining.answers import NOT, Answers
from runner.explaining.blocks import Block
from runner.explaining.contents import FEW_BYTES, pieces
from runner.explaining.places import Places
from runner.explaining.recording import (
    IS_FUNCTION,
    IS_HANDLER,
    IS_OPERATION,
    Argument,
    Call,
    Event,
    File,
    Finding,
    Limit,
    Meet,
    Memory,
    Recording,
    Setting,
)
from runner.explaining.vocabulary import (
    CONSUMES,
    EXPECT,
    EXPECT_FILE,
    FILE,
    FILL,
    HANDLES,
    NONBLOCKING,
    OUT_OF_REACH,
    POLLS,
    SETS_HANDLER,
    CannotWrite,
    Part,
    RankProgram,
    Slot,
    Statement,
)


class Writer(Places):
    """Turns the events of one rank into statements."""

    def __init__(self, right: Recording, wrong: Recording, memory: bool = False) -> None:
        self.answers = Answers(right, wrong, memory)
        super().__init__(right, self.answers.events)
        self.seen = self.answers.seen
        self.skipped = self.answers.unused_questions()
        written = [event for k, event in enumerate(self.events) if k not in self.skipped]
        written += [event for k, event in self.seen.items() if k not in self.skipped]
        self.errors_matter = any(isinstance(event, Call) and event.code for event in written) or any(
            isinstance(event, Finding) and "expected MPI_ERR_" in event.text for event in wrong.events
        )
        self.blamed = self.answers.blamed()
        self.dies = False  # whether the program shows how a process ends, and no data
        self.positions: dict[str, int] = {}
        self.set_images: dict[str, bytes] = {}
        self.shared: dict[tuple[int, int], str] = {}  # (call, address) → the array that several arguments are
        errors_return = right.constants.get("MPI_Errhandler", {}).get("MPI_ERRORS_RETURN")  # set where errors matter
        comms = right.constants.get("MPI_Comm", {})
        self.error_handlers = {
            ("MPI_Comm_set_errhandler", comms.get(name)): errors_return for name in ("MPI_COMM_WORLD", "MPI_COMM_SELF")
        }
        self.called: Counter[int] = Counter()  # how often each error handler was called so far

    # -- statements --

    def write(self) -> RankProgram:
        for k, event in enumerate(self.events):
            if k in self.skipped:
                continue
            if isinstance(event, Memory):
                self._memory(event, self.seen.get(k))
            elif isinstance(event, Call):
                self._call(event, self.seen.get(k))
            elif isinstance(event, Setting):
                seen = self.seen.get(k)
                of = seen if isinstance(seen, Setting) else event  # other libraries have other variables
                self.made.statements.append((f'set_variable("{of.name}", ', Slot(of.value), ");"))
            elif isinstance(event, File):
                self._file(event, self.seen.get(k))
            elif isinstance(event, Limit):
                size: int | str = "RLIM_INFINITY" if event.size is None else event.size
                self.made.statements.append(("limit_file_size(", Slot(size), ");"))
            elif isinstance(event, Meet):
                comm = self.handles.get(("MPI_Comm", event.comm)) or self.constants["MPI_Comm"].get(event.comm)
                if comm != "MPI_COMM_SELF":
                    self.made.statements.append((f"MPI_Barrier({comm});",))
        return self.made

    # -- files --

    def _file(self, event: File, seen: Event | None) -> None:
        name = self._file_name(event.path)
        if event.expected is not None:
            if event.wrong or (isinstance(seen, File) and seen.wrong):
                self.made.statements.append((EXPECT_FILE, Slot((name, 0, event.expected))))
                self.made.checks += 1
        elif event.bytes is None:
            self.made.statements.append(("remove(", Slot(f'"{name}"'), ");"))
        else:
            self.made.statements.append((FILE, Slot((name, 0, event.bytes))))

    # -- memory --

    def _memory(self, event: Memory, seen: Event | None) -> None:
        block = self._block_at(event.at)
        if block is None or (block.name not in self.made.blocks and not block.given):
            return  # never handed to MPI
        if event.expected is None:
            self._fill(block, event)
        elif (isinstance(seen, Memory) and seen.wrong) or event.wrong:
            wanted = bytes.fromhex(event.expected)
            found = bytes.fromhex(seen.bytes if isinstance(seen, Memory) and seen.wrong else event.bytes)
            begin, end = _worth_a_check(wanted, found, block.element[1])
            self._expect_bytes(block, event.at + begin, wanted[begin:end])

    def _fill(self, block: Block, event: Memory) -> None:
        # Poison comes first and is not worth a statement where content follows at once.
        image = bytes.fromhex(event.bytes)
        if not image or self.set_images.get(block.name) == image:
            return
        self.set_images[block.name] = image
        offset = event.at - block.begin
        last = self.made.statements[-1] if self.made.statements else ()
        if last and last[0] == FILL and isinstance(last[1], Slot) and isinstance(last[1].value, tuple):
            name, before, text = last[1].value
            if (name, before) == (block.name, offset) and len(str(text)) <= len(event.bytes):
                self.made.statements.pop()  # poison that is overwritten at once
        self.made.statements.append((FILL, Slot((block.name, offset, event.bytes))))

    def _expect_bytes(self, block: Block, at: int, image: bytes) -> None:
        self.made.statements.append((EXPECT, Slot((block.name, at - block.begin, image.hex()))))
        self.made.checks += 1
        self.set_images.pop(block.name, None)

    # -- calls --

    def _call(self, call: Call, seen: Event | None) -> None:
        if call.name in OUT_OF_REACH:
            raise CannotWrite(OUT_OF_REACH[call.name])
        if SETS_HANDLER.match(call.name) and not self.errors_matter:
            return
        if SETS_HANDLER.match(call.name) and self._has_handler(call):
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
        self.called.update(call.called)
        made = {value for one in call.arguments if one.type in HANDLES for value in one.values_after}
        self.error_handlers = {key: handler for key, handler in self.error_handlers.items() if key[1] not in made}
        for name, part, index in differences:
            if part == "memory":
                memory = call.memory[index]
                if block := self._block_at(memory.at):
                    self._expect_bytes(block, memory.at, bytes.fromhex(memory.bytes))
            elif part == "called":
                handler = self.right.handlers[index]
                self._check(
                    after,
                    f"calls of {self._function(handler)} by {call.name}",
                    f"{self._function(handler)}_calls",
                    self.called[handler],
                )
            elif name:
                self._expect_answer(call, name, part, index, outs, after)
        self.made.statements += after
        for one in call.arguments:
            if one.type == "void" and not one.constant and one.at and (block := self._block_at(one.at)):
                self.set_images.pop(block.name, None)

    def _has_handler(self, call: Call) -> bool:
        """Whether an object has the error handler already that the call gives it."""
        of, handler = (one.value for one in call.arguments[:2])
        before = self.error_handlers.get((call.name, of))
        self.error_handlers[call.name, of] = handler
        return handler == before

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
                self._check(
                    after,
                    f"bytes in the status of {call.name}",
                    "bytes",
                    int(status["bytes"]) if claim is None else claim,
                )
            elif part == "cancelled":
                self.made.declared["cancelled"] = ("int", 0)
                after.append((f"MPI_Test_cancelled(&{place}, &cancelled);",))
                value = int(status["cancelled"]) if claim is None else claim
                self._check(after, f"cancelled in the status of {call.name}", "cancelled != 0", value)
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
                self._expect_bytes(block, one.at + one.low, bytes.fromhex(one.bytes_after))
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
        if one.at in self.right.handlers and IS_HANDLER.search(one.type):
            name = self._function(one.at)
            self.made.handlers[name] = one.type.partition("_errhandler_")[0]
            return [name]
        if self.dies and one.at and IS_OPERATION.match(one.type):  # what it computes does not matter
            self.made.operations[one.type] = "combine_c" if one.type.endswith("_c") else "combine"
            return [self.made.operations[one.type]]
        if one.function or IS_FUNCTION.search(one.type):
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
            if one.text is not None and one.name == "filename" and one.text.startswith("/"):
                return [Slot(f'"{self._file_name(one.text)}"')]
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

    def _numbers(self, call: Call, one: Argument, before: list[Statement]) -> list[Part]:
        values = tuple(self.symbol(one.name, value) for value in one.values)
        kind = one.type
        if not values:
            return [f"({kind}[1]){{0}}"]
        if one.name == "ranges":
            return ["(int[][3]){", Slot(values), "}"]
        if sum(other.at == one.at and other.pointer for other in call.arguments) > 1:  # one array serves for several
            name = self.shared.get((id(call), one.at or 0), "")
            if not name:
                name = self.shared[(id(call), one.at or 0)] = self._new(one.name)
                self.made.declared[name] = (kind, len(values))
                before.append((f"memcpy({name}, ({kind}[]){{", Slot(values), f"}}, sizeof {name});"))
            return [name]
        if NONBLOCKING.match(call.name):
            name = self._new(one.name)
            self.made.declared[name] = (kind, len(values))
            before += [(f"{name}[{k}] = ", Slot(value), ";") for k, value in enumerate(values)]
            return [name]
        return [f"({kind}[]){{", Slot(values), "}"]

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
        if any(name_ == one.name for name_, _, _ in differences):  # a field that is not set must not be right by chance
            before.append((f"memset({'' if many else '&'}{name}, 0xa5, sizeof {name});",))
        outs[one.name] = name
        return name if many else f"&{name}"


def _worth_a_check(wanted: bytes, found: bytes, element: int) -> tuple[int, int]:
    """The stretch that is compared: all, or where no short function makes it the first element that is wrong."""
    if len(wanted) <= FEW_BYTES or pieces(wanted) is not None:
        return 0, len(wanted)
    first = next((k for k, (one, other) in enumerate(zip(wanted, found, strict=False)) if one != other), 0)
    size = max(element, 4)
    return first // size * size, min(first // size * size + size, len(wanted))


def _c_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
