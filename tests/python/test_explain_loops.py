"""assay explain --c: many lines that differ in numbers become a loop, many variables of one kind an array."""

from __future__ import annotations

from runner.explaining.loops import arrays, folded, renamed


def test_lines_that_repeat_become_a_loop() -> None:
    lines = [(f"MPI_Cancel(&requests[{k}]);", 0) for k in range(9)] + [("MPI_Barrier(comm);", 0)]
    lines += [line for k in range(6) for line in ((f"f({2 * k + 1});", 0), (f"g({k}, 5, {9 - k} - rank);", 0))]
    assert folded(lines) == [
        ("for (int k = 0; k < 9; ++k) MPI_Cancel(&requests[k]);", 0),
        ("MPI_Barrier(comm);", 0),
        ("for (int k = 0; k < 6; ++k) {", 0),
        ("f(2 * k + 1);", 1),
        ("g(k, 5, (9 - k) - rank);", 1),
        ("}", 0),
    ]


def test_what_no_loop_can_say_stays() -> None:
    uneven = [(f"f({k * k});", 0) for k in range(9)]
    in_texts = [(f'expect("data[{k}]", data[{k}], 7);', 0) for k in range(9)]
    branches = [line for k in range(9) for line in ((f"if (rank == {k}) {{", 0), ("f();", 1), ("}", 0))]
    few = [(f"f({k});", 0) for k in range(4)]
    other_depths = [(f"f({k});", k) for k in range(9)]
    hexadecimal = [(f"data[{k}] = 0x{k}7;", 0) for k in range(9)]
    for lines in (uneven, in_texts, branches, few, other_depths, hexadecimal):
        assert folded(lines) == lines


def test_variables_of_one_kind_become_an_array() -> None:
    names = [f"request{k if k > 1 else ''}" for k in range(1, 8)]
    listed = arrays({**dict.fromkeys(names, ("MPI_Request", 0)), "rank": ("int", 0), "data": ("int", 4)})
    assert listed == {name: ("all_request", k) for k, name in enumerate(names)}
    assert renamed("MPI_Wait(&request3, &requests);", listed) == "MPI_Wait(&all_request[2], &requests);"
    assert not arrays(dict.fromkeys(names[:4], ("MPI_Request", 0)))
    assert not arrays({name: ("int", 0 if k % 2 else 5) for k, name in enumerate(names)})
