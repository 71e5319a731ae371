"""How long the supervision of a job waits for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What one case may take, in seconds."""

    cpu: float  # CPU time of any one rank
    idle: float  # wall time while no rank uses the CPU
    unseen: float  # wall time before its ranks are looked at


@dataclass(frozen=True)
class Patience:
    """Seconds to wait, on an idle machine with a core for each rank.

    Wall times are widened by load and oversubscription. CPU time is not: a rank that has to wait for a core uses none,
    so a case that hangs costs the same CPU time at any load.
    """

    cpu: float = 2.0  # CPU time of any one rank in one case
    known: float = 0.2  # times the patience with a case that is known to hang, or to fail on one rank only
    slow: float = 4.0  # times `cpu` before a case that is not known to hang has hung: what ends until then is slow
    doubts: int = 3  # cases in a row that did not end until then, before `cpu` is enough
    idle: float = 8.0  # times `cpu` of wall time while no rank uses the CPU
    crowded: float = 2.0  # the most by which load widens `idle`: idle ranks may wait for a helper that waits for a core
    unseen: float = 0.5  # that a case may take before its ranks are looked at, whatever the load; also times `known`
    hello: float = 60.0  # from the launch to the last hello
    refusal: float = 1.0  # without any event, after one rank ended the case with an error
    death: float = 0.1  # for the last words of the others after a rank died
    answer: float = 1.0  # for stacks
    finalize: float = 10.0  # in MPI_Finalize, since the last rank entered it
    leave: float = 2.0  # for the launcher, when its ranks are gone
    launches: int = 2  # of a job that does not start
    spares: int = 3  # jobs that are launched ahead of need
    idle_jobs: int = 3  # in a row without a verdict, before the first case is given up as lost; 1 if that is known

    def budget(self, scale: float, busy: float, *, known: bool, slow: bool) -> Budget:
        """What a case may take: `scale` times the usual, with everything `busy` times slower (at least 1).

        `known`: it is known to hang; `slow`: it has used its time once and was given more.
        """
        less = self.known if known else 1.0
        cpu = self.cpu * scale * less
        idle = cpu * self.idle * min(busy, self.crowded)
        return Budget(cpu * self.slow if slow and not known else cpu, idle, self.unseen * less)
