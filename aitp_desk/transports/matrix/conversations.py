"""Names conversations: a room, or a thread within a room."""

from __future__ import annotations

import re

import msgspec

_ROOM = re.compile(r"![!-~]{1,254}")
_USER = re.compile(r"@[!-~]{1,254}")
_EVENT = re.compile(r"\$[!-~]{1,254}")


class Place(msgspec.Struct, frozen=True):
    """Where a conversation is.

    Parameters:
        root: the message that its thread hangs on; empty for the room itself.
    """

    room: str
    root: str = ""

    @property
    def name(self) -> str:
        """What the desk calls the conversation; ids of Matrix hold no spaces."""
        return f"{self.room} {self.root}" if self.root else self.room


def find_place(conversation: str) -> Place:
    """Return the place of a conversation; what else its name holds is the desk's.

    Raises:
        ValueError: it is no conversation of this transport.
    """
    room, _, rest = conversation.partition(" ")
    if not is_room(room):
        raise ValueError("This is no conversation of Matrix.")
    root = rest.partition(" ")[0]
    return Place(room, root if is_event(root) else "")


def is_room(value: str) -> bool:
    """Return whether a text has the form of a room's id."""
    return _ROOM.fullmatch(value) is not None


def is_event(value: object) -> bool:
    """Return whether a value has the form of an event's id."""
    return isinstance(value, str) and _EVENT.fullmatch(value) is not None


def is_user(value: str) -> bool:
    """Return whether a text has the form of a user's id."""
    return _USER.fullmatch(value) is not None
