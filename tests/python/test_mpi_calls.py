"""Which procedures a library has: cmake/mpi_calls.cmake, which the suite is built with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from runner.libraries import build


def generated(folder: Path) -> str:
    """mpi_calls.hpp for a library of `folder`: mpi.h and what it includes, libmpi.c."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(only C)\n"
        f"execute_process(COMMAND ${{CMAKE_C_COMPILER}} -shared -fPIC -o {folder}/libmpi.so {folder}/libmpi.c)\n"
        "add_library(MPI::MPI_C SHARED IMPORTED)\n"
        f"set_target_properties(MPI::MPI_C PROPERTIES IMPORTED_LOCATION {folder}/libmpi.so"
        f" INTERFACE_INCLUDE_DIRECTORIES {folder})\n"
        f"set(MPI_C_INCLUDE_DIRS {folder})\nset(MPI_C_COMPILE_DEFINITIONS SECOND_ABI)\n"
        f"include({build.REPO}/cmake/mpi_calls.cmake)\n"
    )
    subprocess.run(["cmake", "-S", str(folder), "-B", str(folder / "out")], check=True, timeout=60)
    return (folder / "out" / "generated" / "mpi_calls.hpp").read_text()


def listed(text: str, name: str) -> set[str]:
    """The names of a list in that text: absent_procedures or macro_procedures."""
    found = re.search(rf"{name}\[\] = \{{(.*?)\}}", text, re.DOTALL)
    assert found
    return set(re.findall(r'"(\w+)"', found[1]))


def test_headers_that_mpi_h_includes_count_and_what_the_library_does_not_define_does_not(tmp_path: Path) -> None:
    filling = [f"MPI_Assay_{number}" for number in range(300)]  # fewer are no mpi.h
    (tmp_path / "mpi.h").write_text(
        '#pragma once\n#include <stddef.h>\n#include "mpio.h"\n'
        + "".join(
            f" int {name}(void);\n" for name in [*filling, "MPI_Type_create_f90_real", "MPI_Type_create_f90_integer"]
        )
    )
    # As in MPICH 4. A circle must not be walked for ever.
    (tmp_path / "mpio.h").write_text('#pragma once\n#  include "mpi.h"\n int MPI_File_open(void);\n')
    (tmp_path / "other.h").write_text(" int MPI_File_close(void);\n")  # nobody includes it
    defined = [*filling, "MPI_File_open", "MPI_File_close", "MPI_Type_create_f90_integer"]
    (tmp_path / "libmpi.c").write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in defined))
    absent = listed(generated(tmp_path), "absent_procedures")
    assert absent.isdisjoint({"MPI_File_open", "MPI_Type_create_f90_integer"})
    assert absent >= {"MPI_File_close", "MPI_Type_create_f90_real"}


def test_conversions_of_handles_count_whatever_they_return_and_as_macros(tmp_path: Path) -> None:
    filling = [f"MPI_Assay_{number}" for number in range(300)]
    (tmp_path / "mpi.h").write_text(
        "typedef int MPI_Fint;\ntypedef struct comm* MPI_Comm;\n"
        + "".join(f"int {name}(void);\n" for name in filling)
        + "MPI_Comm MPI_Comm_fromint(int);\nint MPI_Comm_toint(MPI_Comm);\n"
        "#define MPI_Comm_c2f(comm) (MPI_Fint)(comm)\n"
        "#ifndef SECOND_ABI\n#define MPI_Comm_f2c(comm) (MPI_Comm)(comm)\nint MPI_Win_toint(void*);\n#endif\n"
    )
    defined = [*filling, "MPI_Comm_fromint", "MPI_Comm_toint"]
    (tmp_path / "libmpi.c").write_text("".join(f"void* {name}(void) {{ return 0; }}\n" for name in defined))
    text = generated(tmp_path)
    absent = listed(text, "absent_procedures")
    assert absent.isdisjoint({"MPI_Comm_fromint", "MPI_Comm_toint", "MPI_Comm_c2f"})
    assert absent >= {"MPI_Comm_f2c", "MPI_Win_toint"}, "what only another ABI of the header has is not there"
    assert listed(text, "macro_procedures") == {"MPI_Comm_c2f"}
    assert '::assay::entering("MPI_Comm_fromint")' in text and "#define MPI_Fint" not in text
