"""A name service of one's own: a real one over UDP that says what a test wants, and who asks it.

Source: RFC 1035, section 4 (messages), RFC 3596 (AAAA). Every answer has a time to live of 0.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

from aiohttp.abc import AbstractResolver, ResolveResult

A, CNAME, AAAA = 1, 5, 28
_KINDS = {socket.AF_INET: A, socket.AF_INET6: AAAA}
_HEAD = struct.Struct("!HHHHHH")
_RECORD = struct.Struct("!HHIH")
_SECONDS = 5
SILENT = ".silent.example"
"""How names end of which nothing is ever said."""

Zone = Mapping[str, Sequence[Sequence[str]]]
"""Of each name what is answered the first time, the second and so on; the last stays. An answer
holds addresses, and the names that the one before leads to (``CNAME``)."""


class NameServer(asyncio.DatagramProtocol):
    """Answers questions for addresses from a zone.

    Attributes:
        asked: the names in order, each once for both kinds of addresses.
    """

    def __init__(self, zone: Zone) -> None:
        self.asked: list[str] = []
        self._zone = zone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        (id_, *_), (name, at) = _HEAD.unpack_from(data), _read_name(data, _HEAD.size)
        (kind,) = struct.unpack_from("!H", data, at)
        if kind == A:
            self.asked.append(name)
        if name.endswith(SILENT):
            return
        turns = self._zone.get(name, ())
        answer = turns[min(max(self.asked.count(name), 1), len(turns)) - 1] if turns else ()
        records = b"".join(_records(name, answer, kind))
        flags = 0x8580 if turns else 0x8583  # an authority's answer; or no such name
        count = sum(_kind(one) in (kind, CNAME) for one in answer)
        head = _HEAD.pack(id_, flags, 1, count, 0, 0)
        self._transport.sendto(head + data[_HEAD.size : at + 4] + records, addr)


class DnsResolver(AbstractResolver):
    """A resolver that asks one server over UDP, first for IPv4, then for IPv6 addresses.

    Attributes:
        port: where it asks.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name, in the order in which they were answered."""
        found = [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=kind_of_address,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for kind_of_address, kind in _KINDS.items()
            for address in _addresses(await self._ask(host, kind), kind)
        ]
        if not found:
            raise OSError("no such name")
        return found

    async def _ask(self, host: str, kind: int) -> bytes:
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            sock.connect(("127.0.0.1", self.port))
            question = _write_name(host) + struct.pack("!HH", kind, 1)
            await loop.sock_sendall(sock, _HEAD.pack(7, 0x0100, 1, 0, 0, 0) + question)
            async with asyncio.timeout(_SECONDS):
                return await loop.sock_recv(sock, 65535)

    async def close(self) -> None:
        """Nothing is held."""


@asynccontextmanager
async def name_server(zone: Zone) -> AsyncIterator[tuple[NameServer, DnsResolver]]:
    """A name server on a free port, and a resolver that asks it."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: NameServer(zone), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server, DnsResolver(transport.get_extra_info("sockname")[1])
    finally:
        transport.close()


def _kind(one: str) -> int:
    try:
        return A if ipaddress.ip_address(one).version == 4 else AAAA
    except ValueError:
        return CNAME


def _records(name: str, answer: Sequence[str], kind: int) -> list[bytes]:
    """The records of an answer; what stands behind a name that it leads to is that name's."""
    records = []
    for one in answer:
        is_name = _kind(one) == CNAME
        if not is_name and _kind(one) != kind:
            continue
        value = _write_name(one) if is_name else ipaddress.ip_address(one).packed
        records.append(_write_name(name) + _RECORD.pack(_kind(one), 1, 0, len(value)) + value)
        name = one if is_name else name
    return records


def _addresses(message: bytes, kind: int) -> list[str]:
    _, _, _, count, _, _ = _HEAD.unpack_from(message)
    at = _read_name(message, _HEAD.size)[1] + 4
    found = []
    for _ in range(count):
        at = _read_name(message, at)[1]
        of_kind, _, _, size = _RECORD.unpack_from(message, at)
        at += _RECORD.size
        if of_kind == kind:
            found.append(str(ipaddress.ip_address(message[at : at + size])))
        at += size
    return found


def _write_name(name: str) -> bytes:
    labels = (label.encode() for label in name.rstrip(".").split("."))
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def _read_name(message: bytes, at: int) -> tuple[str, int]:
    labels = []
    while size := message[at]:
        labels.append(message[at + 1 : at + 1 + size].decode())
        at += 1 + size
    return ".".join(labels), at + 1
