"""What is compared, one check for each name: what a library exports, and what its header declares.

A check is named as a case is (docs/formats.md, section 1), so that known/ can speak of it:
`abi.symbol/name=mpi_send`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from reports.requirements import procedures
from runner.interface import elf, standard
from runner.interface.compiler import Compiler, Units, compiler_for
from runner.libraries import targets
from runner.model import CannotRun

MUST, ADVISORY = "must", "advisory"
ABI_LIBRARY = "libmpi_abi.so"
_PROBE = "#include <mpi.h>\nvoid (*volatile used)(void) = (void (*)(void))MPI_Init;\nint main(void) { return !used; }\n"
_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s)|ld-linux[\w-]*)\.so\.\d+")  # libraries of C itself


@dataclass(frozen=True)
class Check:
    """One comparison. `differs`: what is not as the standard says, a sentence; "" where all is well."""

    name: str  # abi.symbol/name=mpi_send
    level: str  # MUST or ADVISORY
    clause: str  # section of MPI-5.0
    differs: str = ""


@dataclass
class Examined:
    """A library and what was compared of it."""

    library: targets.Library
    version: str  # of MPI that its header says, "5.0"
    abi: bool  # it is a library of the standard ABI
    files: list[elf.Shared]  # that export names of MPI
    compiler: Compiler | None = None
    header: str = ""  # the path of mpi.h
    checks: list[Check] = field(default_factory=list)
    not_provided: list[str] = field(default_factory=list)  # procedures of later versions of MPI that it lacks
    not_checked: list[str] = field(default_factory=list)  # sentences

    @property
    def exports(self) -> frozenset[str]:
        """The functions that it gives to programs."""
        return frozenset().union(*(one.functions for one in self.files))

    def expected(self) -> list[str]:
        """The procedures that it has to have."""
        outside = standard.outside_abi() if self.abi else {}
        return [
            name
            for name, entry in procedures().items()
            if standard.in_version(entry["since"], self.version) and name not in outside
        ]


def examine(library: targets.Library, folder: Path) -> Examined:
    """Compare a library and its header with the standard; `folder` is for files in between. Raises CannotRun."""
    compiler = compiler_for(library)
    if compiler is None:
        file = elf.read((library.library_dirs[0] / ABI_LIBRARY).resolve())
        found = Examined(library, "5.0", True, [file])
        found.not_checked = [f"what mpi.h says: {library.spec} comes without it"]
        found.checks = [*_names(found, set(), set()), *_soname(found)]
        return found
    units = Units(compiler, folder)
    macros = _macros(units)
    program = elf.read(units.program("probe", _PROBE))
    files = _libraries_of(library, program)
    version = f"{macros.get('MPI_VERSION', '1')}.{macros.get('MPI_SUBVERSION', '0')}"
    abi = any(one.soname.startswith(ABI_LIBRARY) for one in files)
    found = Examined(library, version, abi, files, compiler)
    text = units.preprocessed()
    place = re.search(r'^# \d+ "([^"]*/mpi\.h)"', text, re.MULTILINE)
    found.header = place[1] if place else ""
    declared = set(re.findall(r"\b(P?MPI_\w+)\)?\s*\(", text))
    words = {*re.findall(r"\bP?MPI_\w+", text), *macros}
    found.checks = [
        *_names(found, declared, macros.keys()),
        *_declarations(found, declared, macros.keys()),
        *_prototypes(units, found, text, declared, words),
    ]
    if abi:
        found.checks += [*_types(units, words), *_constants(units, words), *_left_out(words), *_soname(found)]
        found.checks.append(_needed(program))
    return found


def _libraries_of(library: targets.Library, program: elf.Shared) -> list[elf.Shared]:
    """The shared libraries with names of MPI that a program loads."""
    paths = elf.loaded(program.path, library.library_dirs)
    found = [elf.read(path.resolve()) for path in dict.fromkeys(paths.values())]
    found = [one for one in found if any(re.match(r"P?MPI_", name) for name in one.functions)]
    if not any("MPI_Init" in one.functions for one in found):
        raise CannotRun(f"--mpi {library.spec}: its programs load no shared library that has MPI_Init")
    return found


def _macros(units: Units) -> dict[str, str]:
    """The macros of mpi.h, with or without parameters, and what stands for each."""
    return dict(re.findall(r"^#define (P?MPI_\w+)(?:\([^)]*\))? ?(.*)$", units.preprocessed("-dM"), re.MULTILINE))


def _check(kind: str, name: str, clause: str, differs: str = "", level: str = MUST) -> Check:
    return Check(f"abi.{kind}/name={name.lower()}", level, clause, differs)


def _names(found: Examined, declared: Set[str], macros: Set[str]) -> Iterator[Check]:
    """Symbols: those of the procedures, their twins with PMPI_, and names that are not the standard's."""
    exports = found.exports
    expected = set(found.expected())
    for name, entry in procedures().items():
        as_macro = name in macros and standard.may_be_macro(name, found.version)
        there = name in exports or as_macro
        if not there and name not in expected:
            if not standard.in_version(entry["since"], found.version):
                found.not_provided.append(name)
            continue
        yield _check("symbol", name, entry["section"], "" if there else f"{name} is not in the library")
        twin = f"P{name}"
        if there:
            lacks = twin not in exports and not (as_macro and twin in macros)
            yield _check("profiling", name, "15.2.1", f"{name} is there and {twin} is not" if lacks else "")
    symbols = exports.union(*(one.objects for one in found.files))
    of_functions = standard.callbacks() if declared else {}  # their typedefs look as declarations of functions do
    for name in sorted({*symbols, *declared} - of_functions.keys()):
        if standard.is_foreign(name):
            where = "the library exports it" if name in symbols else "mpi.h declares it"
            differs = f"{name} is no name of the standard, and {where}; names of one's own begin otherwise (MPIX_)"
            yield _check("foreign", name, "2.6.3", differs, ADVISORY)


