"""The HTTP client: applies the same rules and bounds to every request and redirect."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from aitp_desk.egress.addresses import Addresses, AddressNotPublic
from aitp_desk.egress.errors import (
    AddressRefused,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aiohttp.connector import Connection

USER_AGENT = "aitp-desk"
"""The desk's User-Agent, also in ``robots.txt``."""
MAX_REDIRECTS = 5
"""How many redirects a request follows."""
MAX_AT_ONCE = 80
"""Most open connections; further requests wait for one. It exceeds what unknown callers may request
in a minute (``auth/web_bot_auth/directories.py``), so they never occupy all."""
MAX_AT_ONE_HOST = 4
"""Most connections to one host: a slow host keeps no other request waiting."""
MAX_ADDRESSES = 8
"""How many addresses of a name are tried."""
MAX_INTERIM = 16
"""Most interim responses (1xx) before the final one (RFC 9110, section 15.2)."""

MAX_PREVIEW = 64 * 1024
"""How much of a body the beginning is at most, up to a part."""

_CODINGS = ("gzip", "deflate")
"""Accepted compressions of a response."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
Approve = Callable[[str], Awaitable[None]]


class Fetched(msgspec.Struct, frozen=True):
    """A response, whatever its status.

    Parameters:
        status: after :meth:`Egress.fetch` never a redirect with a Location.
        headers: by name in any case.
        body: decompressed; empty unless the status is 2xx, or reasons are wanted.
        url: the address that answered, after redirects, without a fragment.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class Preview(msgspec.Struct, frozen=True):
    """The beginning of a response that may go on.

    Parameters:
        first: the first bytes of the body; empty if it has none.
        certificate: of the server, as :meth:`ssl.SSLSocket.getpeercert` has it; empty without TLS.
        address: the IP address that answered.
    """

    status: int
    headers: Mapping[str, str]
    first: bytes
    certificate: Mapping[str, Any]
    address: str


class Egress:
    """The client. It is opened and closed as a context.

    Parameters:
        allow_loopback: also allows this machine's loopback, there without encryption as well: for
            tests.
        allow_plain: also requests http elsewhere: only to see where that leads.
        resolver: resolves names; by default one that queries the system's name servers.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        allow_plain: bool = False,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._addresses = Addresses(allow_loopback=allow_loopback, allow_plain=allow_plain)
        self._resolver = resolver
        self._names: AbstractResolver | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # getaddrinfo holds a thread until name servers answer, which strangers may control, and
        # there are so few of these threads that the whole desk would wait for them
        self._names = _FewAddresses(self._resolver or aiohttp.AsyncResolver())
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=self._names,
                socket_factory=self._addresses.open_socket,
                limit=MAX_AT_ONCE,
                limit_per_host=MAX_AT_ONE_HOST,
            ),
            response_class=_Response,
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
        if self._names is not None:
            await self._names.close()
            self._names = None

    def check(self, url: str) -> None:
        """Refuse an address that is invalid without a look-up.

        A name that passes may still lead to an address that is not public: :meth:`fetch` finds out
        when it connects. Code that stores an address for later checks it now and fetches it then.

        Raises:
            AddressRefused: the message says which rule it breaks.
        """
        self._addresses.parse(url)

    async def fetch(
        self,
        url: str,
        *,
        max_bytes: int,
        seconds: float,
        headers: Mapping[str, str] | None = None,
        approve: Approve | None = None,
        wants_reasons: bool = False,
    ) -> Fetched:
        """Get an address, following redirects; the same rules apply to each.

        Parameters:
            max_bytes: the largest body, in bytes, also once decompressed.
            seconds: for everything together, redirects included.
            headers: sent to the origin of ``url`` only, not where a redirect leaves it.
            approve: awaited with each address of a redirect, before it is requested; it raises to
                end the request.
            wants_reasons: whether to read the body of a response without a 2xx status as well.

        Raises:
            AddressRefused, TooManyRedirects, Unreachable, TooSlow, TooLarge: there is no response.
        """
        address = self._addresses.parse(url)
        origin = address.origin()
        try:
            async with asyncio.timeout(seconds):
                for hop in range(MAX_REDIRECTS + 1):
                    if hop and approve is not None:
                        await approve(str(address))
                    own = headers if address.origin() == origin else None
                    found = await self._ask(
                        "GET", address, own, max_bytes, wants_reasons=wants_reasons
                    )
                    location = found.headers.get("Location")
                    if found.status not in _REDIRECTS or location is None:
                        return found
                    address = self._addresses.parse(location, base=address)
        except TimeoutError:
            raise _too_slow(address, seconds) from None
        raise TooManyRedirects(f"{origin.host} redirects more than {MAX_REDIRECTS} times.")

    async def send(
        self,
        url: str,
        body: bytes,
        *,
        max_bytes: int,
        seconds: float,
        headers: Mapping[str, str] | None = None,
        method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST",
        wants_reasons: bool = False,
    ) -> Fetched:
        """Send bytes to an address, once, without following redirects.

        Parameters:
            body: sent unchanged; ``headers`` state its type.
            max_bytes: the largest body of the response, in bytes, also once decompressed.
            seconds: for everything together.
            wants_reasons: as for :meth:`fetch`.

        Raises:
            AddressRefused, Unreachable, TooSlow, TooLarge: there is no response. Unless the address
                was refused, the body may have arrived.
        """
        address = self._addresses.parse(url)
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(
                    method, address, headers, max_bytes, body, wants_reasons=wants_reasons
                )
        except TimeoutError:
            raise _too_slow(address, seconds) from None

    async def preview(
        self,
        url: str,
        *,
        seconds: float,
        headers: Mapping[str, str] | None = None,
        method: Literal["GET", "HEAD", "OPTIONS"] = "GET",
        until: bytes = b"",
    ) -> Preview:
        """Return the beginning of a response, without following redirects, and end the request.

        Parameters:
            seconds: for everything together.
            until: what the beginning of the body has to contain, if it goes on so far.

        Raises:
            AddressRefused, Unreachable, TooSlow: there is no response, or no body in time.
        """
        address = self._addresses.parse(url)
        try:
            async with (
                asyncio.timeout(seconds),
                self._request(method, address, headers) as response,
            ):
                first = await response.content.readany()
                while until not in first and len(first) < MAX_PREVIEW:
                    if not (part := await response.content.readany()):
                        break
                    first += part
                peer = response.peer if isinstance(response, _Response) else ({}, "")
                return Preview(response.status, response.headers, first, *peer)
        except TimeoutError:
            raise _too_slow(address, seconds) from None

    async def _ask(
        self,
        method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
        address: URL,
        headers: Mapping[str, str] | None,
        max_bytes: int,
        sent: bytes | None = None,
        *,
        wants_reasons: bool,
    ) -> Fetched:
        """Send one request to an allowed address."""
        async with self._request(method, address, headers, sent) as response:
            body = b""
            if wants_reasons or 200 <= response.status < 300:
                body = await _read(response, max_bytes)
            return Fetched(response.status, response.headers, body, str(address))

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        address: URL,
        headers: Mapping[str, str] | None,
        sent: bytes | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a response, and describe errors in the desk's own text."""
        if self._session is None:
            raise RuntimeError("The client is not open.")
        host = address.host
        try:
            async with self._session.request(
                method, address, data=sent, headers=headers, allow_redirects=False
            ) as response:
                yield response
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, AddressNotPublic):
                raise AddressRefused(f"{host} {AddressNotPublic.reason}.") from None
            raise Unreachable(f"{host} could not be reached: {_reason(error)}.") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise Unreachable(f"{host} could not be reached: {_reason(error)}.") from None


