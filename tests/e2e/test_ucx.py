"""The suite for UCX: ranks without MPI, and planted faults that each of its tests has to find."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from e2e_help import assay

from runner.libraries import build, targets

# One group: `planted` is for all of them.
pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.xdist_group("ucx")]

# Fault of faults/ucx → the tests that have to find it, with values of their axes in their order where they matter,
# and np where it is not 2. Of each one case is run, the first of the full product over TCP.
FAULTS = {
    "last_byte_wrong": ["ring/layout=bytes/count=17", "reopen", "leave np=3"],
    "last_byte_lost": ["unexpected/protocol=eager/completion=never_at_once/count=17"],
    "overtaking": [
        "order/mode=send/protocol=default/posted=before",
        "many_to_one/mode=send/protocol=default/count=17",
        "unexpected/protocol=default/completion=poll/count=17",
    ],
    "mask_forgotten": ["mask/mask=low/posted=before/count=17", "all_to_all/mode=send/completion=poll/count=17"],
    "mask_exact": ["receive_order/count=17"],
    "callback_twice": ["ring/mode=send/completion=callback/protocol=default/layout=bytes/count=17"],
    "callback_of_another": ["ring/mode=send/completion=callback/protocol=default/layout=bytes/count=17"],
    "request_larger": ["ring/mode=send/completion=own_memory/protocol=default/layout=bytes/count=65539"],
    "info_length": ["ring/mode=send/completion=poll/protocol=default/layout=bytes/count=17"],
    "info_tag": ["many_to_one/mode=send/protocol=default/count=17"],
    "sync_forgotten": ["sync/protocol=eager/posted=after/count=17"],
    "probe_takes": ["probe/protocol=default/completion=poll/count=17"],
    "probe_keeps": ["probe/protocol=default/completion=poll/count=17"],
    "probe_length": ["probe/protocol=default/completion=poll/count=17"],
    "probed_short": ["probe/protocol=default/completion=poll/count=17"],
    "truncation_untold": ["truncation/protocol=default/completion=poll/overrun=one_byte"],
    "cancel_ignored": ["cancel/completion=poll/count=17"],
    "free_ignored": ["request_free/count=17"],
    "immediate_anyway": ["never_at_once/call=tag_receive/count=17"],
    "stream_wrong": [
        "stream_ring/count=17",
        "stream_pieces/piece=elements/flags=none/completion=poll",
        "stream_data/count=17",
    ],
    "wait_all_ignored": ["stream_elements/piece=all/flags=wait_all/completion=poll"],
    "stream_data_longer": ["stream_data/count=17"],
    "stream_of_another": ["stream_data/count=17"],
    "am_wrong": ["am_ring/flags=none/handler=plain/header=none/count=17", "am_reply/flags=none/count=17"],
    "am_header_cut": ["am_ring/flags=none/handler=plain/header=short/count=17"],
    "am_protocol_ignored": ["am_ring/flags=rndv/handler=plain/header=none/count=17"],
    "am_not_persistent": ["am_ring/flags=eager/handler=persistent/header=none/count=17"],
    "am_received_elsewhere": ["am_ring/flags=rndv/handler=plain/header=none/count=17"],
    "am_other_handler": ["am_handlers/flags=none/count=17"],
    "am_no_reply": ["am_reply/flags=none/count=17"],
    "put_shifted": ["put/memory=heap/mode=nbx/flush=worker/count=17", "put_parts/mode=nbx/flush=worker/memory=heap"],
    "put_short": ["put/memory=allocated/mode=nbx/flush=endpoint/count=17"],
    "put_delayed": ["fence/memory=heap/count=17"],
    "flush_skipped": ["put_flush/mode=nbx/flush=worker/count=65539"],
    "get_short": ["get/memory=heap/mode=nbx/flush=worker/count=17"],
    "pointer_elsewhere": ["rkey_ptr/memory=heap"],
    "map_elsewhere": ["put/memory=fixed/mode=nbx/flush=worker/count=17"],
    "map_anything": ["mem_map_refused/mistake=nothing"],
    "query_short": ["put/memory=heap/mode=nbx/flush=worker/count=17"],
    "operand_wrong": ["atomic/type=uint32/op=add/fetch=no/flush=worker/memory=heap/completion=poll"],
    "reply_elsewhere": ["atomic/type=uint64/op=swap/fetch=yes/flush=worker/memory=heap/completion=poll"],
    "cswap_always": ["cswap_unequal/type=uint32/flush=worker/memory=heap/completion=poll"],
    "add_lost": ["atomic_together/type=uint64/fetch=no/memory=heap"],
    "descriptor_dead": ["wakeup/wait=fd/count=17", "signal/wait=fd", "arm_busy/count=17"],
    "wait_oversleeps": ["wakeup/wait=wait/count=17"],
    "wait_returns": ["signal/wait=wait"],
    "signal_lost": ["signal/wait=fd"],
    "tls_ignored": ["lanes"],
    "force_always": ["close_flush/protocol=rndv/count=65539"],
    "force_ignored": ["close_force"],
    "error_twice": ["peer_gone/completion=poll"],
    "descriptor_leak": ["descriptors"],
}
# What UCX 1.13.1 of Debian gets wrong everywhere (docs/ucx-transports.md) needs no fault of ours to be found.
OF_UCX = ["request_alloc", "recv_info/count=17"]
FAULTY = sorted({test for tests in FAULTS.values() for test in tests})


@pytest.fixture(scope="session")
def folder() -> Path:
    """The build with assay-ucx; ASSAY_E2E_UCX names one that is there."""
    if given := os.environ.get("ASSAY_E2E_UCX"):
        return Path(given).absolute()
    return build.build(targets.resolve("ucx"), "release")


@pytest.fixture(scope="session")
def cases(folder: Path) -> dict[str, str]:
    """Each line above → its case."""
    found = {}
    for np in ("2", "3"):
        globs = {test: glob(test) for test in (*FAULTY, *OF_UCX) if ranks(test) == np}
        command = [str(folder / "assay-ucx"), "--list=cases", f"--np={np}", "--tier=full"]
        command += [f"--select={pattern}" for pattern in globs.values()]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        names = [json.loads(line)["case"] for line in said]
        for test, pattern in globs.items():
            found[test] = next(name for name in names if fnmatchcase(name, pattern))
    return found


def ranks(test: str) -> str:
    """How many a line above wants."""
    return test.partition(" np=")[2] or "2"


def glob(test: str) -> str:
    """The cases of a line above over TCP."""
    name, _, values = test.partition(" np=")[0].partition("/")
    return f"ucx.{name}/transport=tcp*" + "".join(f"/{value}*" for value in values.split("/") if value)


def run(folder: Path, np: str, cases: Sequence[str], fault: str) -> subprocess.CompletedProcess[str]:
    """Some cases, started by hand, with a fault between the suite and UCX."""
    return subprocess.run(
        [str(folder / "assay-ucx"), f"--np={np}", *(f"--select={case}" for case in cases)],
        env={**os.environ, "LD_PRELOAD": str(folder / "libassay_ucx_faults.so"), "ASSAY_FAULT": fault},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )


PLANTED = [(fault, test) for fault, tests in FAULTS.items() for test in tests]


@pytest.fixture(scope="session")
def planted(folder: Path, cases: dict[str, str]) -> dict[tuple[str, str], subprocess.CompletedProcess[str]]:
    """What each fault leads to. Most of the time is waiting for what a fault has lost, so several run at once."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = {(fault, test): pool.submit(run, folder, ranks(test), [cases[test]], fault) for fault, test in PLANTED}
        return {key: future.result() for key, future in found.items()}


