"""What the runner takes from the cores that the ranks want too: for a case that passes hardly more CPU time than it
takes to write its verdict as JSON and to read it again.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import xxhash
from supervise_help import fake_target

from runner.supervision.context import CaseFacts, Task
from runner.supervision.journal import Journal
from runner.supervision.supervise import supervise

LIMIT = 3.0  # times one json.dumps and json.loads of the verdict; 1.4 to 2 when this was written


def write_logs(out: Path, cases: list[str]) -> None:
    """A job of two ranks that passed all cases and whose runner was killed before it wrote a single verdict."""
    job = out / "logs/fake@1.0_np2/job-0001"
    job.mkdir(parents=True)
    plan = f"assay-plan 1 seed=1 cases={len(cases)}\n" + "".join(f"{case}\n" for case in cases)
    (job / "plan.txt").write_text(plan)
    (job / "go").write_text("0\n")
    (job / "job.json").write_text('{"target":"fake@1.0/np2","args":["--seed=1"],"attempt":1}')
    digest = xxhash.xxh3_64_hexdigest(plan.encode())
    for rank in range(2):
        hello = {"rank": rank, "size": 2, "pid": 1, "host": "h", "plan": digest, "seed": 1, "binary": "feed"}
        lines = [f"H {json.dumps(hello)}\n"]
        start = 1_234_567_890_123
        for index in range(len(cases)):
            lines.append(f"S {index} {start + index * 50_000}\nE {index} {start + index * 50_000 + 41_234} p\n")
        (job / f"rank-{rank}.events").write_text("".join(lines))


def microseconds(out: Path, count: int) -> float:
    """CPU time a case to read, merge, judge and write so many."""
    cases = [f"p2p.ring/mode=isend/comm=reversed/type=vector_int/count={number}" for number in range(count)]
    write_logs(out, cases)
    told = 0

    def hear(verdicts: object) -> None:
        nonlocal told
        told += len(verdicts)  # type: ignore[arg-type]

    requirements = {"p2p.ring": ["p2p.send.data", "p2p.status.source"]}
    with Journal(out / "cases.jsonl") as journal:
        start = time.process_time()
        facts = CaseFacts(requirements=lambda case: requirements[case.partition("/")[0]])
        target = fake_target(out)
        supervise(
            Task(target=target, plan=cases, out=out, journal=journal, cases=facts, on_verdicts=hear, binary="feed")
        )
        spent = time.process_time() - start
    assert told == count
    assert (out / "cases.jsonl").read_bytes().count(b'"status":"pass"') == count
    return spent / count * 1e6


def json_microseconds(lines: list[str]) -> float:
    """CPU time a line to read and write these as JSON."""
    start = time.process_time()
    for line in lines:
        json.dumps(json.loads(line))
    return (time.process_time() - start) / len(lines) * 1e6


def test_cost_of_a_passing_case(tmp_path: Path) -> None:
    ratios = []
    for attempt in range(5):  # one right after the other: both see the same machine
        cost = microseconds(tmp_path / str(attempt), 20_000)
        ratios.append(cost / json_microseconds((tmp_path / str(attempt) / "cases.jsonl").read_text().splitlines()))
    assert statistics.median(ratios) <= LIMIT


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        cost = microseconds(Path(folder), 200_000)
        beside = json_microseconds((Path(folder) / "cases.jsonl").read_text().splitlines())
        print(f"{cost:.2f} µs a case (200,000 cases, np 2), {cost / beside:.2f} times its line as JSON")
