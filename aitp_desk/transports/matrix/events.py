"""Parses events and responses of a homeserver; what is malformed is left out.

Source: Matrix specification 1.16, client-server API (``/sync``, ``/messages``) and application
service API (``/transactions``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from aitp_desk.transports.base import TryLater
from aitp_desk.transports.matrix.conversations import is_event, is_room, is_user

_LATEST = 2**53
MOST_INVITED = 1000
"""Most events of a room's state that are read with an invitation."""

T = TypeVar("T")


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a room, with ids that were validated.

    Parameters:
        id: empty for the state that comes with an invitation.
        sent_at: Unix seconds, as the sender's server says; 0 if unknown.
        state_key: None for an event that is no state.
        redacts: the id of the event that it redacts; empty for none.
        invitation: the room's state that comes with an invitation.
    """

    room: str
    id: str
    type: str
    sender: str
    sent_at: int
    content: dict[str, Any]
    state_key: str | None = None
    redacts: str = ""
    invitation: tuple[Event, ...] = ()

    def is_membership(self, user: str) -> bool:
        """Return whether it changes a user's membership."""
        return self.type == "m.room.member" and self.state_key == user


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a room, oldest first.

    Parameters:
        has_gap: whether earlier events are missing.
        before: the place before them in the room's stream.
    """

    room: str
    events: tuple[Event, ...]
    has_gap: bool = False
    before: str = ""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in all rooms since a place in the stream.

    Parameters:
        place: in the stream, after it.
        invitations: events that invite the desk.
        joined: by room.
        left: rooms that the desk has left, or was removed from.
    """

    place: str
    invitations: tuple[Event, ...]
    joined: tuple[Batch, ...]
    left: tuple[Batch, ...]


class _Event(msgspec.Struct):
    type: str
    sender: str
    content: dict[str, Any]
    event_id: str = ""
    room_id: str = ""
    origin_server_ts: Any = 0
    state_key: str | None = None
    redacts: Any = None
    invite_room_state: Any = None
    unsigned: Any = None


class _Events(msgspec.Struct):
    events: list[msgspec.Raw] = []


class _Timeline(msgspec.Struct):
    events: list[msgspec.Raw] = []
    limited: bool = False
    prev_batch: str | None = None


class _Joined(msgspec.Struct):
    timeline: _Timeline = msgspec.field(default_factory=_Timeline)


class _Invited(msgspec.Struct):
    invite_state: _Events = msgspec.field(default_factory=_Events)


class _Rooms(msgspec.Struct):
    join: dict[str, _Joined] = {}
    invite: dict[str, _Invited] = {}
    leave: dict[str, _Joined] = {}


class _Sync(msgspec.Struct):
    next_batch: str
    rooms: _Rooms = msgspec.field(default_factory=_Rooms)


class _Page(msgspec.Struct):
    chunk: list[msgspec.Raw] = []
    end: str | None = None


def read_event(data: bytes | msgspec.Raw, room: str = "") -> Event | None:
    """Parse an event; None if it is malformed.

    Parameters:
        room: that it came with; by default it names its own.
    """
    try:
        found = msgspec.json.decode(data, type=_Event)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    room = room or found.room_id
    if not (is_room(room) and is_user(found.sender)):
        return None
    if found.event_id and not is_event(found.event_id):
        return None
    redacts = found.redacts or found.content.get("redacts")  # its place since room version 11
    return Event(
        room=room,
        id=found.event_id,
        type=found.type,
        sender=found.sender,
        sent_at=_seconds(found.origin_server_ts),
        content=found.content,
        state_key=found.state_key,
        redacts=redacts if isinstance(redacts, str) and is_event(redacts) else "",
        invitation=_invitation(found, room) if found.state_key is not None else (),
    )


def decode_stream(body: bytes, user: str) -> Stream:
    """Parse the response of ``/sync``.

    Parameters:
        user: the desk's own.

    Raises:
        TryLater: it is not one.
    """
    found = _decode(body, _Sync)
    return Stream(
        place=found.next_batch,
        invitations=tuple(
            event
            for room, invited in found.rooms.invite.items()
            for event in (_find_invitation(room, invited, user),)
            if event is not None
        ),
        joined=tuple(_batches(found.rooms.join)),
        left=tuple(_batches(found.rooms.leave)),
    )


def decode_page(body: bytes, room: str) -> tuple[tuple[Event, ...], str]:
    """Parse a page of ``/messages`` or ``/relations``: its events, and the place after it.

    Raises:
        TryLater: it is not one.
    """
    page = _decode(body, _Page)
    return _read_all(page.chunk, room), page.end or ""


def decode_transaction(body: bytes) -> tuple[Event, ...]:
    """Parse a transaction of an application service.

    Raises:
        ValueError: it is not one.
    """
    try:
        found = msgspec.json.decode(body, type=_Events)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise ValueError("The body must be a transaction with a list `events`.") from None
    return tuple(event for event in _read_all(found.events, "") if event.id)


def is_invitation(event: Event, user: str) -> bool:
    """Return whether an event invites a user."""
    return event.is_membership(user) and event.content.get("membership") == "invite"


def only_after_invitation(events: Iterable[Event], user: str) -> tuple[list[Event], bool]:
    """Return the events after a user's last invitation, and whether there is one."""
    kept: list[Event] = []
    is_found = False
    for event in events:
        if is_invitation(event, user):
            kept, is_found = [], True
        else:
            kept.append(event)
    return kept, is_found


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise TryLater("The homeserver's response is not as specified.") from None


def _batches(rooms: dict[str, _Joined]) -> Iterable[Batch]:
    for room, found in rooms.items():
        if is_room(room):
            timeline = found.timeline
            yield Batch(
                room=room,
                events=tuple(event for event in _read_all(timeline.events, room) if event.id),
                has_gap=timeline.limited,
                before=timeline.prev_batch or "",
            )


def _read_all(events: Iterable[msgspec.Raw], room: str) -> tuple[Event, ...]:
    return tuple(event for raw in events if (event := read_event(raw, room)) is not None)


def _find_invitation(room: str, invited: _Invited, user: str) -> Event | None:
    """Return the membership event that invites, with the state that came with it."""
    state = _read_all(invited.invite_state.events[:MOST_INVITED], room)
    for event in state:
        if is_invitation(event, user):
            return msgspec.structs.replace(event, invitation=state)
    return None


def _invitation(event: _Event, room: str) -> tuple[Event, ...]:
    """Return the state that comes with an invitation; homeservers put it in either place."""
    state = event.invite_room_state
    if state is None and isinstance(event.unsigned, dict):
        state = event.unsigned.get("invite_room_state")
    if not isinstance(state, list):
        return ()
    raw = (msgspec.Raw(msgspec.json.encode(one)) for one in state[:MOST_INVITED])
    return _read_all(raw, room)


def _seconds(milliseconds: object) -> int:
    if isinstance(milliseconds, int) and 0 < milliseconds < _LATEST:
        return milliseconds // 1000
    return 0
