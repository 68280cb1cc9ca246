"""WhatsApp's deliveries as events of the desk."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.whatsapp.wire import is_address, is_number, read_events
from aitp_desk.transports.wire.payload import Payload, read_payload

NUMBER_ID = "106540352242922"


def delivery(*values: dict[str, Any], field: str = "messages") -> dict[str, Any]:
    metadata = {"display_phone_number": "15550783881", "phone_number_id": NUMBER_ID}
    changes = [{"field": field, "value": {"metadata": metadata, **one}} for one in values]
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}


def message(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    head = {"from": "16505551234", "id": "wamid.A1==", "timestamp": "1749416383", "type": kind}
    return {**head, kind: content, **more}


def read(*messages: dict[str, Any], **value: Any) -> tuple[Incoming, ...]:
    body = json.dumps(delivery({"messages": list(messages), **value})).encode()
    return read_events(read_payload(body), NUMBER_ID)


def event_of(kind: str, content: Any, **more: Any) -> Event | None:
    found = read(message(kind, content, **more))
    return found[0].event if found else None


def test_a_text_is_of_its_number_and_its_user_id() -> None:
    contact = {"profile": {"name": "Ann Lee"}, "wa_id": "16505551234", "user_id": "US.13491"}
    sent = message("text", {"body": "Hello"}, from_user_id="US.13491")
    [incoming] = read(sent, contacts=[contact])
    assert incoming == Incoming(
        event_id="wamid.A1==",
        conversation="16505551234",
        sender="US.13491",
        sender_name="Ann Lee",
        sent_at=1749416383,
        event=TextMessage(text="Hello", message_ref="wamid.A1=="),
    )


def test_without_a_user_id_the_number_is_the_person() -> None:
    [incoming] = read(message("text", {"body": "Hello"}))
    assert (incoming.conversation, incoming.sender) == ("16505551234", "16505551234")


def test_a_person_with_a_user_name_has_no_number() -> None:
    sent = message("text", {"body": "Hello"}, from_user_id="US.ENT.13491")
    del sent["from"]
    [incoming] = read(sent, contacts=[{"profile": {"name": "Ann"}, "user_id": "US.ENT.13491"}])
    assert (incoming.conversation, incoming.sender) == ("US.ENT.13491", "US.ENT.13491")
    assert incoming.sender_name == "Ann"


REF = "wamid.A1=="
CONTEXT = {"context": {"from": "15550783881", "id": "wamid.Q"}}
TABLE: list[tuple[str, Any, dict[str, Any], Event | None]] = [
    (
        "text",
        {"body": "Yes"},
        CONTEXT,
        TextMessage(text="Yes", message_ref=REF, answers_ref="wamid.Q"),
    ),
    (
        "button",
        {"payload": "STOP-PROMO", "text": "No thanks"},
        {},
        TextMessage(text="No thanks", message_ref=REF),
    ),
    (
        "interactive",
        {"type": "button_reply", "button_reply": {"id": "tok_1", "title": "Yes"}},
        CONTEXT,
        Choice(token="tok_1", message_ref="wamid.Q"),
    ),
    (
        "interactive",
        {"type": "list_reply", "list_reply": {"id": "tok_2", "title": "Blue", "description": "b"}},
        CONTEXT,
        Choice(token="tok_2", message_ref="wamid.Q"),
    ),
    (
        "interactive",
        {"type": "button_reply", "button_reply": {"id": "not one of ours", "title": "Later"}},
        {},
        TextMessage(text="Later", message_ref=REF),
    ),
    (
        "image",
        {"id": "2754859441498128", "mime_type": "image/jpeg", "sha256": "a", "caption": "see"},
        {},
        TextMessage(
            text="see",
            message_ref=REF,
            files=(
                IncomingFile(name="photo.jpg", content_type="image/jpeg", ref="2754859441498128"),
            ),
        ),
    ),
    (
        "document",
        {"id": "77", "mime_type": "application/pdf", "filename": "a.pdf"},
        {},
        TextMessage(
            text="",
            message_ref=REF,
            files=(IncomingFile(name="a.pdf", content_type="application/pdf", ref="77"),),
        ),
    ),
    (
        "audio",
        {"id": "78", "mime_type": "audio/ogg; codecs=opus", "voice": True},
        {},
        TextMessage(
            text="",
            message_ref=REF,
            files=(IncomingFile(name="audio.ogg", content_type="audio/ogg", ref="78"),),
        ),
    ),
    (
        "location",
        {"latitude": 44.5, "longitude": -121, "name": "Mill", "address": "1 Quay"},
        {},
        TextMessage(text="📍 44.500000 -121.000000, Mill, 1 Quay", message_ref=REF),
    ),
    (
        "contacts",
        [{"name": {"formatted_name": "Bo"}, "phones": [{"phone": "+491"}, {"phone": "+492"}]}],
        {},
        TextMessage(text="👤 Bo +491 +492", message_ref=REF),
    ),
    ("reaction", {"message_id": "wamid.Q", "emoji": "👍"}, {}, None),
    (
        "edit",
        {
            "original_message_id": "wamid.Q",
            "message": {"type": "text", "text": {"body": "new"}},
        },
        {},
        MessageEdit(message_ref="wamid.Q", text="new"),
    ),
    (
        "edit",
        {
            "original_message_id": "wamid.Q",
            "message": {"type": "image", "image": {"id": "1", "caption": "newer"}},
        },
        {},
        MessageEdit(message_ref="wamid.Q", text="newer"),
    ),
    ("revoke", {"original_message_id": "wamid.Q"}, {}, MessageRemoval(message_ref="wamid.Q")),
    ("request_welcome", {}, {}, ChatStart()),
    ("system", {"type": "customer_identity_changed", "body": "x"}, {}, None),
]


@pytest.mark.parametrize(("kind", "content", "more", "event"), TABLE)
def test_kinds_of_messages(
    kind: str, content: Any, more: dict[str, Any], event: Event | None
) -> None:
    assert event_of(kind, content, **more) == event


@pytest.mark.parametrize("kind", ["unsupported", "order", "poll", "future_kind", ""])
def test_a_person_is_asked_for_text_where_nothing_can_be_read(kind: str) -> None:
    event = event_of(kind, {}, errors=[{"code": 131051, "title": "Unsupported message type"}])
    assert isinstance(event, TextMessage)
    assert event.is_unreadable


def test_a_number_that_was_given_up_gets_no_more_messages() -> None:
    event = event_of("system", {"type": "user_changed_number", "wa_id": "4916"})
    assert isinstance(event, DeliveryFailure)
    assert event.is_final


FAILURES = [(131026, True, False), (131047, False, True), (131000, False, False)]


@pytest.mark.parametrize(("code", "is_final", "is_window_closed"), FAILURES)
def test_a_failed_message_is_a_failure(code: int, is_final: bool, is_window_closed: bool) -> None:
    status = {"id": "wamid.S", "status": "failed", "recipient_id": "16505551234"}
    [incoming] = read(statuses=[{**status, "timestamp": "1", "errors": [{"code": code}]}])
    assert incoming.event_id == "wamid.S:failed"
    assert incoming.conversation == "16505551234"
    failure = incoming.event
    assert isinstance(failure, DeliveryFailure)
    assert failure.message_ref == "wamid.S"
    assert failure.is_final is is_final
    assert failure.is_window_closed is is_window_closed
    assert str(code) in failure.reason


@pytest.mark.parametrize("status", ["sent", "delivered", "read", "played", "deleted"])
def test_other_statuses_are_no_events(status: str) -> None:
    assert read(statuses=[{"id": "w", "status": status, "recipient_id": "16505551234"}]) == ()


def test_a_delivery_holds_several_events_in_order() -> None:
    first = {"messages": [message("text", {"body": "1"}, id="a"), message("reaction", {}, id="b")]}
    failed = {"id": "w", "status": "failed", "recipient_id": "16505551234"}
    second = {"messages": [message("text", {"body": "2"}, id="c")], "statuses": [failed]}
    body = delivery(first, second)
    body["entry"] *= 2
    found = read_events(Payload(body), NUMBER_ID)
    assert [one.event_id for one in found] == ["a", "c", "w:failed"] * 2


def test_other_numbers_fields_objects_and_groups_are_ignored() -> None:
    text = {"messages": [message("text", {"body": "x"})]}
    assert read_events(Payload(delivery(text)), "999") == ()
    assert read_events(Payload(delivery(text, field="message_echoes")), NUMBER_ID) == ()
    assert read_events(Payload({**delivery(text), "object": "page"}), NUMBER_ID) == ()
    assert read(message("text", {"body": "x"}, group_id="Y2FwaV9ncm91cDox")) == ()
    assert read(message("text", {"body": "x"}, **{"from": "", "from_user_id": "x y"})) == ()


ADDRESSES = [
    ("16505551234", True, True),
    ("US.13491208655302741918", True, False),
    ("US.ENT.11815799212886844830", True, False),
    ("+16505551234", False, False),
    ("1", False, False),
    ("../messages", False, False),
    ("16505551234\n", False, False),
]


@pytest.mark.parametrize(("address", "is_any", "is_phone"), ADDRESSES)
def test_addresses(address: str, is_any: bool, is_phone: bool) -> None:
    assert is_address(address) is is_any
    assert is_number(address) is is_phone


MEMBERS = (
    "from from_user_id id type timestamp text body caption interactive button_reply title context "
    "image document mime_type filename location latitude contacts name phones errors code status "
    "recipient_id system edit message original_message_id profile wa_id"
).split()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6)
    ),
    max_leaves=20,
)
KINDS = ("text", "image", "interactive", "contacts", "location", "edit", "system", "button")


@given(st.sampled_from(KINDS), json_values)
def test_a_message_of_any_form_is_read_or_ignored(kind: str, content: object) -> None:
    for value in (
        {"messages": [message(kind, content)]},
        {"messages": content, "statuses": content, "contacts": content},
        {"messages": [content], "statuses": [content], "contacts": [content]},
    ):
        for incoming in read_events(Payload(delivery(value)), NUMBER_ID):
            assert incoming.event_id
            assert incoming.conversation
            stored = msgspec.json.encode(incoming)
            assert msgspec.json.decode(stored, type=Incoming) == incoming
