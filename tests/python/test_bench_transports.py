"""assay bench transports: from lines to numbers, and the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.bench import plot, size_name, write_page
from runner.commands import bench_transports as bench
from runner.commands.bench_transports import Point
from runner.libraries import build
from runner.libraries.launching import LaunchWishes
from runner.libraries.targets import Library
from runner.model import CannotRun, Launch, WrongUse

LINES = "5 900 5e6\n8 1000 8e6\n11 1100 1e7\n1048573 300000 2e9\n1048576 300001 4e9\n1048579 600000 1e9\n"


def test_lines_become_microseconds_and_megabytes() -> None:
    points = bench.read_points(LINES)
    assert points[1] == Point(8, 1.0, 8.0)
    found = bench.derived(points)
    assert (found["latency"], found["bandwidth"], found["most"], found["half"]) == (1.0, 4000.0, 4000.0, 1048573)
    assert found["switches"] == [1 << 20]  # and not at 8, where 1.1 µs follow 0.9 µs


def test_best_is_taken_size_by_size() -> None:
    assert bench.best([Point(8, 2.0, 5.0)], [Point(8, 3.0, 9.0)]) == [Point(8, 2.0, 9.0)]
    assert bench.best([], [Point(8, 3.0, 9.0)]) == [Point(8, 3.0, 9.0)]


def test_ours_is_held_against_the_better_of_both() -> None:
    measured = {
        "tcp": [Point(8, 8.0, 1.0), Point(1 << 20, 300.0, 3000.0)],
        "tcp+ofi_rxm": [Point(8, 6.0, 1.0), Point(1 << 20, 400.0, 2000.0)],
        "assay_tcp": [Point(8, 12.0, 1.0), Point(1 << 20, 200.0, 4500.0)],
        "raw_tcp": [Point(8, 1.0, 1.0), Point(1 << 20, 100.0, 9000.0)],
    }
    assert bench.ratios(measured) == [
        {"name": "assay_tcp", "rivals": ["tcp", "tcp+ofi_rxm"], "latency": 0.5, "bandwidth": 1.5}
    ]
    assert bench.ratios({"assay_tcp": measured["assay_tcp"]}) == []


def test_sctp_is_held_against_usrsctp_with_and_without_threads() -> None:
    measured = {
        "tcp": [Point(8, 8.0, 1.0), Point(1 << 20, 300.0, 3000.0)],
        "assay_sctp:order=0": [Point(8, 10.0, 1.0), Point(1 << 20, 900.0, 900.0)],
        "raw_sctp": [Point(8, 12.0, 1.0), Point(1 << 20, 8000.0, 100.0)],
    }
    assert bench.ratios(measured) == [
        {"name": "assay_sctp:order=0", "rivals": ["raw_sctp"], "latency": 1.2, "bandwidth": 9.0},
    ]


def test_provider_without_mpi_is_held_against_such() -> None:
    fast, slow = ([Point(8, latency, 1.0), Point(1 << 20, 300.0, 3000.0)] for latency in (4.0, 8.0))
    measured = {"tcp": fast, "ofi:tcp+ofi_rxm": slow, "ofi:assay_tcp:cork": slow, "ofi:assay_sctp": slow}
    assert bench.ratios(measured) == [
        {"name": "ofi:assay_tcp:cork", "rivals": ["ofi:tcp", "ofi:tcp+ofi_rxm"], "latency": 1.0, "bandwidth": 1.0}
    ]
    assert bench.ratios({"ofi:assay_sctp": slow, "raw_sctp": fast}) == [
        {"name": "ofi:assay_sctp", "rivals": ["raw_sctp"], "latency": 0.5, "bandwidth": 1.0}
    ]


def test_unknown_transport_is_wrong_use() -> None:
    bench.check_names(
        ["own", "raw_tcp", "assay_tcp:eager=0", "ucx", "ofi:assay_sctp:interface=lo+streams=4", "ofi:shm"]
    )
    for name in ("tpc", "ofi:tpc"):
        with pytest.raises(WrongUse, match="did you mean tcp.*or raw_sctp, raw_tcp, ofi:PROVIDER"):
            bench.check_names([name])
    for name in ("ofi:own", "ofi:ucx"):
        with pytest.raises(WrongUse, match=f"--transport {name}: no provider of libfabric; use assay_sctp"):
            bench.check_names([name])
    for name in ("ofi:raw_tcp", "ofi:ofi:tcp", "ofi:", "ofi:tcp:no_rma", "ofi:assay_tcp:order=0"):
        with pytest.raises(WrongUse):
            bench.check_names([name])


def test_provider_without_mpi_is_opened_by_a_program_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "transports", lambda *_, **__: Path("/b/transports"))
    monkeypatch.setattr(build, "build", lambda *_, **__: pytest.fail("nothing here needs an MPI program"))
    for name in ("FI_PROVIDER_PATH", "ASSAY_TRANSPORT", "ASSAY_COUNTERS", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    library = Library(
        *("mpich@5.0.2", "mpich", "5.0.2", Path("/opt/mpi"), "/opt/mpi/bin/mpiexec", None),
        library_dirs=(Path("/opt/mpi/lib"),),
    )
    names = ["ofi:assay_sctp:interface=lo+streams=4", "ofi:tcp+ofi_rxm"]
    old = tmp_path / "counters" / bench._file_name(names[0]) / "1.json"
    old.parent.mkdir(parents=True)
    old.touch()
    request = bench.Request("mpich@5.0.2", names, largest=64, wishes=LaunchWishes(env={"FI_LOG_LEVEL": "warn"}))
    ours, others = bench._contenders(request, library, tmp_path, print)
    launch = ours.start(tmp_path / "a")
    assert launch.argv == ["/b/transports/assay-bench-fabric", str(tmp_path / "a"), "assay_sctp", "64"]
    told = {
        "FI_PROVIDER_PATH": "/b/transports",
        "ASSAY_TRANSPORT": "interface=lo+streams=4",
        "ASSAY_COUNTERS": str(ours.counters),
        "FI_LOG_LEVEL": "warn",
    }
    assert {name: launch.env[name] for name in told} == told
    assert ours.transport and ours.counters == old.parent and not old.exists()
    launch = others.start(tmp_path / "b")
    assert launch.argv[2] == "tcp;ofi_rxm"
    assert not {"FI_PROVIDER_PATH", "ASSAY_TRANSPORT", "ASSAY_COUNTERS", "LD_LIBRARY_PATH"} & launch.env.keys()
    assert others.transport is None  # it counts nothing


def test_what_does_not_run_says_why(tmp_path: Path) -> None:
    def contender(script: str) -> bench.Contender:
        return bench.Contender("odd", lambda file: Launch(["sh", "-c", script, "sh", str(file)], {"PATH": "/bin"}))

    with pytest.raises(CannotRun, match="odd: ended with 3: no such network"):
        bench._measure(contender("echo no such network >&2; exit 3"), tmp_path / "a")
    with pytest.raises(CannotRun, match="odd: ended with 0"):
        bench._measure(contender("exit 0"), tmp_path / "b")
    assert bench._measure(contender('echo 8 1000 8e6 > "$1"'), tmp_path / "c") == [Point(8, 1.0, 8.0)]


def test_page_has_a_line_for_each_that_was_measured(tmp_path: Path) -> None:
    points = bench.read_points(LINES)
    entry = {"name": "<tcp>", "points": [vars(point) for point in points], **bench.derived(points)}
    found = {
        "mpi": "mpich@5.0.2",
        "rounds": 5,
        "transports": [entry, {"name": "shm", "reason": "shm: ended with 15: no <shm>"}],
        "ratios": [{"name": "assay_tcp", "rivals": ["tcp", "tcp+ofi_rxm"], "latency": 0.5, "bandwidth": 1.25}],
    }
    page = write_page(found, {"cores": 2}, "./assay bench transports", tmp_path / "transports.html").read_text()
    assert page.count("<polyline") == 2
    assert page.count("<circle") == 2 * len(points)
    assert "&lt;tcp&gt;" in page and "<tcp>" not in page and "no <shm>" not in page
    assert "1.25 × its bandwidth" in page


def test_plot_keeps_its_points_in_the_frame() -> None:
    points = [vars(point) for point in bench.read_points(LINES)]
    made = plot("Latency", "µs", [{"name": "a", "points": points}], "latency")
    (line,) = made["lines"]
    frame = made["frame"]
    assert all(frame["left"] <= point["x"] <= frame["right"] for point in line["points"])
    assert all(frame["top"] <= point["y"] <= frame["bottom"] for point in line["points"])
    assert [point["x"] for point in line["points"]] == sorted(point["x"] for point in line["points"])
    assert [point["y"] for point in line["points"]] == sorted((point["y"] for point in line["points"]), reverse=True)
    assert re.fullmatch(r"a, 8 B: 1 µs", line["points"][1]["text"])


def test_sizes_are_said_in_powers_of_two() -> None:
    assert [size_name(size) for size in (8, 1021, 1024, 1 << 22)] == ["8 B", "1,021 B", "1 KiB", "4 MiB"]
