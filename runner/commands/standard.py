"""assay list requirements and assay list procedures: what of MPI-5.0 is tested, as the test binary says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports import requirements as standard
from reports.summary import widen
from runner.model import WrongUse
from runner.planning.callgraph import procedures_of_tests
from runner.planning.plan import Suite, must_be_one_of

SHOWN_TESTS = 3  # of each line


@dataclass(frozen=True)
class Wish:
    """What is to be listed."""

    chapters: Collection[int] = ()  # all, when empty
    untested: bool = False
    profile: str | None = None

    def has(self, section: str, since: str) -> bool:
        """Whether something of this section and version of MPI was asked for."""
        here = standard.chapter(section)
        return (not self.chapters or here in self.chapters) and standard.is_in(self.profile, since)

    def arguments(self) -> list[str]:
        """The options of assay-suite."""
        return [f"--profile={self.profile}"] if self.profile else []


def chapters(given: Sequence[str], there: Collection[int]) -> list[int]:
    """The numbers of `--chapter`. Raises WrongUse for one of which nothing is known."""
    for word in given:
        if not word.isdecimal():
            raise WrongUse(f"--chapter {word}: not the number of a chapter; for example --chapter 6")
        must_be_one_of("chapter", str(int(word)), map(str, sorted(there)))
    return [int(word) for word in given]


def chapters_with_requirements() -> set[int]:
    """The chapters of standard/NN_*.toml."""
    return {standard.chapter(entry["section"]) for entry in standard.catalogue().values()}


def chapters_with_procedures() -> set[int]:
    """The chapters that define C procedures."""
    return {standard.chapter(entry["section"]) for entry in standard.procedures().values()}


def requirements(suite: Suite, np: int, wish: Wish) -> list[dict[str, Any]]:
    """Every requirement that was asked for, in the standard's order, with the tests that name it.

    What the framework looks at in every case (`everywhere`) may have none of its own: then `tests` says "every case".
    """
    tests: dict[str, list[str]] = defaultdict(list)
    for test in suite.ask("tests", np, wish.arguments()):
        for name in test["requirements"]:
            tests[name].append(test["test"])
    for name, entry in standard.catalogue(suite.about).items():
        if entry.get("everywhere") and not tests[name]:
            tests[name] = ["every case"]
    found = [
        {
            "id": name,
            "chapter": standard.chapter(entry["section"]),
            **{key: entry[key] for key in ("section", "level", "since", "procedures", "text")},
            **({"why": entry["why"]} if "why" in entry else {}),
            "tests": tests[name],
        }
        for name, entry in standard.catalogue(suite.about).items()
        if wish.has(entry["section"], entry["since"]) and not (wish.untested and tests[name])
    ]
    return sorted(found, key=lambda line: standard.section_order(str(line["section"])))


def procedures(suite: Suite, np: int, wish: Wish) -> list[dict[str, Any]]:
    """Every procedure of MPI-5.0 that was asked for, with the tests that call it, as the binary's code says.

    `framework`: called, but only by the framework and by the makers of communicators and datatypes; `library`: the
    library offers it.
    """
    offered = {line["procedure"]: line["library"] for line in suite.ask("procedures", np)}
    names = [test["test"] for test in suite.ask("tests", np, wish.arguments())]
    of_test, of_binary = procedures_of_tests(suite.binary, names)
    tests: dict[str, list[str]] = defaultdict(list)
    for test, called in of_test.items():
        for name in called:
            tests[name].append(test)
    return [
        {
            "procedure": name,
            "chapter": standard.chapter(entry["section"]),
            **entry,
            "library": offered.get(name, False),
            "framework": name in of_binary and not tests[name],
            "tests": sorted(tests[name]),
        }
        for name, entry in standard.procedures().items()
        if wish.has(entry["section"], entry["since"]) and not (wish.untested and tests[name])
    ]


def print_requirements(lines: Sequence[Mapping[str, Any]], console: Console) -> None:
    """A table a chapter, with counts."""

    def row(line: Mapping[str, Any]) -> list[str | Text]:
        level = "" if line["level"] == "must" else str(line["level"])
        return [line["section"], line["id"], line["since"], level, _tests(line), line["text"]]

    _print(lines, ("section", "requirement", "since", "level", "tests", "text"), "requirements", row, console)


def print_procedures(lines: Sequence[Mapping[str, Any]], console: Console) -> None:
    """A table a chapter, with counts."""

    def row(line: Mapping[str, Any]) -> list[str | Text]:
        where = _tests(line)
        if not line["tests"] and line["framework"]:
            where = Text("the framework only", "yellow")
        lacking = "" if line["library"] else "the library lacks it"
        return [line["section"], line["procedure"], line["since"], where, lacking]

    _print(lines, ("section", "procedure", "since", "called by", ""), "procedures", row, console)


def _tests(line: Mapping[str, Any]) -> Text:
    tests = line["tests"]
    if not tests:
        return Text("untested", "bold red")
    more = f" and {len(tests) - SHOWN_TESTS} more" if len(tests) > SHOWN_TESTS else ""
    return Text(", ".join(tests[:SHOWN_TESTS]) + more)


def _print(
    lines: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    what: str,
    row: Callable[[Mapping[str, Any]], list[str | Text]],
    console: Console,
) -> None:
    widen(console)
    by_chapter: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        by_chapter[line["chapter"]].append(line)
    for chapter, those in sorted(by_chapter.items()):
        console.print(Text(f"Chapter {chapter}: {standard.CHAPTERS[chapter]}: {_counts(those, what)}", "bold"))
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in columns:
            table.add_column(column, no_wrap=column != "text", overflow="fold")
        for line in those:
            table.add_row(*row(line))
        console.print(table)
        console.print()
    console.print(f"assay: {_counts(lines, what)}", markup=False, soft_wrap=True)


def _counts(lines: Sequence[Mapping[str, Any]], what: str) -> str:
    tested = sum(bool(line["tests"]) for line in lines)
    text = f"{len(lines)} {what}, {tested} tested, {len(lines) - tested} untested"
    if lines and not tested:  # as always with --untested, where it would be no statement about the whole
        text = f"{len(lines)} untested {what}"
    only = sum(bool(line.get("framework")) for line in lines)
    return text + (f" ({only} of them called by the framework only)" if only else "")
