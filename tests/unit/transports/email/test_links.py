"""Links of mails do nothing when they are opened, and only what the desk has put into them."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.model.errors import ResourceNotFound
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.email.links import Links, Press, Unsubscription
from aitp_desk.transports.events import Choice, OptOut

LINKS = Links(b"s" * 32, "https://shop.example/transports/email", "Lamp shop", "#ffcc00")
WHOSE: dict[str, Any] = {
    "conversation": "c" * 16,
    "recipient": "ada@people.example",
    "message_ref": "m@shop.example",
    "language": "en",
    "is_proven": False,
}
PRESS = Press(token="t1", label="Yes, <cancel> it", **WHOSE)


def opened(
    url: str, method: Literal["GET", "POST"] = "GET", body: bytes = b"", now: int = 1_000_000
) -> Delivery:
    query = dict(parse_qsl(urlsplit(url).query))
    return Delivery(method=method, body=body, headers={}, query=query, now=now)


def page(result: HookResult) -> LexborHTMLParser:
    assert result.reply.content_type == "text/html; charset=utf-8"
    return LexborHTMLParser(result.reply.body.decode())


def test_an_opened_button_shows_what_it_does_and_does_nothing() -> None:
    result = LINKS.read_press(opened(LINKS.to_press(PRESS)))
    assert result.events == ()
    button = page(result).css_first('form[method="post"] button')
    assert button is not None
    assert button.text() == "Yes, <cancel> it"
    assert "Nothing has happened yet" in page(result).body.text()  # type: ignore[union-attr]


def test_a_pressed_button_is_a_choice_of_the_mails_reader() -> None:
    result = LINKS.read_press(opened(LINKS.to_press(PRESS), "POST"))
    (event,) = result.events
    assert event.event == Choice(token="t1", message_ref="m@shop.example")
    assert (event.conversation, event.sender, event.is_proven) == (
        "c" * 16,
        "ada@people.example",
        False,
    )
    again = LINKS.read_press(opened(LINKS.to_press(PRESS), "POST", now=9_999_999))
    assert again.events[0].event_id == event.event_id


def test_a_link_shows_no_address_and_no_token() -> None:
    url = LINKS.to_press(PRESS)
    assert "ada" not in url
    assert "t1" not in url


def test_one_click_ends_the_mails() -> None:
    url = LINKS.to_unsubscribe(Unsubscription("c" * 16, "ada@people.example", "de", True))
    shown = LINKS.read_unsubscribe(opened(url))
    assert shown.events == ()
    assert "Keine Mails mehr erhalten" in shown.reply.body.decode()
    (event,) = LINKS.read_unsubscribe(opened(url, "POST", b"List-Unsubscribe=One-Click")).events
    assert event.event == OptOut()
    assert event.sender == "ada@people.example"
    later = LINKS.read_unsubscribe(opened(url, "POST", now=1_000_000 + 7200)).events[0]
    assert later.event_id != event.event_id


def test_a_link_of_one_kind_is_none_of_another() -> None:
    delivery = opened(LINKS.to_press(PRESS), "POST")
    with pytest.raises(ResourceNotFound):
        LINKS.read_unsubscribe(delivery)


@given(st.text(), st.integers(0, 200))
def test_a_changed_link_is_refused(text: str, at: int) -> None:
    word = urlsplit(LINKS.to_press(PRESS)).query.removeprefix("link=")
    changed = word[:at] + ("A" if word[at] != "A" else "B") + word[at + 1 :]
    for forged in (text, changed, word[:at]):
        delivery = Delivery(method="POST", body=b"", headers={}, query={"link": forged}, now=0)
        with pytest.raises(ResourceNotFound):
            LINKS.read_press(delivery)
