"""Puts the statements of all ranks into one C program: what ranks have in common stands there once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from runner.explaining import functions, loops
from runner.explaining.contents import FEW_BYTES, MOST_BYTES, POISON, literal, pieces, runs
from runner.explaining.vocabulary import EXPECT, EXPECT_FILE, FILE, FILL, CannotWrite, RankProgram, Slot, Statement

WIDTH = 120
Element = tuple[str, int]


@dataclass
class Layout:
    """The body of a program, and which helpers it needs."""

    lines: list[loops.Line] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    uses_rank: bool = False
    scratch: int = 0  # bytes of the array in which expected contents are made


def _is_special(statement: Statement) -> bool:
    return statement[0] in (FILL, EXPECT, FILE, EXPECT_FILE)


def shape(statement: Statement) -> tuple[object, ...]:
    """What ranks have to have in common so that a statement can stand for all."""
    if _is_special(statement):
        name, offset, text = _content(statement)
        image = bytes.fromhex(text)
        form = pieces(image)
        described = None if form is None else tuple((one.offset, one.elements, one.extent, one.at) for one in form)
        return (statement[0], name, offset, len(image), described)
    return tuple(
        part if isinstance(part, str) else ("slot", len(part.value) if isinstance(part.value, tuple) else 0)
        for part in statement
    )


def _content(statement: Statement) -> tuple[str, int, str]:
    slot = statement[1]
    assert isinstance(slot, Slot) and isinstance(slot.value, tuple)
    name, offset, text = slot.value
    return str(name), int(offset), str(text)


class Merger:
    """Writes the statements of all ranks."""

    def __init__(self, programs: Sequence[RankProgram]) -> None:
        self.programs = programs
        self.np = len(programs)
        self.made = Layout()
        self.elements: dict[str, Element] = {}
        # Where no buffer is looked at, it does not matter what was sent, as long as the program can say it.
        self.looked_at = any(one[0] in (EXPECT, EXPECT_FILE) for program in programs for one in program.statements)
        for program in programs:
            for name, (kind, size, _) in program.blocks.items():
                before = self.elements.setdefault(name, (kind, size))
                if before != (kind, size):
                    self.elements[name] = ("unsigned char", 1)

    def merge(self) -> Layout:
        groups: dict[tuple[object, ...], list[int]] = {}
        for rank, program in enumerate(self.programs):
            groups.setdefault(tuple(map(shape, program.statements)), []).append(rank)
        self._merge([list(ranks) for ranks in groups.values()], 0)
        return self.made

    def _merge(self, groups: list[list[int]], depth: int) -> None:
        if len(groups) == 1:
            for k in range(len(self.programs[groups[0][0]].statements)):
                self._statement({rank: self.programs[rank].statements[k] for rank in groups[0]}, depth)
            return
        first, second = groups[0], groups[1]
        shapes = [[repr(shape(one)) for one in self.programs[ranks[0]].statements] for ranks in (first, second)]
        if len(groups) > 2:
            for k, ranks in enumerate(groups):
                self._line(f"{'} else ' if k else ''}if ({self._condition(ranks)}) {{", depth)
                self._merge([ranks], depth + 1)
            self._line("}", depth)
            return
        for kind, a, b, c, d in SequenceMatcher(None, shapes[0], shapes[1], autojunk=False).get_opcodes():
            if kind == "equal":
                for k in range(b - a):
                    both = {rank: self.programs[rank].statements[a + k] for rank in first}
                    both |= {rank: self.programs[rank].statements[c + k] for rank in second}
                    self._statement(both, depth)
                continue
            if a < b:
                self._branch(f"if ({self._condition(first)}) {{", first, a, b, depth)
            if c < d:
                head = "} else {" if a < b else f"if ({self._condition(second)}) {{"
                self._branch(head, second, c, d, depth)
            self._line("}", depth)

    def _branch(self, head: str, ranks: Sequence[int], begin: int, end: int, depth: int) -> None:
        self._line(head, depth)
        for k in range(begin, end):
            self._statement({rank: self.programs[rank].statements[k] for rank in ranks}, depth + 1)

    def _condition(self, ranks: Sequence[int]) -> str:
        self.made.uses_rank = True
        others = [rank for rank in range(self.np) if rank not in ranks]
        if len(others) == 1 and len(ranks) > 1:
            return f"rank != {others[0]}"
        return " || ".join(f"rank == {rank}" for rank in ranks)

    def _line(self, text: str, depth: int) -> None:
        self.made.lines.append((text, depth))

    # -- statements --

    def _statement(self, of: Mapping[int, Statement], depth: int) -> None:
        sample = next(iter(of.values()))
        if sample[0] == FILL:
            self._fill({rank: _content(one) for rank, one in of.items()}, depth)
            return
        if sample[0] == EXPECT:
            self._expect({rank: _content(one) for rank, one in of.items()}, depth)
            return
        if sample[0] in (FILE, EXPECT_FILE):
            self._file(str(sample[0]), {rank: _content(one) for rank, one in of.items()}, depth)
            return
        text = ""
        for k, part in enumerate(sample):
            if isinstance(part, str):
                text += part
                continue
            slots = {rank: one[k] for rank, one in of.items()}
            if isinstance(part.value, tuple):
                values = {rank: slot.value for rank, slot in slots.items() if isinstance(slot, Slot)}
                text += ", ".join(
                    self.number({rank: value[n] for rank, value in values.items() if isinstance(value, tuple)})
                    for n in range(len(part.value))
                )
            else:
                text += self.number(
                    {
                        rank: slot.value
                        for rank, slot in slots.items()
                        if isinstance(slot, Slot) and not isinstance(slot.value, tuple)
                    }
                )
        self.made.helpers |= {name for name in ("expect", "set_variable", "limit_file_size") if f"{name}(" in text}
        self._line(text, depth)

    def number(self, of: Mapping[int, int | str]) -> str:
        """An expression that has these values on these ranks."""
        values = list(of.values())
        if len(set(values)) == 1:
            return str(values[0])
        self.made.uses_rank = True
        ranks = list(of)
        if all(isinstance(value, int) for value in values):
            numbers = {rank: int(value) for rank, value in of.items()}
            first, second = ranks[0], ranks[1]
            step = (numbers[second] - numbers[first]) // (second - first)
            base = numbers[first] - step * first
            formulas: dict[str, Callable[[int], int]] = {
                "rank": lambda rank: rank,
                f"{base} - rank": lambda rank: base - rank,
                f"rank + {base}": lambda rank: rank + base,
                f"(rank + 1) % {self.np}": lambda rank: (rank + 1) % self.np,
                f"(rank + {self.np - 1}) % {self.np}": lambda rank: (rank - 1) % self.np,
            }
            for text, formula in formulas.items():
                if all(formula(rank) == value for rank, value in numbers.items()):
                    return text
        for rank, value in of.items():
            others = {other for one, other in of.items() if one != rank}
            if len(others) == 1:
                return f"rank == {rank} ? {value} : {next(iter(others))}"
        return f"(int[]){{{', '.join(str(of.get(rank, 0)) for rank in range(self.np))}}}[rank]"

    def _target(self, name: str, offset: int, element: Element) -> str:
        if offset == 0:
            return name
        return f"{name} + {offset // element[1]}" if offset % element[1] == 0 else f"(char*){name} + {offset}"

    def _fill(self, of: Mapping[int, tuple[str, int, str]], depth: int) -> None:
        name, offset, text = next(iter(of.values()))
        images = {rank: bytes.fromhex(one[2]) for rank, one in of.items()}
        size = len(text) // 2
        element = self.elements.get(name, ("unsigned char", 1))
        if all(set(image) == {POISON} for image in images.values()):
            self._line(f"memset({self._target(name, offset, element)}, 0x{POISON:02x}, {size});", depth)
            return
        if not self.looked_at and any(pieces(image) is None for image in images.values()):
            self._line(f"memset({self._target(name, offset, element)}, 0, {size});", depth)
            return
        if element[1] > 1 and offset % element[1] == 0 and size // element[1] <= 4:
            for k in range(size // element[1]):
                values = {rank: self._hex(image, k, element) for rank, image in images.items()}
                self._line(f"{name}[{offset // element[1] + k}] = {self.number(values)};", depth)
            return
        self._make(self._target(name, offset, element), name, images, size, depth)

    @staticmethod
    def _hex(image: bytes, k: int, element: Element) -> str:
        data = image[k * element[1] : (k + 1) * element[1]]
        value = int.from_bytes(data, "little", signed=not element[0].startswith("unsigned"))
        return f"{'-' if value < 0 else ''}0x{abs(value):0{2 * element[1]}x}"

    def _make(self, target: str, name: str, images: Mapping[int, bytes], size: int, depth: int) -> None:
        """Statements that put the images to `target`."""
        forms = {rank: pieces(image) for rank, image in images.items()}
        sample = next(iter(forms.values()))
        if sample is not None and size > 4:
            if any(POISON in image for image in images.values()):
                self._line(f"memset({target}, 0x{POISON:02x}, {size});", depth)
            self.made.helpers.add("fill")
            for k, piece in enumerate(sample):
                firsts = {rank: form[k].first for rank, form in forms.items() if form is not None}
                at = f"{target} + {piece.offset}" if piece.offset and target == name else target
                if piece.offset and at == target:
                    at = f"(char*){target} + {piece.offset}"
                if piece.offset and self.elements.get(name, ("", 1))[1] > 1:
                    at = f"(char*){target} + {piece.offset}"
                starts, unit = runs(piece.at)
                places = ", ".join(map(str, starts))
                self._line(
                    f"fill({at}, {piece.elements}, {piece.extent}, {len(starts)}, (int[]){{{places}}}, {unit}, "
                    f"{self.number(firsts)});",
                    depth,
                )
            return
        self._line(f"memcpy({target}, {self._table(name, images, size)}, {size});", depth)

    def _table(self, name: str, images: Mapping[int, bytes], size: int) -> str:
        if size > MOST_BYTES:
            raise CannotWrite(f"a buffer of {size:,} bytes holds what no short function makes")
        if len(set(images.values())) == 1:
            return f"(unsigned char[]){{{literal(next(iter(images.values())))}}}"
        table = f"{name}_of_rank{len(self.made.tables) or ''}"
        rows = ", ".join(f"{{{literal(images.get(rank, bytes(size)))}}}" for rank in range(self.np))
        self.made.tables.append(f"static unsigned char const {table}[{self.np}][{size}] = {{{rows}}};")
        self.made.uses_rank = True
        return f"{table}[rank]"

    def _expect(self, of: Mapping[int, tuple[str, int, str]], depth: int) -> None:
        name, offset, text = next(iter(of.values()))
        images = {rank: bytes.fromhex(one[2]) for rank, one in of.items()}
        size = len(text) // 2
        element = self.elements.get(name, ("unsigned char", 1))
        target = self._target(name, offset, element)
        if element[1] > 1 and offset % element[1] == 0 and size // element[1] <= 4:
            self.made.helpers.add("expect")
            for k in range(size // element[1]):
                values = {rank: self._hex(image, k, element) for rank, image in images.items()}
                place = f"{name}[{offset // element[1] + k}]"
                self._line(f'expect("{place}", {place}, {self.number(values)});', depth)
            return
        self.made.helpers |= {"expect", "expect_bytes"}
        if size <= FEW_BYTES or any(pieces(image) is None for image in images.values()):
            if all(set(image) == {POISON} for image in images.values()) and size > FEW_BYTES:
                self._scratch(images, size, target, name, depth)
            else:
                self._line(f'expect_bytes("{name}", {target}, {self._table(name, images, size)}, {size});', depth)
            return
        self._scratch(images, size, target, name, depth)

    def _file(self, head: str, of: Mapping[int, tuple[str, int, str]], depth: int) -> None:
        name, _, text = next(iter(of.values()))
        images = {rank: bytes.fromhex(one[2]) for rank, one in of.items()}
        size = len(text) // 2
        if size == 0:
            self._line(f'write_file("{name}", "", 0);', depth)
            self.made.helpers.add("write_file")
            return
        self.made.scratch = max(self.made.scratch, size)
        if all(set(image) == {POISON} for image in images.values()):
            self._line(f"memset(expected, 0x{POISON:02x}, {size});", depth)
        else:
            self._make("expected", "expected", images, size, depth)
        self.made.helpers |= {"write_file"} if head == FILE else {"expect", "expect_bytes", "expect_file"}
        self._line(f'{"write_file" if head == FILE else "expect_file"}("{name}", expected, {size});', depth)

    def _scratch(self, images: Mapping[int, bytes], size: int, target: str, name: str, depth: int) -> None:
        self.made.scratch = max(self.made.scratch, size)
        if all(set(image) == {POISON} for image in images.values()):
            self._line(f"memset(expected, 0x{POISON:02x}, {size});", depth)
        else:
            self._make("expected", "expected", images, size, depth)
        self._line(f'expect_bytes("{name}", {target}, expected, {size});', depth)


@dataclass(frozen=True)
class Header:
    """What the comment at the top says."""

    title: str  # one line
    clauses: Sequence[str]  # "MPI-5.0 section 3.2.4: …"
    expected: str
    observed: str
    case: str  # the command that repeats the case of the suite
    np: int
    dies_in: str = ""  # the call in which the process ends or stays, when that is the defect
    returns_errors: bool = False


def compose(programs: Sequence[RankProgram], header: Header, name: str) -> str:
    """The whole program."""
    merger = Merger(programs)
    made = merger.merge()
    declared: dict[str, tuple[str, int]] = {}
    for program in programs:
        for variable, (kind, number) in program.declared.items():
            declared[variable] = kind, max(number, declared.get(variable, (kind, 0))[1])
    blocks: dict[str, int] = {}
    for program in programs:
        for variable, (_, size, number) in program.blocks.items():
            count = size * number // merger.elements[variable][1]
            blocks[variable] = max(blocks.get(variable, 0), count)
    of_one_kind = {variable: (merger.elements[variable][0], count) for variable, count in blocks.items()}
    listed = loops.arrays({**declared, **of_one_kind})
    written = loops.folded([(loops.renamed(text, listed), depth) for text, depth in made.lines])
    body = "\n".join(_body(written))
    lines = [f"/* {line}" if k == 0 else f" * {line}" for k, line in enumerate(_wrapped(header.title))]
    lines += [" *", f" * build: mpicc {name}.c -o show     run: mpiexec -n {header.np} ./show"]
    for label, text in [("", clause) for clause in header.clauses] + [
        ("expected: ", header.expected),
        ("observed: ", header.observed),
        ("seen by: ", header.case),
    ]:
        lines += [f" * {line}" for line in _wrapped(label + text)]
    lines += [" */", f"// run: np={header.np} timeout=20", "#include <mpi.h>"]
    dies = bool(header.dies_in)
    includes = ["#include <stdio.h>"]
    includes += ["#include <signal.h>", "#include <stdlib.h>", "#include <unistd.h>"] if dies else []
    if "limit_file_size" in made.helpers:
        includes += ["#include <signal.h>", "#include <sys/resource.h>"]
    includes += ["#include <string.h>"] if "mem" in body or "strcmp" in body else []
    lines += [*sorted(set(includes)), ""]
    lines += [*made.tables, ""] if made.tables else []
    if made.helpers & {"expect", "expect_bytes"}:
        lines += (
            functions.EXPECT.splitlines()
            if "expect(" in body or "expect_file" in made.helpers
            else ["static int broken = 0;", ""]
        )
        lines += ["", *functions.EXPECT_BYTES.splitlines()] if "expect_bytes" in made.helpers else []
        lines += [""]
    lines += [*functions.FILL.splitlines(), ""] if "fill" in made.helpers else []
    for helper, text in (
        ("write_file", functions.WRITE_FILE),
        ("expect_file", functions.EXPECT_FILE.replace("{size}", str(made.scratch + 1))),
        ("set_variable", functions.SET_VARIABLE),
        ("limit_file_size", functions.LIMIT_FILE_SIZE),
    ):
        lines += [*text.splitlines(), ""] if helper in made.helpers else []
    for kind, name_ in {kind: name_ for one in programs for kind, name_ in one.operations.items()}.items():
        text = functions.OPERATION.replace("{count}", "MPI_Count" if kind.endswith("_c") else "int")
        lines += [*text.replace("{name}", name_).splitlines(), ""]
    for handler, kind in {name: kind for one in programs for name, kind in one.handlers.items()}.items():
        lines += [*functions.HANDLER.replace("{name}", handler).replace("{kind}", kind).splitlines(), ""]
    lines += [*functions.DIED.replace("{call}", header.dies_in).splitlines(), ""] if dies else []
    lines += ["int main(int argc, char** argv) {"]
    declarations: dict[str, list[str]] = {}
    for variable, (kind, number) in declared.items():
        if variable in listed:
            if listed[variable][1] == 0:
                length = sum(array == listed[variable][0] for array, _ in listed.values())
                declarations.setdefault(kind, []).append(
                    f"{listed[variable][0]}[{length}]" + (f"[{number}]" if number else "")
                )
            continue
        if variable not in body:
            continue
        words = f"{variable}[{number}]" if number else variable
        declarations.setdefault(kind, []).append(
            words if number or kind.startswith("MPI_") else f"{words} = {'NULL' if '*' in kind else -1}"
        )
    if made.uses_rank:
        declarations.setdefault("int", []).insert(0, "rank")
    for variable, count in blocks.items():
        array, index = listed.get(variable, ("", 0))
        if (variable in body and not array) or (array and index == 0):
            kind = merger.elements[variable][0]
            length = sum(other == array for other, _ in listed.values()) if array else 0
            large = count * max(length, 1) > 4096
            prefix = "static _Alignas(64) " if kind == "unsigned char" else "static " if large else ""
            words = f"{array}[{length}]" if array else variable
            declarations.setdefault(prefix + kind, []).append(f"{words}[{max(count, 1)}]")
    if made.scratch:
        declarations.setdefault("static _Alignas(64) unsigned char", []).append(f"expected[{made.scratch}]")
    for kind, names in declarations.items():
        if kind.endswith("*"):
            lines += [f"    {kind} {one};" for one in names]
        else:
            lines += textwrap.wrap(
                f"{kind} {', '.join(names)};",
                WIDTH,
                initial_indent="    ",
                subsequent_indent="        ",
                break_long_words=False,
            )
    if dies:
        lines += [
            "    int const signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};",
            "    for (int k = 0; k < 6; ++k) signal(signals[k], struck);",
            "    alarm(10);",
            "    atexit(died);",
        ]
    lines += ["    MPI_Init(&argc, &argv);"]
    lines += ["    MPI_Comm_rank(MPI_COMM_WORLD, &rank);"] if made.uses_rank else []
    if header.returns_errors:
        lines += ["    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"]
        lines += ["    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);"] if "MPI_COMM_SELF" in body else []
    lines += body.splitlines()
    checks = made.helpers & {"expect", "expect_bytes"}
    lines += ["    done = 1;"] if dies else []
    lines += ['    puts(broken ? "BUG" : "OK");' if checks else '    puts("OK");']
    lines += ["    MPI_Finalize();", "    return broken;" if checks else "    return 0;", "}"]
    return "\n".join(_squeezed(lines)) + "\n"


def _body(lines: Sequence[loops.Line]) -> list[str]:
    """Indented, and no line too long."""
    made: list[str] = []
    for text, depth in lines:
        indent = "    " * (depth + 1)
        made += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent]
    return made


def _squeezed(lines: Sequence[str]) -> list[str]:
    """Without two empty lines in a row."""
    return [line for k, line in enumerate(lines) if line or (k and lines[k - 1])]


def _wrapped(text: str) -> list[str]:
    text = text.replace("*/", "* /")
    return textwrap.wrap(text, WIDTH - 3, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) or [
        ""
    ]
