"""Links of mails do nothing when they are opened, and only what the desk has put into them."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.model.errors import ResourceNotFound
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.email.links import FormPress, Links, Press, Unsubscription
from aitp_desk.transports.events import Choice, OptOut
from aitp_desk.transports.messages import Field, Form

LINKS = Links(b"s" * 32, "https://shop.example/transports/email", "Lamp shop", "#ffcc00")
WHOSE: dict[str, Any] = {
    "conversation": "c" * 16,
    "recipient": "ada@people.example",
    "message_ref": "m@shop.example",
    "language": "en",
    "is_proven": False,
}
PRESS = Press(token="t1", label="Yes, <cancel> it", **WHOSE)
FORM = Form(
    token="t2",
    title="Delivery",
    submit="Send",
    fields=(
        Field(name="name", label="Name", is_required=True),
        Field(name="count", label="Count", kind="number"),
        Field(name="gift", label="As a gift", kind="boolean"),
        Field(name="day", label="Day", kind="date"),
        Field(name="size", label="Size", kind="choice", choices=(("s", "Small"), ("l", "Large"))),
        Field(name="extras", label="Extras", kind="choices", choices=(("a", "A"), ("b", "B"))),
    ),
)


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


def filled(**values: Any) -> bytes:
    names = {field.name: f"f{number}" for number, field in enumerate(FORM.fields)}
    return urlencode({names[name]: value for name, value in values.items()}, doseq=True).encode()


def test_a_form_is_filled_in_at_its_page() -> None:
    url = LINKS.to_form(FormPress(form=FORM, **WHOSE))
    assert url is not None
    shown = LINKS.read_form(opened(url))
    assert shown.events == ()
    names = [one.attributes["name"] for one in page(shown).css("input, select")]
    assert names == ["f0", "f1", "f2", "f3", "f4", "f5", "f5"]
    body = filled(
        name=" Ada ", count="2", gift="yes", day="2026-11-03", size="l", extras=["a", "b"]
    )
    (event,) = LINKS.read_form(opened(url, "POST", body)).events
    assert event.event == Choice(
        token="t2",
        message_ref="m@shop.example",
        values={
            "name": "Ada",
            "count": 2,
            "gift": True,
            "day": "2026-11-03",
            "size": "l",
            "extras": ["a", "b"],
        },
    )


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (filled(name=" "), "Name"),
        (filled(name="Ada", count="two"), "Count"),
        (filled(name="Ada", count="nan"), "Count"),
        (filled(name="Ada", day="tomorrow"), "Day"),
        (filled(name="Ada", size="xl"), "Size"),
        (filled(name="Ada", extras=["a", "z"]), "Extras"),
        (filled(name="a" * 5000), "Name"),
    ],
)
def test_a_wrong_value_shows_the_form_again(body: bytes, label: str) -> None:
    url = LINKS.to_form(FormPress(form=FORM, **WHOSE))
    assert url is not None
    result = LINKS.read_form(opened(url, "POST", body))
    assert result.events == ()
    assert f"Please check this field: {label}." in result.reply.body.decode()


def test_a_form_that_is_too_long_has_no_link() -> None:
    fields = tuple(
        Field(name=f"{number}", label=f"{number * 7919:b}{number * 104729:x}" * 9)
        for number in range(99)
    )
    form = Form(token="t", title="Long", submit="Send", fields=fields)
    assert LINKS.to_form(FormPress(form=form, **WHOSE)) is None


def test_a_link_of_one_kind_is_none_of_another() -> None:
    delivery = opened(LINKS.to_press(PRESS), "POST")
    for read in (LINKS.read_unsubscribe, LINKS.read_form):
        with pytest.raises(ResourceNotFound):
            read(delivery)


@given(st.text(), st.integers(0, 200))
def test_a_changed_link_is_refused(text: str, at: int) -> None:
    word = urlsplit(LINKS.to_press(PRESS)).query.removeprefix("link=")
    changed = word[:at] + ("A" if word[at] != "A" else "B") + word[at + 1 :]
    for forged in (text, changed, word[:at]):
        delivery = Delivery(method="POST", body=b"", headers={}, query={"link": forged}, now=0)
        with pytest.raises(ResourceNotFound):
            LINKS.read_press(delivery)


@given(st.binary(max_size=500))
def test_any_bytes_are_values_of_the_form_or_wrong(body: bytes) -> None:
    url = LINKS.to_form(FormPress(form=FORM, **WHOSE))
    assert url is not None
    result = LINKS.read_form(opened(url, "POST", body))
    assert len(result.events) <= 1
