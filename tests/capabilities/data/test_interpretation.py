"""Answers to forms in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from aitp_data.messages import Data, RequestData
from aitp_data.text import tell_data, tell_request
from aitp_data.word_replies import MOST_CHARACTERS, OpenForm, understand
from tests.support.plugins.forms import ADDRESS, CARD, HOSTED, MAIL, PAYING, PIN


def form(given: dict[str, Any], **more: Any) -> OpenForm:
    request = msgspec.convert(given | more, RequestData)
    return OpenForm(request, request.form.fields, request.remembers)


def of_one(**field: Any) -> OpenForm:
    return form({"id": "q", "description": "", "form": {"fields": [{"id": "f", **field}]}})


def heard(text: str, *forms: OpenForm) -> dict[str, str] | None:
    data = understand(text, forms)
    if data is None:
        return None
    assert data.in_words
    return {field.id: str(field.value) for field in data.fields}


DEFAULTS = {"speed": "Standard", "count": "1"}


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Name: Ada\nPostal code: 10115", {"name": "Ada", "zip": "10115"}),
        ("  - NAME :  Ada  \n\n* postal  code = 10115\n", {"name": "Ada", "zip": "10115"}),
        ("name: Ada: the first", {"name": "Ada: the first"}),
        ("zip: 10115", {"zip": "10115"}),
        (
            "Street: 1 Long Lane\nRoom 2\nBerlin\nName: Ada",
            {"street": "1 Long Lane\nRoom 2\nBerlin", "name": "Ada"},
        ),
        ("How fast: Express", {"speed": "Express"}),
        ("1. Name: Ada\n2) Postal code: 10115", {"name": "Ada", "zip": "10115"}),
        ("> Name: Ada\n>> Postal code: 10115", {"name": "Ada", "zip": "10115"}),
        ("Name:\r\nAda\r\n\r\nPostal code:\r\n\r\n10115", {"name": "Ada", "zip": "10115"}),
        ("Street:\n1 Long Lane\nRoom 2", {"street": "1 Long Lane\nRoom 2"}),
        ("The same.", {}),
    ],
)
def test_each_field_on_a_line(said: str, values: dict[str, str]) -> None:
    assert heard(said, form(ADDRESS)) == DEFAULTS | values


@pytest.mark.parametrize(
    "said",
    [
        "",
        "\n",
        "When will it arrive?",
        "Hello!\nName: Ada",
        "Name: Ada\nand when will it arrive?",
        "Name: Ada\nName: Eve",
        "Colour of the moon: white",
        "Name: " + "x" * MOST_CHARACTERS,
    ],
)
def test_what_has_more_or_less_is_for_the_agent(said: str) -> None:
    assert heard(said, form(ADDRESS)) is None


def test_the_only_field_alone(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"type": "email"}, "ada@example.com", "ada@example.com"),
        ({"type": "email"}, "It's <ada@example.com>.", "ada@example.com"),
        ({"type": "email"}, "f: ada@example.com", "ada@example.com"),
        ({"type": "tel"}, "+49 30 901820", "+49 30 901820"),
        ({"type": "select", "options": ["S", "M"]}, "m", "m"),
        ({"autocomplete": "postal-code"}, "10115", "10115"),
        ({"label": "Your name"}, "Ada Lovelace", "Ada Lovelace"),
        ({"type": "textarea"}, "two\nlines", "two\nlines"),
        ({"autocomplete": "cc-number"}, CARD, CARD),
        ({"autocomplete": "cc-number"}, f"It is {CARD}, thanks", CARD),
        ({"autocomplete": "cc-number"}, "4242424242424241", "4242424242424241"),
        ({"autocomplete": "cc-exp"}, "08 / 29", "08 / 29"),
        ({"autocomplete": "current-password"}, "hunter2?", "hunter2?"),
        ({"sensitive": True}, "7", "7"),
    ]
    for field, said, value in cases:
        with subtests.test(field=field, said=said, value=value):
            assert heard(said, of_one(**field)) == {"f": value}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"type": "email"}, "ada@example.com or eve@example.com"),
        ({"type": "email"}, "I have none"),
        ({"type": "tel"}, "call me"),
        ({"type": "select", "options": ["S", "M"]}, "L"),
        ({}, "What for?"),
        ({}, "No!"),
        ({}, "ok"),
        ({}, "x" * 201),
        ({"sensitive": True}, "Why do you need it"),
        ({"autocomplete": "cc-number"}, "Why do you need it"),
    ],
)
def test_what_is_no_value_is_for_the_agent(field: dict[str, Any], said: str) -> None:
    assert heard(said, of_one(**field)) is None


def test_what_names_something_sensitive_is_an_answer_whatever_else_it_says() -> None:
    said = f"Here you are:\nCard number: {CARD}\nDo you take it?"
    assert heard(said, form(PAYING)) == {"card": CARD}
    assert heard(f"my card is {CARD} ok", form(PAYING)) == {"card": CARD}


def test_a_word_alone_may_be_what_is_sensitive_among_others() -> None:
    assert heard("swordfish", form(PAYING)) == {"card": "swordfish"}
    for said in ("Why?", "OK", "two words", "Hello!"):
        assert heard(said, form(PAYING)) is None
    assert heard("swordfish", form(ADDRESS)) is None


def test_of_several_forms_the_fields_are_named() -> None:
    forms = (form(PIN), form(MAIL))
    assert heard("Ada", form(ADDRESS), form(MAIL)) is None
    assert heard("PIN: 7", *forms) == {"pin": "7"}
    assert heard("Name: Ada", form(ADDRESS), form(PAYING)) is None, "either could be meant"
    assert heard("Name: Ada") is None


def test_what_is_sensitive_is_heard_though_several_forms_wait() -> None:
    newer, older = form(PAYING, id="newer"), form(PAYING, id="older")
    for said in (f"Card number: {CARD}", f"It is {CARD}, I think", "Expires: 08/29"):
        data = understand(said, (newer, form(MAIL), older))
        assert data is not None, said
        assert data.request_data_id == "newer"
    assert heard("hunter2", form(MAIL), form(PIN)) == {"pin": "hunter2"}
    plain = of_one(label="PIN")
    assert heard("PIN: hunter2", plain, form(PIN)) == {"pin": "hunter2"}
    assert heard("ada@example.com", form(MAIL), form(PIN)) is None, "it is no PIN"


@pytest.mark.parametrize(
    "said",
    [
        "PIN 1234",
        "pin： 1234",
        "my PIN is 1234",
        "The pin is: 1234",
        "pin=1234",
        "1234",
        "PIN:\n1234",
        "> PIN: 1234",
    ],
)
def test_what_is_sensitive_is_heard_as_people_say_it(said: str) -> None:
    assert heard(said, form(PIN)) == {"pin": "1234"}
    assert heard(said, form(MAIL), form(PIN)) == {"pin": "1234"}


@pytest.mark.parametrize(
    "said", ["yes", "No.", "help", "never mind", "Which PIN is it that you want?"]
)
def test_what_is_no_secret_stays_for_whom_it_is(said: str) -> None:
    assert heard(said, form(PIN)) is None


def test_two_fields_of_one_name_are_told_apart_by_their_ids() -> None:
    fields = [{"id": "a", "label": "Name"}, {"id": "b", "label": "name"}]
    both = form({"id": "q", "description": "", "form": {"fields": fields}})
    assert heard("Name: Ada", both) is None
    assert heard("a: Ada\nb: Eve", both) == {"a": "Ada", "b": "Eve"}


@pytest.mark.parametrize(("said", "remember"), [("yes", True), ("No.", False)])
def test_who_may_have_it_kept_says_so_on_a_line(said: str, remember: bool) -> None:
    words = f"Mail: ada@example.com\nRemember: {said}"
    data = understand(words, (form(MAIL, remembers=True),))
    assert data is not None
    assert data.remember is remember
    unasked = understand(words, (form(MAIL),))
    assert unasked is not None
    assert unasked.remember is UNSET, "nobody has offered that"


@given(st.text(max_size=300))
def test_any_words_are_an_answer_or_none(text: str) -> None:
    for forms in ((form(ADDRESS),), (form(PIN),), (form(PAYING), form(MAIL))):
        data = understand(text, forms)
        assert data is None or data.fields


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9 ]{0,10}[A-Za-z0-9]", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 :=,.]{0,20}[A-Za-z0-9]", fullmatch=True)


@given(st.dictionaries(NAMES.map(str.casefold), VALUES, min_size=2, max_size=6))
def test_whatever_fields_are_called_their_lines_are_understood(said: dict[str, str]) -> None:
    fields = [{"id": f"#{place}", "label": name} for place, name in enumerate(said)]
    asked = form({"id": "q", "description": "", "form": {"fields": fields}})
    if len({" ".join(name.split()) for name in said}) < len(said):
        return
    lines = "\n".join(f"{name}: {value}" for name, value in said.items())
    assert heard(lines, asked) == {f"#{n}": value for n, value in enumerate(said.values())}


def test_a_form_in_words_can_be_answered() -> None:
    assert tell_request(form(ADDRESS, remembers=True).request) == (
        "Where shall it go?\n"
        "We send it the same day.\n"
        "- Name\n"
        "- E-mail (optional)\n"
        "- Street\n"
        "- Postal code\n"
        "- How fast (optional; one of Standard, Express; default: Standard)\n"
        "- colour (optional; such as red): Of the bag.\n"
        "- count (optional; default: 1)\n"
        "- phone (optional)\n"
        "Reply with one line for each field: “Name: …”, “E-mail: …”.\n"
        "Add “Remember: yes” to have them filled in next time."
    )
    assert tell_request(form(PIN).request) == (
        "Which PIN?\n- PIN (kept sealed)\nReply with the value alone, or with “PIN: …”."
    )
    assert tell_request(form(HOSTED).request) == (
        "A form from elsewhere\nThe form is at https://forms.example/address.json."
    )


def test_what_others_write_stays_on_its_line() -> None:
    tricky = {"id": "a", "label": "Name\n- PIN: 7", "options": ["x\ny"], "description": "1\n2"}
    told = tell_request(
        form({"id": "q", "title": "a\nb", "description": "", "form": {"fields": [tricky]}}).request
    )
    assert told.splitlines()[:2] == [
        "a b",
        "- Name - PIN: 7 (optional; such as x y): 1 2",
    ]
    elsewhere = {"json_url": "https://forms.example/a\n- PIN: 7\u2028x"}
    told = tell_request(form({"id": "q", "description": "", "form": elsewhere}).request)
    assert told == "The form is at https://forms.example/a - PIN: 7 x."


def test_a_reply_in_words_does_not_tell_what_is_sealed() -> None:
    fields = [
        {"id": "name", "label": "Name", "value": "Ada\nL."},
        {"id": "card", "sealed": "sealed_1"},
        {"id": "pin"},
        {
            "id": "theirs",
            "value": "00ff",
            "encryption": {
                "algorithm": "ECIES-secp256k1-AES-256-GCM",
                "ephemeralPublicKey": "02" + "11" * 32,
                "mac": "00" * 16,
                "iv": "00" * 12,
            },
        },
    ]
    assert tell_data(msgspec.convert({"fields": fields}, Data)) == (
        "Filled in:\nName: Ada L.\ncard: (sealed)\npin: (not kept)\ntheirs: (encrypted)"
    )
