"""The command line.

The exit codes are those of runner/model.py.
"""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Any

import click

from runner.home import PROGRAM
from runner.model import (
    BROKEN_PIPE,
    COULD_NOT_RUN,
    INTERRUPTED,
    NOTHING_APPLICABLE,
    TERMINATED,
    UNEXPECTED_RESULT,
    WRONG_USE,
    CannotRun,
    Terminated,
    WrongUse,
)
from runner.options import (
    FOLDER,
    mpi_for,
    mpis_for,
    nps_of,
    request_of,
    run_options,
    selection_options,
    target_options,
    wishes_of,
)
from runner.planning.plan import TIERS, comma_list, must_be_one_of

_DEFAULT = click.core.ParameterSource.DEFAULT


class Commands(click.Group):
    """Says which command is near when one is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = get_close_matches(args[0], self.commands, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(self.commands))}"
            raise click.UsageError(f"unknown command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; one sentence on stderr and an exit code for everything that goes wrong."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        result = assay.main(args=argv, prog_name="assay", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # of click 8.2: `assay` alone
            print(error.format_message(), file=sys.stderr)
            return WRONG_USE
        return _say(_one_line(error.format_message()), WRONG_USE)
    except WrongUse as error:
        return _say(str(error), WRONG_USE)
    except CannotRun as error:
        return _say(str(error), COULD_NOT_RUN)
    except (KeyboardInterrupt, click.Abort) as error:
        cause = error.__cause__ or error  # click turns one into the other
        code = TERMINATED if isinstance(cause, Terminated) else INTERRUPTED
        return _say("; ".join(["interrupted", *map(str, cause.args)]), code)
    except BrokenPipeError:
        sys.stderr.close()
        return BROKEN_PIPE
    except OSError as error:
        return _say(f"{error.filename or 'the system'}: {error.strerror or error}", COULD_NOT_RUN)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise Terminated


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _say(text: str, code: int) -> int:
    print(f"assay: {text}", file=sys.stderr)
    return code


def _say_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from runner.machine import version

        print(f"assay {version()}")
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="Say which.")
@click.option(
    "--build-dir",
    metavar="DIR",
    type=FOLDER,
    help="Folder for builds. Default: build/ here, or the cache if read-only.",
)
def assay(build_dir: str | None) -> None:
    """Assay: does this MPI library do what MPI-5.0 says?

    \b
    assay run                     the quick tier on MPICH, 2 ranks
    assay run --mpi openmpi@5.0.11 --np 2,4 --suite p2p
    assay matrix --mpi mpich@5.0.2,openmpi@5.0.11 --np 2,4
    assay test                    the tests of Assay itself
    """
    if build_dir is not None:
        import os

        os.environ["ASSAY_BUILD_DIR"] = str(Path(build_dir).absolute())


@assay.command()
@target_options
@selection_options
@run_options
@click.option(
    "--baseline", metavar="DIR", type=FOLDER, help="Folder of a run: only what did not fail there fails this one."
)
@click.option(
    "--last-failed", metavar="DIR", type=FOLDER, help="Only the cases that did not go as expected in that run."
)
def run(out: str | None, baseline: str | None, last_failed: str | None, **given: Any) -> int:
    """Run the suite on one or more MPI libraries and report what it found.

    Failures that known/*.toml lists for the library are expected, unless --no-known is given: the exit code is 0 when
    nothing else fails.
    """
    from runner.commands.run import run as command

    before = _run_folder(baseline) if baseline is not None else None
    if before is not None:
        from runner.commands.compare import check_installed

        check_installed()
    if last_failed is not None:
        from runner.commands.run import only_failed

        chosen = {name for name in given if click.get_current_context().get_parameter_source(name) != _DEFAULT}
        again = only_failed(_run_folder(last_failed), given, chosen)
        if again is None:
            _note(f"{last_failed}: every case went as expected; there is nothing to repeat")
            return NOTHING_APPLICABLE
        given = again
    request = request_of(given, matrix=False)
    return command(request, Path(out) if out is not None else None, _terminal(), before)


@assay.command()
@click.argument("directories", metavar="[DIR]…", type=FOLDER, nargs=-1)
@target_options
@selection_options
@run_options
def matrix(directories: Sequence[str], out: str | None, **given: Any) -> int:
    """Compare MPI libraries: run the suite on all of them and put the results side by side, in matrix.html.

    A library that cannot be installed, built for or started is shown as "could not run", and the others run; the exit
    code is then 3.

    With folders of runs nothing is run: the page is about what is in them, and stands in --out (default: the folder,
    when there is one).
    """
    if directories:
        from runner.commands.matrix import matrix_of

        return matrix_of([_run_folder(name) for name in directories], Path(out) if out is not None else None)
    from runner.commands.run import run as command

    request = request_of(given, matrix=True)
    return command(request, Path(out) if out is not None else None, _terminal())


@assay.command()
@target_options
@selection_options
@run_options
@click.option("--cdash", metavar="URL", help="Where `ctest -T Submit` sends results: …/submit.php?project=NAME.")
def ctest(out: str | None, cdash: str | None, **given: Any) -> int:
    """Write a folder in which `ctest` runs the suite in slices: one test for each library, number of ranks and suite.

    \b
    assay ctest --mpi mpich@5.0.2 --np 2,4 --out slices
    ctest --test-dir slices -j8 -L p2p      # with labels: suite, library, np4, tier
    ctest --test-dir slices -T Test         # writes Test.xml for CDash; -T Submit sends it

    Each slice takes as many of ctest's processors as it has ranks, and is skipped where no case is applicable. Its run
    is in results/ of the folder. Options of `assay run` go to every slice.
    """
    from runner.commands.ctest import write

    folder = Path(out or "assay-out/ctest")
    slices = write(given, folder, cdash, _note)
    print(f"assay: {folder} has {len(slices)} tests; run them with: ctest --test-dir {shlex.quote(str(folder))}")
    return 0


@assay.command()
@click.argument("name", metavar="github|gitlab|reframe|spack")
def pipeline(name: str) -> None:
    """Print a file for another system, ready to be used: its comments say where it goes and what to change.

    \b
    github    a workflow that runs the suite, with annotations, a summary and the reports
    gitlab    a job with JUnit and code quality reports
    reframe   a check for ReFrame: each suite is a test
    spack     a recipe
    """
    from runner.commands.pipeline import text

    print(text(name), end="")


@assay.command()
@click.argument("shell", metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print what makes a shell complete the command line of assay.

    \b
    bash   eval "$(assay completion bash)"      in ~/.bashrc
    zsh    eval "$(assay completion zsh)"       in ~/.zshrc
    fish   assay completion fish | source       in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    must_be_one_of("shell", shell, ("bash", "zsh", "fish"))
    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(assay, {}, "assay", "_ASSAY_COMPLETE").source())


@assay.command()
@click.argument("directory", metavar="[DIR]", type=FOLDER, required=False)
def resume(directory: str | None) -> int:
    """Go on with a run that was stopped: without DIR the newest in assay-out that has not finished."""
    from runner.commands.resume import resume as command
    from runner.commands.resume import stopped

    return command(_run_folder(directory) if directory is not None else stopped(), _terminal())


@assay.group(cls=Commands)
def known() -> None:
    """What libraries are known to get wrong (known/)."""


@known.command()
@click.argument("names", metavar="[NAME]…", nargs=-1)
@click.option("--mpi", multiple=True, metavar="SPEC", help="Libraries; default: those that are installed.")
@click.option("--known", "files", multiple=True, metavar="FILE", help="Entries; default: known/*.toml.")
@click.option(
    "--evidence", metavar="DIR", type=FOLDER, help="Folder of a run: compare with what the suite found there, too."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(names: Sequence[str], mpi: Sequence[str], files: Sequence[str], evidence: str | None, as_json: bool) -> int:
    """Run the reproducers of known failures: does each say BUG on exactly the libraries that its entries name?

    NAME: only reproducers whose name contains it. A reproducer that the library has no procedures for is n/a. Exit code
    1 when something disagrees.
    """
    from rich.console import Console

    from reports.known import shipped
    from runner.commands import known as reproducers

    say = _terminal()
    found = reproducers.check(
        comma_list(mpi) or reproducers.installed(),
        [Path(file) for file in files] or shipped(),
        names,
        _run_folder(evidence) if evidence is not None else None,
        lambda text: say.print(f"assay: {text}", markup=False, soft_wrap=True),
    )
    if as_json:
        print(json.dumps(found.record(), indent=1))
    else:
        reproducers.print_report(found, Console(highlight=False))
    return 1 if found.disagreements else 0


@known.command()
@click.argument("directories", metavar="DIR…", type=FOLDER, nargs=-1, required=True)
@click.option("--known", "files", multiple=True, metavar="FILE", help="Entries; default: known/*.toml.")
@click.option("--write", is_flag=True, help="Put `seen` into the entries that have none.")
def propose(directories: Sequence[str], files: Sequence[str], write: bool) -> int:
    """From runs: what entries of known failures should say was seen, how often, and where.

    For each entry of which cases ran: what the ranks saw when they failed, as the field `seen` says it
    (docs/formats.md, section 7), how many failed, globs that fit these more closely, and globs that no failure
    justifies.
    """
    from rich.console import Console

    from reports import known_propose
    from reports.known import load, shipped

    paths = [Path(file) for file in files] or shipped()
    proposals = known_propose.propose(load(*paths).entries, [_run_folder(name) for name in directories])
    known_propose.print_proposals(proposals, Console(highlight=False))
    if write:
        print(f"assay: {known_propose.write(proposals, paths)} entries have a field `seen` now")
    return 0


@assay.command(name="list")
@click.argument("what", metavar="tests|cases|communicators|datatypes|counts|axes|profiles|mpis|requirements|procedures")
@target_options
@selection_options
@click.option("--chapter", multiple=True, metavar="N", help="Only these chapters of MPI-5.0: requirements, procedures.")
@click.option("--untested", is_flag=True, help="Only what no test names or calls: requirements, procedures.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def list_(what: str, chapter: Sequence[str], untested: bool, as_json: bool, **given: Any) -> int:
    """List what there is to run, or to run it with, and how much of the standard that is.

    requirements: the statements of MPI-5.0 that tests rest on (standard/*.toml), with the tests that name them.

    procedures: the C procedures of MPI-5.0, with the tests that call them. Calls are counted in the machine code: all
    that the body of a test can reach by calls, by functions whose address is taken and by tables of functions. So a
    test that shares the code of the axis `mode` calls the procedures of all modes. What the framework calls, makers of
    communicators and datatypes included, counts for no test.
    """
    from runner.commands.list import Wish, show

    return show(Wish(what=what, chapters=chapter, untested=untested, as_json=as_json, given=given))


@assay.command()
@target_options
@click.option("--fault", default="*", metavar="GLOB", help="Only these faults.")
@click.option("--odd", is_flag=False, flag_value="*", metavar="[GLOB]", help="Not faults: what the standard allows.")
@click.option("--together", is_flag=True, help="With --odd: only the oddities that go together, all at once.")
@click.option("--suite", multiple=True, metavar="LIST", help="Only the tests of these suites.")
@click.option("--tier", default="smoke", metavar="|".join(TIERS), help="What is run first. Default: smoke.")
@click.option("--seed", default=1, metavar="N", type=click.IntRange(0, 2**64 - 1), help="Default: 1.")
@click.option("--out", metavar="DIR", type=FOLDER, help="Folder to keep what every run left. Default: nothing is kept.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def faults(out: str | None, as_json: bool, fault: str, odd: str | None, together: bool, **given: Any) -> int:
    """Plant faults under the MPI library and see whether the tests catch them."""
    import tempfile

    from runner.commands import faults as command
    from runner.planting import odd as oddities
    from runner.planting.report import print_line, print_report
    from runner.planting.session import Request

    mpis, nps = mpis_for("faults", given["mpi"]), nps_of(given["np"])
    if len(mpis) > 1 or len(nps) > 1:
        raise WrongUse("assay faults: name one --mpi and one --np")
    if together and odd is None:
        raise WrongUse("assay faults: --together needs --odd")
    request = Request(
        mpis[0],
        nps[0],
        fault if odd is None else odd,
        comma_list(given["suite"]),
        given["tier"],
        given["seed"],
        given["preset"],
        wishes_of(given),
    )
    say = _terminal()
    if out is not None and Path(out).is_dir() and any(Path(out).iterdir()):
        raise WrongUse(f"--out {out}: holds files already; name a new folder")
    note = lambda text: say.print(f"assay: {text}", markup=False, soft_wrap=True)  # noqa: E731
    with tempfile.TemporaryDirectory(prefix="assay-faults-") as temporary:
        folder = Path(out if out is not None else temporary)
        if odd is not None:
            one_line = lambda one: say.print(oddities.print_line(one), markup=False, soft_wrap=True)  # noqa: E731
            found = oddities.run(request, together, folder, note, one_line)
        else:
            found = command.run(
                request, folder, note, lambda result: say.print(print_line(result), markup=False, soft_wrap=True)
            )
    if as_json:
        print(json.dumps(found, indent=1))
    elif odd is not None:
        oddities.print_report(found)
    else:
        print_report(found)
    return 0 if found["ok"] else 1


@assay.group(cls=Commands)
def bench() -> None:
    """Measure: what a case costs, or transports beside each other."""


@bench.command()
@target_options
@click.option("--empty", default=20_000, metavar="N", type=click.IntRange(1), help="Cases without a body in a round.")
@click.option("--ping", default=10_000, metavar="N", type=click.IntRange(1), help="8-byte cases in a round.")
@click.option("--rounds", default=7, metavar="N", type=click.IntRange(1, 1000), help="Repetitions. Default: 7.")
@click.option("--tier", default="quick", metavar="|".join((*TIERS, "none")), help="For cases per second of p2p.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def harness(as_json: bool, **given: Any) -> int:
    """Measure what a case costs beyond its MPI calls, and how many cases a second run."""
    import tempfile

    from runner.commands import bench as command

    request = command.Request(
        mpi_for("bench harness", given["mpi"]),
        nps_of(given["np"] or ["2,4"]),
        given["empty"],
        given["ping"],
        given["rounds"],
        "" if given["tier"] == "none" else given["tier"],
        given["preset"],
        wishes_of(given),
    )
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        found = command.run(request, Path(folder), _note)
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        command.print_report(found)
    return 0 if found["ok"] else 1


@bench.command()
@target_options
@click.option(
    "--transport",
    multiple=True,
    metavar="LIST",
    help="As for assay run, and without MPI raw_tcp, raw_sctp and ofi:PROVIDER (ofi:assay_sctp, ofi:tcp+ofi_rxm). "
    "Default: all that can be used, and ofi:assay_sctp.",
)
@click.option("--rounds", default=5, metavar="N", type=click.IntRange(1, 1000), help="Repetitions. Default: 5.")
@click.option("--largest", default=4 << 20, metavar="BYTES", type=click.IntRange(8, 1 << 26), help="Default: 4 MiB.")
@click.option(
    "--out", default="assay-out/transports", metavar="DIR", type=FOLDER, help="Default: assay-out/transports."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def transports(as_json: bool, out: str, **given: Any) -> int:
    """Measure latency and bandwidth over transports in turns: a table, and transports.html with plots."""
    from reports.bench import print_table, write_page
    from runner.commands import bench_transports as command
    from runner.machine import machine

    if nps_of(given["np"] or ["2"]) != [2]:
        raise WrongUse("assay bench transports: measures between 2 ranks; leave --np out")
    names = comma_list(given["transport"])
    command.check_names(names)
    request = command.Request(
        mpi_for("bench transports", given["mpi"]),
        names,
        given["rounds"],
        given["largest"],
        given["preset"],
        wishes_of(given),
    )
    found = command.run(request, Path(out), _note)
    page = write_page(found, machine(), shlex.join([PROGRAM, *sys.argv[1:]]), Path(out) / "transports.html")
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print_table(found)
        print(page)
    return 0


@assay.command()
@click.argument("names", metavar="[ENTRY]…", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the entries and their criteria.")
@click.option("--rounds", default=3, metavar="N", type=click.IntRange(1, 1000), help="Repetitions. Default: 3.")
@click.option("--preset", default="release", metavar="NAME", help="Build: release, debug, asan, tsan, coverage.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; with --list one JSON array.")
def reproduce(names: Sequence[str], only_list: bool, rounds: int, preset: str, as_json: bool) -> int:
    """Repeat experiments that others have published: does what they found show here, too?

    An ENTRY is a name or a glob; without any, all. The exit code is 0 whether the shapes hold or not.
    """
    from dataclasses import asdict

    from reports.reproduce import print_list, print_table
    from runner.commands import reproduce as command

    wanted = command.chosen(names, command.entries())
    if only_list:
        if as_json:
            from runner.commands.list import print_lines

            return print_lines([asdict(one) for one in wanted], True, str)
        print_list(wanted)
        return 0
    found = command.run(wanted, rounds, preset, _note)
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print_table(found)
    return NOTHING_APPLICABLE if all(one["verdict"] == command.UNSUPPORTED for one in found["entries"]) else 0


def _note(text: str) -> None:
    _terminal().print(f"assay: {text}", markup=False, soft_wrap=True)


@assay.command()
@click.option("--mpi", multiple=True, metavar="SPEC", help="MPI libraries, as for assay run. Default: MPICH.")
@click.option(
    "--against",
    multiple=True,
    metavar="SPEC",
    help="Libraries with the ABI of MPI-5.0 whose programs are run, too. Default: those that are installed.",
)
@click.option("--known", multiple=True, metavar="FILE", help="More known differences than known/*.toml has.")
@click.option("--no-known", is_flag=True, help="Take no difference for known.")
@click.option("--out", default="assay-out/abi", metavar="DIR", type=FOLDER, help="Default: assay-out/abi.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def abi(
    mpi: Sequence[str], against: Sequence[str], known: Sequence[str], no_known: bool, out: str, as_json: bool
) -> int:
    """Compare what a library exports and its mpi.h declares with the standard: abi.html and abi.json.

    \b
    exported procedures, their twins with PMPI_, names that are not the standard's
    the prototypes of mpi.h
    with the ABI of MPI-5.0: types, values of constants, name of the library, and whether a
    program that was built for one such library runs with another

    No test is run. Exit code 1 when something differs that the standard demands and known/ does not explain.
    """
    from reports import known as known_failures
    from reports.abi import print_found, write_page
    from runner.commands import abi as command
    from runner.machine import machine

    named = mpis_for("abi", mpi)
    entries = known_failures.load(*map(Path, known), ours=[] if no_known else known_failures.shipped())
    folder = command.made(Path(out))
    found = command.run(named, comma_list(against) or None, entries, _note)
    command.write(found, folder / "abi.json")
    page = write_page(found, machine(), shlex.join([PROGRAM, *sys.argv[1:]]), folder / "abi.html")
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print_found(found)
        print(page)
    return 0 if found["ok"] else UNEXPECTED_RESULT


@assay.command()
@click.argument("directories", metavar="DIR…", type=FOLDER, nargs=-1, required=True)
@click.option("--html", is_flag=True, help="Write report.html.")
@click.option("--junit", is_flag=True, help="Write junit.xml.")
@click.option("--tap", is_flag=True, help="Write results.tap.")
@click.option("--markdown", is_flag=True, help="Write report.md.")
@click.option("--github", is_flag=True, help="Write report.md, annotate, and add to the job's summary at GitHub.")
@click.option("--gitlab", is_flag=True, help="Write gl-code-quality-report.json for GitLab.")
def report(directories: Sequence[str], **wanted: bool) -> int:
    """Print what runs found and write their reports (report.html and junit.xml, unless some are named)."""
    from rich.console import Console

    from reports.evidence import Evidence
    from reports.html import write_html
    from reports.junit import write_junit
    from reports.markdown import write_markdown
    from reports.pipelines import write_github, write_gitlab
    from reports.summary import print_summary
    from reports.tap import write_tap

    writers = {
        "html": write_html,
        "junit": write_junit,
        "tap": write_tap,
        "markdown": write_markdown,
        "github": write_github,
        "gitlab": write_gitlab,
    }
    names = [name for name in writers if wanted[name]] or ["html", "junit"]
    for directory in directories:
        evidence = Evidence(_run_folder(directory))
        for name in names:
            writers[name](evidence)
        print_summary(evidence, Console(highlight=False))
    return 0


@assay.command()
@click.argument("directories", metavar="DIR…", type=FOLDER, nargs=-1, required=True)
@click.option("--out", required=True, metavar="DIR", type=FOLDER, help="Folder for the whole run.")
def merge(directories: Sequence[str], out: str) -> int:
    """Put the shards of a run together: one run, each case once, with all reports."""
    from runner.commands.merge import merge as command

    return command([_run_folder(name) for name in directories], Path(out), _note)


@assay.command()
@click.argument("old", metavar="OLD", type=FOLDER)
@click.argument("new", metavar="NEW", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Markdown, for a pull request.")
def compare(old: str, new: str, as_json: bool, as_markdown: bool) -> int:
    """Compare two runs: what fails now and did not, what is mended, what has become slower.

    OLD and NEW are folders of runs. Their targets are compared by name, or else by number of ranks and transport, so
    that two versions of a library can be held against each other. The exit code is 1 only when something fails that did
    not fail before.
    """
    from runner.commands.compare import compare_runs

    return compare_runs(_run_folder(old), _run_folder(new), as_json=as_json, as_markdown=as_markdown)


@assay.command()
@click.argument("directory", metavar="[DIR]", type=FOLDER, default="assay-out/latest")
@click.option("--defect", type=click.IntRange(1), metavar="N", help="Only the N-th suspected defect. Default: all.")
@click.option("--case", metavar="NAME", help="Only what this case of the run shows.")
@click.option("--c", "program", is_flag=True, help="Write a C program that shows it, and try it here.")
@click.option("--since", is_flag=True, help="Find the released version that brought it, or mended it.")
@click.option("--report", is_flag=True, help="Write report.md for a tracker, and a draft entry for known/. With --c.")
@click.option("--with-known", is_flag=True, help="Also what known failures explain already.")
@click.option("--against", multiple=True, metavar="SPEC", help="Libraries that may say what is right. With --c.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def explain(directory: str, as_json: bool, against: Sequence[str], report: bool, **given: Any) -> int:
    """For each suspected defect of a run: the smallest case that fails so, and which values matter.

    Candidates are run on the library of the run. What was found goes to the folder `explained` of the run. The search
    ends by itself: it takes at most 600 cases, 60 launches and 4 minutes for each defect.
    """
    from runner.commands.explain import Wish
    from runner.commands.explain import explain as command

    wish = Wish(**{**given, "program": given["program"] or report}, report=report, against=comma_list(against))
    found = command(_run_folder(directory), wish, _terminal())
    if as_json:
        print(json.dumps([one.record() for one in found], indent=1))
    return 0


@assay.command()
@target_options
@click.option("--case", metavar="NAME", help="The case that fails; the suite is built for each version.")
@click.option("--program", metavar="FILE", help="Instead: a reproducer, as in known/reproducers. No suite is built.")
@click.option("--seed", default=1, metavar="N", type=click.IntRange(0, 2**64 - 1), help="Default: 1.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def bisect(as_json: bool, case: str | None, program: str | None, **given: Any) -> int:
    """Find the released version that brought a defect, or mended it.

    --mpi mpich@3.4.3..5.0.2 takes the versions between these that the package index has; several libraries, oldest
    first, are taken as they are (path:OLD,path:NEW). The ends are tried first. Where something changed more than once,
    one change is found.
    """
    from runner.commands.bisect import start

    return start(given, case, program, _terminal(), as_json)


@assay.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def doctor(as_json: bool) -> int:
    """Say what is there, what is missing and what to do."""
    from runner.commands.doctor import examine, show
    from runner.commands.list import print_lines

    findings = examine()
    if as_json:
        return print_lines([finding.record() for finding in findings], True, str) or _health(findings)
    show(findings)
    return _health(findings)


def _health(findings: Sequence[Any]) -> int:
    return COULD_NOT_RUN if any(finding.state == "missing" for finding in findings) else 0


@assay.command()
@click.argument("steps", metavar="[STEP]…", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the steps.")
def test(steps: Sequence[str], only_list: bool) -> int:
    """Run the tests of Assay itself, all steps or the named ones."""
    from runner.commands import test as testing

    return testing.show() if only_list else testing.run(steps)


def _run_folder(name: str) -> Path:
    folder = Path(name)
    if not (folder / "run.json").is_file():
        raise WrongUse(f"{folder}: holds no run (there is no run.json); name the --out folder of an `assay run`")
    return folder


def _terminal() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
