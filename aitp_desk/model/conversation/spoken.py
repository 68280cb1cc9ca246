"""One part of what is told: in words, and as the capability's message that it may be."""

from __future__ import annotations

import msgspec


class Spoken(msgspec.Struct, frozen=True):
    """A part of what is said to somebody.

    Parameters:
        text: in words, for whoever has declared nothing.
        capability: slug of the capability whose message it is; empty for words alone.
        message: that message as JSON, for whoever has declared the capability; empty for none.
    """

    text: str
    capability: str = ""
    message: str = ""
