"""Suspected defects: what failed over all tests and targets, grouped by what was seen and by which values decide.

A failing case is put down to what its worst rank saw first (reports/signature.py). Failures of one test that saw the
same are one group. Groups are then taken together, across tests and targets, where they share what a defect leaves
behind: the place inside the library where processes died, the MPI call that died, hung or returned an error, the words
of a check on the same requirement, or, in one test, cases that saw both or the same deciding values.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.evidence import Entry, Evidence, objects, parse_case
from reports.factors import Region, Table
from reports.requirements import cited
from reports.signature import Signature, main_signature, signatures
from runner.model import NOT_RUN, UNEXPECTED, WORST_FIRST

_NUMBER = re.compile(r"\"[^\"]*\"|0x[0-9a-f]+|\(nil\)|-?\b\d[\d.]*(?:e[+-]?\d+)?\b")
_WORD = re.compile(r"[a-z][\w.+]*[\w+]")
_BINDING = re.compile(r"^P?(MPI_\w+?)(_c)?$")  # MPI_Send and MPI_Send_c share their code
_LIBC = re.compile(r"\?|_?exit|abort|raise|gsignal|pthread_kill|erand48_r|mem\w+|__\w+|P?MPI_\w+")
_PROCEDURE = re.compile(r"\bMPI_[A-Z]\w+")
_COMMON = {"file", "comm", "win", "type", "info", "group", "get", "set", "c", "create", "init", "all", "at", "free"}
_COMPLETION = {"", "MPI_Start", "MPI_Startall", "MPI_Request_free"} | {
    f"MPI_{verb}{many}" for verb in ("Wait", "Test") for many in ("", "all", "any", "some")
}

Key = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """One failing case, and what was seen of it."""

    target: str
    case: str
    status: str
    main: Signature  # of its worst rank
    key: Key  # of `main`, without what differs from case to case
    others: frozenset[Key]  # of all that its ranks saw
    tops: frozenset[Key]  # the innermost frames inside the library of ranks that died by a signal
    ways: frozenset[Key]  # all frames inside the library, innermost first, of ranks that left by exit()
    requirements: Sequence[str]  # that the case checks

    @property
    def test(self) -> str:
        return self.case.partition("/")[0]


@dataclass
class Defect:
    """Failing cases that are thought to have one cause: those with the most frequent signature first.

    `ran` says how many cases of each of its (target, test) ran, and `where` in which regions of the values of their
    axes the failures lie.
    """

    found: list[Found]
    number: int = 0  # from 1 on, in the order of the summary
    ran: dict[tuple[str, str], int] = field(default_factory=dict)
    where: dict[tuple[str, str], list[Region]] = field(default_factory=dict)

    @property
    def signature(self) -> Signature:
        """What most of the cases saw."""
        return self.found[0].main

    @property
    def status(self) -> Counter[str]:
        """Cases by status."""
        return Counter(one.status for one in self.found)

    @property
    def targets(self) -> Counter[str]:
        """Cases by target."""
        return Counter(one.target for one in self.found)

    @property
    def tests(self) -> Counter[str]:
        """Cases by test, over all targets."""
        return Counter(one.test for one in self.found)

    @property
    def what(self) -> str:
        """One line: what was seen, as in `SIGSEGV in MPI_Cancel` or `data: data from rank 3 …`."""
        one = self.signature
        line = one.message.split("\n")[0].strip().removesuffix(", error stack:")  # of MPICH: what follows is the stack
        if one.status == "xpass":
            return f"passed, though known to fail: {line}"
        return str(one) if one.status in ("crash", "timeout") or not line else f"{one.what}: {line}"

    def numbers(self) -> str:
        """`2 crash, 1 fail`."""
        return ", ".join(f"{self.status[status]:,} {status}" for status in WORST_FIRST if self.status[status])

    def places(self, several: bool) -> list[str]:
        """Where the failures lie, a line for each test in which values decide: `p2p.ring: type=int (all 5)`.

        `several`: the run has several targets, so that each line names those it is true of.
        """
        targets: dict[tuple[str, str], list[str]] = defaultdict(list)
        for (target, test), lie in self.where.items():
            if any(region.conditions for region in lie):
                targets[test, "; ".join(map(str, lie))].append(target)
        return [
            ": ".join([test + (" on " + ", ".join(on) if several else ""), text])
            for (test, text), on in targets.items()
        ]

    @property
    def cited(self) -> list[tuple[str, str]]:
        """(section, words) of the requirement that most of its findings rest on; of a death, of its cases."""
        named = Counter(one.main.requirement or next(iter(one.requirements), "") for one in self.found)
        return cited([named.most_common(1)[0][0]])


def defects(
    evidences: Evidence | Sequence[Evidence],
    is_bad: Callable[[Entry], bool] = lambda entry: entry.status in UNEXPECTED,
    only: Mapping[str, Collection[str]] | None = None,
) -> list[Defect]:
    """The suspected defects of one run, or of several, the one with the most cases first.

    `is_bad` says which cases count, by default those that fail the run; or `only` names them, by target.
    """
    runs = [evidences] if isinstance(evidences, Evidence) else evidences
    if only is not None:
        found = [one for run in runs for target, cases in only.items() for one in _read(run, target, [*cases])]
    else:
        found = [
            one
            for run in runs
            for target, entries in run.cases.items()
            for one in _read(run, target, [case for case, entry in entries.items() if is_bad(entry)])
        ]
    ran: dict[tuple[str, str], list[str]] = defaultdict(list)
    wanted = {(one.target, one.test) for one in found}
    for run in runs:
        for target, entries in run.cases.items():
            for case, entry in entries.items():
                if (where := (target, case.partition("/")[0])) in wanted and entry.status not in NOT_RUN:
                    ran[where].append(case)
    tables = {place: Table(cases) for place, cases in ran.items()}
    groups = [Defect(some) for some in _together(found, tables)]
    for group in groups:
        often = Counter(one.key for one in group.found)
        group.found.sort(key=lambda one: (-often[one.key], one.key, WORST_FIRST.index(one.status)))
        by_place: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in group.found:
            by_place[one.target, one.test].append(one.case)
        group.ran = {place: len(ran[place]) for place in by_place}
        group.where = {place: tables[place].regions(cases) for place, cases in by_place.items()}
    groups.sort(key=lambda group: -len(group.found))
    for number, group in enumerate(groups, 1):
        group.number = number
    return groups


def _read(evidence: Evidence, target: str, cases: list[str]) -> Iterable[Found]:
    """What was seen of these cases."""
    for record in evidence.details(target, cases):
        main = main_signature(record) or _unseen(record)
        # A message may name the datatype of its case, and also hold a word that happens to be the name of a value.
        axes = parse_case(record["case"]).axes.items()
        values = {value for axis, value in axes if axis in ("type", "op", "recipe") or "_" in value}
        yield Found(
            target,
            record["case"],
            record["status"],
            main,
            _key(main, values),
            frozenset(_key(one, values) for one in signatures(record)),
            frozenset((signal, frames[0]) for signal, frames in _stacks(record, "crash") if frames),
            frozenset(frames for _, frames in _stacks(record, "exit") if frames),
            record.get("requirements") or (),
        )


def _unseen(record: Mapping[str, Any]) -> Signature:
    """What stands for a failure that no rank saw: a case that passed although it is known to fail."""
    status = str(record["status"])
    return Signature(status, status, message=str(record.get("known") or record.get("reason") or ""))


def _key(one: Signature, values: Collection[str]) -> Key:
    """What cases of one defect have in common of a signature."""
    call = _family(one.call)
    if one.status in ("fail", "xpass") and one.message:
        # The last MPI call is often one that a check has made; where it matters the words name it.
        words = one.message.split("\n")[0].partition(": ")[0]
        words = _WORD.sub(lambda found: "#" if found[0] in values else found[0], words)
        return one.status, one.what, _NUMBER.sub("#", words)
    return one.status, one.what, call


def _family(call: str) -> str:
    found = _BINDING.match(call)
    return found[1] if found else call


def _stacks(record: Mapping[str, Any], status: str) -> Iterable[tuple[str, Key]]:
    """The signal and the frames inside the library of each rank that died so, up to the suite's own."""
    for entry in objects(record.get("ranks")):
        if entry.get("status") == status and isinstance(entry.get("stack"), list):
            frames = [str(frame) for frame in entry["stack"]]
            named = [frame for frame in frames if not _LIBC.fullmatch(frame.partition("+")[0])]
            if status == "exit":  # our own handler of exit() is the innermost
                named = named[next((at for at, frame in enumerate(named) if "(" not in frame), 0) :]
            yield str(entry.get("signal")), tuple(itertools.takewhile(lambda frame: "(" not in frame, named))


