"""The Slack transport."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from aitp_desk.desk.jobs.background_task import BackgroundTasks
from aitp_desk.transports.base import (
    Delivery,
    Endpoint,
    Failed,
    HookReply,
    HookResult,
    Host,
    Refused,
    Step,
    Transport,
    TryLater,
)
from aitp_desk.transports.events import Choice, Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage
from aitp_desk.transports.slack.blocks import (
    MOST_BUTTONS,
    MOST_CHARACTERS,
    make_answered,
    make_message,
)
from aitp_desk.transports.slack.connection import (
    SocketEnvelope,
    find_socket_url,
    serve_connection,
)
from aitp_desk.transports.slack.diagnosis import Diagnosis
from aitp_desk.transports.slack.failures import ApiRefusal
from aitp_desk.transports.slack.files import download, upload
from aitp_desk.transports.slack.forms import make_modal, unpack_form
from aitp_desk.transports.slack.places import (
    is_direct,
    is_id,
    make_ref,
    parse_place,
    parse_ref,
)
from aitp_desk.transports.slack.settings import SlackSettings
from aitp_desk.transports.slack.signature import check_signature
from aitp_desk.transports.slack.text import escape_text
from aitp_desk.transports.slack.wire import (
    Challenge,
    FormPress,
    decode_command,
    decode_event,
    decode_fields,
    decode_interaction,
)
from aitp_desk.transports.wire.texts import say

MOST_KNOWN_CHANNELS = 10_000
"""Most people whose direct conversation is kept in memory."""
_TOO_FORMATTED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


class SlackTransport(Transport):
    """Carries messages between a Slack workspace and the desk."""

    name = "slack"
    settings = SlackSettings
    # Slack takes one message per second and channel, and several hundred per minute in all
    bounds: ClassVar[Bounds] = Bounds(
        characters=MOST_CHARACTERS,
        per_second=4,
        per_conversation=1,
        buttons=MOST_BUTTONS,
    )

    def __init__(self, settings: SlackSettings, host: Host) -> None:
        super().__init__(settings, host)
        try:
            from aitp_desk.transports.slack.api import SlackApi
        except ImportError as error:
            raise ValueError(
                "Slack needs its library: install aitp-desk[slack] (slack-sdk)."
            ) from error
        self._settings = settings
        self._secret = ""
        self._token = _credential(host, settings.bot_token_env, "bot token", "xoxb-")
        api_url = settings.api_url.rstrip("/") + "/"
        self._api_url = api_url
        self._api = SlackApi(self._token, api_url, host.send)
        self._app_api: SlackApi | None = None
        if settings.mode == "socket":
            app_token = _credential(host, settings.app_token_env, "app-level token", "xapp-")
            self._app_api = SlackApi(app_token, api_url, host.send)
        else:
            self._secret = _credential(host, settings.signing_secret_env, "signing secret")
        self._channels: OrderedDict[str, str] = OrderedDict()

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the addresses of events, interactions and commands; none in Socket Mode."""
        if self._settings.mode == "socket":
            return {}
        return {
            "events": Endpoint(read=self._read_event),
            "interactions": Endpoint(read=self._read_interaction),
            "commands": Endpoint(read=self._read_command, max_bytes=64 * 1024),
        }

    def divide(self, conversation: str) -> tuple[str, str]:
        """Return the channel, and the first message of the thread."""
        place = parse_place(conversation)
        if place is None or not place.thread:
            return conversation, ""
        channel = msgspec.structs.replace(place, thread="")
        return str(channel), place.thread

    async def listen(self) -> None:
        """Receive events over Socket Mode, in the order in which Slack sends them."""
        if self._app_api is None:
            return
        follow_ups = BackgroundTasks()
        async with follow_ups.run():
            while True:
                url = await find_socket_url(self._app_api, self._api_url)
                await serve_connection(url, partial(self._handle, follow_ups))

    async def _handle(
        self, follow_ups: BackgroundTasks, envelope: SocketEnvelope
    ) -> dict[str, Any] | None:
        result, reply = self._read_envelope(envelope)
        for event in result.events:
            await self.host.receive(event)
        if result.follow_up is not None:
            follow_ups.start(result.follow_up())
        return reply

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Post a message to a thread, or directly to a person.

        Its files are sent to Slack before it and shown after it, so that a file that Slack refuses
        leaves no half of a message.
        """
        place = parse_place(outgoing.conversation or outgoing.recipient)
        if place is None:
            raise Refused("The message has no conversation of Slack.")
        channel = place.channel or await self._open_direct(place.user)
        thread = place.thread
        answered = parse_ref(outgoing.answers_ref)
        if is_direct(channel) and outgoing.is_reply and answered is not None:
            thread = answered.thread
        where = {"channel": channel} | ({"thread_ts": thread} if thread else {})
        files = [await self._upload(one.name, one.data) for one in outgoing.files]
        ref = await self._post(outgoing, where)
        if files:
            await self._show_files(files, channel, thread)
        begun = "" if outgoing.conversation else str(place)
        posted = parse_ref(ref)
        if place.channel and not place.thread and posted is not None:
            begun = str(msgspec.structs.replace(place, thread=posted.timestamp))
        return SentMessage(message_ref=ref or f"{channel}/{files[0]['id']}", conversation=begun)

    async def retract(self, conversation: str, message_ref: str) -> None:  # noqa: ARG002
        """Delete a message of the desk; one that is already deleted is fine."""
        ref = parse_ref(message_ref)
        if ref is None:
            raise Refused("Slack has no such message.")
        try:
            await self._api.call("chat.delete", {"channel": ref.channel, "ts": ref.timestamp})
        except ApiRefusal as error:
            if error.code != "message_not_found":
                raise

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        """Download a file of a message. The token goes to Slack's files alone."""
        url, size = file.ref, file.size
        if is_id(url):
            # files of other workspaces are announced by their id alone
            found = await self._api.call("files.info", {"file": url}, is_form=True)
            url, size = found.text("file", "url_private"), found.number("file", "size")
        if size > max_bytes:
            raise Refused("The file is too large.")
        if not self._is_file_url(url):
            raise Refused("The file is not on Slack's own server.")
        return await download(self.host.send, self._token, url, max_bytes)

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        """Show the choice in place of its buttons, or why it does not count.

        Only the person sees a notice. Where the choice cannot be shown, it counts all the same.
        """
        place, person = parse_place(incoming.conversation), parse_place(incoming.sender)
        event = incoming.event
        ref = parse_ref(event.message_ref) if isinstance(event, Choice) else None
        if ref is None or place is None or person is None or not isinstance(event, Choice):
            return
        if notice:
            thread = place.thread or ref.thread
            told = {"channel": ref.channel, "user": person.user, "text": escape_text(notice)}
            where = {"thread_ts": thread} if thread else {}
            await self._api.call("chat.postEphemeral", told | where)
        elif answered := make_answered(event.reply_to, incoming.sender_name):
            with suppress(Failed):
                shown = {"channel": ref.channel, "ts": ref.timestamp, **answered}
                await self._api.call("chat.update", {**shown, "parse": "none"})

    def check(self) -> AsyncIterator[Step]:
        """Try the token, its scopes and the way back."""
        return Diagnosis(self._settings, self.host, self._api, self._app_api, self._secret).run()

    def _read_event(self, delivery: Delivery) -> HookResult:
        self._check(delivery)
        found = decode_event(delivery.body)
        if isinstance(found, Challenge):
            return HookResult(reply=_json({"challenge": found.text}))
        return HookResult(events=(found,) if found else ())

    def _read_interaction(self, delivery: Delivery) -> HookResult:
        self._check(delivery)
        return self._interact(decode_fields(delivery.body).get("payload", "").encode())

    def _read_command(self, delivery: Delivery) -> HookResult:
        self._check(delivery)
        result, reply = self._command(decode_fields(delivery.body))
        return msgspec.structs.replace(result, reply=_json(reply)) if reply else result

    def _check(self, delivery: Delivery) -> None:
        check_signature(self._secret, delivery.headers, delivery.body, delivery.now)

    def _read_envelope(self, envelope: SocketEnvelope) -> tuple[HookResult, dict[str, Any] | None]:
        payload = bytes(envelope.payload)
        match envelope.type:
            case "events_api":
                found = decode_event(payload)
                return HookResult(events=(found,) if isinstance(found, Incoming) else ()), None
            case "interactive":
                return self._interact(payload), None
            case "slash_commands":
                fields = msgspec.json.decode(payload)
                return self._command(fields if isinstance(fields, dict) else {})
            case _:
                return HookResult(), None

    def _interact(self, payload: bytes) -> HookResult:
        found = decode_interaction(payload)
        if isinstance(found, FormPress):
            press = found
            return HookResult(follow_up=lambda: self._open_form(press))
        return HookResult(events=(found,) if found else ())

    def _command(self, fields: Mapping[str, Any]) -> tuple[HookResult, dict[str, Any] | None]:
        incoming = decode_command(fields)
        if incoming is None:
            return HookResult(), None
        notice = say("command_taken", self.host.languages[0])
        reply = {"response_type": "ephemeral", "text": escape_text(notice)}
        return HookResult(events=(incoming,)), reply

    async def _open_form(self, press: FormPress) -> None:
        form = unpack_form(press.value)
        if form is None:
            raise Refused("The button holds no form.")
        view = make_modal(form, press.conversation, press.message_ref)
        await self._api.call("views.open", {"trigger_id": press.trigger_id, "view": view})

    async def _open_direct(self, user: str) -> str:
        """Return the channel of the direct conversation with a person."""
        if channel := self._channels.get(user):
            self._channels.move_to_end(user)
            return channel
        opened = await self._api.call("conversations.open", {"users": user})
        channel = opened.text("channel", "id")
        if not is_id(channel):
            raise TryLater("Slack named no channel for the direct conversation.")
        self._channels[user] = channel
        if len(self._channels) > MOST_KNOWN_CHANNELS:
            self._channels.popitem(last=False)
        return channel

    async def _post(self, outgoing: Outgoing, where: Mapping[str, str]) -> str:
        """Post the text and what is below it; return the message's id, or none if there is none."""
        for is_plain in (False, True):
            message = make_message(outgoing, is_plain=is_plain)
            if not message["blocks"]:
                return ""
            quiet = {"unfurl_links": False, "unfurl_media": False, "link_names": False}
            try:
                posted = await self._api.call(
                    "chat.postMessage", {**where, **message, **quiet, "parse": "none"}
                )
            except ApiRefusal as error:
                if is_plain or error.code not in _TOO_FORMATTED:
                    raise
            else:
                return make_ref(
                    posted.text("channel") or where["channel"],
                    posted.text("ts"),
                    where.get("thread_ts"),
                )
        raise AssertionError("The plain message is returned or refused.")

    async def _upload(self, name: str, data: bytes) -> dict[str, str]:
        if not data:
            raise Refused("Slack takes no empty file.")
        arguments = {"filename": name or "file", "length": str(len(data))}
        ticket = await self._api.call("files.getUploadURLExternal", arguments, is_form=True)
        await upload(self.host.send, ticket.text("upload_url"), data)
        return {"id": ticket.text("file_id"), "title": name or "file"}

    async def _show_files(self, files: list[dict[str, str]], channel: str, thread: str) -> None:
        body: dict[str, Any] = {"files": files, "channel_id": channel}
        await self._api.call(
            "files.completeUploadExternal", body | ({"thread_ts": thread} if thread else {})
        )

    def _is_file_url(self, url: str) -> bool:
        try:
            found, own = urlsplit(url), urlsplit(self._settings.files_url)
            return (
                found.scheme == own.scheme
                and found.hostname == own.hostname
                and found.port == own.port
                and found.username is None
                and found.password is None
            )
        except ValueError:
            return False


def _credential(host: Host, variable: str, what: str, prefix: str = "") -> str:
    value = host.read_credential(variable, f"Slack's {what}").strip()
    if not value.startswith(prefix):
        raise ValueError(f"{variable} must hold Slack's {what}, which begins with {prefix}.")
    if not (value.isascii() and value.isprintable()):
        raise ValueError(f"{variable} holds characters that no {what} has.")
    return value


def _json(value: Any) -> HookReply:
    return HookReply(body=msgspec.json.encode(value))
