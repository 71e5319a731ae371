"""assay explain --c: what becomes of handlers, files, settings and unchecked memory that a recording has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.explaining.layout import Header
from runner.explaining.recording import Recording, read_all
from runner.explaining.showing import write
from runner.explaining.vocabulary import CannotWrite

Line = dict[str, Any]
CONSTANTS = {
    "MPI_Comm": {"MPI_COMM_NULL": 0, "MPI_COMM_WORLD": 1},
    "MPI_Datatype": {"MPI_DATATYPE_NULL": 0, "MPI_INT": 4},
    "MPI_Errhandler": {"MPI_ERRHANDLER_NULL": 0, "MPI_ERRORS_RETURN": 5},
    "MPI_File": {"MPI_FILE_NULL": 0},
    "MPI_Info": {"MPI_INFO_NULL": 0},
    "MPI_Op": {"MPI_OP_NULL": 0},
    "MPI_Request": {"MPI_REQUEST_NULL": 0},
    "MPI_Win": {"MPI_WIN_NULL": 0},
    "int": {"MPI_ERR_RANK": 6, "MPI_MODE_RDONLY": 2, "MPI_SUCCESS": 0},
    "pointer": {"MPI_STATUS_IGNORE": 0},
}
BUFFER, OTHER, REQUEST, HANDLER, FILE = 1000, 2000, 3000, 4000, 5000


def value(kind: str, name: str, number: int) -> Line:
    return {"name": name, "type": kind, "value": number}


def at(kind: str, name: str, address: int, **more: Any) -> Line:
    return {"name": name, "type": kind, "at": address, "constant": False, **more}


def call(name: str, *arguments: Line, code: int = 0, **more: Any) -> list[Line]:
    """A call and its return; `after` of an argument is what it holds then."""
    after = [one.pop("after", {}) for one in arguments]
    begun: Line = {"call": name, "arguments": list(arguments)}
    called = more.pop("called", [])
    returned = {"returned": name, "code": code, "arguments": after, **({"class": code} if code else {}), **more}
    return [begun, *({"event": "called", "at": one} for one in called), returned]


def recorded(folder: Path, *parts: list[Line]) -> list[Recording]:
    """The recording of one rank."""
    folder.mkdir()
    head: list[Line] = [{"constants": CONSTANTS, "sizes": {"MPI_Status": 24, "MPI_Request": 8, "MPI_Comm": 4}}]
    lines = [*head, {"event": "case", "text": "x"}, *(line for part in parts for line in part), {"event": "end"}]
    (folder / "rank-0.recording").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_all(folder, 1)


def program(right: list[Recording], wrong: list[Recording]) -> str:
    text = write(right, wrong, Header("title", [], "", "", "./assay run", 1), "x")
    return "\n".join(line.strip() for line in text.splitlines())


def test_an_error_handler_that_is_not_called(tmp_path: Path) -> None:
    def lines(address: int, called: list[int]) -> list[list[Line]]:
        handler = at("MPI_Comm_errhandler_function", "comm_errhandler_fn", address)
        made = at("MPI_Errhandler", "errhandler", HANDLER, values=[0], after={"values": [77]})
        comm = value("MPI_Comm", "comm", 1)
        return [
            call("MPI_Comm_create_errhandler", handler, made),
            call("MPI_Comm_set_errhandler", comm, value("MPI_Errhandler", "errhandler", 77)),
            call("MPI_Comm_call_errhandler", comm, value("int", "errorcode", 6), called=called),
        ]

    right = recorded(tmp_path / "right", *lines(9000, [9000]))
    text = program(right, recorded(tmp_path / "wrong", *lines(9500, [])))  # at another address in another process
    assert "static void handle(MPI_Comm* object, int* code, ...) {" in text and "++handle_calls;" in text
    assert "MPI_Comm_create_errhandler(handle, &handler);" in text
    assert 'expect("calls of handle by MPI_Comm_call_errhandler", handle_calls, 1);' in text


def test_a_file_is_made_and_looked_at(tmp_path: Path) -> None:
    path, content, wanted = "/tmp/assay-7/case", bytes(range(8)), bytes(range(4)) + b"\xa5" * 4

    def lines(found: bytes) -> list[list[Line]]:
        name = {**at("char", "filename", FILE, text=path), "constant": True}
        file = at("MPI_File", "fh", HANDLER, values=[0], after={"values": [55]})
        comm, mode = value("MPI_Comm", "comm", 1), value("int", "amode", 2)
        closed = at("MPI_File", "fh", HANDLER, values=[55], after={"values": [0]})
        return [
            [{"event": "file", "text": path, "at": 1, "bytes": content.hex()}],
            [{"event": "limit", "text": "1000"}],
            [{"event": "meet", "at": 1, "bytes": "01000000"}],
            call("MPI_File_open", comm, name, mode, value("MPI_Info", "info", 0), file),
            [{"event": "limit", "text": "none"}],
            call("MPI_File_close", closed),
            [{"event": "file", "text": path, "at": 1, "bytes": found.hex(), "expected": wanted.hex()}],
        ]

    text = program(recorded(tmp_path / "right", *lines(wanted)), recorded(tmp_path / "wrong", *lines(content)))
    body = text[text.index("int main") :]
    order = [
        'write_file("show.data", expected, 8);',
        "limit_file_size(1000);",
        "MPI_Barrier(MPI_COMM_WORLD);",
        'MPI_File_open(MPI_COMM_WORLD, "show.data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);',
        "limit_file_size(RLIM_INFINITY);",
        "MPI_File_close(&file);",
        'expect_file("show.data", expected, 8);',
    ]
    assert [body.index(line) for line in order] == sorted(body.index(line) for line in order)
    assert path not in text and "#include <sys/resource.h>" in text and "static void expect(" in text


def test_the_variable_of_the_library_that_is_wrong_is_set(tmp_path: Path) -> None:
    def lines(setting: str, code: int) -> list[list[Line]]:
        barrier = call("MPI_Barrier", value("MPI_Comm", "comm", 1), code=code)
        return [[{"event": "setting", "text": setting}], barrier]

    right = recorded(tmp_path / "right", *lines("coll_tuned_barrier_algorithm 3", 0))
    text = program(right, recorded(tmp_path / "wrong", *lines("MPIR_CVAR_BARRIER_INTRA_ALGORITHM 2", 6)))
    assert 'set_variable("MPIR_CVAR_BARRIER_INTRA_ALGORITHM", 2);' in text and "coll_tuned" not in text
    assert 'expect("code of MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);' in text
    assert "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);" in text


def received(text: str) -> list[list[Line]]:
    """A message to itself, in memory of which the framework knows nothing; `text` is what arrives."""
    comm, kind, one = value("MPI_Comm", "comm", 1), value("MPI_Datatype", "datatype", 4), value("int", "count", 1)
    rank, tag = value("int", "source", 0), value("int", "tag", 0)
    request = at("MPI_Request", "request", REQUEST, values=[0], after={"values": [66]})
    buffer = at("void", "buf", BUFFER, low=0, bytes="a5a5a5a5", after={"bytes": "a5a5a5a5"})
    sent = {**at("void", "buf", OTHER, low=0, bytes="01020304"), "constant": True}
    done = at("MPI_Request", "request", REQUEST, values=[66], after={"values": [0]})
    return [
        call("MPI_Irecv", buffer, one, kind, rank, tag, comm, request),
        call("MPI_Send", sent, one, kind, value("int", "dest", 0), tag, comm),
        call("MPI_Wait", done, at("MPI_Status", "status", 0), memory=[{"at": BUFFER, "bytes": text}]),
    ]


def test_memory_that_no_check_is_about(tmp_path: Path) -> None:
    right = recorded(tmp_path / "right", *received("01020304"))
    text = program(right, recorded(tmp_path / "wrong", *received("01020305")))
    assert 'expect("received[0]", received[0], 0x04030201);' in text


def test_one_array_that_serves_for_two_arguments(tmp_path: Path) -> None:
    def lines(code: int) -> list[list[Line]]:
        counts = [{**at("int", name, BUFFER, values=[0]), "constant": True} for name in ("sendcounts", "sdispls")]
        return [call("MPI_Alltoallv", *counts, value("MPI_Comm", "comm", 1), code=code)]

    text = program(recorded(tmp_path / "right", *lines(0)), recorded(tmp_path / "wrong", *lines(6)))
    assert "memcpy(sendcounts, (int[]){0}, sizeof sendcounts);" in text
    assert "MPI_Alltoallv(sendcounts, sendcounts, MPI_COMM_WORLD)" in text


@pytest.mark.parametrize("claimed", [0, 4])
def test_what_the_framework_expects_of_a_status_counts(claimed: int, tmp_path: Path) -> None:
    status = at("MPI_Status", "status", 7000)
    status["after"] = {"statuses": [{"source": 0, "tag": 0, "error": 0, "bytes": 99, "cancelled": True}]}
    probe = call("MPI_Probe", value("int", "source", 0), value("MPI_Comm", "comm", 1), status)
    said = [
        {"event": "status", "at": 7000, "text": f"bytes {claimed}"},
        {"event": "status", "at": 7000, "text": "cancelled 0"},
    ]
    wrong = recorded(tmp_path / "wrong", probe, said)
    text = program(wrong, wrong)
    assert f'expect("bytes in the status of MPI_Probe", bytes, {claimed});' in text
    assert 'expect("cancelled in the status of MPI_Probe", cancelled != 0, 0);' in text


def test_each_rank_has_the_file_that_it_had(tmp_path: Path) -> None:
    def lines(path: str, code: int) -> list[Line]:
        name = {**at("char", "filename", FILE, text=path), "constant": True}
        return call("MPI_File_delete", name, value("MPI_Info", "info", 0), code=code)

    right = [recorded(tmp_path / f"right-{rank}", lines(f"/tmp/case/{rank}", 0))[0] for rank in range(2)]
    wrong = [recorded(tmp_path / f"wrong-{rank}", lines(f"/tmp/else/{rank}", 6))[0] for rank in range(2)]
    assert 'MPI_File_delete(rank == 0 ? "show.data" : "show2.data", MPI_INFO_NULL)' in program(right, wrong)


def test_an_error_handler_that_is_there_is_not_set_again(tmp_path: Path) -> None:
    def setting(comm: int) -> list[Line]:
        both = value("MPI_Comm", "comm", comm), value("MPI_Errhandler", "errhandler", 5)
        return call("MPI_Comm_set_errhandler", *both)

    def lines(code: int) -> list[list[Line]]:
        new = at("MPI_Comm", "newcomm", HANDLER, values=[0], after={"values": [9]})
        freed = at("MPI_Comm", "comm", HANDLER, values=[9], after={"values": [0]})
        made = [call("MPI_Comm_dup", value("MPI_Comm", "comm", 1), new), setting(9), setting(9)]
        again = [
            call("MPI_Comm_free", freed),
            call("MPI_Comm_dup", value("MPI_Comm", "comm", 1), {**new, "after": {"values": [9]}}),
        ]
        return [setting(1), *made, *again, setting(9), call("MPI_Barrier", value("MPI_Comm", "comm", 9), code=code)]

    text = program(recorded(tmp_path / "right", *lines(0)), recorded(tmp_path / "wrong", *lines(6)))
    assert text.count("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);") == 1
    assert text.count("MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);") == 2


def test_an_operation_matters_only_for_data(tmp_path: Path) -> None:
    def lines(ends: bool) -> list[list[Line]]:
        function = at("MPI_User_function", "user_fn", 9000)
        op = at("MPI_Op", "op", HANDLER, values=[0], after={"values": [31]})
        reduce = call("MPI_Reduce_local", value("MPI_Op", "op", 31), code=0 if ends else 6)
        return [call("MPI_Op_create", function, value("int", "commute", 1), op), reduce if ends else reduce[:1]]

    right, wrong = recorded(tmp_path / "right", *lines(True)), recorded(tmp_path / "wrong", *lines(False))
    text = write(right, wrong, Header("title", [], "", "", "./assay run", 1, "MPI_Reduce_local"), "x")
    assert "static void combine(void* in, void* inout, int* length, MPI_Datatype* type) {" in text
    assert "MPI_Op_create(combine, 1, &op);" in text
    with pytest.raises(CannotWrite, match="a function of the test's own"):
        program(right, wrong)
