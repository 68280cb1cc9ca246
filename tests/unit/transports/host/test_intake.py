"""Events from outside: bounded, storable, and each under its own sender."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.access.principal import make_contact
from aitp_desk.store.records.transports import Conversation, platform_address
from aitp_desk.transports.events import (
    AutomaticMessage,
    ChatStart,
    Choice,
    ConversationMove,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.host.intake import LONGEST_PERSON, LONGEST_TEXT, clean_event
from aitp_desk.transports.host.people import (
    address_apart,
    find_principal,
    principal_of,
)

MOST_BYTES = 2_000_000
wild = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["\x00", "\ud800", "a\x00b", "\x1f", "x" * 70_000, "\x00" * 70_000, "", "n"]),
    st.text(st.characters(categories=["Cs", "Cc", "L"]), max_size=20),
)
files = st.builds(
    IncomingFile, name=wild, content_type=wild, size=st.integers(-(2**70), 2**70), ref=wild
)
values = st.recursive(
    st.one_of(wild, st.booleans(), st.integers(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(wild, inner, max_size=3)),
    max_leaves=8,
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        TextMessage,
        text=wild,
        message_ref=wild,
        answers_ref=wild,
        files=st.lists(files, max_size=14).map(tuple),
        trimmed=wild,
        subject=wild,
    ),
    st.builds(MessageEdit, message_ref=wild, text=wild),
    st.builds(MessageRemoval, message_ref=wild),
    st.builds(
        Choice,
        token=wild,
        values=st.dictionaries(wild, values, max_size=4),
        message_ref=wild,
        reply_to=wild,
    ),
    st.builds(ChatStart, code=wild),
    st.just(OptOut()),
    st.builds(DeliveryFailure, message_ref=wild, reason=wild, is_final=st.booleans()),
    st.builds(ConversationMove, former=wild),
    st.builds(AutomaticMessage, text=wild, reason=wild, message_ref=wild, answers_ref=wild),
)
incoming = st.builds(
    Incoming,
    event_id=wild,
    conversation=wild,
    sender=wild,
    sender_name=wild,
    language=wild,
    agent=wild,
    event=events,
)


@given(incoming)
def test_what_is_stored_has_bounds_and_is_text_for_every_database(event: Incoming) -> None:
    clean = clean_event(event)
    if clean is None:
        return
    stored = msgspec.json.encode(clean)
    assert len(stored) < MOST_BYTES
    assert b"\\u0000" not in stored
    assert msgspec.json.decode(stored, type=Incoming) == clean
    ids = (clean.event_id, clean.conversation, clean.sender)
    assert ids == (event.event_id, event.conversation, event.sender), "an id was changed"
    assert not any(re.search("[\x00-\x1f\x7f]", id_) for id_ in ids)
    assert clean_event(clean) == clean


@pytest.mark.parametrize("name", ["event_id", "conversation", "sender"])
@pytest.mark.parametrize("bad", ["", "\x00", "a\x1fb", "a\nb", "\ud800", "x" * 2000])
def test_an_event_whose_ids_cannot_be_is_dropped(name: str, bad: str) -> None:
    members: dict[str, Any] = {"event_id": "e", "conversation": "c", "sender": "s", name: bad}
    assert clean_event(Incoming(**members, event=OptOut())) is None


def test_nobody_is_called_like_those_who_share_a_conversation() -> None:
    shared = Incoming(event_id="e", conversation="c", sender="s", is_private=False, event=OptOut())
    name = find_principal("a", shared, "").id.partition(":")[2].partition(":")[2]
    assert clean_event(msgspec.structs.replace(shared, sender=name)) is None


def test_a_long_message_is_cut_and_its_rest_counts_as_trimmed() -> None:
    message = TextMessage(text="a" * LONGEST_TEXT + "b", message_ref="m", trimmed="c")
    clean = clean_event(Incoming(event_id="e", conversation="c", sender="s", event=message))
    assert clean is not None
    assert isinstance(clean.event, TextMessage)
    assert (clean.event.text, clean.event.trimmed) == ("a" * LONGEST_TEXT, "b\nc")


people = st.text("ab:?@.\x1e contact", min_size=1, max_size=12)
transports = st.sampled_from(["a", "mail", "mail_b", "contact"])
persons = st.tuples(transports, people, st.booleans())


@given(persons, persons)
def test_people_are_the_same_caller_only_if_they_are_the_same(
    one: tuple[str, str, bool], other: tuple[str, str, bool]
) -> None:
    first, second = (
        make_contact(name, who, is_proven=proven) for name, who, proven in (one, other)
    )
    assert (first.id == second.id) == (one == other)
    assert (first.limited_as == second.limited_as) == (one == other)


@given(persons)
def test_a_conversation_is_answered_as_its_own_person(person: tuple[str, str, bool]) -> None:
    name, who, is_proven = person
    event = Incoming(
        event_id="e", conversation="c", sender=who, is_proven=is_proven, event=OptOut()
    )
    principal = find_principal(name, event, "desk")
    kept = {field.name: "" for field in msgspec.structs.fields(Conversation)}
    kept |= {"transport": name, "person": who, "principal": principal.id, "desk": "desk"}
    assert principal_of(Conversation(**kept)) == principal  # type: ignore[arg-type]


@given(st.text("ab \x1e", min_size=1, max_size=9), people)
def test_the_platform_is_given_its_own_name_of_a_conversation(address: str, person: str) -> None:
    principal = make_contact("mail", person, is_proven=False)
    assert platform_address(address) == address
    assert platform_address(address_apart(address, principal.id)) == address


def test_the_longest_person_has_a_conversation() -> None:
    event = Incoming(
        event_id="e" * 1000, conversation="c" * 400, sender="p" * LONGEST_PERSON, event=OptOut()
    )
    assert clean_event(event) == event
