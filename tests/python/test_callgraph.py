"""Calls of tests, read from the machine code of a small program."""

import subprocess
from pathlib import Path

import pytest

from runner.model import CannotRun
from runner.planning import callgraph

NAMES = [
    *("Send", "Recv", "Isend", "Irecv", "Wait", "Barrier", "Bcast", "Reduce", "Gather", "Scan", "Probe", "Error_class"),
    *("Finalize", "Comm_dup", "Allgather"),
]
PROGRAM = """
#include <functional>
#include <map>
#include <string>
#include <vector>
extern "C" { DECLARATIONS }
namespace assay {
struct test_run { int n; std::map<std::string, int> seen; };
std::string error_text(int code);
__attribute__((noinline)) std::string error_text(int code) { MPI_Error_class(); return std::to_string(code); }
}
using assay::test_run;
struct registered { registered(void (*)(test_run&)); };
static std::vector<void (*)(test_run&)> bodies;
registered::registered(void (*body)(test_run&)) { bodies.push_back(body); }

// calls itself
static void body_p2p_direct(test_run& mpi) { if (mpi.n > 3) MPI_Send(); else MPI_Recv(); }
static registered const test_p2p_direct(body_p2p_direct);

// through a function that others share, and a lambda that is handed on
__attribute__((noinline)) static void shared(test_run& mpi, std::function<void()> const& what) {
    for (int i = 0; i < mpi.n; ++i) what();
    MPI_Wait();
}
static void body_p2p_handed_on(test_run& mpi) { shared(mpi, [&] { mpi.seen["x"] = MPI_Isend(); }); }
static registered const test_p2p_handed_on(body_p2p_handed_on);

// through a constant table
struct row { char const* name; int (*call)(); };
static row const rows[] = {{"irecv", MPI_Irecv}, {"barrier", [] { return MPI_Barrier(); }}};
static void body_p2p_table(test_run& mpi) { for (auto const& r : rows) mpi.seen[r.name] = r.call(); }
static registered const test_p2p_table(body_p2p_table);

// through a table that is made when the program starts
struct entry { std::string name; std::function<int()> call; };
static std::vector<entry> const axis = {{"bcast", [] { return MPI_Bcast() + 1; }},
                                        {"reduce", [] { return MPI_Reduce() + 2; }}};
static void body_coll_axis(test_run& mpi) { mpi.seen["axis"] = axis[static_cast<unsigned>(mpi.n)].call(); }
static registered const test_coll_axis(body_coll_axis);

// a table in the body
static void body_coll_local(test_run& mpi) {
    struct local { int (*call)(); int n; };
    local const table[] = {{MPI_Gather, 1}, {MPI_Scan, 2}, {MPI_Probe, 3}, {MPI_Scan, 4}, {MPI_Gather, 5}};
    for (auto const& l : table) mpi.seen["n"] += l.call() * l.n;
}
static registered const test_coll_local(body_coll_local);

// only a failure reaches MPI_Error_class; MPI_Comm_dup and MPI_Finalize belong to main
namespace assay { namespace inner {
static void body_env_fails(test_run& mpi) { mpi.seen[error_text(mpi.n)] = 1; }
static registered const test_env_fails(body_env_fails);
} }
int main() { test_run mpi{}; MPI_Comm_dup(); for (auto body : bodies) body(mpi); return MPI_Finalize(); }
"""
# What starts with the program in another file is not mixed up with what starts in this one.
OTHER = """
#include <functional>
#include <string>
#include <vector>
extern "C" int MPI_Allgather();
namespace assay { struct test_run; }
struct entry { std::string name; std::function<int()> call; };
static std::vector<entry> const table = {{"allgather", [] { return MPI_Allgather() + 3; }}};
static void body_coll_other(assay::test_run&) { for (auto const& e : table) e.call(); }
void (*volatile other)(assay::test_run&) = body_coll_other;
"""


@pytest.fixture(scope="module", params=["-O2", "-O0"])
def program(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("program")
    library = "".join(f"int MPI_{name}(void) {{ return 0; }}\n" for name in NAMES)
    declarations = " ".join(f"int MPI_{name}();" for name in NAMES)
    (folder / "mpi.c").write_text(library)
    (folder / "other.cpp").write_text(OTHER)
    (folder / "program.cpp").write_text(PROGRAM.replace("DECLARATIONS", declarations))

    def compile(*words: str) -> None:
        subprocess.run(words, cwd=folder, check=True)

    compile("gcc", "-shared", "-fPIC", "-o", "libmpi.so", "mpi.c")
    compile(
        "g++", "-std=c++20", request.param, "-rdynamic", "-o", "program", "program.cpp", "other.cpp", "-L.", "-lmpi"
    )
    return folder / "program"


def test_every_way_to_a_procedure_is_found(program: Path) -> None:
    tests = {
        "p2p.direct": {"MPI_Send", "MPI_Recv"},
        "p2p.handed_on": {"MPI_Isend", "MPI_Wait"},
        "p2p.table": {"MPI_Irecv", "MPI_Barrier"},
        "coll.local": {"MPI_Gather", "MPI_Scan", "MPI_Probe"},
        "coll.other": {"MPI_Allgather"},
        "env.fails": set(),
    }
    found, everything = callgraph.procedures_of_tests(program, [*tests, "coll.axis"])
    assert {test: found[test] for test in tests} == tests
    # Tables that are made at the start belong to their file as a whole.
    assert {"MPI_Bcast", "MPI_Reduce"} <= found["coll.axis"] <= {"MPI_Bcast", "MPI_Reduce"}
    assert everything == {f"MPI_{name}" for name in NAMES}


def test_what_cannot_be_read_is_named(program: Path) -> None:
    with pytest.raises(CannotRun, match=r"has no symbol for the body of p2p\.other"):
        callgraph.procedures_of_tests(program, ["p2p.other"])
    stripped = program.with_name("stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    with pytest.raises(CannotRun, match="has no symbol for the body"):
        callgraph.procedures_of_tests(stripped, ["p2p.direct"])
    with pytest.raises(CannotRun, match="readelf"):
        callgraph.read(program.with_name("program.cpp"))
