"""The one client for outgoing HTTP to addresses that callers or owners supply.

An address that somebody else chose may lead into the house: to a database beside the desk, to a
cloud's metadata, to the desk itself. So the rule stands where nothing gets past it, at the socket:
only global unicast addresses are connected to, whatever name, spelling, redirect or change of the
DNS led there. Beyond that: https only, no proxies or credentials from the environment, no cookies,
and bounds on the time, the size and the number of redirects of each request.

A message of an error names the host and nothing more of an address: a path may hold a secret.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver
from yarl import URL

USER_AGENT = "aitp-desk"
"""What the desk calls itself, also in ``robots.txt``."""
MAX_REDIRECTS = 5
"""A request follows so many redirects and no more."""
MAX_AT_ONCE = 16
"""So many connections are open at once; further requests wait for one."""
MAX_ADDRESS_CHARACTERS = 2048
"""A longer address is refused."""

_CODINGS = ("gzip", "deflate")
"""How an answer may be compressed."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ANY_NUMBER = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)
"""How a host ends that some resolvers read as an IPv4 address (WHATWG URL, section 3.5)."""
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NOT_PUBLIC: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (
    ipaddress.ip_network("192.0.0.0/24"),  # IETF protocol assignments (RFC 6890)
    ipaddress.ip_network("192.88.99.0/24"),  # relays to 6to4 (RFC 7526)
    ipaddress.ip_network("2002::/16"),  # 6to4: an IPv4 address in disguise (RFC 3056)
    ipaddress.ip_network("3fff::/20"),  # documentation (RFC 9637)
)

Approve = Callable[[str], Awaitable[None]]


class EgressError(Exception):
    """A request could not be made or finished; the message holds no secret."""


class AddressRefused(EgressError):
    """The address, or one that it redirects to, is none that the desk asks. Trying again is no use.

    It is not https, it is malformed, it holds credentials, or it leads to an address that is not
    public.
    """


class TooManyRedirects(EgressError):
    """The redirects did not end within :data:`MAX_REDIRECTS`."""


class Unreachable(EgressError):
    """The name is unknown, the connection failed, the certificate is wrong, or it is no HTTP."""


class TooSlow(EgressError):
    """The answer was not complete in time."""


class TooLarge(EgressError):
    """The body is larger than the caller takes, as it was sent or once it is decompressed."""


