"""What an ELF file says of itself (elf(5)): its name, what it needs, its symbols. Nothing is loaded."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection, DynamicTag
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from runner.model import CannotRun

_FUNCTIONS = {"STT_FUNC", "STT_NOTYPE", "STT_LOOS", "STT_GNU_IFUNC"}  # the last two: chosen when it is loaded


@dataclass(frozen=True)
class Shared:
    """A program or shared library."""

    path: Path
    soname: str = ""
    needed: Sequence[str] = ()
    runpath: Sequence[Path] = ()
    functions: frozenset[str] = field(default_factory=frozenset)  # that it gives to others
    objects: frozenset[str] = field(default_factory=frozenset)  # variables, the same


def read(path: Path) -> Shared:
    """What the file says. Raises CannotRun for one that is no ELF file."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            dynamic = elf.get_section_by_name(".dynamic")
            tags = [*dynamic.iter_tags()] if isinstance(dynamic, DynamicSection) else []
            soname, needed, runpath, rpath = (_texts(tags, name) for name in ("soname", "needed", "runpath", "rpath"))
            functions, objects = _symbols(elf.get_section_by_name(".dynsym"))
    except (OSError, ELFError) as error:
        raise CannotRun(f"{path}: cannot be read as an ELF file: {error}") from None
    origin = str(path.parent)
    places = [place for text in runpath or rpath for place in text.split(":") if place]
    places = [re.sub(r"\$ORIGIN\b|\$\{ORIGIN\}", lambda _: origin, place) for place in places]
    return Shared(path, next(iter(soname), ""), needed, [*map(Path, places)], functions, objects)


def _texts(tags: Iterable[DynamicTag], name: str) -> list[str]:
    """The values of the tags DT_NAME, which are texts."""
    return [str(getattr(tag, name)) for tag in tags if tag.entry.d_tag == f"DT_{name.upper()}"]


def _symbols(table: object) -> tuple[frozenset[str], frozenset[str]]:
    functions: set[str] = set()
    objects: set[str] = set()
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL":
            (functions if symbol["st_info"]["type"] in _FUNCTIONS else objects).add(symbol.name)
    return frozenset(functions), frozenset(objects)


def loaded(program: Path, directories: Sequence[Path] = ()) -> dict[str, Path]:
    """The files that the dynamic linker would load with a program, by the name under which it looks for each.

    `directories` stand in LD_LIBRARY_PATH. What it does not find is left out.
    """
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, directories)), "LC_ALL": "C"}
    done = subprocess.run(["ldd", str(program)], env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^\s*(\S+) => (/.+) \(0x[0-9a-f]+\)$", done.stdout, re.MULTILINE)
    return {name: Path(path) for name, path in found}


def numbers(path: Path, symbol: str, count: int) -> list[int | None]:
    """The values of a constant array of `count` 8-byte integers with this name, from an object file.

    None for what is known only once a program is linked: the address of something.
    """
    with path.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        entry = (table.get_symbol_by_name(symbol) or [])[0]
        section, begin = entry["st_shndx"], entry["st_value"]
        data = elf.get_section(section).data()
        order: Literal["little", "big"] = "little" if elf.little_endian else "big"
        found: list[int | None] = [
            int.from_bytes(data[begin + 8 * k : begin + 8 * k + 8], order, signed=True) for k in range(count)
        ]
        for relocations in elf.iter_sections():
            if isinstance(relocations, RelocationSection) and relocations["sh_info"] == section:
                for one in relocations.iter_relocations():
                    place = (one["r_offset"] - begin) // 8
                    if 0 <= place < count:
                        found[place] = None
        return found
