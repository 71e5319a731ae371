"""The options of a run that run.json keeps, one table for all that spells them: the command line, run.json and
`assay resume`, the command that repeats a case, and the report, which shows what differs from the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from runner.model import WrongUse


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, kw_only=True)
class Field:
    """One option. `part` names the part of a Request that has it: options, wishes, or "" for the request itself."""

    name: str  # of the attribute, and in run.json
    part: str
    group: str  # of options: target, selection, run
    default: Any
    help: str
    metavar: str | None = None
    type: Any = None
    option: str = ""  # where it is not --name
    repeats: bool = False  # the command that repeats a case says it, too
    read: Callable[[Any], Any] = field(default=_same)  # from what click gives
    store: Callable[[Any], Any] = field(default=_same)  # to what run.json has
    load: Callable[[Any], Any] = field(default=_same)  # and back

    @property
    def word(self) -> str:
        """`--timeout-scale`."""
        return self.option or f"--{self.name.replace('_', '-')}"

    def click_option(self) -> Callable[[Any], Any]:
        """The decorator that declares it."""
        if isinstance(self.default, bool):
            return click.option(self.word, is_flag=True, help=self.help)
        if isinstance(self.default, list | dict):
            return click.option(self.word, multiple=True, metavar=self.metavar, help=self.help)
        return click.option(self.word, default=self.default, metavar=self.metavar, type=self.type, help=self.help)

    def given(self, given: Mapping[str, Any]) -> Any:
        """The value that the command line gives. Raises WrongUse."""
        return self.read(given[self.word.removeprefix("--").replace("-", "_")])

    def words(self, value: Any) -> list[str]:
        """The value as words of a command line; none for the default. `value` is as run.json has it."""
        if value == self.default:
            return []
        if value is True:
            return [self.word]
        if isinstance(value, Mapping):
            return [word for name, one in value.items() for word in (self.word, f"{name}={one}")]
        if isinstance(value, list | tuple):
            return [word for one in value for word in (self.word, str(one))]
        return [self.word, f"{value:g}" if isinstance(value, float) else str(value)]


def _environment(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise WrongUse(f"--env {word}: use NAME=VALUE")
        found[name] = value
    return found


def _libraries(words: Sequence[str]) -> list[Path]:
    paths = [Path(path).absolute() for path in words]
    for path in paths:
        if not path.is_file():
            raise WrongUse(f"--preload {path}: there is no such library")
    return paths


_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def _seconds(word: str | None) -> float | None:
    """`90`, `90s`, `10m`, `1.5h`."""
    if word is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", str(word))
    if not found or not float(found[1]):
        raise WrongUse(f"--max-time {word}: not a time; for example 90s, 10m or 2h")
    return float(found[1]) * _UNITS[found[2]]


def _absolute(words: Sequence[str]) -> list[str]:
    return [str(Path(word).absolute()) for word in words]


def _paths(words: Sequence[str]) -> list[Path]:
    return list(map(Path, words))


def _texts(values: Sequence[object]) -> list[str]:
    return list(map(str, values))


FIELDS = (
    Field(
        name="launcher",
        part="wishes",
        group="target",
        default="mpiexec",
        metavar="HOW",
        repeats=True,
        help="mpiexec (the library's own), srun, a template such as 'srun -n {np} {command}', or "
        "'{command}' for one process by itself.",
    ),
    Field(
        name="env",
        part="wishes",
        group="target",
        default={},
        metavar="NAME=VALUE",
        repeats=True,
        help="Environment of the ranks only; repeated.",
        read=_environment,
        store=dict,
    ),
    Field(
        name="preload",
        part="wishes",
        group="target",
        default=[],
        metavar="LIB",
        repeats=True,
        help="LD_PRELOAD of the ranks only; repeated.",
        read=_libraries,
        store=_texts,
        load=_paths,
    ),
    Field(
        name="defaults",
        part="wishes",
        group="target",
        default=False,
        repeats=True,
        help="Leave the library's own settings for busy cores alone.",
    ),
    Field(
        name="force_np",
        part="wishes",
        group="target",
        default=False,
        repeats=True,
        help="Also start far more ranks than there are cores.",
    ),
    Field(
        name="preset",
        part="",
        group="target",
        default="release",
        metavar="NAME",
        repeats=True,
        help="Build: release, debug, asan, tsan, coverage.",
    ),
    Field(
        name="threads",
        part="options",
        group="selection",
        default=1,
        metavar="N",
        type=click.IntRange(1, 256),
        repeats=True,
        help="Threads a rank. Default: 1.",
    ),
    Field(
        name="order",
        part="",
        group="run",
        default="listed",
        metavar="listed|shuffle",
        help="Order of the cases. Default: listed.",
    ),
    Field(
        name="shard",
        part="",
        group="run",
        default=None,
        metavar="I/N",
        help="Every N-th case, beginning with the I-th; `assay merge` puts the shards together.",
    ),
    Field(
        name="repeat",
        part="options",
        group="run",
        default=1,
        metavar="N",
        type=click.IntRange(1),
        repeats=True,
        help="Run each case N times in a row.",
    ),
    Field(
        name="retries",
        part="options",
        group="run",
        default=0,
        metavar="N",
        type=click.IntRange(0, 100),
        help="Repeat failed cases: flaky or not?",
    ),
    Field(
        name="strict",
        part="options",
        group="run",
        default=False,
        repeats=True,
        help="What the standard only advises fails a case, too.",
    ),
    Field(
        name="case_timeout",
        part="options",
        group="run",
        default=None,
        metavar="S",
        type=click.FloatRange(0.01, 1e6),
        repeats=True,
        help="Seconds of processor time of a rank after which a case counts as hung. Default: 2.",
    ),
    Field(
        name="timeout_scale",
        part="options",
        group="run",
        default=1.0,
        metavar="X",
        type=click.FloatRange(0.01, 1000),
        repeats=True,
        help="X times the time for each case.",
    ),
    Field(
        name="max_time",
        part="options",
        group="run",
        default=None,
        metavar="TIME",
        help="Stop after 90s, 10m, 2h; `assay resume` goes on.",
        read=_seconds,
    ),
    Field(
        name="maxfail",
        part="options",
        group="run",
        default=None,
        metavar="N",
        type=click.IntRange(1),
        help="Stop after N unexpected results; `assay resume` goes on.",
    ),
    Field(
        name="known",
        part="",
        group="run",
        default=[],
        metavar="FILE",
        repeats=True,
        help="More known failures than known/*.toml has; repeated.",
        read=_absolute,
        store=list,
    ),
    Field(
        name="no_known",
        part="",
        group="run",
        default=False,
        repeats=True,
        help="Without the known failures that come with Assay.",
    ),
    Field(
        name="known_limit",
        part="",
        group="run",
        default=20,
        metavar="N",
        type=click.IntRange(0),
        help="Once a known failure has ended N cases of a test, skip the rest of them; 0: never. Default: 20.",
    ),
)


def of_group(group: str) -> list[Field]:
    """The fields of one group of options."""
    return [one for one in FIELDS if one.group == group]


def parts_of(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Values by name, as the arguments of the parts of a request."""
    found: dict[str, dict[str, Any]] = {"options": {}, "wishes": {}, "": {}}
    for one in FIELDS:
        if one.name in values:
            found[one.part][one.name] = values[one.name]
    return found