class Fetched(msgspec.Struct, frozen=True):
    """An answer, whatever its status.

    Parameters:
        status: never a redirect that names where to.
        headers: by name in any case.
        body: decompressed; empty unless the status is 2xx.
        url: the address that answered, after redirects, without a fragment.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class Egress:
    """The client. It is opened and closed as a context.

    Parameters:
        allow_loopback: also ask this machine's own loopback, there without encryption as well: for
            tests.
        resolver: finds addresses of names; by default the system's.
    """

    def __init__(
        self, *, allow_loopback: bool = False, resolver: AbstractResolver | None = None
    ) -> None:
        self._allow_loopback = allow_loopback
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=self._resolver, socket_factory=self._socket, limit=MAX_AT_ONCE
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": ", ".join(_CODINGS)},
            timeout=aiohttp.ClientTimeout(total=None),
            trust_env=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def check(self, url: str) -> None:
        """Refuse an address that can be told to be wrong without asking anybody.

        A name that passes may still lead to an address that is not public: :meth:`fetch` finds out
        when it connects. Whoever takes an address for later checks it now and fetches it then.

        Raises:
            AddressRefused: the message says which rule it breaks.
        """
        self._parse(url)

    async def fetch(
        self,
        url: str,
        *,
        max_bytes: int,
        seconds: float,
        headers: Mapping[str, str] | None = None,
        approve: Approve | None = None,
    ) -> Fetched:
        """Get an address, following redirects; each is held to the same rules.

        Parameters:
            max_bytes: the largest body, in bytes, also once decompressed.
            seconds: for everything together, redirects included.
            headers: sent to the origin of ``url`` only, not where a redirect leads off it.
            approve: awaited with each address that a redirect leads to, before it is asked; it
                raises to end the request.

        Raises:
            AddressRefused, TooManyRedirects, Unreachable, TooSlow, TooLarge: there is no answer.
        """
        address = self._parse(url)
        origin = address.origin()
        try:
            async with asyncio.timeout(seconds):
                for hop in range(MAX_REDIRECTS + 1):
                    if hop and approve is not None:
                        await approve(str(address))
                    own = headers if address.origin() == origin else None
                    found = await self._get(address, own or {}, max_bytes)
                    if isinstance(found, Fetched):
                        return found
                    address = found
        except TimeoutError:
            raise TooSlow(
                f"{address.host} did not answer completely within {seconds:g} seconds."
            ) from None
        raise TooManyRedirects(f"{origin.host} redirects more than {MAX_REDIRECTS} times.")

    async def _get(self, address: URL, headers: Mapping[str, str], max_bytes: int) -> Fetched | URL:
        """One request; a URL is where it redirects to."""
        if self._session is None:
            raise RuntimeError("The client is not open.")
        host = address.host
        try:
            async with self._session.get(
                address, headers=headers, allow_redirects=False
            ) as response:
                location = response.headers.get("Location")
                if response.status in _REDIRECTS and location is not None:
                    return self._parse(location, base=address)
                body = b""
                if 200 <= response.status < 300:
                    body = await _read(response, max_bytes)
                return Fetched(response.status, response.headers, body, str(address))
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, _NotPublic):
                raise AddressRefused(f"{host} {_NotPublic.reason}.") from None
            raise Unreachable(f"{host} could not be reached: {_reason(error)}.") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise Unreachable(f"{host} could not be reached: {_reason(error)}.") from None

    def _parse(self, text: str, *, base: URL | None = None) -> URL:
        """The address in the form in which it is asked: what is checked is what is used."""
        if len(text) > MAX_ADDRESS_CHARACTERS:
            raise AddressRefused(f"An address has at most {MAX_ADDRESS_CHARACTERS} characters.")
        if not text.isprintable() or " " in text or "\\" in text:
            raise AddressRefused("An address holds no spaces, backslashes or control characters.")
        try:
            address = URL(text)
            address = (base.join(address) if base is not None else address).with_fragment(None)
            host, port = address.raw_host, address.port
        except (ValueError, TypeError, IndexError):
            raise AddressRefused(
                "This is no URL; it takes one such as https://example.com/."
            ) from None
        if address.scheme not in {"http", "https"} or not host or not port:
            raise AddressRefused(
                "This is no web address; it takes one such as https://example.com/."
            )
        if address.raw_user is not None or address.raw_password is not None:
            raise AddressRefused("An address holds no user name and no password.")
        literal = _literal(host)
        if literal is not None and not self._may_ask(literal):
            raise AddressRefused(f"{host} {_NotPublic.reason}.")
        is_own = literal is not None and literal.is_loopback
        if address.scheme != "https" and not is_own:
            raise AddressRefused(f"{host} is asked over https only.")
        return address

    def _may_ask(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        return is_public(address) or (self._allow_loopback and address.is_loopback)

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one attempt to connect, to an address that may be asked.

        Raises:
            _NotPublic: it may not.
        """
        family, kind, protocol, _, sockaddr = info
        if not self._may_ask(_plain(ipaddress.ip_address(sockaddr[0]))):
            raise _NotPublic
        return socket.socket(family, kind, protocol)


class _NotPublic(OSError):
    """The connection that was about to be made leads to an address that is not public."""

    reason = "does not lead to a public address"

    def __init__(self) -> None:
        # the same words for each of a name's addresses, so that the client joins them into one
        super().__init__(self.reason)


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is global unicast: one machine's, on the public internet.

    IPv4 addresses within IPv6 ones are read as what they are (``::ffff:0:0/96``), or refused with
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


def _plain(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address that an IPv6 address is the mapped form of, or the address itself."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as; None for a name.

    Raises:
        AddressRefused: it is neither: a number that only some would read as an address, or an
            address of one network interface.
    """
    if "%" in host:
        raise AddressRefused("An address names no network interface.")
    try:
        return _plain(ipaddress.ip_address(host))
    except ValueError:
        if _ANY_NUMBER.search(host):
            raise AddressRefused(
                f"{host} is no address; an IPv4 address is four decimal numbers."
            ) from None
        return None


async def _read(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body, piece by piece: what is compressed is unpacked no further than it is taken.

    Raises:
        TooLarge: it goes on after ``max_bytes``.
        Unreachable: it is compressed in a way that was not asked for, and would be read as it is.
    """
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {*_CODINGS, "identity", ""}:
        raise Unreachable(f"{response.url.host} compresses its answer in a way that is not read.")
    if (response.content_length or 0) > max_bytes:
        raise _too_large(response, max_bytes)
    parts: list[bytes] = []
    room = max_bytes
    async for part in response.content.iter_any():
        room -= len(part)
        if room < 0:
            raise _too_large(response, max_bytes)
        parts.append(part)
    return b"".join(parts)


def _too_large(response: aiohttp.ClientResponse, max_bytes: int) -> TooLarge:
    return TooLarge(f"{response.url.host} sent more than {max_bytes} bytes.")


def _reason(error: Exception) -> str:
    """What went wrong, in words of our own: those of the libraries may hold addresses."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "its name leads to no address"
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate is not trusted"
        case aiohttp.ClientConnectorSSLError():
            return "no encryption could be agreed on"
        case aiohttp.ClientConnectorError():
            return "the connection failed"
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return "its answer broke off or cannot be unpacked"
        case aiohttp.ClientOSError():
            return "the connection was lost"
        case _:
            return "it did not answer as HTTP says"
