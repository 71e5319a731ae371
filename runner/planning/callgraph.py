"""Which MPI procedures a function of the test binary can reach: its call graph, read from the disassembly.

A function reaches what it calls or jumps to, and every function whose address it takes: a lambda handed on, an entry of
a table (read from the relocations of the object that it refers to). Of a variable that is made when the program starts,
say an axis of values, it reaches the functions that stand in the initialization of that variable's source file. What is
called through a pointer that the function got from elsewhere is not followed, and neither is what only a failed call
needs (`CUT`): so the makers of communicators and datatypes do not count for the tests that use these.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from runner.model import CannotRun

# What turns an error into words, and what ends requests after a wrong answer: their calls say nothing about a test.
CUT = re.compile(r"_ZN5assay(10error_text|12wait_for_all)")
_PROCEDURE = re.compile(r"P?(MPI_(?:[A-Z][a-z]|T_)\w*)(?:@.*)?")
_FUNCTION = re.compile(r"([0-9a-f]+) <.*>:")
_TARGET = re.compile(r"\t(?:call|j\w+|bnd jmp|notrack jmp) +([0-9a-f]+) <([^>]*)>")
_OPERAND = re.compile(r"# ([0-9a-f]+) <")
_INITIALIZATION = re.compile(r"_GLOBAL__sub_I_|__static_initialization_and_destruction")


@dataclass(frozen=True)
class Symbol:
    """A function or a variable of the binary, or a place without a name that instructions refer to."""

    address: int
    end: int
    name: str
    function: bool
    variable: bool = False  # that a program can write to


class Places:
    """The symbols of a binary by address."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.by_start = {symbol.address: symbol for symbol in symbols}
        self.starts = sorted(self.by_start)

    def holding(self, address: int) -> Symbol | None:
        """The symbol that covers an address."""
        index = bisect_right(self.starts, address) - 1
        symbol = self.by_start[self.starts[index]] if index >= 0 else None
        return symbol if symbol is not None and address < symbol.end else None

    def without_name(self, addresses: Iterable[int]) -> None:
        """Adds what is referred to and has no symbol, each up to the next one: constants that the compiler made."""
        new = sorted({address for address in addresses if self.holding(address) is None})
        ends = sorted([*self.starts, *new])
        for address in new:
            following = bisect_right(ends, address)
            end = ends[following] if following < len(ends) else address + 1
            self.by_start[address] = Symbol(address, end, "", False)
        self.starts = sorted(self.by_start)


@dataclass
class Graph:
    """What the symbols of a binary refer to, by address."""

    symbols: Sequence[Symbol]
    places: Places
    refers: dict[int, set[int]] = field(default_factory=dict)
    calls: dict[int, set[str]] = field(default_factory=dict)  # procedures of MPI

    def reached(self, roots: Iterable[int], stop: Set[int]) -> set[str]:
        """The procedures that can be reached from these symbols, without passing through `stop`."""
        seen = set(roots)
        todo = list(seen)
        found: set[str] = set()
        while todo:
            at = todo.pop()
            found |= self.calls.get(at, set())
            new = self.refers.get(at, set()) - seen - stop
            seen |= new
            todo += new
        return found


def procedures_of_tests(binary: Path, tests: Iterable[str]) -> tuple[dict[str, set[str]], set[str]]:
    """The MPI procedures that the body of each test ("p2p.ring") can reach, and all that the binary refers to.

    Raises CannotRun for a binary that cannot be read so.
    """
    graph = read(binary)
    functions = [symbol for symbol in graph.symbols if symbol.function]  # identical bodies share an address
    bodies: dict[str, list[int]] = {}
    for symbol in functions:
        if found := re.search(r"\d(body_\w+?)(?:RN5assay|ERNS_)8test_runE", symbol.name):
            bodies.setdefault(found[1], []).append(symbol.address)
    stop = {symbol.address for symbol in functions if CUT.match(symbol.name)}
    stop |= {address for addresses in bodies.values() for address in addresses}  # the tables of tests name all of them
    of_test: dict[str, set[str]] = {}
    for test in tests:
        roots = bodies.get("body_" + test.replace(".", "_", 1))
        if not roots:
            raise CannotRun(f"{binary}: has no symbol for the body of {test}; build it without stripping its symbols")
        of_test[test] = graph.reached(roots, stop)
    return of_test, set().union(*graph.calls.values())


