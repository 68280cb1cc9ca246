"""Finds the client's address, behind proxies or not.

Rate limits count clients by address. An IPv6 client controls the /64 network around its address and
so any number of addresses: there the network is counted.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol

MAX_REMEMBERED = 4096
"""Size of the cache of parsed addresses: parsing one costs as much as a small request."""
MAX_ADDRESS = 64
"""Maximum characters of an address, with brackets and port; longer text is not an address."""
NETWORK_BITS = 64
"""Prefix length of an IPv6 network: one site seldom receives a smaller one."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_WITH_PORT = re.compile(r"\[([^\[\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}", re.ASCII)
"""``[IPv6]``, ``[IPv6]:port`` and ``IPv4:port``, as proxies write them."""


class _Hop(NamedTuple):
    """A host on the path of a request.

    Parameters:
        place: the key by which limits count it.
    """

    place: str
    trusted: bool


class Headers(Protocol):
    """A request's headers with case-insensitive names, as aiohttp's multidicts provide them."""

    def __contains__(self, name: object, /) -> bool:
        """Return whether there is a header, by its name in any case."""
        ...

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Return the values of all lines of one name, or the default."""


class ClientAddresses:
    """Derives the client's address from the peer and ``X-Forwarded-For``.

    Each proxy appends the address of its peer. The header is therefore read from its right end,
    past trusted proxies, to the first untrusted address: everything to the left is only the
    client's claim. At an entry that is not an address, the proxy that wrote it is the last known
    host. ``Forwarded`` (RFC 7239) is ignored: a proxy that does not write it passes on what its
    client wrote.

    Parameters:
        trusted_proxies: networks such as ``10.0.0.0/8`` whose hosts are trusted.
    """

    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(network) for network in trusted_proxies)
        self._read = lru_cache(MAX_REMEMBERED)(self._read_anew)

    def find(self, headers: Headers, peer: str) -> str:
        """Return the client's IPv4 address or IPv6 network.

        It is the peer's unless the peer is a trusted proxy. A peer that is not an address is
        returned unchanged.
        """
        proxy = self._read(peer)
        if proxy is None:
            return peer
        client = proxy.place
        if not proxy.trusted:
            return client
        for line in reversed(headers.getall("X-Forwarded-For", [])):
            for entry in reversed(line.split(",")):
                text = entry.strip()
                hop = self._read(text) if len(text) <= MAX_ADDRESS else None
                if hop is None:
                    return client
                client = hop.place
                if not hop.trusted:
                    return client
        return client

    def resolve_peer(self, peer: str) -> str | None:
        """Return a peer's address like :meth:`find`; None for a trusted proxy."""
        hop = self._read(peer)
        if hop is None:
            return peer
        return None if hop.trusted else hop.place

    def is_trusted(self, peer: str) -> bool:
        """Return whether a peer is a trusted proxy."""
        hop = self._read(peer)
        return hop is not None and hop.trusted

    def _read_anew(self, text: str) -> _Hop | None:
        address = _address(text)
        if address is None:
            return None
        return _Hop(_place(address), any(address in network for network in self._networks))


def _address(text: str) -> _Address | None:
    """Parse an address with an optional port; unmap IPv4-mapped IPv6 addresses."""
    if found := _WITH_PORT.fullmatch(text):
        text = found[1] or found[2]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _place(address: _Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.IPv6Network((int(address), NETWORK_BITS), strict=False))
