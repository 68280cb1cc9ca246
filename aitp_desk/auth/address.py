"""Which network address a request comes from, behind proxies or not."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol

MAX_REMEMBERED = 4096
"""How many texts of addresses are remembered: reading one costs as much as a small request."""
LONGEST_ADDRESS = 64
"""Of characters, with brackets and port; what is longer is none, and not remembered."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class _Hop(NamedTuple):
    address: str
    trusted: bool


class Headers(Protocol):
    """A request's headers, their names in any case, as aiohttp's multidicts give them."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Return the values of all lines of one name, or the default when there is none."""


class ClientAddresses:
    """Tells the client's address from a peer and its ``X-Forwarded-For``.

    Each proxy appends the address that it was spoken to from. So the header is read from its right
    end, past the proxies that are trusted, to the first address that is not: everything to the left
    of it is only what that client claims.

    Parameters:
        trusted_proxies: networks such as ``10.0.0.0/8`` whose hosts are believed.
    """

    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(network) for network in trusted_proxies)
        self._read = lru_cache(MAX_REMEMBERED)(self._read_anew)

    def find(self, headers: Headers, peer: str) -> str:
        """Return the address of whoever speaks; the peer's unless that is a trusted proxy."""
        if not self._networks:
            return peer
        proxy = self._read(peer)
        if proxy is None or not proxy.trusted:
            return peer
        client = peer
        for line in reversed(headers.getall("X-Forwarded-For", [])):
            for entry in reversed(line.split(",")):
                text = entry.strip()
                hop = self._read(text) if len(text) <= LONGEST_ADDRESS else None
                if hop is None:
                    return client
                client = hop.address
                if not hop.trusted:
                    return client
        return client

    def _read_anew(self, text: str) -> _Hop | None:
        address = _address(text)
        if address is None:
            return None
        return _Hop(str(address), any(address in network for network in self._networks))


def _address(text: str) -> _Address | None:
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
