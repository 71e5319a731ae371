"""assay pipeline: files for other systems that run Assay, from the folder pipelines/."""

from __future__ import annotations

from runner.home import HOME
from runner.planning.plan import must_be_one_of

FOLDER = HOME / "pipelines"
FILES = {
    "github": "github.yml",
    "gitlab": "gitlab-ci.yml",
    "reframe": "reframe_assay.py",
    "spack": "spack_package.py",
}


def text(name: str) -> str:
    """What one of FILES holds. Raises WrongUse."""
    must_be_one_of("pipeline", name, FILES)
    return (FOLDER / FILES[name]).read_text(encoding="utf-8")
