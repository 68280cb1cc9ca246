"""Sends requests to the homeserver, and tells its refusals apart.

Source: Matrix specification 1.16, client-server API, "Standard error response".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec

from aitp_desk.capability import Request, Response, Unanswered
from aitp_desk.transports.base import Failed, Host, Refused, TryLater, Unreachable
from aitp_desk.transports.matrix.settings import MatrixSettings

Method = Literal["GET", "POST", "PUT"]
MOST_BYTES = 1024 * 1024
SECONDS = 20.0
LONGEST_WAIT = 3600
"""Seconds that the desk waits at most where the homeserver asks for it."""

_LATER = frozenset({"M_LIMIT_EXCEEDED", "M_RESOURCE_LIMIT_EXCEEDED", "M_USER_SUSPENDED"})
_LOCKED_OUT = frozenset({"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED"})


class Absent(Unreachable):
    """The homeserver has no such thing, or hides it from the desk."""


class Malformed(Refused):
    """The homeserver itself, and no proxy in between, finds the request wrong."""


class Client:
    """The homeserver's API, as the desk's account.

    Raises:
        ValueError: the environment has no token.
    """

    def __init__(self, settings: MatrixSettings, host: Host) -> None:
        self._host = host
        self._base = settings.homeserver.rstrip("/")
        token = host.read_credential(settings.token_env, "the account's access token")
        self._headers = {"Authorization": f"Bearer {token}"}

    async def call(
        self,
        method: Method,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, str] | None = None,
        max_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
    ) -> Response:
        """Send JSON, and return the response if it is a success.

        Parameters:
            path: below ``/_matrix/``, encoded.
            body: by default an empty object, where the method has a body.

        Raises:
            Failed: one of its kinds; ``Absent`` for 404.
        """
        data = b"" if method == "GET" else msgspec.json.encode({} if body is None else body)
        headers = {} if method == "GET" else {"Content-Type": "application/json"}
        return await self._send(method, path, data, headers, query, max_bytes, seconds)

    async def find_upload_size(self) -> int | None:
        """Return the size of the largest file that the homeserver takes; None if it says none.

        Raises:
            TryLater: the homeserver did not answer.
        """
        try:
            response = await self.call("GET", "client/v1/media/config")
        except TryLater:
            raise
        except Failed:
            return None
        size = read_object(response.body).get("m.upload.size")
        return size if isinstance(size, int) and not isinstance(size, bool) else None

    async def upload(self, name: str, content_type: str, data: bytes) -> str:
        """Upload a file, and return its ``mxc:`` address.

        Raises:
            Failed: one of its kinds.
        """
        response = await self._send(
            "POST",
            "media/v3/upload",
            data,
            {"Content-Type": content_type},
            {"filename": name},
            MOST_BYTES,
            SECONDS,
        )
        url = read_object(response.body).get("content_uri")
        if not isinstance(url, str):
            raise TryLater("The homeserver did not say where the file is.")
        return url

    async def _send(
        self,
        method: Method,
        path: str,
        data: bytes,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None,
        max_bytes: int,
        seconds: float,
    ) -> Response:
        url = f"{self._base}/_matrix/{path}"
        if query:
            url += f"?{urlencode(query, quote_via=quote)}"
        try:
            response = await self._host.send(
                Request(
                    url=url,
                    method=method,
                    body=data,
                    headers={**self._headers, **headers},
                    max_bytes=max_bytes,
                    seconds=seconds,
                    wants_reasons=True,
                )
            )
        except Unanswered as error:
            kind = Refused if error.is_refused else TryLater
            raise kind("The homeserver does not answer.") from error
        if 200 <= response.status < 300:
            return response
        raise find_failure(response)


def segment(value: str) -> str:
    """Encode a segment of a path."""
    return quote(value, safe="")


def read_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object of the homeserver; an empty one for anything else."""
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def find_failure(response: Response) -> Failed:
    """Return what a response other than a success means for a message."""
    found = read_object(response.body)
    code = found.get("errcode")
    if not isinstance(code, str):
        code = ""
    if response.status == 429 or code == "M_LIMIT_EXCEEDED":
        after = _seconds(found.get("retry_after_ms"), response.headers.get("retry-after", ""))
        return TryLater("The homeserver limits how often the desk may write.", after=after)
    if response.status == 401 or code in _LOCKED_OUT:
        return TryLater("The homeserver does not accept the access token: check it.")
    if response.status >= 500 or code in _LATER or response.status in {408, 425}:
        return TryLater(f"The homeserver cannot do it now ({code or response.status}).")
    if response.status == 404:
        return Absent("The homeserver has no such room or message, or hides it from the desk.")
    if response.status == 403:
        return Unreachable("The desk may not write in this room: it has left or was removed.")
    if response.status == 413 or code == "M_TOO_LARGE":
        return Refused("The homeserver takes no message or file of this size.")
    if response.status == 400 and code:
        return Malformed(f"The homeserver finds the request wrong ({code}).")
    return Refused(f"The homeserver refuses it ({code or response.status}).")


def _seconds(milliseconds: object, header: str) -> int:
    """Return the time that the homeserver asks for, whichever way it says so."""
    if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool):
        return min(max(ceil(min(milliseconds, 1e9) / 1000), 1), LONGEST_WAIT)
    if header.isascii() and header.isdigit() and len(header) < 10:
        return min(max(int(header), 1), LONGEST_WAIT)
    return 1
