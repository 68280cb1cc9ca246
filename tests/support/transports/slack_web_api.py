"""Slack's Web API, its files and Socket Mode, over the loopback, for one workspace.

It answers with status 200 and ``ok``, as Slack does, and with 429 at its limits.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from aiohttp import WSMsgType, web

from tests.support.transports import slack_rules as rules
from tests.support.transports.slack_payloads import APP, BOT, BOT_USER, TEAM
from tests.support.transports.slack_rules import Refusal

BOT_TOKEN = "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy"
APP_TOKEN = "xapp-1-A0KRD7HC3-1234567890-0123456789abcdef"
SCOPES = (
    "app_mentions:read,channels:history,chat:write,commands,files:read,files:write,"
    "groups:history,im:history,im:write"
)
TRIGGER_SECONDS = 3.0
MOST_IN_A_SECOND = 5
"""Slack takes a message per second and channel, and short bursts."""


class Channel:
    """A channel, or a direct conversation.

    Attributes:
        user: of a direct conversation.
        messages: by timestamp, in order.
        posted: when the desk has posted, as far as the limit counts.
    """

    def __init__(self, id: str, user: str = "") -> None:
        self.id = id
        self.user = user
        self.is_archived = False
        self.has_bot = True
        self.messages: dict[str, dict[str, Any]] = {}
        self.posted: deque[float] = deque(maxlen=MOST_IN_A_SECOND)


class SlackWebApi:
    """The servers of Slack.

    Attributes:
        url: without a final slash.
        asked: the methods that were called, in order, with their arguments.
        people: user ids of the workspace; those that are False are deactivated.
        channels: by id.
        ephemeral: what single people saw, in order: user, channel and text.
        views: opened modals, by trigger id.
        breaks: what the next messages of the desk are answered with instead: seconds of
            ``Retry-After``, or 0 for status 503.
        refusals: error codes with which the next messages of the desk are refused.
        foreign_link: the address that Socket Mode gives instead of its own; empty for its own.
        scopes: of the bot token.
        revoked: whether the app was uninstalled.
        links: open connections of Socket Mode.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.people: dict[str, bool] = {}
        self.channels: dict[str, Channel] = {}
        self.ephemeral: list[tuple[str, str, str]] = []
        self.views: dict[str, dict[str, Any]] = {}
        self.breaks: list[int] = []
        self.refusals: list[str] = []
        self.foreign_link = ""
        self.scopes = SCOPES
        self.revoked = False
        self.links: list[web.WebSocketResponse] = []
        self.files: dict[str, dict[str, Any]] = {}
        self.token_leaks: list[str] = []
        self.linked = asyncio.Event()
        self._triggers: dict[str, float] = {}
        self._opened: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._acknowledged: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Begin to serve on a free port of the loopback."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_post("/upload/v1/{file}", self._upload)
        app.router.add_get("/files-pri/{file}/{name}", self._download)
        app.router.add_get("/signin", self._sign_in)
        app.router.add_get("/elsewhere/{name}", self._elsewhere)
        app.router.add_get("/link/", self._link)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def close(self) -> None:
        """End the server and its connections."""
        for link in self.links:
            await link.close()
        if self._runner is not None:
            await self._runner.cleanup()

    # --- what people do ---------------------------------------------------------------------------

    def direct(self, user: str) -> Channel:
        """Return the direct conversation of the app with a person."""
        for channel in self.channels.values():
            if channel.user == user:
                return channel
        return self._add(Channel(f"D{next(self._numbers):08d}", user))

    def channel(self, id: str) -> Channel:
        """Return a channel to which the app was invited."""
        return self.channels.get(id) or self._add(Channel(id))

    def _add(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        return channel

    def timestamp(self) -> str:
        """Return a new message's timestamp."""
        return f"{int(time.time())}.{next(self._numbers):06d}"

    def trigger(self) -> str:
        """Return a trigger id, which can be used once within three seconds."""
        id = f"{next(self._numbers)}.{TEAM}.d8c1bb837935619ccad0f624c448ffb3"
        self._triggers[id] = time.monotonic()
        return id

    async def view(self, trigger_id: str) -> dict[str, Any]:
        """Wait for the modal that the desk opens for a trigger."""
        async with asyncio.timeout(TRIGGER_SECONDS):
            await self._opened[trigger_id].wait()
        return self.views[trigger_id]

    def store(self, name: str, content_type: str, data: bytes) -> dict[str, Any]:
        """Keep a file of a person, and return it as messages show it."""
        id = f"F{next(self._numbers):08d}"
        file = {
            "id": id,
            "name": name,
            "title": name,
            "mimetype": content_type,
            "mode": "hosted",
            "size": len(data),
            "url_private": f"{self.url}/files-pri/{TEAM}-{id}/{name}",
            "data": data,
        }
        self.files[id] = file
        return {key: value for key, value in file.items() if key != "data"}

    async def deliver(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """Send an envelope of Socket Mode, and wait for its acknowledgement."""
        await self.linked.wait()
        link = self.links[-1]
        waiting = asyncio.get_running_loop().create_future()
        self._acknowledged[envelope["envelope_id"]] = waiting
        await link.send_json(envelope)
        async with asyncio.timeout(TRIGGER_SECONDS):
            answer: dict[str, Any] = await waiting
        return answer

    async def relink(self) -> None:
        """Ask the desk for a new connection, and wait until it is there."""
        await self.linked.wait()
        old = self.links[-1]
        self.linked.clear()
        await old.send_json({"type": "disconnect", "reason": "refresh_requested"})
        async with asyncio.timeout(TRIGGER_SECONDS):
            await self.linked.wait()

    # --- the API ----------------------------------------------------------------------------------

    async def _call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        headers = {"x-oauth-scopes": self.scopes}
        try:
            arguments = await self._arguments(method, request)
            self.asked.append((method, arguments))
            self._break(method)
            result = getattr(self, f"_{method.replace('.', '_')}")(arguments)
        except Refusal as refusal:
            return web.json_response(refusal.body, headers=headers)
        except web.HTTPException as error:
            body = json.dumps({"ok": False, "error": "ratelimited"})
            error.content_type = "application/json"
            error.text = body
            raise
        return web.json_response({"ok": True, **result}, headers=headers)

    async def _arguments(self, method: str, request: web.Request) -> dict[str, Any]:
        if method not in rules.SCOPES:
            raise Refusal("unknown_method", req_method=method)
        self._check_token(method, request)
        is_json = request.content_type == "application/json"
        if is_json and method not in rules.FORM_ALONE:
            arguments = await request.json()
        elif is_json:
            arguments = {}
        else:
            arguments = {**request.query, **await request.post()}
        required, optional = rules.ARGUMENTS[method]
        missing = sorted(required - set(arguments))
        if missing:
            raise Refusal("invalid_arguments", f"missing required field: {missing[0]}")
        unknown = sorted(set(arguments) - required - optional)
        if unknown:
            raise Refusal("invalid_arg_name", unknown[0])
        return dict(arguments)

    def _check_token(self, method: str, request: web.Request) -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not token:
            raise Refusal("not_authed")
        is_app = method == "apps.connections.open"
        if token == (BOT_TOKEN if is_app else APP_TOKEN):
            raise Refusal("not_allowed_token_type")
        if token != (APP_TOKEN if is_app else BOT_TOKEN):
            raise Refusal("invalid_auth")
        if self.revoked:
            raise Refusal("token_revoked")
        for scope in rules.SCOPES[method]:
            if not is_app and scope not in self.scopes.split(","):
                raise Refusal("missing_scope", needed=scope, provided=self.scopes)

    def _break(self, method: str) -> None:
        if method == "chat.postMessage" and self.breaks:
            if seconds := self.breaks.pop(0):
                raise web.HTTPTooManyRequests(headers={"Retry-After": str(seconds)})
            raise web.HTTPServiceUnavailable

    def _auth_test(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": "lantern",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT,
        }

    def _conversations_open(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        user = arguments.get("users", "")
        if not user:
            raise Refusal("users_list_not_supplied")
        if user not in self.people:
            raise Refusal("user_not_found")
        if not self.people[user]:
            raise Refusal("user_disabled")
        return {"channel": {"id": self.direct(user).id}}

    def _chat_postMessage(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        channel = self._open(arguments["channel"])
        rules.check_message(arguments)
        if self.refusals:
            raise Refusal(self.refusals.pop(0))
        thread = arguments.get("thread_ts")
        if thread is not None and thread not in channel.messages:
            raise Refusal("cannot_reply_to_message")
        now = time.monotonic()
        if len(channel.posted) == MOST_IN_A_SECOND and now - channel.posted[0] < 1:
            raise web.HTTPTooManyRequests(headers={"Retry-After": "1"})
        channel.posted.append(now)
        message = self._post(channel, arguments, thread)
        return {"channel": channel.id, "ts": message["ts"], "message": message}

    def _post(
        self, channel: Channel, arguments: Mapping[str, Any], thread: str | None
    ) -> dict[str, Any]:
        message = {
            "type": "message",
            "user": BOT_USER,
            "bot_id": BOT,
            "app_id": APP,
            "text": arguments.get("text", ""),
            "blocks": arguments.get("blocks", []),
            "ts": self.timestamp(),
            "files": arguments.get("files", []),
        }
        if thread:
            message["thread_ts"] = thread
            channel.messages[thread].setdefault("thread_ts", thread)
        channel.messages[message["ts"]] = message
        return message

    def _chat_postEphemeral(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        channel = self._open(arguments["channel"])
        rules.check_message(arguments)
        if arguments["user"] not in self.people or channel.user not in {"", arguments["user"]}:
            raise Refusal("user_not_in_channel")
        self.ephemeral.append((arguments["user"], channel.id, arguments["text"]))
        return {"message_ts": self.timestamp()}

    def _chat_delete(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        channel = self.channels.get(arguments["channel"])
        if channel is None:
            raise Refusal("channel_not_found")
        message = channel.messages.get(arguments["ts"])
        if message is None:
            raise Refusal("message_not_found")
        if message.get("bot_id") != BOT:
            raise Refusal("cant_delete_message")
        del channel.messages[arguments["ts"]]
        return {"channel": channel.id, "ts": arguments["ts"]}

    def _chat_update(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        message = self._open(arguments["channel"]).messages.get(arguments["ts"])
        if message is None:
            raise Refusal("message_not_found")
        if message.get("bot_id") != BOT:
            raise Refusal("cant_update_message")
        rules.check_message(arguments)
        message |= {"text": arguments["text"], "blocks": arguments["blocks"]}
        return {"channel": arguments["channel"], "ts": arguments["ts"], "text": arguments["text"]}

    def _open(self, id: str) -> Channel:
        channel = self.channels.get(id)
        if channel is None:
            raise Refusal("channel_not_found")
        if channel.is_archived:
            raise Refusal("is_archived")
        if not channel.has_bot:
            raise Refusal("not_in_channel")
        return channel

    def _views_open(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        view = arguments["view"]
        view = json.loads(view) if isinstance(view, str) else view
        rules.check_view(view)
        trigger = arguments.get("trigger_id", "")
        begun = self._triggers.get(trigger)
        if begun is None:
            raise Refusal("invalid_arguments", "invalid `trigger_id`")
        if trigger in self.views:
            raise Refusal("exchanged_trigger_id")
        if time.monotonic() - begun > TRIGGER_SECONDS:
            raise Refusal("expired_trigger_id")
        self.views[trigger] = view
        self._opened[trigger].set()
        return {"view": {**view, "id": f"V{next(self._numbers):08d}"}}

    def _files_getUploadURLExternal(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        length = str(arguments["length"])
        if not length.isdecimal() or int(length) == 0:
            raise Refusal("invalid_arguments", "length")
        id = f"F{next(self._numbers):08d}"
        self.files[id] = {"id": id, "name": arguments["filename"], "length": int(length)}
        return {"upload_url": f"{self.url}/upload/v1/{id}", "file_id": id}

    def _files_completeUploadExternal(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        files = arguments["files"]
        files = json.loads(files) if isinstance(files, str) else files
        for file in files:
            if "data" not in self.files.get(file.get("id"), {}):
                raise Refusal("file_not_found")
        if id := arguments.get("channel_id"):
            if id not in self.channels:
                raise Refusal("invalid_channel")
            shown = [self.files[file["id"]] for file in files]
            self._post(self._open(id), {"files": shown}, arguments.get("thread_ts"))
        return {"files": files}

    def _files_info(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        file = self.files.get(arguments["file"])
        if file is None:
            raise Refusal("file_not_found")
        return {"file": {key: value for key, value in file.items() if key != "data"}}

    def _apps_connections_open(self, _: Mapping[str, Any]) -> dict[str, Any]:
        ticket = f"ticket-{next(self._numbers)}"
        self._tickets.add(ticket)
        if self.foreign_link:
            return {"url": self.foreign_link}
        return {"url": f"{self.url.replace('http', 'ws')}/link/?ticket={ticket}&app_id={APP}"}

    # --- files and connections --------------------------------------------------------------------

    async def _upload(self, request: web.Request) -> web.Response:
        file = self.files.get(request.match_info["file"])
        data = await request.read()
        if file is None or file.get("length") != len(data) or "data" in file:
            raise web.HTTPBadRequest
        if "Authorization" in request.headers:
            self.token_leaks.append(request.path)
        file["data"] = data
        return web.Response(text=f"OK - {len(data)}")

    async def _download(self, request: web.Request) -> web.Response:
        file = self.files.get(request.match_info["file"].partition("-")[2], {})
        if request.headers.get("Authorization") != f"Bearer {BOT_TOKEN}" or (
            "files:read" not in self.scopes
        ):
            raise web.HTTPFound("/signin")
        if "data" not in file:
            raise web.HTTPNotFound
        return web.Response(body=file["data"], content_type=file["mimetype"])

    async def _sign_in(self, _: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>Sign in</title>", content_type="text/html")

    async def _elsewhere(self, request: web.Request) -> web.Response:
        if "Authorization" in request.headers:
            self.token_leaks.append(request.path)
        return web.Response(body=b"foreign")

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden
        self._tickets.discard(ticket)
        link = web.WebSocketResponse()
        await link.prepare(request)
        hello = {"type": "hello", "num_connections": 1, "connection_info": {"app_id": APP}}
        await link.send_json(hello)
        self.links.append(link)
        self.linked.set()
        async for message in link:
            if message.type is WSMsgType.TEXT:
                answer = json.loads(message.data)
                waiting = self._acknowledged.pop(answer["envelope_id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        self.links.remove(link)
        if not self.links:
            self.linked.clear()
        return link