@pytest.mark.parametrize(("fault", "test"), PLANTED)
def test_fault_is_found(
    planted: dict[tuple[str, str], subprocess.CompletedProcess[str]], fault: str, test: str
) -> None:
    done = planted[fault, test]
    assert done.returncode != 0, done.stdout + done.stderr
    assert "cases, " in done.stdout, done.stdout + done.stderr  # it had begun


@pytest.mark.parametrize("np", ["2", "3"])
def test_nothing_is_found_without_a_fault(folder: Path, cases: dict[str, str], np: str) -> None:
    done = run(folder, np, [cases[test] for test in FAULTY if ranks(test) == np], "none")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", OF_UCX)
def test_a_fault_of_ucx_is_found(folder: Path, cases: dict[str, str], test: str) -> None:
    done = run(folder, "2", [cases[test]], "none")
    assert done.returncode == 1, done.stdout + done.stderr


def test_every_test_finds_a_fault(folder: Path) -> None:
    said = subprocess.run([str(folder / "assay-ucx"), "--list=tests"], capture_output=True, text=True, check=True)
    tests = {json.loads(line)["test"].removeprefix("ucx.") for line in said.stdout.splitlines()}
    assert tests == {test.partition(" ")[0].partition("/")[0] for test in [*FAULTY, *OF_UCX]}


def test_a_run_of_the_suite(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("run", "--suite", "ucx", "--np", "2,3", "--tier", "smoke", "--transport", "posix,self", "--out", out)
    done = assay(*command, "--select", "ucx.ring/*", seconds=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    two, three = json.loads((out / "run.json").read_text())["targets"]
    assert (two["name"], three["name"]) == ("ucx/np2", "ucx/np3")
    assert two["library"].startswith("UCX ")
    cases = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    assert {line["case"].split("/")[1] for line in cases if line["status"] == "pass"} == {
        "transport=posix",
        "transport=self",
    }
