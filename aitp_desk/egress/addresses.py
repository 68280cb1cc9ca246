"""The rules for outgoing addresses, and the socket that enforces them.

Source: the IANA registries of special-purpose addresses (RFC 6890), RFC 6761 (special-use names),
the WHATWG URL standard, section 3.5 (hosts).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Any

from yarl import URL

from aitp_desk.egress.errors import AddressRefused

MAX_ADDRESS_CHARACTERS = 2048
"""A longer address is refused."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_WITH_USER = re.compile(r"(?:[^/?#]*:)?//[^/?#]*@")
_ANY_NUMBER = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)
"""The end of a host that some resolvers read as an IPv4 address (WHATWG URL, section 3.5)."""
_OWN_NAME = re.compile(r"(?:[^.]+\.)*localhost\.?", re.IGNORECASE)
"""Names of this machine's loopback, which no name server decides (RFC 6761, section 6.3)."""
_INNER_NAME = re.compile(
    r"(?:[^.]+|(?:.*\.)?(?:localhost|local|internal|intranet|lan|home\.arpa))\.?", re.IGNORECASE
)
"""Names of this machine or its network: a word without a dot, and the domains reserved for that
(RFC 6761, RFC 6762, RFC 8375, ICANN's ``internal``)."""
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NOT_PUBLIC: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (
    ipaddress.ip_network("168.63.129.16/32"),  # the host as a cloud's machines see it (Azure)
    ipaddress.ip_network("192.0.0.0/24"),  # IETF protocol assignments (RFC 6890)
    ipaddress.ip_network("192.88.99.0/24"),  # relays to 6to4 (RFC 7526)
    ipaddress.ip_network("2002::/16"),  # 6to4: an IPv4 address in disguise (RFC 3056)
    ipaddress.ip_network("3fff::/20"),  # documentation (RFC 9637)
)


class AddressNotPublic(OSError):
    """The connection to be opened leads to an address that is not public."""

    reason = "does not lead to a public address"

    def __init__(self) -> None:
        # the same text for each of a name's addresses, so that the client joins them into one
        super().__init__(self.reason)


class Addresses:
    """Decides which addresses one client may request.

    Parameters:
        allow_loopback: also allows this machine's loopback, there without encryption as well.
        allow_plain: also allows http elsewhere.
    """

    def __init__(self, *, allow_loopback: bool, allow_plain: bool = False) -> None:
        self._allow_loopback = allow_loopback
        self._allow_plain = allow_plain

    def parse(self, text: str, *, base: URL | None = None) -> URL:
        """Parse and normalize an address: the checked form is the requested one.

        Raises:
            AddressRefused: it is invalid, as far as that shows without a look-up.
        """
        if len(text) > MAX_ADDRESS_CHARACTERS:
            raise AddressRefused(
                f"An address may have at most {MAX_ADDRESS_CHARACTERS} characters."
            )
        if not text.isprintable() or " " in text or "\\" in text:
            raise AddressRefused(
                "An address must not contain spaces, backslashes or control characters."
            )
        try:
            address = URL(text)
            address = (base.join(address) if base is not None else address).with_fragment(None)
            host, port = address.raw_host, address.port
        except (ValueError, TypeError, IndexError):
            raise AddressRefused(
                "This is not a URL. Use one such as https://example.com/."
            ) from None
        if address.scheme not in {"http", "https"} or not host or not port:
            raise AddressRefused("This is not a web address. Use one such as https://example.com/.")
        if _WITH_USER.match(text) or address.raw_user is not None:
            raise AddressRefused("An address must not contain a user name or a password.")
        literal = _literal(host)
        is_own = (
            literal.is_loopback
            if literal is not None
            else self._allow_loopback and _OWN_NAME.fullmatch(host) is not None
        )
        is_inner = literal is None and not is_own and _INNER_NAME.fullmatch(host) is not None
        if is_inner or (literal is not None and not self._may_ask(literal)):
            raise AddressRefused(f"{host} {AddressNotPublic.reason}.")
        if address.scheme != "https" and not is_own and not self._allow_plain:
            raise AddressRefused(f"{host} must be requested over https.")
        return address

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Open a socket for one attempt to connect, if the address is allowed.

        Raises:
            AddressNotPublic: it is not.
        """
        family, kind, protocol, _, sockaddr = info
        if not self._may_ask(_plain(ipaddress.ip_address(sockaddr[0]))):
            raise AddressNotPublic
        return socket.socket(family, kind, protocol)

    def _may_ask(self, address: Address) -> bool:
        return is_public(address) or (self._allow_loopback and address.is_loopback)


def is_public(address: Address) -> bool:
    """Return whether an address is global unicast: one machine's, on the public internet.

    IPv4 addresses within IPv6 ones count as IPv4 addresses (``::ffff:0:0/96``), or are refused with
    all of their kind (NAT64, 6to4, Teredo).
    """
    address = _plain(address)
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not any(address in network for network in _NOT_PUBLIC)
    )


def _plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address maps, or the address itself."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _literal(host: str) -> Address | None:
    """Return a host's literal address; None for a name.

    Raises:
        AddressRefused: it is neither: a number that only some would read as an address, or an
            address of one network interface.
    """
    if "%" in host:
        raise AddressRefused("An address must not name a network interface.")
    try:
        return _plain(ipaddress.ip_address(host))
    except ValueError:
        if _ANY_NUMBER.search(host):
            raise AddressRefused(
                f"{host} is not an address. An IPv4 address has four decimal numbers."
            ) from None
        return None
