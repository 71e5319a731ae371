"""libfabric's own tests (fabtests) over our providers: programs of others find what ours do not ask for."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from e2e_help import free_port

from runner.libraries import build
from runner.libraries.transports import PROVIDERS

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif(
        shutil.which("fi_rdm_tagged_pingpong") is None,
        reason="fabtests are not on PATH: no package of Debian has them, they are built from libfabric's sources",
    ),
]
SECONDS = 120.0

# Between two processes. What needs more than FI_EP_RDM or something that is not offered is left out: poll sets, shared
# address vectors, shared and scalable contexts, triggered operations. So is fi_rdm_multi_domain: it waits for one
# domain while the other side waits for another (that needs FI_PROGRESS_AUTO, for which it does not ask), and it ends
# with 0 all the same.
PAIRS = (
    "fi_av_xfer -e rdm",
    "fi_bw -e rdm -v -T 1",
    "fi_bw -e rdm -v -T 1 -U",
    "fi_cq_data -e rdm",
    "fi_msg_inject -A inject -v",
    "fi_msg_inject -A inj_complete -v",
    "fi_msg_inject -N -A inject -v",
    "fi_msg_inject -N -A inj_complete -v",
    "fi_multi_ep -e rdm -v",
    "fi_multi_mr -e rdm -V",
    "fi_multi_recv -e rdm -I 5 -v",
    "fi_multi_recv -e rdm -I 50 -M",
    "fi_rdm",
    "fi_rdm -U",
    "fi_rdm_atomic -I 5 -o all",
    "fi_rdm_atomic -I 5 -o all -U",
    "fi_rdm_cntr_pingpong -I 5",
    "fi_rdm_multi_client -C 10 -I 5",
    "fi_rdm_multi_client -C 10 -I 5 -U",
    "fi_rdm_pingpong -I 5 -v -S all",
    "fi_rdm_pingpong -I 5 -v -U",
    "fi_rdm_pingpong -I 20 -v -c sread",
    "fi_rdm_pingpong -I 20 -v -c fd",
    "fi_rdm_pingpong -I 20 -v -t counter",
    "fi_rdm_rma_event",
    "fi_rdm_tagged_bw -I 5 -v",
    "fi_rdm_tagged_bw -I 200 -W 64",
    "fi_rdm_tagged_peek",
    "fi_rdm_tagged_pingpong -I 5 -v",
    "fi_rdm_tagged_pingpong -I 5 -v -U",
    "fi_recv_cancel -e rdm -V",
    "fi_resmgmt_test -e rdm",
    "fi_rma_bw -e rdm -o read -I 5",
    "fi_rma_bw -e rdm -o write -I 5",
    "fi_rma_bw -e rdm -o write -I 5 -U",
    "fi_rma_bw -e rdm -o writedata -I 5",
    "fi_rma_bw -e rdm -o writedata -I 5 -U",
    "fi_unexpected_msg -e rdm -I 10",
    "fi_unmap_mem -I 5",
)
ALONE = (
    "fi_av_test -g 127.0.0.1 -n 1 -s 127.0.0.1 -e rdm",
    "fi_cntr_test",
    "fi_cq_test",
    "fi_dom_test -n 2",
    "fi_eq_test",
    "fi_getinfo_test -s 127.0.0.1 127.0.0.1",
    "fi_mr_test",
)
# Of several ways into memory registration one suffices.
DEMANDING = (
    "fi_rdm_tagged_pingpong -I 5 -v",
    "fi_rdm_pingpong -I 5 -v",
    "fi_rma_bw -e rdm -o write -I 5",
    "fi_rma_bw -e rdm -o read -I 5",
    "fi_rdm_atomic -I 5 -o all",
    "fi_multi_recv -e rdm -I 5 -v",
)


def environment(**more: str) -> dict[str, str]:
    """Where the programs are, and the providers."""
    there = Path(shutil.which("fi_rdm_tagged_pingpong") or "").parent
    return {"PATH": f"{there}:/usr/bin:/bin", "FI_PROVIDER_PATH": str(build.transports()), **more}


def listens(port: int) -> bool:
    """Whether somebody of this machine is bound to the port, of TCP or UDP."""
    end = f":{port:04X}"
    for table in ("tcp", "udp"):
        lines = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if any(line.split()[1].endswith(end) for line in lines):
            return True
    return False


def pair(provider: str, line: str, env: dict[str, str]) -> None:
    """A server, a client, and what became of both."""
    command = [*line.split(), "-p", provider, "-s", "127.0.0.1"]
    port, control = free_port(), free_port()
    # Some exchange more than addresses, over a connection of their own; the others do not take the option amiss.
    command += (
        [f"-E={control}"]
        if command[0] in ("fi_av_xfer", "fi_bw", "fi_multi_recv", "fi_unexpected_msg", "fi_unmap_mem")
        else []
    )

    def start(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*command, *more], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    server = start("-B", str(port))
    client = None
    try:
        deadline = time.monotonic() + SECONDS
        for _ in range(40):  # most listen at that port, some at another one
            if listens(port) or listens(control) or server.poll() is not None:
                break
            time.sleep(0.05)
        client = start("-P", str(port), "127.0.0.1")
        for one in (client, server):
            said, _ = one.communicate(timeout=max(1.0, deadline - time.monotonic()))
            assert one.returncode == 0, f"{'client' if one is client else 'server'}: {said}"
    finally:
        for one in (server, client):
            if one is not None:
                one.kill()
                one.communicate()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("line", PAIRS)
def test_two_processes(provider: str, line: str) -> None:
    pair(provider, line, environment())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("line", ALONE)
def test_one_process(provider: str, line: str) -> None:
    done = subprocess.run(
        [*line.split(), "-p", provider],
        env=environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", DEMANDING)
def test_under_all_demands(line: str) -> None:
    pair("assay_tcp", line, environment(ASSAY_TRANSPORT="mr_local+mr_virt_addr+mr_prov_key+mr_allocated"))


# They run over our provider and nothing else: what it is told not to offer is missed.
@pytest.mark.parametrize(
    ("switch", "line"),
    [
        ("no_tagged", "fi_rdm_tagged_pingpong -I 5 -v"),
        ("no_rma", "fi_rma_bw -e rdm -o write -I 5"),
        ("no_atomic", "fi_rdm_atomic -I 5 -o all"),
    ],
)
def test_what_is_switched_off_is_missed(switch: str, line: str) -> None:
    with pytest.raises(AssertionError, match="No data available"):
        pair("assay_tcp", line, environment(ASSAY_TRANSPORT=switch))
