"""Which cases a run consists of: asks assay-suite --list (docs/formats.md, section 2), then orders and shards."""

from __future__ import annotations

import fnmatch
import json
import random
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reports.globs import expand
from runner.model import CannotRun, WrongUse

SUITES = Path(__file__).resolve().parents[2] / "suites"
TIERS = ("smoke", "quick", "standard", "full")
ORDERS = ("listed", "shuffle")
LIST_SECONDS = 600  # a full tier of all suites takes a minute on a busy machine


@dataclass(frozen=True)
class Selection:
    """What the user wants to be run."""

    tier: str = "quick"
    seed: int = 1
    profile: str | None = None
    suite: Sequence[str] = ()  # comma lists
    axis: Mapping[str, Sequence[str]] = field(default_factory=dict)  # axis → comma lists
    select: Sequence[str] = ()  # globs, comma lists, with braces
    threads: int = 1

    def arguments(self) -> list[str]:
        """The options of assay-suite that make this selection."""
        words = [f"--tier={self.tier}", f"--seed={self.seed}", f"--threads={self.threads}"]
        words += self.profile_arguments()
        if self.suite:
            words.append(f"--suite={','.join(self.suite)}")
        words += [f"--axis={axis}={','.join(values)}" for axis, values in self.axis.items()]
        words += [f"--select={glob}" for glob in globs(self.select)]
        return words

    def suites_to_compile(self, folder: Path = SUITES) -> list[str]:
        """The suites that hold all tests of this selection, where that can be seen from it; none: it may need all."""
        if self.axis or self.profile:  # they may name what any suite defines
            return []
        named = [word for words in self.suite for word in words.split(",")]
        named = named or [glob.partition(".")[0] for glob in globs(self.select) if not glob.startswith("^")]
        return sorted(set(named)) if all((folder / name).is_dir() and name for name in named) else []

    def profile_arguments(self) -> list[str]:
        """The option of assay-suite for the profile alone."""
        return [f"--profile={self.profile}"] if self.profile else []


