"""The statements of MPI-5.0 that cases rest on: standard/*.toml."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "standard"


@lru_cache(maxsize=1)
def catalogue() -> dict[str, dict[str, Any]]:
    """Every requirement by its id, with section, level, since, procedures and text; in the order of the standard."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["requirement"]:
            if entry["id"] in found:
                raise ValueError(f"{path}: the requirement {entry['id']} stands twice")
            found[entry["id"]] = entry
    return found


def cited(ids: object) -> list[tuple[str, str]]:
    """(section, text) of the requirements of one case; an id that the catalogue does not know is left out."""
    known = catalogue()
    names = [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []
    return [(known[name]["section"], known[name]["text"]) for name in names if name in known]
