"""Messages of the desk as Block Kit, within Slack's limits."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from aitp_desk.transports.messages import Button, Field, Form, Outgoing, Source
from aitp_desk.transports.slack.blocks import MOST_BUTTONS, make_message
from aitp_desk.transports.slack.forms import (
    MOST_VALUE_CHARACTERS,
    make_modal,
    pack_form,
    unpack_form,
)

FORM = Form(
    token="tok_f", title="Your address", submit="Send", fields=(Field(name="a", label="A"),)
)
URL = "https://books.example/r/1"


def outgoing(text: str = "Hello", **more: Any) -> Outgoing:
    return Outgoing(id="m1", conversation="T1/U1", recipient="T1/U1", text=text, **more)


def buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        element
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def test_a_text_is_rich_text_with_words_for_notifications() -> None:
    message = make_message(outgoing("**5** < 6 <!channel>"))
    assert [block["type"] for block in message["blocks"]] == ["rich_text"]
    assert message["text"] == "5 &lt; 6 &lt;!channel&gt;"


def test_the_operator_is_named() -> None:
    message = make_message(outgoing("I am looking.", speaker="Ada <!here>"))
    first = message["blocks"][0]["elements"][0]["elements"][0]
    assert first == {"type": "text", "text": "Ada <!here>", "style": {"bold": True}}


def test_sources_are_links_of_their_own() -> None:
    sources = (Source(title="Shipping", url="https://books.example/shipping"),)
    (_, block) = make_message(outgoing(sources=sources))["blocks"]
    (item,) = block["elements"][0]["elements"]
    assert item["elements"] == [
        {"type": "link", "url": "https://books.example/shipping", "text": "Shipping"}
    ]


def test_choices_and_links_are_buttons() -> None:
    message = make_message(
        outgoing(
            buttons=(
                Button(label="Yes", token="tok_y", style="primary"),
                Button(label="No", token="tok_n", style="danger"),
                Button(label="Read", url=URL),
                Button(label="Lost", url="https://books.example/" + "x" * 3000),
            )
        )
    )
    found = buttons(message)
    assert [one["text"]["text"] for one in found] == ["Yes", "No", "Read"]
    assert [one.get("value", one.get("url")) for one in found] == ["tok_y", "tok_n", URL]
    assert [one.get("style") for one in found] == ["primary", "danger", None]
    assert len({one["action_id"] for one in found}) == len(found)


def test_a_form_is_a_button_that_holds_it() -> None:
    (button,) = buttons(make_message(outgoing(form=FORM)))
    assert button["text"]["text"] == "Your address"
    assert unpack_form(button["value"]) == FORM


def test_a_form_that_slack_cannot_show_is_a_link() -> None:
    fields = tuple(Field(name=f"f{at}", label="x") for at in range(100))
    form = Form(token="t", title="Long", submit="Send", fields=fields, url=URL)
    (button,) = buttons(make_message(outgoing(form=form)))
    assert button["url"] == URL


def test_a_message_of_files_alone_has_no_blocks() -> None:
    assert make_message(outgoing("")) == {"text": "", "blocks": []}


TEXT = st.text(max_size=120)
NAMES = st.text(min_size=1, max_size=20)
FIELDS = st.builds(
    Field,
    name=NAMES,
    label=TEXT,
    kind=st.sampled_from(["text", "number", "boolean", "date", "choice", "choices"]),
    choices=st.lists(st.tuples(NAMES, TEXT), max_size=14, unique_by=lambda one: one[0]).map(tuple),
    is_required=st.booleans(),
    hint=TEXT,
)
FORMS = st.builds(
    Form,
    token=st.text("abc123", min_size=1, max_size=64),
    title=TEXT,
    fields=st.lists(FIELDS, max_size=6).map(tuple),
    submit=TEXT,
    url=st.just(URL),
)
BUTTONS = st.builds(
    Button,
    label=TEXT,
    token=st.text("abc123", min_size=1, max_size=64),
    style=st.sampled_from(["plain", "primary", "danger"]),
)
MESSAGES = st.builds(
    outgoing,
    st.text(max_size=200),
    speaker=st.sampled_from(["", "Ada"]),
    buttons=st.lists(BUTTONS, max_size=14).map(tuple),
    form=st.none() | FORMS,
    sources=st.lists(st.builds(Source, title=TEXT, url=st.just(URL) | TEXT), max_size=12).map(
        tuple
    ),
)


@given(MESSAGES, st.booleans())
def test_slacks_library_finds_every_message_valid(message: Outgoing, is_plain: bool) -> None:
    made = make_message(message, is_plain=is_plain)
    assert len(made["blocks"]) <= 50
    for block in made["blocks"]:
        parsed = Block.parse(block)
        assert parsed is not None
        parsed.validate_json()
        for element in getattr(parsed, "elements", ()):
            element.validate_json()
    assert len(buttons(made)) <= MOST_BUTTONS + 1
    assert not {"<", ">"} & set(made["text"])
    assert bool(made["text"]) == bool(made["blocks"])


@given(FORMS)
def test_slacks_library_finds_every_modal_valid(form: Form) -> None:
    value = pack_form(form)
    if value is None:
        return
    assert len(value) <= MOST_VALUE_CHARACTERS
    view = make_modal(form, "T1/U1", "D1/1.1")
    parsed = View(**view)
    parsed.to_dict()
    assert len(view["private_metadata"]) <= 3000
    assert len({block.get("block_id") for block in view["blocks"]}) == len(view["blocks"])
    unpacked = unpack_form(value)
    assert unpacked is not None
    assert (unpacked.token, unpacked.fields) == (form.token, form.fields)


@given(st.text(max_size=100) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_no_other_value_of_a_button_is_a_form(value: str) -> None:
    assert unpack_form(value) is None
