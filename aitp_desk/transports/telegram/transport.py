"""The transport for Telegram."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import ClassVar
from urllib.parse import urlsplit

from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.transports.base import (
    Delivery,
    Endpoint,
    Failed,
    HookResult,
    Host,
    Refused,
    Step,
    Transport,
    TryLater,
    try_steps,
)
from aitp_desk.transports.events import Choice, Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage
from aitp_desk.transports.telegram.client import MOST_DOWNLOAD_BYTES, BotApi
from aitp_desk.transports.telegram.failures import ApiError, judged
from aitp_desk.transports.telegram.message_wire import MOST_BUTTONS, Call, build_calls, build_chosen
from aitp_desk.transports.telegram.settings import TelegramSettings
from aitp_desk.transports.telegram.wire import UPDATES, Bot, parse_conversation, read_update
from aitp_desk.transports.wire.payload import Payload, read_payload

HOOK = "updates"
SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 -- a name
POLL_SECONDS = 25
"""How long Telegram waits for updates; the longest request takes 30."""
MOST_UPDATES = 100
_MOST_POLL_BYTES = 16 * 1024 * 1024
_MOST_NOTICE = 200
_PORTS = frozenset({None, 80, 88, 443, 8443})
"""Those to which Telegram delivers (Bot API, "setWebhook"); None for that of https."""


class TelegramTransport(Transport):
    """Carries messages of a Telegram bot."""

    name = "telegram"
    settings = TelegramSettings
    bounds: ClassVar[Bounds] = Bounds(
        characters=3600, per_second=25.0, per_conversation=1.0, buttons=MOST_BUTTONS
    )

    def __init__(self, settings: TelegramSettings, host: Host) -> None:
        super().__init__(settings, host)
        token = host.read_credential(settings.token_env, "the token of the bot")
        if settings.updates == "webhook" and not _is_reachable(settings.api, host.url):
            raise ValueError(
                "Telegram delivers to https on port 443, 80, 88 or 8443 only: set site.url to the"
                ' desk\'s public address, or updates to "polling".'
            )
        self._api = BotApi(host.send, settings.api, token)
        self._bot = Bot(id=self._api.bot_id, username=settings.username)
        self._is_polling = settings.updates == "polling"
        self._secret = host.secret("telegram webhook").hex()

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the webhook; none with long polling."""
        if self._is_polling:
            return {}
        return {HOOK: Endpoint(read=self.read_delivery, repeats_heads=True)}

    def read_delivery(self, delivery: Delivery) -> HookResult:
        """Read an update that Telegram delivers.

        Raises:
            NotAuthenticated: it does not have the secret that was given to Telegram.
            InvalidRequest: it is not JSON.
        """
        shown = delivery.headers.get(SECRET_HEADER, "")
        given = shown.encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, self._secret.encode()):
            raise NotAuthenticated("This address takes updates of Telegram only.")
        incoming = read_update(read_payload(delivery.body), self._bot)
        return HookResult(events=() if incoming is None else (incoming,))

    def divide(self, conversation: str) -> tuple[str, str]:
        """Return the chat, and the topic, which its first message names."""
        chat, _, topic = conversation.partition("/")
        return chat, topic

    def invite(self, code: str) -> str:
        """Return a link that opens the bot with the code."""
        return f"Telegram: https://t.me/{self._bot.username}?start={code}"

    async def listen(self) -> None:
        """Register the webhook and wait, or poll, until cancelled."""
        with judged():
            if self._is_polling:
                await self._poll()
            else:
                await self._register()
                await asyncio.Event().wait()  # registered once a start, not again and again

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message: its files, its text in one or more pieces, its buttons."""
        with judged():
            try:
                return await self._send(build_calls(outgoing))
            except ApiError as error:
                if error.code != 400 or not error.mentions("url specified", "button_url_invalid"):
                    raise
            return await self._send(build_calls(outgoing, with_links=False))

    async def retract(self, conversation: str, message_ref: str) -> None:
        """Delete a message, which Telegram does within 48 hours."""
        chat, _ = parse_conversation(conversation)
        if not message_ref.isascii() or not message_ref.isdigit():
            raise Refused("Telegram has no such message.")
        params = {"chat_id": chat, "message_id": int(message_ref)}
        with judged():
            try:
                await self._api.call("deleteMessage", params)
            except ApiError as error:
                if not error.mentions("message to delete not found"):
                    raise

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        """Read a file of at most 20 MB."""
        with judged():
            return await self._api.download(file.ref, min(max_bytes, MOST_DOWNLOAD_BYTES))

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        """End the progress bar of a pressed button; show the choice if it counts."""
        choice = incoming.event
        if not isinstance(choice, Choice) or not choice.reply_to:
            return
        query, _, label = choice.reply_to.partition(" ")
        params: dict[str, object] = {"callback_query_id": query, "text": notice[:_MOST_NOTICE]}
        try:
            with judged():
                await self._api.call("answerCallbackQuery", params)
        except TryLater:
            raise
        except (
            Failed
        ):  # after a minute Telegram wants none any more; the choice counts all the same
            pass
        if notice or not choice.message_ref:
            return
        with suppress(ApiError, Failed):
            params = build_chosen(incoming.conversation, choice, label)
            await self._api.call("editMessageReplyMarkup", params)

    async def show_typing(self, incoming: Incoming) -> None:
        """Show that the bot is typing."""
        with suppress(ApiError, Failed):
            chat, topic = parse_conversation(incoming.conversation)
            params = {"chat_id": chat, "action": "typing"}
            if topic:
                params["message_thread_id"] = topic
            await self._api.call("sendChatAction", params)

    def check(self) -> AsyncIterator[Step]:
        """Try the token, the bot's name and how updates arrive."""
        way = self._check_polling if self._is_polling else self._check_webhook
        return try_steps(
            (
                ("Telegram accepts the bot's token.", self._check_token),
                ("The bot has the name in the settings.", self._check_name),
                ("Telegram delivers messages to the desk.", way),
            )
        )

    async def _check_token(self) -> str:
        return f"The bot is @{await self._read_name()}."

    async def _check_name(self) -> str:
        if (await self._read_name()).lower() != self._bot.username.lower():
            raise Failed("Set username to the bot's, or use the token of that bot.")
        return ""

    async def _read_name(self) -> str:
        with judged():
            bot = (await self._api.call("getMe", {})).part("result")
        return bot.text("username", 64)

    async def _check_polling(self) -> str:
        with judged():
            await self._remove_webhook()
        return "The desk polls for them."

    async def _check_webhook(self) -> str:
        with judged():
            await self._register()
            found = (await self._api.call("getWebhookInfo", {})).part("result")
        if found.text("url", 2048) != self._url:
            raise Failed("Another program has taken the webhook: use a bot of the desk's own.")
        last = found.text("last_error_message", 200)
        if last and found.number("last_error_date") > self.host.clock() - 600:
            raise Failed(f"Telegram reports: {last}")
        return f"{found.number('pending_update_count')} updates are waiting."

    async def _send(self, calls: list[Call]) -> SentMessage:
        ref, moved = "", 0
        for call in calls:
            params = call.params if not moved else {**call.params, "chat_id": moved}
            try:
                sent = await self._call(call, params)
            except ApiError as error:
                if error.new_chat:
                    moved = error.new_chat
                    sent = await self._call(call, _move(call.params, moved))
                elif call.params["chat_id"] > 0 and error.mentions("message thread not found"):
                    # the person has deleted the topic; the chat is still there
                    sent = await self._call(call, _move(call.params, call.params["chat_id"]))
                else:
                    raise
            ref = str(sent.part("result").number("message_id"))
        return SentMessage(message_ref=ref, conversation=str(moved) if moved else "")

    async def _call(self, call: Call, params: Mapping[str, object]) -> Payload:
        try:
            return await self._call_once(call, params)
        except ApiError as error:
            if not error.mentions("can't parse entities") or "parse_mode" not in params:
                raise
        name = "text" if "text" in params else "caption"
        plain = {key: value for key, value in params.items() if key != "parse_mode"}
        return await self._call_once(call, {**plain, name: call.plain})

    async def _call_once(self, call: Call, params: Mapping[str, object]) -> Payload:
        if call.file is not None:
            return await self._api.upload(call.method, params, call.file)
        return await self._api.call(call.method, params)

    async def _poll(self) -> None:
        await self._remove_webhook()
        offset = 0
        while True:
            params = {
                "offset": offset,
                "limit": MOST_UPDATES,
                "timeout": POLL_SECONDS,
                "allowed_updates": UPDATES,
            }
            found = await self._api.call(
                "getUpdates", params, seconds=POLL_SECONDS + 5, max_bytes=_MOST_POLL_BYTES
            )
            for update in found.parts("result"):
                incoming = read_update(update, self._bot)
                if incoming is not None:
                    await self.host.receive(incoming)
                # what follows confirms the update to Telegram, so it is on disk before
                offset = max(offset, update.number("update_id") + 1)

    async def _register(self) -> None:
        params = {
            "url": self._url,
            "secret_token": self._secret,
            "allowed_updates": UPDATES,
            "max_connections": 20,
        }
        await self._api.call("setWebhook", params)

    async def _remove_webhook(self) -> None:
        if (await self._api.call("getWebhookInfo", {})).part("result").text("url"):
            await self._api.call("deleteWebhook", {"drop_pending_updates": False})

    @property
    def _url(self) -> str:
        return f"{self.host.url}/transports/{self.name}/{HOOK}"


def _is_reachable(api: str, url: str) -> bool:
    """Return whether the API delivers to an address; one of the site's own to any (setWebhook)."""
    parts = urlsplit(url)
    is_public = parts.scheme == "https" and parts.port in _PORTS
    return is_public or api.startswith("http://")


def _move(params: Mapping[str, object], chat: int) -> dict[str, object]:
    """Return a message's parameters for another chat, where topics and messages have other ids."""
    dropped = {"message_thread_id", "reply_parameters"}
    return {**{key: value for key, value in params.items() if key not in dropped}, "chat_id": chat}
