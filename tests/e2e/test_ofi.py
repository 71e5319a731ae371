"""The suite for libfabric's providers: ranks without MPI, and planted faults that each of its tests has to find."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from e2e_help import assay

from runner.libraries import build, launching, targets

pytestmark = pytest.mark.usefixtures("nothing_left")

# Fault of faults/ofi → the tests that have to find it: "test", or "test@transport", or "test/np=N".
FAULTS = {
    "last_byte_wrong": ["ring", "self", "reopen", "leave/np=3"],
    "last_byte_lost": ["ring", "unexpected"],
    "wrong_peer": ["all_to_all"],
    "cq_length": ["ring"],
    "cq_flags": ["ring"],
    "cq_tag": ["ring"],
    "cq_data": ["ring"],
    "cq_no_data_flag": ["ring"],
    "cq_no_context": ["ring"],
    "cq_twice": ["ring"],
    "cq_lost": ["ring", "few_descriptors"],
    "cq_source": ["many_to_one"],
    "cq_writes_behind": ["cq_formats"],
    "overtaking": ["order"],
    "ignore_forgotten": ["receive_order", "ignore_bits"],
    "tag_cut": ["ignore_bits"],
    "directed_ignored": ["directed"],
    "peek_takes": ["peek"],
    "claim_ignored": ["claim"],
    "discard_ignored": ["discard"],
    "error_kind": ["truncation", "cancel"],
    "error_no_rest": ["truncation"],
    "cancel_ignored": ["cancel"],
    "inject_not_copied": ["inject_limit", "ring"],
    "inject_flag_ignored": ["inject_flag"],
    "selective_ignored": ["selective_completion"],
    "selective_always": ["ring"],
    "completion_untold": ["selective_completion"],
    "error_sign": ["selective_error"],
    "sread_never_waits": ["cq_wait"],
    "sread_oversleeps": ["cq_wait"],
    "wait_descriptor": ["cq_descriptor"],
    "complete_early": ["match_complete", "delivery_complete"],
    "counter_wrong": ["counters", "counters_of_errors"],
    "counter_error_wrong": ["counters"],
    "counter_add_wrong": ["counter_values"],
    "multi_recv_kept": ["multi_recv"],
    "option_ignored": ["multi_recv"],
    "cq_buffer": ["multi_recv"],
    "event_peek_takes": ["event_queue"],
    "event_never_waits": ["event_queue"],
    "write_shifted": ["rma"],
    "write_data_lost": ["rma"],
    "read_short": ["rma"],
    "access_ignored": ["rma_refused"],
    "bounds_ignored": ["rma_refused"],
    "region_stays": ["mr_regions"],
    "key_changed": ["mr_modes"],
    "info_demands": ["mr_modes", "getinfo"],
    "info_lacks": ["getinfo"],
    "atomic_short": ["atomic@sockets", "fetch_atomic@sockets", "compare_atomic@sockets"],
    "lookup_wrong": ["address_vector"],
    "name_untold": ["name"],
    "busy_untold": ["close_busy"],
    "errors_untold": ["peer_gone"],
    "descriptor_leak": ["descriptors"],
}


@pytest.fixture(scope="session")
def folder() -> Path:
    """The build with assay-ofi; ASSAY_E2E_OFI names one that is there."""
    if given := os.environ.get("ASSAY_E2E_OFI"):
        return Path(given).absolute()
    return build.build(targets.resolve("ofi"), "release")


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    return {**os.environ, **launching.provider_path(build.transports())}


def run(
    folder: Path, environment: dict[str, str], tests: Sequence[str], transport: str, np: str, fault: str
) -> subprocess.CompletedProcess[str]:
    """The smoke tier of some tests, started by hand, with a fault between the suite and libfabric.

    A fault may let every case wait for what never comes: the first failure ends the run.
    """
    more = {"LD_PRELOAD": str(folder / "libassay_ofi_faults.so"), "ASSAY_FAULT": fault, "GTEST_FAIL_FAST": "1"}
    return subprocess.run(
        [
            *(str(folder / "assay-ofi"), f"--np={np}", "--tier=smoke", f"--axis=transport={transport}"),
            *(f"--select=ofi.{test}/transport={transport}*" for test in tests),
        ],
        env={**environment, **more},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )


def parts(test: str) -> tuple[str, str, str]:
    """Test, transport and np of a name in FAULTS."""
    name, _, np = test.partition("/np=")
    name, _, transport = name.partition("@")
    return name, transport or "assay_tcp", np or "2"


@pytest.mark.parametrize(("fault", "test"), [(fault, test) for fault, tests in FAULTS.items() for test in tests])
def test_fault_is_found(folder: Path, environment: dict[str, str], fault: str, test: str) -> None:
    name, transport, np = parts(test)
    done = run(folder, environment, [name], transport, np, fault)
    assert done.returncode != 0, done.stdout + done.stderr
    assert "cases, " in done.stdout, done.stdout + done.stderr  # it had begun


def test_nothing_is_found_without_a_fault(folder: Path, environment: dict[str, str]) -> None:
    of: dict[tuple[str, str], set[str]] = {}
    for test in {test for tests in FAULTS.values() for test in tests}:
        name, transport, np = parts(test)
        of.setdefault((transport, np), set()).add(name)
    for (transport, np), tests in of.items():
        done = run(folder, environment, sorted(tests), transport, np, "none")
        assert done.returncode == 0, done.stdout + done.stderr
        began = set(re.findall(r"^\[ RUN +\] ofi\.(\w+)/", done.stdout, re.MULTILINE))
        assert began == tests  # each has cases


@pytest.mark.parametrize("transport", ["assay_tcp", "assay_sctp"])
def test_forty_ranks_with_few_descriptors(folder: Path, environment: dict[str, str], transport: str) -> None:
    done = run(folder, environment, ["few_descriptors"], transport, "40", "none")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_test_finds_a_fault(folder: Path, environment: dict[str, str]) -> None:
    said = subprocess.run([str(folder / "assay-ofi"), "--list=tests"], env=environment, capture_output=True, text=True)
    tests = {json.loads(line)["test"].removeprefix("ofi.") for line in said.stdout.splitlines()}
    named = {test.partition("@")[0].partition("/")[0] for some in FAULTS.values() for test in some}
    assert tests == named


def test_a_run_of_the_suite(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("run", "--suite", "ofi", "--np", "2,3", "--tier", "smoke", "--transport", "assay_tcp", "--out", out)
    done = assay(*command, seconds=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    two, three = json.loads((out / "run.json").read_text())["targets"]
    assert (two["name"], three["name"]) == ("ofi/np2", "ofi/np3")
    assert set(two["status"]) <= {"pass", "unsupported"}
    assert two["library"].startswith("libfabric ")
    cases = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    assert all("/transport=assay_tcp" in line["case"] for line in cases if line["status"] == "pass")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mpi", "ofi,mpich@5.0.2"], "no MPI library"),
        (["--suite", "ofi", "--transport", "own"], "--transport own"),
        (["--suite", "ofi", "--transport", "assay_tcp:no_rma"], "ASSAY_TRANSPORT"),
        (["--suite", "ofi", "--launcher", "srun"], "--launcher srun"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    done = assay("run", *words, "--out", tmp_path / "out", seconds=1200)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()
