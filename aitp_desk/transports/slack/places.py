"""Ids of conversations, people and messages, as the desk stores them.

A direct conversation with the app is ``TEAM/USER``, as the person is. A conversation in a channel
is the thread ``TEAM/CHANNEL/THREAD``; a message to ``TEAM/CHANNEL`` begins one. A message is
``CHANNEL/TIMESTAMP``; in a thread of a direct conversation, where the thread is not part of the
conversation, ``CHANNEL/TIMESTAMP/THREAD``.
"""

from __future__ import annotations

import re

import msgspec

_ID = r"[A-Z][A-Z0-9]{1,31}"
_TIMESTAMP = r"[0-9]{1,12}\.[0-9]{1,9}"
_PLACE = re.compile(rf"({_ID})/({_ID})(?:/({_TIMESTAMP}))?", re.ASCII)
_REF = re.compile(rf"({_ID})/({_TIMESTAMP})(?:/({_TIMESTAMP}))?", re.ASCII)
_IS_ID = re.compile(_ID, re.ASCII)
_IS_TIMESTAMP = re.compile(_TIMESTAMP, re.ASCII)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message goes.

    Parameters:
        user: of a direct conversation; empty in a channel.
        channel: empty in a direct conversation.
        thread: timestamp of the thread's first message; empty for a message that begins one.
    """

    team: str
    user: str = ""
    channel: str = ""
    thread: str = ""

    def __str__(self) -> str:
        if self.user:
            return f"{self.team}/{self.user}"
        channel = f"{self.team}/{self.channel}"
        return f"{channel}/{self.thread}" if self.thread else channel


class MessageRef(msgspec.Struct, frozen=True, kw_only=True):
    """A message on Slack.

    Parameters:
        thread: of a direct conversation; empty outside one.
    """

    channel: str
    timestamp: str
    thread: str = ""

    def __str__(self) -> str:
        ref = f"{self.channel}/{self.timestamp}"
        return f"{ref}/{self.thread}" if self.thread else ref


def is_id(text: str | None) -> bool:
    """Return whether a text has the form of Slack's ids."""
    return text is not None and _IS_ID.fullmatch(text) is not None


def is_timestamp(text: str | None) -> bool:
    """Return whether a text has the form of a message's timestamp."""
    return text is not None and _IS_TIMESTAMP.fullmatch(text) is not None


def is_direct(channel: str) -> bool:
    """Return whether a channel is a direct conversation of two."""
    return channel.startswith("D")


def is_channel(id: str) -> bool:
    """Return whether an id is that of a channel with several people."""
    return id.startswith(("C", "G"))


def seconds_of(timestamp: str) -> int:
    """Return a message's timestamp in Unix seconds."""
    return int(timestamp.partition(".")[0])


def find_place(team: str, channel: str, user: str, thread: str) -> Place:
    """Return the conversation of a message.

    Parameters:
        thread: timestamp of its thread, or its own if it begins one.
    """
    if is_direct(channel):
        return Place(team=team, user=user)
    return Place(team=team, channel=channel, thread=thread)


def make_ref(channel: str, timestamp: str, thread: str | None) -> str:
    """Return the id of a message."""
    is_reply = is_direct(channel) and thread is not None and thread != timestamp
    return str(
        MessageRef(channel=channel, timestamp=timestamp, thread=(thread or "") if is_reply else "")
    )


def parse_place(text: str) -> Place | None:
    """Parse the id of a conversation or a person; None if it is neither."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    team, other, thread = found.groups()
    if thread is None and not is_channel(other):
        return Place(team=team, user=other)
    return Place(team=team, channel=other, thread=thread or "")


def parse_ref(text: str) -> MessageRef | None:
    """Parse the id of a message; None if it is none, as that of a command."""
    found = _REF.fullmatch(text)
    if found is None:
        return None
    channel, timestamp, thread = found.groups()
    return MessageRef(channel=channel, timestamp=timestamp, thread=thread or "")
