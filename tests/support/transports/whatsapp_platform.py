"""WhatsApp, as far as a business sees it: a stand-in for graph.facebook.com on the loopback.

It follows the documentation of the Cloud API (developers.facebook.com, WhatsApp Business Platform):
it checks the access token, members and lengths of messages, templates, files and the window of 24
hours, and answers with the codes that the API answers with. Deliveries are signed, and come again
until the response is 200.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import aiohttp
import msgspec
from aiohttp import web

from tests.support.transports.platform import Platform, Shown
from tests.support.transports.whatsapp_rules import Refusal, check_message, check_parameters

NUMBER_ID = "106540352242922"
ACCOUNT_ID, APP_ID = "102290129340398", "670843887433847"
TOKEN = "EAAJB6nL1oBO0ZCdZCxFakeT0kenF0rTests"
APP_SECRET = "7a1c5f0e9b3d4c2a8e6f1b0d3c5a7e9f"
VERIFY_TOKEN = "a word of the owner"
VERSION = "v26.0"
MOST_TRIES = 40
NOW = 1_800_000_000
FILE_TYPES = frozenset(
    "application/pdf text/plain image/jpeg image/png image/webp audio/ogg video/mp4".split()
)


class Sent(msgspec.Struct, kw_only=True):
    """A message of the business.

    Parameters:
        body: of the request.
        file: that it shows.
    """

    id: str
    person: str
    body: dict[str, Any]
    shown: str
    file: bytes = b""


class WhatsAppPlatform(Platform):
    """WhatsApp with one business phone number.

    Attributes:
        closed: people whose last message is older than 24 hours.
        closes_at_once: whether that is so as soon as they have written.
        hidden: people whose number the business does not see, as of those with a user name.
        templates: number of variables by name and language.
        template, number_in_settings: what the desk's settings have.
        read: ids of messages that were marked as read, each with a typing indicator or not.
        delivered: statuses of the desk's responses to deliveries, in order.
        broken: errors of the next messages: status and code.
        number_states: status and kind of the number, as Meta says them.
        subscribed_apps: ids of apps that get the messages of the account.
        callback: where the app's webhook leads; empty for the desk.
        override: where that of the number leads; empty for where the app's does.
        fields: to which the app's webhook has subscribed.
        media_url: where files are said to be; empty for this server.
    """

    name = "whatsapp"

    def __init__(self) -> None:
        self.url = ""
        self.sent: list[Sent] = []
        self.closed: set[str] = set()
        self.closes_at_once = False
        self.hidden: set[str] = set()
        self.templates: dict[tuple[str, str], int] = {("desk_message", "en"): 1}
        self.template = ""
        self.number_in_settings = ""
        self.read: list[tuple[str, bool]] = []
        self.delivered: list[int] = []
        self.broken: list[tuple[int, int]] = []
        self.number_states = ("CONNECTED", "CLOUD_API")
        self.subscribed_apps = [APP_ID]
        self.callback = ""
        self.override = ""
        self.fields = ["account_update", "messages"]
        self.media_url = ""
        self._people: dict[str, int] = {}
        self._numbers: dict[str, str] = {}
        self._media: dict[str, tuple[str, bytes]] = {}
        self._events: dict[str, bytes] = {}
        self._next = 1
        self._is_verified = False
        self._order = asyncio.Lock()
        self._runner: web.AppRunner | None = None
        self._client: aiohttp.ClientSession | None = None

    @classmethod
    async def start(cls) -> WhatsAppPlatform:
        """Start it."""
        platform = cls()
        app = web.Application(client_max_size=120 * 1024**2)
        app.router.add_post("/{version}/{node}/messages", platform._answer)
        app.router.add_post("/{version}/{node}/media", platform._answer)
        app.router.add_get("/{version}/{node}", platform._answer)
        app.router.add_get(
            "/{version}/{node}/{edge:subscribed_apps|subscriptions}", platform._answer
        )
        app.router.add_get("/whatsapp_business/attachments/", platform._give_file)
        platform._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await platform._runner.setup()
        await web.TCPSite(platform._runner, "127.0.0.1", 0).start()
        host, port = platform._runner.addresses[0][:2]
        platform.url = f"http://{host}:{port}"
        platform._client = aiohttp.ClientSession()
        return platform

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def settings(self) -> str:
        named = f'template = "{self.template}"\nphone_number = "{self.number_in_settings}"\n'
        return (
            f'[transports.whatsapp]\nphone_number_id = "{NUMBER_ID}"\n{named}api = "{self.url}"\n'
        )

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "WHATSAPP_ACCESS_TOKEN": TOKEN,
            "WHATSAPP_APP_SECRET": APP_SECRET,
            "WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
        }

    # what people do

    async def write(self, person: str, text: str) -> str:
        self.closed.discard(person)
        return await self.send_as(person, {"type": "text", "text": {"body": text}})

    async def redeliver(self, event_id: str) -> None:
        await self.deliver(self._events[event_id])

    async def deliver_forged(self, person: str, text: str) -> int:
        message = self.make_message(person, {"type": "text", "text": {"body": text}})
        body = self.make_delivery(person, messages=[message])
        return await self.post(body, {"X-Hub-Signature-256": "sha256=" + "0" * 64})

    async def shown(self, person: str) -> tuple[Shown, ...]:
        return tuple(
            Shown(
                ref=one.id,
                text=one.shown,
                buttons=tuple(choices_of(one).values()),
                links=links_of(one),
                files=(one.body["document"]["filename"],) if "document" in one.body else (),
            )
            for one in self.sent
            if one.person == person
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        message = next(one for one in self.sent if one.id == ref)
        token = next(key for key, value in choices_of(message).items() if value == label)
        kind = f"{message.body['interactive']['type']}_reply"
        reply = {"id": token, "title": label}
        await self.send_as(
            person,
            {
                "type": "interactive",
                "interactive": {"type": kind, kind: reply},
                "context": {"from": "15550783881", "id": ref},
            },
        )

    async def edit(self, person: str, event_id: str, text: str) -> None:
        changed = {"type": "text", "text": {"body": text}}
        edit = {"original_message_id": event_id, "message": changed}
        await self.send_as(person, {"type": "edit", "edit": edit})

    async def remove(self, person: str, event_id: str) -> None:
        await self.send_as(person, {"type": "revoke", "revoke": {"original_message_id": event_id}})

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        media_id = self.keep_media("text/plain", data)
        document = {"id": media_id, "filename": name, "mime_type": "text/plain", "sha256": "x"}
        content = {"type": "document", "document": {**document, "caption": text}}
        return await self.send_as(person, content)

    async def block(self, person: str) -> None:
        # the platform tells a business nothing of it
        await self.write(person, "STOP")

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        self.broken += [(429, 130429) if retry_after else (500, 131000)] * count

    # what the tests of the transport need on top

    def number(self, person: str) -> str:
        """Return a person's phone number."""
        number = self._people.setdefault(person, len(self._people) + 10_000)
        return self._numbers.get(person) or f"49151000{number}"

    def user_id(self, person: str) -> str:
        """Return a person's business-scoped user id."""
        self.number(person)
        return f"DE.10203040{self._people[person]}"

    def hand_over(self, person: str, to: str) -> None:
        """Give a person's number to another person."""
        self._numbers[to] = self.number(person)
        self._numbers[person] = "49150999"

    def make_message(self, person: str, content: dict[str, Any]) -> dict[str, Any]:
        """Return a message with its head."""
        self._next += 1
        head = {
            "from": self.number(person),
            "from_user_id": self.user_id(person),
            "id": f"wamid.HBgLMTY1MDM4{self._next:06}AA==",
            "timestamp": str(NOW),
        }
        if person in self.hidden:
            del head["from"]
        return {**head, **content}

    def make_delivery(self, person: str, **value: Any) -> bytes:
        """Return the body of a delivery, written as Meta writes JSON."""
        contact = {
            "profile": {"name": person.title()},
            "wa_id": self.number(person),
            "user_id": self.user_id(person),
        }
        if person in self.hidden:
            del contact["wa_id"]
        body = {
            "object": "whatsapp_business_account",
            "entry": [
                {
                    "id": "102290129340398",
                    "changes": [
                        {
                            "field": "messages",
                            "value": {
                                "messaging_product": "whatsapp",
                                "metadata": {
                                    "display_phone_number": "15550783881",
                                    "phone_number_id": NUMBER_ID,
                                },
                                "contacts": [contact],
                                **value,
                            },
                        }
                    ],
                }
            ],
        }
        return json.dumps(body, separators=(",", ":")).replace("/", "\\/").encode()

    async def send_as(self, person: str, content: dict[str, Any]) -> str:
        """Deliver a message until it is acknowledged, and return its id."""
        message = self.make_message(person, content)
        body = self.make_delivery(person, messages=[message])
        self._events[message["id"]] = body
        await self.deliver(body)
        return str(message["id"])

    async def deliver_status(self, ref: str, status: str, code: int = 0) -> None:
        """Deliver what became of a message."""
        message = next(one for one in self.sent if one.id == ref)
        about: dict[str, Any] = {
            "id": ref,
            "status": status,
            "timestamp": str(NOW),
            "recipient_id": self.number(message.person),
            "recipient_user_id": self.user_id(message.person),
            "biz_opaque_callback_data": message.body.get("biz_opaque_callback_data", ""),
        }
        if code:
            about["errors"] = [{"code": code, "title": "x", "message": "x", "error_data": {}}]
        await self.deliver(self.make_delivery(message.person, statuses=[about]))

    def keep_media(self, content_type: str, data: bytes) -> str:
        """Keep a file, and return its id."""
        media_id = f"27548594414{len(self._media):05}"
        self._media[media_id] = (content_type, data)
        return media_id

    # deliveries

    async def deliver(self, body: bytes) -> None:
        """Deliver until the response is 200: one delivery at a time, in order."""
        async with self._order:
            await self._verify()
            for _ in range(MOST_TRIES):
                if await self.post(body, sign(body)) == 200:
                    return
                await asyncio.sleep(0.05)
        raise AssertionError(f"The desk has refused a delivery: {self.delivered[-1]}.")

    async def post(self, body: bytes, headers: Mapping[str, str]) -> int:
        """Deliver once, and return the response's status."""
        assert self._client is not None
        sent = {"Content-Type": "application/json", "User-Agent": "facebookexternalua", **headers}
        async with self._client.post(self._hook, data=body, headers=sent) as response:
            self.delivered.append(response.status)
            return response.status

    async def handshake(self, verify_token: str = VERIFY_TOKEN) -> tuple[int, str]:
        """Verify the webhook as the dashboard does, and return status and body."""
        assert self._client is not None
        query = {
            "hub.mode": "subscribe",
            "hub.challenge": "1158201444",
            "hub.verify_token": verify_token,
        }
        async with self._client.get(self._hook, params=query) as response:
            return response.status, await response.text()

    async def _verify(self) -> None:
        if not self._is_verified:
            assert await self.handshake() == (200, "1158201444")
            self._is_verified = True

    @property
    def _hook(self) -> str:
        return f"{self.desk.rstrip('/')}/transports/whatsapp/webhook"

    # the API

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            return web.json_response(await self._call(request))
        except Refusal as refusal:
            error = {
                "message": refusal.message,
                "type": "OAuthException",
                "code": refusal.code,
                "error_data": {"messaging_product": "whatsapp", "details": refusal.details},
                "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
            }
            return web.json_response({"error": error}, status=refusal.status)

    async def _call(self, request: web.Request) -> dict[str, Any]:
        edge = request.match_info.get("edge", "")
        token = f"{APP_ID}|{APP_SECRET}" if edge == "subscriptions" else TOKEN
        if request.headers.get("Authorization") != f"Bearer {token}":
            raise Refusal(401, 190, "Invalid OAuth access token - Cannot parse access token")
        if request.match_info["version"] != VERSION:
            raise Refusal(400, 2635, "(#2635) You are calling a deprecated version")
        node = request.match_info["node"]
        if edge:
            return {"data": self._list(node, edge)}
        if request.method == "GET":
            return self._describe(node, request)
        if node != NUMBER_ID:
            raise Refusal(400, 33, f"Unsupported post request. Object with ID '{node}' is missing")
        if request.path.endswith("/media"):
            return await self._take_media(request)
        body = await request.json()
        if body.get("status") == "read":
            return self._mark(body)
        return self._take(body)

    def _describe(self, node: str, request: web.Request) -> dict[str, Any]:
        if node == NUMBER_ID:
            expected = hmac.new(APP_SECRET.encode(), TOKEN.encode(), sha256).hexdigest()
            if request.query.get("appsecret_proof", expected) != expected:
                raise Refusal(400, 100, "Invalid appsecret_proof provided in the API argument")
            return {"id": node, **self._describe_number(request.query["fields"].split(","))}
        if node not in self._media or request.query.get("phone_number_id") != NUMBER_ID:
            raise Refusal(400, 100, f"Unsupported get request. Object with ID '{node}' is missing")
        content_type, data = self._media[node]
        base = self.media_url or f"{self.url}/whatsapp_business/attachments/"
        return {
            "messaging_product": "whatsapp",
            "url": f"{base}?mid={node}&ext=1&hash=a",
            "mime_type": content_type,
            "sha256": sha256(data).hexdigest(),
            "file_size": len(data),
            "id": node,
        }

    def _describe_number(self, fields: list[str]) -> dict[str, Any]:
        status, platform = self.number_states
        entities = {"PHONE_NUMBER": NUMBER_ID, "WABA": ACCOUNT_ID, "APP": APP_ID}
        known: dict[str, Any] = {
            "id": NUMBER_ID,
            "display_phone_number": "+1 555-078-3881",
            "verified_name": "L",
            "status": status,
            "platform_type": platform,
            "health_status": {
                "can_send_message": "AVAILABLE",
                "entities": [{"entity_type": one, "id": id} for one, id in entities.items()],
            },
            "webhook_configuration": {"application": self.callback or self._hook}
            | ({"phone_number": self.override} if self.override else {}),
        }
        if unknown := [one for one in fields if one not in known]:
            raise Refusal(400, 100, f"(#100) Tried accessing nonexisting field ({unknown[0]})")
        return {name: known[name] for name in fields}

    def _list(self, node: str, edge: str) -> list[dict[str, Any]]:
        if node != (APP_ID if edge == "subscriptions" else ACCOUNT_ID):
            raise Refusal(400, 100, f"Unsupported get request. Object with ID '{node}' is missing")
        if edge == "subscribed_apps":
            return [
                {
                    "whatsapp_business_api_data": {
                        "id": one,
                        "name": "L",
                        "link": "https://l.example",
                    }
                }
                for one in self.subscribed_apps
            ]
        fields = [{"name": one, "version": VERSION} for one in self.fields]
        subscription = {"object": "whatsapp_business_account", "active": True, "fields": fields}
        return [{**subscription, "callback_url": self.callback or self._hook}]

    async def _give_file(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.Response(status=401)
        content_type, data = self._media[request.query["mid"]]
        return web.Response(body=data, content_type=content_type)

    async def _take_media(self, request: web.Request) -> dict[str, Any]:
        form = await request.post()
        file = form["file"]
        if form.get("messaging_product") != "whatsapp" or not isinstance(file, web.FileField):
            raise Refusal(400, 100, "(#100) Invalid parameter")
        if file.content_type not in FILE_TYPES:
            raise Refusal(400, 131053, "(#131053) Media upload error", "Unsupported file type")
        return {"id": self.keep_media(file.content_type, file.file.read())}

    def _mark(self, body: dict[str, Any]) -> dict[str, Any]:
        typing = body.get("typing_indicator")
        if typing not in (None, {"type": "text"}) or not body["message_id"].startswith("wamid."):
            raise Refusal(400, 131009, "(#131009) Parameter value is not valid")
        self.read.append((body["message_id"], typing is not None))
        return {"success": True}

    def _take(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.broken:
            status, code = self.broken.pop(0)
            raise Refusal(status, code, f"(#{code})")
        check_message(body)
        person = self._find(body)
        kind = body["type"]
        if kind != "template" and (person in self.closed or self.closes_at_once):
            raise Refusal(400, 131047, "(#131047) Re-engagement message")
        content = body[kind]
        shown, file = "", b""
        match kind:
            case "text":
                shown = content["body"]
            case "interactive":
                shown = content["body"]["text"]
            case "template":
                named = (content["name"], content["language"]["code"])
                if named not in self.templates:
                    raise Refusal(404, 132001, "(#132001) Template name does not exist")
                words = check_parameters(content["components"], self.templates[named])
                shown = f"The Paper Lantern writes: {words[0]}"
            case _:
                if content["id"] not in self._media:
                    raise Refusal(400, 100, "(#100) Invalid parameter", "no media of this id")
                shown, file = content.get("caption", ""), self._media[content["id"]][1]
        self._next += 1
        ref = f"wamid.HBgLMTY1MDM4{self._next:06}EE=="
        self.sent.append(Sent(id=ref, person=person, body=body, shown=shown, file=file))
        address = body.get("to") or body["recipient"]
        return {
            "messaging_product": "whatsapp",
            "contacts": [{"input": address, "wa_id": address}],
            "messages": [{"id": ref, "message_status": "accepted"}],
        }

    def _find(self, body: dict[str, Any]) -> str:
        for person in self._people:
            is_number = body.get("to") == self.number(person) and person not in self.hidden
            if is_number or body.get("recipient") == self.user_id(person):
                return person
        raise Refusal(400, 131026, "(#131026) Message undeliverable")


def sign(body: bytes) -> dict[str, str]:
    """Return the header that proves a body to be of Meta."""
    digest = hmac.new(APP_SECRET.encode(), body, sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={digest}"}


def choices_of(message: Sent) -> dict[str, str]:
    """Return the tokens and labels of what can be chosen."""
    if message.body["type"] != "interactive":
        return {}
    action = message.body["interactive"]["action"]
    replies = [button["reply"] for button in action.get("buttons", [])]
    rows = [row for section in action.get("sections", []) for row in section["rows"]]
    return {one["id"]: one.get("description") or one["title"] for one in (*replies, *rows)}


def links_of(message: Sent) -> tuple[str, ...]:
    """Return where the button of a message leads."""
    interactive = message.body.get("interactive", {})
    found = interactive.get("action", {}).get("parameters", {}).get("url")
    return (found,) if found else ()


@asynccontextmanager
async def whatsapp_platform() -> AsyncIterator[Platform]:
    """WhatsApp, which delivers to a webhook."""
    platform = await WhatsAppPlatform.start()
    try:
        yield platform
    finally:
        await platform.close()
