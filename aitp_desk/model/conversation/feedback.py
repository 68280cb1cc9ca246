"""Feedback: what people think of the desk's answers."""

from __future__ import annotations

from enum import Enum

import msgspec

LONGEST_REASON = 500
"""Maximum length of a reason, in characters."""
NEWEST = "latest"
"""Stands for the id of the desk's newest message on a thread."""
RATED = "message.feedback"
"""The event that feedback on a message has changed; it refers to the message."""


class Rating(Enum):
    """Whether an answer helped."""

    UP = "up"
    DOWN = "down"


class FeedbackDraft(msgspec.Struct, frozen=True):
    """Feedback as it is sent.

    Parameters:
        rating: None takes the caller's earlier rating back.
        reason: in the caller's words; may be empty.
    """

    rating: Rating | None
    reason: str = ""


class RatingCount(msgspec.Struct, frozen=True):
    """How many people rated a message up, and down."""

    up: int
    down: int
