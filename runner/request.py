"""What `assay run` was asked for: stored in run.json, and said again as the command that repeats a case."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.fields import FIELDS, Field, parts_of
from runner.home import PROGRAM
from runner.libraries.launching import LaunchWishes, target_name
from runner.libraries.transports import OWN, Transport, parse
from runner.model import Options, Target, WrongUse
from runner.planning.plan import Selection


@dataclass(frozen=True)
class Request:
    """What the user asked for; stored in run.json, so that `assay resume` can go on with it."""

    mpi: Sequence[str]
    np: Sequence[int]
    selection: Selection
    options: Options
    order: str = "listed"
    shard: str | None = None
    known: Sequence[str] = ()  # files of known failures, beside those that come with Assay
    no_known: bool = False  # without those that come with Assay
    known_limit: int = 20  # cases of a test that a known failure ends before the rest is left out; 0: all run
    preset: str = "release"
    wishes: LaunchWishes = field(default_factory=LaunchWishes)
    argv: Sequence[str] = ()
    matrix: bool = False  # libraries side by side: one that cannot run does not stop the others
    transports: Sequence[str] = (OWN,)

    @property
    def part(self) -> bool:
        """Whether cases that known failures are about may have been left out by the user."""
        chosen = self.selection
        return (
            bool(chosen.suite or chosen.axis or chosen.select or chosen.profile or self.shard) or chosen.tier == "smoke"
        )

    def value(self, one: Field) -> Any:
        """The value of a field, as run.json has it."""
        return one.store(getattr(getattr(self, one.part) if one.part else self, one.name))

    def record(self) -> dict[str, Any]:
        """The part of run.json that says what was asked for."""
        chosen = self.selection
        return {
            "seed": self.options.seed,
            "tier": chosen.tier,
            "profile": chosen.profile,
            "argv": list(self.argv),
            "selection": {
                "suite": list(chosen.suite),
                "axis": {axis: list(values) for axis, values in chosen.axis.items()},
                "select": list(chosen.select),
            },
            "options": {
                **{one.name: self.value(one) for one in FIELDS},
                "matrix": self.matrix,
                "transports": list(self.transports),
            },
        }

    def names(self) -> list[str]:
        """Of the targets, in the order in which they run."""
        return [
            target_name(spec, transport, np)
            for spec in dict.fromkeys(self.mpi)
            for transport in self.over()
            for np in dict.fromkeys(self.np)
        ]

    def over(self) -> list[Transport]:
        """The transports. Raises WrongUse for names of none."""
        return [parse(spec) for spec in dict.fromkeys(self.transports)]


def request_of_run(out: Path, record: Mapping[str, Any]) -> Request:
    """The request that run.json of `out` records. Raises WrongUse when it is not whole."""
    try:
        options, chosen = record["options"], record["selection"]
        parts = parts_of({one.name: one.load(options[one.name]) for one in FIELDS if one.name in options})
        return Request(
            mpi=list(dict.fromkeys(about["mpi"] for about in record["targets"])),
            np=list(dict.fromkeys(about["np"] for about in record["targets"])),
            selection=Selection(
                record["tier"],
                record["seed"],
                record["profile"],
                chosen["suite"],
                chosen["axis"],
                chosen["select"],
                options["threads"],
            ),
            options=Options(seed=record["seed"], **parts["options"]),
            wishes=LaunchWishes(**parts["wishes"]),
            argv=record["argv"],
            matrix=options["matrix"],
            transports=options.get("transports", (OWN,)),
            **parts[""],
        )
    except (KeyError, TypeError) as error:
        raise WrongUse(
            f"{out / 'run.json'}: not written by this version of assay ({error} is missing); run again"
        ) from None


def repeat_command(request: Request, target: Target, case: str) -> str:
    """The command that repeats one case."""
    words = [PROGRAM, "run", "--mpi", target.mpi, "--np", str(target.np), "--seed", str(request.options.seed)]
    words += ["--transport", target.transport] if target.transport else []
    words += [word for one in FIELDS if one.repeats for word in one.words(request.value(one))]
    return f"{shlex.join([*words, '--select'])} '{case}'"


def changed_options(run: Mapping[str, Any]) -> list[str]:
    """The options of the run of this run.json that differ from the defaults, as on the command line."""
    given = run.get("options")
    if not isinstance(given, Mapping):
        return []
    words = [shlex.join(one.words(given[one.name])) for one in FIELDS if one.name in given]
    transports = given.get("transports")
    if isinstance(transports, list) and transports != [OWN]:
        words.append(shlex.join(["--transport", ",".join(map(str, transports))]))
    return [word for word in words if word]
