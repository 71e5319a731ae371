"""Known failures of libraries (docs/formats.md, section 7): a listed failure is `xfail`, a listed pass is `xpass`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from reports.globs import translate
from reports.known_entry import Entry, read
from reports.requirements import wants_an_error
from reports.signature import main_signature, pattern, signatures
from runner.model import ENDS, FAILED, NOT_RUN, Target, Verdict

FOLDER = Path(__file__).resolve().parents[1] / "known"  # what comes with Assay: one file a family of libraries
# How a process ends that a sanitizer ends: in a call, after it, or where no call is known.
SANITIZER = tuple(map(pattern, (f"{{SIGABRT,exit,killed}}{where}" for where in ("", " in MPI_*", " after MPI_*"))))
SHOWN_GLOB = 80  # characters of a glob in a warning
SHOWN_TABLES = 3  # in a warning about many


class _Globs:
    """Some entries, compiled: most cases match none, and one pattern of all says so."""

    def __init__(self, entries: list[Entry]) -> None:
        patterns = {entry: translate(entry.case) for entry in entries}
        self.entries = [(entry, re.compile(pattern).match) for entry, pattern in patterns.items()]
        self.any_match = re.compile("|".join(patterns.values())).match if patterns else None

    def matching(self, case: str) -> list[Entry]:
        if self.any_match is None or not self.any_match(case):
            return []
        return [entry for entry, match in self.entries if match(case)]


class Matcher:
    """Which of some entries match a case. Entries that cannot match any case of a test are not tried for it."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = [(re.split(r"[*?[{]", entry.case, maxsplit=1)[0], entry) for entry in entries]
        self.tests: dict[str, _Globs] = {}

    def matching(self, case: str) -> list[Entry]:
        """The entries whose glob matches this case name, in their order."""
        test = case.partition("/")[0]
        if test not in self.tests:
            begin = f"{test}/"
            self.tests[test] = _Globs(
                [entry for head, entry in self.entries if head.startswith(begin) or begin.startswith(head)]
            )
        return self.tests[test].matching(case)


class Known:
    """Known failures of any number of files. `apply` remembers which entries met a case, for `unused` and `enough`."""

    def __init__(self, entries: Iterable[Entry] = (), limit: int = 0) -> None:
        self.entries = list(entries)
        self.limit = limit  # cases of a test that a failure may end before the rest of them is left out; 0: all
        self._met: Counter[tuple[str, str, str]] = Counter()  # by target, table that may end a job, and test: cases
        self._bad: Counter[tuple[str, str, str]] = Counter()  # those of them that failed
        self._ended: Counter[tuple[str, str, str]] = Counter()  # and those that ended their job
        self._news: dict[str, set[tuple[str, str]]] = {}  # by target: tables and tests that `enough` is to tell of
        self._targets: dict[str, Matcher] = {}
        self._newest: str | None = None  # the name of the target that was asked for last
        self._matches: dict[str, Sequence[Entry]] = {}  # of its cases: each is asked for several times
        self._fitting: set[Entry] = set()
        self._used: set[Entry] = set()
        self._failed: set[Entry] = set()  # met a case that failed as expected, or was left out for that
        self._failed_on: dict[str, set[Entry]] = {}  # those of them that did, by target

    def apply(self, verdict: Verdict, target: Target) -> Verdict:
        """The verdict in the light of what is known; `extra` gains `known` (the reason), `known_link` and `found`.

        A failure is xfail when entries know all that its ranks saw; pass although an entry expects otherwise → xpass,
        unless all such entries say `sometimes`.
        """
        if verdict.status in NOT_RUN:
            return verdict
        matching = self._matching(verdict.case, target)
        if not matching:
            return verdict
        self._used.update(matching)
        self._count(verdict, target, {entry.where for entry in matching if not ENDS.isdisjoint(entry.status)})
        if verdict.status != "pass":
            return self._expected(verdict, target, matching)
        sure = next((entry for entry in matching if not entry.sometimes), None)
        if sure is None:
            return verdict
        reason = f"passed, but {sure.where} expects {' or '.join(sorted(sure.status))}"
        if wants_an_error(verdict.extra.get("requirements")):
            reason += (
                "; what wants an error raised also passes where the library has got worse and refuses what it should "
                "take"
            )
        return _known(verdict, "xpass", sure, {"reason": reason})

    def _expected(self, verdict: Verdict, target: Target, matching: Sequence[Entry]) -> Verdict:
        """xfail where each thing that a rank saw is known to one of the entries; the first names the main thing."""
        record = {**verdict.extra, "status": verdict.status}
        whole = signatures(record)
        seen = {one: [entry for entry in matching if entry.explains(one, verdict.status, whole)] for one in whole}
        main = main_signature(record)
        if main is None or not all(seen.values()):
            return verdict
        for entries in seen.values():
            self._failed.update(entries)
            self._failed_on.setdefault(target.name, set()).update(entries)
        return _known(verdict, "xfail", seen[main][0], {})

    def _count(self, verdict: Verdict, target: Target, tables: Iterable[str]) -> None:
        test = verdict.case.partition("/")[0]
        for table in tables:
            key = target.name, table, test
            self._met[key] += 1
            self._bad[key] += verdict.status in FAILED
            self._ended[key] += verdict.status in ENDS
            if 0 < self.limit <= self._ended[key] and self._bad[key] * 2 >= self._met[key]:
                self._news.setdefault(target.name, set()).add((table, test))

    def enough(self, cases: Sequence[str], target: Target) -> dict[str, str]:
        """Those of `cases`, all that are left, that are not worth a launch each any more, and why. Costs little mostly.

        A failure has ended `limit` cases of a test, and at least every other one that it fits failed. Nothing is told
        twice.
        """
        news, found = self._news.pop(target.name, set()), {}
        tests = {test for _, test in news}
        for case in cases if news else ():
            test = case.partition("/")[0]
            for entry in self._matching(case, target) if test in tests else ():
                if (entry.where, test) in news and not ENDS.isdisjoint(entry.status):
                    ended = self._ended[target.name, entry.where, test]
                    found[case] = f"left out, as {ended} cases of {test} have ended their job by this: {entry.reason}"
                    self._used.add(entry)
                    self._failed.add(entry)
                    break
        return found

    def again(self, record: Mapping[str, Any], target: Target) -> Verdict | None:
        """The verdict of a line of cases.jsonl by what is known now, or None when it stays as it is."""
        extra = {name: value for name, value in record.items() if name not in ("case", "target", "status", "seconds")}
        found = extra.pop("found", None)
        if record["status"] in ("xfail", "xpass"):
            # What apply() added.
            for name in ("known", "known_link", "by_chance", *(["reason"] if record["status"] == "xpass" else [])):
                extra.pop(name, None)
        else:
            found = record["status"]
        if found is None:
            return None
        verdict = Verdict(record["case"], target.name, found, float(record.get("seconds") or 0.0), extra)
        verdict = self.apply(verdict, target)
        same = verdict.status == record["status"] and verdict.extra.get("known") == record.get("known")
        return None if same else verdict

    def expected(self, case: str, target: Target) -> set[str]:
        """How this case may fail by what is known, but for what seldom happens: statuses."""
        return {status for entry in self._matching(case, target) if not entry.seldom for status in entry.status}

    def always(self, case: str, target: Target) -> set[str]:
        """How this case fails each time by what is known: statuses."""
        some = [entry for entry in self._matching(case, target) if not (entry.sometimes or entry.seldom)]
        return {status for entry in some for status in entry.status}

    def damage(self, case: str, target: Target) -> str:
        """The defect (link of an entry) that this case may leave a damaged process behind by, or ""."""
        return next((entry.link for entry in self._matching(case, target) if entry.damages), "")

    def _matching(self, case: str, target: Target) -> Sequence[Entry]:
        if target.name != self._newest:
            self._newest = target.name
            self._matches = {}
            if target.name not in self._targets:
                fitting = [entry for entry in self.entries if entry.fits(target)]
                self._targets[target.name] = Matcher(fitting)
                self._fitting.update(fitting)
        found = self._matches.get(case)
        if found is None:
            found = self._matches[case] = self._targets[target.name].matching(case) or ()
        return found

    def presumed(self, target: Target, seen: Collection[str]) -> str:
        """A sentence where cases of `target` failed as known, and its version is none of those that failures were
        `seen` in: then entries speak of it only because their ranges span it. Otherwise "".
        """
        entries = self._failed_on.get(target.name, set())
        if not entries or not seen or target.version in seen:
            return ""
        tables = len({entry.where for entry in entries})
        what = "1 known failure was" if tables == 1 else f"{tables} known failures were"
        return (
            f"{target.name}: {what} not seen in {target.version} before, "
            f"but in {', '.join(sorted(seen, key=Version))}, which span it"
        )

    def about(self, target: Target) -> int:
        """How many of the entries (one for each glob) speak of this target."""
        return sum(entry.fits(target) for entry in self.entries)

    def unused(self, part: bool = False, wider: Iterable[Callable[[Sequence[str]], Sequence[str]]] = ()) -> list[str]:
        """One sentence for each table with a glob that matched no case; one in all for entries of other libraries.

        Only of files that the user named: what comes with Assay is compared with runs by `assay known check`.
        part: only a part of the cases was to run, so that globs without a case are no news: one sentence in all.
        wider: each gives the cases of wider tiers that some globs match; globs that have one are not told of.
        """
        of_user = [entry for entry in self.entries if not entry.ours]
        missing = [entry for entry in of_user if entry in self._fitting and entry not in self._used]
        for cases in () if part else wider:
            if not missing:
                break
            there = cases([entry.case for entry in missing])
            missing = [entry for entry in missing if not any(map(re.compile(translate(entry.case)).match, there))]
        missed: dict[str, list[str]] = {}  # globs, by the table they stand in
        for entry in missing:
            missed.setdefault(entry.where, []).append(entry.case)
        sentences = []
        if part and missed:
            what = "1 known failure" if len(missed) == 1 else f"{len(missed)} known failures"
            sentences.append(f"of {what} not all cases were selected")
        else:
            for where, unused in missed.items():
                of_all = sum(entry.where == where for entry in self.entries)
                first = _cut(unused[0])
                which = first if len(unused) == 1 else f"{len(unused)} of its {of_all} globs ({first}, …)"
                sentences.append(f"{where}: {which} matched no case; correct the glob or remove the entry")
        passed = dict.fromkeys(
            entry.where
            for entry in of_user
            if entry.sometimes and not entry.seldom and entry in self._used and entry not in self._failed
        )
        if passed:
            what = "1 known failure that happens" if len(passed) == 1 else f"{len(passed)} known failures that happen"
            named = ", ".join([*passed][:SHOWN_TABLES]) + (", …" if len(passed) > SHOWN_TABLES else "")
            sentences.append(f"{what} only sometimes did not happen ({named})")
        if foreign := sum(entry not in self._fitting for entry in of_user):
            what = "1 known failure is" if foreign == 1 else f"{foreign} known failures are"
            sentences.append(f"{what} for libraries, versions, transports or numbers of ranks that did not run")
        return sentences


def _known(verdict: Verdict, status: str, entry: Entry, more: Mapping[str, Any]) -> Verdict:
    known: dict[str, Any] = {"known": entry.reason, "known_link": entry.link, "found": verdict.status}
    if entry.sometimes:
        known["by_chance"] = True  # `assay compare` takes no such case for new or mended
    return replace(verdict, status=status, extra={**verdict.extra, **known, **more})


def _cut(glob: str) -> str:
    return glob if len(glob) <= SHOWN_GLOB else f"{glob[: SHOWN_GLOB - 1]}…"


def shipped() -> list[Path]:
    """The files that come with Assay."""
    return sorted(FOLDER.glob("*.toml"))


def load(*paths: Path, limit: int = 0, ours: Iterable[Path] = (), sanitized: bool = False) -> Known:
    """Read files of known failures, and those of `ours` that are none of them.

    `sanitized`: the suite is built with a sanitizer, which ends a process where it sees a wrong access to memory; so a
    known failure may end like that, too, wherever it is.
    Raises WrongUse, one sentence with file, entry and what would be right.
    """
    named = {path.resolve() for path in paths}
    entries = [entry for path in paths for entry in read(path)]
    entries += [replace(entry, ours=True) for path in ours if path.resolve() not in named for entry in read(path)]
    if sanitized:
        entries = [
            replace(entry, seen=(*entry.seen, *SANITIZER), status=entry.status | {"crash"}) if entry.seen else entry
            for entry in entries
        ]
    return Known(entries, limit)
