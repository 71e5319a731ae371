"""What goes to a tracker: a Markdown file, and a draft entry for known/."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reports import requirements
from reports.evidence import Evidence, parse_case, value_order, write_file
from reports.signature import signatures
from runner.explaining.explained import Explained
from runner.explaining.trials import Bench
from runner.model import NOT_RUN


def write_report(made: Explained, bench: Bench, evidence: Evidence, folder: Path) -> None:
    """Write report.md and known.toml to `folder`."""
    write_file(folder / "report.md", lambda file: file.write(markdown(made, bench, evidence)))
    write_file(folder / "known.toml", lambda file: file.write(entry(made, bench, evidence)))


def markdown(made: Explained, bench: Bench, evidence: Evidence) -> str:
    """The text for a tracker."""
    machine = evidence.run.get("machine", {})
    about = evidence.about.get(made.suspect.target, {})
    found, shown = made.found, made.shown
    lines = [f"# {made.title}", "", "## Environment", ""]
    lines += [f"- library: {about.get('library') or bench.library.spec}"]
    lines += [f"- system: {machine.get('os', '')}, Linux {machine.get('kernel', '')}, {machine.get('cpu', '')}"]
    settings = bench.target(found.np).settings
    lines += [f"- settings: {' '.join(f'{name}={value}' for name, value in settings.items()) or 'none'}"]
    if bench.request.wishes.preload:
        lines += [f"- preloaded: {', '.join(map(str, bench.request.wishes.preload))}"]
    signature = made.suspect.signature
    clauses = requirements.cited([signature.requirement]) if signature.requirement else []
    if clauses:
        lines += ["", "## What the standard says", ""]
        lines += [f"MPI-5.0 section {section}: {text}" for section, text in clauses]
    lines += ["", "## What happens", "", *_quoted(made.message or str(signature))]
    rate = f"{found.failures} of {found.runs} runs" if found.flaky else f"every one of {found.runs} runs"
    lines += ["", f"It happens in {rate}, {made.sentence}."]
    if shown is not None and shown.path is not None and not shown.why_not:
        says = ", ".join(f"{word} on {mpi}" for mpi, word in shown.says.items())
        lines += ["", "## A program that shows it", "", f"It says {says}.", "", "```c"]
        lines += [*shown.path.read_text(encoding="utf-8").rstrip().splitlines(), "```"]
    elif shown is not None:
        lines += ["", f"There is no program that shows it: {shown.why_not}."]
    if made.since:
        lines += ["", "## Versions", "", made.since]
    lines += ["", "## The case of Assay", "", "```", made.command, "```", ""]
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    return ["```", *text.rstrip().splitlines(), "```"]


def globs(failing: Sequence[str], others: Sequence[str]) -> list[str]:
    """Globs that hold all the failing cases and none of the others; an axis is named where it keeps another out."""
    wanted: dict[str, list[str]] = {}
    for case in failing:
        wanted.setdefault(parse_case(case).test, []).append(case)
    found: list[str] = []
    for test, cases in wanted.items():
        passing = [parse_case(case).axes for case in others if parse_case(case).test == test]
        axes = [parse_case(case).axes for case in cases]
        order = _least_deciding_first(axes, passing)
        needs: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        for one in axes:
            needed = dict(one)
            for axis in order:
                rest = {name: value for name, value in needed.items() if name != axis}
                if not any(_holds(rest, other) for other in passing):
                    needed = rest
            needs[tuple(needed.items())] = needed
        made: list[dict[str, str]] = []
        left = axes
        while left:  # those that hold most of what is left
            needed = max(needs.values(), key=lambda one: sum(_holds(one, other) for other in left))
            made.append(needed)
            left = [one for one in left if not _holds(needed, one)]
        found += _written(test, list(axes[0]), made)
    return found


def _least_deciding_first(failing: Sequence[Mapping[str, str]], passing: Sequence[Mapping[str, str]]) -> list[str]:
    """The axes, last those whose values tell best whether a case fails."""

    def deciding(axis: str) -> float:
        bad, good = (Counter(one.get(axis, "") for one in cases) for cases in (failing, passing))
        return sum(number * number / (number + good[value]) for value, number in bad.items())

    return sorted(failing[0], key=deciding)


def _holds(needed: Mapping[str, str], axes: Mapping[str, str]) -> bool:
    return all(axes.get(axis) == value for axis, value in needed.items())


def _written(test: str, order: Sequence[str], made: Sequence[Mapping[str, str]]) -> list[str]:
    """The conditions as globs; those that differ only in the last axis that they name are one glob with braces."""
    together: dict[tuple[tuple[str, str], ...], dict[str, set[str]]] = {}
    for needed in made:
        named = [(axis, needed[axis]) for axis in order if axis in needed]
        if not named:
            return [f"{test}/*" if order else test]
        together.setdefault(tuple(named[:-1]), {}).setdefault(named[-1][0], set()).add(named[-1][1])
    found = []
    for head, lasts in together.items():
        for last, values in lasts.items():
            ordered = sorted(values, key=value_order)
            named = [*head, (last, ordered[0] if len(ordered) == 1 else "{" + ",".join(ordered) + "}")]
            parts = [test]
            for axis in order:
                word = next((f"{name}={value}" for name, value in named if name == axis), "*")
                if word != "*" or parts[-1] != "*":
                    parts.append(word)
            found.append("/".join(parts))
    return found


def entry(made: Explained, bench: Bench, evidence: Evidence) -> str:
    """A draft of a table for known/<family>.toml, with globs that hold exactly the failing cases of those that ran."""
    failing = sorted(set(made.suspect.all_cases))
    others = [
        case
        for name, entries in evidence.cases.items()
        if evidence.about.get(name, {}).get("mpi") == bench.library.spec
        for case, one in entries.items()
        if one.status not in NOT_RUN and case not in set(failing)
    ]
    here = [case for case in failing if case in evidence.cases[made.suspect.target]]
    patterns = globs(failing, others)
    signature = made.suspect.signature
    clauses = requirements.cited([signature.requirement]) if signature.requirement else []
    section = f" (section {clauses[0][0]})" if clauses else ""
    reason = f"{made.title.partition(': ')[2] or signature}{section}"
    link = made.shown.path.name if made.shown is not None and made.shown.works and made.shown.path else "WRITE_ONE.c"
    lines = ["[[known]]"]
    if len(patterns) == 1:
        lines += [f"case    = {json.dumps(patterns[0])}"]
    else:
        lines += ["case    = [", *(f"    {json.dumps(one)}," for one in patterns), "]"]
    lines += [f"library = {json.dumps(bench.library.family)}", f'version = "=={bench.library.version}"']
    seen = sorted({str(one) for record in evidence.details(made.suspect.target, here) for one in signatures(record)})
    lines += [f"seen    = {json.dumps(seen, ensure_ascii=False)}"]
    if made.found.flaky:
        lines += [f'sometimes = {{ failed = {made.found.failures}, of = {made.found.runs}, why = "…" }}']
    lines += [f"reason  = {json.dumps(reason[:200], ensure_ascii=False)}", f'link    = "known/reproducers/{link}"', ""]
    return "\n".join(lines)
