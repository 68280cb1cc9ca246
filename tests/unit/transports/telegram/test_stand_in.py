"""The stand-in of Telegram refuses what Telegram's documentation says is refused."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.support.transports.telegram_api import TOKEN
from tests.support.transports.telegram_html import Unparsable, parse_html
from tests.support.transports.telegram_platform import TelegramPlatform

ANN = 5_000_001


async def call(
    telegram: TelegramPlatform, method: str, params: dict[str, Any], token: str = TOKEN
) -> tuple[int, str]:
    url = f"{telegram.url}/bot{token}/{method}"
    async with aiohttp.ClientSession() as http, http.post(url, json=params) as response:
        body = await response.json()
        assert body["ok"] is (response.status == 200)
        return response.status, body.get("description", "")


def button(**members: str) -> dict[str, Any]:
    return {"reply_markup": {"inline_keyboard": [[{"text": "Yes", **members}]]}}


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"chat_id": 77}, 400, "chat not found"),
    ({"text": ""}, 400, "message text is empty"),
    ({"text": "😀" * 2049}, 400, "message is too long"),
    ({"text": "<b>a", "parse_mode": "HTML"}, 400, "can't parse entities"),
    ({"text": "<p>a</p>", "parse_mode": "HTML"}, 400, "Unsupported start tag"),
    ({"parse_mode": "Text"}, 400, "unsupported parse_mode"),
    ({"message_thread_id": 9}, 400, "message thread not found"),
    (button(callback_data="é" * 33), 400, "BUTTON_DATA_INVALID"),
    (button(callback_data=""), 400, "BUTTON_DATA_INVALID"),
    (button(url="http://localhost/"), 400, "Wrong HTTP URL"),
    (button(), 400, "unallowed"),
    (button(callback_data="a", style="loud"), 400, "BUTTON_STYLE_INVALID"),
    ({"reply_parameters": {"message_id": 1}}, 400, "message to be replied not found"),
]


@pytest.mark.parametrize(("params", "status", "description"), REFUSED)
async def test_messages(
    telegram: TelegramPlatform, params: dict[str, Any], status: int, description: str
) -> None:
    telegram.user("Ann")
    found, said = await call(telegram, "sendMessage", {"chat_id": ANN, "text": "a", **params})
    assert found == status
    assert description in said
    assert telegram.sent == []


async def test_what_is_right_is_taken(telegram: TelegramPlatform) -> None:
    telegram.user("Ann")
    text = {"chat_id": ANN, "text": "😀" * 2048, **button(callback_data="é" * 32)}
    assert await call(telegram, "sendMessage", text) == (200, "")


async def test_tokens_and_methods(telegram: TelegramPlatform) -> None:
    assert await call(telegram, "getMe", {}, "1:wrong") == (401, "Unauthorized")
    assert (await call(telegram, "getEverything", {}))[0] == 404
    assert (await call(telegram, "getMe", {}))[0] == 200


async def test_webhooks_exclude_polling(telegram: TelegramPlatform) -> None:
    status, said = await call(telegram, "setWebhook", {"url": "http://desk.example/"})
    assert (status, "HTTPS" in said) == (400, True)
    wrong = {"url": "https://desk.example/", "secret_token": "a b"}
    assert (await call(telegram, "setWebhook", wrong))[0] == 400
    right = {"url": "https://desk.example/", "secret_token": "a_b-1"}
    assert (await call(telegram, "setWebhook", right))[0] == 200
    assert (await call(telegram, "getUpdates", {}))[0] == 409
    assert (await call(telegram, "deleteWebhook", {}))[0] == 200
    assert (await call(telegram, "getUpdates", {"timeout": 0}))[0] == 200


@pytest.mark.parametrize(
    "text", ["<b>", "</b>", "<b><i></b></i>", "<script>x</script>", "<b", "<span>x</span>", "a < b"]
)
def test_tags_that_are_refused(text: str) -> None:
    with pytest.raises(Unparsable):
        parse_html(text)


def test_what_is_shown() -> None:
    text = '<a href="https://a.example">a</a> &lt;b&gt; &#128512; &nbsp; <pre>c</pre>'
    assert parse_html(text)[0] == "a <b> 😀 &nbsp; c"
