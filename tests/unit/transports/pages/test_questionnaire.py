"""Forms on pages: what a browser is given, and what comes back from it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.transports.messages import Field, Form
from aitp_desk.transports.pages.questionnaire import read_fields, read_values, render_fields

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


def filled(**values: Any) -> bytes:
    names = {field.name: f"f{number}" for number, field in enumerate(FORM.fields)}
    return urlencode({names[name]: value for name, value in values.items()}, doseq=True).encode()


WHOLE = filled(name=" Ada ", count="2", gift="yes", day="2026-11-03", size="l", extras=["a", "b"])


def test_values_have_the_kinds_of_their_fields() -> None:
    values, wrong = read_values(FORM, read_fields(WHOLE))
    assert wrong == ""
    assert values == {
        "name": "Ada",
        "count": 2,
        "gift": True,
        "day": "2026-11-03",
        "size": "l",
        "extras": ["a", "b"],
    }


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
def test_a_wrong_value_is_named(body: bytes, label: str) -> None:
    assert read_values(FORM, read_fields(body)) == ({}, label)


def test_the_page_keeps_what_was_filled_in() -> None:
    page = LexborHTMLParser(render_fields(FORM, read_fields(WHOLE)))
    shown = {one.attributes["name"]: one.attributes.get("value") for one in page.css("input")}
    assert (shown["f0"], shown["f1"], shown["f3"]) == (" Ada ", "2", "2026-11-03")
    assert len(page.css("input[checked]")) == 3
    (chosen,) = page.css("option[selected]")
    assert chosen.text() == "Large"


def test_what_was_filled_in_is_never_markup() -> None:
    given = read_fields(filled(name='"><script>alert(1)</script>'))
    page = LexborHTMLParser(render_fields(FORM, given))
    assert page.css("script") == []


@given(st.binary(max_size=500))
def test_any_bytes_are_values_or_wrong(body: bytes) -> None:
    fields = read_fields(body)
    values, wrong = read_values(FORM, fields)
    assert bool(wrong) != ("name" in values)
    assert LexborHTMLParser(render_fields(FORM, fields)).css_first("input") is not None
