"""What tshark says of the packets that a transport has written (ASSAY_PCAP), and whether it is what we say of them."""

from __future__ import annotations

import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# How tshark looks at it: our UDP ports are SCTP's, every sum is checked, and nothing is put together for us.
OPTIONS = (
    *("-d", "udp.port==1-65535,sctp"),
    *("-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"),
    *("-o", "sctp.checksum:CRC 32c", "-o", "sctp.reassembly:FALSE", "-o", "sctp.ulp_dissection:FALSE"),
)
GOOD = ["1"]  # of a checksum
INIT, INIT_ACK, ABORT, COOKIE_ECHO, COOKIE_ACK, DATA = 1, 2, 6, 10, 11, 0
# What has to come before a chunk; for all others it is COOKIE_ECHO. Both sides may begin at once.
BEFORE = {INIT: None, INIT_ACK: INIT, COOKIE_ECHO: INIT_ACK}
PAYLOAD_PROTOCOL = int.from_bytes(b"ASSY")
FRAGMENT = 64 * 1024
GREETING = 80
HEAD = struct.Struct("<BBBBIQQQQQiI")  # transports/core/packet.hpp
FRONT = struct.Struct("<IIQQ")  # transports/sctp/association.hpp
CONTROL = {2, 3, 6, 8, 9}  # kinds of frames: offer, grant, read, done, credit
MESSAGE, BULK, FOUND = 1, 4, 7


class NotWhatWeSay(AssertionError):
    """The packets show something else."""


def must(holds: object, what: str) -> None:
    """Raise NotWhatWeSay unless it holds."""
    if not holds:
        raise NotWhatWeSay(what)


@dataclass
class Frame:
    """One of a wire, put together."""

    head: bytes
    size: int
    stream: int = 0
    payload: bytearray = field(default_factory=bytearray)

    @property
    def flow(self) -> tuple[int, int] | None:
        """Its context and tag; None for what the two sides arrange between them."""
        kind, _, _, _, _, tag, _, _, number, other, _, _ = HEAD.unpack(self.head)
        if kind in CONTROL:
            return None
        if kind == MESSAGE:
            return tag >> 32, tag & 0xFFFFFFFF
        return 0, (number if kind == FOUND else other) & 0xFFFFFFFF


def dissect(file: Path, *names: str) -> Iterator[dict[str, list[str]]]:
    """For each packet, the values of the fields of these names."""
    command = ["tshark", "-r", str(file), *OPTIONS, "-T", "fields", "-E", "aggregator=,"]
    for name in names:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        found = line.split("\t")
        yield {name: value.split(",") if value else [] for name, value in zip(names, found, strict=True)}


