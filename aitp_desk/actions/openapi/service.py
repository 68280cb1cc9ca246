"""The client of one of the site's services.

The owner configures its URL, so it may be on this machine or in a private network. Its responses
are not trusted further: redirects are not followed, sizes are bounded, and the caller sees none of
its headers and internal errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import structlog
from yarl import URL

from aitp_desk.actions.openapi.arguments import Request
from aitp_desk.actions.openapi.credentials import Credentials
from aitp_desk.actions.openapi.refusals import make_error
from aitp_desk.egress.client import USER_AGENT
from aitp_desk.model.errors import Unavailable

MAX_AT_ONCE = 32
"""Maximum number of concurrent calls to one service; further ones wait."""
CONNECT_SECONDS = 10
"""Timeout of connecting, in seconds."""
MAX_REFUSAL = 64 * 1024
"""How much of an error response is read, in bytes."""

_LATER = "The service cannot be reached now; try again later."
_UNKNOWN = "The service did not finish its response. It is unknown whether it took effect."
_log = structlog.get_logger()


class ServiceAnswer(msgspec.Struct, frozen=True):
    """A successful response of a service."""

    status: int
    media_type: str
    body: bytes


class Service:
    """Sends requests to one service while it is open.

    Parameters:
        name: its name in the log.
        max_bytes: the longest response.
    """

    def __init__(self, name: str, credentials: Credentials, max_bytes: int) -> None:
        self.name = name
        self._credentials = credentials
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Keep connections open within the context."""
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_AT_ONCE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "User-Agent": USER_AGENT,
                "Accept": "application/json",
                **self._credentials.headers,
            },
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            trust_env=False,
        ) as session:
            self._session = session
            try:
                yield
            finally:
                self._session = None

    async def send(
        self, method: str, base_url: str, request: Request, call_id: str
    ) -> ServiceAnswer:
        """Send a request and return its successful response.

        Parameters:
            method: in capitals.
            call_id: sent as the idempotency key of every request that may change something.

        Raises:
            InvalidRequest, PreconditionFailed: the service refuses it.
            Unavailable: it cannot be reached, fails, or rejects the desk's credentials.
            ValueError: its response is too long.
        """
        if self._session is None:
            raise Unavailable(_LATER)
        headers = dict(request.headers)
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers["Idempotency-Key"] = call_id
        try:
            async with self._session.request(
                method,
                URL(base_url.rstrip("/") + request.target, encoded=True),
                data=request.body,
                headers=headers,
                allow_redirects=False,
            ) as response:
                if 200 <= response.status < 300:
                    body = await self._read(response)
                    kind = response.headers.get("Content-Type", "")
                    return ServiceAnswer(response.status, kind, body)
                await self._refuse(response, call_id, may_have_changed=method != "GET")
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            address = str(URL(base_url).origin())
            self._note(call_id, error=type(error).__name__, address=address)
            raise Unavailable(_LATER) from None
        except TimeoutError:
            raise
        except (aiohttp.ClientError, asyncio.IncompleteReadError, OSError) as error:
            self._note(call_id, error=type(error).__name__)
            raise Unavailable(_LATER if method == "GET" else _UNKNOWN) from None
        raise AssertionError("a response without success was not refused")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > self._max_bytes:
                raise ValueError(
                    f"{self.name} answered with more than {self._max_bytes} bytes (max_bytes)"
                )
        return bytes(body)

    async def _refuse(
        self, response: aiohttp.ClientResponse, call_id: str, *, may_have_changed: bool
    ) -> None:
        status = response.status
        if status in {401, 403}:
            self._note(call_id, status=status, reason="it does not accept the desk's credential")
            raise Unavailable(_LATER)
        if not 400 <= status < 500:
            self._note(call_id, status=status)
            if may_have_changed and status >= 500:
                raise Unavailable(_UNKNOWN)
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > MAX_REFUSAL:
                break
        raise make_error(status, response.headers, bytes(body), self._credentials.secrets)

    def _note(self, call_id: str, **what: object) -> None:
        _log.warning("service_failed", service=self.name, call=call_id, **what)
