"""Telegram, as far as a bot sees it: a stand-in for api.telegram.org on the loopback.

It follows the documentation of the Bot API (core.telegram.org/bots/api): it checks tokens, members
of requests, lengths, tags, tokens of buttons and rights as that describes, and answers with the
errors that the API answers with. Stricter than the API, it refuses members of requests that it does
not know, so that a misspelling is seen. Looser, a webhook may be http on the loopback.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from tests.support.transports.telegram_html import Unparsable, count_units, parse_html

TOKEN = "4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qcK"
BOT_ID = 4839574812
MOST_TRIES = 40
_TARGET = {
    "chat_id", "message_thread_id", "reply_parameters", "reply_markup", "parse_mode",
    "disable_notification", "protect_content",
}  # fmt: skip
_PARAMS: dict[str, set[str]] = {
    "getMe": set(),
    "getUpdates": {"offset", "limit", "timeout", "allowed_updates"},
    "setWebhook": {
        "url", "certificate", "ip_address", "max_connections", "allowed_updates",
        "drop_pending_updates", "secret_token",
    },
    "deleteWebhook": {"drop_pending_updates"},
    "getWebhookInfo": set(),
    "sendMessage": {*_TARGET, "text", "entities", "link_preview_options"},
    "sendDocument": {*_TARGET, "document", "caption", "caption_entities"},
    "sendChatAction": {"chat_id", "message_thread_id", "action"},
    "answerCallbackQuery": {"callback_query_id", "text", "show_alert", "url", "cache_time"},
    "editMessageReplyMarkup": {"chat_id", "message_id", "reply_markup"},
    "deleteMessage": {"chat_id", "message_id"},
    "getFile": {"file_id"},
}  # fmt: skip


class Refusal(Exception):
    """An error of the API."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


class Sent(msgspec.Struct, kw_only=True):
    """A message of the bot.

    Parameters:
        params: of the call that sent it.
        plain: the text without tags.
    """

    id: int
    chat: int
    params: dict[str, Any]
    plain: str
    file: bytes = b""
    file_name: str = ""
    file_type: str = ""


class Chat(msgspec.Struct, kw_only=True):
    """A chat with the bot.

    Parameters:
        topics: ids of its forum topics.
        fault: description of the error that every message to it gets; empty for none.
        became: id of the supergroup that it has become.
    """

    id: int
    kind: str
    title: str
    topics: set[int] = msgspec.field(default_factory=set)
    fault: str = ""
    became: int = 0


