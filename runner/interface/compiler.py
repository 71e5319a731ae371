"""Compiling C with a library's own header: which lines of a file do not compile, and why."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.libraries import targets
from runner.libraries.output import first_error
from runner.model import CannotRun

# -w: only errors count; -fno-lto: an object file holds the values of constants.
_FLAGS = ("-std=gnu11", "-w", "-O0", "-fno-lto", "-fdiagnostics-color=never")
_SAID = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|note): (?P<text>.*)$", re.MULTILINE
)


@dataclass(frozen=True)
class Compiler:
    """What compiles a program for a library."""

    command: Sequence[str]
    link: Sequence[str] = ()  # what a program is linked with; nothing for a compiler wrapper
    header_of: str = ""  # whose header that is, where it is not in the library's own folder


def compiler_for(library: targets.Library) -> Compiler | None:
    """What compiles with the header of this library, or None where that header is nowhere. Raises CannotRun."""
    if library.mpicc is not None:
        return Compiler([str(library.mpicc)])
    wrapper = library.root / "bin" / "mpicc_abi"
    if os.access(wrapper, os.X_OK):
        return Compiler([str(wrapper)])
    headers, of = library.root / "include", ""
    package = targets.known().get(library.family, {}).get("headers")
    if not (headers / "mpi.h").exists() and package and "@" in library.spec:
        of = f"{package}=={library.version}"
        headers = targets.python_package(of, f"the header of {library.spec}") / "include"
    if not (headers / "mpi.h").exists():
        return None
    folder = library.library_dirs[0]
    return Compiler(["cc", "-DMPI_ABI", f"-I{headers}"], [f"-L{folder}", "-lmpi_abi"], of)


class Units:
    """Files of C that include mpi.h, compiled in a folder."""

    def __init__(self, compiler: Compiler, folder: Path) -> None:
        self.compiler = compiler
        self.folder = folder

    def preprocessed(self, *flags: str) -> str:
        """mpi.h and all that it includes after preprocessing; with -dM its macros. Raises CannotRun."""
        source = self.folder / "header.c"
        source.write_text("#include <mpi.h>\n")
        done = self._run(["-E", *flags, str(source)])
        if done.returncode != 0:
            raise CannotRun(
                f"{self.compiler.command[0]} does not compile `#include <mpi.h>`: {first_error(done.stderr)}"
            )
        return done.stdout

    def errors(self, name: str, lines: Mapping[str, str], before: str = "", after: str = "") -> dict[str, str]:
        """Which of some lines, each under a key, do not compile, and the first error of each.

        They are left out in the end: NAME.o holds the others. Raises CannotRun for an error in none of them.
        """
        bad: dict[str, str] = {}
        while True:
            good = {key: line for key, line in lines.items() if key not in bad}
            text = f"#include <mpi.h>\n#include <stddef.h>\n#include <stdint.h>\n{before}\n"
            first = text.count("\n") + 1
            source = self.folder / f"{name}.c"
            source.write_text(text + "".join(f"{line}\n" for line in good.values()) + f"{after}\n")
            done = self._run(["-c", str(source), "-o", str(self.folder / f"{name}.o")])
            if done.returncode == 0:
                return bad
            # A compiler may give up after some errors: what is wrong is left out, and it is asked again.
            found = _by_line(done.stderr, source)
            keys = list(good)
            more = {keys[line - first]: error for line, error in found.items() if 0 <= line - first < len(keys)}
            if not more:
                raise CannotRun(f"{self.compiler.command[0]} does not compile {source}: {first_error(done.stderr)}")
            bad |= more

    def program(self, name: str, text: str) -> Path:
        """A program made of this text. Raises CannotRun."""
        source, program = self.folder / f"{name}.c", self.folder / name
        source.write_text(text)
        done = self._run([str(source), "-o", str(program), *self.compiler.link])
        if done.returncode != 0:
            raise CannotRun(f"{self.compiler.command[0]} makes no program of {source}: {first_error(done.stderr)}")
        return program

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        command = [*self.compiler.command, *_FLAGS, *words]
        try:
            return subprocess.run(
                command,
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except OSError as error:
            raise CannotRun(f"{command[0]}: cannot be run: {error.strerror}") from None


def _by_line(said: str, source: Path) -> dict[int, str]:
    """The first error of each line of `source`. An error in a macro of a header belongs to the line that uses it."""
    found: dict[int, str] = {}
    text, line = "", 0  # of the error that notes belong to; line 0: it is not known yet
    for one in _SAID.finditer(said):
        here = int(one["line"]) if one["file"] == str(source) else 0
        if one["kind"] != "note":
            text, line = one["text"], here
        elif not line:
            line = here
        if line and line not in found:
            found[line] = text
    return found