def read(binary: Path) -> Graph:
    """The graph of an x86-64 ELF program."""
    if "X86-64" not in _tool("readelf", "-hW", binary):
        raise CannotRun(f"{binary}: calls are counted in programs for x86-64 only")
    symbols = _symbols(_tool("readelf", "-sW", binary), _writable_sections(_tool("readelf", "-SW", binary)))
    places = Places(symbols)
    pointers = _pointers(_tool("readelf", "-rW", binary), {symbol.name: symbol.address for symbol in symbols})
    graph = Graph(symbols, places)
    uses = _instructions(_tool("objdump", "-d", "--no-show-raw-insn", "-j", ".text", binary), graph)
    places.without_name(address for addresses in uses.values() for address in addresses)
    for place, target in pointers.items():  # tables of functions
        holder = places.holding(place)
        if holder is not None and not holder.function:
            _refer(graph, holder.address, target)
    for user, addresses in uses.items():
        for address in addresses:
            loaded = pointers.get(address)  # of an entry of the global offset table
            _refer(graph, user, loaded if isinstance(loaded, str) else address)
    for user in uses:
        if _INITIALIZATION.search(places.by_start[user].name):
            for address in graph.refers.get(user, set()):
                if places.by_start[address].variable:
                    graph.refers.setdefault(address, set()).add(user)
    return graph


def _refer(graph: Graph, user: int, target: int | str | None) -> None:
    """One edge: to a procedure, or to whatever holds an address."""
    if isinstance(target, str):
        if found := _PROCEDURE.fullmatch(target):
            graph.calls.setdefault(user, set()).add(found[1])
    elif target is not None and (symbol := graph.places.holding(target)) is not None and symbol.address != user:
        graph.refers.setdefault(user, set()).add(symbol.address)


def _instructions(disassembly: str, graph: Graph) -> dict[int, set[int]]:
    """Which addresses each function refers to; calls of MPI procedures go to the graph at once."""
    uses: dict[int, set[int]] = {}
    user = 0
    mine: set[int] = set()
    for line in disassembly.splitlines():
        if found := _FUNCTION.match(line):
            holder = graph.places.holding(int(found[1], 16))
            user = holder.address if holder is not None else int(found[1], 16)
            mine = uses.setdefault(user, set()) if holder is not None else set()
        elif "# " in line:
            if found := _OPERAND.search(line):
                mine.add(int(found[1], 16))
        elif found := _TARGET.search(line):
            if found[2].endswith("@plt"):
                _refer(graph, user, found[2].removesuffix("@plt"))
            else:
                mine.add(int(found[1], 16))
    return uses


def _writable_sections(text: str) -> set[str]:
    """The numbers of .data and .bss in `readelf -S`."""
    return set(re.findall(r"^ *\[ *(\d+)\] \.(?:data|bss) ", text, re.MULTILINE))


def _symbols(text: str, writable: Set[str]) -> list[Symbol]:
    """The functions and variables of `readelf -s` that the binary defines."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "OBJECT") and words[6] != "UND":
            address, size = int(words[1], 16), int(words[2], 0)
            function = words[3] == "FUNC"
            variable = not function and words[6] in writable and words[7] != "__dso_handle"  # that of all files
            found.append(Symbol(address, address + max(size, 1), words[7], function, variable))
    return found


def _pointers(text: str, defined: Mapping[str, int]) -> dict[int, int | str]:
    """place → what the loader writes there, of `readelf -r`: an address, or the name of something in a library."""
    found: dict[int, int | str] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4 or not words[2].startswith("R_X86_64_"):
            continue
        place = int(words[0], 16)
        if words[2] == "R_X86_64_RELATIVE":
            found[place] = int(words[3], 16)
        elif len(words) >= 5:
            name = words[4]
            found[place] = defined.get(name.partition("@")[0], name)
    return found


def _tool(name: str, *arguments: str | Path) -> str:
    try:
        done = subprocess.run([name, *map(str, arguments)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotRun(f"{name} is not installed; it comes with binutils") from None
    if done.returncode != 0:
        raise CannotRun(f"{name}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    return done.stdout
