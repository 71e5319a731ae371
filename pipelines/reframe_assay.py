"""A ReFrame check that runs Assay on the MPI library of a system: `assay pipeline reframe` prints it.

    reframe -C site.py -c reframe_assay.py -S options='--mpi abi:/opt/mpi/lib --np 4' -r

Each suite is a test of its own. The job itself has one task: Assay starts the ranks, by the library's own mpiexec or by
what `--launcher` names. ReFrame's report has the numbers of cases as performance values, so that they can be followed.
"""

from __future__ import annotations

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, performance_function, run_after, sanity_function, variable

# The last line of `assay run`: how many cases have which status.
LINE = r"^assay: (?P<pass>\d+) pass (?P<fail>\d+) fail (?P<crash>\d+) crash (?P<timeout>\d+) timeout (?P<lost>\d+) lost"
SUITES = (
    *("abi", "coll", "comm", "datatype", "dynamic", "env", "errors", "external", "info", "io", "p2p", "rma", "threads"),
    *("tool", "topology"),
)


@rfm.simple_test
class AssayCheck(rfm.RunOnlyRegressionTest):
    """One suite of Assay on one system and environment."""

    descr = "MPI library against MPI-5.0"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    suite = parameter(SUITES)
    options = variable(str, value="--mpi mpich@5.0.2 --np 2")  # of `assay run`
    executable = "assay"
    # Exit codes of `assay run`: 0 as expected, 77 nothing of the suite is applicable.
    postrun_cmds = ['echo "assay ended with $?"']
    num_tasks = 1
    time_limit = "2h"
    tags = {"mpi", "conformance"}
    keep_files = ["assay-results/report.html", "assay-results/junit.xml"]

    @run_after("init")
    def set_arguments(self) -> None:
        """`assay run` for this suite, into the stage folder."""
        self.executable_opts = ["run", self.options, "--suite", self.suite, "--out", "assay-results"]

    @run_after("setup")
    def start_it_alone(self) -> None:
        """No launcher stands before `assay`: it starts the ranks itself."""
        self.job.launcher = getlauncher("local")()

    @sanity_function
    def nothing_unexpected(self):
        """It ended as a run ends in which nothing is new."""
        return sn.assert_found(r"^assay ended with (0|77)$", self.stdout)

    @performance_function("cases")
    def passed(self):
        """How many cases passed."""
        return sn.extractsingle(LINE, self.stdout, "pass", int)

    @performance_function("cases")
    def failed(self):
        """How many failed, crashed, hung or were lost, and are not known to."""
        return sum(sn.extractsingle(LINE, self.stdout, status, int) for status in ("fail", "crash", "timeout", "lost"))
