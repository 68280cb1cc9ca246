"""The transport for WhatsApp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar
from urllib.parse import quote

from aitp_desk.transports.base import (
    Delivery,
    Endpoint,
    Failed,
    HookReply,
    HookResult,
    Host,
    Step,
    Transport,
    WindowClosed,
)
from aitp_desk.transports.events import Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage
from aitp_desk.transports.whatsapp.client import GraphApi
from aitp_desk.transports.whatsapp.diagnosis import Diagnosis
from aitp_desk.transports.whatsapp.message_wire import (
    FILE_TYPES,
    MOST_ROWS,
    Media,
    build_messages,
    build_notice,
    build_receipt,
    build_template,
    is_window_open,
)
from aitp_desk.transports.whatsapp.proof import answer_challenge, check_signature
from aitp_desk.transports.whatsapp.settings import WhatsAppSettings
from aitp_desk.transports.whatsapp.wire import read_events
from aitp_desk.transports.wire.payload import read_payload

HOOK = "webhook"
MOST_HOOK_BYTES = 4 * 1024 * 1024
"""A delivery has at most 3 MB, as the documentation says."""


class WhatsAppTransport(Transport):
    """Carries messages of a business phone number."""

    name = "whatsapp"
    settings = WhatsAppSettings
    has_numbers = True
    bounds: ClassVar[Bounds] = Bounds(
        characters=3600,
        per_second=40.0,
        per_conversation=1.0,
        buttons=MOST_ROWS,
        file_types=FILE_TYPES,
    )

    def __init__(self, settings: WhatsAppSettings, host: Host) -> None:
        super().__init__(settings, host)
        self._settings = settings
        token = host.read_credential(settings.token_env, "the access token")
        self._secret = host.read_credential(settings.app_secret_env, "the app's secret")
        self._verify_token = host.read_credential(
            settings.verify_token_env, "a word of your choice, which you also give to Meta"
        )
        url = f"{settings.api.rstrip('/')}/{settings.version}"
        self._api = GraphApi(host.send, url, settings.phone_number_id, token)

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the webhook."""
        return {
            HOOK: Endpoint(
                read=self.read_delivery, methods=("GET", "POST"), max_bytes=MOST_HOOK_BYTES
            )
        }

    def read_delivery(self, delivery: Delivery) -> HookResult:
        """Read a delivery, or answer the request that verifies the webhook.

        Raises:
            NotAuthenticated: it is not of Meta.
            InvalidRequest: it is not JSON.
        """
        if delivery.method == "GET":
            challenge = answer_challenge(self._verify_token, delivery.query)
            return HookResult(reply=HookReply(body=challenge, content_type="text/plain"))
        check_signature(self._secret.encode(), delivery.body, delivery.headers)
        events = read_events(read_payload(delivery.body), self._settings.phone_number_id)
        return HookResult(events=events)

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message; later than 24 hours after the person's last one as a template.

        What a template cannot carry follows when the person answers: its beginning asks for that.
        """
        if is_window_open(outgoing, self.host.clock()):
            return await self._send_freely(outgoing)
        return await self._send_template(outgoing)

    def invite(self, code: str) -> str:
        """Return a link that opens the chat with a code ready to be sent."""
        number = self._settings.phone_number
        return f"WhatsApp: https://wa.me/{number}?text=%2Fjoin%20{quote(code)}" if number else ""

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        """Read a file of a message."""
        return await self._api.download(file.ref, max_bytes)

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        """Say why a choice does not count; WhatsApp itself expects no answer."""
        if notice:
            await self._api.post(build_notice(incoming.conversation, notice))

    async def show_typing(self, incoming: Incoming) -> None:
        """Mark the message as read, and show that an answer is being written."""
        with suppress(Failed):
            await self._api.post(build_receipt(incoming.event_id))

    def check(self) -> AsyncIterator[Step]:
        """Try the token, the number and the way back."""
        diagnosis = Diagnosis(
            self._api,
            self.host,
            app_secret=self._secret,
            verify_token=self._verify_token,
            url=f"{self.host.url}/transports/{self.name}/{HOOK}",
        )
        return diagnosis.run()

    async def _send_freely(self, outgoing: Outgoing) -> SentMessage:
        ref = ""
        for message in build_messages(outgoing):
            body: Mapping[str, Any]
            if isinstance(message, Media):
                body = message.make_body(await self._api.upload(message.file))
            else:
                body = message
            try:
                ref = await self._post(body)
            except WindowClosed:
                if ref:
                    raise
                return await self._send_template(outgoing)
        return SentMessage(message_ref=ref)

    async def _send_template(self, outgoing: Outgoing) -> SentMessage:
        settings = self._settings
        body, is_whole = build_template(outgoing, settings.template, settings.template_language)
        ref = await self._post(body)
        if not is_whole:
            raise WindowClosed("The person has got the beginning, and the whole when they answer.")
        return SentMessage(message_ref=ref)

    async def _post(self, body: Mapping[str, Any]) -> str:
        response = await self._api.post(body)
        return next((one.text("id", 256) for one in response.parts("messages")), "")
