"""An independent witness: tshark looks at the packets of both transports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from e2e_help import MPI, assay, pingpong
from witness import DATA, INIT, INIT_ACK, NotWhatWeSay, check_sctp, check_tcp, dissect, largest, records

from runner.libraries.transports import PROVIDERS

pytestmark = pytest.mark.alone  # what is sent last, and again, depends on the time that both sides have
Pair = tuple[Path, dict[str, int]]
LONG = 200_000  # bytes of a message that has several fragments


def talk(provider: str, folder: Path, size: int = LONG, **more: str) -> list[Pair]:
    """libfabric's ping-pong. For each side, the file of its packets and what it counted."""
    environment = {"ASSAY_PCAP": str(folder), "ASSAY_COUNTERS": str(folder), **more}
    pingpong(provider, "-S", str(size), "-I", "8", environment=environment)
    found = [(file.with_suffix(".pcap"), json.loads(file.read_text())) for file in folder.glob("*.json")]
    assert [counted["closed"] for _, counted in found] == [True, True]
    return found


def check(provider: str, file: Path, counted: Mapping[str, int]) -> None:
    if provider == "assay_tcp":
        check_tcp(file, counted)
    else:
        check_sctp(file, counted, "tag_ctx")


@pytest.mark.parametrize("size", [64, 5000, LONG])
def test_what_is_written_to_tcp_is_what_was_counted(size: int, tmp_path: Path) -> None:
    for file, counted in talk("assay_tcp", tmp_path, size):
        found = check_tcp(file, counted)
        for name in ("sent", "received"):
            assert sum(one.size == size for one in found[name]) >= 8


def ranks(over: str, folder: Path, programs: Path, *more: str) -> list[Pair]:
    """Two ranks whose messages have several tags and communicators."""
    packets = folder / "packets"
    packets.mkdir()
    done = assay(
        *("run", "--mpi", MPI, "--np", "2", "--tier", "smoke", "--select", "p2p.ring_sendrecv/call=sendrecv/*"),
        *("--transport", over, "--env", f"ASSAY_PCAP={packets}", *more, "--out", folder / "out"),
        env={"ASSAY_SUITE": str(programs / "assay-suite")},
        seconds=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = {file.stem: json.loads(file.read_text()) for file in (folder / "out").rglob("assay_*.json")}
    found = [(file, told[file.stem]) for file in packets.iterdir() if told[file.stem]["remote"]]
    assert len(found) >= 2
    return found


def test_associations_fragments_and_chunks_are_what_we_say(tmp_path: Path) -> None:
    for file, counted in talk("assay_sctp", tmp_path):
        for frames in check_sctp(file, counted, "tag_ctx").values():
            assert sum(one.size == LONG for one in frames) >= 8


def test_addresses_are_listed_and_used(tmp_path: Path) -> None:
    ours = ["127.0.0.1", "127.0.0.2"]
    switches = f"addresses={'_'.join(ours)}+cmt=1"
    for file, counted in talk("assay_sctp", tmp_path, ASSAY_TRANSPORT=switches):
        check_sctp(file, counted, "tag_ctx")
        used = set()
        for packet in dissect(file, "ip.src", "ip.dst", "sctp.chunk_type", "sctp.parameter_ipv4_address"):
            kinds = {int(kind) for kind in packet["sctp.chunk_type"]}
            if kinds & {INIT, INIT_ACK}:
                assert packet["sctp.parameter_ipv4_address"] == ours
            assert packet["ip.src"] == packet["ip.dst"]  # the nth of a peer from our own nth
            if DATA in kinds:
                used.update(packet["ip.src"])
        assert used == set(ours)
        assert 0 < counted["wire_bytes_aside"] < counted["wire_bytes_sent"]


@pytest.mark.parametrize("stream_map", ["tag_ctx", "tag", "ctx", "single"])
def test_streams_are_those_of_the_map(stream_map: str, tmp_path: Path, programs: Path) -> None:
    for file, counted in ranks(f"assay_sctp:map={stream_map}", tmp_path, programs):
        for frames in check_sctp(file, counted, stream_map).values():
            used = {one.stream for one in frames if one.flow is not None}
            assert (len(used) == 1) == (stream_map == "single")


def test_streams_that_are_not_used_are_missed(tmp_path: Path, programs: Path) -> None:
    for file, counted in ranks("assay_sctp:map=tag", tmp_path, programs, "--env", "ASSAY_FAULT=one_stream"):
        with pytest.raises(NotWhatWeSay, match="share one stream"):
            check_sctp(file, counted, "tag")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_wrong_in_a_file_is_found(provider: str, tmp_path: Path) -> None:
    file, counted = talk(provider, tmp_path)[0]
    check(provider, file, counted)
    head, packets = records(file)
    k = largest(packets)
    damaged = packets[k][:-1] + bytes([packets[k][-1] ^ 1])
    for words, instead in (("not good", [damaged]), ("missing|leaves|packets", [])):
        wrong = [*packets[:k], *instead, *packets[k + 1 :]]
        file.write_bytes(head + b"".join(wrong))
        with pytest.raises(NotWhatWeSay, match=words):
            check(provider, file, counted)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_peer_that_is_killed_leaves_its_packets(provider: str, tmp_path: Path) -> None:
    pingpong(provider, "-S", "64", "-I", "1000000", environment={"ASSAY_PCAP": str(tmp_path)}, kill_after=1.0)
    for file in tmp_path.glob("*.pcap"):
        _, packets = records(file)
        assert len(packets) > 100
        # The last one is whole, too, unless the kernel ended the process between two pages of the file.
        whole = len(packets[-1]) == 16 + int.from_bytes(packets[-1][8:12], "little")
        assert whole or file.stat().st_size % 4096 == 0
