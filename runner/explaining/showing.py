"""The program that shows a defect: recorded, written, compiled, and run on the library that is wrong and on another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports import requirements
from reports.evidence import parse_case
from reports.signature import Signature
from runner.commands import known as reproducers
from runner.explaining.layout import Header, compose
from runner.explaining.program import Writer
from runner.explaining.recording import Recording, read_all
from runner.explaining.trials import Bench
from runner.explaining.vocabulary import CannotWrite
from runner.libraries import targets
from runner.model import CannotRun, Verdict, WrongUse

LAYER = "assay_recording"
OTHERS_TIMEOUT = 5.0  # seconds of a program on a library that may be right: one on which it hangs is not
SHOWS = (reproducers.BUG, reproducers.CRASH, reproducers.HANG)


@dataclass
class Shown:
    """What became of a program."""

    path: Path | None = None
    lines: int = 0
    says: dict[str, str] = field(default_factory=dict)  # library → BUG, OK, crash, …
    texts: dict[str, str] = field(default_factory=dict)
    why_not: str = ""  # a sentence where there is none, or it does not show the defect
    headline: str = ""  # what is wrong, in a few words

    @property
    def works(self) -> bool:
        return self.path is not None and not self.why_not


def record(bench: Bench, case: str, np: int, folder: Path) -> tuple[list[Recording], Verdict]:
    """Run one case with its MPI calls written down; the recordings of the ranks, and how it ended."""
    verdicts: list[Verdict] = []
    folder.mkdir(parents=True, exist_ok=True)
    layer = bench.folder / f"lib{LAYER}.so"
    target = bench.target(np, {"ASSAY_RECORDING": str(folder.absolute())}, [layer])
    bench.run(
        [case], target, folder, verdicts.extend, options=replace(bench.request.options, retries=0), words="record"
    )
    if not verdicts:
        raise CannotRun(f"{case}: no verdict while it was recorded")
    return read_all(folder, np), verdicts[0]


def out_of_reach(about: Mapping[str, Any], threads: int = 1) -> str:
    """Why no program can be made of the cases of a test, "" when one may be; `about` is its line of --list=tests."""
    if about.get("own_job"):
        return "the case has a job of its own, before MPI_Init or after MPI_Finalize, which is not recorded"
    if about.get("thread_level") == "multiple" or threads > 1:
        return "the case calls MPI from threads that the test starts, whose order a recording does not keep"
    return ""


def show(
    wrong: Bench,
    others: Sequence[Callable[[], Bench]],
    libraries: Sequence[targets.Library],
    case: str,
    np: int,
    signature: Signature,
    message: str,
    folder: Path,
    name: str,
    command: str,
    library: str,
) -> Shown:
    """Write the program that shows how `case` fails on `wrong`, and try it there and on `libraries` until one says OK.

    What is right is recorded on the first of `others` that passes the case. Without one, the findings of the case and
    what the framework expected of buffers have to say it.
    """
    made = Shown()
    made.why_not = out_of_reach(wrong.tests(np).get(parse_case(case).test, {}), wrong.request.options.threads)
    if made.why_not:
        return made
    bad, verdict = record(wrong, case, np, folder / "wrong")
    if verdict.status == "pass":
        made.why_not = "it passed while its calls were recorded: the layer or the plain data change what happens"
        return made
    good = bad
    for make in others:
        try:
            recordings, verdict = record(make(), case, np, folder / "right")
        except (CannotRun, WrongUse):
            continue
        if verdict.status == "pass" and all(one.ended for one in recordings):
            good = recordings
            break
    header = _header(np, signature, message, command, library, bad)
    try:
        text = write(good, bad, header, name)
    except CannotWrite as error:
        made.why_not = str(error)
        return made
    made.path = folder / f"{name}.c"
    made.path.write_text(text, encoding="utf-8")
    said = verify(made, wrong, libraries)
    made.headline, expected = _in_words(text, header)
    header = replace(header, title=f"{library}: {made.headline}", expected=expected)
    if said and not header.dies_in:
        header = replace(header, observed=said)
    text = write(good, bad, header, name)
    made.path.write_text(text, encoding="utf-8")
    made.lines = len(text.splitlines())
    return made


_CHECK = re.compile(r'expect\("([^"]+)", [^;]*?([^,; ][^,;]*)\);')


def _in_words(text: str, header: Header) -> tuple[str, str]:
    """From the checks of a program: what is wrong, and what would be right."""
    if header.dies_in:
        return header.observed, f"{header.dies_in} returns"
    joined = re.sub(r",\n\s+", ", ", text)
    checks = list(dict.fromkeys(_CHECK.findall(joined)))
    buffers = re.findall(r'expect_bytes\("(\w+)"', joined)
    calls = re.findall(r"\b(MPI_[A-Z][a-z]\w+)\(", joined.partition('expect_bytes("')[0])
    if not checks:
        last = calls[-1] if calls else "the last call"
        return f"wrong data after {last}", "the buffer holds what was sent to it, and nothing else was written"
    words = [f"{what} is {value}" for what, value in checks[:3]]
    words += [f"{buffers[0]} holds what was sent to it"] if buffers else []
    what, value = checks[0]
    return f"{what} is not {value}", ", ".join(words)


def verify(made: Shown, wrong: Bench, others: Sequence[targets.Library]) -> str:
    """Compile and run the program; sets what it says, and why it shows nothing. Returns its words of the defect."""
    assert made.path is not None
    recipe = reproducers.recipe(made.path)
    outcome = reproducers.try_on(wrong.library, recipe, wishes=wrong.request.wishes)
    made.says[wrong.library.spec] = outcome.says
    if outcome.says not in SHOWS:
        made.why_not = f"the program says {outcome.says} on {wrong.library.spec} ({outcome.text[:200]})"
        return ""
    quick = replace(recipe, timeout=OTHERS_TIMEOUT)
    said = outcome.text.removesuffix(" BUG").removeprefix("BUG: ")
    for library in others:
        name = library.spec if library.spec != wrong.library.spec else f"{library.spec} without what was preloaded"
        outcome = reproducers.try_on(library, quick)
        made.says[name] = outcome.says
        if outcome.says == reproducers.OK:
            return said
    made.why_not = "no other library says OK, so that the program may be wrong itself"
    return said


def write(right: Sequence[Recording], wrong: Sequence[Recording], header: Header, name: str) -> str:
    """The text of the program. Raises CannotWrite."""
    if any(one.threads for one in right):
        raise CannotWrite("the case calls MPI from several threads")
    for memory in (False, True):
        writers = [Writer(good, bad, memory) for good, bad in zip(right, wrong, strict=True)]
        files: dict[str, str] = {}  # ranks may have files of their own
        for writer in writers:
            writer.files, writer.dies = files, bool(header.dies_in)
        matter = any(writer.errors_matter for writer in writers)
        for writer in writers:
            writer.errors_matter = matter
        programs = [writer.write() for writer in writers]
        if header.dies_in or any(program.checks for program in programs):
            break
    if not header.dies_in and not any(program.checks for program in programs):
        raise CannotWrite("what the test saw is in no answer of a call and in no buffer: both libraries answered alike")
    return compose(programs, replace(header, returns_errors=matter or bool(header.dies_in)), name)


def _header(
    np: int,
    signature: Signature,
    message: str,
    command: str,
    library: str,
    bad: Sequence[Recording],
) -> Header:
    dies = ""
    if signature.status in ("crash", "timeout", "lost"):
        last = [call.name for one in bad for call in one.calls if call.code is None]
        dies = signature.call or next(iter(last), "a call")
    clauses = []
    for one in requirements.cited([signature.requirement] if signature.requirement else []):
        clauses.append(f"MPI-5.0 section {one[0]}: {one[1]}" if len(one) == 2 else str(one))
    observed = " ".join(message.split("\n")[0].split()) or f"{signature}"
    if dies:
        observed = f"{signature.what} {'after' if signature.outside else 'in'} {dies}"
    return Header(f"{library}: {signature}", clauses, "", observed, command, np, dies)
