"""What the pages share: one self-contained file each, which loads nothing and escapes what the evidence says."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from reports.evidence import printable
from runner.home import PROGRAM

_TEMPLATES = Path(__file__).parent / "templates"


def render(name: str, filters: Mapping[str, Callable[..., Any]], **values: Any) -> str:
    """The page of templates/`name`.html, with the style and the script of all pages and of this one."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(filters)
    environment.globals["program"] = PROGRAM
    environment.filters["printable"] = printable
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["duration"] = duration
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": False}
    script = _together(f"page.js {name}.js")
    return environment.get_template(f"{name}.html").render(
        **values,
        style=Markup(_together(f"page.css {name}.css")),
        script=Markup(script),
        # Only this very script may run, whatever else a message might smuggle in.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _together(names: str) -> str:
    return "".join(path.read_text(encoding="utf-8") for name in names.split() if (path := _TEMPLATES / name).exists())


def duration(seconds: object) -> str:
    """3725.0 → `1 h 2 min`, 0.0004 → `0.4 ms`. What is no number stays away."""
    if not isinstance(seconds, int | float):
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