def comma_list(words: Iterable[str]) -> list[str]:
    """`("a,b", "c")` → [a, b, c]."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def globs(words: Iterable[str]) -> list[str]:
    """As comma_list, and `{a,b}` is a or b, as in lists of known failures: `("x/{a,b}",)` → [x/a, x/b]."""
    found: dict[str, None] = {}
    for word in words:
        try:
            found |= dict.fromkeys(comma_list(expand(word)))
        except ValueError as error:
            raise WrongUse(f"--select {word}: {error}") from None
    return list(found)


@dataclass(frozen=True)
class Suite:
    """The test binary as something to ask."""

    binary: Path
    environment: Mapping[str, str]  # in which it finds its library
    about: str = "mpi"  # or ofi, ucx: whose requirements its tests name

    def ask(self, what: str, np: int, arguments: Iterable[str] = ()) -> list[dict[str, Any]]:
        """The JSON lines of --list=`what`. Raises WrongUse with what the suite says against the arguments."""
        command = [str(self.binary), f"--list={what}", f"--np={np}", *arguments]
        try:
            done = subprocess.run(
                command,
                env=self.environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=LIST_SECONDS,
                check=False,
            )
        except OSError as error:
            raise CannotRun(f"{self.binary}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{self.binary} --list={what} did not end within {LIST_SECONDS} s") from None
        said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        if done.returncode == 2:
            raise WrongUse(re.sub(r"^assay(-[a-z]+)?: ", "", said))
        if done.returncode != 0:
            raise CannotRun(f"{self.binary} --list={what} ended with {done.returncode}: {said}")
        try:
            return [json.loads(line) for line in done.stdout.splitlines() if line]
        except ValueError:
            raise CannotRun(f"{self.binary} --list={what} printed something else than JSON lines") from None


@dataclass(frozen=True)
class Plan:
    """The cases of one target, in order."""

    cases: Sequence[str]
    unsupported: Mapping[str, str] = field(default_factory=dict)  # case → reason
    requirements: Mapping[str, Sequence[str]] = field(default_factory=dict)  # test → requirements
    listed: int = 0  # before sharding, with the unsupported ones
    threaded_tests: frozenset[str] = frozenset()  # that need MPI_THREAD_MULTIPLE
    left_out: Mapping[str, int] = field(default_factory=dict)  # by the profile: how many tests and values of axes
    lone_tests: frozenset[str] = frozenset()  # whose cases need a job each
    notes: Sequence[str] = ()  # what the user should know of the selection

    def threaded(self, case: str) -> bool:
        """Whether this case needs MPI_THREAD_MULTIPLE."""
        return case.partition("/")[0] in self.threaded_tests

    def alone(self, case: str) -> bool:
        """Whether this case needs a job of its own."""
        return case.partition("/")[0] in self.lone_tests

    def text(self, seed: int) -> str:
        """The plan file (docs/formats.md, section 3)."""
        return f"assay-plan 1 seed={seed} cases={len(self.cases)}\n" + "".join(f"{case}\n" for case in self.cases)


def make(suite: Suite, np: int, selection: Selection, order: str = "listed", shard: str | None = None) -> Plan:
    """The plan for `np` ranks. Raises WrongUse when the selection names or matches nothing."""
    part, parts = parse_shard(shard)
    tests = suite.ask("tests", np)
    left_out: dict[str, int] = {}
    if selection.profile:
        beyond = suite.ask("left_out", np, selection.arguments())
        values = sum("value" in line for line in beyond)
        left_out = {"tests": len(beyond) - values, "values": values}
    lines = suite.ask("cases", np, selection.arguments())
    notes = _beyond_the_tier(suite, np, selection, [line["case"] for line in lines])
    if not lines:
        hint = "; ".join(notes) or "`assay list cases` shows what there is"
        raise WrongUse(f"nothing matches {describe(selection)}; {hint}")
    cases = [line["case"] for line in lines if "unsupported" not in line]
    unsupported = [(line["case"], line["unsupported"]) for line in lines if "unsupported" in line]
    if order == "shuffle":
        random.Random(selection.seed).shuffle(cases)
    return Plan(
        cases[part - 1 :: parts],
        dict(unsupported[part - 1 :: parts]),
        {test["test"]: test["requirements"] for test in tests},
        len(lines),
        frozenset(test["test"] for test in tests if test.get("thread_level") == "multiple"),
        left_out,
        frozenset(test["test"] for test in tests if test.get("own_job")),
        notes,
    )


def _beyond_the_tier(suite: Suite, np: int, selection: Selection, listed: Sequence[str]) -> list[str]:
    """A sentence for each word of --select that matches none of the `listed` cases, but some of all combinations."""
    sentences = []
    for word in selection.select:
        wanted = [glob for glob in globs([word]) if not glob.startswith("^")]
        exact, patterns = set(wanted), [glob for glob in wanted if set("*?[") & set(glob)]
        fits = re.compile("|".join(map(fnmatch.translate, patterns)) or "(?!)").match
        if not wanted or any(case in exact or fits(case) for case in listed):
            continue
        everything = replace(selection, tier=TIERS[-1], select=[word])
        if number := sum("unsupported" not in line for line in suite.ask("cases", np, everything.arguments())):
            cases = "1 case" if number == 1 else f"{number:,} cases"
            sentences.append(
                f"--select {word!r} matches no case of tier {selection.tier}, but {cases} of all combinations: "
                f"--tier {TIERS[-1]} --select {word!r} runs them"
            )
    return sentences


def read(path: Path) -> list[str]:
    """The cases of a plan file. Raises WrongUse when it is not one."""
    try:
        head, *cases = path.read_text().splitlines()
    except (OSError, ValueError) as error:
        raise WrongUse(f"{path}: not a plan: {getattr(error, 'strerror', None) or 'it is empty or no text'}") from None
    found = re.fullmatch(r"assay-plan 1 seed=\d+ cases=(\d+)", head)
    if not found or int(found[1]) != len(cases):
        raise WrongUse(f"{path}: not a whole plan: its first line should be `assay-plan 1 seed=… cases={len(cases)}`")
    return cases


def parse_shard(shard: str | None) -> tuple[int, int]:
    """`2/5` → (2, 5); None → (1, 1)."""
    if shard is None:
        return 1, 1
    found = re.fullmatch(r"(\d+)/(\d+)", shard)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise WrongUse(f"--shard {shard}: use i/n with 1 ≤ i ≤ n, for example 2/5")
    return int(found[1]), int(found[2])


def must_be_one_of(what: str, name: str, there: Iterable[str]) -> None:
    """Raises WrongUse unless `name` is one of `there`."""
    names = sorted(there)
    if name in names:
        return
    near = get_close_matches(name, names, n=3, cutoff=0.5) or [other for other in names if name in other][:3]
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"there are {', '.join(names)}" if len(names) <= 12 else f"there are {', '.join(names[:12])} and others"
    raise WrongUse(f"unknown {what} {name!r}; {hint}")


def describe(selection: Selection) -> str:
    """The selection as the options that make it."""
    words = [f"--profile {selection.profile}"] if selection.profile else []
    words += [f"--suite {','.join(selection.suite)}"] if selection.suite else []
    words += [f"--{axis} {','.join(values)}" for axis, values in selection.axis.items()]
    words += [f"--select {glob!r}" for glob in selection.select]
    return " ".join([*words, f"--tier {selection.tier}"])
