"""What `assay run` was asked for: stored in run.json, and said again as the command that repeats a case."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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
    known_limit: int = 0  # cases of a test that a known failure ends before the rest is left out; 0: all run
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

    def record(self) -> dict[str, Any]:
        """The part of run.json that says what was asked for."""
        options, wishes, chosen = self.options, self.wishes, self.selection
        return {
            "seed": options.seed,
            "tier": chosen.tier,
            "profile": chosen.profile,
            "argv": list(self.argv),
            "selection": {
                "suite": list(chosen.suite),
                "axis": {axis: list(values) for axis, values in chosen.axis.items()},
                "select": list(chosen.select),
            },
            "options": {
                **{name: value for name, value in asdict(options).items() if name != "seed"},
                "order": self.order,
                "shard": self.shard,
                "known": list(self.known),
                "no_known": self.no_known,
                "known_limit": self.known_limit,
                "preset": self.preset,
                "launcher": wishes.launcher,
                "env": dict(wishes.env),
                "preload": [str(path) for path in wishes.preload],
                "defaults": wishes.defaults,
                "force_np": wishes.force_np,
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
            options=Options(
                record["seed"],
                options["threads"],
                options["repeat"],
                options["retries"],
                options["strict"],
                options["timeout_scale"],
            ),
            order=options["order"],
            shard=options["shard"],
            known=options["known"],
            no_known=options["no_known"],
            known_limit=options.get("known_limit", 0),
            preset=options["preset"],
            wishes=LaunchWishes(
                options["launcher"],
                options["env"],
                [Path(path) for path in options["preload"]],
                options["defaults"],
                options["force_np"],
            ),
            argv=record["argv"],
            matrix=options["matrix"],
            transports=options.get("transports", (OWN,)),
        )
    except (KeyError, TypeError) as error:
        raise WrongUse(
            f"{out / 'run.json'}: not written by this version of assay ({error} is missing); run again"
        ) from None


def repeat_command(request: Request, target: Target, case: str) -> str:
    """The command that repeats one case."""
    words = ["./assay", "run", "--mpi", target.mpi, "--np", str(target.np), "--seed", str(request.options.seed)]
    words += ["--threads", str(request.options.threads)] if request.options.threads > 1 else []
    words += ["--no-known"] if request.no_known else []
    for file in request.known:
        words += ["--known", file]
    words += ["--strict"] if request.options.strict else []
    words += ["--timeout-scale", f"{request.options.timeout_scale:g}"] if request.options.timeout_scale != 1.0 else []
    words += ["--transport", target.transport] if target.transport else []
    wishes = request.wishes
    words += ["--launcher", wishes.launcher] if wishes.launcher != "mpiexec" else []
    words += ["--defaults"] if wishes.defaults else []
    words += ["--force-np"] if wishes.force_np else []
    words += ["--preset", request.preset] if request.preset != "release" else []
    for name, value in wishes.env.items():
        words += ["--env", f"{name}={value}"]
    for path in wishes.preload:
        words += ["--preload", str(path)]
    return f"{shlex.join([*words, '--select'])} '{case}'"


def changed_options(run: Mapping[str, Any]) -> list[str]:
    """The options of the run of this run.json that differ from the defaults, as on the command line."""
    given = run.get("options") if isinstance(run.get("options"), dict) else {}
    default = Request((), (), Selection(), Options()).record()["options"]
    words = []
    for name, value in (given or {}).items():
        option = "--" + name.removesuffix("s" if name == "transports" else "").replace("_", "-")
        if name == "matrix" or name not in default or value == default[name]:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, dict):
            words += [f"{option} {key}={one}" for key, one in value.items()]
        else:
            words += [f"{option} {one}" for one in (value if isinstance(value, list) else [value])]
    return words