def check_sctp(file: Path, counted: Mapping[str, int], stream_map: str) -> dict[int, list[Frame]]:
    """Associations, streams, DATA chunks and checksums. Returns the frames by the port that sent them."""
    initial: dict[int, int] = {}  # sequence numbers, by port
    tags: dict[int, str] = {}  # what packets for this port carry
    named: dict[int, set[str]] = defaultdict(set)  # tags that this port has ever asked for
    begun: set[int] = set()  # chunks of the handshake that have come
    chunks: dict[int, dict[int, Chunk]] = defaultdict(dict)
    sizes: dict[int, list[int]] = defaultdict(list)  # of packets
    for packet in dissect(file, *PACKET_FIELDS):
        by, to = int(packet["udp.srcport"][0]), int(packet["udp.dstport"][0])
        sizes[by].append(len(packet["udp.payload"][0]) // 2)
        must(packet["sctp.srcport"] == [str(by)] and packet["sctp.dstport"] == [str(to)], "other ports than UDP's")
        for name in ("ip.checksum.status", "udp.checksum.status", "sctp.checksum.status"):
            must(packet[name] == GOOD, f"packet {packet['frame.number'][0]}: {name} is not good")
        kinds = [int(kind) for kind in packet["sctp.chunk_type"]]
        for kind in kinds:
            needed = BEFORE.get(kind, COOKIE_ECHO)
            must(needed is None or needed in begun, f"a chunk {kind} before a chunk {needed}")
            begun.add(kind)
        if INIT in kinds:
            tags[by], initial[by] = packet["sctp.init_initiate_tag"][0], int(packet["sctp.init_initial_tsn"][0])
        if INIT_ACK in kinds:
            tags[by], initial[by] = packet["sctp.initack_initiate_tag"][0], int(packet["sctp.initack_initial_tsn"][0])
        if by in tags:
            named[by].add(tags[by])
        # Who begins after it has answered the other's INIT may ask for another tag then; meanwhile the other's cookie
        # is on its way with the first tag (RFC 9260, section 5.2.4, action B).
        wanted = {"0x00000000"} if INIT in kinds else named[to] if COOKIE_ECHO in kinds else {tags[to]}
        must(packet["sctp.verification_tag"][0] in wanted, "a packet of another association")
        must(ABORT not in kinds, "an association is aborted")
        for chunk in _data(packet):
            before = chunks[by].setdefault(chunk.number, chunk)
            must(before == chunk, f"chunk {chunk.number} is sent again with something else in it")
    must({INIT, INIT_ACK, COOKIE_ECHO, COOKIE_ACK} <= begun, "no handshake of SCTP")
    must(len(sizes) == 2, f"not one association, but ports {list(sizes)}")
    told = {name: (counted[f"wire_{name}s"], counted[f"wire_bytes_{past}"]) for name, past in WAYS}
    here = [by for by, sent in sizes.items() if _fits(sent, *told["write"])]
    must(here, f"no side has sent {told['write']} packets and bytes")
    for by, sent in sizes.items():
        wanted = told["write" if by == here[0] else "read"]
        must(_fits(sent, *wanted), f"port {by}: {len(sent)} packets with {sum(sent)} bytes, not {wanted}")
    found = {by: _frames(_messages(one, initial[by])) for by, one in chunks.items()}
    for by, frames in found.items():
        name = "wire_frames_sent" if by == here[0] else "wire_frames_received"
        must(len(frames) == counted[name], f"{len(frames)} frames are not {name}, {counted[name]}")
        _check_streams(frames, stream_map)
    return found


def _fits(sizes: Sequence[int], packets: int, size: int) -> bool:
    """Whether they are so many packets with so many bytes; the farewell comes after the counting."""
    return packets <= len(sizes) <= packets + 5 and sum(sizes[:packets]) == size


WAYS = (("write", "sent"), ("read", "received"))  # counters: wire_writes and wire_bytes_sent
CHUNK_FIELDS = (
    *("sctp.data_tsn_raw", "sctp.data_sid", "sctp.data_ssn", "sctp.data_b_bit", "sctp.data_e_bit"),
    *("sctp.data_u_bit", "sctp.data_payload_proto_id"),
)
PACKET_FIELDS = (
    *("frame.number", "udp.srcport", "udp.dstport", "sctp.srcport", "sctp.dstport"),
    *("ip.checksum.status", "udp.checksum.status", "sctp.checksum.status", "sctp.verification_tag"),
    *("sctp.init_initiate_tag", "sctp.init_initial_tsn", "sctp.initack_initiate_tag", "sctp.initack_initial_tsn"),
    *("sctp.chunk_type", "sctp.chunk_length", *CHUNK_FIELDS, "udp.payload"),
)


@dataclass
class Chunk:
    """A DATA chunk."""

    number: int
    stream: int
    place: int  # SSN
    begins: bool
    ends: bool
    data: bytes


def _data(packet: Mapping[str, Sequence[str]]) -> Iterator[Chunk]:
    columns = zip(*(packet[name] for name in CHUNK_FIELDS), strict=True)
    (payload,) = map(bytes.fromhex, packet["udp.payload"])
    at = 12  # after the head of SCTP
    for kind, length in zip(map(int, packet["sctp.chunk_type"]), map(int, packet["sctp.chunk_length"]), strict=True):
        data = payload[at + 16 : at + length]
        at += (length + 3) // 4 * 4
        if kind != DATA:
            continue
        number, stream, place, begins, ends, unordered, protocol = next(columns)
        must(unordered == "0", "a chunk that may overtake others of its stream")
        must(int(protocol) == PAYLOAD_PROTOCOL, f"payload protocol {protocol}")
        yield Chunk(int(number), int(stream, 16), int(place), begins == "1", ends == "1", data)


def _messages(chunks: Mapping[int, Chunk], first: int) -> Iterator[tuple[int, bytes]]:
    """Stream and data of each message, as the flags B and E say."""
    places: dict[int, int] = defaultdict(int)
    parts: list[Chunk] = []  # of one message
    for k in range(len(chunks)):
        number = (first + k) % 2**32
        must(number in chunks, f"chunk {number} is missing")
        chunk = chunks[number]
        must(chunk.begins == (not parts), f"chunk {number} does not begin where the message before it ends")
        must(
            chunk.place == places[chunk.stream] % 2**16, f"chunk {number} has the wrong place in stream {chunk.stream}"
        )
        must(not parts or parts[0].stream == chunk.stream, f"chunk {number} is on another stream than its beginning")
        parts.append(chunk)
        if chunk.ends:
            yield chunk.stream, b"".join(part.data for part in parts)
            places[chunk.stream] += 1
            parts.clear()
    must(not parts, "the end of a message is missing")


def _frames(messages: Iterator[tuple[int, bytes]]) -> list[Frame]:
    found: dict[tuple[int, int], Frame] = {}
    for stream, data in messages:
        must(len(data) <= FRAGMENT, f"a fragment of {len(data)} bytes")
        number, unordered, size, begin = FRONT.unpack_from(data)
        rest = data[FRONT.size :]
        if begin == 0:
            must((unordered, number) not in found, "a frame begins twice")
            found[unordered, number] = Frame(rest[: HEAD.size], size, stream)
            rest = rest[HEAD.size :]
        one = found[unordered, number]
        must(one.stream == stream, "fragments of a frame on several streams")
        must(begin == len(one.payload) and size == one.size, "a fragment is missing")
        one.payload += rest
        must(len(data) == FRAGMENT or len(one.payload) == size, "a fragment ends early")
    for ordered in (0, 1):
        numbers = [number for kind, number in found if kind == ordered]
        must(sorted(numbers) == list(range(len(numbers))), "the number of a frame is missing")
    for one in found.values():
        must(len(one.payload) == one.size, "the end of a frame is missing")
    return list(found.values())


def _check_streams(frames: Sequence[Frame], stream_map: str) -> None:
    """Control on stream 0, and of the rest what belongs together on one stream."""
    streams: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for one in frames:
        if one.flow is None:
            must(one.stream == 0, f"a control frame on stream {one.stream}")
            continue
        must(one.stream != 0, "data on the stream for control")
        context, tag = one.flow
        key = {"tag_ctx": (context, tag), "tag": (tag,), "ctx": (context,), "single": ()}[stream_map]
        streams[key].add(one.stream)
    for key, used in streams.items():
        must(len(used) == 1, f"{stream_map} {key} is on streams {used}")
    if len(streams) >= 4:  # the fewer, the more likely are they on one by chance
        must(len(set.union(*streams.values())) > 1, f"{len(streams)} of {stream_map} share one stream")


def check_tcp(file: Path, counted: Mapping[str, int]) -> dict[str, list[Frame]]:
    """A connection, its checksums, and that it carries what was counted. Returns the frames sent and received."""
    wanted = ("frame.number", "tcp.srcport", "tcp.dstport", "ip.checksum.status", "tcp.checksum.status", "tcp.flags")
    packets = list(dissect(file, *wanted, "tcp.seq", "tcp.ack", "tcp.payload"))
    syn, ack, push, fin = 0x02, 0x10, 0x08, 0x01
    for packet in packets:
        for name in ("ip.checksum.status", "tcp.checksum.status"):
            must(packet[name] == GOOD, f"packet {packet['frame.number'][0]}: {name} is not good")
    flags = [int(packet["tcp.flags"][0], 16) for packet in packets]
    must(flags[:3] == [syn, syn | ack, ack], "no handshake of TCP at the beginning")
    must(flags[-2:] == [fin | ack, ack], "a connection that nobody has ended")
    called, caller = int(packets[1]["tcp.srcport"][0]), int(packets[0]["tcp.srcport"][0])
    here, there = (caller, called) if counted["wire_connections"] else (called, caller)
    streams: dict[int, bytearray] = {here: bytearray(), there: bytearray()}
    writes = 0
    for packet, flag in zip(packets, flags, strict=True):
        by, to = int(packet["tcp.srcport"][0]), int(packet["tcp.dstport"][0])
        if not packet["tcp.payload"]:
            continue
        for name, stream in (("tcp.seq", streams[by]), ("tcp.ack", streams[to])):
            must(
                int(packet[name][0]) == 1 + len(stream), f"packet {packet['frame.number'][0]}: {name} leaves bytes out"
            )
        streams[by] += bytes.fromhex(packet["tcp.payload"][0])
        writes += by == here and bool(flag & push)
    must(writes == counted["wire_writes"], f"{writes} writes are not the {counted['wire_writes']} that were counted")
    found: dict[str, list[Frame]] = {}
    for by, name in ((here, "sent"), (there, "received")):
        stream, bytes_name = streams[by], f"wire_bytes_{name}"
        must(len(stream) == counted[bytes_name], f"{len(stream)} bytes are not {bytes_name}, {counted[bytes_name]}")
        at = 0
        if by == caller:
            must(stream.startswith(b"assaytcp"), "no greeting")
            at = GREETING
        frames = found[name] = []
        while at < len(stream):
            (size,) = struct.unpack_from("<Q", stream, at)
            head = bytes(stream[at + 8 : at + 8 + HEAD.size])
            at += 8 + HEAD.size
            frames.append(Frame(head, size, payload=stream[at : at + size]))
            at += size
        must(at == len(stream), "the end of a frame is missing")
        must(len(frames) == counted[f"wire_frames_{name}"], f"{len(frames)} frames are not what was counted")
    return found


def records(file: Path) -> tuple[bytes, list[bytes]]:
    """The head of a file and its packets, each with what stands before it."""
    data = file.read_bytes()
    at, found = 24, []
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at : at + size])
        at += size
    return data[:24], found


def largest(packets: Sequence[bytes]) -> int:
    """Which packet is the largest: it has data in it."""
    return max(range(len(packets)), key=lambda k: len(packets[k]))
