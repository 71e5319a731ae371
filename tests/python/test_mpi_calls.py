"""Which procedures a library's headers declare: cmake/mpi_calls.cmake, which the suite is built with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from runner import build


def test_headers_that_mpi_h_includes_count(tmp_path: Path) -> None:
    names = [f"MPI_Assay_{number}" for number in range(300)]  # fewer are no mpi.h
    (tmp_path / "mpi.h").write_text(
        '#include <stddef.h>\n#include "mpio.h"\n' + "".join(f" int {name}(void);\n" for name in names)
    )
    # As in MPICH 4. A circle must not be walked for ever.
    (tmp_path / "mpio.h").write_text('#  include "mpi.h"\n int MPI_File_open(MPI_Comm comm, const char *name);\n')
    (tmp_path / "other.h").write_text(" int MPI_File_close(MPI_File *file);\n")  # nobody includes it
    out = tmp_path / "out"
    script = tmp_path / "only.cmake"
    script.write_text(
        f"cmake_minimum_required(VERSION 3.25)\nset(MPI_C_INCLUDE_DIRS {tmp_path})\nset(CMAKE_BINARY_DIR {out})\n"
        f"include({build.REPO}/cmake/mpi_calls.cmake)\n"
    )
    subprocess.run(["cmake", "-P", str(script)], check=True, timeout=60)
    text = (out / "generated" / "mpi_calls.hpp").read_text()
    absent = re.search(r"absent_procedures\[\] = \{(.*?)\}", text, re.DOTALL)
    assert absent
    assert f"{len(names) + 1} procedures" in text
    assert '"MPI_File_open"' not in absent[1]
    assert '"MPI_File_close"' in absent[1]
