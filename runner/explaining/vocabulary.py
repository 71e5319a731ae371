"""The words of a program: what statements are made of, and which constants stand for which arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from runner.explaining.recording import Recording


class CannotWrite(Exception):
    """Why there is no program: a sentence."""


@dataclass(frozen=True)
class Slot:
    """A part of a statement that may differ between ranks."""

    value: int | str | tuple[int | str, ...]  # a number, a name, or the numbers of an array


Part = str | Slot
Statement = tuple[Part, ...]


@dataclass
class RankProgram:
    """The statements of one rank, and what it declares."""

    statements: list[Statement] = field(default_factory=list)
    declared: dict[str, tuple[str, int]] = field(default_factory=dict)  # name → (type, number; 0: no array)
    blocks: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # name → (element type, its size, number)
    handlers: dict[str, str] = field(default_factory=dict)  # functions of the program: name → type of the object
    operations: dict[str, str] = field(default_factory=dict)  # functions of MPI_Op_create: type → name
    checks: int = 0


# What stands at the head of a statement that becomes several lines; a slot with a name, an offset and bytes follows.
FILL, EXPECT, FILE, EXPECT_FILE = "\0fill", "\0expect", "\0file", "\0expect_file"

_RANKS = ("MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ROOT")
_ASSERTIONS = ("MPI_MODE_NOCHECK", "MPI_MODE_NOSTORE", "MPI_MODE_NOPUT", "MPI_MODE_NOPRECEDE", "MPI_MODE_NOSUCCEED")
_ACCESS = tuple(
    f"MPI_MODE_{word}"
    for word in "APPEND CREATE DELETE_ON_CLOSE EXCL RDONLY RDWR SEQUENTIAL UNIQUE_OPEN WRONLY".split()  # noqa: SIM905
)
_COMBINERS = tuple(
    f"MPI_COMBINER_{word}"
    for word in (  # noqa: SIM905
        "NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK STRUCT SUBARRAY DARRAY "
        "RESIZED"
    ).split()
)
# Names of parameters → the constants that may stand for their value.
NAMED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("source", "dest", "rank", "root", "target_rank", "recvsource", "ranks", "ranks1", "ranks2"), _RANKS
    ),
    **dict.fromkeys(("tag", "recvtag", "sendtag"), ("MPI_ANY_TAG",)),
    "color": ("MPI_UNDEFINED",),
    **dict.fromkeys(
        ("index", "indx", "outcount", "topo_type", "status"),
        ("MPI_UNDEFINED", "MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH"),
    ),
    **dict.fromkeys(("array_of_indices", "indices"), ("MPI_UNDEFINED",)),
    "result": ("MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"),
    "order": ("MPI_ORDER_C", "MPI_ORDER_FORTRAN"),
    "array_of_distribs": ("MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC", "MPI_DISTRIBUTE_NONE"),
    "array_of_dargs": ("MPI_DISTRIBUTE_DFLT_DARG",),
    "split_type": (
        "MPI_COMM_TYPE_SHARED",
        "MPI_COMM_TYPE_HW_GUIDED",
        "MPI_COMM_TYPE_HW_UNGUIDED",
        "MPI_COMM_TYPE_RESOURCE_GUIDED",
    ),
    "lock_type": ("MPI_LOCK_EXCLUSIVE", "MPI_LOCK_SHARED"),
    "whence": ("MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END"),
    "typeclass": ("MPI_TYPECLASS_INTEGER", "MPI_TYPECLASS_REAL", "MPI_TYPECLASS_COMPLEX"),
    "combiner": _COMBINERS,
    **dict.fromkeys(("count", "size", "elements"), ("MPI_UNDEFINED",)),
}
FLAGS: dict[str, tuple[str, ...]] = {"assert": _ASSERTIONS, "amode": _ACCESS}
KEYVALS = tuple(f"MPI_WIN_{word}" for word in ["BASE", "SIZE", "DISP_UNIT", "CREATE_FLAVOR", "MODEL"]) + (
    "MPI_TAG_UB",
    "MPI_HOST",
    "MPI_IO",
    "MPI_WTIME_IS_GLOBAL",
    "MPI_UNIVERSE_SIZE",
    "MPI_LASTUSEDCODE",
    "MPI_APPNUM",
)
HANDLES = {
    "MPI_Comm": "comm", "MPI_Datatype": "type", "MPI_Errhandler": "handler", "MPI_File": "file", "MPI_Group": "group",
    "MPI_Info": "info", "MPI_Message": "message", "MPI_Op": "op", "MPI_Request": "request", "MPI_Session": "session",
    "MPI_Win": "win",
}  # fmt: skip
CONSUMES = re.compile(
    r"MPI_(Wait|Test|Start|Cancel|I?mrecv|Comm_disconnect|File_close|Type_commit|Session_finalize|\w+_free$)", re.I
)
POLLS = re.compile(r"MPI_(Test(all|any|some)?|I(m)?probe|Parrived|Request_get_status\w*)$")
# Calls that only ask, and are left out where nothing depends on the answer.
ASKS = re.compile(
    r"MPI_(Comm_(rank|size|remote_size|test_inter|get_errhandler|get_name|group|compare)|Type_(size|get_(true_)?extent|get_envelope)\w*|"
    r"Get_(count|elements|address|version|library_version|processor_name)\w*|Pack_size\w*|Error_(class|string)|"
    r"Initialized|Finalized|Query_thread|Topo_test|Test_cancelled|Group_(rank|size|translate_ranks|compare)|Is_thread_main|"
    r"Cartdim_get|Cart_(get|rank|coords)|Dist_graph_neighbors(_count)?|Graph_neighbors(_count)?|Graph(dims)?_get|Info_get\w*)$"
)
SETS_HANDLER = re.compile(r"MPI_(Comm|Win|File|Session)_set_errhandler$")
NONBLOCKING = re.compile(r"MPI_(I[a-z]|\w+_init$|\w+_init_c$)")
OUT_OF_REACH = {
    "MPI_Comm_spawn": "it spawns processes", "MPI_Comm_spawn_multiple": "it spawns processes",
    "MPI_Comm_accept": "it connects jobs", "MPI_Comm_connect": "it connects jobs", "MPI_Comm_join": "it connects jobs",
    "MPI_Abort": "it ends the job",
}  # fmt: skip
INTS = {"MPI_INT": ("int", 4), "MPI_SHORT": ("short", 2), "MPI_LONG": ("long", 8), "MPI_UNSIGNED": ("unsigned", 4)}


def symbol(name: str, value: int, of: Recording) -> int | str:
    """How a value of the parameter of this name is written: as a constant of MPI, or as a number."""
    numbers = of.constants.get("int", {})
    if name in FLAGS and value:
        words = [word for word in FLAGS[name] if numbers.get(word, 0) and value & numbers[word]]
        return " | ".join(words) if words else value
    names = KEYVALS if name.endswith("keyval") else NAMED.get(name, ())
    return next((word for word in names if numbers.get(word) == value), value)