def _declarations(found: Examined, declared: Collection[str], macros: Collection[str]) -> Iterator[Check]:
    """That mpi.h declares each procedure, and has as macros only those that may be."""
    for name in found.expected():
        differs = ""
        if name not in declared and name not in macros:
            differs = f"mpi.h does not declare {name}"
        elif name not in declared and not standard.may_be_macro(name, found.version):
            yield _check("declaration", name, "2.6.4", f"{name} is a macro and not declared; it may be no macro alone")
            continue
        yield _check("declaration", name, "2.6.3", differs)


def _prototypes(
    units: Units, found: Examined, text: str, declared: Set[str], words: Collection[str]
) -> Iterator[Check]:
    """That each declaration of mpi.h, also that of the twin with PMPI_, has the types that the standard has.

    `text` is mpi.h after preprocessing. A procedure, or its types, may be newer than what the library follows: then
    that is advisory.
    """
    lines = {}
    said = standard.prototypes()
    for name, wanted in said.items():
        for symbol in sorted({name, f"P{name}"} & declared):
            # In parentheses, so that no macro of the name counts.
            lines[symbol] = f"extern {wanted.replace(f'{name}(', f'({symbol})(', 1)};"
    callbacks = {name: wanted for name, wanted in standard.callbacks().items() if name in words}
    lines |= {name: f"{wanted};" for name, wanted in callbacks.items()}
    errors = units.errors("prototypes", lines)

    def differs(name: str, wanted: str) -> str:
        wrong = [symbol for symbol in (name, f"P{name}") if symbol in errors]
        if not wrong:
            return ""
        there = _declaration(text, wrong[0])
        return f"{' and '.join(wrong)}: {there or errors[wrong[0]]}; the standard has {wanted}"

    for name, wanted in said.items():
        if name in lines or f"P{name}" in lines:
            level = MUST if standard.in_version(standard.prototype_since(name), found.version) else ADVISORY
            yield _check("prototype", name, procedures()[name]["section"], differs(name, wanted), level)
    for name, wanted in callbacks.items():
        yield _check("prototype", name, "A.1.3.1", differs(name, wanted))


def _declaration(text: str, name: str) -> str:
    """`mpi.h has int MPI_Send(…)`: the declaration in the preprocessed header, or "" where it is none of the usual."""
    lines = re.sub(r"^#.*", "", text, flags=re.MULTILINE)
    found = re.search(rf"[\w\s*]*?\(?\b{name}\b\)?\s*\([^;{{}}]*?\)(?=\s*(;|__))", lines)
    return f"mpi.h has {' '.join(found[0].split())}" if found else ""