def _together(found: Sequence[Found], tables: Mapping[tuple[str, str], Table]) -> list[list[Found]]:
    """Groups of `found`: first those of one test that saw the same, then what is linked."""
    atoms: dict[tuple[str, Key], list[Found]] = defaultdict(list)
    for one in found:
        atoms[one.test, one.key].append(one)
    parent = {atom: atom for atom in atoms}

    def root(atom: tuple[str, Key]) -> tuple[str, Key]:
        while parent[atom] != atom:
            atom = parent[atom]
        return atom

    links: dict[Key, list[tuple[str, Key]]] = defaultdict(list)
    for atom, some in atoms.items():
        for link in _links(atom, some, tables):
            links[link].append(atom)
    for atom, link in _last_steps(atoms):
        links[link].append(atom)
    for linked in links.values():
        for atom in linked[1:]:
            parent[root(atom)] = root(linked[0])
    groups: dict[tuple[str, Key], list[Found]] = defaultdict(list)
    for atom, some in atoms.items():
        groups[root(atom)] += some
    return list(groups.values())


def _last_steps(atoms: Mapping[tuple[str, Key], Sequence[Found]]) -> Iterable[tuple[tuple[str, Key], Key]]:
    """For groups of ranks that left by exit(): the innermost frame that is not the way by which all of them leave."""
    exits = {atom: {way for one in some for way in one.ways} for atom, some in atoms.items()}
    often = Counter(frame for ways in exits.values() for frame in {frame for way in ways for frame in way})
    many = max(2, sum(map(bool, exits.values())) // 2)
    for atom, ways in exits.items():
        for way in ways:
            if step := next((frame for frame in way if often[frame] <= many), ""):
                yield atom, ("step", step)


def _links(atom: tuple[str, Key], some: Sequence[Found], tables: Mapping[tuple[str, str], Table]) -> set[Key]:
    """What groups of one defect share with each other."""
    test, (status, what, words) = atom[0], atom[1]
    links: set[Key] = set()
    sections = {section for one in some for section, _ in cited([one.main.requirement])}
    for one in some:
        links |= {("top", *top) for top in one.tops}
        links |= {("saw", test, *other) for other in one.others}
    if status == "crash" and words in _COMPLETION:  # where the damage of another call shows, or that of all
        links.add(("dies", test))
    elif status == "crash":
        links.add(("call", what, words))
        links |= {("stem", test, what, stem) for stem in _stems(words)}
    elif status == "timeout":
        links.add(("hang", test.partition(".")[0], words))
    elif what == "return":
        links.add(("return", words))
        links.add(("returns", test, _PROCEDURE.sub("", words)))
    else:
        links |= {("words", what, words, section) for section in sections}
        for place in {(one.target, one.test) for one in some}:
            cases = [one.case for one in some if (one.target, one.test) == place]
            for condition in tables[place].regions(cases)[0].conditions:
                links.add(("values", what, words, condition.axis, *sorted(condition.values)))
        if begins := _PROCEDURE.match(words):
            links |= {("procedure", _family(begins[0]), section) for section in sections}
    return links


def _stems(call: str) -> Iterable[str]:
    """The telling words of a procedure's name: MPI_File_write_shared → write, shared."""
    return {word.lower() for word in call.split("_")[1:]} - _COMMON
