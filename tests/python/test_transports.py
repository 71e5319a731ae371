"""Transports: names, what libraries are told, and the proof from counters: runner/libraries/transports.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.libraries import targets, transports
from runner.libraries.launching import LaunchWishes, counting, make_target
from runner.libraries.targets import Library
from runner.libraries.transports import Transport, parse
from runner.model import CannotRun, WrongUse

TCP = Transport("assay_tcp")
PROVIDERS = Path("/b/transports")


def library(family: str, version: str) -> Library:
    return Library(f"{family}@{version}", family, version, Path("/opt/mpi"), "/opt/mpi/bin/mpiexec", None)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("own", ""),
        ("assay_tcp", "assay_tcp"),
        ("assay_tcp:no_rma", "assay_tcp:no_rma"),
        ("assay_tcp:no_rma+eager=0", "assay_tcp:no_rma+eager=0"),
        ("tcp+ofi_rxm", "tcp+ofi_rxm"),
        ("ucx", "ucx"),
        ("assay_sctp:map=tag+order=0", "assay_sctp:map=tag+order=0"),
        ("assay_sctp:addresses=127.0.0.1_::1+down=1:2:0", "assay_sctp:addresses=127.0.0.1_::1+down=1:2:0"),
        ("assay_tcp:streams=4+cork+ip=6", "assay_tcp:streams=4+cork+ip=6"),
    ],
)
def test_names_go_both_ways(spec: str, name: str) -> None:
    assert parse(spec).name == name
    assert parse(spec).spec == spec


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("assay_tpc", "did you mean assay_tcp?"),
        ("rxm", "use own, assay_sctp, assay_tcp"),
        ("tcp:no_rma", "unknown"),
        ("", "unknown"),
        ("own:no_rma", "unknown"),
        ("assay_tcp:", "no switch ''"),
        ("assay_tcp:no_rmaa", "did you mean no_rma?"),
        ("assay_tcp:eager", "eager takes a value"),
        ("assay_tcp:eager=ten", "eager takes a value"),
        ("assay_tcp:no_rma=1", "no_rma takes no value"),
        ("assay_tcp:order=0", "no switch 'order'"),
        ("assay_sctp:map=tags", "map takes a value"),
        ("assay_sctp:addresses=127.0.0.1;127.0.0.2", "addresses takes a value"),
        ("assay_sctp:cmt=2", "cmt takes a value"),
        ("assay_tcp:cork=1", "cork takes no value"),
        ("assay_sctp:ip=5", "ip takes a value"),
    ],
)
def test_wrong_names_are_one_sentence(spec: str, part: str) -> None:
    with pytest.raises(WrongUse) as error:
        parse(spec)
    assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_switches_are_those_of_the_provider() -> None:
    folder = Path(__file__).resolve().parents[2] / "transports"
    for name in transports.SWITCHES:
        assert f'"{name}"' in (folder / "core" / "settings.cpp").read_text()
    for provider, about in transports.OURS.items():
        source = (folder / provider.removeprefix("assay_") / "transport.cpp").read_text()
        source += (folder / "net" / "impairment.cpp").read_text()
        for name in about.switches:
            assert f'"{name}"' in source


def test_a_transport_is_a_folder_with_a_table(tmp_path: Path) -> None:
    assert list(transports.OURS) == ["assay_sctp", "assay_tcp"]
    for name in ("slow", "fast"):
        (tmp_path / name).mkdir()
    (tmp_path / "slow" / "transport.toml").write_text('rivals = ["tcp"]\n[switches]\ndelay = "[0-9]+"\n')
    (tmp_path / "slow" / "raw.cpp").touch()
    (tmp_path / "fast" / "CMakeLists.txt").touch()  # not one yet
    assert transports._providers(tmp_path) == {
        "assay_slow": transports.Provider({"delay": "[0-9]+"}, ("tcp",), "assay-bench-slow")
    }


@pytest.mark.parametrize(
    ("family", "version", "told"),
    [
        ("mpich", "5.0.2", {"MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "assay_tcp"}),
        ("openmpi", "5.0.11", {"OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "assay_tcp"}),
        ("impi", "2021.19.0", {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "assay_tcp"}),
    ],
)
def test_ranks_and_launcher_are_told(family: str, version: str, told: dict[str, str]) -> None:
    made = make_target(
        library(family, version), 2, Path("/b/suite"), LaunchWishes(), parse("assay_tcp:no_rma"), PROVIDERS
    )
    assert made.name == f"{family}@{version}+assay_tcp:no_rma/np2"
    assert made.transport == "assay_tcp:no_rma"
    launch = made.launcher(["--x"])
    for name, value in {**told, "FI_PROVIDER_PATH": str(PROVIDERS), "ASSAY_TRANSPORT": "no_rma"}.items():
        assert launch.env[name] == value  # for processes that a job spawns
        assert f"{name}={value}" in launch.argv
        assert made.settings[name] == value


def test_own_choice_is_left_alone() -> None:
    made = make_target(library("mpich", "5.0.2"), 2, Path("/b/suite"), LaunchWishes(), Transport(), Path())
    assert made.name == "mpich@5.0.2/np2"
    assert not any("FI_PROVIDER" in word for word in made.launcher([]).argv)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tcp+ofi_rxm", {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp;ofi_rxm"}),
        ("ucx", {"MPIR_CVAR_CH4_NETMOD": "ucx"}),
    ],
)
def test_transports_of_others_need_no_provider_of_ours(name: str, told: dict[str, str]) -> None:
    made = make_target(library("mpich", "5.0.2"), 2, Path("/b/suite"), LaunchWishes(), parse(name), Path())
    assert made.name == f"mpich@5.0.2+{name}/np2"
    environment = made.launcher([]).env
    assert {key: environment[key] for key in told} == told
    assert "FI_PROVIDER_PATH" not in environment
    assert not transports.counts(made.transport)
    assert transports.counts("assay_tcp:no_rma")


def test_library_that_cannot_be_told() -> None:
    with pytest.raises(WrongUse, match="--transport ucx: it is not known how impi"):
        make_target(library("impi", "2021.19.0"), 2, Path("/b"), LaunchWishes(), parse("ucx"), Path())
    with pytest.raises(WrongUse, match="--transport assay_tcp: it is not known how path:/x is told"):
        make_target(
            Library("path:/x", "unknown", "", Path("/x"), "/x/mpiexec", None), 2, Path("/b"), LaunchWishes(), TCP
        )


def test_counters_go_to_a_folder(tmp_path: Path) -> None:
    made = counting(make_target(library("mpich", "5.0.2"), 2, Path("/b"), LaunchWishes(), TCP, PROVIDERS), tmp_path)
    assert f"ASSAY_COUNTERS={tmp_path}" in made.launcher([]).argv


def test_proof_is_in_the_counters(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="never opened assay_tcp"):
        transports.prove(TCP, transports.counted(tmp_path), 2)
    (tmp_path / "a.json").write_text(json.dumps({"remote": 0, "bytes": 10, "closed": True}))
    (tmp_path / "b.json").write_text("{")  # its process was killed
    assert transports.counted(tmp_path) == {"endpoints": 1, "remote": 0, "bytes": 10}
    with pytest.raises(CannotRun, match="nothing went over assay_tcp"):
        transports.prove(TCP, transports.counted(tmp_path), 2)
    transports.prove(TCP, transports.counted(tmp_path), 1)
    (tmp_path / "c.json").write_text(json.dumps({"remote": 3, "bytes": 5, "closed": False}))
    transports.prove(TCP, transports.counted(tmp_path), 2)


def test_what_a_library_cannot_do_then_is_unsupported() -> None:
    cases = ["p2p.ring/comm=world/type=int", "p2p.ring/comm=split_type_shared/type=int", "x.y/comm=split_type_shared"]
    found = transports.unsupported(cases, targets.known()["mpich"], True, {})
    assert list(found) == cases[1:]
    assert all("MPIR_CVAR_NOLOCAL" in reason for reason in found.values())
    assert transports.unsupported(cases, targets.known()["mpich"], False, {}) == {}
    assert transports.unsupported(cases, targets.known()["openmpi"], True, {}) == {}


@pytest.mark.parametrize(
    ("environment", "can"),
    [
        ({}, False),
        ({"I_MPI_FABRICS": "shm"}, False),
        ({"I_MPI_FABRICS": "shm:ofi"}, True),
        ({"I_MPI_SPAWN": "on"}, True),
        ({"I_MPI_SPAWN": "off"}, False),
    ],
)
def test_intel_has_dynamic_processes_when_it_is_told_to(environment: dict[str, str], can: bool) -> None:
    cases = ["dynamic.spawn_multiple/comm=world", "dynamic.universe/comm=world", "p2p.ring"]
    found = transports.unsupported(cases, targets.known()["impi"], False, environment)
    assert list(found) == ([] if can else cases[:1])
    assert all("I_MPI_SPAWN=on" in why for why in found.values())
