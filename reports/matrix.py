"""matrix.html: libraries side by side, one self-contained page; and the table that a terminal gets.

Passing cases enter as numbers only. What did not pass is told by test and library: which values of which axes, grouped
by how it failed, with a few examples of each group.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports import page
from reports.evidence import Evidence, objects, parse_case, printable, value_order, write_file
from reports.factors import common_factor
from reports.summary import STYLE, explain, summary_line, widen
from runner.home import HOME, PROGRAM
from runner.model import NOT_RUN, STATUSES, UNEXPECTED, WORST_FIRST

EXAMPLES = 2  # of each group of failures, while room lasts
MAX_EXAMPLES = 1500  # on the page
MAX_TEXT = 1500  # characters of one message
MAX_VALUES = 20  # of one axis of one test, those that fail most
MAX_GROUPS = 12  # of one test on one target
MAX_ROWS = 300  # of the tables of reasons

SYMBOL = {
    "pass": "✓",
    "fail": "✗",
    "crash": "✗",
    "timeout": "✗",
    "lost": "✗",
    "xpass": "!",
    "flaky": "~",
    "xfail": "K",
    "skip": "–",
    "unsupported": "–",
}


@dataclass
class Cell:
    """The cases of one test, or of a whole suite, on one target."""

    counts: Counter[str] = field(default_factory=Counter)
    detail: str = ""  # the id of the place on the page that tells more

    @property
    def ran(self) -> int:
        return sum(count for status, count in self.counts.items() if status not in NOT_RUN)

    @property
    def passed(self) -> int:
        return self.counts["pass"] + self.counts["flaky"]

    @property
    def unexpected(self) -> int:
        return sum(self.counts[status] for status in UNEXPECTED)

    @property
    def worst(self) -> str:
        """The worst status, or "" where nothing was judged."""
        if not self.ran:
            return next((status for status in ("unsupported", "skip") if self.counts[status]), "")
        return next(status for status in WORST_FIRST if self.counts[status])

    @property
    def symbol(self) -> str:
        return SYMBOL[self.worst] if self.worst else ""

    @property
    def percent(self) -> str:
        return percent(self.passed, self.ran)

    @property
    def words(self) -> str:
        """`3 crash, 12 xfail, 600 pass`."""
        return ", ".join(f"{self.counts[status]:,} {status}" for status in WORST_FIRST if self.counts[status])

    @property
    def bad_words(self) -> str:
        """What is not as it should be, in few words: `3 crash`, `12 known`, or "" when all passed."""
        bad = [status for status in WORST_FIRST if status in UNEXPECTED and self.counts[status]]
        if len(bad) == 1:
            return f"{self.counts[bad[0]]:,} {bad[0]}"
        if bad:
            return f"{self.unexpected:,} unexpected"
        if self.counts["xfail"]:
            return f"{self.counts['xfail']:,} known"
        return f"{self.counts['flaky']:,} flaky" if self.counts["flaky"] else ""


@dataclass
class Column:
    """One target."""

    name: str  # mpich@5.0.2/np4, with the folder after it where two runs have the same target
    target: str
    mpi: str
    np: int
    about: dict[str, Any]
    evidence: Evidence
    could_not_run: str
    number: int = 0
    np_number: int = 0
    first: bool = False  # of its library
    total: Cell = field(default_factory=Cell)


@dataclass
class Group:
    """Cases of one test on one target that failed alike."""

    title: str
    status: str
    factor: str
    count: int
    reason: str = ""  # of a known failure
    link: str = ""
    examples: list[dict[str, str]] = field(default_factory=list)


@dataclass
class Place:
    """One test on one target, where not everything passed."""

    id: str
    column: Column
    cell: Cell
    groups: list[Group] = field(default_factory=list)
    more_groups: int = 0
    unsupported: list[str] = field(default_factory=list)


@dataclass
class Axis:
    """One axis of one test: the values with cases that did not pass; rows of (value, a cell or None for each place)."""

    name: str
    values: int  # that were tried
    failing: int
    rows: list[tuple[str, list[Cell | None]]]


@dataclass
class Detail:
    """A test that did not pass everywhere."""

    test: str
    places: list[Place]
    axes: list[Axis]


class Matrix:
    """What runs found, by test, suite and target. `targets` are in the order of the runs; tests by suite and name."""

    def __init__(self, evidences: Sequence[Evidence]) -> None:
        self.evidences = evidences
        self.columns = _columns(evidences)
        self.nps = sorted({column.np for column in self.columns})
        self.cells: dict[str, dict[int, Cell]] = defaultdict(dict)  # by test and number of the column
        self.suites: dict[str, dict[int, Cell]] = defaultdict(dict)
        self.ran: dict[tuple[str, int], list[str]] = defaultdict(list)  # cases
        self.bad: dict[tuple[str, int], list[str]] = defaultdict(list)  # those of them that did not pass
        for column in self.columns:
            column.np_number = self.nps.index(column.np)
            self._count(column)
        self.tests = sorted(self.cells)
        self.total = sum((column.total.counts for column in self.columns), Counter[str]())

    def _count(self, column: Column) -> None:
        for case, entry in column.evidence.cases.get(column.target, {}).items():
            test = case.partition("/")[0]
            cells = self.cells[test]
            if column.number not in cells:
                cells[column.number] = Cell()
            cells[column.number].counts[entry.status] += 1
            if entry.status not in NOT_RUN:
                self.ran[test, column.number].append(case)
                if entry.status != "pass":
                    self.bad[test, column.number].append(case)
        for test, cells in self.cells.items():
            if column.number in cells:
                counts = cells[column.number].counts
                self.suites[test.partition(".")[0]].setdefault(column.number, Cell()).counts.update(counts)
                column.total.counts.update(counts)

    @property
    def libraries(self) -> list[list[Column]]:
        """The columns, by library."""
        found: list[list[Column]] = []
        for column in self.columns:
            if column.first:
                found.append([])
            found[-1].append(column)
        return found

    def rows(self, of: dict[str, dict[int, Cell]], names: Iterable[str]) -> list[tuple[str, list[Cell | None]]]:
        """(name, a cell or None for each column)."""
        return [(name, [of[name].get(column.number) for column in self.columns]) for name in names]


def write_matrix(evidences: Sequence[Evidence], path: Path) -> Path:
    """Write the page about these runs to `path`. Raises CannotRun."""
    page = _render(Matrix(evidences))
    return write_file(path, lambda file: file.write(page))


def print_matrix(evidences: Sequence[Evidence], page: Path, console: Console) -> None:
    """Print percentages by target and suite, what was not as expected, and the line for scripts last."""
    widen(console)
    matrix = Matrix(evidences)
    suites = sorted(matrix.suites)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("library", no_wrap=True)
    table.add_column("np", justify="right")
    for name in [*suites, "unexpected", "known", "unsupported"]:
        table.add_column(name, justify="right", no_wrap=True)
    for column in matrix.columns:
        total = column.total
        cells = [matrix.suites[suite].get(column.number) for suite in suites]
        table.add_row(
            Text(printable(column.mpi) if column.first else "", "bold"),
            str(column.np),
            *(Text(cell.percent if cell else "", STYLE.get(cell.worst, "") if cell else "") for cell in cells),
            Text(f"{total.unexpected:,}" if total.ran else "", "bold red" if total.unexpected else "dim"),
            Text(f"{total.counts['xfail']:,}" if total.ran else "", "magenta" if total.counts["xfail"] else "dim"),
            Text(f"{total.counts['unsupported']:,}" if total.ran else "", "dim"),
        )
    console.print(table)
    console.print(Text("percentages: cases that passed, of those that ran; known failures did not pass", "dim"))

    def line(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style), soft_wrap=True)

    for column in matrix.columns:
        if column.could_not_run:
            line(f"{column.name} could not run: {column.could_not_run}", "bold red")
    for number, ((test, target), cases) in enumerate(sorted(matrix.bad.items(), key=lambda item: item[0])):
        cell, column = matrix.cells[test][target], matrix.columns[target]
        if not cell.unexpected:
            continue
        line(f"{test} on {column.name}: {cell.bad_words} of {cell.ran:,} that ran", "bold red")
        entries = column.evidence.cases[column.target]
        first = next(case for case in cases if entries[case].status in UNEXPECTED)
        for record in column.evidence.details(column.target, [first]):
            line(f"  repeat: {record.get('repeat') or first}", "cyan")
        if number > 200:
            line("… more on the page", "dim")
            break
    warnings = [text for evidence in evidences for text in evidence.warnings if "could not run" not in text]
    for warning in warnings[:10]:
        line(f"warning: {warning}", "yellow")
    if len(warnings) > 10:
        line(f"… {len(warnings) - 10} more warnings on the page", "dim")
    line(f"matrix: {page}")
    line(summary_line(matrix.total))


def percent(passed: int, ran: int) -> str:
    """`99.9 %`, rounded down so that only what is whole says 100; "n/a" when nothing ran."""
    if not ran:
        return "n/a"
    if passed == ran:
        return "100 %"
    tenths = passed * 1000 // ran
    return f"{tenths // 10}.{tenths % 10} %"


def _columns(evidences: Sequence[Evidence]) -> list[Column]:
    columns: list[Column] = []
    for evidence in evidences:
        for target in evidence.targets:
            about = evidence.about.get(target, {})
            mpi, _, np = target.rpartition("/np")
            name = target
            if any(column.target == target for column in columns):
                name = f"{target} ({evidence.out.name})"
            columns.append(
                Column(
                    name,
                    target,
                    f"{mpi or target}{name.removeprefix(target)}",
                    int(np) if np.isdecimal() else 0,
                    about,
                    evidence,
                    printable(about.get("could_not_run") or ""),
                )
            )
    order = {mpi: number for number, mpi in enumerate(dict.fromkeys(column.mpi for column in columns))}
    columns.sort(key=lambda column: order[column.mpi])  # stable: runs of the same library stand together
    for number, column in enumerate(columns):
        column.number = number
        column.first = number == 0 or columns[number - 1].mpi != column.mpi
    return columns


def _render(matrix: Matrix) -> str:
    details = _details(matrix)
    run = matrix.evidences[0].run
    return page.render(
        "matrix",
        {},
        matrix=matrix,
        runs=[evidence.run for evidence in matrix.evidences],
        run=run,
        command=shlex.join([PROGRAM, *map(str, run.get("argv") or ())]),
        machine=run["machine"] if isinstance(run.get("machine"), dict) else {},
        headline=_headline(matrix),
        good=not any(matrix.total[status] for status in UNEXPECTED) and not _absent(matrix) and bool(matrix.total),
        absent=_absent(matrix),
        warnings=[text for one in matrix.evidences for text in one.warnings if "could not run" not in text],
        statuses=STATUSES,
        suite_rows=matrix.rows(matrix.suites, sorted(matrix.suites)),
        test_rows=matrix.rows(matrix.cells, matrix.tests),
        details=details,
        known=_known(matrix),
        not_run=_not_run(matrix),
        symbols=SYMBOL,
    )


def _absent(matrix: Matrix) -> list[tuple[str, str]]:
    """(libraries or targets, reason) of what could not run."""
    found: list[tuple[str, str]] = []
    for columns in matrix.libraries:
        reasons = {column.could_not_run for column in columns}
        if len(reasons) == 1 and (reason := reasons.pop()):
            found.append((columns[0].mpi, reason))
        else:
            found += [(column.name, column.could_not_run) for column in columns if column.could_not_run]
    return found


def _headline(matrix: Matrix) -> str:
    cell = Cell(matrix.total)
    libraries = len(matrix.libraries)
    if not cell.ran:
        return "No case was judged"
    what = f"{libraries} {'library' if libraries == 1 else 'libraries'}, {cell.ran:,} cases ran"
    known = f"{cell.counts['xfail']:,} failed as known" if cell.counts["xfail"] else ""
    bad = f"{cell.unexpected:,} did not go as expected" if cell.unexpected else ""
    if not bad and not known:
        return f"{what}: all passed"
    return f"{what}: {', '.join(filter(None, [bad or 'as expected', known]))}"


# ---- what did not pass ----


def _details(matrix: Matrix) -> list[Detail]:
    """One for each test with cases that did not pass, in the order of the matrix. Fills in where cells lead to."""
    examples = _Examples(matrix)
    found = []
    for number, test in enumerate(matrix.tests):
        places = []
        for column in matrix.columns:
            if not matrix.bad.get((test, column.number)):
                continue
            cell = matrix.cells[test][column.number]
            cell.detail = f"d-{number}-{column.number}"
            places.append(_place(cell, test, column, matrix, examples))
        if places:
            found.append(Detail(test, places, _axes(matrix, test, [place.column for place in places])))
    return found


class _Examples:
    """How many examples may be told: as many of each kind as there is room for."""

    def __init__(self, matrix: Matrix) -> None:
        self.left = MAX_EXAMPLES
        self.reserved = len(matrix.bad)  # one for each place

    def take(self, wanted: int, first: bool) -> int:
        if first:
            self.reserved -= 1
        number = min(wanted, max(1 if first else 0, self.left - self.reserved))
        self.left -= number
        return number


def _place(cell: Cell, test: str, column: Column, matrix: Matrix, examples: _Examples) -> Place:
    alike: dict[tuple[int, str, str, str, str], list[str]] = defaultdict(list)
    first: dict[tuple[int, str, str, str, str], list[dict[str, str]]] = defaultdict(list)
    for record in column.evidence.details(column.target, matrix.bad[test, column.number]):
        status = record["status"]
        reason, link = str(record.get("known") or ""), str(record.get("known_link") or "")
        title = "" if status in ("xfail", "xpass") and reason else _kind(record)
        key = (WORST_FIRST.index(status), status, title, reason, link)
        alike[key].append(record["case"])
        if len(first[key]) < EXAMPLES:
            first[key].append(
                {"case": record["case"], "text": _text(record), "repeat": str(record.get("repeat") or "")}
            )
    keys = sorted(alike, key=lambda key: (key[0], -len(alike[key]), key[2:]))
    place = Place(cell.detail, column, cell, more_groups=max(0, len(keys) - MAX_GROUPS))
    for number, key in enumerate(keys[:MAX_GROUPS]):
        _, status, title, reason, link = key
        told = examples.take(len(first[key]), number == 0)
        place.groups.append(
            Group(
                title,
                status,
                common_factor(alike[key], matrix.ran[test, column.number]),
                len(alike[key]),
                reason,
                link,
                first[key][:told],
            )
        )
    return place


def _kind(record: dict[str, Any]) -> str:
    """How a case failed: `data`, `SIGSEGV in MPI_Recv`, `in MPI_Waitall`; of the first rank that tells."""
    for rank in objects(record.get("ranks")):
        call = f"in {printable(rank['call'])}" if rank.get("call") else ""
        if rank.get("check"):
            return f"{printable(rank['check'])} {call}".strip()
        if rank.get("signal") or rank.get("exit") is not None:
            what = printable(rank.get("signal") or f"exit {rank['exit']}")
            return f"{what} {call}".strip()
        if call:
            return call
    return ""


def _text(record: dict[str, Any]) -> str:
    text = printable(explain({key: value for key, value in record.items() if not key.startswith("known")}))
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n… {len(text) - MAX_TEXT:,} more characters"


def _axes(matrix: Matrix, test: str, columns: Sequence[Column]) -> list[Axis]:
    counts: dict[str, dict[str, dict[int, Cell]]] = {}
    for column in columns:
        entries = column.evidence.cases[column.target]
        for case in matrix.ran[test, column.number]:
            for axis, value in parse_case(case).axes.items():
                cell = counts.setdefault(axis, {}).setdefault(value, {}).setdefault(column.number, Cell())
                cell.counts[entries[case].status] += 1
    axes = []
    for axis, values in counts.items():
        if len(values) < 2:
            continue
        bad = {
            value: sum(cell.ran - cell.counts["pass"] for cell in cells.values())
            / sum(cell.ran for cell in cells.values())
            for value, cells in values.items()
        }
        failing = [value for value in values if bad[value]]
        worst = sorted(failing, key=lambda value: -bad[value])[:MAX_VALUES]
        rows = [
            (value, [values[value].get(column.number) for column in columns])
            for value in sorted(worst, key=value_order)
        ]
        axes.append(Axis(axis, len(values), len(failing), rows))
    return axes


def _known(matrix: Matrix) -> list[dict[str, Any]]:
    """Known failures: reason, link, the source of the reproducer, and how many cases on which target."""
    found: dict[tuple[str, str], dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    tests: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (test, number), cases in matrix.bad.items():
        column = matrix.columns[number]
        entries = column.evidence.cases[column.target]
        listed = [case for case in cases if entries[case].status in ("xfail", "xpass")]
        for record in column.evidence.details(column.target, listed):
            key = (str(record.get("known") or ""), str(record.get("known_link") or ""))
            found[key][number][record["status"]] += 1
            tests[key].add(test)
    rows: list[dict[str, Any]] = [
        {
            "reason": reason,
            "link": link,
            "is_url": link.startswith(("https://", "http://")),
            "source": _source(link),
            "count": sum(cell.total() for cell in cells.values()),
            "targets": [(column.name, cells[column.number]) for column in matrix.columns if column.number in cells],
            "tests": sorted(tests[reason, link]),
        }
        for (reason, link), cells in found.items()
    ]
    rows.sort(key=lambda row: -row["count"])
    return rows[:MAX_ROWS]


def _source(link: str) -> str:
    """The text of a reproducer of ours."""
    path = HOME / link
    if not re.fullmatch(r"known/reproducers/\w+\.c", link) or not path.is_file():
        return ""
    return printable(path.read_text(encoding="utf-8", errors="replace"))


def _not_run(matrix: Matrix) -> list[tuple[str, str, int, list[str]]]:
    """(status, reason, cases, targets) of what was not run, the most frequent first."""
    count: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in matrix.columns:
        entries = column.evidence.cases.get(column.target, {})
        listed = [case for case, entry in entries.items() if entry.status in NOT_RUN]
        for record in column.evidence.details(column.target, listed):
            key = (record["status"], printable(record.get("reason") or "no reason given"))
            count[key] += 1
            if column.name not in where[key][-1:]:
                where[key].append(column.name)
    return [(*key, number, where[key]) for key, number in count.most_common(MAX_ROWS)]
