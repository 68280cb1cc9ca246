"""Where a request comes from, behind proxies or not.

Limits count a client by its address. Whoever has an IPv6 address has the network of 64 bits around
it, as many addresses as they like: there the network is what counts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol

MAX_REMEMBERED = 4096
"""How many texts of addresses are remembered: reading one costs as much as a small request."""
MAX_ADDRESS = 64
"""Of characters, with brackets and port; what is longer is none, and not remembered."""
NETWORK_BITS = 64
"""How much of an IPv6 address is its network: what is given to one site, seldom less."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_WITH_PORT = re.compile(r"\[([^\[\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}", re.ASCII)
"""``[IPv6]``, ``[IPv6]:port`` and ``IPv4:port``, as proxies write them."""


class _Hop(NamedTuple):
    """A host on the way.

    Parameters:
        place: what limits count it by.
    """

    place: str
    trusted: bool


class Headers(Protocol):
    """A request's headers, their names in any case, as aiohttp's multidicts give them."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Return the values of all lines of one name, or the default when there is none."""


class ClientAddresses:
    """Tells where a client is from a peer and its ``X-Forwarded-For``.

    Each proxy appends the address that it was spoken to from. So the header is read from its right
    end, past the proxies that are trusted, to the first address that is not: everything to the left
    of it is only what that client claims. Where something stands that is no address, the proxy that
    wrote it is the last that is known. ``Forwarded`` (RFC 7239) is not read: a proxy that does not
    write it would let through what its client has written there.

    Parameters:
        trusted_proxies: networks such as ``10.0.0.0/8`` whose hosts are believed.
    """

    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(network) for network in trusted_proxies)
        self._read = lru_cache(MAX_REMEMBERED)(self._read_anew)

    def find(self, headers: Headers, peer: str) -> str:
        """Return where whoever speaks is: an IPv4 address or an IPv6 network.

        It is the peer's unless that is a trusted proxy; what is no address is returned as it is.
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
        """Return where a peer is, as :meth:`find` says it; None where it is a trusted proxy."""
        hop = self._read(peer)
        if hop is None:
            return peer
        return None if hop.trusted else hop.place

    def is_trusted(self, peer: str) -> bool:
        """Whether a peer is a trusted proxy."""
        hop = self._read(peer)
        return hop is not None and hop.trusted

    def _read_anew(self, text: str) -> _Hop | None:
        address = _address(text)
        if address is None:
            return None
        return _Hop(_place(address), any(address in network for network in self._networks))


def _address(text: str) -> _Address | None:
    """An address, with or without a port; an IPv4 one that is written as IPv6 as what it is."""
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
