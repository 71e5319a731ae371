"""Ranks over a transport of ours: real ranks, and libfabric's own tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from e2e_help import MPI, assay, pingpong

from runner.libraries import build
from runner.libraries.transports import PROVIDERS

pytestmark = pytest.mark.usefixtures("nothing_left")
RING = ("run", "--mpi", MPI, "--np", "2", "--tier", "smoke", "--select", "p2p.ring_sendrecv/call=sendrecv/*")


@pytest.fixture
def environment(programs: Path) -> dict[str, str]:
    return {"ASSAY_SUITE": str(programs / "assay-suite")}


def test_ranks_talk_over_it(tmp_path: Path, environment: dict[str, str]) -> None:
    out = tmp_path / "out"
    done = assay(*RING, "--transport", ",".join(("own", *PROVIDERS)), "--out", out, env=environment, seconds=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    own, *others = json.loads((out / "run.json").read_text())["targets"]
    assert own["name"] == f"{MPI}/np2"
    assert "counters" not in own
    assert set(own["status"]) == {"pass"}
    for over, provider in zip(others, PROVIDERS, strict=True):
        assert over["name"] == f"{MPI}+{provider}/np2"
        assert over["counters"]["endpoints"] >= 2
        assert over["counters"]["remote"] > 0
        assert set(over["status"]) <= {"pass", "unsupported"}


def test_order_that_is_not_restored_is_found(tmp_path: Path, environment: dict[str, str]) -> None:
    case = "p2p.order_flood/ints=mixed/comm=world"
    command = ("run", "--mpi", MPI, "--np", "2", "--select", case, "--transport")
    for order, expected in (("1", 0), ("0", 1)):
        out = tmp_path / order
        done = assay(*command, f"assay_sctp:order={order}", "--out", out, env=environment, seconds=1200)
        assert done.returncode == expected, done.stdout + done.stderr


def test_traffic_that_went_elsewhere_is_no_run(tmp_path: Path, environment: dict[str, str]) -> None:
    # The user's word counts most: ranks are told to talk through shared memory after all.
    elsewhere = [
        word for value in ("MPIR_CVAR_NOLOCAL=0", "OMPI_MCA_pml=ob1", "I_MPI_FABRICS=shm") for word in ("--env", value)
    ]
    done = assay(
        *RING, "--transport", "assay_tcp", *elsewhere, "--out", tmp_path / "out", env=environment, seconds=1200
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "assay_tcp" in done.stderr
    assert json.loads((tmp_path / "out" / "run.json").read_text())["finished"] is False


@pytest.mark.alone
def test_transports_are_timed_beside_each_other(tmp_path: Path, environment: dict[str, str]) -> None:
    done = assay(
        *("bench", "transports", "--mpi", MPI, "--rounds", "2", "--largest", "4096"),
        *("--transport", "assay_tcp,ofi:assay_tcp,raw_tcp,raw_sctp", "--json", "--out", tmp_path),
        env=environment,
        seconds=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    for one in found["transports"]:
        sizes = [point["size"] for point in one["points"]]
        assert sizes[:4] == [5, 8, 11, 13] and sizes[-1] == 4099
        assert all(point["latency"] > 0 and point["bandwidth"] > 0 for point in one["points"])
    assert [one["name"] for one in found["transports"]] == ["assay_tcp", "ofi:assay_tcp", "raw_tcp", "raw_sctp"]
    assert (tmp_path / "transports.html").read_text().count("<polyline") == 8


def test_wrong_name_is_one_sentence(tmp_path: Path, environment: dict[str, str]) -> None:
    done = assay(*RING, "--transport", "assay_tpc", "--out", tmp_path / "out", env=environment)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "assay: --transport assay_tpc: unknown (did you mean assay_tcp?); use own, assay_sctp, assay_tcp, tcp, "
        "tcp+ofi_rxm, shm, udp+ofi_rxd, sockets, ucx; those of ours take switches: assay_sctp:no_rma+eager=1024"
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_of_libfabric_run_over_it(provider: str) -> None:
    if shutil.which("fi_pingpong") is None:
        pytest.skip("libfabric-bin is not installed")
    environment = {"PATH": "/usr/bin:/bin", "FI_PROVIDER_PATH": str(build.transports())}
    said = subprocess.run(["fi_info", "-p", provider], env=environment, capture_output=True, text=True, check=True)
    assert "type: FI_EP_RDM" in said.stdout
    assert "6m" in pingpong(provider, "-S", "all")
