"""Calls the Graph API for one business phone number."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from aitp_desk.capability import Request, Response, Send
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.transports.base import Refused, TryLater, ask_platform
from aitp_desk.transports.messages import OutgoingFile
from aitp_desk.transports.whatsapp.failures import read_failure
from aitp_desk.transports.wire.payload import Payload, read_payload
from aitp_desk.transports.wire.upload import encode_upload

META_DOMAINS = ("facebook.com", "fbsbx.com", "fbcdn.net", "whatsapp.net")
"""Where files are; only hosts below these get the token."""
_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_MOST_BYTES = 256 * 1024
_FILE_SECONDS = 30.0


class GraphApi:
    """The Graph API.

    Parameters:
        send: sends HTTP requests.
        url: address of the API with its version.
        number: id of the business phone number.
        token: for access.

    Raises:
        ValueError: the token has characters that no token has; the message does not repeat it.
    """

    def __init__(self, send: Send, url: str, number: str, token: str) -> None:
        if not _TOKEN.fullmatch(token):
            raise ValueError("The access token has spaces or line ends: copy it again.")
        self._send = send
        self._url = url.rstrip("/")
        self._number = number
        self._token = token

    async def post(self, body: Mapping[str, Any]) -> Payload:
        """Send a message, or mark one as read, and return the response.

        Raises:
            Failed: the API has refused it, or there is no readable response.
        """
        request = Request(
            url=f"{self._url}/{self._number}/messages",
            method="POST",
            headers={**self._authorize(), "Content-Type": "application/json"},
            body=msgspec.json.encode(body),
            max_bytes=_MOST_BYTES,
            wants_reasons=True,
        )
        return self._read(await ask_platform(self._send, request))

    async def describe_number(self, *fields: str, app_secret: str = "") -> Payload:
        """Return the business phone number; as :meth:`post`.

        Parameters:
            fields: that are wanted.
            app_secret: proves that the token is of this app; empty for no proof.
        """
        query = {"fields": ",".join(fields)}
        if app_secret:
            proof = hmac.new(app_secret.encode(), self._token.encode(), sha256)
            query["appsecret_proof"] = proof.hexdigest()
        return await self._get(f"{self._number}?{urlencode(query)}")

    async def list_apps(self, account: str) -> tuple[Payload, ...]:
        """Return the apps that get the messages of a WhatsApp account; as :meth:`post`."""
        return (await self._get(f"{account}/subscribed_apps")).parts("data")

    async def list_subscriptions(self, app: str, app_secret: str) -> tuple[Payload, ...]:
        """Return the subscriptions of an app's webhooks, which only the app may see."""
        return (await self._get(f"{app}/subscriptions", f"{app}|{app_secret}")).parts("data")

    async def upload(self, file: OutgoingFile) -> str:
        """Upload a file, and return its id; as :meth:`post`."""
        fields = {"messaging_product": "whatsapp", "type": file.content_type}
        body, headers = encode_upload(fields, "file", file)
        request = Request(
            url=f"{self._url}/{self._number}/media",
            method="POST",
            headers={**self._authorize(), **headers},
            body=body,
            max_bytes=_MOST_BYTES,
            seconds=_FILE_SECONDS,
            wants_reasons=True,
        )
        media_id = self._read(await ask_platform(self._send, request)).text("id", 128)
        if not media_id:
            raise TryLater("WhatsApp gives the file no id.")
        return media_id

    async def download(self, media_id: str, max_bytes: int) -> bytes:
        """Read a file of a message.

        Raises:
            Failed: as :meth:`post`; ``Refused`` if it is longer, or is not on a server of Meta.
        """
        if not _MEDIA_ID.fullmatch(media_id):
            raise Refused("WhatsApp has no such file.")
        found = await self._get(f"{media_id}?{urlencode({'phone_number_id': self._number})}")
        url = found.text("url", 2048)
        if found.number("file_size") > max_bytes:
            raise Refused(f"The file has more than {max_bytes} bytes.")
        if not self._is_of_meta(url):
            raise Refused("The file is not on a server of Meta.")
        request = Request(
            url=url, headers=self._authorize(), max_bytes=max_bytes, seconds=_FILE_SECONDS
        )
        response = await ask_platform(self._send, request)
        if response.status != 200:
            raise TryLater(f"WhatsApp responded with {response.status} instead of the file.")
        return response.body

    async def _get(self, path: str, token: str = "") -> Payload:
        request = Request(
            url=f"{self._url}/{path}",
            headers=self._authorize(token),
            max_bytes=_MOST_BYTES,
            wants_reasons=True,
        )
        return self._read(await ask_platform(self._send, request))

    def _authorize(self, token: str = "") -> dict[str, str]:
        return {"Authorization": f"Bearer {token or self._token}"}

    def _is_of_meta(self, url: str) -> bool:
        own = urlsplit(self._url)
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return False
        host = parts.hostname or ""
        if "\\" in url or "@" in parts.netloc:
            return False
        if (parts.scheme, host, port) == (own.scheme, own.hostname, own.port):
            return True
        is_below = any(host == one or host.endswith(f".{one}") for one in META_DOMAINS)
        return parts.scheme == "https" and is_below and port in {None, 443}

    def _read(self, response: Response) -> Payload:
        try:
            payload = read_payload(response.body)
        except InvalidRequest:
            if response.status == 200:
                raise TryLater("WhatsApp's response is not JSON.") from None
            payload = Payload()
        if response.status != 200 or "error" in payload:
            raise read_failure(response.status, payload)
        return payload