class _FewAddresses(AbstractResolver):
    """Keeps only the first addresses of a name: trying thousands takes too long."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the first addresses of a name."""
        return (await self._resolver.resolve(host, port, family))[:MAX_ADDRESSES]

    async def close(self) -> None:
        """Close the resolver."""
        await self._resolver.close()


class _Response(aiohttp.ClientResponse):
    """A response with a bound on interim ones, which cost time to read.

    Attributes:
        peer: the server's certificate and IP address, as a :class:`Preview` has them.
    """

    peer: tuple[Mapping[str, Any], str] = ({}, "")

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read up to the head of the final response."""
        if connection.transport is not None:
            told = connection.transport.get_extra_info
            self.peer = (told("peercert") or {}, (told("peername") or ("",))[0])
        protocol = connection.protocol
        if protocol is None:
            raise aiohttp.ClientConnectionError("the connection is closed")
        read, left = protocol.read, MAX_INTERIM + 1

        async def read_next() -> object:
            nonlocal left
            if not left:
                raise aiohttp.ClientPayloadError("too many interim responses")
            left -= 1
            return await read()

        protocol.read = read_next  # type: ignore[method-assign,assignment]
        try:
            return await super().start(connection)
        finally:
            del protocol.read


async def _read(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Read the body in pieces: decompression goes no further than the bound.

    Raises:
        TooLarge: it continues after ``max_bytes``.
        Unreachable: its compression was not requested, and would not be undone.
    """
    coding = ", ".join(response.headers.getall("Content-Encoding", ["identity"])).strip().lower()
    transfer = response.headers.get("Transfer-Encoding", "chunked").strip().lower()
    if coding not in {*_CODINGS, "identity", ""} or transfer != "chunked":
        raise Unreachable(
            f"{response.url.host} sent its response in a compression that is not supported."
        )
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


def _too_slow(address: URL, seconds: float) -> TooSlow:
    within = write_count(seconds, "second")
    return TooSlow(f"{address.host} did not send a complete response within {within}.")


def _too_large(response: aiohttp.ClientResponse, max_bytes: int) -> TooLarge:
    return TooLarge(f"{response.url.host} sent more than {max_bytes} bytes.")


_CERTIFICATE_FAULTS = {
    10: "it has expired",
    18: "it is self-signed",
    19: "it is self-signed",
    20: "its chain is incomplete",
    21: "its chain is incomplete",
    62: "it is for another name",
    64: "it is for another name",
}
"""OpenSSL's results of a verification."""


def _judge_certificate(error: Exception) -> str:
    fault = _CERTIFICATE_FAULTS.get(getattr(error, "verify_code", 0))
    return f" ({fault})" if fault else ""


def _reason(error: Exception) -> str:
    """Describe an error in the desk's own text: libraries' may hold addresses."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "its name has no address"
        case aiohttp.ClientConnectorCertificateError():
            return f"its certificate is not trusted{_judge_certificate(error.certificate_error)}"
        case aiohttp.ClientConnectorSSLError():
            return "the TLS handshake failed"
        case aiohttp.ClientConnectorError():
            return "the connection failed"
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return "its response is incomplete or cannot be decompressed"
        case aiohttp.ClientOSError():
            return "the connection was lost"
        case _:
            return "its response is not valid HTTP"
