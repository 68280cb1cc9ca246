"""Tells the answer to an appointment from an invitation.

Source: RFC 5545, RFC 5546 and RFC 6047.
"""

from __future__ import annotations

import re

_FOLD = re.compile(r"\r?\n[ \t]")
_REPLY = re.compile(
    r"^METHOD(?:;[^:\n]{0,100})?:[ \t]{0,8}REPLY[ \t]{0,8}\r?$", re.IGNORECASE | re.MULTILINE
)
_MOST_CHARACTERS = 100_000


def is_calendar_reply(text: str) -> bool:
    """Return whether a calendar answers an invitation, as programs do for a person."""
    return _REPLY.search(_FOLD.sub("", text[:_MOST_CHARACTERS])) is not None