def _types(units: Units, words: Collection[str]) -> Iterator[Check]:
    """Types of the ABI (sections 20.3.1, 20.3.2, 20.3.5)."""
    wanted = standard.abi()["types"]
    lines = {
        name: f'_Static_assert(__builtin_types_compatible_p({name}, {kind}), "type");' for name, kind in wanted.items()
    }
    errors = units.errors("types", lines)
    for name, kind in wanted.items():
        clause = "20.3.2" if kind.startswith("struct") else "20.3.5"
        differs = f"{name} is not compatible with {kind}" if name in words else f"mpi.h does not define {name}"
        yield _check("type", name, clause, differs if name in errors else "")
    status = dict(standard.abi()["status"])
    size = status.pop("size")
    parts = {"MPI_Status": f"sizeof(MPI_Status) == {size} * sizeof(int) && _Alignof(MPI_Status) == _Alignof(int)"}
    parts |= {
        name: f"offsetof(MPI_Status, {name}) == {place} * sizeof(int) && "
        f"__builtin_types_compatible_p(__typeof__(((MPI_Status*)0)->{name}), int)"
        for name, place in status.items()
    }
    errors = units.errors("status", {name: f'_Static_assert({text}, "status");' for name, text in parts.items()})
    for name in parts:
        differs = f"MPI_Status is not made of {size} int"
        if name in status:
            differs = f"{name} is not int number {status[name]} of MPI_Status"
        yield _check("type", name, "20.3.1", differs if name in errors else "")


def _constants(units: Units, words: Collection[str]) -> Iterator[Check]:
    """Values and types of the constants of the ABI (annex A.1.1)."""
    there = {one.name: one for one in standard.constants() if one.name in words}
    values = {name: f"(long long)(intptr_t)({name})," for name in there}
    errors = units.errors("values", values, "long long const assay_values[] = {", "0};")
    constant = [name for name in there if name not in errors]
    numbers = elf.numbers(units.folder / "values.o", "assay_values", len(constant))
    value = dict(zip(constant, numbers, strict=True))
    errors = units.errors("kinds", {name: _has_type(one) for name, one in there.items()})
    for one in standard.constants():
        differs = ""
        if one.name not in there:
            differs = "" if one.optional else f"mpi.h does not define {one.name}"
        elif value.get(one.name) is None:
            differs = f"{one.name} is not constant when a program is compiled"
        elif value[one.name] != one.value:
            differs = f"{one.name} is {value[one.name]}; the standard: {one.value}"
        elif one.name in errors:
            differs = f"{one.name} is not of type {one.type}"
        yield _check("constant", one.name, "A.1.1", differs)


def _has_type(constant: standard.Constant) -> str:
    """A declaration that compiles only if the constant has its type; enumerators are of type int in C."""
    kinds = {constant.type, *(["int"] if constant.type in standard.abi()["enumerations"] else [])}
    same = " || ".join(f"__builtin_types_compatible_p(__typeof__({constant.name}), {kind})" for kind in sorted(kinds))
    usable = f"; enum {{ assay_{constant.name} = {constant.name} }}" if constant.type == "int" else ""
    return f'_Static_assert({same}, "type"){usable};'


def _left_out(words: Collection[str]) -> Iterator[Check]:
    """What mpi.h of the ABI does not have (sections 20.2.1, 20.4)."""
    for name, entry in standard.outside_abi().items():
        differs = f"mpi.h has {name}, which {entry.why}" if name in words else ""
        yield _check("left_out", name, entry.clause, differs, ADVISORY)


def _soname(found: Examined) -> Iterator[Check]:
    """The name by which programs look for a library of the ABI (section 20.2.1)."""
    for one in found.files:
        if "MPI_Init" not in one.functions:
            continue
        differs = f"{one.path} calls itself {one.soname or 'nothing'}"
        yield _check("library", "mpi_abi", "20.2.1", "" if one.soname.startswith(ABI_LIBRARY) else differs)
        wanted = f"{ABI_LIBRARY}.{standard.abi()['constants']['int']['MPI_ABI_VERSION']}"
        differs += f"; by the version of the ABI it would be {wanted}"
        yield _check("library", "soname", "20.2.1", "" if one.soname == wanted else differs, ADVISORY)


def _needed(program: elf.Shared) -> Check:
    """What a program needs beside the library of the ABI (section 20.2.1)."""
    more = [name for name in program.needed if not name.startswith(ABI_LIBRARY) and not _SYSTEM.fullmatch(name)]
    differs = f"a program needs {', '.join(more)} beside {ABI_LIBRARY}" if more else ""
    return _check("library", "needed", "20.2.1", differs)


def differences(checks: Iterable[Check]) -> list[Check]:
    """The checks that found something."""
    return [one for one in checks if one.differs]


def counts(checks: Sequence[Check]) -> Mapping[str, int]:
    """How many checks of each kind there were."""
    found: dict[str, int] = {}
    for one in checks:
        kind = one.name.partition("/")[0].removeprefix("abi.")
        found[kind] = found.get(kind, 0) + 1
    return found
