"""People in a Slack workspace, and what Slack delivers for them to the desk.

Requests are signed and expect an answer within three seconds; an event that is not confirmed is
delivered again, three times at most, as Slack does, only sooner.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlencode

import aiohttp
from aiohttp import ClientTimeout

from aitp_desk.transports.slack.signature import sign
from tests.support.transports import slack_payloads as payloads
from tests.support.transports.platform import Platform, Shown
from tests.support.transports.slack_payloads import BOT, BOT_USER
from tests.support.transports.slack_web_api import APP_TOKEN, BOT_TOKEN, SlackWebApi

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
ANSWER_SECONDS = 3.0
RETRY_SECONDS = (0.0, 0.05, 0.1)
"""Slack waits no time, one minute and five minutes."""
CHANNEL = "C00BOOKS1"


class Unconfirmed(AssertionError):
    """The desk has not confirmed what Slack delivered."""


class SlackPlatform(Platform):
    """A workspace with one app.

    Attributes:
        api: Slack's servers.
        deliveries: number and status of each request to the desk: 0 for none in time.
        replies: what the desk answered at once to each command.
    """

    name = "slack"

    def __init__(self, mode: Literal["events", "socket"] = "events") -> None:
        self.mode = mode
        self.api = SlackWebApi()
        self.deliveries: list[int] = []
        self.replies: list[Any] = []
        self._numbers = itertools.count(1)
        self._events: dict[str, tuple[str, dict[str, Any]]] = {}
        """By event id: the person, and the event's envelope."""
        self._opened: dict[tuple[str, str], dict[str, Any]] = {}
        self._is_verified = False
        self._http: aiohttp.ClientSession | None = None

    @property
    def settings(self) -> str:
        return (
            f'[transports.slack]\nmode = "{self.mode}"\napi_url = "{self.api.url}/api/"\n'
            f'files_url = "{self.api.url}/"\n'
        )

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_APP_TOKEN": APP_TOKEN,
        }

    # --- people -----------------------------------------------------------------------------------

    def user(self, person: str) -> str:
        """Return the user id of a person, who joins the workspace on first use."""
        id = "U" + person.encode().hex().upper()[:20]
        self.api.people.setdefault(id, True)
        return id

    async def write(self, person: str, text: str) -> str:
        return await self._say(person, text)

    async def write_in_thread(self, person: str, text: str, root: str) -> str:
        """Write in a thread of the direct conversation, below the message of an event."""
        return await self._say(person, text, thread_ts=self._message(root)["ts"])

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        file = self.api.store(name, "text/plain", data)
        return await self._say(person, text, subtype="file_share", files=[file])

    async def write_in_channel(self, person: str, text: str, root: str = "") -> str:
        """Write in a channel, in the thread of an event if one is named.

        A message that mentions the app is delivered twice: as ``app_mention`` and as ``message``.
        """
        channel = self.api.channel(CHANNEL)
        more = {"thread_ts": self._message(root)["ts"]} if root else {}
        message = payloads.message(
            text,
            channel=channel.id,
            ts=self.api.timestamp(),
            **{"user": self.user(person), **more},
        )
        channel.messages[message["ts"]] = message
        ids = [await self._deliver_event(person, message)]
        if f"<@{BOT_USER}>" in text:
            mention = {**message, "type": "app_mention"}
            del mention["channel_type"]
            ids.append(await self._deliver_event(person, mention))
        return ids[0]

    async def reply_in_channel(self, person: str, text: str, ref: str) -> str:
        """Write in the thread of a message of the channel."""
        channel = self.api.channel(CHANNEL)
        root = channel.messages[ref.split("/")[1]]
        message = payloads.message(
            text,
            channel=channel.id,
            ts=self.api.timestamp(),
            user=self.user(person),
            thread_ts=root.get("thread_ts") or root["ts"],
        )
        channel.messages[message["ts"]] = message
        return await self._deliver_event(person, message)

    async def ask(self, person: str, text: str) -> None:
        """Use the command ``/ask``; what the person reads at once is in :attr:`replies`."""
        user = self.user(person)
        fields = payloads.command(text, user=user, trigger_id=self.api.trigger())
        if self.mode == "socket":
            answer = await self.api.deliver(self._socket("slash_commands", fields, replies=True))
            self.replies.append(answer.get("payload"))
            return
        status, body = await self._post("commands", urlencode(fields).encode(), is_form=True)
        self._confirm(status)
        self.replies.append(json.loads(body) if body else None)

    async def edit(self, person: str, event_id: str, text: str) -> None:
        old = self._message(event_id)
        new = {**old, "text": text}
        self.api.channels[old["channel"]].messages[old["ts"]] = new
        await self._deliver_event(person, payloads.change(new, old))

    async def remove(self, person: str, event_id: str) -> None:
        old = self._message(event_id)
        del self.api.channels[old["channel"]].messages[old["ts"]]
        await self._deliver_event(person, payloads.removal(old))

    async def block(self, person: str) -> None:
        """Leave the workspace: Slack has no other way to block an app."""
        user = self.user(person)
        self.api.people[user] = False
        self.api.direct(user).is_archived = True

    async def shown(self, person: str) -> tuple[Shown, ...]:
        user = self.user(person)
        channel = self.api.direct(user)
        return tuple(
            [
                await self._show(user, channel.id, message)
                for message in list(channel.messages.values())
                if message.get("bot_id") == BOT
            ]
        )

    async def shown_in_channel(self) -> tuple[Shown, ...]:
        """Return what the desk has written in the channel."""
        channel = self.api.channel(CHANNEL)
        return tuple(
            [
                await self._show("", channel.id, message)
                for message in channel.messages.values()
                if message.get("bot_id") == BOT
            ]
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        (button,) = (one for one in self._buttons(ref) if one["text"]["text"] == label)
        await self._press(self.user(person), ref, button)

    async def submit(self, person: str, ref: str, values: Mapping[str, str]) -> None:
        user = self.user(person)
        (button,) = (one for one in self._buttons(ref) if "value" in one and _is_form(one))
        trigger = await self._press(user, ref, button)
        view = await self.api.view(trigger)
        for block in view["blocks"]:
            # Slack itself does not send a modal whose required fields are empty
            is_optional = block["type"] != "input" or block.get("optional")
            assert is_optional or values.get(block["block_id"]), block["block_id"]
        state = payloads.filled_in(view["blocks"], values)
        id = f"V{next(self._numbers):08d}"
        await self._interact(payloads.submission(view, state, id=id, user=user))

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        self.api.breaks += [retry_after] * count

    # --- deliveries -------------------------------------------------------------------------------

    async def redeliver(self, event_id: str) -> None:
        _, envelope = self._events[event_id]
        await self._deliver(envelope, attempt=1)

    async def deliver_forged(self, person: str, text: str) -> int:
        # in Socket Mode nobody else can send on the connection, and there is no address
        channel = self.api.direct(self.user(person))
        message = payloads.message(text, channel=channel.id, user=self.user(person))
        body = payloads.encode(payloads.envelope(message))
        status, _ = await self._post("events", body, secret="guessed")
        return status

    async def deliver_raw(self, hook: str, body: bytes, **headers: str) -> int:
        """Deliver bytes, signed, and return the status of the answer."""
        status, _ = await self._post(hook, body, headers=headers)
        return status

    async def verify(self) -> None:
        """Check the address, as Slack does when it is registered."""
        challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
        body = {"token": "J", "challenge": challenge, "type": "url_verification"}
        status, answer = await self._post("events", json.dumps(body).encode())
        self._confirm(status)
        if json.loads(answer) != {"challenge": challenge}:
            raise Unconfirmed("The challenge was not returned.")
        self._is_verified = True

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
        await self.api.close()

    async def _say(self, person: str, text: str, **more: Any) -> str:
        user = self.user(person)
        channel = self.api.direct(user)
        message = payloads.message(
            _typed(text), channel=channel.id, ts=self.api.timestamp(), **{"user": user, **more}
        )
        channel.messages[message["ts"]] = message
        return await self._deliver_event(person, message)

    async def _deliver_event(self, person: str, event: Mapping[str, Any]) -> str:
        id = f"Ev{next(self._numbers):08d}"
        envelope = payloads.envelope(event, id)
        self._events[id] = person, envelope
        await self._deliver(envelope)
        return id

    async def _deliver(self, envelope: Mapping[str, Any], attempt: int = 0) -> None:
        if self.mode == "socket":
            await self.api.deliver(self._socket("events_api", envelope, attempt))
            return
        if not self._is_verified:
            await self.verify()
        body = payloads.encode(envelope)
        status, _ = await self._post("events", body, headers=_retry(attempt, self.deliveries))
        for number, seconds in enumerate(RETRY_SECONDS, 1):
            if status // 100 == 2:
                return
            await asyncio.sleep(seconds)
            headers = _retry(number, self.deliveries)
            status, _ = await self._post("events", body, headers=headers)
        self._confirm(status)

    async def _interact(self, payload: Mapping[str, Any]) -> None:
        if self.mode == "socket":
            await self.api.deliver(self._socket("interactive", payload, replies=True))
            return
        body = payloads.encode_interaction(payload)
        status, answer = await self._post("interactions", body, is_form=True)
        self._confirm(status)
        if answer.strip():
            raise Unconfirmed("The person would see an error: the answer must be empty.")

    async def _press(self, user: str, ref: str, button: Mapping[str, Any]) -> str:
        channel, _, timestamp = ref.partition("/")
        trigger = self.api.trigger()
        message = self.api.channels[channel].messages[timestamp]
        await self._interact(
            payloads.press(
                button["action_id"],
                button.get("value"),
                channel=channel,
                ts=timestamp,
                thread=message.get("thread_ts"),
                label=button["text"]["text"],
                shown={name: message[name] for name in ("text", "blocks")},
                user=user,
                trigger_id=trigger,
                action_ts=self.api.timestamp(),
            )
        )
        return trigger

    async def _post(
        self,
        hook: str,
        body: bytes,
        *,
        secret: str = SECRET,
        is_form: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        if self._http is None:
            self._http = aiohttp.ClientSession(timeout=ClientTimeout(total=ANSWER_SECONDS))
        timestamp = str(int(time.time()))
        kind = "application/x-www-form-urlencoded" if is_form else "application/json"
        signed = {
            "Content-Type": kind,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(secret, timestamp, body),
            **(headers or {}),
        }
        url = f"{self.desk}/transports/slack/{hook}"
        try:
            async with self._http.post(url, data=body, headers=signed) as answer:
                status, found = answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            status, found = 0, b""
        self.deliveries.append(status)
        return status, found

    def _socket(
        self, kind: str, payload: Mapping[str, Any], attempt: int = 0, *, replies: bool = False
    ) -> dict[str, Any]:
        envelope = {
            "envelope_id": f"dbdd0ef3-1543-4f94-bfb4-{next(self._numbers):012d}",
            "type": kind,
            "payload": payload,
            "accepts_response_payload": replies,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        return envelope

    def _confirm(self, status: int) -> None:
        if status // 100 != 2:
            raise Unconfirmed(f"The desk answered with status {status}.")

    # --- what is shown ----------------------------------------------------------------------------

    def _message(self, event_id: str) -> dict[str, Any]:
        _, envelope = self._events[event_id]
        event = envelope["event"]
        found: dict[str, Any] = self.api.channels[event["channel"]].messages[event["ts"]]
        return found

    def _buttons(self, ref: str) -> list[dict[str, Any]]:
        channel, _, timestamp = ref.partition("/")
        message = self.api.channels[channel].messages[timestamp]
        return [
            element
            for block in message["blocks"]
            if block["type"] == "actions"
            for element in block["elements"]
        ]

    async def _show(self, user: str, channel: str, message: Mapping[str, Any]) -> Shown:
        ref = f"{channel}/{message['ts']}"
        buttons = self._buttons(ref)
        lines = [_words(one) for one in message["blocks"] if one["type"] == "rich_text"]
        for block in message["blocks"]:
            if block["type"] == "context":
                lines += [one["text"] for one in block["elements"]]
        lines += [file["name"] for file in message["files"]]
        fields: tuple[str, ...] = ()
        for button in buttons:
            if "value" in button and _is_form(button) and user:
                fields = await self._fields(user, ref, button)
        return Shown(
            ref=ref,
            text="\n".join(lines),
            buttons=tuple(one["text"]["text"] for one in buttons if not _is_form(one)),
            fields=fields,
            links=tuple(one["url"] for one in buttons if "url" in one),
        )

    async def _fields(self, user: str, ref: str, button: Mapping[str, Any]) -> tuple[str, ...]:
        """Open the form of a message once, as its reader does to see what it asks."""
        if (user, ref) not in self._opened:
            trigger = await self._press(user, ref, button)
            self._opened[user, ref] = await self.api.view(trigger)
        view = self._opened[user, ref]
        return tuple(block["block_id"] for block in view["blocks"] if block["type"] == "input")


def _typed(text: str) -> str:
    """Return what Slack sends for a text that a person types."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _retry(number: int, statuses: list[int]) -> dict[str, str]:
    if not number:
        return {}
    is_late = bool(statuses) and statuses[-1] == 0
    reason = "http_timeout" if is_late else "http_error"
    return {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}


def _is_form(button: Mapping[str, Any]) -> bool:
    return str(button["action_id"]).startswith("form")


def _words(block: Mapping[str, Any]) -> str:
    """Return what a rich text block shows: its words, and where its links lead."""
    found = ""
    for element in block["elements"]:
        if element["type"] == "rich_text_list":
            found += "".join(_words({"elements": [item]}) + "\n" for item in element["elements"])
        else:
            found += "".join(_word(one) for one in element["elements"]) + "\n"
    return found.rstrip("\n")


def _word(element: Mapping[str, Any]) -> str:
    url, text = element.get("url", ""), element.get("text", "")
    return text if url in {"", text} else f"{text} ({url})"


@asynccontextmanager
async def slack_platform(
    mode: Literal["events", "socket"] = "events",
) -> AsyncIterator[SlackPlatform]:
    """The workspace, on a free port of the loopback."""
    platform = SlackPlatform(mode)
    await platform.api.start()
    try:
        yield platform
    finally:
        await platform.close()


def socket_platform() -> AbstractAsyncContextManager[SlackPlatform]:
    """The workspace, for a desk that connects to it."""
    return slack_platform("socket")
