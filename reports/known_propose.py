"""assay known propose: from runs that are there, what entries of known failures should say was seen, and where.

For each table: the signatures of the failures that it explains, how many of its cases failed, globs that fit these more
closely, and the globs that no case of the runs justifies. What was seen can be written into the files.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version
from rich.console import Console
from rich.text import Text

from reports.evidence import Evidence, parse_case, printable, value_order
from reports.factors import Region, Table
from reports.globs import translate
from reports.known import Matcher
from reports.known_entry import Entry
from reports.signature import LOST, Signature, signatures
from runner.model import NOT_RUN, CannotRun, Launch, Target

SHOWN = 120  # characters of a glob


@dataclass
class Proposal:
    """What runs say of one table."""

    where: str
    entries: list[Entry]
    seen: Counter[str] = field(default_factory=Counter)  # signatures that only this table can explain: cases
    shared: Counter[str] = field(default_factory=Counter)  # signatures that other tables may explain, too
    failed: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    by_glob: Counter[str] = field(default_factory=Counter)  # cases that failed, by the glob that fits them

    @property
    def texts(self) -> list[str]:
        """What to write as `seen`: what this table alone explains, else what it may explain."""
        return joined(self.seen or self.shared)

    def unjustified(self) -> list[str]:
        """A sentence for each glob that fits cases that ran, of which none failed as the table says."""
        sentences = []
        for entry in self.entries:
            fits = re.compile(translate(entry.case)).match
            if not self.by_glob[entry.case] and (number := sum(map(bool, map(fits, self.passed)))):
                glob = entry.case if len(entry.case) <= SHOWN else f"{entry.case[: SHOWN - 1]}…"
                cases = "1 case" if number == 1 else f"{number:,} cases"
                sentences.append(f"{self.where}: of {glob} {cases} ran and none failed so")
        return sentences

    def narrower(self) -> list[str]:
        """For each test, globs that fit what failed and less that passed, with how many of how many failed."""
        found = []
        for test in sorted({parse_case(case).test for case in self.failed}):
            bad = {case for case in self.failed if parse_case(case).test == test}
            ran = bad | {case for case in self.passed if parse_case(case).test == test}
            axes = list(parse_case(next(iter(bad))).axes)
            for region in Table(ran).regions(bad):
                share = f"{region.failed:,} of {region.ran:,}"
                found.append(f"{_glob(test, axes, region)} ({share} failed)")
        return found


def _glob(test: str, axes: Sequence[str], region: Region) -> str:
    """The glob for a region of the cases of a test, whose axes come in this order."""
    wanted = {one.axis: sorted(one.values, key=value_order) for one in region.conditions}
    words = [test]
    for axis in axes:
        if axis in wanted:
            values = wanted[axis]
            words.append(f"{axis}={values[0] if len(values) == 1 else '{' + ','.join(values) + '}'}")
        elif words[-1] != "*":
            words.append("*")
    return "/".join(words)


def propose(entries: Iterable[Entry], runs: Sequence[Path]) -> dict[str, Proposal]:
    """By table (`where`), what the runs say, where a case of the table ran. Raises WrongUse and CannotRun."""
    found: dict[str, Proposal] = {}
    ambiguous: list[tuple[list[str], str]] = []  # tables that may explain a failure, and its signature
    tables: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        tables[entry.where].append(entry)
    for run in runs:
        evidence = Evidence(run)
        for name, cases in evidence.cases.items():
            target = target_of(name, evidence.about.get(name, {}), evidence.run)
            matcher = Matcher(entry for some in tables.values() for entry in some if entry.fits(target))
            met = {case: matching for case in cases if (matching := matcher.matching(case))}
            bad = [case for case in met if cases[case].status not in ("pass", "xpass", "flaky", *NOT_RUN)]
            for case, matching in met.items():
                if cases[case].status in ("pass", "xpass"):
                    for where in {entry.where for entry in matching}:
                        found.setdefault(where, Proposal(where, tables[where])).passed.append(case)
            for record in evidence.details(name, bad):
                _add(record, met[record["case"]], tables, found, ambiguous)
    for wheres, text in ambiguous:  # what no table is alone to explain goes to the first, as it does in a run
        if not any(text in found[where].seen for where in wheres):
            found[wheres[0]].seen[text] += 1
    return found


def _add(
    record: Mapping[str, Any],
    matching: Sequence[Entry],
    tables: Mapping[str, list[Entry]],
    found: dict[str, Proposal],
    ambiguous: list[tuple[list[str], str]],
) -> None:
    status = str(record.get("found") or record["status"])
    able = [entry for entry in matching if status in entry.status]
    explained = set()
    whole = signatures(record)
    for one in whole:
        known = [entry for entry in able if entry.seen and entry.explains(one, status, whole)]
        known = known or [entry for entry in able if not entry.seen] or able
        wheres = [*dict.fromkeys(entry.where for entry in known)]
        if len(wheres) > 1:
            ambiguous.append((wheres, text_of(one)))
        for where in wheres:
            proposal = found.setdefault(where, Proposal(where, tables[where]))
            (proposal.seen if len(wheres) == 1 else proposal.shared)[text_of(one)] += 1
            explained.add(where)
    for where in {entry.where for entry in matching}:
        proposal = found.setdefault(where, Proposal(where, tables[where]))
        (proposal.failed if where in explained else proposal.passed).append(record["case"])
        if where in explained:
            proposal.by_glob.update(entry.case for entry in able if entry.where == where)


def joined(texts: Iterable[str]) -> list[str]:
    """The same patterns in fewer: `tag in MPI_Wait`, `tag in MPI_Test`, … become `{source,tag} in MPI_{Test,Wait}`."""
    calls: dict[tuple[str, str], set[str]] = defaultdict(set)  # by WHAT and place
    alone = []
    for text in texts:
        found = re.fullmatch(r"(\S+) (in|after) MPI_(\w+)", text)
        if found:
            calls[found[1], found[2]].add(found[3])
        else:
            alone.append(text)
    whats: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)  # by place and calls
    for (what, place), names in calls.items():
        whats[place, tuple(sorted(names))].add(what)
    return [f"{_braces(some)} {place} MPI_{_braces(names)}" for (place, names), some in whats.items()] + sorted(alone)


def _braces(words: Iterable[str]) -> str:
    words = sorted(words)
    return words[0] if len(words) == 1 else "{" + ",".join(words) + "}"


def text_of(signature: Signature) -> str:
    """The pattern that fits this signature, whatever its message."""
    return LOST if signature.status == "lost" else str(signature)


def target_of(name: str, about: Mapping[str, Any], run: Mapping[str, Any]) -> Target:
    """The target that run.json tells of, as far as entries ask for it."""

    def nowhere(suite_args: Sequence[str]) -> Launch:
        raise CannotRun(f"{name}: is not to be started")

    spec = str(about.get("mpi") or "")
    family, _, version = spec.partition("@")
    said = re.search(r"\d+(?:\.\d+)+", str(about.get("library") or ""))
    try:
        version = str(Version(version or (said[0] if said else "")))
    except InvalidVersion:
        version = ""
    return Target(
        name,
        spec,
        int(about.get("np") or 0),
        nowhere,
        family=family.removeprefix("debian:"),
        version=version,
        transport=str(about.get("transport") or ""),
        threads=int((run.get("options") or {}).get("threads") or 1),
    )


def write(proposals: Mapping[str, Proposal], files: Iterable[Path]) -> int:
    """Put `seen` into the tables that have proposals and none yet, in the place of `status`; how many were changed.

    Where a remark says why a table happens only sometimes, the numbers of cases go there, too.
    """
    changed = 0
    for path in files:
        head, *blocks = re.split(r"(?m)^(?=\[\[known\]\])", path.read_text(encoding="utf-8"))
        for number, block in enumerate(blocks, 1):
            proposal = proposals.get(f"{path}, entry {number}")
            if proposal is None or not proposal.texts or re.search(r"(?m)^seen\b", block):
                continue
            block = re.sub(r"(?m)^status\b.*\n", "", block)
            failed, ran = len(proposal.failed), len(proposal.failed) + len(proposal.passed)
            block = re.sub(
                r"(?m)^sometimes = true *# *(.*\S)",
                lambda found: f'sometimes = {{ failed = {failed}, of = {ran}, why = "{found[1]}" }}',  # noqa: B023
                block,
            )
            blocks[number - 1] = re.sub(r"(?m)^(?=reason\b)", _seen_line(proposal.texts), block, count=1)
            changed += 1
        path.write_text("".join([head, *blocks]), encoding="utf-8")
    return changed


def print_proposals(proposals: Mapping[str, Proposal], console: Console) -> None:
    """A paragraph for each table, in the order of the files."""

    def line(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style), soft_wrap=True)

    for one in sorted(proposals.values(), key=lambda one: _place(one.where)):
        ran = len(one.failed) + len(one.passed)
        line(f"{one.where}: {len(one.failed):,} of {ran:,} cases failed as it says", "bold")
        line(f"  {one.entries[0].reason} ({one.entries[0].link})", "dim")
        for counts, what in ((one.seen, "seen"), (one.shared, "seen, as other entries may say, too")):
            if counts:
                words = ", ".join(f"{text} ({number:,})" for text, number in counts.most_common())
                line(f"  {what}: {words}")
        if one.failed and one.passed:
            for text in one.narrower():
                line(f"  narrower: {text}")
        for sentence in one.unjustified():
            line(f"  not justified: {sentence.partition(': ')[2]}")


def _place(where: str) -> tuple[str, int]:
    path, _, number = where.rpartition(" ")
    return path, int(number)


def _seen_line(texts: Sequence[str]) -> str:
    line = "seen    = [{}]\n".format(", ".join(f'"{text}"' for text in texts))
    if len(line) <= 120:
        return line
    return "seen    = [\n" + "".join(f'    "{text}",\n' for text in texts) + "]\n"