class TelegramApi:
    """The server of the Bot API, with one bot and the chats that it is in.

    Attributes:
        username: of the bot.
        calls: the calls so far: their methods and parameters.
        notices: answers to pressed buttons, by the id of the press.
        queries: ids of the presses.
        webhook: parameters of the last setWebhook; empty for none.
        max_download: largest file that getFile gives out.
        unparsable: lets texts with tags be refused, as for tags that the API has dropped.
        sent: messages of the bot.
        broken: what the next messages fail by: seconds of a limit, or 0 for a fault.
        files: path and content of files, by their ids.
        updates: by their ids; those in ``waiting`` wait for a poll, those in ``unconfirmed`` were
            confirmed by a request that was lost.
    """

    username = "lantern_bot"

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.notices: dict[str, str] = {}
        self.queries: set[str] = set()
        self.webhook: dict[str, Any] = {}
        self.max_download = 20 * 1024 * 1024
        self.unparsable = False
        self.sent: list[Sent] = []
        self.chats: dict[int, Chat] = {}
        self.broken: list[int] = []
        self.files: dict[str, tuple[str, bytes]] = {}
        self.updates: dict[int, dict[str, Any]] = {}
        self.waiting: list[int] = []
        self.unconfirmed: list[int] = []
        self.change = asyncio.Condition()
        self._next_message = 100
        self._pollers = 0
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Start the server."""
        app = web.Application(client_max_size=60 * 1024**2)
        app.router.add_route("*", "/bot{token}/{method}", self._answer)
        app.router.add_get("/file/bot{token}/{path:.+}", self._give_file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def wait_until_polled(self) -> None:
        """Wait until a request for updates waits for one."""
        async with asyncio.timeout(30), self.change:
            await self.change.wait_for(lambda: self._pollers > 0)

    async def shut(self) -> None:
        """End polls that wait, and the server."""
        async with self.change:
            self._pollers = -1
            self.change.notify_all()
        if self._runner is not None:
            await self._runner.cleanup()

    # the API

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            result = await self._call(request)
        except Refusal as refusal:
            body: dict[str, Any] = {
                "ok": False,
                "error_code": refusal.code,
                "description": refusal.description,
            }
            if refusal.parameters:
                body["parameters"] = refusal.parameters
            return web.json_response(body, status=refusal.code)
        if isinstance(result, web.Response):
            return result
        return web.json_response({"ok": True, "result": result})

    async def _call(self, request: web.Request) -> Any:
        token, method = request.match_info["token"], request.match_info["method"]
        if not token.partition(":")[2]:
            raise Refusal(404, "Not Found")
        if token != TOKEN:
            raise Refusal(401, "Unauthorized")
        if method not in _PARAMS:
            raise Refusal(404, "Not Found: method not found")
        params, file = await self._read_params(request)
        unknown = set(params) - _PARAMS[method]
        assert not unknown, f"{method} has no {unknown}"
        self.calls.append((method, params))
        if method.startswith("send") and method != "sendChatAction" and self.broken:
            retry_after = self.broken.pop(0)
            if not retry_after:
                return web.Response(status=502, text="<html>Bad Gateway</html>")
            raise Refusal(
                429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after
            )
        handler: Callable[..., Any] = getattr(self, f"_on_{method.lower()}")
        result = handler(params, *file)
        return await result if asyncio.iscoroutine(result) else result

    async def _read_params(self, request: web.Request) -> tuple[dict[str, Any], tuple[Any, ...]]:
        if request.content_type != "multipart/form-data":
            return (await request.json() if request.can_read_body else {}), ()
        params: dict[str, Any] = {}
        file: tuple[Any, ...] = ()
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                file = (value.file.read(), value.filename, value.content_type)
                params[name] = value.filename
            else:
                assert isinstance(value, str)
                is_json = name not in {"caption", "parse_mode", "text"}
                params[name] = json.loads(value) if is_json else value
        return params, file

    def _on_getme(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": BOT_ID,
            "is_bot": True,
            "first_name": "Lantern",
            "username": self.username,
            "can_join_groups": True,
            "can_read_all_group_messages": False,
            "supports_inline_queries": False,
        }

    async def _on_setwebhook(self, params: dict[str, Any]) -> bool:
        url = params.get("url", "")
        if not url:
            self.webhook = {}
            return True
        if not url.startswith(("https://", "http://127.0.0.1:")):
            raise Refusal(
                400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook"
            )
        secret = params.get("secret_token", "")
        if not secret.replace("_", "").replace("-", "").isalnum() or len(secret) > 256:
            raise Refusal(400, "Bad Request: secret token contains unallowed characters")
        async with self.change:
            self.webhook = params
            self.change.notify_all()
        return True

    def _on_deletewebhook(self, params: dict[str, Any]) -> bool:
        self.webhook = {}
        return True

    def _on_getwebhookinfo(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "url": self.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
        }

    async def _on_getupdates(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        if self.webhook:
            raise Refusal(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook"
                " to delete the webhook first",
            )
        if self._pollers > 0:
            raise Refusal(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot"
                " instance is running",
            )
        offset = params.get("offset", 0)
        async with self.change:
            self.waiting = [one for one in self.waiting if one >= offset]
            self.change.notify_all()
            self._pollers += 1
            self.change.notify_all()
            try:
                async with asyncio.timeout(min(50, params.get("timeout", 0))):
                    await self.change.wait_for(
                        lambda: self.waiting or self.unconfirmed or self._pollers < 0
                    )
            except TimeoutError:
                pass
            finally:
                self._pollers -= self._pollers > 0
            found = [*self.unconfirmed, *self.waiting][: params.get("limit", 100)]
            self.unconfirmed.clear()
            self.change.notify_all()
        return [self.updates[one] for one in found]

    def _on_sendmessage(self, params: dict[str, Any]) -> dict[str, Any]:
        chat = self._find_chat(params)
        plain = self._parse(params, "text")
        if not plain.strip():
            raise Refusal(400, "Bad Request: message text is empty")
        if count_units(plain) > 4096:
            raise Refusal(400, "Bad Request: message is too long")
        return self._keep(chat, params, plain)

    def _on_senddocument(
        self, params: dict[str, Any], data: bytes = b"", name: str = "", content_type: str = ""
    ) -> dict[str, Any]:
        chat = self._find_chat(params)
        if not data:
            raise Refusal(400, "Bad Request: file must be non-empty")
        if len(data) > 50 * 1024**2:
            raise Refusal(413, "Request Entity Too Large")
        plain = self._parse(params, "caption")
        if count_units(plain) > 1024:
            raise Refusal(400, "Bad Request: message caption is too long")
        return self._keep(chat, params, plain, data, name, content_type)

    def _on_sendchataction(self, params: dict[str, Any]) -> bool:
        self._find_chat(params)
        if params["action"] not in {"typing", "upload_document"}:
            raise Refusal(400, "Bad Request: wrong parameter action in request")
        return True

    def _on_answercallbackquery(self, params: dict[str, Any]) -> bool:
        if params["callback_query_id"] not in self.queries:
            raise Refusal(
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
            )
        if len(params.get("text", "")) > 200:
            raise Refusal(400, "Bad Request: MESSAGE_TOO_LONG")
        self.notices[params["callback_query_id"]] = params.get("text", "")
        return True

    def _on_editmessagereplymarkup(self, params: dict[str, Any]) -> bool:
        chat = self._find_chat(params)
        found = [one for one in self.sent if (one.chat, one.id) == (chat.id, params["message_id"])]
        if not found:
            raise Refusal(400, "Bad Request: message to edit not found")
        check_keyboard(params["reply_markup"]["inline_keyboard"])
        if found[0].params.get("reply_markup") == params["reply_markup"]:
            raise Refusal(400, "Bad Request: message is not modified")
        found[0].params["reply_markup"] = params["reply_markup"]
        return True

    def _on_deletemessage(self, params: dict[str, Any]) -> bool:
        chat = self._find_chat(params)
        found = [one for one in self.sent if (one.chat, one.id) == (chat.id, params["message_id"])]
        if not found:
            raise Refusal(400, "Bad Request: message to delete not found")
        if found[0].params.get("is_old"):
            raise Refusal(400, "Bad Request: message can't be deleted for everyone")
        self.sent.remove(found[0])
        return True

    def _on_getfile(self, params: dict[str, Any]) -> dict[str, Any]:
        if params["file_id"] not in self.files:
            raise Refusal(400, "Bad Request: invalid file_id")
        path, data = self.files[params["file_id"]]
        if len(data) > self.max_download:
            raise Refusal(400, "Bad Request: file is too big")
        return {
            "file_id": params["file_id"],
            "file_unique_id": "u",
            "file_size": len(data),
            "file_path": path,
        }

    async def _give_file(self, request: web.Request) -> web.Response:
        if request.match_info["token"] != TOKEN:
            return web.Response(status=404)
        for path, data in self.files.values():
            if path == request.match_info["path"]:
                return web.Response(body=data, content_type="application/octet-stream")
        return web.Response(status=404)

    # the rules

    def _find_chat(self, params: dict[str, Any]) -> Chat:
        chat = self.chats.get(params["chat_id"])
        if chat is None:
            raise Refusal(400, "Bad Request: chat not found")
        if chat.became:
            raise Refusal(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=chat.became,
            )
        if chat.fault:
            raise Refusal(403 if chat.fault.startswith("Forbidden") else 400, chat.fault)
        topic = params.get("message_thread_id")
        if topic is not None and topic not in chat.topics:
            raise Refusal(400, "Bad Request: message thread not found")
        return chat

    def _parse(self, params: dict[str, Any], name: str) -> str:
        text: str = params.get(name, "")
        match params.get("parse_mode"):
            case None:
                return text
            case "HTML":
                if self.unparsable and "<" in text:
                    raise Refusal(
                        400,
                        "Bad Request: can't parse entities: Unsupported start tag"
                        ' "b" at byte offset 0',
                    )
                try:
                    return parse_html(text)[0]
                except Unparsable as error:
                    raise Refusal(400, f"Bad Request: can't parse entities: {error}") from None
            case _:
                raise Refusal(400, "Bad Request: unsupported parse_mode")

    def _keep(
        self,
        chat: Chat,
        params: dict[str, Any],
        plain: str,
        data: bytes = b"",
        name: str = "",
        content_type: str = "",
    ) -> dict[str, Any]:
        reply = params.get("reply_parameters", {})
        if reply and not reply.get("allow_sending_without_reply"):
            raise Refusal(400, "Bad Request: message to be replied not found")
        markup = params.get("reply_markup", {})
        assert set(markup) <= {"inline_keyboard"}
        check_keyboard(markup.get("inline_keyboard", []))
        sent = Sent(
            id=self.take_message_id(),
            chat=chat.id,
            params=params,
            plain=plain,
            file=data,
            file_name=name,
            file_type=content_type,
        )
        self.sent.append(sent)
        return {"message_id": sent.id, "date": 1_800_000_000, "chat": self.describe_chat(chat.id)}

    def describe_chat(self, chat_id: int) -> dict[str, Any]:
        """Return a chat as the API describes one."""
        chat = self.chats[chat_id]
        name = "first_name" if chat.kind == "private" else "title"
        shown: dict[str, Any] = {"id": chat.id, "type": chat.kind, name: chat.title}
        return {**shown, "is_forum": True} if chat.topics and chat.id < 0 else shown

    def take_message_id(self) -> int:
        """Return the next message's id."""
        self._next_message += 1
        return self._next_message


def buttons_of(message: Sent) -> list[dict[str, str]]:
    """Return the buttons of a message, in order."""
    rows = message.params.get("reply_markup", {}).get("inline_keyboard", [])
    return [button for row in rows for button in row]


def check_keyboard(rows: list[list[dict[str, str]]]) -> None:
    """Refuse what Telegram refuses in an inline keyboard."""
    if sum(map(len, rows)) > 100 or any(len(row) > 8 for row in rows):
        raise Refusal(400, "Bad Request: REPLY_MARKUP_TOO_LONG")
    for button in (button for row in rows for button in row):
        kinds = set(button) - {"text", "style"}
        if not button.get("text"):
            raise Refusal(400, "Bad Request: can't parse inline keyboard button: text is empty")
        if len(kinds) != 1 or not kinds <= {"callback_data", "url"}:
            raise Refusal(
                400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed"
            )
        if button.get("style", "primary") not in {"danger", "success", "primary"}:
            raise Refusal(400, "Bad Request: BUTTON_STYLE_INVALID")
        if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= 64:
            raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
        if "url" in button and "." not in (urlsplit(button["url"]).hostname or ""):
            raise Refusal(
                400,
                f"Bad Request: inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP"
                " URL specified",
            )
