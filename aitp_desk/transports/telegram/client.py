"""Calls methods of the Bot API.

The token is part of every address. So no address leaves this module: errors name the host, which
the client for outgoing requests ensures, or only what failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from aitp_desk.capability import Request, Response, Send
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.transports.base import Refused, TryLater, ask_platform
from aitp_desk.transports.messages import OutgoingFile
from aitp_desk.transports.telegram.failures import read_error
from aitp_desk.transports.wire.payload import Payload, read_payload
from aitp_desk.transports.wire.upload import encode_upload

MOST_DOWNLOAD_BYTES = 20 * 1024 * 1024
"""Largest file that the Bot API gives out."""
_TOKEN = re.compile(r"([1-9]\d{0,15}):[A-Za-z0-9_-]{30,64}")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,255}")
_JSON = {"Content-Type": "application/json"}
_MOST_BYTES = 1024 * 1024
_UPLOAD_SECONDS = 30.0


class BotApi:
    """The Bot API, as one bot.

    Parameters:
        send: sends HTTP requests.
        url: address of the API.
        token: of the bot.

    Raises:
        ValueError: it is not the form of a token; the message does not repeat it.

    Attributes:
        bot_id: Telegram's number of the bot, which its token begins with.
    """

    def __init__(self, send: Send, url: str, token: str) -> None:
        found = _TOKEN.fullmatch(token)
        if found is None:
            raise ValueError(
                "The bot's token has the form 123456789:AbC…; copy it from BotFather again."
            )
        self.bot_id = int(found[1])
        self._send = send
        self._url = url.rstrip("/")
        self._token = token

    async def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        seconds: float = 10.0,
        max_bytes: int = _MOST_BYTES,
    ) -> Payload:
        """Call a method, and return its response; the result is its member ``result``.

        Raises:
            ApiError: the API has refused it.
            TryLater: there is no readable response.
        """
        request = Request(
            url=f"{self._url}/bot{self._token}/{method}",
            method="POST",
            headers=_JSON,
            body=msgspec.json.encode(params),
            max_bytes=max_bytes,
            seconds=seconds,
            wants_reasons=True,
        )
        return self._read(await ask_platform(self._send, request))

    async def upload(self, method: str, params: Mapping[str, Any], file: OutgoingFile) -> Payload:
        """Call a method with a file, its member ``document``; as :meth:`call`."""
        fields = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in params.items()
        }
        body, headers = encode_upload(fields, "document", file)
        request = Request(
            url=f"{self._url}/bot{self._token}/{method}",
            method="POST",
            headers=headers,
            body=body,
            max_bytes=_MOST_BYTES,
            seconds=_UPLOAD_SECONDS,
            wants_reasons=True,
        )
        return self._read(await ask_platform(self._send, request))

    async def download(self, file_id: str, max_bytes: int) -> bytes:
        """Read a file.

        Raises:
            ApiError, TryLater: as :meth:`call`.
            Refused: it is longer, or has no address.
        """
        found = (await self.call("getFile", {"file_id": file_id})).part("result")
        path = found.text("file_path", 256)
        if found.number("file_size") > max_bytes:
            raise Refused(f"The file has more than {max_bytes} bytes.")
        if not _PATH.fullmatch(path) or ".." in path:
            raise Refused("Telegram gives no address of the file.")
        request = Request(
            url=f"{self._url}/file/bot{self._token}/{quote(path)}",
            max_bytes=max_bytes,
            seconds=_UPLOAD_SECONDS,
        )
        response = await ask_platform(self._send, request)
        if response.status != 200:
            raise TryLater(f"Telegram responded with {response.status} instead of the file.")
        return response.body

    def _read(self, response: Response) -> Payload:
        try:
            payload = read_payload(response.body)
        except InvalidRequest:
            raise TryLater(f"Telegram responded with {response.status} and no JSON.") from None
        if response.status != 200 or not payload.flag("ok"):
            raise read_error(response.status, payload)
        return payload
