"""One part of an outgoing message: as text, and as a plugin's structured message."""

from __future__ import annotations

import msgspec


class Spoken(msgspec.Struct, frozen=True):
    """A part of an outgoing message.

    Parameters:
        text: for readers that have declared no capability.
        capability: slug of the plugin that owns the message; empty for plain text.
        message: that message as JSON, for readers that have declared the capability; empty for
            none.
    """

    text: str
    capability: str = ""
    message: str = ""
