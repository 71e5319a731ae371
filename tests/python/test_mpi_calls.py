"""Which procedures a library has: cmake/mpi_calls.cmake, which the suite is built with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from runner.libraries import build


def absent_procedures(folder: Path) -> str:
    """The names that the script takes for absent in a library of `folder`: mpi.h and what it includes, libmpi.c."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(only C)\n"
        f"execute_process(COMMAND ${{CMAKE_C_COMPILER}} -shared -fPIC -o {folder}/libmpi.so {folder}/libmpi.c)\n"
        "add_library(MPI::MPI_C SHARED IMPORTED)\n"
        f"set_target_properties(MPI::MPI_C PROPERTIES IMPORTED_LOCATION {folder}/libmpi.so"
        f" INTERFACE_INCLUDE_DIRECTORIES {folder})\n"
        f"set(MPI_C_INCLUDE_DIRS {folder})\ninclude({build.REPO}/cmake/mpi_calls.cmake)\n"
    )
    subprocess.run(["cmake", "-S", str(folder), "-B", str(folder / "out")], check=True, timeout=60)
    text = (folder / "out" / "generated" / "mpi_calls.hpp").read_text()
    absent = re.search(r"absent_procedures\[\] = \{(.*?)\}", text, re.DOTALL)
    assert absent
    return absent[1]


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
    absent = absent_procedures(tmp_path)
    for name in ("MPI_File_open", "MPI_Type_create_f90_integer"):
        assert f'"{name}"' not in absent
    for name in ("MPI_File_close", "MPI_Type_create_f90_real"):
        assert f'"{name}"' in absent
