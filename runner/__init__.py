"""The command line, the targets, the plan and the supervision of runs. Never loads MPI."""

__version__ = "0.1.0"
