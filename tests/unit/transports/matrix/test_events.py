"""Responses of a homeserver: what is malformed is left out, and spoils nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Response
from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.matrix.client import Absent, Malformed, find_failure
from aitp_desk.transports.matrix.events import (
    decode_page,
    decode_stream,
    decode_transaction,
    only_after_invitation,
    read_event,
)

DESK = "@desk:a.example"
ROOM = "!r:a.example"


def raw(**more: Any) -> dict[str, Any]:
    found = {
        "type": "m.room.message",
        "event_id": "$e",
        "sender": "@ana:a.example",
        "room_id": ROOM,
        "origin_server_ts": 5999,
        "content": {"msgtype": "m.text", "body": "Hi"},
    }
    return {**found, **more}


def member(membership: str, **more: Any) -> dict[str, Any]:
    content = {"membership": membership, "is_direct": True}
    return raw(type="m.room.member", state_key=DESK, content=content, **more)


def test_an_event_is_read() -> None:
    event = read_event(json.dumps(raw()).encode())
    assert event is not None
    assert (event.room, event.id, event.sender, event.sent_at) == (ROOM, "$e", "@ana:a.example", 5)


@pytest.mark.parametrize(
    "more",
    [
        {"event_id": "e"},
        {"event_id": "$a b"},
        {"event_id": 1},
        {"room_id": "r"},
        {"sender": "ana"},
        {"sender": None},
        {"content": []},
        {"type": None},
        {"state_key": 3},
    ],
)
def test_a_malformed_event_is_none(more: dict[str, Any]) -> None:
    assert read_event(json.dumps(raw(**more)).encode()) is None
    stream = {"events": [raw(**more), raw()]}
    assert [event.id for event in decode_transaction(json.dumps(stream).encode())] == ["$e"]


@pytest.mark.parametrize("sent_at", [-1, 2**70, "now", None, 1.5, True])
def test_an_impossible_time_is_unknown(sent_at: object) -> None:
    event = read_event(json.dumps(raw(origin_server_ts=sent_at)).encode())
    assert event is None or event.sent_at == 0


@pytest.mark.parametrize("more", [{"redacts": "$x"}, {"content": {"redacts": "$x"}}])
def test_a_redaction_names_its_event_in_every_version_of_rooms(more: dict[str, Any]) -> None:
    event = read_event(json.dumps(raw(type="m.room.redaction", **more)).encode())
    assert event is not None
    assert event.redacts == "$x"


@pytest.mark.parametrize("place", ["top", "unsigned"])
def test_an_invitation_comes_with_the_rooms_state(place: str) -> None:
    state = {"invite_room_state": [raw(type="m.room.encryption", state_key="", event_id=""), 3]}
    event = read_event(
        json.dumps(member("invite", **(state if place == "top" else {"unsigned": state}))).encode()
    )
    assert event is not None
    assert [one.type for one in event.invitation] == ["m.room.encryption"]


def test_a_stream_has_rooms_invitations_and_gaps() -> None:
    body = {
        "next_batch": "s2",
        "rooms": {
            "join": {
                ROOM: {"timeline": {"events": [raw(), 3], "limited": True, "prev_batch": "s1"}},
                "no room": {"timeline": {"events": [raw()]}},
            },
            "invite": {
                "!i:a.example": {"invite_state": {"events": [member("invite", event_id="")]}},
                "!j:a.example": {"invite_state": {"events": [member("join")]}},
            },
            "leave": {"!l:a.example": {"timeline": {"events": [member("leave")]}}},
        },
        "presence": {"events": [1]},
    }
    stream = decode_stream(json.dumps(body).encode(), DESK)
    assert stream.place == "s2"
    assert [(one.room, one.content["is_direct"]) for one in stream.invitations] == [
        ("!i:a.example", True)
    ]
    ((batch),) = stream.joined
    assert (batch.room, batch.has_gap, batch.before, len(batch.events)) == (ROOM, True, "s1", 1)
    assert [one.room for one in stream.left] == ["!l:a.example"]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"next_batch": 1}', b"[" * 100_000])
def test_what_is_no_response_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(TryLater):
        decode_stream(body, DESK)


@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(body: bytes) -> None:
    read_event(body)
    for decode in (lambda: decode_stream(body, DESK), lambda: decode_page(body, ROOM)):
        with suppress(TryLater):
            decode()


def test_what_is_older_than_the_invitation_is_not_for_the_desk() -> None:
    events = [raw(event_id="$old"), member("invite"), raw(event_id="$new")]
    read = decode_transaction(json.dumps({"events": events}).encode())
    kept, is_found = only_after_invitation(read, DESK)
    assert ([one.id for one in kept], is_found) == (["$new"], True)
    kept, is_found = only_after_invitation(read, "@other:a.example")
    assert (len(kept), is_found) == (3, False)


@pytest.mark.parametrize(
    ("status", "body", "kind", "after"),
    [
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1500}, TryLater, 2),
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1e300}, TryLater, 3600),
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": -5}, TryLater, 1),
        (429, {}, TryLater, 7),
        (401, {"errcode": "M_UNKNOWN_TOKEN"}, TryLater, 0),
        (403, {"errcode": "M_RESOURCE_LIMIT_EXCEEDED"}, TryLater, 0),
        (403, {"errcode": "M_FORBIDDEN"}, Unreachable, None),
        (404, {"errcode": "M_NOT_FOUND"}, Absent, None),
        (413, {"errcode": "M_TOO_LARGE"}, Refused, None),
        (400, {"errcode": "M_BAD_JSON"}, Malformed, None),
        (400, {"errcode": ["M_BAD_JSON"]}, Refused, None),
        (502, None, TryLater, 0),
        (302, None, Refused, None),
    ],
)
def test_refusals_are_told_apart(
    status: int, body: object, kind: type[Failed], after: int | None
) -> None:
    headers = {"retry-after": "7"}
    failure = find_failure(Response(status=status, headers=headers, body=json.dumps(body).encode()))
    assert type(failure) is kind
    assert not isinstance(failure, TryLater) or failure.after == after
