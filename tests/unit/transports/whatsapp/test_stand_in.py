"""The stand-in of WhatsApp refuses what the Cloud API's documentation says is refused."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.support.transports.whatsapp_platform import NUMBER_ID, TOKEN, WhatsAppPlatform

ANN = "4915100010000"


async def post(
    whatsapp: WhatsAppPlatform, body: dict[str, Any], token: str = TOKEN
) -> tuple[int, int]:
    url = f"{whatsapp.url}/v26.0/{NUMBER_ID}/messages"
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.post(url, json=body) as response,
    ):
        return response.status, (await response.json()).get("error", {}).get("code", 0)


def text(words: str = "Hello", **members: Any) -> dict[str, Any]:
    head = {"messaging_product": "whatsapp", "to": ANN, "type": "text"}
    return {**head, "text": {"body": words}, **members}


def interactive(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "messaging_product": "whatsapp",
        "to": ANN,
        "type": "interactive",
        "interactive": {"body": {"text": "?"}, **content},
    }


def buttons(*titles: str) -> dict[str, Any]:
    replies = [
        {"type": "reply", "reply": {"id": f"t{n}", "title": title}}
        for n, title in enumerate(titles)
    ]
    return interactive({"type": "button", "action": {"buttons": replies}})


def rows(count: int, title: str = "a", **more: str) -> dict[str, Any]:
    found = [{"id": f"t{n}", "title": title, **more} for n in range(count)]
    return interactive(
        {"type": "list", "action": {"button": "Choose", "sections": [{"rows": found}]}}
    )


REFUSED: list[tuple[dict[str, Any], int]] = [
    (text("x" * 4097), 100),
    (text(""), 131008),
    (text(to=""), 131008),
    (text(recipient="DE.1"), 131008),
    (text(to="4916000000000"), 131026),
    (text(messaging_product="sms"), 100),
    (text(type="carousel"), 131051),
    (text(unknown=1), 100),
    (buttons("a", "b", "c", "d"), 100),
    (buttons("x" * 21), 100),
    (buttons("a", "a"), 131009),
    (rows(11), 100),
    (rows(1, "x" * 25), 100),
    (rows(1, description="x" * 73), 100),
]


@pytest.mark.parametrize(("body", "code"), REFUSED)
async def test_messages(whatsapp: WhatsAppPlatform, body: dict[str, Any], code: int) -> None:
    assert whatsapp.number("ann") == ANN
    assert await post(whatsapp, body) == (400, code)
    assert whatsapp.sent == []


async def test_what_is_right_is_taken(whatsapp: WhatsAppPlatform) -> None:
    whatsapp.number("ann")
    bodies = (text("x" * 4096), buttons("a", "b", "x" * 20), rows(10, "x" * 24))
    assert [await post(whatsapp, body) for body in bodies] == [(200, 0)] * 3


async def test_tokens_and_the_window(whatsapp: WhatsAppPlatform) -> None:
    whatsapp.number("ann")
    assert await post(whatsapp, text(), "EAAwrong") == (401, 190)
    whatsapp.closed.add("ann")
    assert await post(whatsapp, text()) == (400, 131047)
