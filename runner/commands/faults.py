"""assay faults: proof that each test can fail (faults/*.toml).

Every planted fault is run over the cases that are to catch it. A catch is a case that fails under the fault and passes
without it, in the same launch set-up; so a failure that the library has anyway never counts. The other way round, a
test that no fault makes fail is worth nothing, and is reported.
"""

from __future__ import annotations

import fnmatch
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.planning import plan
from runner.planting.catalogue import load
from runner.planting.results import Result, catch_record, faults_of_tests, record, test_of
from runner.planting.session import Request, Session
from runner.planting.together import Together


def run(request: Request, out: Path, note: Callable[[str], None], told: Callable[[Result], None]) -> dict[str, Any]:
    """Run every fault that matches; what was found, as the object that --json prints.

    {"mpi", "seconds", "launches", "cpu_seconds", "ok", "control": [{np, cases, known, failed}],
    "faults": [{fault, note, np, fine, catches…}], "tests": {test: [fault, …]}, "idle_tests": […],
    "repeated": {fault: whether its catch came again in a launch of its own}}.
    `told` gets each fault's result as it comes.
    """
    begin = time.monotonic()
    faults = [fault for fault in load() if fnmatch.fnmatchcase(fault.name, request.glob)]
    if not faults:
        plan.must_be_one_of("fault", request.glob, [fault.name for fault in load()])
    plan.must_be_one_of("tier", request.tier, plan.TIERS)
    session = Session(request, out, note)
    tests = {test_of(case) for case in session.cases(request.tier, request.np)}
    whole = request.glob == "*"
    if request.suite:
        faults = [fault for fault in faults if any(fault.about(test) for test in tests)]
    note(f"{len(faults)} faults, {len(tests)} tests on {request.mpi}; first without any fault")
    for np in sorted({max(request.np, fault.np) for fault in faults}):
        control = session.control(np, faults)
        note(f"np {np}: {control.cases} cases without a fault: {len(control.failed)} failed, {control.known} known")
    results = [Result(fault, max(request.np, fault.np)) for fault in faults]
    together = Together(session, results)
    together.run()
    note(f"{sum(bool(result.catches) for result in results)} faults caught in {session.launches()} launches so far")
    for result in results:
        if not result.catches:
            session.judge(result)
        told(result)
    if whole:
        idle_so_far = tests - {test for result in results for test in result.catches}
        together.try_tests(idle_so_far)
        for test in sorted(idle_so_far - {test for result in results for test in result.catches}):
            session.try_test(test, results)
    caught = faults_of_tests(sorted(tests), results)
    controls = list(session.controls.values())
    idle: list[str] = []
    if whole:
        # One that a defect of the library fails, here or, as the known failures say, sometimes, has shown that it can.
        failing = {test_of(case) for one in controls for case in one.unfit} | {
            test_of(case)
            for case in session.cases(request.tier, request.np)
            if session.known.expected(case, session.target(request.np, None))
        }
        idle = [test for test, names in caught.items() if not names and test not in failing]
    return {
        "mpi": request.mpi,
        "seconds": round(time.monotonic() - begin, 1),
        "launches": session.launches(),
        "cpu_seconds": round(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]), 1),
        "ok": not idle
        and all(result.fine for result in results)
        and not any(one.failed for one in controls)
        and all(together.repeated.values()),
        "control": [
            {
                "np": one.np,
                "cases": one.cases,
                "known": one.known,
                "failed": [catch_record(catch) for catch in one.failed.values()],
            }
            for one in controls
        ],
        "faults": [record(result) for result in results],
        "tests": caught,
        "idle_tests": idle,
        "repeated": together.repeated,
    }
