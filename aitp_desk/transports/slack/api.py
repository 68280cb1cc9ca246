"""Slack's Web API, through its library and the desk's client for other servers.

Every request therefore follows the rules of the desk's requests and is bounded in bytes and
seconds. The library's own HTTP client would repeat a message whose outcome is unknown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import msgspec
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from aitp_desk.capability import Request, Send
from aitp_desk.transports.base import ask_platform
from aitp_desk.transports.slack.failures import find_failure

# at this level the library logs the content of requests
logging.getLogger("slack_sdk").setLevel(logging.WARNING)

_SECONDS = 15.0
_MOST_RESPONSE_BYTES = 1024 * 1024


class ApiResult(msgspec.Struct, frozen=True):
    """A successful response.

    Parameters:
        scopes: of the token, as the response's header lists them.
    """

    data: dict[str, Any]
    scopes: frozenset[str] = frozenset()

    def text(self, *names: str) -> str:
        """Return the text of a member, or of one within it; empty for none."""
        found = self._find(names)
        return found if isinstance(found, str) else ""

    def number(self, *names: str) -> int:
        """Return the whole number of a member, or of one within it; 0 for none."""
        found = self._find(names)
        return found if isinstance(found, int) else 0

    def _find(self, names: Iterable[str]) -> Any:
        found: Any = self.data
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        return found


class SlackApi:
    """The Web API with one token. The token is in no text form and no error.

    Parameters:
        url: of the API, with a final slash.
    """

    def __init__(self, token: str, url: str, send: Send) -> None:
        self._client = _Client(token, url, send)

    async def call(
        self, method: str, body: dict[str, Any] | None = None, *, is_form: bool = False
    ) -> ApiResult:
        """Call a method.

        Parameters:
            body: its arguments.
            is_form: for methods that take no JSON.

        Raises:
            Failed: one of its kinds; ``ApiRefusal`` for an error that concerns the arguments.
        """
        arguments = body or {}
        try:
            response = await (
                self._client.api_call(method, data=arguments)
                if is_form
                else self._client.api_call(method, json=arguments)
            )
        except SlackApiError as error:
            found = error.response
            raise find_failure(method, found.status_code, found.headers, found.data) from None
        listed = response.headers.get("x-oauth-scopes", "").split(",")
        data = response.data if isinstance(response.data, dict) else {}
        return ApiResult(data, frozenset(filter(None, map(str.strip, listed))))


class _Client(AsyncWebClient):
    """The library's client, whose requests the desk sends."""

    def __init__(self, token: str, url: str, send: Send) -> None:
        super().__init__(token=token, base_url=url)
        self._send_request = send

    async def _request(
        self, *, http_verb: Any, api_url: str, req_args: dict[str, Any]
    ) -> dict[str, Any]:
        """Send one request; the library calls this instead of using its own client."""
        headers = dict(req_args["headers"])
        if req_args.get("json") is not None:
            body = msgspec.json.encode(req_args["json"])
            headers["Content-Type"] = "application/json;charset=utf-8"
        else:
            body = urlencode(req_args.get("data") or {}).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        request = Request(
            url=api_url,
            method=http_verb,
            body=body,
            headers=headers,
            max_bytes=_MOST_RESPONSE_BYTES,
            seconds=_SECONDS,
            wants_reasons=True,
        )
        response = await ask_platform(self._send_request, request)
        try:
            data = msgspec.json.decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            data = {}
        if not isinstance(data, dict):
            data = {}
        return {"data": data, "headers": response.headers, "status_code": response.status}
