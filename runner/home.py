"""Where Assay is: a clone of its repository, or the folder of the installed package, which is laid out in the same way.

What is installed lacks the tests of Assay itself and its git history. It has the sources, with which suites are built
for libraries, and a wheel of a release also has programs that were built before: those for libraries with the ABI of
MPI-5.0, so that these need no compiler.
"""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
INSTALLED = not (HOME / "assay").is_file()  # the command of a clone
PROGRAM = "assay" if INSTALLED else "./assay"  # as users call it
PREBUILT = HOME / "prebuilt"  # programs for libraries with the ABI of MPI-5.0
