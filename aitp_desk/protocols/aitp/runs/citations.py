"""Finds the sources of a reply in its text, for completions and responses.

Source: OpenAI API, ``url_citation``. The indices count characters, and the text from the first to
before the last is what cites. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from aitp_desk.agent.history.message_codec import list_sources
from aitp_desk.model.conversation.thread import Message

PART_GAP: Final = "\n\n"
"""What separates the parts of a reply, and replies, in one text."""


class Citation(msgspec.Struct, frozen=True):
    """A source, and where the text names it."""

    start_index: int
    end_index: int
    title: str
    url: str


def join_replies(replies: Sequence[Message]) -> str:
    """Return replies as one text."""
    return PART_GAP.join(part for reply in replies for part in reply.content)


def find_citations(replies: Sequence[Message]) -> Iterator[Citation]:
    """Yield the sources in the text of :func:`join_replies`."""
    begin = 0
    for reply in replies:
        for number, part in enumerate(reply.content):
            if number:  # the first part is what the agent says
                yield from _find_in_part(part, begin)
            begin += len(part) + len(PART_GAP)


def _find_in_part(part: str, begin: int) -> Iterator[Citation]:
    after = 0
    for title, url in list_sources(part):
        named = f"{title}: {url}"
        start = part.index(named, after)
        after = start + len(named)
        yield Citation(begin + start, begin + after, title, url)
