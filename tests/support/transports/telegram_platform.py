"""Telegram, from the side of the people on it, and its deliveries to the desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.support.transports.platform import Platform, Shown
from tests.support.transports.telegram_api import BOT_ID, TOKEN, Chat, Sent, TelegramApi, buttons_of
from tests.support.transports.telegram_html import count_units

MOST_TRIES = 40
PATH = "/transports/telegram/updates"


class TelegramPlatform(TelegramApi, Platform):
    """Telegram with one bot.

    Attributes:
        delivered: statuses of the desk's responses to deliveries, in order.
    """

    name = "telegram"

    def __init__(self, *, updates: str = "webhook") -> None:
        super().__init__()
        self.delivered: list[int] = []
        self._mode = updates
        self._people: dict[str, int] = {}
        self._next_update = 730_000_001
        self._order = asyncio.Lock()
        self._client: aiohttp.ClientSession | None = None

    @classmethod
    async def start(cls, *, updates: str = "webhook") -> TelegramPlatform:
        """Start it."""
        platform = cls(updates=updates)
        await platform.open()
        platform._client = aiohttp.ClientSession()
        return platform

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        await self.shut()

    @property
    def settings(self) -> str:
        return (
            f'[transports.telegram]\nusername = "{self.username}"\nupdates = "{self._mode}"\n'
            f'api = "{self.url}"\n'
        )

    @property
    def environment(self) -> Mapping[str, str]:
        return {"TELEGRAM_BOT_TOKEN": TOKEN}

    async def write(self, person: str, text: str) -> str:
        return await self.deliver("message", self.make_message(person, text))

    async def redeliver(self, event_id: str) -> None:
        update_id = int(event_id.partition(":")[2])
        if self._mode == "webhook":
            await self._post(self.updates[update_id])
            return
        async with self.change:  # as if the request that has confirmed it were lost
            self.unconfirmed.append(update_id)
            self.change.notify_all()
            await self.change.wait_for(lambda: not self.unconfirmed)

    async def deliver_forged(self, person: str, text: str) -> int:
        update = self._make_update("message", self.make_message(person, text))
        self.updates.pop(update["update_id"])
        return await self._post_once(update, secret="A" * 64)

    async def shown(self, person: str) -> tuple[Shown, ...]:
        return tuple(
            Shown(
                ref=str(one.id),
                text=one.plain,
                buttons=tuple(b["text"] for b in buttons_of(one)),
                links=tuple(b["url"] for b in buttons_of(one) if "url" in b),
                files=(one.file_name,) if one.file else (),
            )
            for one in self.sent
            if one.chat == self.user(person)["id"]
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        await self.press_in(self.user(person)["id"], person, ref, label)

    async def press_in(self, chat: int, person: str, ref: str, label: str) -> str:
        """Press a button in a chat, and return the press's id."""
        message = next(one for one in self.sent if one.chat == chat and str(one.id) == ref)
        button = next(one for one in buttons_of(message) if one["text"] == label)
        query = f"77{self._next_update}"
        shown = {
            "message_id": message.id,
            "date": 1_800_000_000,
            "chat": self.describe_chat(chat),
            "text": message.plain,
            "reply_markup": message.params["reply_markup"],
        }
        if topic := message.params.get("message_thread_id"):
            shown |= {"message_thread_id": topic, "is_topic_message": True}
        self.queries.add(query)
        await self.deliver(
            "callback_query",
            {
                "id": query,
                "from": self.user(person),
                "message": shown,
                "chat_instance": "1",
                "data": button["callback_data"],
            },
        )
        return query

    async def edit(self, person: str, event_id: str, text: str) -> None:
        update = self.updates[int(event_id.partition(":")[2])]
        message = {**update["message"], "text": text, "edit_date": 1_800_000_100}
        await self.deliver("edited_message", message)

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        message = self.make_message(person, "")
        del message["text"]
        file_id = self.keep_file(name, data)
        message["document"] = {
            "file_id": file_id,
            "file_unique_id": "u",
            "file_name": name,
            "mime_type": "text/plain",
            "file_size": len(data),
        }
        if text:
            message["caption"] = text
        return await self.deliver("message", message)

    async def block(self, person: str) -> None:
        user = self.user(person)
        self.chats[user["id"]].fault = "Forbidden: bot was blocked by the user"
        bot = {"id": BOT_ID, "is_bot": True, "first_name": "Lantern", "username": self.username}
        await self.deliver(
            "my_chat_member",
            {
                "chat": self.describe_chat(user["id"]),
                "from": user,
                "date": 1_800_000_000,
                "old_chat_member": {"user": bot, "status": "member"},
                "new_chat_member": {"user": bot, "status": "kicked", "until_date": 0},
            },
        )

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        self.broken += [retry_after] * count

    # what the tests of the transport need on top

    def user(self, person: str) -> dict[str, Any]:
        """Return a person as the API describes one."""
        number = self._people.setdefault(person, 5_000_001 + len(self._people))
        self.chats.setdefault(number, Chat(id=number, kind="private", title=person))
        return {"id": number, "is_bot": False, "first_name": person, "language_code": "en"}

    def add_group(self, chat_id: int, title: str, topics: set[int] | None = None) -> None:
        """Let the bot be a member of a group."""
        kind = "supergroup" if chat_id < -(10**12) else "group"
        self.chats[chat_id] = Chat(id=chat_id, kind=kind, title=title, topics=topics or set())

    async def upgrade_group(self, old: int, new: int, person: str) -> None:
        """Make a group a supergroup; the API tells of it in both chats."""
        self.add_group(new, self.chats[old].title)
        self.chats[old].became = new
        for chat, told in (
            (old, {"migrate_to_chat_id": new}),
            (new, {"migrate_from_chat_id": old}),
        ):
            message = self.make_message(person, "", chat=chat) | told
            del message["text"]
            await self.deliver("message", message)

    def make_message(
        self, person: str, text: str, *, chat: int = 0, topic: int = 0, reply_to: int = 0
    ) -> dict[str, Any]:
        """Return a message with the entities that Telegram finds in it."""
        user = self.user(person)
        message: dict[str, Any] = {
            "message_id": self.take_message_id(),
            "from": user,
            "chat": self.describe_chat(chat or user["id"]),
            "date": 1_800_000_000,
            "text": text,
        }
        if topic:
            message |= {"message_thread_id": topic, "is_topic_message": True}
        if reply_to:
            bot = {"id": BOT_ID, "is_bot": True, "first_name": "L", "username": self.username}
            message["reply_to_message"] = {
                "message_id": reply_to, "date": 1, "chat": message["chat"], "from": bot,
            }  # fmt: skip
        if entities := find_entities(text):
            message["entities"] = entities
        return message

    async def deliver(self, kind: str, content: dict[str, Any]) -> str:
        """Deliver an update until it is acknowledged, and return the id of the event."""
        update = self._make_update(kind, content)
        if self._mode == "polling":
            async with self.change:
                self.waiting.append(update["update_id"])
                self.change.notify_all()
                await self.change.wait_for(lambda: update["update_id"] not in self.waiting)
        else:
            await self._post(update)
        return f"{BOT_ID}:{update['update_id']}"

    def keep_file(self, name: str, data: bytes) -> str:
        """Keep a file that a person sends, and return its id."""
        file_id = f"BQACAgIAAxkBAAI{len(self.files)}_-a"
        self.files[file_id] = (
            f"documents/file_{len(self.files)}.{name.rpartition('.')[2]}",
            data,
        )
        return file_id

    def _make_update(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        update = {"update_id": self._next_update, kind: content}
        self.updates[self._next_update] = update
        self._next_update += 1
        return update

    async def _post(self, update: dict[str, Any]) -> None:
        """Deliver until the response is of status 2xx: one update at a time, in order."""
        async with self._order:
            for _ in range(MOST_TRIES):
                if 200 <= await self._post_once(update) < 300:
                    return
                await asyncio.sleep(0.05)
        raise AssertionError(f"The desk has refused an update: {self.delivered[-1]}.")

    async def _post_once(self, update: dict[str, Any], *, secret: str = "") -> int:
        assert self._client is not None
        path = PATH
        if self._mode == "webhook":
            async with asyncio.timeout(30), self.change:  # a desk registers when it starts
                await self.change.wait_for(lambda: self.webhook)
            path = urlsplit(self.webhook["url"]).path
            allowed = self.webhook.get("allowed_updates", [])
            if set(update).isdisjoint(allowed):
                return 200
        shown = secret or self.webhook["secret_token"]
        headers = {"X-Telegram-Bot-Api-Secret-Token": shown}
        base = self.desk.rstrip("/") or self.webhook["url"].removesuffix(path)
        async with self._client.post(base + path, json=update, headers=headers) as response:
            self.delivered.append(response.status)
            return response.status


@asynccontextmanager
async def telegram_platform() -> AsyncIterator[Platform]:
    """Telegram, which delivers to a webhook."""
    platform = await TelegramPlatform.start()
    try:
        yield platform
    finally:
        await platform.close()


@asynccontextmanager
async def polling_platform() -> AsyncIterator[Platform]:
    """Telegram, which is asked for updates."""
    platform = await TelegramPlatform.start(updates="polling")
    try:
        yield platform
    finally:
        await platform.close()


def _labels(message: Sent) -> tuple[str, ...]:
    return tuple(button["text"] for button in buttons_of(message))


def find_entities(text: str) -> list[dict[str, Any]]:
    """Return the mentions and commands of a text, as Telegram's servers find them."""
    found: list[dict[str, Any]] = []
    at = 0
    for word in text.split(" "):
        name = word.rstrip(",.!?:")
        kind = {"@": "mention", "/": "bot_command"}.get(name[:1])
        if kind and len(name) > 1:
            found.append(
                {"type": kind, "offset": count_units(text[:at]), "length": count_units(name)}
            )
        at += len(word) + 1
    return found
